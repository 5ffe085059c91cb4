"""``gnt doctor``: reports what this machine has, what it lacks, and what to do about it.

Every check is a function that returns one row and never raises. The status ``problem`` means that kernels, or the
import of torch, fail or may fail on this machine. An absent NPU, toolkit or torch is ``missing``, which is fine.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from gn_tutorial.errors import GntError
from gn_tutorial.host.npu import LIBRARY, cmake_folder, npu_available, toolkit_path

OK, MISSING, PROBLEM = "ok", "missing", "problem"
GIB = 1 << 30
_TORCH_SECONDS = 120
_LEAST_FREE_DISK = GIB
# Two launches with the largest array of a notebook fit into 64 MiB. This is also Docker's default size of /dev/shm.
_LEAST_SHARED_MEMORY = 64 << 20


@dataclass(frozen=True)
class Check:
    """One row: ``status`` is ok, missing (fine) or problem; ``advice`` is what to do, empty if nothing."""

    name: str
    status: str
    found: str
    advice: str = ""


def run_checks() -> Iterator[Check]:
    """Yield all rows, each as soon as it is ready. The last row compiles and runs a kernel, which may take seconds."""
    checks: tuple[Callable[[], Check], ...] = (
        check_python,
        check_packages,
        check_compiler,
        check_zig,
        check_cache,
        check_disk,
        check_shared_memory,
        check_torch,
        check_torch_npu,
        check_torch_operators,
        check_toolkit,
        check_npu_build,
        check_npu,
        check_kernel,
    )
    for check in checks:
        yield check()


def check_python() -> Check:
    """Return Python's version and place. Python is never too old here: an older one cannot import this module."""
    return Check("Python", OK, f"{platform.python_version()} at {sys.executable}")


def check_packages() -> Check:
    """Check that NumPy and ml_dtypes are installed, because bfloat16 arrays need both."""
    versions = {name: installed_version(name) for name in ("numpy", "ml_dtypes")}
    found = ", ".join(f"{name} {version or 'not installed'}" for name, version in versions.items())
    if None in versions.values():
        return Check("NumPy", PROBLEM, found, f"{sys.executable} -m pip install numpy ml_dtypes")
    return Check("NumPy", OK, found)


def check_compiler() -> Check:
    """Check for the C++ compiler that builds kernels. If there is none, zig's is installed at the first build.

    If GNT_CXX is set but names no usable compiler, that is a problem.
    """
    from gn_tutorial.compiler.toolchain import find_compiler

    try:
        compiler = find_compiler(install=False)
    except GntError as error:
        if os.environ.get("GNT_CXX"):
            return Check("C++ compiler", PROBLEM, error.what, error.hint)
        advice = "nothing to do: the ziglang package is installed at the first build; g++ builds faster"
        return Check("C++ compiler", MISSING, error.where or "no g++ and no clang++", advice)
    return Check("C++ compiler", OK, str(compiler))


def check_zig() -> Check:
    """Check for the compiler in the ziglang wheel, which is used if the machine has no other."""
    version = installed_version("ziglang")
    if version:
        return Check("zig fallback", OK, f"ziglang {version}")
    return Check(
        "zig fallback", MISSING, "not installed", "nothing to do: installed automatically if there is no compiler"
    )


def check_cache() -> Check:
    """Check that the folder of compiled kernels can be written. The row has its path and size."""
    from gn_tutorial.compiler.cache import default_cache

    try:
        cache = default_cache()
        cache.root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache.root):
            pass
        info = cache.info()
    except (OSError, GntError) as error:
        return Check("cache folder", PROBLEM, str(error), "set GNT_CACHE_DIR to a folder that can be written")
    return Check("cache folder", OK, f"{cache.root}: {info.entries} entries, {info.bytes / 2**20:.1f} MiB")


def check_disk() -> Check:
    """Check the free space of the disk that keeps compiled kernels."""
    from gn_tutorial.compiler.cache import default_cache

    folder = default_cache().root
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    found = f"{free / GIB:.1f} GiB free"
    if free < _LEAST_FREE_DISK:
        return Check("disk", PROBLEM, found, "free at least 1 GiB; `gnt cache clear` removes compiled kernels")
    return Check("disk", OK, found)


def check_shared_memory(folder: Path = Path("/dev/shm")) -> Check:
    """Check the free shared memory, through which arrays pass between Python and an isolated launch."""
    if not folder.is_dir():
        return Check("/dev/shm", MISSING, "not on this system", "nothing to do: temporary files are used")
    usage = shutil.disk_usage(folder)
    found = f"{usage.free / GIB:.2f} of {usage.total / GIB:.2f} GiB free"
    if usage.free < _LEAST_SHARED_MEMORY:
        return Check(
            "/dev/shm", PROBLEM, found, "in Docker: docker run --shm-size=1g; otherwise remove files from /dev/shm"
        )
    return Check("/dev/shm", OK, found)


def check_torch() -> Check:
    """Check for torch without importing it, because the import fails if torch_npu is broken."""
    version = installed_version("torch")
    if version is None:
        advice = "only notebooks 12 and 13 need it: ./gnt torch installs the CPU build"
        return Check("torch", MISSING, "not installed", advice)
    return Check("torch", OK, version)


def check_torch_npu(environ: Mapping[str, str] = os.environ) -> Check:
    """Check torch_npu. torch loads it without being asked, so ``import torch`` fails if the CANN toolkit is missing."""
    version, torch = installed_version("torch_npu"), installed_version("torch")
    if version is None:
        return Check("torch_npu", MISSING, "not installed", "only a machine with an NPU needs it")
    if toolkit_path(environ) is None:
        advice = (
            "`import torch` fails, because torch loads torch_npu, which needs CANN: pip uninstall torch_npu, "
            "or install CANN and source its set_env.sh, or set TORCH_DEVICE_BACKEND_AUTOLOAD=0"
        )
        return Check("torch_npu", PROBLEM, f"{version}, but no CANN toolkit", advice)
    if torch is not None and _release(torch) != _release(version):
        return Check("torch_npu", PROBLEM, f"{version} with torch {torch}", f"pip install torch=={_release(version)}")
    return Check("torch_npu", OK, version)


def check_torch_operators() -> Check:
    """Check that PyTorch has every kernel of the course's operators.

    This runs in a separate process, because the import of torch takes seconds.
    """
    name = "torch.ops"
    if installed_version("torch") is None:
        return Check(name, MISSING, "needs torch", "nothing to do: only the PyTorch chapters need it")
    command = [sys.executable, "-m", "gn_tutorial.torch_ops.registered"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=_TORCH_SECONDS)
    except subprocess.TimeoutExpired:
        return Check(name, PROBLEM, f"importing them did not end in {_TORCH_SECONDS} s", " ".join(command))
    if asked.returncode:
        last = asked.stderr.strip().splitlines()[-1:] or [f"exit code {asked.returncode}"]
        return Check(name, PROBLEM, f"importing them fails: {last[0]}", " ".join(command))
    answer = json.loads(asked.stdout)
    if answer["missing"]:
        advice = "update torch: this one may register operators differently; otherwise report a bug"
        return Check(name, PROBLEM, "; ".join(answer["missing"]), advice)
    return Check(name, OK, f"{len(answer['operators'])} operators, each for {', '.join(answer['keys'])}")


def check_toolkit(environ: Mapping[str, str] = os.environ) -> Check:
    """Check for the CANN toolkit. It builds the same kernels for a real NPU, and is not needed here."""
    path = toolkit_path(environ)
    if path is None:
        named = [n for n in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME") if environ.get(n)]
        found = f"{named[0]}={environ[named[0]]} is no folder" if named else "not found"
        return Check("CANN toolkit", MISSING, found, "only a real NPU needs it: source its set_env.sh")
    return Check("CANN toolkit", OK, f"{_toolkit_version(path)} at {path}")


def check_npu_build(environ: Mapping[str, str] = os.environ) -> Check:
    """Check for the tools that build the host API for an NPU: the CANN toolkit and CMake. Nothing is built."""
    toolkit = toolkit_path(environ)
    if toolkit is None:
        return Check("NPU build", MISSING, "no CANN toolkit", "only an NPU needs it: `gnt dev npu` prints the commands")
    cmake = shutil.which("cmake", path=environ.get("PATH"))
    if cmake is None:
        return Check("NPU build", MISSING, "cmake is not installed", f"{sys.executable} -m pip install cmake")
    way = cmake_folder(toolkit)
    how = "for CANN before 8.5" if way.name == "cann8" else "for CANN 8.5 and 9.x"
    found = f"{way / 'CMakeLists.txt'} ({how}) with {cmake}"
    return Check("NPU build", OK, found, f"gnt dev npu --build makes {LIBRARY}")


def check_npu() -> Check:
    """Check whether a kernel could run on a real NPU. If not, the row has the first reason that was found."""
    available, reason = npu_available()
    return (
        Check("NPU", OK, reason)
        if available
        else Check("NPU", MISSING, reason, "nothing to do: kernels run on the twin")
    )


def check_kernel() -> Check:
    """Compile and run the copy kernel, and compare its output.

    Without ``--class`` this row decides the exit code of ``gnt doctor``.
    """
    import numpy as np

    from gn_tutorial.operators.kernel import kernel

    x = np.arange(1000, dtype=np.float32) - 250
    try:
        copy = kernel("copy")
        built = copy.build()
        result = copy(x)
    except (GntError, OSError) as error:
        return Check("build and run", PROBLEM, f"{type(error).__name__}: {error}", "see the rows above")
    if not np.array_equal(result.y, x):
        return Check("build and run", PROBLEM, "the copy kernel gave wrong numbers", "this is a bug: please report it")
    how = "from the cache" if built.cached else f"compiled in {built.seconds:.1f} s"
    return Check("build and run", OK, f"copy kernel: {how} with {built.compiler.name}, ran, right")


def installed_version(package: str) -> str | None:
    """Return the version of a package without importing it; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _release(version: str) -> str:
    """Return ``2.13.0`` for ``2.13.0+cpu`` or ``2.13.0.post2``."""
    return version.partition("+")[0].partition(".post")[0]


def _toolkit_version(path: Path) -> str:
    """Return the toolkit's version from the first of CANN's files that names it, or "version unknown"."""
    names = ("version.cfg", "compiler/version.info", "runtime/version.info", "*/ascend_toolkit_install.info")
    for file in (match for name in names for match in sorted(path.glob(name))):
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for line in lines:
            key, sign, value = line.partition("=")
            if sign and key.strip().lower() in ("version", "toolkit_running_version"):
                return value.strip().strip("[]")
    return "version unknown"
