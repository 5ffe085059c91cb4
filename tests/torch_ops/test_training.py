"""Training on real digits: the net of ``gn_tutorial.torch_ops.training``, with our GroupNorm and with the built-in."""

from __future__ import annotations

import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")

from torch import Tensor  # noqa: E402

from gn_tutorial import nn  # noqa: E402
from gn_tutorial.errors import ArgumentError, GntError  # noqa: E402
from gn_tutorial.torch_ops import training  # noqa: E402
from gn_tutorial.torch_ops.training import Curve, train_digits  # noqa: E402

# The first steps show rounding alone. Later a rounding error can turn the choice of a maximum, and the losses, by then
# near 0, drift apart; that both nets know the digits is what must stay.
FIRST = 20
STEPS = 150


@pytest.fixture(scope="module")
def curves() -> tuple[Curve, Curve]:
    return train_digits(nn.GroupNorm, steps=STEPS), train_digits(torch.nn.GroupNorm, steps=STEPS)


def drift(mine: Curve, right: Curve) -> float:
    """The largest relative difference of the first steps' losses."""
    pairs = zip(mine.losses[:FIRST], right.losses[:FIRST], strict=True)
    return max(abs(one - other) / abs(other) for one, other in pairs)


def test_the_first_losses_are_those_of_the_built_in(curves: tuple[Curve, Curve]) -> None:
    mine, right = curves
    assert len(mine.losses) == len(right.losses) == STEPS
    assert right.losses[FIRST - 1] < 0.5 * right.losses[0]  # it learns, so the comparison is about something
    assert drift(mine, right) < 1e-4


def test_both_know_the_held_out_digits(curves: tuple[Curve, Curve]) -> None:
    mine, right = curves
    assert min(mine.accuracy, right.accuracy) > 0.95
    assert abs(mine.accuracy - right.accuracy) <= 0.01


class Skewed(nn.GroupNorm):
    """With a gradient of x that is 1 % too long."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        return super().forward(input * 1.01 - input.detach() * 0.01)


class Unbiased(nn.GroupNorm):
    """With a bias that is never learnt."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        return torch.nn.functional.group_norm(input, self.num_groups, self.weight, self.bias.detach(), self.eps)


@pytest.mark.parametrize("norm", [Skewed, Unbiased])
def test_a_slightly_wrong_gradient_is_seen(norm: type, curves: tuple[Curve, Curve]) -> None:
    """So that the bound above means something."""
    assert drift(train_digits(norm, steps=FIRST), curves[1]) > 1e-3


def test_the_same_seed_is_the_same_training_whatever_the_layers_draw() -> None:
    class Drawing(torch.nn.GroupNorm):
        def __init__(self, *sizes: int) -> None:
            super().__init__(*sizes)
            torch.rand(5)

    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    first, again, drawing = (train_digits(kind, steps=3, seed=4) for kind in (nn.GroupNorm, nn.GroupNorm, Drawing))
    assert first == again
    assert torch.equal(torch.random.get_rng_state(), before)
    assert drawing.losses == pytest.approx(first.losses, rel=1e-5)
    other = train_digits(nn.GroupNorm, steps=3, seed=5)
    assert abs(other.losses[0] - first.losses[0]) > 1e-3 * first.losses[0]


def test_it_works_on_one_thread_and_leaves_as_many_as_there_were() -> None:
    """More are no faster on images of 8 x 8, and wait for one another where the machine does other work."""
    seen = []

    class Looking(torch.nn.GroupNorm):
        def forward(self, input: Tensor) -> Tensor:  # noqa: A002
            seen.append(torch.get_num_threads())
            if len(seen) == 9:
                raise ValueError
            return super().forward(input)

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        train_digits(Looking, steps=2)
        assert (seen, torch.get_num_threads()) == ([1] * 6, 3)  # two layers in two steps, and once for the held-out
        with pytest.raises(ValueError):
            train_digits(Looking, steps=2)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_the_layers_are_asked_for_by_groups_and_channels() -> None:
    asked = []

    def norm(groups: int, channels: int) -> torch.nn.Module:
        asked.append((groups, channels))
        return torch.nn.GroupNorm(groups, channels)

    train_digits(norm, steps=1)
    assert asked == [(4, 16), (8, 32)]


def test_no_digit_is_both_seen_and_held_out_and_a_round_of_batches_repeats_none() -> None:
    seen, held_out = training.load_digits()
    assert (len(seen.labels), len(held_out.labels)) == (1347, 450)
    assert seen.images.shape == (1347, 1, 8, 8)
    assert 0 == seen.images.min() < seen.images.max() == 1
    assert set(held_out.labels.tolist()) == set(range(10))
    numbered = training.Digits(torch.arange(1347.0)[:, None, None, None], torch.arange(1347))
    batches = training.endless_batches(numbered, 3)
    rounds = [torch.cat([next(batches).labels for _ in range(21)]) for _ in range(2)]
    assert [len(one.unique()) for one in rounds] == [21 * 64] * 2
    assert not torch.equal(*rounds)


@pytest.mark.parametrize(
    ("norm", "steps", "text"),
    [
        (nn.GroupNorm, 0, "steps is 0; it must be at least 1"),
        (nn.GroupNorm(4, 16), 1, "norm is GroupNorm: it must make layers, not be one"),
        ("GroupNorm", 1, "norm is str: it must make layers"),
    ],
    ids=str,
)
def test_wrong_arguments_are_named(norm: object, steps: int, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        train_digits(norm, steps=steps)


def test_without_scikit_learn_the_error_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)  # what an import finds is then nothing
    with pytest.raises(GntError, match="scikit-learn has the digits") as caught:
        train_digits(torch.nn.GroupNorm, steps=1)
    assert "./gnt torch installs it" in caught.value.hint
