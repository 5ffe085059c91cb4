"""The pass over graphs: what it leaves and why, and that it never changes what a graph computes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from fusion_support import NEAR, made, names, traced  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from thoroughness import examples  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from gn_tutorial.torch_ops.fusion import backend, fuse  # noqa: E402
from gn_tutorial.torch_ops.fusion.canonical import mutates  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


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
    """Types and shapes unknown to tracing are checked when the model runs; the report has those the compiler knows."""
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


@settings(max_examples=examples(60), deadline=None)
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
