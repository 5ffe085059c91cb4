"""The ways to a kernel that are not a registration: right numbers, and what the table in docs/pytorch.md says they see.

What compiles against torch's headers takes 10 s and more, so it is thorough.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

from gn_tutorial import torch_ops  # noqa: E402, F401 - registers the operators
from gn_tutorial.compiler.toolchain import find_compiler  # noqa: E402
from gn_tutorial.errors import GntError  # noqa: E402
from gn_tutorial.operators.registry import kernels_root  # noqa: E402
from gn_tutorial.torch_ops import cpp_extension, ways  # noqa: E402

WAYS = kernels_root() / "torch_cpp" / "ways"
#: EXEC_NPU_CMD takes the name of an aclnn function and its arguments; what it does with them is CANN's and torch_npu's.
MACRO = """\
#pragma once
#include <ATen/ATen.h>
template <class... Arguments>
void StandIn(const char*, const Arguments&...) {}
#define EXEC_NPU_CMD(name, ...) StandIn(#name, __VA_ARGS__)
"""


@pytest.fixture(params=["ctypes", pytest.param("pybind11", marks=pytest.mark.thorough)])
def gelu(request: pytest.FixtureRequest) -> Callable:
    if request.param == "pybind11" and find_compiler().is_zig:
        pytest.skip("torch's C++ library needs g++ or clang++")
    return ways.gelu_by_ctypes if request.param == "ctypes" else ways.pybind11_module().gelu


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_numbers_are_those_of_the_registered_operator(gelu: Callable, dtype: torch.dtype) -> None:
    x = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(1)).to(dtype)
    torch.testing.assert_close(gelu(x), torch.ops.gn_tutorial.gelu(x, "tanh"), rtol=0, atol=0)
    strided = x.transpose(0, 2)
    torch.testing.assert_close(gelu(strided), torch.ops.gn_tutorial.gelu(strided, "tanh"), rtol=0, atol=0)


def test_pytorch_does_not_know_of_it(gelu: Callable) -> None:
    x = torch.randn(4, 6)
    leaf = x.clone().requires_grad_()
    assert torch.ops.gn_tutorial.gelu(leaf).requires_grad
    assert not gelu(leaf).requires_grad, "its gradient is silently none"
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(x)
        assert torch.ops.gn_tutorial.gelu(fake).shape == (4, 6)
        with pytest.raises((RuntimeError, ValueError, UserWarning)):  # PyTorch warns where an address is asked for
            gelu(fake)
    with pytest.raises((GntError, ValueError)):
        gelu(x.to("meta"))
    with pytest.raises((GntError, ValueError)):
        gelu(x.double())


@pytest.mark.thorough
def test_exec_npu_cmd_s_example_is_right_as_far_as_syntax_goes(tmp_path: Path) -> None:
    compiler = find_compiler()
    if compiler.is_zig:
        pytest.skip("torch's C++ library needs g++ or clang++")
    (tmp_path / "pytorch_npu_helper.hpp").write_text(MACRO)
    source = WAYS / "exec_npu_cmd_group_norm.cpp"
    assert "NOT COMPILED WITH CANN AND NOT RUN HERE" in source.read_text().splitlines()[0]
    words = [*compiler.argv, "-fsyntax-only", f"-I{tmp_path}", *cpp_extension._flags(compiler), str(source)]
    ran = subprocess.run([word for word in words if word != "-shared"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[:2000]
