"""Finds the C++ compiler, its version and its flags, and the part of the cache key that describes the processor.

The compiler is ``$GNT_CXX`` if that is set, otherwise the first of g++, clang++ and c++ that works. If there is none,
it is the compiler inside the ``ziglang`` wheel, which pip installs into the running environment.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.abi.options import Optimise
from gn_tutorial.errors import ArgumentError, CompilerMissing

# Wheels are about 100 MB. Later versions are excluded until tested, because zig's command line changes with releases.
ZIG_REQUIREMENT = "ziglang>=0.13,<0.18"
# The first versions that compile unqualified calls of template functions with -std=c++20. The first of Apple's clang is
# 13; Apple's 12 is not refused.
_OLDEST = {"g++": 10, "clang++": 12}
_HOW_TO_INSTALL = "install one: sudo apt install g++ (Debian, Ubuntu), xcode-select --install (macOS), or set GNT_CXX"
# Environment variables by which a compiler finds headers, libraries or its own parts. They are in the cache key.
ENVIRONMENT = (
    "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "SDKROOT",
    "MACOSX_DEPLOYMENT_TARGET",
)  # fmt: skip


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler. argv: the first words of its command line. name: its kind: g++, clang++ or zig.

    version: the first line of ``--version``; for clang also its target, for zig also the release of the wheel.
    """

    argv: tuple[str, ...]
    name: str
    version: str
    is_zig: bool = False

    def __str__(self) -> str:
        return f"{shlex.join(self.argv)} ({self.version})"


def find_compiler(*, install: bool = True) -> Compiler:
    """Return the compiler to use. With ``install=False`` a missing ziglang wheel is not installed.

    Raises CompilerMissing if there is no compiler, or if ``$GNT_CXX`` does not name a C++ compiler that runs and is new
    enough for C++20.
    """
    chosen = os.environ.get("GNT_CXX")
    if chosen:
        return _chosen(chosen)
    refused: list[str] = []
    for command in ("g++", "clang++", "c++"):
        path = shutil.which(command)
        if path is None:
            continue
        compiler = _ask((path,))
        if compiler is None:
            refused.append(f"{path} does not run")
        elif why := _too_old(compiler):
            refused.append(f"{path}: {why}")
        else:
            return compiler
    zig = _zig()
    if zig is None and install:
        _install_zig(refused)
        zig = _zig()
    if zig is None:
        raise CompilerMissing(
            "there is no C++ compiler on this machine", where="; ".join(refused), hint=_HOW_TO_INSTALL
        )
    return zig


def find_clang() -> Compiler | None:
    """Return a clang: ``$GNT_CXX`` if it is one, clang++, the newest clang++-NN, or an installed ziglang wheel's.

    None if the machine has none of them.
    """
    for words in (shlex.split(os.environ.get("GNT_CXX", "")), ["clang++"], *([one] for one in _numbered_clangs())):
        path = shutil.which(words[0]) if words else None
        compiler = _ask((path, *words[1:])) if path else None
        if compiler is not None and compiler.name != "g++" and not _too_old(compiler):
            return compiler
    return _zig()


def _numbered_clangs() -> list[str]:
    """Return the commands clang++-NN on the search path, the newest first: Debian's packages clang-NN have no other."""
    folders = [Path(one) for one in os.environ.get("PATH", os.defpath).split(os.pathsep) if one]
    found = {path.name for folder in folders for path in folder.glob("clang++-*")}
    return sorted((one for one in found if one[8:].isdecimal()), key=lambda one: int(one[8:]), reverse=True)


def _chosen(command: str) -> Compiler:
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise CompilerMissing(f"GNT_CXX is no command: {error} in {command}", hint="correct or unset it") from None
    path = shutil.which(argv[0]) if argv else None
    if path is None:
        raise CompilerMissing(
            f"GNT_CXX names a compiler that is not there: {command}", hint="unset GNT_CXX or correct it"
        )
    compiler = _ask((path, *argv[1:]))
    if compiler is None:
        raise CompilerMissing(f"GNT_CXX names something that is not a C++ compiler: {command}", hint="unset GNT_CXX")
    if why := _too_old(compiler):
        raise CompilerMissing(
            f"GNT_CXX names a compiler that is too old: {why}", hint="unset GNT_CXX or name a newer one"
        )
    return compiler


def _ask(argv: tuple[str, ...]) -> Compiler | None:
    try:
        stat = Path(argv[0]).stat()
    except OSError:
        return None
    return _version_of(argv, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=32)
def _version_of(argv: tuple[str, ...], _mtime: int, _size: int) -> Compiler | None:
    """Returns the compiler that ``--version`` describes; None if it does not run or is neither GCC nor clang.

    The result is kept for each compiler file with its time and size, so a compiler that was replaced is asked again.
    """
    try:
        asked = subprocess.run(
            [*argv, "--version"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
            check=False,
            env=compiler_environment(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = asked.stdout.decode("utf-8", "replace").strip()
    if asked.returncode or not text:
        return None
    lines = text.splitlines()
    if "clang" in text:
        # The target line distinguishes two clangs of one version, such as the cross compilers of conda.
        is_zig = Path(argv[0]).name.startswith("zig") or "ziglang" in argv
        target = next((line for line in lines if line.startswith("Target:")), "")
        return Compiler(argv, "zig" if is_zig else "clang++", f"{lines[0]} {target}".strip(), is_zig)
    if re.search(r"gcc|[gc]\+\+", lines[0], re.IGNORECASE):
        return Compiler(argv, "g++", lines[0])
    return None


def _too_old(compiler: Compiler) -> str:
    """Return why the compiler cannot build the twin, or an empty text."""
    oldest = _OLDEST.get(compiler.name, 0)
    if 0 < _major(compiler) < oldest:
        return f"{compiler.version} is older than {compiler.name} {oldest}, the first with C++20"
    return ""


def _major(compiler: Compiler) -> int:
    """Return the first number of the compiler's version; 0 if there is none."""
    # "g++ (Debian 12.2.0-14+deb12u1) 12.2.0", "Apple clang version 15.0.0 (...)"
    match = re.search(r"(\d+)\.\d+", re.sub(r"\([^)]*\)", "", compiler.version))
    return int(match.group(1)) if match else 0


def compiler_environment() -> dict[str, str]:
    """Return this process's environment, changed so that messages are in English, which ``output`` can read."""
    return {**os.environ, "LC_ALL": "C", "LANGUAGE": ""}


# --- zig -------------------------------------------------------------------------------------------------------------


def _zig() -> Compiler | None:
    importlib.invalidate_caches()
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        return None
    # `python -m ziglang c++` runs this program. Running it directly saves the 100 ms of starting Python a second time.
    binary = Path(spec.origin).parent / "zig"
    argv = (str(binary), "c++") if binary.is_file() else (sys.executable, "-m", "ziglang", "c++")
    compiler = _ask(argv)
    if compiler is None:
        return None
    try:
        release = importlib.metadata.version("ziglang")
    except importlib.metadata.PackageNotFoundError:
        release = "unknown"
    return Compiler(argv, "zig", f"zig {release}, {compiler.version}", is_zig=True)


def _install_zig(refused: list[str]) -> None:
    from rich.console import Console

    console = Console(stderr=True)
    why = "; ".join(refused) or "no g++ or clang++ on this machine"
    console.print(f"{why}: installing the compiler of the ziglang package (about 100 MB)", highlight=False)
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", ZIG_REQUIREMENT]
    if not console.is_terminal:
        command.insert(4, "--quiet")
    # pip draws its own progress bar; its standard output must not mix with `gnt ... --json`.
    done = subprocess.run(command, stdout=2, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise CompilerMissing(
            "there is no C++ compiler on this machine, and the one in the ziglang package could not be installed",
            where=shlex.join(command),
            hint=_HOW_TO_INSTALL,
        )
    console.print("installed; the first compilation takes about 40 s, later ones about one second", highlight=False)


# --- flags -----------------------------------------------------------------------------------------------------------

ELF = sys.platform.startswith("linux")


def kernel_flags(compiler: Compiler, *, optimise: Optimise = True, observed: bool = False) -> tuple[str, ...]:
    """Return the flags of a kernel library, which exports only the symbols that the twin marks.

    observed: whether variables without an initial value begin with a pattern that the twin knows
    (events/wild_values.h), not with the bytes that happen to be on the stack. g++ before 12 cannot write the pattern.
    """
    hidden = ("-fvisibility=hidden", "-fvisibility-inlines-hidden")
    level = _level(compiler, optimise)
    return (*_common_flags(compiler, level), *_library_flags(compiler), *hidden, *(_wild(compiler) if observed else ()))


def _level(compiler: Compiler, optimise: Optimise) -> str:
    if optimise == "little":
        # g++ takes a third less time with -Og than with -O1. zig keeps -O3, because for another level it would compile
        # its C++ library again.
        return "-O3" if compiler.is_zig else "-Og"
    return for_speed(compiler) if optimise else "-O0"


def for_speed(compiler: Compiler) -> str:
    """Return -O3, or the level "little" if GNT_OPTIMISE says so. Raises ArgumentError for another GNT_OPTIMISE."""
    wanted = os.environ.get("GNT_OPTIMISE", "")
    if wanted not in ("", "little"):
        raise ArgumentError(f"GNT_OPTIMISE is {wanted!r}", hint="unset it, or set it to little")
    return _level(compiler, "little") if wanted else "-O3"


def _wild(compiler: Compiler) -> tuple[str, ...]:
    if compiler.name == "g++" and _major(compiler) < 12:  # g++ 12 is the first with that flag
        return ()
    # g++ assumes that no code reads the bytes that an object's memory held before the constructor, and so drops the
    # pattern. This flag keeps the pattern; clang always keeps it.
    kept = ("-flifetime-dse=1",) if compiler.name == "g++" else ()
    return ("-ftrivial-auto-var-init=pattern", *kept)


def header_flags(compiler: Compiler, *, optimise: Optimise = True, observed: bool = False) -> tuple[str, ...]:
    """Return the flags of ``kernel_flags`` without those for the linker, to precompile a header for the same sources.

    The optimisation level must be that of the sources: g++ accepts a header made with another level, and then crashes.
    """
    return _of_a_header(kernel_flags(compiler, optimise=optimise, observed=observed))


def host_header_flags(compiler: Compiler) -> tuple[str, ...]:
    """Return flags to precompile a header for sources compiled with ``host_object_flags``."""
    return _of_a_header(host_object_flags(compiler))


def _of_a_header(flags: tuple[str, ...]) -> tuple[str, ...]:
    # With a linker flag, g++ links instead of precompiling, and reports a missing main.
    return tuple(flag for flag in flags if flag != "-c" and not flag.startswith(("-shared", "-static-", "-Wl,")))


def object_flags(compiler: Compiler, *, optimise: Optimise = True) -> tuple[str, ...]:
    """Return flags of an object file that is linked into kernel libraries of any optimisation level."""
    return (
        *_common_flags(compiler, _level(compiler, optimise)),
        "-c",
        "-fvisibility=hidden",
        "-fvisibility-inlines-hidden",
    )


def host_flags(compiler: Compiler) -> tuple[str, ...]:
    """Return flags of a library of plain host functions, which are all exported."""
    return (*_common_flags(compiler, for_speed(compiler)), *_library_flags(compiler))


def host_object_flags(compiler: Compiler) -> tuple[str, ...]:
    """Return flags of an object file of a project's host code, with a table of lines to locate a crash.

    The code is not optimised, because it is compiled once and runs for some microseconds. -g1 is the table without the
    types, which take a seventh of the time.
    """
    common = (flag if flag != "-g" else "-g1" for flag in _common_flags(compiler, "-O0"))
    return (*common, "-c", "-fvisibility=hidden", "-fvisibility-inlines-hidden")


def project_library_flags(compiler: Compiler) -> tuple[str, ...]:
    """Return flags of the library into which objects with ``host_object_flags`` are linked."""
    hidden = ("-fvisibility=hidden", "-fvisibility-inlines-hidden")
    return (*_common_flags(compiler, "-O0"), *_library_flags(compiler), *hidden)


def program_flags(compiler: Compiler) -> tuple[str, ...]:
    """Return flags of the launcher, a program."""
    return (*_common_flags(compiler, for_speed(compiler)), *(("-ldl", "-lrt") if ELF else ()))


def diagnostic_flags(compiler: Compiler) -> tuple[str, ...]:
    """Return flags that make the messages readable for ``output``. They do not change the library."""
    if compiler.name == "g++":
        # g++ only warns if a variable in braces may not fit into its field; clang and the device's compiler refuse it.
        shown = ("-fdiagnostics-color=never", "-fno-diagnostics-show-caret", "-ftabstop=1", "-fmax-errors=20")
        return (*shown, "-Werror=narrowing")
    # -w turns warnings off. On g++ it would also let narrowing initialisations pass.
    return ("-fdiagnostics-color=never", "-fno-caret-diagnostics", "-fmessage-length=0", "-ferror-limit=20", "-w")


def cpu_flag(compiler: Compiler) -> str:
    """Return the flag that compiles for the processor of this machine."""
    arm = platform.machine().lower() in ("arm64", "aarch64")
    return "-mcpu=native" if arm and compiler.name != "g++" else "-march=native"


def _common_flags(compiler: Compiler, level: str) -> tuple[str, ...]:
    """Return the flags that all outputs share.

    -ffast-math is not among them, so that every machine and compiler gives the same bits. All outputs share one set,
    because for each new combination of processor, level and -fPIC zig compiles its C++ library again, which takes 40 s.
    """
    # Kernels read the one memory of the Unified Buffer as several types (ReinterpretCast). Type-based alias analysis
    # would reorder such accesses.
    flags = ["-std=c++20", level, cpu_flag(compiler), "-ffp-contract=off", "-fno-strict-aliasing", "-fno-math-errno"]
    flags += ["-fPIC", "-pthread", *(["-g"] if level == "-O0" else [])]  # -O0 is for a debugger, and for host code
    if level == "-O3" and platform.machine() in ("x86_64", "AMD64") and not compiler.is_zig:
        # By default compilers use only half of an AVX-512 register. GroupNorm's last kernel, built bare, then takes a
        # seventh longer (median of five runs in turns).
        flags.append("-mprefer-vector-width=512")
    if compiler.is_zig:
        # zig adds UBSan to unoptimised and -DNDEBUG to optimised builds. -s removes the symbols of zig's C++ library,
        # which is linked in.
        flags += ["-fno-sanitize=undefined", "-UNDEBUG", *([] if level == "-O0" else ["-s"])]
    elif ELF:
        if compiler.name == "g++":
            # All libraries of a process share unique symbols, even with RTLD_LOCAL, so observed and bare kernels would
            # use each other's.
            flags.append("-fno-gnu-unique")
            # Cloning functions for constant arguments takes a fifth to a third of a kernel's compile time, and makes
            # none of the twin's benchmarks faster.
            flags.append("-fno-ipa-cp-clone")
        if _static_runtime(compiler.argv, compiler.version):
            # A conda Python loads its own libstdc++, which is often older than the system's. Then a library that needs
            # the system's libstdc++ does not load.
            flags += ["-static-libstdc++", "-static-libgcc"]
    return tuple(flags)


def _library_flags(compiler: Compiler) -> tuple[str, ...]:
    if not ELF:
        return ("-shared",)
    # --exclude-libs hides the symbols of the static runtime. -z defs reports a function without a body now, not at
    # dlopen.
    return ("-shared", "-Wl,-z,defs", *(() if compiler.is_zig else ("-Wl,--exclude-libs,ALL",)))


@functools.lru_cache(maxsize=8)
def _static_runtime(argv: tuple[str, ...], _version: str) -> bool:
    """Whether libstdc++.a exists. Fedora and others package it separately. Without it the shared library is used."""
    command = [*argv, "-print-file-name=libstdc++.a"]
    try:
        asked = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return Path(asked.stdout.decode("utf-8", "replace").strip()).is_absolute()


@functools.lru_cache(maxsize=1)
def cpu_key() -> str:
    """Return the processor's model and features, on which ``-march=native`` depends.

    They are in the cache key because home folders move between machines.
    """
    fields = {
        "vendor_id",
        "cpu family",
        "model",
        "flags",
        "Features",
        "CPU implementer",
        "CPU part",
        "CPU variant",
        "isa",
    }
    found = []
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if not line.strip() and found:
                    break  # the first processor is enough: a server lists hundreds of them
                name, _, value = line.partition(":")
                if name.strip() in fields:
                    found.append(f"{name.strip()}:{value.strip()}")
    except OSError:
        pass
    return "\n".join([platform.machine(), *(found or [platform.processor()])])
