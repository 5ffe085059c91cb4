"""The accuracy standard of the Ascend operator ecosystem (生态算子开源精度标准): MERE and MARE against float64.

A relative error is ``|out - golden| / (|golden| + 1e-7)``. MERE is the mean of them, MARE the largest. With the unit T
of the output's dtype the standard asks for MERE < T and MARE < 10 T.

Near zero a relative error says little: an error that is harmless beside the terms of a sum is large beside a sum that
happens to be nearly 0. So MARE leaves out the elements whose |golden| is below ``small``. Such an element is a miss if
its absolute error is above ``small_error``. The allowed number of misses is twice that of another implementation of the
same dtype, or 2 if that has none or is not given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gn_tutorial.compare.tolerance import FLOOR
from gn_tutorial.errors import ArgumentError
from gn_tutorial.tables import html_table, text_table

#: MARE must be below this many times T.
MARE_FACTOR = 10
#: The misses near zero, and the MARE, may be this many times those of another implementation.
BASELINE_FACTOR = 2
HEADERS = ("", "found", "allowed", "verdict")


@dataclass(frozen=True)
class Standard:
    """The bounds of one output dtype.

    unit: T. small: an element with a smaller |golden| is near zero. small_error: the absolute error that it may have.
    """

    unit: float
    small: float
    small_error: float


#: Output dtype -> its bounds. For the two narrow dtypes T is the unit in the last place of 1. For float32 it is 2^10
#: times that, because there is no wider type to take sums in.
STANDARDS = {
    "float16": Standard(2.0**-10, 2.0**-11, 2.0**-16),
    "bfloat16": Standard(2.0**-7, 2.0**-8, 2.0**-16),
    "float32": Standard(2.0**-13, 2.0**-14, 2.0**-30),
}


@dataclass(frozen=True, repr=False)
class Accuracy:
    """The errors of an output beside the bounds of the standard. ``ok`` and ``strict`` are verdicts.

    mere: mean relative error of all elements. mare: largest relative error of the elements that are not near zero.
    mare_all: largest relative error of all elements. near_zero: the number of elements near zero. misses: how many of
    these have too large an absolute error. baseline: the errors of another implementation, if one was given. worst: the
    flat index of the element with the largest relative error; -1 if the output is empty.
    """

    dtype: str
    elements: int
    mere: float
    mare: float
    mare_all: float
    near_zero: int
    misses: int
    baseline: Accuracy | None = None
    worst: int = -1

    @property
    def standard(self) -> Standard:
        """The bounds that hold for this dtype."""
        return STANDARDS[self.dtype]

    @property
    def mare_limit(self) -> float:
        """The bound of MARE: 10 T, or twice the baseline's MARE if that is more.

        An error that another implementation also has comes from the dtype, and is no fault.
        """
        own = MARE_FACTOR * self.standard.unit
        # A baseline with a NaN or an infinite error raises no limit.
        if self.baseline is None or not np.isfinite(self.baseline.mare):
            return own
        return max(own, BASELINE_FACTOR * self.baseline.mare)

    @property
    def misses_limit(self) -> int:
        """How many misses near zero are allowed."""
        return BASELINE_FACTOR * max(self.baseline.misses if self.baseline else 0, 1)

    @property
    def used(self) -> float:
        """The largest of MERE, MARE and the misses, each divided by its bound. Below 1 the output is ``ok``."""
        shares = (self.mere / self.standard.unit, self.mare / self.mare_limit, self.misses / (self.misses_limit + 1))
        return max(shares)

    @property
    def strict(self) -> bool:
        """Whether MERE < T and MARE < 10 T for all elements: the standard without its rule for small values."""
        return self.mere < self.standard.unit and self.mare_all < MARE_FACTOR * self.standard.unit

    @property
    def ok(self) -> bool:
        """Whether MERE of all elements, MARE of those not near zero, and the misses near zero are within bounds."""
        return self.used < 1

    def cells(self) -> list[tuple[str, ...]]:
        """Return the rows of the table under ``HEADERS``, as text."""
        unit = self.standard.unit
        rows = [("MERE", self.mere, unit), ("MARE", self.mare, self.mare_limit)]
        cells = [(name, _number(found), f"< {limit:.2e}", _verdict(found < limit)) for name, found, limit in rows]
        found = f"{self.misses:,} of {self.near_zero:,}"
        limit = f"<= {self.misses_limit:,}"
        return [*cells, ("misses near zero", found, limit, _verdict(self.misses <= self.misses_limit))]

    def title(self) -> str:
        """Return the verdict in one line."""
        return f"{self.dtype}, {self.elements:,} elements: {'passes' if self.ok else 'FAILS'} the accuracy standard"

    def __repr__(self) -> str:
        return f"{self.title()}\n{text_table(HEADERS, self.cells(), indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table(HEADERS, self.cells(), caption=self.title())


def accuracy(out: np.ndarray, golden: np.ndarray, baseline: np.ndarray | None = None) -> Accuracy:
    """Return the errors of an output, and its verdict by the accuracy standard.

    out: float16, bfloat16 or float32, any shape. golden: float64 of the same shape, computed from the very numbers that
    ``out`` was computed from, that is from the inputs after their rounding to the narrow dtype. baseline: what another
    implementation gives for the same input, with the dtype and shape of ``out``.

    If golden in the output's dtype is NaN or infinity, an element with the same NaN or infinity has no error. Any other
    NaN or infinity is an infinite error. Raises ArgumentError for arrays that do not fit.
    """
    out, golden = np.asarray(out), np.asarray(golden)
    if out.dtype.name not in STANDARDS:
        raise ArgumentError(
            f"the standard has no bounds for {out.dtype.name}",
            where="argument out",
            hint=f"one of {', '.join(STANDARDS)}",
        )
    if golden.dtype != np.float64:
        raise ArgumentError(
            f"golden is {golden.dtype.name}, whose own rounding would count as an error of out",
            where="argument golden",
            hint="compute it in float64, as gn_tutorial.reference does",
        )
    _check_shape("golden", golden, out)
    other = None
    if baseline is not None:
        baseline = np.asarray(baseline)
        if baseline.dtype != out.dtype:
            raise ArgumentError(
                f"baseline is {baseline.dtype.name}, out is {out.dtype.name}",
                where="argument baseline",
                hint="give another implementation's result in the dtype of out",
            )
        _check_shape("baseline", baseline, out)
        other = accuracy(baseline, golden)
    standard = STANDARDS[out.dtype.name]
    errors = _errors(out, golden)
    size = np.abs(golden)
    # An infinite error divided by an infinite golden would give NaN, which hides the error.
    relative = np.where(np.isfinite(errors), errors / (np.where(np.isfinite(size), size, 0.0) + FLOOR), np.inf)
    small = size < standard.small
    return Accuracy(
        dtype=out.dtype.name,
        elements=out.size,
        mere=float(relative.mean()) if out.size else 0.0,
        mare=float(relative[~small].max(initial=0.0)),
        mare_all=float(relative.max(initial=0.0)),
        near_zero=int(small.sum()),
        misses=int((small & (errors > standard.small_error)).sum()),
        baseline=other,
        worst=int(relative.argmax()) if out.size else -1,
    )


def _errors(out: np.ndarray, golden: np.ndarray) -> np.ndarray:
    """Return absolute errors: infinite for a NaN or infinity.

    Where golden in the dtype of out is the same NaN or infinity, the error is 0.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = golden.astype(out.dtype).astype(np.float64)
        values = out.astype(np.float64)
        errors = np.abs(values - golden)
        same = (values == nearest) | (np.isnan(values) & np.isnan(nearest))
    errors = np.where(np.isfinite(errors), errors, np.inf)
    return np.where(~np.isfinite(nearest) & same, 0.0, errors)


def misses_standard(name: str, out: np.ndarray, golden: np.ndarray) -> str:
    """Return a sentence on how far an output misses the standard, with the element of the largest relative error."""
    found = accuracy(out, golden)
    unit, at = found.standard.unit, found.worst
    ours, right = float(out.reshape(-1)[at]), golden.reshape(-1)[at]
    return (
        f"{name} misses the accuracy standard: MERE is {found.mere / unit:.2g} T and MARE {found.mare / unit:.2g} T, "
        f"where 1 T and 10 T are the limits, and {found.misses} elements near zero are off; {name}[{at}] is "
        f"{ours:.5g}, and {right:.5g} is right"
    )


def _check_shape(name: str, array: np.ndarray, out: np.ndarray) -> None:
    if array.shape != out.shape:
        raise ArgumentError(f"{name} has the shape {array.shape}, out {out.shape}", where=f"argument {name}")


def _number(value: float) -> str:
    return f"{value:.2e}" if np.isfinite(value) else "infinite"


def _verdict(ok: bool) -> str:
    return "ok" if ok else "FAILS"
