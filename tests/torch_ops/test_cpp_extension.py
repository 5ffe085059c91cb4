"""The operator registered from C++ (kernels/torch_cpp): numbers, gradients, tracing, and what it refuses by name."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_support import DTYPES, array, aten, data, fault, gradient_fault, ours  # noqa: E402

from gn_tutorial import host, torch_ops  # noqa: E402, F401
from gn_tutorial.compiler.toolchain import find_compiler  # noqa: E402
from gn_tutorial.torch_ops import cpp_extension  # noqa: E402

pytestmark = pytest.mark.skipif(find_compiler().is_zig, reason="zig cannot build an extension of torch")
SHAPE, GROUPS = (2, 6, 5, 7), 3
SHAPES = [((2, 6, 5, 7), 3), ((4, 12, 9), 2), ((3, 8, 2, 3, 4), 8), ((1, 4, 33), 1), ((2, 70, 17), 35)]
SINGLE = "ignore:Input #[0-9]+ requires gradient and is not a double precision:UserWarning"


@pytest.fixture(scope="module")
def ops() -> object:
    """Built once; about a minute where the cache is empty."""
    return cpp_extension.load()


@pytest.fixture
def norm(ops: object) -> Callable[..., Tensor]:
    return lambda *arguments: ops.group_norm(*arguments)[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "groups"), SHAPES, ids=str)
def test_the_accuracy_standard_forward_and_backward(
    norm: Callable[..., Tensor], shape: tuple[int, ...], groups: int, dtype: str
) -> None:
    *inputs, grad = data(shape, DTYPES[dtype])
    assert fault(norm, aten, inputs, grad, groups) == ""


@pytest.mark.parametrize("given", [(True, False), (False, True), (False, False)], ids=str)
def test_weight_and_bias_may_be_none(norm: Callable[..., Tensor], given: tuple[bool, bool]) -> None:
    x, weight, bias, grad = data(SHAPE)
    assert fault(norm, aten, (x, weight if given[0] else None, bias if given[1] else None), grad, GROUPS) == ""


@pytest.mark.filterwarnings(SINGLE)
def test_gradcheck_and_that_it_can_fail(norm: Callable[..., Tensor]) -> None:
    assert gradient_fault(norm) == ""

    class WithoutMean(torch.autograd.Function):
        """A backward pass that forgets that the mean depends on x, as published ones do."""

        @staticmethod
        def forward(ctx: object, x: Tensor, weight: Tensor, bias: Tensor, groups: int, eps: float) -> Tensor:
            y, _, rstd = torch.ops.gn_tutorial_cpp.group_norm(x, weight, bias, groups, eps)
            ctx.save_for_backward(weight, rstd)
            return y

        @staticmethod
        def backward(ctx: object, grad: Tensor) -> tuple[Tensor | None, ...]:
            weight, rstd = ctx.saved_tensors
            scale = rstd.repeat_interleave(weight.numel() // rstd.shape[1], 1) * weight
            return grad * scale.view(*scale.shape, *[1] * (grad.ndim - 2)), None, None, None, None

    assert gradient_fault(WithoutMean.apply) != ""


def test_the_same_bits_as_the_direct_binding_and_the_python_operator(ops: object) -> None:
    x, weight, bias, grad = data(SHAPE)
    y, mean, rstd = ops.group_norm(x, weight, bias, GROUPS)
    direct = host.group_norm(*map(array, (x, weight, bias)), num_groups=GROUPS)
    for mine, other in zip((y, mean, rstd), direct, strict=True):
        assert array(mine).tobytes() == other.tobytes()
    assert torch.equal(y, ours(x, weight, bias, GROUPS))
    gradients = ops.group_norm_backward(grad, x, mean, rstd, weight, GROUPS, [True] * 3)
    for mine, other in zip(
        gradients,
        host.group_norm_backward(*map(array, (grad, x, mean, rstd, weight)), num_groups=GROUPS),
        strict=True,
    ):
        assert array(mine).tobytes() == other.tobytes()


@pytest.mark.parametrize(
    "layout",
    [
        lambda x: x.to(memory_format=torch.channels_last),
        lambda x: x.transpose(2, 3).contiguous().transpose(2, 3),
        lambda x: x.repeat_interleave(2, 3)[..., ::2],
        lambda x: x[:1].expand(x.shape),
        lambda x: torch.cat([x.new_zeros(1), x.flatten()])[1:].view(x.shape),
    ],
    ids=["channels_last", "transposed", "every_second", "repeated", "offset"],
)
def test_every_layout(ops: object, layout: Callable[[Tensor], Tensor]) -> None:
    x, weight, bias, _ = data(SHAPE)
    x = layout(x)
    y = ops.group_norm(x, weight, bias, GROUPS)[0]
    built_in = aten(x, weight, bias, GROUPS)
    torch.testing.assert_close(y, built_in, rtol=1e-5, atol=1e-5)
    assert y.stride() == built_in.stride()


@pytest.mark.parametrize("dtype", DTYPES)
def test_opcheck(ops: object, dtype: str) -> None:
    x, weight, bias, grad = data(SHAPE, DTYPES[dtype])
    _, mean, rstd = ops.group_norm(x, weight, bias, GROUPS)
    for some in ((weight, bias), (None, bias), (None, None)):
        leaves = [None if one is None else one.detach().clone().requires_grad_() for one in (x, *some)]
        torch.library.opcheck(ops.group_norm.default, (*leaves, GROUPS))
    for mask in ([True] * 3, [True, False, False], [False, True, True], [False] * 3):
        torch.library.opcheck(ops.group_norm_backward.default, (grad, x, mean, rstd, weight, GROUPS, mask))


def test_only_what_the_mask_asks_for_comes_back(ops: object) -> None:
    x, weight, bias, grad = data(SHAPE)
    _, mean, rstd = ops.group_norm(x, weight, bias, GROUPS)
    every = ops.group_norm_backward(grad, x, mean, rstd, weight, GROUPS, [True] * 3)
    for mask in ([True, False, False], [False, True, False], [False, False, True], [False] * 3):
        some = ops.group_norm_backward(grad, x, mean, rstd, weight, GROUPS, mask)
        for wanted, one, whole in zip(mask, some, every, strict=True):
            assert torch.equal(one, whole) if wanted else one is None


def test_compile_traces_it_whole_with_changing_shapes(ops: object) -> None:
    x, weight, bias, grad = data(SHAPE)
    traced = torch.compile(
        lambda *arguments: ops.group_norm(*arguments, GROUPS)[0] * 2, fullgraph=True, backend="aot_eager", dynamic=True
    )
    for length in (5, 9, 3):
        part = torch.cat([x, x], 2)[:, :, :length].clone().requires_grad_()
        y = traced(part, weight, bias)
        torch.testing.assert_close(y, aten(part, weight, bias, GROUPS) * 2, rtol=1e-5, atol=1e-5)
        mine = torch.autograd.grad(y, part, torch.cat([grad, grad], 2)[:, :, :length])[0]
        assert mine.shape == part.shape


def test_an_empty_batch_has_gradients_of_zero(ops: object) -> None:
    x, weight, bias, _ = (one.requires_grad_() for one in data(SHAPE))
    y, mean, rstd = ops.group_norm(x[:0], weight, bias, GROUPS)
    assert (y.shape, mean.shape, rstd.shape) == ((0, *SHAPE[1:]), (0, GROUPS), (0, GROUPS))
    y.sum().backward()
    assert torch.equal(weight.grad, torch.zeros_like(weight))
    assert torch.equal(bias.grad, torch.zeros_like(bias))


def test_a_second_derivative_is_an_error_and_not_a_zero(ops: object) -> None:
    x, weight, bias, grad = (one.requires_grad_() for one in data(SHAPE))
    first = torch.autograd.grad(ops.group_norm(x, weight, bias, GROUPS)[0], x, grad, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="group_norm_backward is not implemented"):
        torch.autograd.grad(first.sum(), x)


REFUSED: dict[str, tuple[Callable[..., tuple], str]] = {
    "meta weight": (lambda x, w, b: (x, w.to("meta"), b, 3), "weight is on meta; it must be on cpu"),
    "meta bias": (lambda x, w, b: (x, w, b.to("meta"), 3), "bias is on meta; it must be on cpu"),
    "meta x": (lambda x, w, b: (x.to("meta"), w, b, 3), "weight is on cpu; it must be on meta"),
    "x double": (lambda x, w, b: (x.double(), w, b, 3), "x is float64"),
    "weight half": (lambda x, w, b: (x, w.half(), b, 3), "weight is float16; it must be float32, as x"),
    "bias short": (lambda x, w, b: (x, w, b[:5], 3), r"bias has shape \[5\]; it must be \[6\]"),
    "groups": (lambda x, w, b: (x, w, b, 4), "num_groups = 4"),
    "no groups": (lambda x, w, b: (x, w, b, 0), "num_groups = 0"),
    "eps": (lambda x, w, b: (x, w, b, 3, 1e-60), "eps is 1e-60"),
    "eps nan": (lambda x, w, b: (x, w, b, 3, float("nan")), "eps is nan"),
    "one axis": (lambda x, w, b: (x[0, :, 0, 0], w, b, 3), "x has 1 axes"),
    "nine axes": (lambda x, w, b: (x[(..., *[None] * 5)], w, b, 3), "x has 9 axes"),
    "no elements": (lambda x, w, b: (x[:, :, :0], w, b, 3), "a group without elements"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_errors_name_the_argument(ops: object, case: str) -> None:
    change, message = REFUSED[case]
    x, weight, bias, _ = data(SHAPE)
    with pytest.raises(ValueError, match=message):
        ops.group_norm(*change(x, weight, bias))


BACKWARD_REFUSED: dict[str, tuple[dict[str, Callable[[Tensor], Tensor]], str]] = {
    "meta grad_y": ({"grad_y": lambda one: one.to("meta")}, "grad_y is on meta; it must be on cpu"),
    "meta mean": ({"mean": lambda one: one.to("meta")}, "mean is on meta"),
    "meta weight": ({"weight": lambda one: one.to("meta")}, "weight is on meta"),
    "grad_y half": ({"grad_y": lambda one: one.half()}, "grad_y is float16"),
    "rstd half": ({"rstd": lambda one: one.half()}, "rstd is float16; it must be float32"),
    "mean of fewer groups": ({"mean": lambda one: one[:, :2]}, r"mean has shape \[2, 2\]; it must be \[2, 3\]"),
    "grad_y of another shape": ({"grad_y": lambda one: one[..., :3]}, "grad_y has shape"),
    "gradient of no weight": ({"weight": lambda _: None}, r"output_mask\[1\]"),
}


@pytest.mark.parametrize("case", BACKWARD_REFUSED)
def test_errors_of_the_backward_pass_name_the_argument(ops: object, case: str) -> None:
    changes, message = BACKWARD_REFUSED[case]
    x, weight, bias, grad = data(SHAPE)
    _, mean, rstd = ops.group_norm(x, weight, bias, GROUPS)
    given = {"grad_y": grad, "x": x, "mean": mean, "rstd": rstd, "weight": weight}
    given |= {name: change(given[name]) for name, change in changes.items()}
    with pytest.raises(ValueError, match=message):
        ops.group_norm_backward(*given.values(), GROUPS, [True] * 3)


def test_threads_and_a_forked_child(ops: object) -> None:
    inputs = [data(SHAPE, seed=seed)[:3] for seed in range(4)]
    right = [aten(*one, GROUPS) for one in inputs]
    found: dict[int, Tensor] = {}

    def work(at: int) -> None:
        for _ in range(20):
            found[at] = ops.group_norm(*inputs[at], GROUPS)[0]

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    for at in range(4):
        torch.testing.assert_close(found[at], right[at], rtol=1e-5, atol=1e-5)
    child = os.fork()
    if child == 0:  # its parent's stream has no thread here
        y = ops.group_norm(*inputs[0], GROUPS)[0]
        os._exit(0 if torch.allclose(y, right[0], rtol=1e-5, atol=1e-5) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_loading_it_twice_does_nothing(ops: object) -> None:
    assert cpp_extension.load() is ops
    cpp_extension.load.cache_clear()
    again = cpp_extension.load()
    x, weight, bias, _ = data(SHAPE)
    assert torch.equal(again.group_norm(x, weight, bias, GROUPS)[0], ops.group_norm(x, weight, bias, GROUPS)[0])
