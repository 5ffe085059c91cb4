"""GELU and Linear in PyTorch, what is theirs alone: layouts, masks, the two together, modules, a training."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_case import LAYOUTS, Function, data, fault, gradient_fault, results  # noqa: E402

from gn_tutorial import nn  # noqa: E402
from gn_tutorial.errors import ArgumentError  # noqa: E402
from gn_tutorial.torch_ops.launch import launch  # noqa: E402
from gn_tutorial.torch_ops.operators import linear as linear_module  # noqa: E402

OPS = torch.ops.gn_tutorial
ATEN = torch.nn.functional
aten_gelu = torch.nn.functional.gelu
SINGLE = "ignore:Input #[0-9]+ requires gradient and is not a double precision:UserWarning"
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*(TF32|torchvision|tensor cores).*:UserWarning"),
]

# --- numbers ---------------------------------------------------------------------------------------------------------


def test_linear_with_its_bias_is_compared_with_one_that_has_it() -> None:
    """And the comparison would see one that is left out, or added twice."""
    x, weight, bias, grad = data((6, 20), (7, 20), (7,), (6, 7))
    assert fault(OPS.linear, ATEN.linear, [x, weight, bias], grad) == ""
    for mistake in (
        lambda x, w, b: OPS.linear(x, w) + 0 * b.sum(),
        lambda x, w, b: OPS.linear(x, w, b) + b,
    ):
        assert fault(mistake, ATEN.linear, [x, weight, bias], grad).startswith("y:")


@pytest.mark.filterwarnings(SINGLE)
def test_wrong_gradients_are_found() -> None:
    """Those that articles have shown: the gradient handed on unchanged, a factor left out, the wrong operand."""

    def with_gradient(forward: Function, backward: Function) -> Function:
        class Planted(torch.autograd.Function):
            @staticmethod
            def forward(ctx: object, *inputs: Tensor) -> Tensor:
                ctx.save_for_backward(*inputs)
                return forward(*inputs)

            @staticmethod
            def backward(ctx: object, grad_y: Tensor) -> object:
                return backward(grad_y, *ctx.saved_tensors)

        return Planted.apply

    x, grad = data((3, 11), (3, 11))
    for wrong in (lambda g, x: g, lambda g, x: g * torch.sigmoid(1.702 * x), lambda g, x: OPS.gelu_backward(g, g)):
        planted = with_gradient(OPS.gelu, wrong)
        assert fault(planted, aten_gelu, [x], grad).startswith("gradient of input 0")
        assert gradient_fault(planted, [x])
    inputs = data((3, 5), (4, 5), (4,))

    def without_bias(g: Tensor, x: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        dx, dweight, dbias = OPS.linear_backward(g, x, w, [True, True, True])
        return dx, dweight, dbias / len(x)

    assert gradient_fault(with_gradient(OPS.linear, without_bias), inputs)


def test_only_what_is_needed_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    masks = []

    def watched(name: str, inputs: object, numbers: tuple, outputs: object) -> None:
        masks.append([bool(one) for one in numbers[0]] if numbers else None)
        launch(name, inputs, numbers, outputs)

    monkeypatch.setattr(linear_module, "launch", watched)
    x, weight, bias = data((6, 20), (7, 20), (7,))
    OPS.linear(x, weight.requires_grad_(), bias).sum().backward()
    OPS.linear(x.requires_grad_(), weight.detach(), bias.requires_grad_()).sum().backward()
    assert masks == [None, [False, True, False], None, [True, False, True]]
    torch.testing.assert_close(bias.grad, torch.full((7,), 6.0))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout(layout: str) -> None:
    x, grad = data((3, 5, 7, 11), (3, 5, 7, 11))
    seen = LAYOUTS[layout](x)
    for given in (grad, LAYOUTS["channels_last"](grad)):
        for mine, right in zip(
            results(OPS.gelu, [seen], given), results(OPS.gelu, [seen.contiguous()], given), strict=True
        ):
            torch.testing.assert_close(mine, right, rtol=0, atol=0)
    last = layout == "channels_last"
    assert OPS.gelu(seen).is_contiguous(memory_format=torch.channels_last if last else torch.contiguous_format)
    weight = data((11, 4))[0].t()
    torch.testing.assert_close(
        OPS.linear(seen, weight), OPS.linear(seen.contiguous(), weight.contiguous()), rtol=0, atol=0
    )


def test_more_axes_than_the_host_api_has() -> None:
    x, weight, bias = data((2, 1, 3, 1, 2, 1, 2, 1, 2, 5), (4, 5), (4,))
    gaps = x.repeat_interleave(2, -1)[..., ::2]
    for op, builtin, inputs in ((OPS.gelu, aten_gelu, [x]), (OPS.linear, ATEN.linear, [x, weight, bias])):
        grad = torch.randn(builtin(*inputs).shape, generator=torch.Generator().manual_seed(1))
        for given in (inputs, [gaps, *inputs[1:]]):
            assert fault(op, builtin, given, grad) == ""


def test_empty_tensors() -> None:
    x, weight, bias = data((0, 4), (5, 4), (5,))
    assert OPS.gelu(x).shape == (0, 4)
    y, *grads = results(OPS.linear, [x, weight, bias], torch.zeros(0, 5))
    assert y.shape == (0, 5)
    for grad, one in zip(grads, (x, weight, bias), strict=True):
        torch.testing.assert_close(grad, torch.zeros_like(one))
    torch.testing.assert_close(OPS.linear(torch.zeros(3, 0), torch.zeros(5, 0), bias), bias.expand(3, 5))


# --- what PyTorch does to programs -----------------------------------------------------------------------------------


def small_net(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return OPS.gelu(OPS.linear(OPS.gelu(x) * 2, weight, bias))


@pytest.mark.parametrize(
    "backend",
    ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.thorough)],  # the first waits 20 s for g++
)
def test_compile_without_a_graph_break(backend: str) -> None:
    torch._dynamo.reset()
    inputs = data((3, 4, 5), (7, 5), (7,))
    grad = data((3, 4, 7), seed=8)[0]
    compiled = torch.compile(small_net, fullgraph=True, backend=backend)
    for mine, right in zip(results(compiled, inputs, grad), results(small_net, inputs, grad), strict=True):
        torch.testing.assert_close(mine, right)


def test_dynamic_shapes_compile_once() -> None:
    from torch._dynamo.testing import CompileCounterWithBackend

    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(small_net, fullgraph=True, backend=counter)
    weight, bias = data((7, 5), (7,))
    for rows in (3, 6, 11):
        x = data((rows, 4, 5))[0].requires_grad_()
        torch._dynamo.mark_dynamic(x, 0)
        y = compiled(x, weight, bias)
        torch.testing.assert_close(y, small_net(x, weight, bias))
        y.sum().backward()
    assert counter.frame_count == 1


@pytest.mark.parametrize("places", [(0, None, None), (1, None, None), (0, 1, None), (None, 0, 0)], ids=str)
def test_vmap_is_a_loop(places: tuple[int | None, ...]) -> None:
    inputs = [
        one if place is None else torch.stack([one, one + 1, one * 2], place)
        for one, place in zip(data((4, 5), (7, 5), (7,)), places, strict=True)
    ]
    mine = torch.vmap(small_net, in_dims=places)(*inputs)
    for number in range(3):
        one = [t if place is None else t.select(place, number) for t, place in zip(inputs, places, strict=True)]
        torch.testing.assert_close(mine[number], small_net(*one))


def test_a_gradient_for_each_example() -> None:
    inputs = data((3, 4, 5), (7, 5), (7,))

    def loss(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return OPS.gelu(OPS.linear(x, weight, bias)).sin().sum()

    mine = torch.vmap(torch.func.grad(loss, argnums=(0, 1, 2)), in_dims=(0, None, None))(*inputs)
    for number, x in enumerate(inputs[0]):
        leaves = [one.detach().clone().requires_grad_() for one in (x, *inputs[1:])]
        right = torch.autograd.grad(aten_gelu(ATEN.linear(*leaves)).sin().sum(), leaves)
        for one, other in zip(mine, right, strict=True):
            torch.testing.assert_close(one[number], other, rtol=1e-5, atol=1e-5)


def test_autocast() -> None:
    x, weight, bias = data((6, 20), (7, 20), (7,))
    with torch.autocast("cpu", torch.bfloat16):
        y = OPS.gelu(OPS.linear(x, weight, bias))
        right = aten_gelu(ATEN.linear(x, weight, bias))
    assert y.dtype == right.dtype == torch.bfloat16
    torch.testing.assert_close(y, right, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("form", [{}, {"approximate": "none"}, {"approximate": "tanh"}], ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_modules_take_the_place_of_the_built_in_ones(bias: bool, form: dict[str, str]) -> None:
    x, grad = data((6, 20), (6, 7))
    theirs = torch.nn.Sequential(torch.nn.Linear(20, 7, bias=bias), torch.nn.GELU(**form))
    ours = torch.nn.Sequential(nn.Linear(20, 7, bias=bias), nn.GELU(**form))
    ours.load_state_dict(theirs.state_dict())
    assert repr(ours) == repr(theirs)
    for model in (theirs, ours):
        model(x).backward(grad)
    torch.testing.assert_close(ours(x), theirs(x))
    for mine, right in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, right.grad)
    assert (ours[0].bias is None) is not bias
    with pytest.raises(ArgumentError, match="approximate is 'erf'; it must be 'none' or 'tanh'") as caught:
        nn.GELU("erf")
    assert caught.value.where == "argument approximate of gn_tutorial.nn.GELU"


def test_the_attribute_reaches_gradients_and_graphs() -> None:
    """It is passed by position or by name, forward and backward, compiled and exported; the forms differ."""
    (x,) = data((3, 50))
    forms = {}
    for form in ("none", "tanh"):
        right = results(lambda x, form=form: aten_gelu(x, approximate=form), [x], torch.ones_like(x))
        program = torch.export.export(nn.GELU(form), (x,))
        written = [node for node in program.graph.nodes if node.target is OPS.gelu.default]
        assert [node.args[1:] for node in written] == [() if form == "none" else ("tanh",)]
        torch._dynamo.reset()
        calls = [
            lambda x, form=form: OPS.gelu(x, form),
            lambda x, form=form: OPS.gelu(x, approximate=form),
            torch.compile(lambda x, form=form: OPS.gelu(x, form), fullgraph=True, backend="aot_eager"),
            program.module(),
        ]
        for call in calls:
            for mine, other in zip(results(call, [x], torch.ones_like(x)), right, strict=True):
                torch.testing.assert_close(mine, other, rtol=2e-6, atol=5e-7)
        forms[form] = right
    assert all((one - other).abs().max() > 1e-4 for one, other in zip(*forms.values(), strict=True))


def test_vmap_over_a_tensor_and_functional_gradients_keep_the_form() -> None:
    (x,) = data((4, 9))
    for form in ("none", "tanh"):
        slope = torch.vmap(torch.func.grad(lambda one, form=form: OPS.gelu(one, form).sum()))(x)
        (right,) = torch.autograd.grad(aten_gelu(x.requires_grad_(), approximate=form).sum(), x)
        torch.testing.assert_close(slope, right, rtol=2e-6, atol=5e-7)
        x = x.detach()
        # One operand with the new axis, the other without, in the gradient's own rule.
        both = torch.vmap(lambda g, x, form=form: OPS.gelu_backward(g, x, form), in_dims=(None, 0))(x[0], x)
        for number in range(len(x)):
            torch.testing.assert_close(both[number], OPS.gelu_backward(x[0], x[number], form), rtol=0, atol=0)


def test_a_step_of_training_lowers_the_loss_as_the_built_in_does() -> None:
    """Two layers, ten steps of gradient descent, the same seed."""
    x, target = data((16, 10), (16, 3), seed=5)
    losses = {}
    for name, (activate, project) in {"ours": (OPS.gelu, OPS.linear), "builtin": (aten_gelu, ATEN.linear)}.items():
        first, b1, second, b2 = (one.requires_grad_() for one in data((12, 10), (12,), (3, 12), (3,), seed=6))
        seen = []
        for _ in range(10):
            loss = ((project(activate(project(x, first, b1)), second, b2) - target) ** 2).mean()
            seen.append(loss.item())
            grads = torch.autograd.grad(loss, (first, b1, second, b2))
            with torch.no_grad():
                for one, grad in zip((first, b1, second, b2), grads, strict=True):
                    one -= 0.02 * grad
        losses[name] = seen
    np.testing.assert_allclose(losses["ours"], losses["builtin"], rtol=1e-4)
    assert losses["ours"][-1] < 0.8 * losses["ours"][0]
