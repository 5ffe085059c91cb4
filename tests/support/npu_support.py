"""A stand-in for the CANN toolkit: headers, a runtime library, a compiler and CMake's package, in one folder."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from ctypes import c_char_p, c_int, c_int64, c_void_p
from pathlib import Path

import pytest

from gn_tutorial.compiler.build_request import TWIN_INCLUDE

STAND_IN = Path(__file__).resolve().parents[1] / "npu_stand_in"
needs_cmake = pytest.mark.skipif(
    not (shutil.which("cmake") and shutil.which("g++")), reason="cmake and g++ build the NPU's library"
)


def make_toolkit_folder(folder: Path) -> Path:
    """Make the folder that set_env.sh's ASCEND_HOME_PATH would name; return the runtime library's path."""
    shutil.copytree(STAND_IN / "acl", folder / "include" / "acl")
    shutil.copytree(STAND_IN / "cmake", folder / "compiler" / "tikcpp" / "ascendc_kernel_cmake")
    shutil.copy(STAND_IN / "stand_in_launch.h", folder / "include")
    (folder / "bin").mkdir()
    shutil.copy(STAND_IN / "bisheng", folder / "bin")
    (folder / "lib64").mkdir()
    runtime = folder / "lib64" / "libascendcl.so"
    command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", f"-I{STAND_IN}", f"-I{TWIN_INCLUDE}"]
    subprocess.run(
        [*command, str(STAND_IN / "stand_in.cpp"), "-o", str(runtime), "-Wl,-soname,libascendcl.so", "-ldl"], check=True
    )
    return runtime


def make_toolkit(folder: Path) -> ctypes.CDLL:
    """Make the same folder; return the runtime, loaded, for tests to inspect. A process can load one."""
    runtime = make_toolkit_folder(folder)
    # Loaded for all libraries of the process, as CANN's runtime is when torch_npu has loaded it.
    loaded = ctypes.CDLL(str(runtime), mode=os.RTLD_GLOBAL)
    loaded.stand_in_stream.restype = c_void_p
    loaded.stand_in_seen.argtypes, loaded.stand_in_seen.restype = (c_char_p,), c_int64
    loaded.stand_in_waiting.argtypes, loaded.stand_in_waiting.restype = (c_void_p,), c_int64
    loaded.stand_in_cores.argtypes = (c_int64,)
    loaded.stand_in_fail.argtypes = (c_int, c_int)
    for name in ("aclrtSynchronizeStream", "aclmdlRIDestroy"):
        getattr(loaded, name).argtypes = (c_void_p,)
    loaded.aclmdlRICaptureBegin.argtypes = (c_void_p, c_int)
    loaded.aclmdlRICaptureEnd.argtypes = loaded.aclmdlRIExecuteAsync.argtypes = (c_void_p, c_void_p)
    return loaded


def toolkit_variables(folder: Path) -> dict[str, str]:
    """Return the environment variables that make the folder the toolkit."""
    library_path = os.pathsep.join([str(folder / "lib64"), os.environ.get("LD_LIBRARY_PATH", "")])
    # All sources in one translation unit: reading the same headers ten times would take most of the test's time.
    quick = "-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 -DCMAKE_BUILD_TYPE=Debug"
    return {
        **os.environ,
        "ASCEND_HOME_PATH": str(folder),
        "LD_LIBRARY_PATH": library_path,
        "GNT_NPU_CMAKE": quick,
    }
