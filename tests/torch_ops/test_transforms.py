"""The operators under what PyTorch does to programs: compile, export, vmap, torch.func, checkpointing, autocast."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_support import DTYPES, aten, aten_silu, data, ours, ours_silu  # noqa: E402

from gn_tutorial import nn  # noqa: E402
from gn_tutorial.errors import ArgumentError  # noqa: E402

SHAPE, GROUPS = (2, 6, 5, 7), 3
# Of PyTorch's compiler, about its own parts.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*(TF32|torchvision|tensor cores).*:UserWarning"),
]


@pytest.fixture(autouse=True)
def fresh_compiler() -> None:
    torch._dynamo.reset()


def both(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.relu(ours(x, weight, bias, GROUPS)) * 2 + ours_silu(x, weight, bias, 2)


def with_gradients(function: Callable, *inputs: Tensor) -> list[Tensor]:
    y = function(*inputs)
    return [y, *torch.autograd.grad(y.sin().sum(), inputs)]


# --- compile and export ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("backend", "dtype"),
    [
        ("eager", "float32"),
        *(("aot_eager", dtype) for dtype in DTYPES),
        pytest.param("inductor", "float32", marks=pytest.mark.thorough),  # the first waits 20 s for g++
    ],
)
def test_compile_without_a_graph_break(backend: str, dtype: str) -> None:
    x, weight, bias, _ = (one.requires_grad_() for one in data(SHAPE, DTYPES[dtype]))
    compiled = torch.compile(both, fullgraph=True, backend=backend)
    last = x.detach().to(memory_format=torch.channels_last).requires_grad_()
    for view in (x, last):
        for mine, right in zip(
            with_gradients(compiled, view, weight, bias), with_gradients(both, view, weight, bias), strict=True
        ):
            torch.testing.assert_close(mine, right)
            assert mine.stride() == right.stride()


def test_modules_compile_without_a_graph_break() -> None:
    x = data(SHAPE)[0].requires_grad_()
    net = torch.nn.Sequential(nn.GroupNorm(GROUPS, 6), torch.nn.Tanh(), nn.GroupNormSiLU(2, 6))
    compiled = torch.compile(net, fullgraph=True, backend="aot_eager")
    for mine, right in zip(with_gradients(compiled, x), with_gradients(net, x), strict=True):
        torch.testing.assert_close(mine, right)


def test_dynamic_shapes_compile_once() -> None:
    from torch._dynamo.testing import CompileCounterWithBackend

    _, weight, bias, _ = data(SHAPE)
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda x: ours(x, weight, bias, GROUPS), fullgraph=True, backend=counter)
    for shape in [(2, 6, 5, 7), (3, 6, 8, 9), (5, 6, 2, 4)]:
        x = data(shape)[0].requires_grad_()
        for axis in (0, 2, 3):
            torch._dynamo.mark_dynamic(x, axis)
        y = compiled(x)
        torch.testing.assert_close(y, ours(x, weight, bias, GROUPS), rtol=0, atol=0)
        y.sum().backward()
    assert counter.frame_count == 1


def test_a_compiled_call_refuses_as_the_eager_one() -> None:
    x, weight, bias, _ = data(SHAPE)
    compiled = torch.compile(lambda x, w: ours(x, w, bias, GROUPS), fullgraph=True, backend="eager")
    with pytest.raises(Exception, match=r"weight has shape \(5,\); it must be \(6,\)"):
        compiled(x, weight[:5])


def test_export_keeps_the_operator_and_takes_other_sizes() -> None:
    x, weight, bias, _ = data(SHAPE)
    module = nn.GroupNorm(GROUPS, SHAPE[1])
    module.load_state_dict({"weight": weight, "bias": bias})
    sizes = {0: torch.export.Dim("batch"), 2: torch.export.Dim("height")}
    exported = torch.export.export(module, (x,), dynamic_shapes=(sizes,))
    targets = [node.target for node in exported.graph.nodes if node.op == "call_function"]
    assert torch.ops.gn_tutorial.group_norm.default in targets
    other = data((5, 6, 3, 7))[0]
    torch.testing.assert_close(exported.module()(other), module(other), rtol=0, atol=0)


def test_checkpointing_computes_again_and_gives_the_same_gradients() -> None:
    from torch.utils.checkpoint import checkpoint

    inputs = [one.requires_grad_() for one in data(SHAPE)[:3]]
    for reentrant in (True, False):
        checkpointed = functools.partial(checkpoint, both, use_reentrant=reentrant)
        mine = with_gradients_of_backward(checkpointed, inputs)
        for one, other in zip(mine, with_gradients_of_backward(both, inputs), strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=0)


def with_gradients_of_backward(function: Callable, inputs: list[Tensor]) -> list[Tensor]:
    """By ``backward``, which reentrant checkpointing needs."""
    for one in inputs:
        one.grad = None
    function(*inputs).sin().sum().backward()
    return [one.grad for one in inputs]


# --- vmap and torch.func ---------------------------------------------------------------------------------------------


def batched(tensor: Tensor, place: int | None) -> Tensor:
    """Three examples, the new axis at ``place``."""
    return tensor if place is None else torch.stack([tensor, tensor + 1, tensor * 2], place)


@pytest.mark.parametrize("norm", [ours, ours_silu])
@pytest.mark.parametrize(
    "places", [(0, None, None), (3, None, None), (-1, 0, None), (None, 1, 0), (1, 0, 1), (None, None, 0)], ids=str
)
def test_vmap_is_a_loop(places: tuple[int | None, ...], norm: Callable) -> None:
    inputs = [batched(one, place) for one, place in zip(data(SHAPE)[:3], places, strict=True)]
    mine = torch.vmap(lambda *some: norm(*some, GROUPS), in_dims=places)(*inputs)
    for number in range(3):
        one = [t if place is None else t.select(place, number) for t, place in zip(inputs, places, strict=True)]
        torch.testing.assert_close(mine[number], norm(*one, GROUPS), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mask", [[True, False, False], [True, True, True], [False, True, False]], ids=str)
@pytest.mark.parametrize("with_weight", [False, True])
def test_vmap_of_the_backward_pass_keeps_examples_apart(mask: list[bool], with_weight: bool) -> None:
    op, backward = torch.ops.gn_tutorial.group_norm, torch.ops.gn_tutorial.group_norm_backward
    x, weight, _, grad = data(SHAPE)
    places = (0, 1, 0, 0, 0 if with_weight else None)
    xs = batched(x, 0)
    statistics = [torch.stack(one) for one in zip(*(op(one, None, None, GROUPS)[1:] for one in xs), strict=True)]
    inputs = [batched(grad, 0), batched(x, 1), *statistics, batched(weight, places[4])]
    wanted = [number for number in range(3) if mask[number]]

    def call(*some: Tensor) -> tuple[Tensor, ...]:
        made = backward(*some, GROUPS, mask)
        return tuple(made[number] for number in wanted)

    mine = torch.vmap(call, in_dims=places)(*inputs)
    for number in range(3):
        one = [t if place is None else t.select(place, number) for t, place in zip(inputs, places, strict=True)]
        for got, right in zip(mine, call(*one), strict=True):
            torch.testing.assert_close(got[number], right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("norm", "builtin"), [(ours, aten), (ours_silu, aten_silu)])
@pytest.mark.parametrize("affine", [True, False])
def test_gradients_for_each_example(affine: bool, norm: Callable, builtin: Callable) -> None:
    x, weight, bias, _ = data(SHAPE)
    wanted = (0, 1, 2) if affine else (0,)
    given = (x, weight, bias) if affine else (x, None, None)

    def each(norm: Callable) -> tuple[Tensor, ...]:
        def loss(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
            return norm(x[None], weight, bias).sin().sum()

        return torch.vmap(torch.func.grad(loss, argnums=wanted), in_dims=(0, None, None))(*given)

    mine = each(lambda *some: norm(*some, GROUPS))
    for one, other in zip(mine, each(lambda *some: builtin(*some, GROUPS)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_the_bare_operator_under_torch_func() -> None:
    """The default of eps, which the dispatcher leaves out; levels in each other; compiled; functionalize."""
    x, weight, bias, _ = data(SHAPE)

    def builtin(x: Tensor) -> Tensor:
        return aten(x, weight, bias, GROUPS)

    def bare(x: Tensor) -> Tensor:
        return torch.ops.gn_tutorial.group_norm(x, weight, bias, GROUPS)[0]

    right = torch.func.grad(lambda x: builtin(x).sin().sum())(x)
    first = torch.func.grad(lambda x: bare(x).sin().sum())
    over_vmap = torch.func.grad(lambda x: torch.vmap(lambda one: bare(one[None]))(x).sin().sum())
    compiled = torch.compile(first, backend="aot_eager", fullgraph=True)
    for mine in (first(x), over_vmap(x), compiled(x), torch.func.vjp(bare, x)[1](builtin(x).cos())[0]):
        torch.testing.assert_close(mine, right, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(torch.func.functionalize(bare)(x), bare(x), rtol=0, atol=0)
    with pytest.raises(ArgumentError, match="second derivatives"):
        torch.func.grad(lambda x: first(x).sum())(x)


def test_the_bare_operators_of_the_other_cases_under_torch_func() -> None:
    x, weight = data((4, 6))[:2]
    table = torch.stack([weight, weight * 2, weight - 1])
    ops, builtin = torch.ops.gn_tutorial, torch.nn.functional
    for mine, right in (
        (lambda x, w: ops.gelu(x) * w, lambda x, w: builtin.gelu(x) * w),
        (lambda x, w: ops.linear(x, w * table), lambda x, w: builtin.linear(x, w * table)),
    ):
        each = [
            torch.vmap(torch.func.grad(lambda *some, f=f: f(*some).sin().sum(), argnums=(0, 1)), in_dims=(0, None))
            for f in (mine, right)
        ]
        for one, other in zip(each[0](x, weight), each[1](x, weight), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_jacrev_of_a_module() -> None:
    x = data((1, 6, 2, 2))[0]
    modules = nn.GroupNorm(GROUPS, 6), torch.nn.GroupNorm(GROUPS, 6)
    mine, right = (torch.func.jacrev(lambda x, module=module: module(x).sum((0, 2)))(x) for module in modules)
    torch.testing.assert_close(mine, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("norm", [ours, ours_silu])
def test_forward_mode_is_refused_and_not_zero(norm: Callable) -> None:
    from torch.autograd import forward_ad

    x, weight, bias, _ = data(SHAPE)
    with pytest.raises(ArgumentError, match="forward-mode derivatives"):
        torch.func.jvp(lambda x: norm(x, weight, bias, GROUPS), (x,), (x,))
    with forward_ad.dual_level(), pytest.raises(ArgumentError, match="forward-mode derivatives"):
        norm(forward_ad.make_dual(x, x), weight, bias, GROUPS)
    norm(x, weight, bias, GROUPS)  # outside it works


def test_second_derivatives_under_torch_func_are_refused() -> None:
    x, weight, bias, _ = data(SHAPE)

    def first(x: Tensor) -> Tensor:
        return torch.func.grad(lambda x: ours(x, weight, bias, GROUPS).sin().sum())(x).sum()

    with pytest.raises(ArgumentError, match="second derivatives"):
        torch.func.grad(first)(x)


# --- autocast --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [ours, ours_silu])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_computes_in_float32(dtype: torch.dtype, norm: Callable) -> None:
    x, weight, bias, grad = data(SHAPE)
    narrow = x.to(dtype).requires_grad_()
    with torch.autocast("cpu", dtype):
        y = norm(narrow, weight, bias, GROUPS)
    assert y.dtype == torch.float32
    torch.testing.assert_close(y, norm(narrow.float(), weight, bias, GROUPS), rtol=0, atol=0)
    y.backward(grad)
    assert narrow.grad.dtype == dtype
    with pytest.raises(ArgumentError, match=r"weight is torch\.float32; it must be"):
        norm(narrow, weight, bias, GROUPS)
