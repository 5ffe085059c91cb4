"""The twin's precompiled headers: that g++ uses them, and that nothing but the time of a compilation shows it."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gn_tutorial.abi import structs
from gn_tutorial.abi.options import Optimise
from gn_tutorial.compiler import build, build_request
from gn_tutorial.compiler.build import Built, SourceOptions, build_kernel
from gn_tutorial.compiler.cache import Cache, default_cache
from gn_tutorial.compiler.precompiled_header import KEEP_INLINES, SUFFIX, interface_marks
from gn_tutorial.compiler.process import CompileOutcome
from gn_tutorial.compiler.project_build import build_project_host
from gn_tutorial.compiler.toolchain import find_compiler, header_flags, kernel_flags
from gn_tutorial.errors import CompileError

pytestmark = pytest.mark.skipif(find_compiler().name != "g++", reason="only g++'s headers are precompiled")

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void k(GM_ADDR x) { *reinterpret_cast<__gm__ int32_t*>(x) = %s; }
"""


class Compilations:
    """What g++ said of each compilation: with -H it names the files it reads, a precompiled header with a mark."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def run(self, compiler: Any, arguments: list[str], **more: Any) -> CompileOutcome:
        outcome = run_compiler(compiler, [*arguments, "-H"], **more)
        self.said.append(outcome.messages)
        return outcome

    def used(self) -> list[bool]:
        """Since the last call, for each compilation of a kernel: whether it used a precompiled header."""
        said, self.said = self.said, []
        # A compilation that makes a header reads the twin's, and no launch.h.
        return [one.startswith("! ") or "\n! " in one for one in said if "launch.h" in one]


run_compiler = build_request.run_compiler


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Compilations:
    compilations = Compilations()
    # Kernels that report their accesses through plain pointers are compiled without the header.
    monkeypatch.setattr(build_request, "hook_flags", lambda compiler: None)
    monkeypatch.setattr(build_request, "run_compiler", compilations.run)
    return compilations


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with a precompiled header, as two builds leave it."""
    root = tmp_path_factory.mktemp("filled")
    for number in (101, 102):
        make(KERNEL % number, Cache(root))
    return root


@pytest.fixture
def warm(filled: Path, tmp_path: Path) -> Cache:
    """A copy of it."""
    return Cache(shutil.copytree(filled, tmp_path / "warm"))


def make(source: Path | str, cache: Cache, **how: Any) -> Built:
    """A bare build: the watchers of an observed one take seven seconds in an empty cache."""
    return build_kernel(source, cache=cache, **{"observed": False, "optimise": "little", **how})


def headers(cache: Cache) -> list[Path]:
    return list(cache.root.glob(f"entries/*/*{SUFFIX}"))


def value(built: Built) -> int:
    """What the kernel wrote into its int32."""
    library, wrote, report = ctypes.CDLL(str(built.library)), ctypes.c_int32(0), ctypes.create_string_buffer(1000)
    argument = structs.GntArg(b"x", ctypes.addressof(wrote), 4, structs.ArgKind.TENSOR, structs.Role.OUT)
    job = structs.GntJob(structs.ABI_VERSION, 1, 0, ctypes.pointer(argument), 1)
    job.report, job.report_bytes = ctypes.cast(report, ctypes.c_char_p), 1000
    assert library.gnt_run(b"k", ctypes.byref(job)) == structs.Status.OK, report.value
    return wrote.value


def test_it_is_made_at_the_second_build_and_used_from_then_on(cache: Cache, seen: Compilations) -> None:
    assert value(make(KERNEL % 1, cache)) == 1
    assert (seen.used(), headers(cache)) == ([False], [])
    assert [value(make(KERNEL % number, cache)) for number in (2, 3)] == [2, 3]
    assert seen.used() == [True, True]
    (header,) = headers(cache)
    assert cache.info().bytes > header.stat().st_size > 1_000_000  # it counts to the limit


@pytest.mark.thorough
def test_another_level_has_a_header_of_its_own(warm: Cache, seen: Compilations) -> None:
    """g++ takes one that was made with another -O, and crashes."""
    assert value(make(KERNEL % 1, warm, optimise=False)) == 1
    assert value(make(KERNEL % 1, warm)) == 1
    assert seen.used() == [False, True]


@pytest.mark.parametrize("level", [True, "little", False])
def test_its_flags_are_the_kernel_s_without_the_linker_s(level: Optimise) -> None:
    compiler = find_compiler()
    flags, kernels = header_flags(compiler, optimise=level), kernel_flags(compiler, optimise=level)
    assert set(flags) < set(kernels)
    assert all(flag in flags for flag in kernels if flag.startswith(("-O", "-f", "-m", "-std", "-g", "-pthread")))


def own_text(source: str) -> str:
    """The source with a new comment, so that it is compiled in the cache of all tests, which has the watchers."""
    return f"{source}\n// {time.time_ns()}\n"


def test_observed_kernels_link_the_code_of_its_inline_functions(seen: Compilations) -> None:
    for number in (5, 6):
        assert value(make(own_text(KERNEL % number), default_cache(), observed=True)) == number
    assert seen.used()[-1] is True  # the last one: g++ also preprocesses


@pytest.mark.thorough
@pytest.mark.parametrize("optimise", ["little", True, False])
def test_no_function_that_a_kernel_can_call_is_missing(seen: Compilations, optimise: Optimise) -> None:
    """A header that does not link is passed over in silence, and the kernel compiled without it."""
    uses = (ROOT / "tests" / "programs" / "apis" / "all_names.cpp").read_text()
    for source in (KERNEL % 5, KERNEL % 6, uses):
        make(own_text(source), default_cache(), observed=True, optimise=optimise)
    assert seen.used()[-1] is True


def test_an_interface_s_functions_are_code_of_another_object(tmp_path: Path) -> None:
    """Without the mark nothing fails: each kernel would only take twice as long again."""
    folder = tmp_path / "headers"
    folder.mkdir()
    inner, outer = folder / "inner.h", folder / "outer.h"
    inner.write_text("inline int Inner(int x) { return 3 * x; }\n")
    outer.write_text('#include "inner.h"\nstruct Outer { int Of(int x) { return Inner(x); } };\n')
    include, main = '#include "outer.h"\n', "int main() { return Outer().Of(2) + Inner(1) - 9; }\n"
    (tmp_path / "use.cpp").write_text(interface_marks([inner, outer]) + include + main)
    (tmp_path / "all.cpp").write_text(include)
    flags = [*find_compiler().argv, "-I", str(folder)]

    def status(*words: str) -> int:
        return subprocess.run([*flags, *words], cwd=tmp_path, capture_output=True, check=False).returncode

    assert status("use.cpp", "-o", "use") != 0  # undefined reference
    assert status("-c", KEEP_INLINES, "all.cpp", "-o", "all.o") == 0
    assert status("use.cpp", "all.o", "-o", "use") == 0
    assert subprocess.run([tmp_path / "use"], check=False).returncode == 0


@pytest.mark.thorough
def test_a_project_s_host_files_have_theirs(cache: Cache, tmp_path: Path, seen: Compilations) -> None:
    """Once it was never made: its flags asked for the linker, and a header that fails is passed over in silence."""
    hosts = [tmp_path / name for name in ("first.cpp", "second.cpp")]
    for number, host in enumerate(hosts):
        host.write_text(f"int Value{number}() {{ return {number}; }}\n")
    build_project_host(hosts, cache=cache)
    assert len(headers(cache)) == 1
    assert [said.startswith("! ") for said in seen.said if "standard_headers" in said][-2:] == [True, True]


@pytest.mark.thorough
def test_the_library_is_the_same_byte_for_byte(cache: Cache, warm: Cache, seen: Compilations) -> None:
    built = [make(ROOT / "kernels" / "silu" / "silu.cpp", one) for one in (cache, warm)]
    assert seen.used() == [False, True]
    assert built[0].library.read_bytes() == built[1].library.read_bytes()
    # The dependencies of both are the same, too, because the entry's name depends on them.
    assert built[0].library.name == built[1].library.name


@pytest.mark.parametrize(
    ("source", "how"),
    [
        (KERNEL % "oops", {}),
        (KERNEL % "1" + "\n\nAscendC::LocalTensor<float> Wrong(AscendC::LocalTensor<float> a) { return a + 1; }\n", {}),
        ("#include <missing.h>\n" + KERNEL % "1", {}),
        # Deep in the twin's headers, at a type that they do not know.
        (KERNEL % "1" + "void F(AscendC::LocalTensor<double> a) { AscendC::Add(a, a, a, 8); }\n", {}),
        # A definition that the headers themselves stumble over.
        (KERNEL % "1", {"how": SourceOptions(defines=["kMaxBuffers=3"])}),
    ],
    ids=["a name", "a type", "a header", "in the twin", "a definition"],
)
def test_errors_are_the_same(tmp_path: Path, cache: Cache, warm: Cache, source: str, how: dict[str, Any]) -> None:
    kernel = tmp_path / "k.cpp"
    kernel.write_text(source)
    said = []
    for one in (cache, warm):
        with pytest.raises(CompileError) as caught:
            make(kernel, one, **how)
        text = re.sub(r"\S+/scratch/\w+", "scratch", f"{caught.value}\n{caught.value.detail}")
        said.append((text, caught.value.errors))
    assert said[0] == said[1]


@pytest.fixture
def twin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the twin's headers, which a test may edit; builds use it."""
    copy = tmp_path / "include"
    shutil.copytree(build_request.TWIN_INCLUDE, copy)
    for module in (build, build_request):
        monkeypatch.setattr(module, "TWIN_INCLUDE", copy)
    time.sleep(0.02)  # older than the compilation: a header that is saved while one runs is not remembered
    return copy


def test_an_edited_header_of_the_twin_is_read_again(cache: Cache, twin: Path, seen: Compilations) -> None:
    kernel = KERNEL % "gn_twin::kEventIds * 100 + %d"
    assert [value(make(kernel % number, cache)) for number in (1, 2)] == [801, 802]
    config = twin / "gn_twin" / "base" / "config.h"
    config.write_text(config.read_text().replace("kEventIds = 8", "kEventIds = 7"))
    time.sleep(0.02)
    assert [value(make(kernel % number, cache)) for number in (1, 3)] == [701, 703]
    assert seen.used() == [False, True, True, True]
    assert len(headers(cache)) == 2


def test_a_header_of_the_learner_s_with_a_name_of_the_twin_s_comes_first(
    tmp_path: Path, warm: Cache, seen: Compilations
) -> None:
    (tmp_path / "mine" / "gn_twin").mkdir(parents=True)
    kernel = tmp_path / "mine" / "k.cpp"
    kernel.write_text(KERNEL % "MINE")
    (kernel.parent / "kernel_operator.h").write_text(
        f'#pragma once\n#define MINE 5\n#include "{build_request.TWIN_INCLUDE}/kernel_operator.h"\n'
    )
    assert value(make(kernel, warm)) == 5
    assert seen.used() == [False]


def test_a_damaged_header_is_made_again(warm: Cache, seen: Compilations) -> None:
    (header,) = headers(warm)
    good = header.read_bytes()
    header.write_bytes(good[:5000])
    assert value(make(KERNEL % 3, warm)) == 3
    assert header.stat().st_size == pytest.approx(len(good), rel=0.01)
    header.unlink()
    assert value(make(KERNEL % 4, warm)) == 4
    assert seen.used() == [True, True]


@pytest.mark.parametrize("kept", [4, 5000], ids=["refused by g++", "a crash of g++"])
def test_a_header_that_does_not_work_costs_no_build(warm: Cache, seen: Compilations, kept: int) -> None:
    """As one that a system without a fixed place for it cannot load: whole in the cache, of no use to g++."""
    (header,) = headers(warm)
    with warm.scratch() as folder:
        (folder / "made").write_bytes(header.read_bytes()[:kept].ljust(20000, b"\1"))
        warm.put(header.name.removesuffix(SUFFIX), SUFFIX, folder / "made")
    assert [value(make(KERNEL % number, warm)) for number in (3, 4)] == [3, 4]
    assert seen.used()[-1] is False  # the last compilation, which made the library


BUILDS = """
    import sys
    from pathlib import Path
    from gn_tutorial.compiler.build import build_kernel
    from gn_tutorial.compiler.cache import Cache
    for source in sys.argv[2:]:
        build_kernel(Path(source), cache=Cache(Path(sys.argv[1])), observed=False, optimise="little")
"""


@pytest.mark.thorough
def test_processes_share_it(tmp_path: Path, cache: Cache) -> None:
    sources = [tmp_path / f"k{number}.cpp" for number in range(9)]
    for number, source in enumerate(sources):
        source.write_text(KERNEL % number)
    command = [sys.executable, "-c", textwrap.dedent(BUILDS), str(cache.root)]
    builders = [subprocess.Popen([*command, *map(str, sources[one::3])], cwd=ROOT) for one in range(3)]
    assert [builder.wait(timeout=300) for builder in builders] == [0, 0, 0]
    assert len(headers(cache)) == 1
    assert [value(make(source, cache)) for source in sources] == list(range(9))
