"""The evidence that patterns look at: an output, its reference, which elements are wrong, and facts of the launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gn_tutorial.compare.tolerance import in_float64
from gn_tutorial.diagnostics.findings import Diagnostic

#: The least number of elements for a pattern: fewer may fit it by chance.
FEWEST = 8


@dataclass(frozen=True)
class KnownLaunch:
    """Facts about the launch that made an output.

    blocks: how many ran. inputs: arrays that the kernel only read, by name. warned: whether the launch has a warning,
    which may already explain a wrong output. notes: facts from the twin that are not mistakes, such as inputs that
    nothing has read.
    """

    blocks: int = 1
    inputs: Mapping[str, np.ndarray] = field(default_factory=dict)
    warned: bool = False
    notes: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, eq=False)
class OutputEvidence:
    """One output with its reference and its tolerance.

    output, reference: the given arrays. wrong: a flat mask of the elements out of tolerance; all of them if the shapes
    differ. rtol, atol: the tolerance; atol includes the term with the reference's largest element (``of_largest``).
    """

    name: str
    output: np.ndarray
    reference: np.ndarray
    wrong: np.ndarray
    rtol: float
    atol: float
    launch: KnownLaunch

    @cached_property
    def count(self) -> int:
        """How many elements are wrong."""
        return int(self.wrong.sum())

    @property
    def first(self) -> int:
        """Flat index of the first wrong element, -1 if none is."""
        return int(self.wrong.argmax()) if self.wrong.any() else -1

    @cached_property
    def ours(self) -> np.ndarray:
        """The output, flat and in float64."""
        return in_float64(self.output).reshape(-1)

    @cached_property
    def truth(self) -> np.ndarray:
        """The reference, flat and in float64."""
        return in_float64(self.reference).reshape(-1)

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The wrong elements of the output, and the right ones in their place."""
        return self.ours[self.wrong], self.truth[self.wrong]

    @cached_property
    def finite(self) -> bool:
        """Whether at least FEWEST elements are wrong, all of these are finite, and so is the whole reference."""
        enough = self.count >= FEWEST
        return bool(enough and np.isfinite(self.truth).all() and np.isfinite(self.pairs[0]).all())


def stretches(mask: np.ndarray) -> np.ndarray:
    """Return the stretches in which a flat mask is true: an array of shape (number, 2), their starts and ends."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return edges.reshape(-1, 2)
