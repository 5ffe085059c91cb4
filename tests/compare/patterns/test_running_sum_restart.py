"""A running sum that starts anew in each tile, and what is none."""

from __future__ import annotations

import numpy as np
import pytest
from compare_support import said_by

from gn_tutorial.compare.patterns import running_sum_restart

X = np.random.default_rng(2).standard_normal((3, 100)) + 0.3


def said(output: np.ndarray, reference: np.ndarray) -> tuple[str, ...]:
    return said_by(running_sum_restart.running_sum_restart, output=output, reference=reference, rtol=1e-6, atol=1e-6)


def anew(x: np.ndarray, tile: int) -> np.ndarray:
    """Running sums along the last axis that begin again every ``tile`` elements."""
    parts = [np.cumsum(x[..., at : at + tile], axis=-1) for at in range(0, x.shape[-1], tile)]
    return np.concatenate(parts, axis=-1)


@pytest.mark.parametrize(("x", "tile"), [(X, 25), (X, 48), (X[0], 10), (X[:1].repeat(2, 0), 8)])
def test_sums_that_start_anew_are_named_with_their_tile(x: np.ndarray, tile: int) -> None:
    (hint,) = said(anew(x, tile), np.cumsum(x, axis=-1))
    assert hint.startswith(f"each {tile} elements lack what the reference has just before them")


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
    assert said(wrong, np.cumsum(X, axis=-1)) == ()


def test_other_shapes_say_nothing() -> None:
    assert said(X[0], X) == ()
    assert said(np.float32(1)[()].reshape(()), np.zeros(())) == ()
