"""Checks of the references' arguments."""

from __future__ import annotations

import math
import operator

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike

from gn_tutorial.errors import ArgumentError

# NumPy gives bfloat16 the kind "V" (raw bytes), so as_float64 cannot recognise it by its kind.
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def as_float64(value: ArrayLike, name: str) -> np.ndarray:
    """Return ``value`` as a float64 array. Raises ArgumentError for complex numbers, text and objects."""
    array = np.asarray(value)
    if array.dtype != _BFLOAT16 and array.dtype.kind not in "fiub":
        raise ArgumentError(
            f"{name} has dtype {array.dtype}; real numbers are needed",
            where=f"argument {name}",
            hint="convert it first",
        )
    return array.astype(np.float64)


def batch_of_channels(x: ArrayLike) -> np.ndarray:
    """Return ``x``, of shape ``(N, C, *spatial)``, as float64. Raises ArgumentError for another shape or dtype.

    The batch may be empty (N = 0), because then no mean is computed. No other axis may be: a mean would be 0 / 0.
    """
    array = as_float64(x, "x")
    if array.ndim < 2:
        raise ArgumentError(
            f"x has shape {array.shape}; at least two axes are needed",
            where="argument x",
            hint="the layout is (N, C, *spatial): batch, channels, then any number of spatial axes",
        )
    if 0 in array.shape[1:]:
        raise ArgumentError(
            f"x has shape {array.shape}: its channels hold no elements, so they have no mean",
            where="argument x",
            hint="only the batch axis may be empty",
        )
    return array


def checked_eps(eps: float) -> float:
    """Return ``eps`` as a float. Raises ArgumentError unless it is finite and greater than zero."""
    try:
        value = float(eps)
    except (TypeError, ValueError):
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise ArgumentError(
            f"eps is {eps!r}; it must be a number greater than zero",
            where="argument eps",
            hint="it keeps 1 / sqrt(variance + eps) finite where a group is constant; 1e-5 is usual",
        )
    return value


def checked_groups(num_groups: int, channels: int) -> int:
    """Return ``num_groups`` as an int. Raises ArgumentError unless it is a whole number that divides ``channels``."""
    try:
        groups = operator.index(num_groups)
    except TypeError:
        raise ArgumentError(
            f"num_groups is {num_groups!r}; a whole number is needed", where="argument num_groups"
        ) from None
    if groups < 1 or channels % groups:
        divisors = [str(n) for n in range(1, channels + 1) if channels % n == 0]
        raise ArgumentError(
            f"num_groups is {groups}, and x has {channels} channels: they cannot be shared out evenly",
            where="argument num_groups",
            hint=f"use a divisor of {channels}: {', '.join(divisors)}",
        )
    return groups


def affine(value: ArrayLike | None, name: str, shape: tuple[int, ...], meaning: str) -> np.ndarray | None:
    """Return ``value`` (gamma or beta) as float64; None for None.

    Raises ArgumentError for a shape other than ``shape``, or a dtype that is not real.
    name, meaning: the argument's name, and the meaning of ``shape``, for the error message.
    """
    if value is None:
        return None
    array = as_float64(value, name)
    if array.shape != shape:
        raise ArgumentError(
            f"{name} has shape {array.shape}; {shape} is needed, {meaning}",
            where=f"argument {name}",
            hint=f"leave {name} out for the plain normalisation",
        )
    return array
