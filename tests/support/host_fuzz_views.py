"""Tensors of a random call of the host API: their places in one arena, and whether two share a byte.

The API and this file share only the rules: here every question is answered from every element's address.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np

ARENA = 1 << 16
MOST_PLACES = 1 << 18
DTYPES = {0: np.dtype(np.float32), 1: np.dtype(np.float16), 27: np.dtype(ml_dtypes.bfloat16)}


@dataclass(frozen=True)
class View:
    """A tensor whose storage begins ``at`` bytes into the arena."""

    dims: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage: tuple[int, ...]
    dtype: int
    at: int

    def places(self) -> list[int]:
        """Return the byte offset of each element in the arena, in the order of indices."""
        if 0 in self.dims:
            return []  # product() would first make lists of the other axes, which may be long
        item = DTYPES[self.dtype].itemsize
        indices = itertools.product(*(range(count) for count in self.dims))
        return [
            self.at + item * (self.offset + sum(i * step for i, step in zip(index, self.strides, strict=True)))
            for index in indices
        ]

    def once(self) -> View:
        """Return the view without its repetitions: the same places, with axes of stride 0 of length 1."""
        lengths = (min(count, 1) if step == 0 else count for count, step in zip(self.dims, self.strides, strict=True))
        return replace(self, dims=tuple(lengths))

    def can_be(self) -> bool:
        """Whether GnCreateTensor should accept it."""
        if max(len(self.dims), len(self.storage)) > 8 or min(
            (0, self.offset, *self.dims, *self.strides, *self.storage)
        ):
            return False
        item = DTYPES[self.dtype].itemsize if self.dtype in DTYPES else 1
        count, stored = math.prod(self.dims), math.prod(self.storage)
        if max(count, stored) >= 1 << 63:
            return False
        if count == 0:
            return True
        last = self.offset + sum((n - 1) * step for n, step in zip(self.dims, self.strides, strict=True))
        return last < stored and stored * item < 1 << 63 and self.at % item == 0

    def in_arena(self) -> bool:
        """Whether its storage fits into the arena, which the API cannot check."""
        item = DTYPES[self.dtype].itemsize if self.dtype in DTYPES else 8
        return self.at >= 0 and self.at + math.prod(self.storage) * item <= ARENA


def in_64_bits(number: int) -> int:
    return min(max(number, -(1 << 63)), (1 << 63) - 1)


def some_layout(rng: random.Random, dims: tuple[int, ...], dtype: int, at: int) -> View:
    axes, strides, step = list(range(len(dims))), [0] * len(dims), rng.choice((1, 1, 1, 2, 3))
    if rng.random() < 0.6:
        rng.shuffle(axes)
    for axis in reversed(axes):
        strides[axis] = step
        step = step * max(dims[axis], 1) + rng.choice((0, 0, 0, 1, 5))
    offset = rng.choice((0, 0, 3))
    return View(dims, tuple(strides), offset, (offset + step + 1,), dtype, at)


def room(slot: int) -> int:
    """Return the arena's byte where the tensor of a slot, 0 to 7, begins; right calls do not reach the next slot."""
    return 256 + slot * 8064


def apart(views: Mapping[str, View], outputs: Collection[str]) -> bool:
    """Whether each output's elements overlap neither each other nor another tensor."""
    seen = {name: view.once() for name, view in views.items()}
    if any(math.prod(view.dims) > MOST_PLACES for view in seen.values()):
        return False  # more than an arena holds: such a call is never run
    if any(math.prod(seen[name].dims) != math.prod(views[name].dims) for name in outputs):
        return False
    taken = {}
    for name, view in seen.items():
        starts, item = np.array(view.places(), np.int64), DTYPES[view.dtype].itemsize
        taken[name] = np.unique(starts[:, None] + np.arange(item)) if starts.size else starts
        if name in outputs and taken[name].size != starts.size * item:
            return False
    return not any(np.intersect1d(taken[one], taken[other]).size for one in outputs for other in views if one != other)
