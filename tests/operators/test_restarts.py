"""A running sum that starts anew in each tile, and what is none."""

from __future__ import annotations

import numpy as np
import pytest

from gn_tutorial.operators.restarts import restarts

X = np.random.default_rng(2).standard_normal((3, 100)) + 0.3


def anew(x: np.ndarray, tile: int) -> np.ndarray:
    """Running sums along the last axis that begin again every ``tile`` elements."""
    parts = [np.cumsum(x[..., at : at + tile], axis=-1) for at in range(0, x.shape[-1], tile)]
    return np.concatenate(parts, axis=-1)


@pytest.mark.parametrize(("x", "tile"), [(X, 25), (X, 48), (X[0], 10), (X[:1].repeat(2, 0), 8)])
def test_sums_that_start_anew_are_named_with_their_tile(x: np.ndarray, tile: int) -> None:
    (said,) = restarts(anew(x, tile), np.cumsum(x, axis=-1), 1e-6, 1e-6)
    assert said.startswith(f"each {tile} elements lack what the reference has just before them")


@pytest.mark.parametrize(
    "wrong",
    [
        np.cumsum(X, axis=-1),  # right
        np.cumsum(X, axis=-1) + (np.arange(100) >= 25),  # off by one number
        anew(X, 25) * 2,
        anew(X, 4),  # too short to be told from chance
        np.where(np.arange(100) < 25, np.cumsum(X, axis=-1), np.nan),
        np.cumsum(X, axis=-1)[:, ::-1],
    ],
    ids=["right", "constant", "twice", "short", "nan", "reversed"],
)
def test_other_outputs_are_not(wrong: np.ndarray) -> None:
    assert restarts(wrong, np.cumsum(X, axis=-1), 1e-6, 1e-6) == ()


def test_other_shapes_say_nothing() -> None:
    assert restarts(X[0], X, 0, 0) == ()
    assert restarts(np.float32(1)[()].reshape(()), np.zeros(()), 0, 0) == ()
