"""The operators registered in PyTorch from C++: ``torch.ops.gn_tutorial_cpp``, built from ``kernels/torch_cpp``.

They compute the same as the operators of ``torch.ops.gn_tutorial``, on the same host API, but without Python between
the dispatcher and the kernel. docs/npu.md and kernels/torch_cpp/README.md explain the extension.
"""

from __future__ import annotations

import ctypes
import functools
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import torch
from torch.utils import cpp_extension

from gn_tutorial.compiler.cache import default_cache
from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.compiler.toolchain import Compiler, find_compiler, for_speed
from gn_tutorial.errors import CompileError, CompilerMissing
from gn_tutorial.host.c_library import build_kernels, build_library
from gn_tutorial.operators.registry import kernels_root

NAMESPACE = "gn_tutorial_cpp"
#: The source file that ``build`` leaves out: setup.py compiles it, on a machine with torch_npu.
ELSEWHERE = "npu.cpp"
_BUILD_SECONDS = 1200  # a build takes 20 s on a quiet machine, because torch's headers have 200,000 lines


@functools.cache
def load() -> ModuleType:
    """Build the extension unless it is cached, register the operators, and return ``torch.ops.gn_tutorial_cpp``.

    Raises CompileError, CompilerMissing (also if there is only zig, whose C++ library is not torch's), CacheError.
    """
    path = build()
    torch.ops.load_library(path)
    use_twin(path)
    return getattr(torch.ops, NAMESPACE)


def use_twin(library: Path) -> None:
    """Pass the paths of the twin's builds of the host API and the kernels to a library that contains ``cpu.cpp``."""
    kernels = build_kernels(observed=False)
    entries = (ctypes.c_char_p * len(kernels))(*(entry.encode() for entry in kernels))
    paths = (ctypes.c_char_p * len(kernels))(*(str(one).encode() for one in kernels.values()))
    tell = ctypes.CDLL(str(library)).gn_torch_use_twin
    tell.restype = None
    tell(str(build_library()).encode(), entries, paths, ctypes.c_uint64(len(kernels)))


def build() -> Path:
    """Return the path of the extension's library in the cache. Raises as ``load`` does.

    The library is built once for each combination of sources, torch and compiler.
    """
    folder = kernels_root() / "torch_cpp"
    return build_of(sorted(path for path in folder.glob("*.cpp") if path.name != ELSEWHERE))


def build_of(sources: Sequence[Path], flags: Sequence[str] = ()) -> Path:
    """Return the path of a library of these sources in the cache, as ``build`` does. Raises as ``load`` does.

    sources: may include the headers of ``kernels/torch_cpp`` and the host API. flags: further flags for the compiler.
    """
    compiler = find_compiler()
    if compiler.is_zig:
        raise CompilerMissing(
            "the zig compiler cannot build an extension of torch: its C++ library is another one than torch's",
            hint="install g++, or use torch.ops.gn_tutorial, which needs no compiler for its registration",
        )
    folder = kernels_root() / "torch_cpp"
    headers = [*folder.glob("*.h"), *(kernels_root() / "host_api").glob("gn_*.h")]
    texts = (file.read_text("utf-8") for file in [*sorted(headers), *sources])
    state = [torch.__version__, compiler.version, *_flags(compiler), *flags, *texts]
    return default_cache().get_or_make(
        checksum("\n".join(state).encode()), ".so", lambda made: _compile(compiler, folder, sources, flags, made)
    )


def _flags(compiler: Compiler) -> list[str]:
    """Return compiler flags as torch.utils.cpp_extension uses them.

    The function ``load`` of that module is not used, because it needs ninja.
    """
    flags = ["-std=c++20", for_speed(compiler), "-fPIC", "-fvisibility=hidden", "-shared"]
    flags.append(f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}")
    flags += [f"-isystem{path}" for path in cpp_extension.include_paths()]
    for path in cpp_extension.library_paths():
        flags += [f"-L{path}", f"-Wl,-rpath,{path}"]
    return flags


def _compile(compiler: Compiler, folder: Path, sources: Sequence[Path], flags: Sequence[str], made: Path) -> None:
    # The sources are compiled as one file, so that torch's headers, which take most of the time, are read only once.
    text = "".join(f'#include "{path}"\n' for path in sources)
    words = [*compiler.argv, "-x", "c++", "-", "-x", "none", f"-I{folder}", f"-I{folder.parent / 'host_api'}"]
    words += [*_flags(compiler), *flags, "-ltorch", "-ltorch_cpu", "-lc10", "-ldl", "-o", str(made)]
    try:
        ran = subprocess.run(
            words, input=text, capture_output=True, text=True, timeout=_BUILD_SECONDS, errors="replace"
        )
    except subprocess.TimeoutExpired as error:
        raise CompileError(f"the extension took more than {_BUILD_SECONDS} s to compile", where=str(folder)) from error
    if ran.returncode:
        raise CompileError(
            "the C++ extension does not compile against this torch",
            where=f"torch {torch.__version__}, {compiler}",
            hint="the course is tested with torch 2.13.0",
            detail="\n".join(ran.stderr.splitlines()[:40]),
        )
