"""Which compiler is taken, why one is not, and what its flags promise."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from zig_support import BareMachine

from gn_tutorial.compiler import toolchain
from gn_tutorial.compiler.build import build_host_library
from gn_tutorial.compiler.cache import Cache
from gn_tutorial.compiler.toolchain import Compiler, cpu_key, find_clang, find_compiler, host_flags, kernel_flags
from gn_tutorial.errors import ArgumentError, CompilerMissing

SYSTEM = next((path for path in map(shutil.which, ("g++", "clang++", "c++")) if path), None)
needs_system = pytest.mark.skipif(SYSTEM is None, reason="no C++ compiler on the search path")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the search path; no GNT_CXX, and no ziglang package."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("GNT_CXX", raising=False)
    monkeypatch.setitem(sys.modules, "ziglang", None)
    return tmp_path


def program(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


@needs_system
def test_the_systems_compiler() -> None:
    found = find_compiler()
    assert found.name in ("g++", "clang++", "zig")
    assert any(char.isdigit() for char in found.version)
    assert found.argv[0] in str(found)


@needs_system
def test_the_last_name_on_the_list_is_found_and_its_kind_told(folder: Path) -> None:
    program(folder, "c++", f'exec "{SYSTEM}" "$@"')
    found = find_compiler(install=False)
    assert found.argv == (str(folder / "c++"),)
    assert found.name == ("clang++" if "clang" in found.version else "g++")


@needs_system
def test_one_that_is_too_old_or_broken_is_passed_over(folder: Path) -> None:
    program(folder, "g++", 'echo "g++ (Debian 8.3.0-6) 8.3.0"')
    program(folder, "clang++", "exit 1")
    program(folder, "c++", f'exec "{SYSTEM}" "$@"')
    assert find_compiler(install=False).argv == (str(folder / "c++"),)


def test_without_a_plain_clang_the_newest_numbered_one_reads_kernels(folder: Path) -> None:
    assert find_clang() is None
    for number in (9, 14, 19):
        program(folder, f"clang++-{number}", f'echo "Debian clang version {number}.0.6"')
    program(folder, "clang++-format", 'echo "clang version 99.0.0"')
    program(folder, "clang++-20", "exit 1")
    assert find_clang() == Compiler((str(folder / "clang++-19"),), "clang++", "Debian clang version 19.0.6")
    plain = program(folder, "clang++", 'echo "clang version 13.0.1"')
    assert find_clang() == Compiler((str(plain),), "clang++", "clang version 13.0.1")


def test_none(folder: Path) -> None:
    program(folder, "g++", 'echo "g++ (Debian 8.3.0-6) 8.3.0"')
    with pytest.raises(CompilerMissing, match="no C\\+\\+ compiler") as caught:
        find_compiler(install=False)
    assert "older than g++ 10" in caught.value.where
    assert "apt install g++" in caught.value.hint
    assert caught.value.exit_code == 3


def test_none_and_no_way_to_install_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(toolchain, "ZIG_REQUIREMENT", "ziglang==0.0.0.not.there")
    with pytest.raises(CompilerMissing, match="could not be installed") as caught:
        find_compiler()
    assert "pip install" in caught.value.where
    out, err = capfd.readouterr()
    assert out == ""  # `gnt run --json` owns standard output
    assert "installing" in err


@needs_system
def test_the_users_choice_wins_and_may_have_options(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNT_CXX", f"{SYSTEM} -DCHOSEN")
    assert find_compiler().argv == (SYSTEM, "-DCHOSEN")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ('g++ "-O', "no command"),
        ("nowhere++ -O", "not there"),
        ("/bin/sh", "not a C"),
        ("/bin/echo", "not a C"),
        (" ", "not there"),
    ],
)
def test_a_wrong_choice_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, reason: str) -> None:
    monkeypatch.setenv("GNT_CXX", command)
    with pytest.raises(CompilerMissing, match=reason) as caught:
        find_compiler()
    assert "GNT_CXX" in caught.value.what


def test_a_choice_that_is_too_old(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = program(folder, "mine", 'echo "Apple clang version 11.0.3 (clang-1103.0.32.59)"', 'echo "Target: arm64"')
    monkeypatch.setenv("GNT_CXX", str(old))
    with pytest.raises(CompilerMissing, match="too old"):
        find_compiler()


def test_a_compiler_replaced_on_disk_is_asked_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(folder, "mine", 'echo "g++ (X) 12.2.0"')
    monkeypatch.setenv("GNT_CXX", str(path))
    assert find_compiler().version == "g++ (X) 12.2.0"
    program(folder, "mine", 'echo "g++ (X) 12.10.0"')
    assert find_compiler().version == "g++ (X) 12.10.0"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/cpuinfo")
def test_the_key_names_the_processors_features() -> None:
    text = Path("/proc/cpuinfo").read_text()
    line = next(line for line in text.splitlines() if line.startswith(("flags", "Features", "isa")))
    assert line.partition(":")[2].strip() in cpu_key()


# --- what the flags promise ------------------------------------------------------------------------------------------

PROMISES = r"""
#include <cmath>
#include <stdexcept>
#ifdef NDEBUG
#error assert() would vanish
#endif
static int inlined() { try { throw std::runtime_error("x"); } catch (const std::exception&) { return 7; } }
extern "C" {
int Caught() { return inlined(); }
float MulAdd(float a, float b, float c) { return a * b + c; }
bool NanIsNan(float a) { return a != a && std::isnan(a); }
float Sum(const float* v, int n) { float s = 0; for (int i = 0; i < n; ++i) s += v[i]; return s; }
}
"""


@pytest.fixture(scope="module")
def promises(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    built = build_host_library(PROMISES, cache=Cache(tmp_path_factory.mktemp("cache")))
    return ctypes.CDLL(str(built.library))


def test_products_are_rounded_before_they_are_added(promises: ctypes.CDLL) -> None:
    function = promises.MulAdd
    function.restype, function.argtypes = ctypes.c_float, [ctypes.c_float] * 3
    a = 1.0 + 2.0**-12  # a * a = 1 + 2^-11 + 2^-24: the last term is lost when the product is rounded to float
    assert function(a, a, -(1.0 + 2.0**-11)) == 0.0


def test_nan_and_the_order_of_sums_are_kept(promises: ctypes.CDLL) -> None:
    promises.NanIsNan.restype, promises.NanIsNan.argtypes = ctypes.c_bool, [ctypes.c_float]
    assert promises.NanIsNan(float("nan"))
    assert not promises.NanIsNan(1.0)
    values = (ctypes.c_float * 64)(*[1e8, 1.0, -1e8, 1.0] * 16)
    promises.Sum.restype, promises.Sum.argtypes = ctypes.c_float, [ctypes.POINTER(ctypes.c_float), ctypes.c_int]
    assert promises.Sum(values, 64) == 1.0


def test_exceptions_are_caught_inside_a_library(promises: ctypes.CDLL) -> None:
    assert promises.Caught() == 7


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF symbols")
def test_a_library_exports_nothing_of_the_runtime(promises: ctypes.CDLL) -> None:
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("no nm")
    listed = subprocess.run([nm, "-D", "--defined-only", promises._name], capture_output=True, text=True, check=True)
    kinds = {line.split()[-2]: line.split()[-1] for line in listed.stdout.splitlines()}
    assert "u" not in kinds  # unique symbols are shared over all libraries of the process
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    assert {"MulAdd", "Sum"} <= names
    assert not [name for name in names if name.startswith("_Unwind") or "__cxa" in name]


def test_the_level_follows_what_is_asked_and_zig_meets_no_third_one(monkeypatch: pytest.MonkeyPatch) -> None:
    gnu, zig = Compiler(("g++",), "g++", "g++ 12.2"), Compiler(("zig", "c++"), "zig", "zig 0.15", is_zig=True)

    def levels() -> list[str]:
        kernels = [kernel_flags(gnu, optimise=optimise) for optimise in (True, "little", False)]
        return [next(flag for flag in flags if flag.startswith("-O")) for flags in (*kernels, host_flags(gnu))]

    monkeypatch.delenv("GNT_OPTIMISE", raising=False)
    assert levels() == ["-O3", "-Og", "-O0", "-O3"]
    assert kernel_flags(zig, optimise="little") == kernel_flags(zig)
    monkeypatch.setenv("GNT_OPTIMISE", "little")
    assert levels() == ["-Og", "-Og", "-O0", "-Og"]
    monkeypatch.setenv("GNT_OPTIMISE", "more")
    with pytest.raises(ArgumentError, match="GNT_OPTIMISE is 'more'"):
        levels()


# --- zig -------------------------------------------------------------------------------------------------------------


@pytest.mark.zig
def test_without_a_compiler_ziglang_is_installed_and_a_kernel_runs(bare_machine: BareMachine) -> None:
    assert bare_machine.code == 0, bare_machine.err
    assert bare_machine.out.split()[:2] == ["zig", "zig"]
    assert bare_machine.compiler.startswith(str(bare_machine.folder))  # installed there, not found elsewhere
    assert "the first compilation takes about 40 s" in bare_machine.err
