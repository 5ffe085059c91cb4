"""Makes the values of a drawn input: ordinary numbers, and kinds for which operators often differ from references."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.random_inputs import random_array

#: Random numbers like those of ``gnt project run --in x=float16[8] --seed N``.
ORDINARY = "ordinary"
_OF_FLOATS = ("zeros", "equal", "negative", "large", "tiny", "nan", "infinity", "extremes")
_OF_INTEGERS = ("zeros", "small", "equal", "negative", "extremes")
_OF_UNSIGNED = ("zeros", "small", "equal", "extremes")
_OF_BOOL = ("zeros", "equal")
#: All kinds of values, for options and messages.
VALUES = (ORDINARY, *dict.fromkeys((*_OF_FLOATS, *_OF_INTEGERS)))
#: The factors that make ordinary float16 numbers large or tiny. Other dtypes use 1e6 and 1e-30. Most numbers that are
#: 100 times larger have squares within float16's range, so few squares overflow.
_LARGE, _TINY = {"float16": 100.0}, {"float16": 1e-4}
_PART = 8


def kinds_of(dtype: str) -> tuple[str, ...]:
    """Return the kinds of values that an input of this dtype can have, ORDINARY first."""
    kind = as_dtype(dtype).kind
    return (ORDINARY, *{"b": _OF_BOOL, "i": _OF_INTEGERS, "u": _OF_UNSIGNED}.get(kind, _OF_FLOATS))


def make_array(kind: str, shape: Sequence[int], dtype: str, rng: np.random.Generator) -> np.ndarray:
    """Return an array with values of this kind. The same state of ``rng`` gives the same array."""
    found = as_dtype(dtype)
    if kind == "zeros":
        return np.zeros(shape, found)
    base = random_array(rng, shape, found)
    if kind == ORDINARY or base.size == 0:
        return base
    # asarray, because NumPy returns scalars for arrays without axes.
    return np.asarray((_integers if found.kind in "iub" else _floats)(kind, base, rng), found)


def _integers(kind: str, base: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if base.dtype.kind == "b":
        return np.ones_like(base)
    info = np.iinfo(base.dtype)
    if kind == "equal":
        return np.full_like(base, 3)
    if kind == "small":  # such as indices
        return rng.integers(0, 4, base.shape).astype(base.dtype)
    if kind == "negative":
        return -np.abs(base)
    return rng.choice(np.array([info.max, info.min, 0, 1], base.dtype), base.shape)


def _floats(kind: str, base: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    info = ml_dtypes.finfo(base.dtype)
    if kind == "equal":
        return np.full_like(base, 1.5)
    if kind == "negative":
        return -np.abs(base)
    if kind in ("large", "tiny"):
        factor = _LARGE.get(base.dtype.name, 1e6) if kind == "large" else _TINY.get(base.dtype.name, 1e-30)
        return (base.astype(np.float64) * factor).astype(base.dtype)
    if kind == "extremes":
        ends = np.array([info.max, info.smallest_normal, info.smallest_subnormal, 0.0], np.float64).astype(base.dtype)
        return rng.choice(ends, base.shape) * rng.choice(np.array([1, -1], base.dtype), base.shape)
    values = base.reshape(-1).copy()
    places = rng.choice(values.size, max(1, values.size // _PART), replace=False)
    values[places] = np.nan if kind == "nan" else np.where(places % 2 == 0, np.inf, -np.inf)
    return values.reshape(base.shape)
