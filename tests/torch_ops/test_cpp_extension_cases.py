"""GELU and Linear registered from C++: numbers, gradients, tracing, refusals, as test_torch_cpp has GroupNorm."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_support import DTYPES  # noqa: E402

from gn_tutorial import torch_ops  # noqa: E402, F401
from gn_tutorial.compiler.toolchain import find_compiler  # noqa: E402
from gn_tutorial.torch_ops import cpp_extension  # noqa: E402
from tests.torch_ops.test_torch_cases import ATEN, LAYOUTS, SINGLE, aten_gelu, data, fault, gradient_fault  # noqa: E402

pytestmark = pytest.mark.skipif(find_compiler().is_zig, reason="zig cannot build an extension of torch")
PYTHON = torch.ops.gn_tutorial


@pytest.fixture(scope="module")
def ops() -> object:
    """Built once; about a minute where the cache is empty."""
    return cpp_extension.load()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_accuracy_standard_forward_and_backward(ops: object, dtype: str) -> None:
    x, weight, bias, dx, dy = data((4, 5, 70), (33, 70), (33,), (4, 5, 70), (4, 5, 33), dtype=DTYPES[dtype])
    assert fault(ops.gelu, aten_gelu, [x], dx) == ""
    assert fault(ops.linear, ATEN.linear, [x, weight, bias], dy) == ""
    assert fault(ops.linear, ATEN.linear, [x, weight], dy) == ""
    # And the comparison sees what is left out.
    assert fault(lambda x, w, b: ops.linear(x, w) + 0 * b.sum(), ATEN.linear, [x, weight, bias], dy).startswith("y:")


@pytest.mark.filterwarnings(SINGLE)
def test_gradcheck(ops: object) -> None:
    x, weight, bias = data((3, 4), (5, 4), (5,))
    assert gradient_fault(ops.gelu, [x]) == ""
    assert gradient_fault(ops.linear, [x, weight, bias]) == ""
    assert gradient_fault(ops.linear, [x, weight]) == ""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_bits_and_the_layout_of_the_python_operator(ops: object, layout: str) -> None:
    x, weight, bias, grad, dy = data((3, 5, 7, 11), (4, 11), (4,), (3, 5, 7, 11), (3, 5, 7, 4))
    x = LAYOUTS[layout](x)
    pairs = [
        (ops.gelu, PYTHON.gelu, (x,)),
        (ops.gelu_backward, PYTHON.gelu_backward, (grad, x)),
        (ops.linear, PYTHON.linear, (x, weight, bias)),
    ]
    for mine, other, arguments in pairs:
        one, right = mine(*arguments), other(*arguments)
        assert torch.equal(one, right)
        assert one.stride() == right.stride()
    for mask in ([True] * 3, [True, False, False], [False, True, True], [False] * 3):
        grads, right = (two.linear_backward(dy, x, weight, mask) for two in (ops, PYTHON))
        for one, other, wanted in zip(grads, right, mask, strict=True):
            assert torch.equal(one, other) if wanted else one is other is None


def test_gradients_that_nobody_needs_are_not_computed(ops: object) -> None:
    x, weight, bias = data((6, 20), (7, 20), (7,))
    ops.linear(x, weight.requires_grad_(), bias).sum().backward()
    assert x.grad is None
    assert bias.grad is None
    torch.testing.assert_close(weight.grad, x.sum(0).expand(7, 20))
    ops.linear(x, weight.detach(), bias.requires_grad_()).sum().backward()
    torch.testing.assert_close(bias.grad, torch.full((7,), 6.0))


def test_opcheck(ops: object) -> None:
    x, grad, weight, bias, dy = data((3, 4, 5), (3, 4, 5), (7, 5), (7,), (3, 4, 7))
    torch.library.opcheck(ops.gelu.default, (x.clone().requires_grad_(),))
    torch.library.opcheck(ops.gelu_backward.default, (grad, x))
    for given in ((x, weight, bias), (x, weight, None), (x[0, 0], weight, bias)):
        leaves = [None if one is None else one.clone().requires_grad_() for one in given]
        torch.library.opcheck(ops.linear.default, tuple(leaves))
    for mask in ([True] * 3, [False, True, False]):
        torch.library.opcheck(ops.linear_backward.default, (dy, x, weight, mask))


def test_compile_traces_it_whole_with_changing_shapes(ops: object) -> None:
    torch._dynamo.reset()

    def net(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return ops.gelu(ops.linear(ops.gelu(x) * 2, weight, bias))

    traced = torch.compile(net, fullgraph=True, backend="aot_eager", dynamic=True)
    weight, bias = data((7, 5), (7,))
    for rows in (3, 6, 11):
        x = data((rows, 4, 5))[0].requires_grad_()
        y = traced(x, weight, bias)
        torch.testing.assert_close(y, net(x, weight, bias))
        torch.testing.assert_close(*(torch.autograd.grad(one.sin().sum(), x)[0] for one in (y, net(x, weight, bias))))


def test_empty_tensors(ops: object) -> None:
    x, weight, bias = (one.requires_grad_() for one in data((0, 4), (5, 4), (5,)))
    assert ops.gelu(x).shape == (0, 4)
    ops.linear(x, weight, bias).sum().backward()
    assert not weight.grad.any()
    assert not bias.grad.any()


def test_a_second_derivative_is_an_error_and_not_a_zero(ops: object) -> None:
    x, weight = (one.requires_grad_() for one in data((3, 5), (4, 5)))
    for y, name in ((ops.gelu(x), "gelu"), (ops.linear(x, weight), "linear")):
        (first,) = torch.autograd.grad(y.sin().sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match=f"{name}_backward is not implemented"):
            torch.autograd.grad(first.sum(), x)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_errors_name_the_argument(ops: object, device: str) -> None:
    x, weight, bias, grad = (one.to(device) for one in data((3, 5), (4, 5), (4,), (3, 4)))
    mask, other = [True] * 3, {"cpu": "meta", "meta": "cpu"}[device]
    wrong = [
        (lambda: ops.gelu(x.double()), "x is float64"),
        (lambda: ops.gelu(x[(..., *[None] * 7)]), "x has 9 axes"),
        (lambda: ops.gelu_backward(grad, x), r"grad_y has shape \[3, 4\]; it must be \[3, 5\]"),
        (lambda: ops.gelu_backward(x.half(), x), "grad_y is float16; it must be float32"),
        (lambda: ops.gelu_backward(torch.empty(3, 5, device=other), x), "grad_y is on .*; it must be on"),
        (lambda: ops.linear(x, weight.bfloat16()), "weight is bfloat16"),
        (lambda: ops.linear(x, weight[:, :4]), r"weight has shape \[4, 4\]; it must be \[4, 5\]"),
        (lambda: ops.linear(x, weight[0]), "weight has 1 axes; it needs 2"),
        (lambda: ops.linear(x[0, 0], weight), "x has 0 axes"),
        (lambda: ops.linear(x, weight, bias[:3]), r"bias has shape \[3\]; it must be \[4\]"),
        (lambda: ops.linear(x, weight, torch.empty(4, device=other)), "bias is on .*; it must be on"),
        (lambda: ops.linear_backward(grad[:2], x, weight, mask), r"grad_y has shape \[2, 4\]; it must be \[3, 4\]"),
    ]
    for call, message in wrong:
        with pytest.raises(ValueError, match=message):
            call()
