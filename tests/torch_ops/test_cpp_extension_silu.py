"""GroupNorm with SiLU registered from C++: numbers, gradients, tracing, and what it refuses by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_support import DTYPES, aten_silu, data, fault, gradient_fault, ours_silu, results  # noqa: E402

from gn_tutorial import torch_ops  # noqa: E402, F401
from gn_tutorial.compiler.toolchain import find_compiler  # noqa: E402
from gn_tutorial.torch_ops import cpp_extension  # noqa: E402
from tests.torch_ops.test_cpp_extension import GROUPS, REFUSED, SHAPE, SHAPES, SINGLE  # noqa: E402

pytestmark = [
    pytest.mark.skipif(find_compiler().is_zig, reason="zig cannot build an extension of torch"),
    pytest.mark.thorough,  # as test_cpp_extension, and what both share is in test_cpp_extension_cases
]


@pytest.fixture(scope="module")
def op() -> Callable[..., tuple[Tensor, Tensor, Tensor]]:
    """Built once; about a minute where the cache is empty."""
    return cpp_extension.load().group_norm_silu


@pytest.fixture
def norm(op: Callable[..., tuple[Tensor, Tensor, Tensor]]) -> Callable[..., Tensor]:
    return lambda *arguments: op(*arguments)[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "groups"), SHAPES, ids=str)
def test_the_accuracy_standard_forward_and_backward(
    norm: Callable[..., Tensor], shape: tuple[int, ...], groups: int, dtype: str
) -> None:
    *inputs, grad = data(shape, DTYPES[dtype])
    assert fault(norm, aten_silu, inputs, grad, groups) == ""


@pytest.mark.parametrize("given", [(True, False), (False, True), (False, False)], ids=str)
def test_weight_and_bias_may_be_none(norm: Callable[..., Tensor], given: tuple[bool, bool]) -> None:
    """The gradient counts tensors, not arguments: without weight, bias is its second."""
    x, weight, bias, grad = data(SHAPE)
    assert fault(norm, aten_silu, (x, weight if given[0] else None, bias if given[1] else None), grad, GROUPS) == ""


@pytest.mark.filterwarnings(SINGLE)
def test_gradcheck_and_that_the_gradient_of_the_norm_alone_fails(op: Callable, norm: Callable[..., Tensor]) -> None:
    assert gradient_fault(norm) == ""

    class WithoutSilu(torch.autograd.Function):
        """A backward pass that forgets the inner derivative."""

        @staticmethod
        def forward(ctx: object, x: Tensor, weight: Tensor, bias: Tensor, groups: int, eps: float) -> Tensor:
            y, mean, rstd = op(x, weight, bias, groups, eps)
            ctx.save_for_backward(x, mean, rstd, weight)
            ctx.groups = groups
            return y

        @staticmethod
        def backward(ctx: object, grad: Tensor) -> tuple[Tensor | None, ...]:
            made = torch.ops.gn_tutorial_cpp.group_norm_backward(grad, *ctx.saved_tensors, ctx.groups, [True] * 3)
            return *made, None, None

    assert gradient_fault(WithoutSilu.apply) != ""


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("last", [False, True], ids=["contiguous", "channels_last"])
def test_the_bits_and_the_layout_of_the_python_operator(
    op: Callable, norm: Callable[..., Tensor], dtype: str, last: bool
) -> None:
    *inputs, grad = data(SHAPE, DTYPES[dtype])
    if last:
        inputs[0] = inputs[0].to(memory_format=torch.channels_last)
    for mine, right in zip(op(*inputs, GROUPS), torch.ops.gn_tutorial.group_norm_silu(*inputs, GROUPS), strict=True):
        assert torch.equal(mine, right)
        assert mine.stride() == right.stride()
    for mine, right in zip(*(results(one, inputs, grad, GROUPS) for one in (norm, ours_silu)), strict=True):
        assert torch.equal(mine, right)


def test_only_what_is_needed_is_computed(norm: Callable[..., Tensor]) -> None:
    x, weight, bias, grad = data(SHAPE)
    norm(x, weight, bias.requires_grad_(), GROUPS).backward(grad)
    assert x.grad is weight.grad is None
    right = results(aten_silu, (x, weight, bias), grad, GROUPS)[3]
    torch.testing.assert_close(bias.grad, right, rtol=1e-5, atol=1e-5)


def test_opcheck(op: Callable) -> None:
    x, weight, bias, _ = data(SHAPE)
    for some in ((weight, bias), (None, bias), (None, None)):
        leaves = [None if one is None else one.detach().clone().requires_grad_() for one in (x, *some)]
        torch.library.opcheck(op.default, (*leaves, GROUPS))


def test_compile_traces_it_whole_with_changing_shapes(norm: Callable[..., Tensor]) -> None:
    torch._dynamo.reset()
    x, weight, bias, _ = data(SHAPE)
    traced = torch.compile(lambda *some: norm(*some, GROUPS) * 2, fullgraph=True, backend="aot_eager", dynamic=True)
    for length in (5, 9, 3):
        part = torch.cat([x, x], 2)[:, :, :length].clone().requires_grad_()
        y, right = traced(part, weight, bias), aten_silu(part, weight, bias, GROUPS) * 2
        torch.testing.assert_close(y, right, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(
            *(torch.autograd.grad(one.sin().sum(), part)[0] for one in (y, right)), rtol=1e-4, atol=1e-5
        )


def test_an_empty_batch_has_gradients_of_zero(op: Callable) -> None:
    x, weight, bias, _ = (one.requires_grad_() for one in data(SHAPE))
    y, mean, rstd = op(x[:0], weight, bias, GROUPS)
    assert (y.shape, mean.shape, rstd.shape) == ((0, *SHAPE[1:]), (0, GROUPS), (0, GROUPS))
    y.sum().backward()
    assert torch.equal(weight.grad, torch.zeros_like(weight))
    assert torch.equal(bias.grad, torch.zeros_like(bias))


def test_a_second_derivative_is_an_error_and_not_a_zero(norm: Callable[..., Tensor]) -> None:
    x, weight, bias, grad = (one.requires_grad_() for one in data(SHAPE))
    first = torch.autograd.grad(norm(x, weight, bias, GROUPS), x, grad, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="group_norm_silu_backward is not implemented"):
        torch.autograd.grad(first.sum(), x)


@pytest.mark.parametrize("case", REFUSED)
def test_errors_name_the_argument(op: Callable, case: str) -> None:
    change, message = REFUSED[case]
    x, weight, bias, _ = data(SHAPE)
    with pytest.raises(ValueError, match=message):
        op(*change(x, weight, bias))
