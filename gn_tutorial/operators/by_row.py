"""Wrong rows that differ from their references in one number each: a wrong mean or root, or a sum that was kept."""

from __future__ import annotations

import numpy as np

from gn_tutorial.operators.comparison import within

#: Elements of a row, below which it may agree by chance; wrong rows of one element; the most elements of an output.
_FEWEST, _FEWEST_ROWS, _ELEMENTS = 8, 3, 1 << 22
#: How much more than the tolerance a number must be to be named, and how near a row must then be.
_CLEAR, _NEAR = 20.0, 4.0


def by_row(actual: np.ndarray, golden: np.ndarray, blocks: int, rtol: float, atol: float) -> tuple[str, ...]:
    """A sentence about wrong rows: each holds an earlier one too, or is off by one number or factor of its own.

    actual, golden: arrays of one shape; a row is along the last axis, or one element of a single axis. blocks: of the
    launch, since rows are often dealt out to them in turn.
    """
    if actual.shape != golden.shape or actual.ndim == 0 or not 0 < actual.size <= _ELEMENTS:
        return ()
    length = actual.shape[-1] if actual.ndim > 1 else 1
    ours, truth = (one.astype(np.float64).reshape(-1, length) for one in (actual, golden))
    wrong = np.flatnonzero(~within(ours, truth, rtol, atol).all(axis=1))
    if not len(wrong) or not np.isfinite(ours[wrong]).all() or not np.isfinite(truth).all():
        return ()
    kept = _kept(ours, truth, wrong, blocks, rtol, atol)
    x, y = ours[wrong], truth[wrong]
    return (
        kept
        or _one_number(x, y, int(wrong[0]), rtol, atol)
        or _squares(x, y, rtol, atol)
        or _two_numbers(x, y, int(wrong[0]), rtol, atol)
    )


def _kept(
    ours: np.ndarray, truth: np.ndarray, wrong: np.ndarray, blocks: int, rtol: float, atol: float
) -> tuple[str, ...]:
    """Rows that are their references and what came out some rows before."""
    if len(wrong) < (_FEWEST_ROWS if truth.shape[1] < _FEWEST else 2):
        return ()
    for step in dict.fromkeys((1, blocks)):
        if wrong[0] < step:
            continue
        sums = truth[wrong] + ours[wrong - step]
        slack = _NEAR * (atol + rtol * np.abs(sums).max())
        if (np.abs(ours[wrong] - sums) > slack).any() or np.abs(ours[wrong - step]).max() < _CLEAR * slack:
            continue
        what, places = ("row", "rows") if truth.shape[1] > 1 else ("element", "places")
        return (
            f"each wrong {what} is the reference's plus what came out {step} {places if step > 1 else places[:-1]}"
            " before: something that is added up keeps its value. Clear it (Duplicate with 0) before each new sum",
        )
    return ()


def _one_number(x: np.ndarray, y: np.ndarray, first: int, rtol: float, atol: float) -> tuple[str, ...]:
    """Rows that are off by one number each, or by one factor."""
    if x.shape[1] < _FEWEST:
        return ()
    slack = atol + rtol * np.abs(y).max(axis=1, keepdims=True)
    if (np.ptp(y, axis=1, keepdims=True) < _CLEAR * slack).any() or (np.abs(x - y) < _CLEAR * slack).all():
        return ()
    shift = np.median(x - y, axis=1, keepdims=True)
    if (np.abs(x - y - shift) <= _NEAR * slack).all():
        more = f"{abs(shift[0, 0]):.3g} {'more' if shift[0, 0] > 0 else 'less'} than the reference"
        return (
            f"in each wrong row all elements are off by the same number (row {first}: {more}): a number of the row,"
            " such as its mean or maximum, is wrong; look at what it takes in",
        )
    largest = np.abs(y).argmax(axis=1)[:, None]
    top = np.take_along_axis(y, largest, axis=1)
    factor = np.take_along_axis(x, largest, axis=1) / np.where(top == 0, 1, top)
    if not factor.any() or (np.abs(x - factor * y) > _NEAR * np.maximum(np.abs(factor), 1) * slack).any():
        return ()
    return (
        f"in each wrong row all elements are off by the same factor (row {first}: {factor[0, 0]:.3g} times the"
        " reference): a number of the row, such as its sum or root, is wrong; look at what it takes in",
    )


def _squares(x: np.ndarray, y: np.ndarray, rtol: float, atol: float) -> tuple[str, ...]:
    """Rows that are the squares of their references, times a number each."""
    if x.shape[1] < _FEWEST or not y.any(axis=1).all():
        return ()
    squares = y * y
    largest = squares.argmax(axis=1)[:, None]
    factor = np.take_along_axis(x, largest, axis=1) / np.take_along_axis(squares, largest, axis=1)
    slack = _NEAR * (atol + rtol * np.abs(x).max(axis=1, keepdims=True))
    if (np.abs(x - factor * squares) > slack).any() or (np.ptp(x, axis=1) < _CLEAR * slack[:, 0]).any():
        return ()
    return (
        "in each wrong row all elements are the squares of the reference, times one number: a tensor was overwritten"
        " with its squares, and read again; write them to another tensor",
    )


def _two_numbers(x: np.ndarray, y: np.ndarray, first: int, rtol: float, atol: float) -> tuple[str, ...]:
    """Rows that are a multiple of their references and a number more, two numbers for each row."""
    middle_x, middle_y = x.mean(axis=1, keepdims=True), y.mean(axis=1, keepdims=True)
    spread = ((y - middle_y) ** 2).sum(axis=1, keepdims=True)
    slack = atol + rtol * np.maximum(np.abs(x), np.abs(y)).max(axis=1, keepdims=True)
    if x.shape[1] < _FEWEST or (np.ptp(y, axis=1, keepdims=True) < _CLEAR * slack).any():
        return ()
    if (np.abs(x - y) < _CLEAR * slack).all():
        return ()
    factor = ((x - middle_x) * (y - middle_y)).sum(axis=1, keepdims=True) / spread
    more = middle_x - factor * middle_y
    if not factor.all() or (np.abs(x - factor * y - more) > _NEAR * slack).any():
        return ()
    return (
        "in each wrong row all elements are a multiple of the reference and a number more (row"
        f" {first}: {factor[0, 0]:.3g} times, {more[0, 0]:.3g} more): two numbers of the row, such as its mean and its"
        " root, are wrong, or a sign is",
    )
