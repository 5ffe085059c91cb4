"""GELU in its tanh form on the CPU without registration: the smallest examples with ctypes and pybind11.

docs/pytorch.md compares these functions with ``torch.ops.gn_tutorial`` and ``torch.ops.gn_tutorial_cpp``. All give the
same numbers, but PyTorch does not know these functions as operators.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import sysconfig
from types import ModuleType

import torch
from torch import Tensor

from gn_tutorial.host import c_library
from gn_tutorial.host.stream import Stream
from gn_tutorial.operators.registry import kernels_root
from gn_tutorial.torch_ops import cpp_extension
from gn_tutorial.torch_ops.arguments import DTYPES, check_elements

_MODULE = "gn_pybind11_gelu"


@functools.cache
def _stream() -> Stream:
    return Stream(direct=True)


def gelu_by_ctypes(x: Tensor) -> Tensor:
    """Return GELU of x, in its tanh form, through the host API's two calls. x: on the CPU.

    Raises ArgumentError for a dtype that is not in ``DTYPES``.
    """
    check_elements("gelu", x)
    y = torch.empty_like(x)
    loaded, made = c_library.library(), []
    try:
        for one in (x, y):
            number, address = DTYPES[one.dtype], one.data_ptr()
            made.append(c_library.describe(loaded, one.shape, one.stride(), number, address))
        c_library.call(loaded, "Gelu", made, _stream().ready("Gelu"), _memory)
    finally:
        for handle in made:
            loaded.GnDestroyTensor(handle)
    return y


def _memory(size: int) -> tuple[Tensor, int]:
    made = torch.empty(size, dtype=torch.uint8)
    return made, made.data_ptr()


@functools.cache
def pybind11_module() -> ModuleType:
    """Return the module of ``kernels/torch_cpp/ways/pybind11_gelu.cpp``, which has the function ``gelu``.

    It is compiled once. Raises as ``cpp_extension.build`` does.
    """
    folder = kernels_root() / "torch_cpp"
    sources = [
        *(folder / name for name in ("checks.cpp", "host.cpp", "cpu.cpp")),
        folder / "ways" / "pybind11_gelu.cpp",
    ]
    flags = [f"-isystem{sysconfig.get_paths()['include']}", "-ltorch_python"]
    path = cpp_extension.build_of(sources, flags)
    loader = importlib.machinery.ExtensionFileLoader(_MODULE, str(path))
    spec = importlib.util.spec_from_file_location(_MODULE, path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    cpp_extension.use_twin(path)
    return module
