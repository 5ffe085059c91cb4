"""The pass over graphs where GELU stands behind Linear, which has to be asked for."""

from __future__ import annotations

import copy
import functools

import pytest

torch = pytest.importorskip("torch")

from fusion_support import NEAR, names, traced, train_alike  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from gn_tutorial.torch_ops.fusion import backend, fuse  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


class Perceptron(nn.Module):
    """The layer of a vision transformer, with both forms of GELU, and one Linear without a bias."""

    def __init__(self, width: int = 10) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(width, 14), nn.GELU(), nn.Linear(14, width))
        self.second = nn.Linear(width, 12, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return functional.gelu(self.second(x * 0.5 + self.first(x) * 0.25), approximate="tanh")


def perceptron() -> tuple[nn.Module, Tensor]:
    torch.manual_seed(4)
    return Perceptron(), torch.randn(3, 7, 10) * 1.5 + 0.3


def test_gelu_behind_linear_is_left_where_nobody_asks_for_it() -> None:
    model, _ = perceptron()
    report = fuse(model).fusions
    assert not report.found
    assert [(one.fusion, one.where) for one in report.left] == [
        ("linear_gelu", "first.1 (first_1)"),
        ("linear_gelu", "gelu"),
    ]
    assert all("for the cube unit" in one.why and "linear=True" in one.why for one in report.left)


def test_gelu_behind_linear_trains_as_the_model_does() -> None:
    """Both forms, with a bias and without; also from an exported program and the compiler."""
    model, x = perceptron()
    fused = fuse(copy.deepcopy(model), linear=True)
    assert names(fused.fusions) == ["linear_gelu"] * 2
    assert not fused.fusions.left
    train_alike(model, fused, x)
    exported = fuse(torch.export.export(model, (x,)).module(), linear=True)
    assert names(exported.fusions) == ["linear_gelu"] * 2
    backend.reports.clear()
    torch._dynamo.reset()
    compiled = torch.compile(model, backend=functools.partial(backend, linear=True), fullgraph=True)
    with torch.no_grad():  # nothing is kept
        for one in (exported, compiled):
            torch.testing.assert_close(one(x), model(x), **NEAR)
    assert [names(one) for one in backend.reports] == [["linear_gelu"] * 2]


def test_what_linear_with_gelu_is_not_replaced_for() -> None:
    """A value used twice, memory written between; other types, shapes and devices run as parts."""
    weight, bias = torch.randn(4, 5), torch.randn(4)

    def twice(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        hidden = functional.linear(x, weight, bias)
        return functional.gelu(hidden) * hidden

    def between(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        own = x * 2.0
        hidden = functional.linear(own, weight, bias)
        own.sub_(1.0)
        return functional.gelu(hidden) + own.sum()

    for function, why in (
        (twice, "linear is used by gelu, mul"),
        (between, "sub_ writes into memory before the result is used"),
    ):
        fused = fuse(traced(function), linear=True)
        assert [(one.fusion, one.why) for one in fused.fusions.left if one.fusion != "any"] == [("linear_gelu", why)]
        x = torch.randn(3, 5)
        torch.testing.assert_close(fused(x, weight, bias), function(x, weight, bias), **NEAR)

    plain = traced(lambda x, w, b: functional.gelu(functional.linear(x, w, b), approximate="tanh"))
    fused = fuse(plain, linear=True)
    assert names(fused.fusions) == ["linear_gelu"]
    x = torch.randn(3, 5)
    for given_ in (
        (x, weight, bias),
        (x, weight, None),
        (x[0], weight, bias),
        (x.double(), weight.double(), bias.double()),
        (x, weight[0], None),
        (x.half(), weight.half(), bias.half()),
    ):
        right = functional.gelu(functional.linear(*given_), approximate="tanh")
        near = {"rtol": 2e-3, "atol": 2e-3} if given_[0].dtype == torch.float16 else NEAR
        torch.testing.assert_close(fused(*given_), right, **near)
    with torch.autocast("cpu", torch.bfloat16):
        right = functional.gelu(functional.linear(x, weight, bias), approximate="tanh")
        torch.testing.assert_close(fused(x, weight, bias), right, rtol=2e-2, atol=2e-2)
        assert fused(x, weight, bias).dtype == right.dtype
    torch._dynamo.reset()
    backend.reports.clear()
    torch.compile(plain, backend=functools.partial(backend, linear=True))(x.double(), weight.double(), bias.double())
    (left,) = backend.reports[0].left
    assert (left.fusion, left.why) == ("linear_gelu", "x is float64, which no kernel here takes")
