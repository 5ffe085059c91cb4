"""RMSNorm in PyTorch, what is its alone: eps of None, rows of several axes, layouts, its module, conversion."""

from __future__ import annotations

import io

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_case import LAYOUTS, data, fault, gradient_fault, results  # noqa: E402
from torch_cases.rms_norm import aten_rms_norm  # noqa: E402
from torch_support import DTYPES, array  # noqa: E402

from gn_tutorial import host, nn  # noqa: E402
from gn_tutorial.errors import ArgumentError  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # PyTorch's own, of its compiler
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
OPS = torch.ops.gn_tutorial
ATEN = torch.nn.functional


def ours(x: Tensor, weight: Tensor) -> Tensor:
    return OPS.rms_norm(x, weight, weight.shape)[0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_eps_of_none_is_that_of_float32_as_the_built_in_computes(dtype: str) -> None:
    """PyTorch's page says finfo(x.dtype).eps; with that, a row of halves this small would be ten times as small."""
    x = torch.full((1, 8), 3e-4, dtype=DTYPES[dtype])
    y = OPS.rms_norm(x, None, (8,))[0]
    torch.testing.assert_close(y, ATEN.rms_norm(x, (8,)), rtol=1e-2 if dtype != "float32" else 1e-5, atol=0)
    other = OPS.rms_norm(x, None, (8,), torch.finfo(x.dtype).eps)[0]
    assert torch.equal(y, other) is (dtype == "float32")


def test_the_bits_of_the_direct_binding() -> None:
    x, weight, grad = data((3, 5, 14), (14,), (3, 5, 14))
    y, rstd = OPS.rms_norm(x, weight, (14,), 1e-5)
    direct = host.rms_norm(array(x), array(weight), eps=1e-5)
    assert (rstd.shape, rstd.dtype) == ((3, 5, 1), torch.float32)
    for mine, right in ((y, direct.out), (rstd[..., 0], direct.rstd)):
        np.testing.assert_array_equal(array(mine), right)
    for mine, right in zip(
        OPS.rms_norm_backward(grad, x, rstd, weight, (14,)),
        host.rms_norm_backward(array(grad), array(x), direct.rstd, array(weight)),
        strict=True,
    ):
        np.testing.assert_array_equal(array(mine), right)


def test_the_gradient_of_a_half_weight_is_rounded_once() -> None:
    """The kernel's sum over all rows is float32, and the operator's result is that; the leaf gets its own type."""
    x, weight, grad = data((400, 9), (9,), (400, 9), dtype=torch.float16)
    rstd = OPS.rms_norm(x, weight, (9,))[1]
    sums = OPS.rms_norm_backward(grad, x, rstd, weight, (9,))[1]
    assert sums.dtype == torch.float32
    assert torch.equal(results(ours, [x, weight], grad)[2], sums.half())


def test_without_a_weight_it_is_ones() -> None:
    x, grad = data((4, 6), (4, 6))
    mine = results(lambda x: OPS.rms_norm(x, None, (6,))[0], [x], grad)
    right = results(lambda x: ours(x, torch.ones(6)), [x], grad)
    for one, other in zip(mine, right, strict=True):
        assert torch.equal(one, other)


@pytest.mark.filterwarnings("ignore:Input #[0-9]+ requires gradient and is not a double precision:UserWarning")
def test_gradcheck_sees_a_gradient_that_lacks_the_inner_derivative() -> None:
    class WithoutMean(torch.autograd.Function):
        """rstd taken for a constant."""

        @staticmethod
        def forward(ctx: object, x: Tensor, weight: Tensor) -> Tensor:
            y, rstd = OPS.rms_norm(x, weight, weight.shape)
            ctx.save_for_backward(x, weight, rstd)
            return y

        @staticmethod
        def backward(ctx: object, grad: Tensor) -> tuple[Tensor, Tensor]:
            x, weight, rstd = ctx.saved_tensors
            return grad * weight * rstd, OPS.rms_norm_backward(grad, x, rstd, weight, weight.shape)[1]

    inputs = data((3, 5), (5,))
    assert gradient_fault(ours, inputs) == ""
    assert gradient_fault(WithoutMean.apply, inputs) != ""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout(layout: str) -> None:
    x, weight, grad = data((3, 5, 7, 11), (7, 11), (3, 5, 7, 11))
    seen = LAYOUTS[layout](x)
    for given in (grad, LAYOUTS["channels_last"](grad)):
        pairs = zip(
            results(ours, [seen, weight], given), results(ours, [seen.contiguous(), weight], given), strict=True
        )
        for mine, right in pairs:
            torch.testing.assert_close(mine, right, rtol=0, atol=0)
    last = layout == "channels_last"
    assert ours(seen, weight).is_contiguous(memory_format=torch.channels_last if last else torch.contiguous_format)


@pytest.mark.parametrize("axes", [1, 3, 9])
def test_more_axes_than_the_host_api_has(axes: int) -> None:
    shape = (2, 1, 3, 1, 2, 1, 2, 1, 5)
    x, weight, grad = data(shape, shape[9 - axes :], shape)
    for given in (x, x.repeat_interleave(2, -1)[..., ::2]):
        assert fault(ours, aten_rms_norm, [given, weight], grad) == ""
    assert OPS.rms_norm(x, weight, weight.shape)[1].shape == (*shape[: 9 - axes], *[1] * axes)


def test_empty_tensors() -> None:
    x, weight = data((0, 4), (4,))
    y, dx, dweight = results(ours, [x, weight], torch.zeros(0, 4))
    assert (y.shape, dx.shape) == ((0, 4), (0, 4))
    assert torch.equal(dweight, torch.zeros(4))


def test_autocast_computes_in_float32() -> None:
    """As PyTorch does on CUDA; on the CPU it has no rule, and keeps the type of x."""
    x, weight = data((3, 5), (5,))
    with torch.autocast("cpu", torch.bfloat16):
        y = OPS.rms_norm(x.bfloat16(), weight, (5,))[0]
    assert torch.equal(y, ours(x.bfloat16().float(), weight))


@pytest.mark.thorough
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compile_with_sizes_that_change(backend: str) -> None:
    torch._dynamo.reset()
    traced = torch.compile(lambda x, w: ours(x, w) * 2, fullgraph=True, backend=backend, dynamic=True)
    for rows, length in ((3, 5), (7, 9), (1, 4)):
        x, weight, grad = data((rows, length), (length,), (rows, length))
        for mine, right in zip(
            results(traced, [x, weight], grad),
            results(lambda x, w: aten_rms_norm(x, w) * 2, [x, weight], grad),
            strict=True,
        ):
            torch.testing.assert_close(mine, right, rtol=1e-4, atol=1e-5)


# --- the module ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [{}, {"eps": 1e-3}, {"elementwise_affine": False}, {"dtype": torch.float16}, {"dtype": torch.bfloat16}],
    ids=str,
)
@pytest.mark.parametrize("shape", [7, (7,), [5, 7]], ids=str)
def test_arguments_text_and_state_dict_are_those_of_torch(shape: object, how: dict) -> None:
    mine, right = nn.RMSNorm(shape, **how), torch.nn.RMSNorm(shape, **how)
    assert repr(mine) == repr(right)
    assert mine.state_dict().keys() == right.state_dict().keys()
    if "weight" in right.state_dict():
        torch.nn.init.uniform_(right.weight)
    mine.load_state_dict(right.state_dict())
    x = data((3, 5, 7), dtype=how.get("dtype", torch.float32))[0]
    torch.testing.assert_close(mine(x), right(x))
    torch.testing.assert_close(mine(x=x), mine(x), rtol=0, atol=0)
    stored = io.BytesIO()
    torch.save(mine, stored)
    stored.seek(0)
    assert torch.equal(torch.load(stored, weights_only=False)(x), mine(x))


def small_net() -> torch.nn.Sequential:
    torch.manual_seed(2)
    return torch.nn.Sequential(
        torch.nn.Linear(6, 8), torch.nn.RMSNorm(8), torch.nn.ReLU(), torch.nn.RMSNorm((3, 8), eps=1e-4),
        torch.nn.RMSNorm(8, elementwise_affine=False),
    )  # fmt: skip


def test_a_converted_model_trains_on() -> None:
    usual, mine = small_net(), small_net()
    steps = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (usual, mine)]
    assert nn.convert(mine) is mine
    assert [type(one) for one in mine if isinstance(one, torch.nn.RMSNorm)] == [nn.RMSNorm] * 3
    x = data((4, 3, 6))[0]
    for _ in range(5):
        losses = []
        for net, step in zip((usual, mine), steps, strict=True):
            step.zero_grad()
            loss = (net(x) - 0.3).square().mean()
            loss.backward()
            step.step()
            losses.append(loss.item())
        assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    assert usual.state_dict().keys() == mine.state_dict().keys()
    for one, other in zip(usual.parameters(), mine.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_convert_takes_the_model_itself_and_leaves_other_classes() -> None:
    class Own(torch.nn.RMSNorm):
        pass

    assert type(nn.convert(torch.nn.RMSNorm(4))) is nn.RMSNorm
    assert type(nn.convert(Own(4))) is Own


@pytest.mark.parametrize("eps", [0.0, -1e-5, 1e-50, float("nan")])
def test_an_eps_that_no_kernel_takes_is_refused_at_once(eps: float) -> None:
    text = "it must be positive and finite as float32"
    with pytest.raises(ArgumentError, match=text) as caught:
        nn.RMSNorm(4, eps)
    assert caught.value.where == "argument eps of gn_tutorial.nn.RMSNorm"
    right, wrong = torch.nn.RMSNorm(4), torch.nn.RMSNorm(4, eps=eps)
    with pytest.raises(ArgumentError, match=text) as caught:
        nn.convert(torch.nn.Sequential(right, wrong))
    assert caught.value.where == "eps of the module '1'"
    assert type(right) is type(wrong) is torch.nn.RMSNorm


def test_a_gradient_for_each_example_of_a_module() -> None:
    x = data((3, 2, 8))[0]
    found = []
    for kind in (nn.RMSNorm, torch.nn.RMSNorm):
        module = kind(8)

        def loss(parameters: dict[str, Tensor], x: Tensor, module: torch.nn.Module = module) -> Tensor:
            return torch.func.functional_call(module, parameters, (x,)).sin().sum()

        parameters = {"weight": torch.linspace(0.5, 2, 8)}
        found.append(torch.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, x)["weight"])
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)
