"""The pass over graphs: what it finds, what it leaves and why, and that a fused model computes the same."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from gn_tutorial.errors import ArgumentError  # noqa: E402
from gn_tutorial.torch_ops.fusion import backend, fuse  # noqa: E402
from gn_tutorial.torch_ops.fusion.canonical import mutates  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
NEAR = {"rtol": 2e-5, "atol": 2e-5}


class UNetBlock(nn.Module):
    """Twice GroupNorm, SiLU and a convolution, and the input added, as in the U-Net of a diffusion model."""

    def __init__(self, channels: int = 6) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(3, channels), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1))
        self.norm, self.convolution = nn.GroupNorm(2, channels), nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.first(x)
        return x + self.convolution(functional.silu(self.norm(hidden)))


class Gated(nn.Module):
    """The gated layer of a language model, and the residual."""

    def __init__(self, width: int = 10) -> None:
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(width, 14), nn.Linear(width, 14), nn.Linear(14, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(functional.silu(self.gate(x)) * self.up(x))


class Transformer(nn.Module):
    """Two blocks: a mixing layer and the gated one, each with its norm in front and its residual; a last norm."""

    def __init__(self, width: int = 10) -> None:
        super().__init__()
        self.mix = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(2))
        self.gated = nn.ModuleList(Gated(width) for _ in range(2))
        self.norms = nn.ModuleList(nn.RMSNorm(width, eps=1e-5) for _ in range(5))

    def forward(self, x: Tensor) -> Tensor:
        for number in range(2):
            x = x + self.mix[number](self.norms[2 * number](x))
            layer, hidden = self.gated[number], self.norms[2 * number + 1](x)
            x = x + layer.down(functional.silu(layer.gate(hidden)) * layer.up(hidden))
        return self.norms[4](x)


class Perceptron(nn.Module):
    """The layer of a vision transformer, with both forms of GELU, and one Linear without a bias."""

    def __init__(self, width: int = 10) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(width, 14), nn.GELU(), nn.Linear(14, width))
        self.second = nn.Linear(width, 12, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return functional.gelu(self.second(x * 0.5 + self.first(x) * 0.25), approximate="tanh")


class SmallResNet(nn.Module):
    """Two blocks with BatchNorm; the end of each is add and ReLU, in place as torchvision writes it."""

    def __init__(self, channels: int = 4) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.first = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels))
        self.second = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels))
        self.relu = nn.ReLU(inplace=True)
        self.head = nn.Linear(channels, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in (self.first, self.second):
            out = block(x)
            out += x
            x = self.relu(out)
        return self.head(x.mean((2, 3)))


CASES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], list[str]]] = {
    "u-net": (UNetBlock, (2, 6, 5, 4), ["group_norm_silu", "group_norm_silu"]),
    "gated": (Gated, (3, 7, 10), ["swiglu"]),
    "transformer": (Transformer, (3, 7, 10), ["add_rms_norm"] * 4 + ["swiglu"] * 2),
    "resnet": (SmallResNet, (2, 3, 5, 4), ["add_relu", "add_relu"]),
}


def made(name: str) -> tuple[nn.Module, Tensor]:
    torch.manual_seed(4)
    model, shape, _ = CASES[name]
    built = model()
    for module in built.modules():
        if isinstance(module, nn.BatchNorm2d):  # else folding would only copy
            module.running_mean.uniform_(-0.5, 0.5)
            module.running_var.uniform_(0.5, 2.0)
            nn.init.uniform_(module.weight, 0.5, 1.5)
    return built, torch.randn(shape) * 1.5 + 0.3


def names(report: object) -> list[str]:
    return sorted(one.fusion for one in report.found)


# --- what is found ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_a_fused_model_trains_as_the_model_does(name: str) -> None:
    """Forward, gradients and twenty steps, on parameters of their own."""
    model, x = made(name)
    fused = fuse(copy.deepcopy(model))
    assert names(fused.fusions) == CASES[name][2]
    pairs = [(one, torch.optim.SGD(one.parameters(), lr=0.02, momentum=0.9)) for one in (model, fused)]
    target = torch.randn_like(model(x).detach())
    for _ in range(20):
        losses = []
        for one, optimiser in pairs:
            optimiser.zero_grad()
            loss = functional.mse_loss(one(x), target)
            loss.backward()
            optimiser.step()
            losses.append(loss.detach())
        torch.testing.assert_close(losses[1], losses[0], **NEAR)
    found = dict(fused.named_parameters())  # in the order of their use
    assert found.keys() == dict(model.named_parameters()).keys()
    for path, right in model.named_parameters():
        torch.testing.assert_close(found[path].grad, right.grad, rtol=2e-4, atol=2e-4)
    assert losses[0] < 0.98 * functional.mse_loss(made(name)[0](x), target), "nothing was learnt"


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


# --- GELU behind Linear, which has to be asked for -------------------------------------------------------------------


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
    pairs = [(one, torch.optim.SGD(one.parameters(), lr=0.02, momentum=0.9)) for one in (model, fused)]
    target = torch.randn_like(model(x).detach())
    for _ in range(20):
        losses = []
        for one, optimiser in pairs:
            optimiser.zero_grad()
            loss = functional.mse_loss(one(x), target)
            loss.backward()
            optimiser.step()
            losses.append(loss.detach())
        torch.testing.assert_close(losses[1], losses[0], **NEAR)
    found = dict(fused.named_parameters())
    for path, right in model.named_parameters():
        torch.testing.assert_close(found[path].grad, right.grad, rtol=2e-4, atol=2e-4)
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


# --- what is left, and why -------------------------------------------------------------------------------------------


def used_twice(x: Tensor, y: Tensor) -> Tensor:
    total = x + y
    return torch.relu(total) * total


def argument_written(x: Tensor, y: Tensor) -> Tensor:
    x.add_(y)  # x += y is x = x + y to PyTorch's tracer
    return torch.relu(x)


def view_written(x: Tensor, y: Tensor) -> Tensor:
    rows = x.reshape(-1)
    rows.relu_()
    return torch.relu(x + y)


def written_between(x: Tensor, y: Tensor) -> Tensor:
    own = y * 2.0
    total = x + own
    own.sub_(1.0)
    return torch.relu(total) + own


def scaled(x: Tensor, y: Tensor) -> Tensor:
    return torch.relu(torch.add(x, y, alpha=2))


def with_a_number(x: Tensor, y: Tensor) -> Tensor:
    return torch.relu(x + 1.5) + y


def weight_on_the_way(x: Tensor, y: Tensor) -> Tensor:
    total = x + y
    twice = total * 2.0
    return functional.rms_norm(total, (5,), y.sum(0)) + twice


LEFT = {
    weight_on_the_way: ("add_rms_norm", "weight is sum_1, which is computed on the way"),
    used_twice: ("add_relu", "add is used by relu, mul"),
    argument_written: ("any", "it writes into x, an argument of the model"),
    view_written: ("any", "it writes into reshape, which may share memory with something else"),
    written_between: ("add_relu", "sub_ writes into memory before the result is used"),
    scaled: None,
    with_a_number: None,
}


class Function(nn.Module):
    """A module of one function."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: Tensor) -> Tensor:
        return self.function(*tensors)


def traced(function: Callable[..., Tensor]) -> nn.Module:
    return torch.fx.GraphModule(nn.Module(), torch.fx.Tracer().trace(function))


@pytest.mark.parametrize("function", LEFT, ids=lambda one: one.__name__)
def test_what_would_change_a_result_is_left_alone(function: Callable[..., Tensor]) -> None:
    fused = fuse(traced(function))
    said = {(one.fusion, one.why) for one in fused.fusions.left}
    expected = LEFT[function]
    assert said == ({expected} if expected else set()) or expected in said
    x, y = torch.randn(4, 5), torch.randn(4, 5)
    ours, theirs = (x.clone(), y.clone()), (x.clone(), y.clone())
    torch.testing.assert_close(fused(*ours), function(*theirs), **NEAR)
    for mine, right in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, right)


def test_other_types_and_shapes_run_as_parts() -> None:
    """What tracing cannot know is looked at when the model runs; what the compiler knows is said in the report."""
    function = traced(lambda x, y: torch.relu(x + y))
    fused = fuse(function)
    assert names(fused.fusions) == ["add_relu"]
    cases = [
        (torch.randn(3, 4).double(), torch.randn(3, 4).double(), "x is float64, which no kernel here takes"),
        (torch.randn(3, 4), torch.randn(4), r"x has shape (3, 4) and y (4,): one is broadcast"),
        (torch.randn(3, 4), torch.randn(3, 4).half(), "x and y have two types"),
    ]
    for x, y, why in cases:
        torch.testing.assert_close(fused(x, y), torch.relu(x + y))
        torch._dynamo.reset()
        backend.reports.clear()
        torch.compile(function, backend=backend)(x, y)
        assert [(one.fusion, one.why) for one in backend.reports[0].left] == [("add_relu", why)]


def test_a_sum_that_goes_on_beside_its_norm() -> None:
    """Used before the norm and behind it, or by the norm alone; of other types, sizes and under autocast as parts."""
    weight = torch.linspace(0.5, 2, 6)
    uses = {
        "both": lambda x, y, w: (t := x + y) * 2 + functional.rms_norm(t, (6,), w, 1e-5) * t,
        "norm": lambda x, y, w: functional.rms_norm(x + y, (6,), w, 1e-5),
    }
    for function in uses.values():
        fused = fuse(traced(function))
        assert names(fused.fusions) == ["add_rms_norm"]
        assert not fused.fusions.left
        for x, y, w in (
            (torch.randn(3, 6), torch.randn(3, 6), weight),
            (torch.randn(3, 6), torch.randn(6), weight),
            (torch.randn(2, 6).double(), torch.randn(2, 6).double(), weight.double()),
            (torch.randn(0, 6), torch.randn(0, 6), weight),
        ):
            torch.testing.assert_close(fused(x, y, w), function(x, y, w), **NEAR)
    halves = [one.bfloat16() for one in (torch.randn(3, 6), torch.randn(3, 6), weight)]
    with torch.autocast("cpu", torch.bfloat16):
        assert fused(*halves).dtype == function(*halves).dtype


def test_a_module_with_a_hook_stays_a_module() -> None:
    model = nn.Sequential(nn.GroupNorm(2, 4), nn.SiLU())
    seen = []
    model[0].register_forward_hook(lambda *_: seen.append(1))
    fused = fuse(model)
    fused(torch.randn(2, 4, 3))
    assert seen == [1]
    assert not fused.fusions.found


def test_the_report_reads_as_a_table() -> None:
    text = repr(fuse(traced(used_twice)).fusions)
    assert text.splitlines()[0].split() == ["fusion", "where", "what"]
    assert "left: add is used by relu, mul" in text
    assert repr(fuse(nn.Sequential(nn.Flatten())).fusions) == "nothing to fuse"
    assert "<table" in fuse(made("gated")[0]).fusions._repr_html_()


def test_what_writes_into_memory_is_known() -> None:
    graph = torch.fx.Tracer().trace(lambda x: (x.add_(1), x.add(1), x.__neg__(), functional.relu(x, inplace=True)))
    calls = [node for node in graph.nodes if node.op.startswith("call")]
    assert [mutates(node) for node in calls] == [True, False, False, True]


# --- random graphs around the patterns -------------------------------------------------------------------------------

STEPS = {
    "add": lambda a, b: a + b,
    "add_in_place": lambda a, b: a.clone().add_(b),
    "relu": lambda a, _: torch.relu(a),
    "relu_in_place": lambda a, _: functional.relu(a * 1.0, inplace=True),
    "relu_method": lambda a, _: a.relu(),
    "silu": lambda a, _: functional.silu(a),
    "mul": lambda a, b: torch.mul(a, b),
    "scale": lambda a, _: a * 0.5,
    "view": lambda a, _: a.reshape(-1).reshape(a.shape),
    "sub_in_place": lambda a, b: (a - 0.25).sub_(b * 0.1),
    "norm": lambda a, _: functional.group_norm(a, 2),
    "rms": lambda a, _: functional.rms_norm(a, (3,), eps=1e-5),
    "rms_of_sum": lambda a, b: functional.rms_norm(a + b, (3,), b[1, 2]),
    "write": lambda a, _: a.mul_(0.75),
    "gelu": lambda a, _: functional.gelu(a, approximate="tanh"),
    "linear": lambda a, b: functional.linear(a, b[0, :3], b[1, 0]),
}


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 20), st.integers(0, 20)), max_size=9),
    results=st.lists(st.integers(0, 20), min_size=1, max_size=2),
)
def test_random_graphs_compute_the_same(steps: list[tuple[str, int, int]], results: list[int]) -> None:
    def model(x: Tensor, y: Tensor) -> Tensor:
        values = [x, y, x * 1.0]
        for name, first, second in steps:
            values.append(STEPS[name](values[first % len(values)], values[second % len(values)]))
        return sum(values[-1 - place % len(values)] for place in results)

    fused = fuse(traced(model), linear=True)
    torch.manual_seed(len(steps))
    x, y = torch.randn(2, 4, 3), torch.randn(2, 4, 3) + 0.2
    ours, theirs = (x.clone(), y.clone()), (x.clone(), y.clone())
    torch.testing.assert_close(fused(*ours), model(*theirs), rtol=1e-4, atol=1e-4)
    for mine, right in zip(ours, theirs, strict=True):  # a graph may write into its arguments
        torch.testing.assert_close(mine, right, rtol=1e-4, atol=1e-4)
