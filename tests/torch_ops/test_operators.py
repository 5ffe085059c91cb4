"""Every operator in PyTorch, against float64 ATen and by the rules that all of them keep: ``torch_cases`` has them."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_case import Call, Refusal, TorchCase, data, fault, gradient_fault, results, some_gradient  # noqa: E402
from torch_cases import CASES  # noqa: E402
from torch_support import DTYPES  # noqa: E402

from gn_tutorial import torch_ops  # noqa: E402
from gn_tutorial.errors import ArgumentError, KernelError  # noqa: E402
from gn_tutorial.host import c_library  # noqa: E402
from gn_tutorial.torch_ops.launch import launch  # noqa: E402

OPS = torch.ops.gn_tutorial
SINGLE = "ignore:Input #[0-9]+ requires gradient and is not a double precision:UserWarning"
#: test_torch_ops.py and others have them.
GROUP_NORM = {"group_norm", "group_norm_silu", "group_norm_backward", "group_norm_silu_backward"}
CALLS = [call for case in CASES.values() for call in case.calls]
REFUSALS = [one for case in CASES.values() for one in case.refusals]
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
inputs_of = pytest.mark.parametrize(
    ("case", "shapes"),
    [(case, shapes) for case in CASES.values() for shapes in case.inputs],
    ids=[f"{case.name}-{number}" for case in CASES.values() for number in range(len(case.inputs))],
)


def test_every_operator_has_a_case() -> None:
    called = {call.op for call in CALLS}
    assert set(torch_ops.__all__) == GROUP_NORM | called, "a module of tests/support/torch_cases for each operator"
    names = {case.name for case in CASES.values()}
    assert called - {f"{name}_backward" for name in names} == names


@pytest.mark.parametrize("dtype", DTYPES)
@inputs_of
def test_the_accuracy_standard_forward_and_backward(case: TorchCase, shapes: tuple, dtype: str) -> None:
    inputs = data(*shapes, dtype=DTYPES[dtype])
    if case.eighths:
        inputs = [(one * 8).round() / 8 for one in inputs]
    assert fault(case.of(OPS), case.builtin, inputs, some_gradient(case.builtin, inputs)) == ""


@pytest.mark.filterwarnings(SINGLE)
@inputs_of
def test_gradcheck(case: TorchCase, shapes: tuple) -> None:
    if not case.smooth:
        pytest.skip("a step of gradcheck crosses a kink")
    small = [tuple(min(length, 4) for length in shape) for shape in shapes]
    assert gradient_fault(case.of(OPS), data(*small)) == ""


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_opcheck(call: Call, dtype: str) -> None:
    arguments = call.arguments(dtype=DTYPES[dtype])
    if not call.op.endswith("_backward"):
        arguments = [one.clone().requires_grad_() if isinstance(one, Tensor) else one for one in arguments]
    torch.library.opcheck(getattr(OPS, call.op).default, tuple(arguments))


@inputs_of
def test_compile_without_a_graph_break(case: TorchCase, shapes: tuple) -> None:
    torch._dynamo.reset()
    op, inputs = case.of(OPS), data(*shapes)

    def twice(*some: Tensor) -> Tensor:
        return op(*some) * 2

    grad = some_gradient(case.builtin, inputs)
    compiled = torch.compile(twice, fullgraph=True, backend="aot_eager")
    for mine, right in zip(results(compiled, inputs, grad), results(twice, inputs, grad), strict=True):
        torch.testing.assert_close(mine, right)


@inputs_of
@pytest.mark.parametrize("shared", [False, True])
def test_vmap_is_a_loop_forward_and_backward(case: TorchCase, shapes: tuple, shared: bool) -> None:
    op = case.of(OPS)
    small = [tuple(min(length, 6) for length in shape) for shape in shapes]
    first, *others = data(*small)
    places = (1 if first.ndim > 1 else 0, *(None if shared else 0 for _ in others))
    inputs = [
        one if place is None else torch.stack([one, one + 1, one * 2], place)
        for one, place in zip((first, *others), places, strict=True)
    ]
    numbers = tuple(range(len(inputs)))

    def loss(*some: Tensor) -> Tensor:
        return op(*some).sin().sum()

    for function in (op, torch.func.grad(loss, argnums=numbers)):
        mine = torch.vmap(function, in_dims=places)(*inputs)
        for number in range(3):
            one = [t if place is None else t.select(place, number) for t, place in zip(inputs, places, strict=True)]
            torch.testing.assert_close(
                mine[number] if function is op else tuple(g[number] for g in mine), function(*one)
            )


@inputs_of
def test_second_derivatives_and_forward_mode_are_refused(case: TorchCase, shapes: tuple) -> None:
    op, inputs = case.of(OPS), [one.requires_grad_() for one in data(*shapes)]
    (grad,) = torch.autograd.grad(op(*inputs).sin().sum(), inputs[0], create_graph=True)
    with pytest.raises(ArgumentError, match=f"gradient of {case.name} has no gradient: second derivatives"):
        grad.sum().backward()
    plain = tuple(one.detach() for one in inputs)
    with pytest.raises(ArgumentError, match="forward-mode derivatives") as caught:
        torch.func.jvp(op, plain, plain)
    own = f"torch.nn.functional.{case.name}" if hasattr(torch.nn.functional, case.name) else "PyTorch's own"
    assert f"{own} has" in caught.value.hint


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda one: f"{one.call.op}-{one.text[:30]}")
def test_refusals_name_the_argument(refusal: Refusal, device: str) -> None:
    arguments = refusal.call.arguments(device)
    getattr(OPS, refusal.call.op)(*arguments)  # what is refused is the change
    for number, change in refusal.change.items():
        arguments[number] = change(arguments[number])
    with pytest.raises(ArgumentError, match=refusal.text) as caught:
        getattr(OPS, refusal.call.op)(*arguments)
    assert caught.value.where.endswith(f" of torch.ops.gn_tutorial.{refusal.call.op}")
    assert caught.value.hint


@pytest.mark.parametrize("call", [call for call in CALLS if sum(one is not None for one in call.tensors) > 1], ids=str)
def test_a_tensor_elsewhere_is_refused(call: Call) -> None:
    for number, shape in enumerate(call.tensors):
        if shape is None:
            continue
        arguments = call.arguments()
        arguments[number] = arguments[number].to("meta")
        with pytest.raises(ArgumentError, match=r"is on (meta|cpu); it must be on (cpu|meta), as x"):
            getattr(OPS, call.op)(*arguments)


def test_without_an_npu_a_launch_says_why() -> None:
    class Elsewhere:
        device = torch.device("privateuseone")

    for name in c_library.operators():
        with pytest.raises(KernelError, match="there is no NPU to run on"):
            launch(name, [Elsewhere()], (), [])
    for name in torch_ops.__all__:
        assert torch._C._dispatch_has_kernel_for_dispatch_key(f"gn_tutorial::{name}", "PrivateUse1")
