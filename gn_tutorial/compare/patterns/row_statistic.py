"""Recognises wrong rows that a wrong number of the row explains: a mean, a root, or a sum that was not cleared.

::

    reference   a b c d          output   a+m b+m c+m d+m     its mean is off by m
                e f g h                   e+n f+n g+n h+n     and the next row's by n
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.evidence import FEWEST, OutputEvidence

#: The least number of wrong rows if they have few elements each: fewer may be sums by chance.
_FEWEST_ROWS = 3
#: In tolerances: errors must be at least _CLEAR, and a row must be within _NEAR of what a number of it predicts.
_CLEAR, _NEAR = 20.0, 4.0


def row_statistic(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence if an earlier row is added to each wrong row, or if one or two numbers of a row explain it.

    Rows are along the last axis. If there is only one axis, each element is a row.
    """
    if seen.output.ndim == 0:
        return ()
    length = seen.output.shape[-1] if seen.output.ndim > 1 else 1
    ours, truth, bad = (one.reshape(-1, length) for one in (seen.ours, seen.truth, seen.wrong))
    wrong = np.flatnonzero(bad.any(axis=1))
    if not np.isfinite(ours[wrong]).all() or not np.isfinite(truth).all():
        return ()
    x, y, first = ours[wrong], truth[wrong], int(wrong[0])
    kept = _kept(seen, ours, truth, wrong)
    if kept or length < FEWEST:
        return kept
    return _one_number(seen, x, y, first) or _squares(seen, x, y) or _two_numbers(seen, x, y, first)


def _kept(seen: OutputEvidence, ours: np.ndarray, truth: np.ndarray, wrong: np.ndarray) -> tuple[str, ...]:
    """Return a sentence if each wrong row is its reference plus the row before it, or the row its block made before."""
    if len(wrong) < (_FEWEST_ROWS if truth.shape[1] < FEWEST else 2):
        return ()
    for step in dict.fromkeys((1, seen.launch.blocks)):  # rows are often dealt out to the blocks in turn
        if wrong[0] < step:
            continue
        sums = truth[wrong] + ours[wrong - step]
        slack = _NEAR * (seen.atol + seen.rtol * np.abs(sums).max())
        if (np.abs(ours[wrong] - sums) > slack).any() or np.abs(ours[wrong - step]).max() < _CLEAR * slack:
            continue
        what, places = ("row", "rows") if truth.shape[1] > 1 else ("element", "places")
        return (
            f"each wrong {what} is the reference's plus what came out {step} {places if step > 1 else places[:-1]}"
            " before: something that is added up keeps its value. Clear it (Duplicate with 0) before each new sum",
        )
    return ()


def _one_number(seen: OutputEvidence, x: np.ndarray, y: np.ndarray, first: int) -> tuple[str, ...]:
    """Return a sentence if all elements of a wrong row are off by one number, or all by one factor."""
    slack = seen.atol + seen.rtol * np.abs(y).max(axis=1, keepdims=True)
    if (np.ptp(y, axis=1, keepdims=True) < _CLEAR * slack).any() or (np.abs(x - y) < _CLEAR * slack).all():
        return ()
    shift = np.median(x - y, axis=1, keepdims=True)
    if (np.abs(x - y - shift) <= _NEAR * slack).all():
        more = f"{abs(shift[0, 0]):.3g} {'more' if shift[0, 0] > 0 else 'less'} than the reference"
        return (
            f"in each wrong row all elements are off by the same number (row {first}: {more}): a number of the row,"
            " such as its mean or maximum, is wrong; look at what it takes in",
        )
    factor = _at_largest(x, y)
    if not factor.any() or (np.abs(x - factor * y) > _NEAR * np.maximum(np.abs(factor), 1) * slack).any():
        return ()
    return (
        f"in each wrong row all elements are off by the same factor (row {first}: {factor[0, 0]:.3g} times the"
        " reference): a number of the row, such as its sum or root, is wrong; look at what it takes in",
    )


def _squares(seen: OutputEvidence, x: np.ndarray, y: np.ndarray) -> tuple[str, ...]:
    """Return a sentence if each wrong row is the squares of its reference times one number of the row."""
    factor = _at_largest(x, y * y)
    slack = _NEAR * (seen.atol + seen.rtol * np.abs(x).max(axis=1, keepdims=True))
    apart = (np.abs(x - factor * y * y) > slack).any() or (np.ptp(x, axis=1) < _CLEAR * slack[:, 0]).any()
    if apart or not y.any(axis=1).all():
        return ()
    return (
        "in each wrong row all elements are the squares of the reference, times one number: a tensor was overwritten"
        " with its squares, and read again; write them to another tensor",
    )


def _two_numbers(seen: OutputEvidence, x: np.ndarray, y: np.ndarray, first: int) -> tuple[str, ...]:
    """Return a sentence if each wrong row is its reference times one number, plus another number."""
    slack = seen.atol + seen.rtol * np.maximum(np.abs(x), np.abs(y)).max(axis=1, keepdims=True)
    if (np.ptp(y, axis=1, keepdims=True) < _CLEAR * slack).any() or (np.abs(x - y) < _CLEAR * slack).all():
        return ()
    middle_x, middle_y = x.mean(axis=1, keepdims=True), y.mean(axis=1, keepdims=True)
    spread = ((y - middle_y) ** 2).sum(axis=1, keepdims=True)
    factor = ((x - middle_x) * (y - middle_y)).sum(axis=1, keepdims=True) / spread
    more = middle_x - factor * middle_y
    if not factor.all() or (np.abs(x - factor * y - more) > _NEAR * slack).any():
        return ()
    return (
        "in each wrong row all elements are a multiple of the reference and a number more (row"
        f" {first}: {factor[0, 0]:.3g} times, {more[0, 0]:.3g} more): two numbers of the row, such as its mean and its"
        " root, are wrong, or a sign is",
    )


def _at_largest(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return, for each row, the quotient of x and y at the largest element of y."""
    largest = np.abs(y).argmax(axis=1)[:, None]
    top = np.take_along_axis(y, largest, axis=1)
    return np.take_along_axis(x, largest, axis=1) / np.where(top == 0, 1, top)
