"""Recognises elements that still hold the poison from before the launch, because no copy out reached them.

::

    output      y y y y y y # # # # y y y y y y # # # #      # is poison
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.elements import spots
from gn_tutorial.compare.evidence import OutputEvidence
from gn_tutorial.runtime.launch_types import FLOAT_POISON, POISON_BYTE
from gn_tutorial.translation.texts import translated


def unwritten(array: np.ndarray) -> np.ndarray:
    """Return, for each element of a flat output, whether it still holds poison."""
    pattern = FLOAT_POISON.get(array.dtype.name)
    if pattern is None:
        return (array.view(np.uint8).reshape(array.size, array.itemsize) == POISON_BYTE).all(axis=1)
    return array.view(f"u{array.dtype.itemsize}") == pattern


def unwritten_part(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence for an exercise if the output, or a part of it, was not written."""
    holes = unwritten(seen.output.reshape(-1))
    if not holes.any():
        return ()
    if holes.all():
        return (translated("{name} was never written: the kernel copies nothing out").format(name=seen.name),)
    words = translated("part of {name} was never written: {spots}, {count} of {all} elements")
    text = words.format(name=seen.name, spots=spots(seen.name, holes), count=int(holes.sum()), all=holes.size)
    return (text,)
