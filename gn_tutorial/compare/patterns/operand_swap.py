"""Recognises wrong elements that equal an input at the same place: exchanged operands, or a tensor left unchanged.

::

    reference   x x z x z z x          exp(x)  exp(x)  exp(x)
    output      z z x z x x z               x       x       x
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from gn_tutorial.compare.evidence import FEWEST, OutputEvidence
from gn_tutorial.compare.tolerance import nearly_constant, within


def operand_swap(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence if two inputs are exchanged in all wrong elements, or if all of these equal one input.

    Inputs of another size than the output are left out.
    """
    if seen.count < FEWEST:
        return ()
    ours, truth = seen.output.reshape(-1)[seen.wrong], seen.reference.reshape(-1)[seen.wrong]
    inputs = {name: one for name, one in seen.launch.inputs.items() if _numbers(one, seen.output.size)}
    there = {name: one.reshape(-1)[seen.wrong] for name, one in inputs.items()}
    alike = {name: within(ours, values, seen.rtol, seen.atol) for name, values in there.items()}
    right = {name: within(truth, values, seen.rtol, seen.atol) for name, values in there.items()}
    for first, second in combinations(there, 2):
        exchanged = (alike[first] & right[second]) | (alike[second] & right[first])
        if exchanged.all() and (alike[first] != right[first]).all():
            return (
                f"where the reference has an element of {first}, all {seen.count} wrong ones are those of {second}, or"
                " the other way round: two operands are exchanged, or a condition is (Select takes the first where the"
                " bit is 1)",
            )
    varied = (name for name in there if alike[name].all() and not nearly_constant(ours, seen.rtol, seen.atol))
    holds = next(varied, None)
    return (
        (f"all {seen.count} wrong elements are those of {holds} at the same place, as they came in",) if holds else ()
    )


def _numbers(array: np.ndarray, size: int) -> bool:
    return array.size == size and array.dtype.kind != "b"
