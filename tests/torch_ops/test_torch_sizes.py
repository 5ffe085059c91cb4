"""Sizes that a compiled graph knows only at run time, such as those of a selection: computed or clearly refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_support import data, ours  # noqa: E402

from gn_tutorial import torch_ops  # noqa: E402, F401 - registers the operators
from gn_tutorial.errors import ArgumentError  # noqa: E402

SHAPE, GROUPS = (2, 6, 5, 7), 3
# Of PyTorch's compiler, about its own parts.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture(autouse=True)
def fresh_compiler() -> None:
    torch._dynamo.reset()  # here and below, because its import takes seconds, which collecting tests need not wait for


@pytest.fixture
def captured() -> Iterator[None]:
    """Without it the compiler would end the graph where such a size is made."""
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        yield


def with_gradients(function: Callable, *inputs: Tensor) -> list[Tensor]:
    y = function(*inputs)
    return [y, *torch.autograd.grad(y.sin().sum(), inputs)]


def places(x: Tensor) -> Tensor:
    """Where x is finite: for the compiler a list whose length is known only at run time."""
    return torch.nonzero(x.flatten() < torch.inf).flatten()


RUN_TIME: dict[str, Callable[[Tensor], Tensor]] = {
    "batch": lambda x: x[places(x[:, 0, 0, 0])],
    "batch of channels_last": lambda x: x.to(memory_format=torch.channels_last)[places(x[:, 0, 0, 0])],
    "width": lambda x: x[..., places(x[0, 0, 0])],
    "slice": lambda x: x[..., : len(places(x[0, 0, 0]))],
    "width, channels_last": lambda x: x[..., places(x[0, 0, 0])].contiguous(memory_format=torch.channels_last),
}


@pytest.mark.usefixtures("captured")
@pytest.mark.parametrize("cut", RUN_TIME.values(), ids=RUN_TIME)
def test_sizes_that_are_known_at_run_time(cut: Callable) -> None:
    x, weight, bias, _ = data(SHAPE)

    def norm(x: Tensor, weight: Tensor) -> Tensor:
        return ours(cut(x), weight, bias, GROUPS)

    inputs = [x.requires_grad_(), weight.requires_grad_()]
    compiled = torch.compile(norm, backend="aot_eager", fullgraph=True)
    for mine, right in zip(with_gradients(compiled, *inputs), with_gradients(norm, *inputs), strict=True):
        torch.testing.assert_close(mine, right)
        assert mine.stride() == right.stride()


@pytest.mark.usefixtures("captured")
def test_a_layout_that_is_known_only_at_run_time_is_refused() -> None:
    """Some channels of channels last: dense or not, the graph could only guess the strides of y."""
    x = data(SHAPE)[0]
    compiled = torch.compile(
        lambda x: ours(RUN_TIME["width, channels_last"](x)[:, :4], None, None, 2), backend="eager", fullgraph=True
    )
    with pytest.raises(Exception, match="the layout of x is known only at run time"):
        compiled(x)


@pytest.mark.usefixtures("captured")
@pytest.mark.parametrize("count", [3, 4])
def test_a_number_of_groups_that_is_known_at_run_time(count: int) -> None:
    x, weight, bias, _ = data(SHAPE)
    compiled = torch.compile(
        lambda x, some: ours(x, weight, bias, len(places(some))), backend="aot_eager", fullgraph=True
    )
    if count == 3:
        torch.testing.assert_close(compiled(x, torch.ones(3)), ours(x, weight, bias, 3), rtol=0, atol=0)
    else:  # by the kernel, which gets the number
        with pytest.raises(ArgumentError, match="cannot be divided into num_groups = 4"):
            compiled(x, torch.ones(count))
