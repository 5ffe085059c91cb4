"""``torch.func`` under ``torch.autocast``, on and off: every operator against PyTorch's own under the same autocast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_case import Function, data  # noqa: E402
from torch_cases import CASES  # noqa: E402
from torch_support import aten, aten_silu, ours, ours_silu  # noqa: E402

from gn_tutorial import nn  # noqa: E402

OPS = torch.ops.gn_tutorial
GROUPS = 2
GROUP_NORM = ((3, 4, 5), (4,), (4,))
#: Operator -> ours, PyTorch's own, the shapes of the tensors.
OPERATORS: dict[str, tuple[Function, Function, Sequence[tuple[int, ...]]]] = {
    "group_norm": (lambda *t: ours(*t, GROUPS), lambda *t: aten(*t, GROUPS), GROUP_NORM),
    "group_norm_silu": (lambda *t: ours_silu(*t, GROUPS), lambda *t: aten_silu(*t, GROUPS), GROUP_NORM),
    **{
        name: (case.of(OPS), case.builtin, [tuple(min(length, 5) for length in shape) for shape in case.inputs[0]])
        for name, case in CASES.items()
    },
}
HALVES = (torch.bfloat16, torch.float16)
DTYPES = (torch.float32, *HALVES)
#: In parts of the largest number: bfloat16 rounds by 2^-9 of one, PyTorch's own several times on the way.
TOLERANCE = 2.0**-4
SINGLE = 1e-5  # where all of it is float32


def loss_of(function: Function) -> Function:
    return lambda *inputs: function(*inputs).float().sin().sum()


def vjp(function: Function) -> Callable[..., Any]:
    def call(*inputs: Tensor) -> Any:
        y, pull = torch.func.vjp(function, *inputs)
        return pull(torch.ones_like(y))

    return call


def for_each_example(function: Function, numbers: tuple[int, ...]) -> Callable[..., Any]:
    def one(x: Tensor, *others: Tensor) -> Tensor:
        return loss_of(function)(x[None], *others)

    places = (0, *(None for _ in numbers[1:]))
    return torch.vmap(torch.func.grad(one, argnums=numbers), in_dims=places)


def jacobian(function: Function, numbers: tuple[int, ...]) -> Callable[..., Any]:
    return torch.func.jacrev(lambda *inputs: function(*inputs).float().sum(0), argnums=numbers)


#: Name -> (function of tensors, numbers of all its arguments) -> function that gives a tensor for each.
TRANSFORMS: dict[str, Callable[[Function, tuple[int, ...]], Callable[..., Any]]] = {
    "grad": lambda function, numbers: torch.func.grad(loss_of(function), argnums=numbers),
    "vjp": lambda function, _: vjp(function),
    "vmap of grad": for_each_example,
    "jacrev": jacobian,
    "vmap of all": lambda function, numbers: torch.vmap(torch.func.grad(loss_of(function), argnums=numbers)),
}


def autocast(dtype: torch.dtype | None) -> torch.autocast:
    """None: off."""
    return torch.autocast("cpu", dtype or torch.bfloat16, enabled=dtype is not None)


def difference(mine: Sequence[Tensor], right: Sequence[Tensor]) -> float:
    """The largest, in parts of the largest number of its tensor; infinite where a type or a shape differs."""
    worst = 0.0
    for one, other in zip(mine, right, strict=True):
        if one.dtype != other.dtype or one.shape != other.shape:
            return float("inf")
        worst = max(worst, float((one.float() - other.float()).abs().max() / other.float().abs().max()))
    return worst


def inputs_for(transform: str, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[torch.dtype]) -> list[Tensor]:
    if transform == "vmap of all":
        shapes = [(2, *shape) for shape in shapes]
    made = data(*shapes)
    return [one.to(dtype) for one, dtype in zip(made, (*dtypes, *dtypes[-1:] * len(made)), strict=False)]


@pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight:UserWarning")  # PyTorch's rms_norm says it
@pytest.mark.parametrize("cast", [None, *HALVES], ids=str)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", OPERATORS)
def test_transforms_are_those_of_the_built_in(name: str, transform: str, cast: torch.dtype | None) -> None:
    """x of each type, and half x with float32 weights, which only autocast allows."""
    function, builtin, shapes = OPERATORS[name]
    if transform == "vmap of grad" and shapes[1:2] == shapes[:1]:
        pytest.skip("an example has a tensor more of its own shape, and nothing is broadcast")
    make = TRANSFORMS[transform]
    mixed = [(half, torch.float32) for half in HALVES] if cast and len(shapes) > 1 else []
    for dtypes in (*((dtype,) for dtype in DTYPES), *mixed):
        inputs = inputs_for(transform, shapes, dtypes)
        numbers = tuple(range(len(inputs)))
        with autocast(cast):
            mine, right = (make(one, numbers)(*inputs) for one in (function, builtin))
        single = cast is None and dtypes == (torch.float32,)
        assert difference(mine, right) <= (SINGLE if single else TOLERANCE), dtypes


@pytest.mark.parametrize("cast", [None, *HALVES], ids=str)
def test_the_type_that_autocast_is_set_to(cast: torch.dtype | None) -> None:
    """Linear computes in that type, GroupNorm always in float32, GELU in its input's, a sum in the widest input's."""
    x, weight, bias = data((3, 5), (4, 5), (4,))
    norm = data((3, 4, 5), (4,), (4,))
    with autocast(cast):
        y = OPS.linear(x, weight, bias)
        assert y.dtype == torch.nn.functional.linear(x, weight, bias).dtype == (cast or torch.float32)
        assert OPS.gelu(y).dtype == y.dtype
        assert OPS.add_relu(y, y).dtype == y.dtype
        if cast:
            assert OPS.swiglu(y.half(), y.float()).dtype == torch.float32
        assert ours(*norm, GROUPS).dtype == torch.float32
        with torch.autocast("cpu", enabled=False):
            assert OPS.linear(x, weight, bias).dtype == torch.float32


@pytest.mark.parametrize("cast", [None, *HALVES], ids=str)
def test_the_backward_operators_take_what_they_are_given(cast: torch.dtype | None) -> None:
    """They have no rule: a batch of them is a loop, also where autocast would not stack this type."""
    for half in HALVES:
        x, weight, grad = data((2, 3, 5), (4, 5), (2, 3, 4), dtype=half)
        norm_x, norm_grad, norm_weight = data((2, 3, 4, 5), (2, 3, 4, 5), (4,), dtype=half)
        mean, rstd = (
            torch.stack(one)
            for one in zip(*(OPS.group_norm(one, None, None, GROUPS)[1:] for one in norm_x), strict=True)
        )

        def linear(grad: Tensor, x: Tensor, weight: Tensor = weight) -> tuple[Tensor, ...]:
            return OPS.linear_backward(grad, x, weight, [True, True, True])

        def norm(*some: Tensor, weight: Tensor = norm_weight) -> tuple[Tensor, ...]:
            return OPS.group_norm_backward(*some, weight, GROUPS, [True, True, True])

        def gelu(grad: Tensor, x: Tensor) -> tuple[Tensor, ...]:
            return (OPS.gelu_backward(grad, x),)

        for call, inputs in ((linear, (grad, x)), (norm, (norm_grad, norm_x, mean, rstd)), (gelu, (x * 2, x))):
            with autocast(cast):
                mine = torch.vmap(call)(*inputs)
            for number in range(2):
                right = call(*(one[number] for one in inputs))
                assert difference([one[number] for one in mine], right) <= TOLERANCE


def small_net(norm: type, activation: type, linear: type) -> torch.nn.Module:
    torch.manual_seed(4)
    layers = norm(GROUPS, 4), activation(approximate="tanh"), torch.nn.Flatten(), linear(20, 3)
    return torch.nn.Sequential(*layers)


@pytest.mark.parametrize("cast", [None, *HALVES], ids=str)
def test_functional_call_and_a_gradient_for_each_example(cast: torch.dtype | None) -> None:
    x = data((3, 4, 5))[0]
    found = []
    for kinds in ((nn.GroupNorm, nn.GELU, nn.Linear), (torch.nn.GroupNorm, torch.nn.GELU, torch.nn.Linear)):
        net = small_net(*kinds)
        parameters = {name: one.detach() for name, one in net.named_parameters()}

        def loss(parameters: dict[str, Tensor], x: Tensor, net: torch.nn.Module = net) -> Tensor:
            return torch.func.functional_call(net, parameters, (x[None],)).float().sin().sum()

        with autocast(cast):
            gradients = torch.func.grad(lambda p, xs, loss=loss: loss(p, xs[0]) + loss(p, xs[1]))(parameters, x)
            each = torch.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, x)
        found.append([*gradients.values(), *each.values()])
    assert difference(*found) <= TOLERANCE


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_compiled_gradient_is_the_same() -> None:
    torch._dynamo.reset()
    x, weight, bias = data((3, 5), (4, 5), (4,))

    def gradient(x: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return torch.func.grad(loss_of(lambda x: OPS.linear(x, weight, bias)))(x)

    compiled = torch.compile(gradient, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), gradient(x), rtol=0, atol=0)
