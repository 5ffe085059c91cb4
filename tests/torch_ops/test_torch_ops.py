"""The operators in PyTorch: numbers and gradients against float64 ATen, every layout, opcheck, and planted mistakes."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_support import (  # noqa: E402
    DTYPES,
    array,
    aten,
    aten_silu,
    data,
    fault,
    gradient_fault,
    ours,
    ours_silu,
    results,
)

import gn_tutorial.torch_ops  # noqa: E402, F401  # registers the operators
from gn_tutorial import host  # noqa: E402
from gn_tutorial.compare.accuracy import accuracy  # noqa: E402
from gn_tutorial.host import c_library  # noqa: E402
from gn_tutorial.operators.registry import find_kernel  # noqa: E402
from gn_tutorial.profiler.bench.grid import load_grid  # noqa: E402
from gn_tutorial.torch_ops import launch as launch_module  # noqa: E402
from tests.kernels.test_group_norm_kernels import GRID  # noqa: E402

OPS = torch.ops.gn_tutorial
SHAPE, GROUPS = (2, 6, 5, 7), 3
# Small groups, single channels, pieces and many samples. In a group of two elements the gradient of x is all rounding,
# which no relative standard can judge: GRID[0] is left out.
WITH_GRADIENTS = [((4, 12), 2), GRID[2], GRID[4], GRID[5], GRID[8], GRID[16], GRID[17]]
# gradcheck asks for float64, which the kernels do not have.
SINGLE = "ignore:Input #[0-9]+ requires gradient and is not a double precision:UserWarning"


def pairs() -> list[object]:
    return [pytest.param(ours, aten, id="group_norm"), pytest.param(ours_silu, aten_silu, id="group_norm_silu")]


def bench_shapes() -> list[object]:
    """What ``gnt bench`` runs, without its largest shapes."""
    cases = load_grid(find_kernel("group_norm/any")[0]).cases
    return [(one.shape, one.attributes["num_groups"], one.dtype) for one in cases if one.elements <= 1 << 20]


@pytest.mark.parametrize(
    ("shape", "groups", "dtype"),
    [*((*case, dtype) for case in GRID for dtype in DTYPES), *bench_shapes()],
    ids=str,
)
def test_the_grids_of_the_project_forward(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    x, weight, bias, _ = data(shape, DTYPES[dtype])
    y, mean, rstd = OPS.group_norm(x, weight, bias, groups)
    sizes = (shape[0], shape[1], x[0, 0].numel(), groups, 1e-5)
    wide = torch.native_group_norm(x.double(), weight.double(), bias.double(), *sizes)
    single = torch.native_group_norm(x.float(), weight.float(), bias.float(), *sizes)[0]
    judged = accuracy(array(y), array(wide[0]), array(single.to(x.dtype)))
    assert judged.ok, judged
    assert (y.dtype, mean.dtype, rstd.dtype) == (x.dtype, torch.float32, torch.float32)
    torch.testing.assert_close(mean.double(), wide[1], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(rstd.double(), wide[2], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("norm", "builtin"), pairs())
@pytest.mark.parametrize(("shape", "groups"), WITH_GRADIENTS, ids=str)
def test_the_accuracy_standard_forward_and_backward(
    shape: tuple[int, ...], groups: int, norm: Callable, builtin: Callable, dtype: str
) -> None:
    *inputs, grad = data(shape, DTYPES[dtype])
    assert fault(norm, builtin, inputs, grad, groups) == ""


@pytest.mark.parametrize(("norm", "builtin"), pairs())
@pytest.mark.parametrize("given", [(True, False), (False, True), (False, False)], ids=str)
def test_weight_and_bias_may_be_none(given: tuple[bool, bool], norm: Callable, builtin: Callable) -> None:
    x, weight, bias, grad = data(SHAPE)
    assert fault(norm, builtin, (x, weight if given[0] else None, bias if given[1] else None), grad, GROUPS) == ""


LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "contiguous": lambda x: x,
    "channels_last": lambda x: x.to(memory_format=torch.channels_last),
    "channels_last_slice": lambda x: torch.cat([x, x], 1).to(memory_format=torch.channels_last)[:, : x.shape[1]],
    "batch_of_channels_last": lambda x: torch.cat([x, x]).to(memory_format=torch.channels_last)[::2][: len(x)],
    "transposed": lambda x: x.transpose(2, 3).contiguous().transpose(2, 3),
    "every_second": lambda x: x.repeat_interleave(2, 3)[..., ::2],
    "repeated": lambda x: x[:1].expand(x.shape),
    "offset": lambda x: torch.cat([x.new_zeros(1), x.flatten()])[1:].view(x.shape),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LAYOUTS)
def test_other_strides_give_the_same_numbers_and_the_layout_of_the_built_in(name: str, dtype: str) -> None:
    """The same bits, too, unless the channels are last: that is another kernel, which adds up in another order."""
    layout = LAYOUTS[name]
    rounding = 2e-5 if "channels_last" in name else 0
    x, weight, bias, grad = data(SHAPE, DTYPES[dtype])
    view = layout(x).detach().requires_grad_()
    dense = view.detach().contiguous().requires_grad_()
    y = ours(view, weight, bias, GROUPS)
    allowed = {"rtol": max(rounding, torch.finfo(x.dtype).eps) if rounding else 0, "atol": rounding}
    torch.testing.assert_close(y, ours(dense, weight, bias, GROUPS), **allowed)
    mine = torch.autograd.grad(y, view, layout(grad))[0]
    usual = torch.autograd.grad(ours(dense, weight, bias, GROUPS), dense, layout(grad).contiguous())[0]
    torch.testing.assert_close(mine, usual, **allowed)
    builtin = aten(view, weight, bias, GROUPS)
    assert y.stride() == builtin.stride()
    assert mine.stride() == torch.autograd.grad(builtin, view, grad)[0].stride()


@pytest.mark.parametrize(
    "shape", [(2, 6, 1, 1), (2, 1, 5, 7), (1, 6, 5, 1), (2, 6, 4, 3, 5), (2, 6, 4), (3, 6)], ids=str
)
def test_the_layout_is_the_built_in_s_for_other_shapes(shape: tuple[int, ...]) -> None:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    x = torch.randn(*shape)
    views = [x, x.transpose(0, 1).contiguous().transpose(0, 1)]
    if x.ndim in formats:
        views += [x.to(memory_format=formats[x.ndim]), torch.cat([x, x]).to(memory_format=formats[x.ndim])[::2]]
    for view in views:
        assert ours(view, None, None, 1).stride() == aten(view, None, None, 1).stride(), view.stride()


def test_a_negated_view_is_negated() -> None:
    x, weight, bias, _ = data(SHAPE)
    torch.testing.assert_close(ours(torch._neg_view(x), weight, bias, 3), ours(-x, weight, bias, 3), rtol=0, atol=0)


@pytest.mark.parametrize("shape", [(0, 6, 4), (0, 6), (0, 6, 0)], ids=str)
@pytest.mark.parametrize(("norm", "builtin"), pairs())
def test_an_empty_batch_has_gradients_of_zero(norm: Callable, builtin: Callable, shape: tuple[int, ...]) -> None:
    _, weight, bias, _ = data((1, 6))
    inputs = (torch.empty(shape), weight, bias)
    mine, right = (results(one, inputs, torch.empty(shape), 3) for one in (norm, builtin))
    for one, other in zip(mine, right, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_a_group_of_one_element_is_its_bias() -> None:
    _, weight, bias, _ = data((1, 6))
    torch.testing.assert_close(ours(torch.randn(1, 6), weight, bias, 6), bias[None], rtol=0, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_three_ways_of_calling_give_the_same_bits(dtype: str) -> None:
    """torch.ops, the module, and the host API on arrays; forward and backward."""
    from gn_tutorial import nn

    x, weight, bias, grad = data(SHAPE, DTYPES[dtype])
    module = nn.GroupNorm(GROUPS, SHAPE[1], dtype=DTYPES[dtype])
    module.load_state_dict({"weight": weight, "bias": bias})
    direct = host.group_norm(array(x), array(weight), array(bias), num_groups=GROUPS)
    op = OPS.group_norm(x, weight, bias, GROUPS)
    for one, other in zip(op, direct, strict=True):
        np.testing.assert_array_equal(array(one), other)
    leaf = x.clone().requires_grad_()
    y = module(leaf)
    np.testing.assert_array_equal(array(y), direct.out)
    y.backward(grad)
    op_grads = OPS.group_norm_backward(grad, x, *op[1:], weight, GROUPS, [True] * 3)
    grads = host.group_norm_backward(array(grad), array(x), direct.mean, direct.rstd, array(weight), num_groups=GROUPS)
    of_module = leaf.grad, module.weight.grad, module.bias.grad
    for ways in zip(of_module, op_grads, grads, strict=True):
        np.testing.assert_array_equal(array(ways[0]), ways[2])
        np.testing.assert_array_equal(array(ways[1]), ways[2])


@pytest.mark.parametrize("layout", ["contiguous", "channels_last", "every_second"])
@pytest.mark.parametrize("mask", [(True, True, True), (False, True, False)], ids=str)
def test_no_number_of_a_result_is_left_as_it_was_in_memory(mask: tuple[bool, ...], layout: str) -> None:
    """With deterministic algorithms PyTorch fills new memory with NaN: what a kernel did not write shows."""
    x, weight, bias, grad = data(SHAPE)
    x = LAYOUTS[layout](x)
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.empty(3).isnan().all()  # the trap is set
        forward = OPS.group_norm(x, weight, bias, GROUPS)
        backward = OPS.group_norm_backward(grad, x, *forward[1:], weight, GROUPS, list(mask))
        results = [
            *forward,
            *OPS.group_norm_silu(x, weight, bias, GROUPS),
            *(one for one in backward if one is not None),
        ]
    finally:
        torch.use_deterministic_algorithms(before)
    assert [bool(one.isnan().any()) for one in results] == [False] * (6 + sum(mask))


# --- what PyTorch itself checks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", [OPS.group_norm, OPS.group_norm_silu], ids=str)
def test_opcheck_forward(op: Callable, dtype: str) -> None:
    x, weight, bias, _ = (one.requires_grad_() for one in data(SHAPE, DTYPES[dtype]))
    torch.library.opcheck(op, (x, weight, bias, GROUPS, 1e-3))
    torch.library.opcheck(op, (x.detach().to(memory_format=torch.channels_last), None, None, GROUPS))


@pytest.mark.parametrize("mask", list(itertools.product((True, False), repeat=3)), ids=str)
def test_opcheck_backward(mask: tuple[bool, ...]) -> None:
    dtype = list(DTYPES.values())[sum(mask) % 3]
    x, weight, bias, grad = data(SHAPE, dtype)
    _, mean, rstd = OPS.group_norm(x, weight, bias, GROUPS)
    torch.library.opcheck(OPS.group_norm_backward, (grad, x, mean, rstd, weight, GROUPS, list(mask)))
    made = OPS.group_norm_backward(grad, x, mean, rstd, weight, GROUPS, list(mask))
    assert tuple(one is not None for one in made) == mask


@pytest.mark.filterwarnings(SINGLE)
@pytest.mark.parametrize("norm", [ours, ours_silu])
def test_gradcheck(norm: Callable) -> None:
    assert gradient_fault(norm) == ""


def test_only_what_is_needed_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight, bias, grad = data(SHAPE)
    asked = []
    plan = c_library.repeatable

    def seen(loaded: object, name: str, arguments: tuple, *rest: object) -> object:
        if name == "GroupNormBackward":
            asked.append(list(arguments[9]))
        return plan(loaded, name, arguments, *rest)

    monkeypatch.setattr(c_library, "repeatable", seen)
    monkeypatch.setattr(launch_module, "_PLANS", {})
    for wanted in ([True, False, False], [False, True, True], [False, False, True]):
        leaves = [one.clone().requires_grad_(need) for one, need in zip((x, weight, bias), wanted, strict=True)]
        ours(*leaves, GROUPS).backward(grad)
        assert [one.grad is not None for one in leaves] == wanted
    assert asked == [[1, 0, 0], [0, 1, 1], [0, 0, 1]]


def test_statistics_have_no_gradient_and_y_alone_decides() -> None:
    x, weight, bias, _ = (one.requires_grad_() for one in data(SHAPE))
    y, mean, rstd = OPS.group_norm(x, weight, bias, GROUPS)
    assert (y.requires_grad, mean.requires_grad, rstd.requires_grad) == (True, False, False)


# --- mistakes that the checks above must find ------------------------------------------------------------------------


def broken(change: Callable[[list[Tensor], Tensor], list[Tensor]]) -> Callable:
    """The operator with a backward pass whose gradients are changed: ``change(gradients, gradient of y)``."""

    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: Tensor, weight: Tensor, bias: Tensor, groups: int, eps: float) -> Tensor:
            y, mean, rstd = OPS.group_norm(x, weight, bias, groups, eps)
            ctx.save_for_backward(x, mean, rstd, weight)
            ctx.groups = groups
            return y

        @staticmethod
        def backward(ctx: object, grad: Tensor) -> tuple:
            made = OPS.group_norm_backward(grad, *ctx.saved_tensors, ctx.groups, [True] * 3)
            return *change(list(made), grad), None, None

    return Broken.apply


WRONG: dict[str, Callable[[list[Tensor], Tensor], list[Tensor]]] = {
    "gradient of x without the mean": lambda made, grad: [made[0] + grad.mean(), *made[1:]],
    "weight and bias exchanged": lambda made, grad: [made[0], made[2], made[1]],
    "gradient of bias by the batch": lambda made, grad: [*made[:2], made[2] / len(grad)],
}


@pytest.mark.filterwarnings(SINGLE)
@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_wrong_backward_pass_is_found_by_both_checks(change: Callable) -> None:
    *inputs, grad = data(SHAPE)
    assert fault(broken(change), aten, inputs, grad, GROUPS).startswith("gradient of")
    assert "Jacobian mismatch" in gradient_fault(broken(change))


def test_the_planted_mistakes_begin_from_a_right_operator() -> None:
    *inputs, grad = data(SHAPE)
    assert fault(broken(lambda made, _: made), aten, inputs, grad, GROUPS) == ""
