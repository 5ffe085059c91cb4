"""The pass over graphs: what it finds, and that a fused model computes and trains the same."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")

from fusion_support import CASES, NEAR, made, names, train_alike  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from gn_tutorial.errors import ArgumentError  # noqa: E402
from gn_tutorial.torch_ops.fusion import backend, fuse  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.mark.parametrize("name", CASES)
def test_a_fused_model_trains_as_the_model_does(name: str) -> None:
    """Forward, gradients and twenty steps, on parameters of their own."""
    model, x = made(name)
    fused = fuse(copy.deepcopy(model))
    assert names(fused.fusions) == CASES[name][2]
    first, last = train_alike(model, fused, x)
    assert last < 0.98 * first, "nothing was learnt"


@pytest.mark.parametrize("name", CASES)
def test_parameters_are_the_models_own(name: str) -> None:
    model, x = made(name)
    fused = fuse(model)
    for parameter in model.parameters():
        parameter.data.mul_(1.1)
    torch.testing.assert_close(fused(x), model(x), **NEAR)


@pytest.mark.parametrize("name", CASES)
def test_an_exported_program_and_the_compiler_find_the_same(name: str) -> None:
    model, x = made(name)
    exported = fuse(torch.export.export(model, (x,)).module())
    assert names(exported.fusions) == CASES[name][2]
    torch.testing.assert_close(exported(x), model(x), **NEAR)
    backend.reports.clear()
    torch._dynamo.reset()
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    torch.testing.assert_close(compiled(x), model(x), **NEAR)
    assert [names(one) for one in backend.reports] == [CASES[name][2]]


def test_gradients_through_the_compilers_backend() -> None:
    model, x = made("u-net")
    torch._dynamo.reset()
    compiled = torch.compile(model, backend=backend)
    loss, same = compiled(x).square().sum(), model(x).square().sum()
    parameters = list(model.parameters())
    for found, right in zip(torch.autograd.grad(loss, parameters), torch.autograd.grad(same, parameters), strict=True):
        torch.testing.assert_close(found, right, rtol=1e-3, atol=1e-3)


def test_graph_breaks_and_changing_sizes() -> None:
    class Breaks(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            first = torch.relu(x + y)
            if first.sum() > 0:  # a number that no graph knows
                return functional.silu(first) * y
            return first

    model = Breaks()
    backend.reports.clear()
    torch._dynamo.reset()
    compiled = torch.compile(model, backend=backend, dynamic=True)
    for size in (3, 8, 21):
        x, y = torch.randn(size, 4) + 1, torch.randn(size, 4)
        torch.testing.assert_close(compiled(x, y), model(x, y), **NEAR)
    assert ["add_relu"] in [names(one) for one in backend.reports]
    assert ["swiglu"] in [names(one) for one in backend.reports]
    with pytest.raises(ArgumentError, match="cannot be traced") as caught:
        fuse(model)
    assert "torch.compile" in caught.value.hint


# --- convolution and BatchNorm ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
def test_batch_norm_goes_into_the_convolution_exactly(bias: bool) -> None:
    """In float64 algebra: the folded float32 weight is the rounded one, and float64 models agree to 1e-14."""
    torch.manual_seed(1)
    for kind, norm, shape in (
        (nn.Conv1d, nn.BatchNorm1d, (2, 3, 9)),
        (nn.Conv2d, nn.BatchNorm2d, (2, 3, 5, 6)),
    ):
        model = nn.Sequential(kind(3, 4, 3, bias=bias), norm(4, eps=1e-3)).eval()
        for number in (model[1].running_mean, model[1].weight.data, model[1].bias.data):
            number.uniform_(-1, 1)
        model[1].running_var.uniform_(0.1, 2)
        x = torch.randn(shape)
        folded = fuse(model)
        assert names(folded.fusions) == ["convolution and BatchNorm"]
        assert not any(isinstance(one, norm) for one in folded.modules())
        wide = copy.deepcopy(model).double()
        torch.testing.assert_close(fuse(wide)(x.double()), wide(x.double()), rtol=1e-13, atol=1e-14)
        torch.testing.assert_close(folded(x), model(x), rtol=1e-5, atol=1e-5)
        narrow = wide[1]
        scale = narrow.weight / torch.sqrt(narrow.running_var + narrow.eps)
        right = wide[0].weight * scale.reshape(-1, *[1] * (x.ndim - 1))
        assert torch.equal(next(folded.parameters()).detach(), right.float().detach())


def test_training_refuses_to_fold_and_says_so() -> None:
    model, x = made("resnet")
    trained = fuse(model.train())
    why = {one.why for one in trained.fusions.left if one.fusion == "convolution and BatchNorm"}
    assert why == {"in training the statistics are those of the batch: model.eval() first"}
    folded = fuse(model.eval())
    assert names(folded.fusions) == ["add_relu"] * 2 + ["convolution and BatchNorm"] * 2
    torch.testing.assert_close(folded(x), model(x), **NEAR)
