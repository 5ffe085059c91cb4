"""Every operator registered from C++, as test_operators.py has those registered from Python."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_case import LAYOUTS, Call, Refusal, TorchCase, data, fault, gradient_fault, some_gradient  # noqa: E402
from torch_cases import CASES as ALL  # noqa: E402
from torch_support import DTYPES  # noqa: E402

from gn_tutorial import torch_ops  # noqa: E402
from gn_tutorial.compiler.toolchain import find_compiler  # noqa: E402
from gn_tutorial.torch_ops import cpp_extension  # noqa: E402

pytestmark = pytest.mark.skipif(find_compiler().is_zig, reason="zig cannot build an extension of torch")
PYTHON = torch.ops.gn_tutorial
ATEN = torch.nn.functional
SINGLE = "ignore:Input #[0-9]+ requires gradient and is not a double precision:UserWarning"
CASES = {name: case for name, case in ALL.items() if case.in_cpp}
CALLS = [call for case in CASES.values() for call in case.calls]
REFUSALS = [one for case in CASES.values() for one in case.refusals]


@pytest.fixture(scope="module")
def ops() -> object:
    """Built once; about a minute where the cache is empty."""
    return cpp_extension.load()


inputs_of = pytest.mark.parametrize(
    ("case", "shapes"),
    [(case, shapes) for case in CASES.values() for shapes in case.inputs],
    ids=[f"{case.name}-{number}" for case in CASES.values() for number in range(len(case.inputs))],
)


def test_every_operator_is_registered(ops: object) -> None:
    """All but those that are left out here (kernels/torch_cpp/README.md)."""
    python_only = {name for name, case in ALL.items() if not case.in_cpp}
    for name in set(torch_ops.__all__) - python_only - {f"{one}_backward" for one in python_only}:
        for key in ("CPU", "Meta", "Autograd"):
            assert torch._C._dispatch_has_kernel_for_dispatch_key(f"gn_tutorial_cpp::{name}", key), (name, key)
        mine, theirs = (getattr(two, name).default._schema.arguments for two in (ops, PYTHON))
        assert [one.name for one in mine] == [one.name for one in theirs]


@pytest.mark.parametrize("dtype", DTYPES)
@inputs_of
def test_the_accuracy_standard_forward_and_backward(ops: object, case: TorchCase, shapes: tuple, dtype: str) -> None:
    inputs = data(*shapes, dtype=DTYPES[dtype])
    assert fault(case.of(ops), case.builtin, inputs, some_gradient(case.builtin, inputs)) == ""


def test_the_comparison_sees_what_is_left_out(ops: object) -> None:
    x, weight, bias, dy = data((4, 5, 70), (33, 70), (33,), (4, 5, 33))
    without = fault(lambda x, w, b: ops.linear(x, w) + 0 * b.sum(), ATEN.linear, [x, weight, bias], dy)
    assert without.startswith("y:")


@pytest.mark.filterwarnings(SINGLE)
@inputs_of
def test_gradcheck(ops: object, case: TorchCase, shapes: tuple) -> None:
    small = [tuple(min(length, 4) for length in shape) for shape in shapes]
    assert gradient_fault(case.of(ops), data(*small)) == ""


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_the_bits_and_the_layout_of_the_python_operator(ops: object, call: Call) -> None:
    plain = call.arguments()
    for layout in (lambda x: x, lambda x: x.repeat_interleave(2, -1)[..., ::2]):
        arguments = [layout(one) if isinstance(one, Tensor) else one for one in plain]
        found, right = (getattr(two, call.op)(*arguments) for two in (ops, PYTHON))
        for one, other in zip(*(two if isinstance(two, tuple) else (two,) for two in (found, right)), strict=True):
            assert one is other is None or (torch.equal(one, other) and one.stride() == other.stride())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_four_axes_in_any_layout(ops: object, layout: str) -> None:
    x, weight, bias, grad = data((3, 5, 7, 11), (4, 11), (4,), (3, 5, 7, 11))
    x = LAYOUTS[layout](x)
    for name, arguments in (("gelu", (x,)), ("gelu_backward", (grad, x)), ("linear", (x, weight, bias))):
        one, right = (getattr(two, name)(*arguments) for two in (ops, PYTHON))
        assert torch.equal(one, right)
        assert one.stride() == right.stride()


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_opcheck(ops: object, call: Call) -> None:
    arguments = call.arguments()
    if not call.op.endswith("_backward"):
        arguments = [one.clone().requires_grad_() if isinstance(one, Tensor) else one for one in arguments]
    torch.library.opcheck(getattr(ops, call.op).default, tuple(arguments))


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda one: f"{one.call.op}-{one.text[:30]}")
def test_what_python_refuses_is_refused(ops: object, refusal: Refusal, device: str) -> None:
    arguments = refusal.call.arguments(device)
    getattr(ops, refusal.call.op)(*arguments)  # what is refused is the change
    for number, change in refusal.change.items():
        arguments[number] = change(arguments[number])
    # The length of a mask is the schema's to refuse, in words of its own.
    with pytest.raises(
        (ValueError, RuntimeError), match=refusal.text.partition(" ")[0] + "|fixed-size array of size 3"
    ):
        getattr(ops, refusal.call.op)(*arguments)


def test_gradients_that_nobody_needs_are_not_computed(ops: object) -> None:
    x, weight, bias = data((6, 20), (7, 20), (7,))
    ops.linear(x, weight.requires_grad_(), bias).sum().backward()
    assert x.grad is None
    assert bias.grad is None
    torch.testing.assert_close(weight.grad, x.sum(0).expand(7, 20))
    ops.linear(x, weight.detach(), bias.requires_grad_()).sum().backward()
    torch.testing.assert_close(bias.grad, torch.full((7,), 6.0))
