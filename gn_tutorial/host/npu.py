"""Support for a real NPU: finds it, builds the host API for it, and gets the handle of PyTorch's stream.

Nothing here was run on an NPU (docs/npu.md says what was checked instead). The rest of the package works without this
module.
"""

from __future__ import annotations

import ctypes
import functools
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Mapping
from ctypes import byref, c_void_p
from importlib import util
from pathlib import Path

from gn_tutorial.errors import CompileError, KernelError

LIBRARY = "libgn_host_npu.so"
#: The sentence with which pages and commands describe the parts for an NPU.
NOT_RUN = "not run on an NPU here: written from the public documentation of CANN and checked without one"
_NPU_SECONDS = 120
_BUILD_SECONDS = 1800
_CMAKE_OF_ASC = "compiler/tikcpp/ascendc_kernel_cmake"
_LOCK = threading.Lock()
_STREAMS: dict[tuple[int, int], c_void_p] = {}  # (library, aclrtStream) -> handle


def toolkit_path(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the CANN toolkit's folder, which its ``set_env.sh`` exports, or None."""
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        if environ.get(name) and Path(environ[name]).is_dir():
            return Path(environ[name])
    return None


def npu_available(environ: Mapping[str, str] = os.environ, devices: Path = Path("/dev")) -> tuple[bool, str]:
    """Return whether there is a usable NPU, and the reason. The cheapest check comes first.

    torch and torch_npu are imported in a separate process, because a torch_npu that does not fit the driver can end its
    process.
    """
    if util.find_spec("torch_npu") is None:
        return False, "torch_npu is not installed"
    if toolkit_path(environ) is None:
        return False, "no CANN toolkit: neither ASCEND_HOME_PATH nor ASCEND_TOOLKIT_HOME names a folder"
    found = sorted(path.name for path in devices.glob("davinci[0-9]*"))
    if not found:
        return False, f"no {devices}/davinci* device"
    code = "import torch, torch_npu; print(torch.npu.is_available(), torch.npu.device_count())"
    try:
        asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=_NPU_SECONDS)
    except subprocess.TimeoutExpired:
        return False, f"torch.npu.is_available() gave no answer in {_NPU_SECONDS} s"
    answer = asked.stdout.split()
    if asked.returncode or not answer:
        last = asked.stderr.strip().splitlines()[-1:] or [f"exit code {asked.returncode}"]
        return False, f"import torch_npu fails: {last[0]}"
    if answer[-2] != "True":
        return False, f"{', '.join(found)} found, but torch.npu.is_available() is False"
    return True, f"{answer[-1]} device(s): {', '.join(found)}"


@functools.cache
def why_not() -> str | None:
    """Return the first reason why this process cannot use an NPU; None if it can. The answer is cached."""
    available, reason = npu_available()
    return None if available else reason


def cmake_folder(toolkit: Path | None) -> Path:
    """Return the folder whose CMakeLists.txt fits the toolkit: kernels/npu (the default; CANN 8.5, 9.x) or its cann8.

    If neither folder fits the toolkit, no error is raised here: CMake reports it.
    """
    from gn_tutorial.operators.registry import kernels_root

    npu = kernels_root() / "npu"
    if toolkit is None:
        return npu
    cmake = toolkit / _CMAKE_OF_ASC
    newer = any((cmake / name).is_file() for name in ("asc-config.cmake", "ASCConfig.cmake"))
    return npu if newer or not (cmake / "ascendc.cmake").is_file() else npu / "cann8"


def launched_kernels() -> list[Path]:
    """Return the sources of the kernels that ``LIBRARY`` launches."""
    from gn_tutorial.operators.registry import all_kernels, kernels_root, load_registry

    entries = {path.stem for path in (kernels_root() / "npu").glob("*.asc")}
    return list(dict.fromkeys(spec.file for _, spec in all_kernels(load_registry()) if spec.entry in entries))


def build_commands(folder: Path, environ: Mapping[str, str] = os.environ) -> list[list[str]]:
    """Return the commands (lists of words) that build ``LIBRARY`` in ``folder``; they need the toolkit's variables.

    ``GNT_NPU_CMAKE`` adds words to the first one, such as ``-DCMAKE_ASC_ARCHITECTURES=dav-2201``.
    """
    source = cmake_folder(toolkit_path(environ))
    more = shlex.split(environ.get("GNT_NPU_CMAKE", ""))
    return [
        ["cmake", "-S", str(source), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release", *more],
        ["cmake", "--build", str(folder), "--parallel"],
    ]


def build(folder: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Run the build commands; return the library.

    Raises CompileError without a toolkit or cmake, for a command that fails (with its last lines) or takes too long,
    and if the commands made no library.
    """
    if toolkit_path(environ) is None:
        raise CompileError(
            "there is no CANN toolkit to build with",
            where="ASCEND_HOME_PATH",
            hint="install CANN, then source its set_env.sh; `gnt dev npu` prints the commands",
        )
    # The CMake files read ASCEND_HOME_PATH; an older set_env.sh sets ASCEND_TOOLKIT_HOME instead.
    variables = {**environ, "ASCEND_HOME_PATH": str(toolkit_path(environ))}
    for command in build_commands(folder, environ):
        try:
            ran = subprocess.run(
                command, env=variables, capture_output=True, text=True, errors="replace", timeout=_BUILD_SECONDS
            )
        except FileNotFoundError as error:
            raise CompileError("cmake is not installed", hint="pip install cmake") from error
        except subprocess.TimeoutExpired as error:
            raise CompileError(f"the build took more than {_BUILD_SECONDS} s", where=shlex.join(command)) from error
        if ran.returncode:
            lines = (ran.stdout + ran.stderr).strip().splitlines()
            raise CompileError(
                "the host API does not build for the NPU",
                where=shlex.join(command),
                hint="docs/npu.md has a table of what can go wrong",
                detail="\n".join(lines[-40:]),
            )
    found = sorted(folder.rglob(LIBRARY))
    if not found:
        raise CompileError(f"the build made no {LIBRARY}", where=str(folder), hint="remove the folder and build again")
    return found[0]


def build_library() -> Path:
    """Return the library of the host API for the NPU. It is built in the cache, again when sources or toolkit change.

    Raises CompileError, CacheError.
    """
    from gn_tutorial.compiler.cache import default_cache
    from gn_tutorial.compiler.cache_store import checksum

    cache = default_cache()
    state = [str(toolkit_path()), os.environ.get("GNT_NPU_CMAKE", ""), *(_read(path) for path in _sources())]
    key = checksum("\n".join(state).encode("utf-8", "surrogateescape"))
    folder = cache.root / "npu" / key
    made = folder / "made"  # names the library once the whole build has succeeded
    with cache.lock(key):
        if made.is_file() and Path(made.read_text("utf-8")).is_file():
            return Path(made.read_text("utf-8"))
        library = build(folder)
        made.write_text(str(library), "utf-8")
        return library


@functools.cache
def host_library() -> ctypes.CDLL:
    """Return the host API for the NPU, declared to ctypes and built if needed. Raises CompileError, CacheError."""
    return declared_library(build_library())


def stream_of_torch() -> c_void_p:
    """Return the host API's handle of PyTorch's current NPU stream.

    A stream always has the same handle. Reading ``npu_stream`` moves the tasks of torch_npu's own queue into the
    stream, so the host API's work runs after those tasks. Raises KernelError, Refused, CompileError, CacheError.
    """
    if reason := why_not():
        raise KernelError(f"there is no NPU stream: {reason}", hint="`gnt doctor` says what is missing")
    import torch
    import torch_npu  # noqa: F401 - makes torch.npu

    return stream_of(host_library(), torch.npu.current_stream().npu_stream)


def stream_of(library: ctypes.CDLL, aclrt_stream: int) -> c_void_p:
    """Return the handle of an aclrtStream in ``library``, a build of the host API; always the same one.

    Raises Refused, KernelError.
    """
    from gn_tutorial.host.c_library import check

    key = (library._handle, aclrt_stream)
    with _LOCK:
        if key not in _STREAMS:
            made = c_void_p()
            check(library.GnWrapStream(aclrt_stream, byref(made)), library)
            _STREAMS[key] = made
        return _STREAMS[key]


def declared_library(path: Path) -> ctypes.CDLL:
    """Return a build of the host API for an NPU, loaded and with its functions declared to ctypes."""
    from gn_tutorial.host.c_library import declared
    from gn_tutorial.operators.registry import kernels_root

    return declared(path, [kernels_root() / "npu" / "gn_host_npu.h"])


def _sources() -> list[Path]:
    """Return all source files of the library."""
    from gn_tutorial.host.c_library import kernels
    from gn_tutorial.operators.registry import find_kernel, kernels_root

    root = kernels_root()
    folders = {root / "npu", root / "host_api", root / "common", *(find_kernel(name)[0].folder for name in kernels())}
    suffixes = {".h", ".cpp", ".asc", ".txt", ".cmake"}
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes)


def _read(path: Path) -> str:
    return f"{path}\n{path.read_text('utf-8', 'surrogateescape')}"
