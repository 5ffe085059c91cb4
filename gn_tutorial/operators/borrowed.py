"""Wrong outputs that are an input at the same place: what exchanged operands look like beside a reference."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from gn_tutorial.operators.comparison import constant, within

#: Fewer elements may be alike by chance; the most elements of an output.
_FEWEST, _ELEMENTS = 8, 1 << 22


def borrowed(
    actual: np.ndarray, golden: np.ndarray, inputs: Mapping[str, np.ndarray], rtol: float, atol: float
) -> tuple[str, ...]:
    """A sentence about the input that all wrong elements are equal to, and about the one that should be there.

    actual, golden: arrays of one shape. inputs: of the launch, by name; those of another size are left out.
    """
    if actual.shape != golden.shape or actual.size > _ELEMENTS:
        return ()
    wrong = ~within(actual, golden, rtol, atol).reshape(-1)
    count = int(wrong.sum())
    if count < _FEWEST:
        return ()
    ours, truth = actual.reshape(-1)[wrong], golden.reshape(-1)[wrong]
    there = {name: array.reshape(-1)[wrong] for name, array in inputs.items() if _numbers(array, actual.size)}
    alike = {name: within(ours, values, rtol, atol) for name, values in there.items()}
    right = {name: within(truth, values, rtol, atol) for name, values in there.items()}
    for first, second in combinations(there, 2):
        exchanged = (alike[first] & right[second]) | (alike[second] & right[first])
        if exchanged.all() and (alike[first] != right[first]).all():
            return (
                f"where the reference has an element of {first}, all {count} wrong ones are those of {second}, or the"
                " other way round: two operands are exchanged, or a condition is (Select takes the first where the bit"
                " is 1)",
            )
    holds = next((name for name in there if alike[name].all() and not constant(ours, rtol, atol)), None)
    if holds is None:
        return ()
    return (f"all {count} wrong elements are those of {holds} at the same place, as they came in",)


def _numbers(array: np.ndarray, size: int) -> bool:
    return array.size == size and array.dtype.kind != "b"
