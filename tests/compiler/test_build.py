"""Builds of real files: what is rebuilt and what is not, what a library holds, and sources that never end."""

import ctypes
import json
import os
import pty
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from gn_tutorial.abi import structs
from gn_tutorial.compiler.build import (
    Built,
    SourceOptions,
    build_host_library,
    build_kernel,
    build_launcher,
    build_watchers,
)
from gn_tutorial.compiler.cache import Cache
from gn_tutorial.compiler.dependencies import Dependencies, collect, hash_file, parse_depfile
from gn_tutorial.compiler.process import CompileLimits
from gn_tutorial.compiler.toolchain import find_compiler
from gn_tutorial.errors import CacheError, CompileError, RegistryError
from gn_tutorial.toml_file import REST_NANOSECONDS

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "kernels" / "copy" / "copy.cpp"
# Where the level decides nothing.
LITTLE: dict[str, Any] = {"optimise": "little"}
INCLUDES_ANSWER = '#include "answer.h"\nextern "C" int Answer() { return ANSWER; }\n'
KERNEL = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void k(GM_ADDR x) { *reinterpret_cast<__gm__ int32_t*>(x) = %s; }
"""


@pytest.fixture(scope="module")
def watchers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with nothing but the twin's checkers, which an observed build in an empty one takes seven seconds for."""
    root = tmp_path_factory.mktemp("watchers")
    build_watchers(Cache(root), find_compiler())
    return root


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def begun(tmp_path: Path, watchers: Path) -> Cache:
    """A cache that has the checkers, as every one has after the first build."""
    return Cache(shutil.copytree(watchers, tmp_path / "begun"))


def answer(built: Built) -> int:
    return ctypes.CDLL(str(built.library)).Answer()


def age_files(*paths: Path, seconds: float = 10.0) -> None:
    """Modification times in the past, as files have that were not saved a moment ago. (ctime cannot be set.)"""
    for path in paths:
        then = time.time_ns() - int(seconds * 1e9)
        os.utime(path, ns=(then, then))


def run_kernel(built: Built) -> int:
    """Run the kernel; return the first int32 that it wrote into its argument."""
    library = ctypes.CDLL(str(built.library))
    value = ctypes.c_int32(0)
    argument = structs.GntArg(b"x", ctypes.addressof(value), 4, structs.ArgKind.TENSOR, structs.Role.OUT)
    report = ctypes.create_string_buffer(1000)
    job = structs.GntJob(structs.ABI_VERSION, 1, 0, ctypes.pointer(argument), 1)
    job.report, job.report_bytes = ctypes.cast(report, ctypes.c_char_p), 1000
    name = built.entries[0].name.encode()
    assert library.gnt_run(name, ctypes.byref(job)) == structs.Status.OK, report.value
    return value.value


# --- kernels ---------------------------------------------------------------------------------------------------------


def test_a_kernel_file_is_built_once(begun: Cache) -> None:
    first, second = (build_kernel(COPY, cache=begun) for _ in range(2))
    assert (first.cached, second.cached) == (False, True)
    assert first.library == second.library
    assert [param.name for param in first.entries[0].params] == ["x", "y", "n"]
    library = ctypes.CDLL(str(first.library))
    library.gnt_entries.restype = ctypes.c_char_p
    assert library.gnt_entries().decode().split() == [entry.name for entry in first.entries]
    assert library.gnt_abi() == structs.ABI_VERSION << 16 | ctypes.sizeof(structs.GntJob)
    assert list((begun.root / "scratch").iterdir()) == []


@pytest.mark.thorough
def test_a_cell_a_bare_build_and_a_define_are_libraries_of_their_own(begun: Cache) -> None:
    source = KERNEL % "GNT_OBSERVED * 100 + VALUE"
    built = {
        (observed, value): build_kernel(
            source, SourceOptions(defines=[f"VALUE={value}"]), observed=observed, optimise=False, cache=begun
        )
        for observed in (True, False)
        for value in (1, 2)
    }
    assert {key: run_kernel(one) for key, one in built.items()} == {
        (True, 1): 101,
        (True, 2): 102,
        (False, 1): 1,
        (False, 2): 2,
    }


def test_every_entry_of_a_file_can_be_launched(begun: Cache) -> None:
    second = "__global__ __vector__ void other(__gm__ uint8_t* x) { *reinterpret_cast<__gm__ int32_t*>(x) = 9; }\n"
    built = build_kernel(second + KERNEL % "5", **LITTLE, cache=begun)
    assert [entry.name for entry in built.entries] == ["other", "k"]
    assert run_kernel(built) == 9


@pytest.mark.thorough
def test_what_is_there_soonest_is_a_fast_library_if_there_is_one(begun: Cache) -> None:
    source = KERNEL % "6"
    little = build_kernel(source, optimise="little", cache=begun)
    soonest = build_kernel(source, optimise="soonest", cache=begun)
    assert (soonest.library, soonest.cached) == (little.library, True)
    fast = build_kernel(source, cache=begun)
    assert fast.library != little.library
    soonest = build_kernel(source, optimise="soonest", cache=begun)
    assert (soonest.library, soonest.cached) == (fast.library, True)


@pytest.mark.thorough
def test_any_folder_name_will_do(tmp_path: Path, begun: Cache) -> None:
    folder = tmp_path / "my kernels $HOME #1 é"
    folder.mkdir()
    (folder / "a b.h").write_text("#define VALUE 4\n")
    kernel = folder / "kernel.cpp"
    kernel.write_text('#include "a b.h"\n' + KERNEL % "VALUE")
    assert run_kernel(build_kernel(kernel, **LITTLE, cache=begun)) == 4
    assert build_kernel(kernel, **LITTLE, cache=begun).cached
    (folder / "a b.h").write_text("#define VALUE 44\n")
    assert run_kernel(build_kernel(kernel, **LITTLE, cache=begun)) == 44


def test_files_beside_the_kernel_do_not_replace_standard_headers(tmp_path: Path, begun: Cache) -> None:
    for name in ("version", "string.h", "stdint.h"):
        (tmp_path / name).write_text("#error not a header\n")
    (tmp_path / "k.cpp").write_text("#include <string.h>\n" + KERNEL % "3")
    assert run_kernel(build_kernel(tmp_path / "k.cpp", **LITTLE, cache=begun)) == 3


def test_a_cell_finds_headers_in_the_working_folder_and_in_include_dirs(
    tmp_path: Path, begun: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.h").write_text("#define VALUE_OF_" + name + " 3\n")
    monkeypatch.chdir(tmp_path / "here")
    source = '#include "here.h"\n#include "there.h"\n' + KERNEL % "VALUE_OF_here + VALUE_OF_there"
    assert (
        run_kernel(build_kernel(source, SourceOptions(include_dirs=[tmp_path / "there"]), **LITTLE, cache=begun)) == 6
    )


def test_a_kernel_that_is_not_there(tmp_path: Path, begun: Cache) -> None:
    with pytest.raises(RegistryError, match="cannot read the kernel") as caught:
        build_kernel(tmp_path / "gone.cpp", **LITTLE, cache=begun)
    assert "gone.cpp" in caught.value.where
    with pytest.raises(RegistryError, match="directory"):
        build_kernel(tmp_path, **LITTLE, cache=begun)
    quoted = tmp_path / 'a"b.cpp'
    quoted.write_text(KERNEL % "1")
    with pytest.raises(RegistryError, match="quote"):
        build_kernel(quoted, **LITTLE, cache=begun)


def test_a_file_without_a_kernel(cache: Cache) -> None:
    with pytest.raises(CompileError, match=r"cell_\w+\.cpp has no kernel entry"):
        build_kernel("int main() {}", cache=cache)


def test_the_launcher_is_a_program(cache: Cache) -> None:
    built = build_launcher(cache=cache)
    assert os.access(built.library, os.X_OK)
    assert build_launcher(cache=cache).cached
    assert subprocess.run([built.library], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode != 0


# --- what is rebuilt -------------------------------------------------------------------------------------------------


class Project:
    """A host library that includes answer.h from the second of two include folders."""

    def __init__(self, root: Path, cache: Cache) -> None:
        self.folders = [root / "first", root / "second"]
        for folder in self.folders:
            folder.mkdir(parents=True)
        self.header = self.folders[1] / "answer.h"
        self.cache = cache
        self.write(1)

    def write(self, value: int) -> None:
        self.header.write_text(f"#define ANSWER {value}\n")

    def build(self) -> Built:
        return build_host_library(INCLUDES_ANSWER, include_dirs=self.folders, cache=self.cache)


@pytest.fixture
def project(tmp_path: Path, cache: Cache) -> Project:
    return Project(tmp_path / "project", cache)


def test_a_changed_header_rebuilds_and_a_change_back_does_not(project: Project) -> None:
    assert answer(project.build()) == 1
    project.write(2)
    changed = project.build()
    assert (changed.cached, answer(changed)) == (False, 2)
    project.write(1)
    back = project.build()
    assert (back.cached, answer(back)) == (True, 1)


def test_a_change_that_keeps_size_and_modification_time_rebuilds(project: Project) -> None:
    age_files(project.header)
    before = project.header.stat()
    project.build()
    project.write(3)
    os.utime(project.header, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert answer(project.build()) == 3


def test_a_file_that_is_only_touched_does_not_rebuild(project: Project) -> None:
    project.build()
    age_files(project.header)
    assert project.build().cached


def test_a_header_that_would_now_be_found_first_rebuilds(project: Project) -> None:
    assert answer(project.build()) == 1
    (project.folders[0] / "answer.h").write_text("#define ANSWER 8\n")
    assert answer(project.build()) == 8


def test_a_header_that_is_gone_is_an_error(project: Project) -> None:
    project.build()
    project.header.unlink()
    with pytest.raises(CompileError, match=r"answer\.h"):
        project.build()


def test_the_text_and_the_compiler_s_environment_belong_to_the_key(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.build()
    other = build_host_library(INCLUDES_ANSWER + "\n", include_dirs=project.folders, cache=project.cache)
    assert not other.cached
    monkeypatch.setenv("CPATH", str(project.folders[0]))
    assert not project.build().cached


@pytest.mark.parametrize("suffix", [".so", ".deps"])
def test_a_damaged_cache_heals(project: Project, suffix: str) -> None:
    library = project.build().library
    for path in project.cache.root.glob(f"entries/*/*{suffix}"):
        path.write_bytes(path.read_bytes()[:50])
    healed = project.build()
    assert (healed.cached, healed.library, answer(healed)) == (False, library, 1)
    assert project.build().cached


def test_a_file_saved_during_its_compilation_is_not_remembered(project: Project) -> None:
    """The clock decides: a header from the future stands for one that was saved after the compiler started."""
    project.build()
    age_files(project.header, seconds=-1000)
    project.header.write_text("#define ANSWER 5\n")
    age_files(project.header, seconds=-1000)
    first, second = project.build(), project.build()
    assert [answer(first), answer(second)] == [5, 5]
    assert not second.cached


BUILD = """
    import json, sys
    from pathlib import Path
    from gn_tutorial.compiler.build import build_kernel
    from gn_tutorial.compiler.cache import Cache
    from gn_tutorial.toml_file import REST_NANOSECONDS
    built = build_kernel(Path(sys.argv[2]), optimise='little', cache=Cache(Path(sys.argv[1])))
    print(json.dumps([built.cached, str(built.library)]))
"""


@pytest.mark.thorough
def test_processes_that_build_one_kernel_compile_it_once(tmp_path: Path, begun: Cache) -> None:
    kernel = tmp_path / "k.cpp"
    kernel.write_text(KERNEL % "6")
    command = [sys.executable, "-c", textwrap.dedent(BUILD), str(begun.root), str(kernel)]
    builders = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    results = [json.loads(builder.communicate(timeout=120)[0]) for builder in builders]
    assert sorted(cached for cached, _ in results) == [False, True, True]
    assert len({library for _, library in results}) == 1


# --- dependencies ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("a.o: b.cpp c.h\n", ["b.cpp", "c.h"]),
        ("a.o: b.cpp \\\n  /x/c.h \\\n  /x/c.h\n", ["b.cpp", "/x/c.h"]),
        ("a.o: /my\\ dir/b.h /a$$b /c\\#d\n", ["/my dir/b.h", "/a$b", "/c#d"]),
        ("a.o:\n", []),
    ],
)
def test_dependency_files(text: str, paths: list[str]) -> None:
    assert parse_depfile(text) == paths


def test_looks_are_trusted_only_after_a_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.h"
    file.write_text("1")
    fresh = hash_file(str(file))
    assert not fresh.rested
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + 2 * REST_NANOSECONDS)
    later = hash_file(str(file))
    assert later.rested
    assert later.content == fresh.content
    rested = Dependencies((later,), ())
    assert rested.now() == rested
    assert Dependencies.from_bytes(rested.to_bytes()) == rested
    assert Dependencies((fresh,), ()).now() == rested  # hashed again, and from now on trusted
    assert collect([str(file)], (), since=now + REST_NANOSECONDS) == rested
    assert collect([str(file)], (), since=later.looks[1]) is None


def test_contents_decide_whether_files_are_unchanged(tmp_path: Path) -> None:
    file, other, absent = (tmp_path / name for name in ("a.h", "b.h", "absent.h"))
    file.write_text("1")
    other.write_text("2")
    whole = Dependencies((hash_file(str(file)),), (str(absent),)).and_of(Dependencies((hash_file(str(other)),), ()))
    assert whole.unchanged()
    file.touch()
    assert whole.unchanged()
    for path, text in ((other, "3"), (absent, "")):
        path.write_text(text)
        assert not whole.unchanged()
        other.write_text("2")


@pytest.mark.parametrize("data", [b"", b"{}", b'{"files": [["a"]], "absent": []}', b'{"files": 3, "absent": []}'])
def test_dependencies_of_another_version_are_a_miss(data: bytes) -> None:
    assert Dependencies.from_bytes(data) is None


# --- progress --------------------------------------------------------------------------------------------------------

SLOW = """
    import sys
    from pathlib import Path
    from gn_tutorial.compiler import process
    from gn_tutorial.compiler.build import build_host_library
    from gn_tutorial.compiler.cache import Cache
    from gn_tutorial.toml_file import REST_NANOSECONDS
    process.QUIET_SECONDS = 0.0  # every compilation is a long one
    build_host_library("int a;", cache=Cache(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("interactive", [True, False])
def test_a_long_build_shows_progress_on_a_terminal_only(cache: Cache, interactive: bool) -> None:
    reading, writing = pty.openpty() if interactive else os.pipe()
    command = [sys.executable, "-c", textwrap.dedent(SLOW), str(cache.root)]
    environment = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=writing, check=True)
    os.close(writing)
    shown = b""
    try:
        while chunk := os.read(reading, 4096):
            shown += chunk
    except OSError:  # Linux's way to say that a terminal has been closed
        pass
    os.close(reading)
    assert done.stdout == b""
    assert (b"compiling host code" in shown) == interactive
    if not interactive:
        assert shown == b""


# --- sources that never end ------------------------------------------------------------------------------------------

ENDLESS = "template <int N, long B> struct T : T<N - 1, 2 * B>, T<N - 1, 2 * B + 1> {};\n" + (
    "template <long B> struct T<0, B> {};\nT<26, 1> t;\n"
)


def living_compilers(folder: Path) -> list[str]:
    """Command lines of processes that work in a folder of the cache."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if str(folder) in line:
            found.append(line)
    return found


@pytest.mark.skipif(not os.path.exists("/proc"), reason="looks for left processes in /proc")
def test_an_endless_compilation_is_stopped_with_all_its_processes(cache: Cache) -> None:
    with pytest.raises(CompileError, match=r"did not compile within 0\.5 s") as caught:
        build_host_library(ENDLESS, cache=cache, limits=CompileLimits(seconds=0.5))
    assert "template" in caught.value.hint
    # A killed process is listed until the system has taken its memory back; an endless one would stay for good.
    deadline = time.monotonic() + 60
    while living_compilers(cache.root):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert list((cache.root / "scratch").iterdir()) == []


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="macOS does not limit address space")
def test_a_compilation_that_fills_memory_is_stopped(cache: Cache) -> None:
    with pytest.raises(CompileError, match=r"needed more than 0\.25 GiB"):
        build_host_library(ENDLESS, cache=cache, limits=CompileLimits(memory_bytes=1 << 28))
    assert list((cache.root / "scratch").iterdir()) == []


def test_templates_that_recurse_for_ever_are_an_error_at_their_line(begun: Cache) -> None:
    source = "template <int N> struct A { static constexpr int v = A<N + 1>::v; };\n" + KERNEL % "A<0>::v"
    with pytest.raises(CompileError, match="depth") as caught:
        build_kernel(source, **LITTLE, cache=begun)
    assert caught.value.errors[0].file == next((begun.root / "sources").iterdir())


def test_a_build_that_fails_is_tried_again(project: Project) -> None:
    project.header.write_text("#define ANSWER oops\n")
    for _ in range(2):
        with pytest.raises(CompileError, match="oops"):
            project.build()
    project.write(7)
    assert answer(project.build()) == 7


def test_a_cache_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CacheError, match="in the way"):
        build_kernel(COPY, cache=Cache(tmp_path / "file"))
