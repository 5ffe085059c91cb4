"""Builds the operators as libraries for PyTorch: gn_torch for the CPU, and gn_torch_npu where torch_npu is installed.

    python setup.py build_ext --build-lib out

Beside them belong, in the same folder, the builds of the host API that they call: what `gnt dev host-library` writes,
and libgn_host_npu.so of `gnt dev npu --build`. Then, in Python: torch.ops.load_library("out/gn_torch....so"), the NPU's
second.
The NPU's part was not run on an NPU; its source was only compiled as far as types go.
"""

from importlib import util
from pathlib import Path

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

HERE = Path(__file__).resolve().parent
#: Hidden: both libraries have checks.cpp and host.cpp, and in one process each must call its own.
COMPILE = ["-std=c++20", "-O2", "-fvisibility=hidden"]
INCLUDE = [str(HERE), str(HERE.parent / "host_api")]


#: Every operator is in both; what only one of them is for is left out of the other.
SOURCES = {path.name: str(path) for path in sorted(HERE.glob("*.cpp"))}

extensions = [
    CppExtension(
        "gn_torch",
        [path for name, path in SOURCES.items() if name != "npu.cpp"],
        include_dirs=INCLUDE,
        extra_compile_args=COMPILE,
    )
]
if util.find_spec("torch_npu"):
    from torch_npu.utils.cpp_extension import NpuExtension

    extensions.append(
        NpuExtension(
            "gn_torch_npu",
            [path for name, path in SOURCES.items() if name != "cpu.cpp"],
            include_dirs=INCLUDE,
            extra_compile_args=[*COMPILE, "-DGN_TORCH_NPU"],
        )
    )
setup(name="gn_torch", ext_modules=extensions, cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)})
