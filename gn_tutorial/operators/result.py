"""What a launch gave back, and how it compares with a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gn_tutorial.abi.trace import Trace
from gn_tutorial.diagnostics.findings import Findings
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.accuracy import FLOOR
from gn_tutorial.operators.spec import Tolerance
from gn_tutorial.operators.tiling import Tiling
from gn_tutorial.runtime.launch_types import LaunchResult, Tally
from gn_tutorial.tables import html_table, text_table

#: Elements that are compared at once.
_PIECE = 1 << 20
_PRINTED_LINES = 20


HEADERS = ("output", "shape", "max abs error", "max rel error", "of tolerance", "status")


@dataclass(frozen=True)
class ComparisonRow:
    """One output against its reference.

    used: the largest share of its tolerance that an element needs, 1 being all of it. A relative error alone says
    little, because it is large wherever the reference crosses zero. wrong: elements out of tolerance. The errors are
    NaN where the shapes differ, which ``note`` then says. tolerance: that of the output's dtype.
    """

    name: str
    shape: tuple[int, ...]
    max_abs: float
    max_rel: float
    used: float
    wrong: int
    note: str
    tolerance: Tolerance

    @property
    def ok(self) -> bool:
        """Whether every element is within tolerance."""
        return self.wrong == 0 and not self.note


@dataclass(frozen=True)
class Comparison:
    """All outputs of a launch against a reference; ``ok`` only if every element of every output is within tolerance."""

    rows: tuple[ComparisonRow, ...]

    @property
    def ok(self) -> bool:
        """Whether every output is right."""
        return all(row.ok for row in self.rows)

    def cells(self) -> list[tuple[str, ...]]:
        """The rows of the table under ``HEADERS``, as text."""
        return [
            (
                row.name,
                str(row.shape),
                f"{row.max_abs:.1e}",
                f"{row.max_rel:.1e}",
                f"{row.used:.0%}",
                row.note or ("ok" if row.ok else "wrong"),
            )
            for row in self.rows
        ]

    def title(self) -> str:
        """The verdict and the tolerance in one line."""
        used: dict[Tolerance, list[str]] = {}
        for row in self.rows:
            used.setdefault(row.tolerance, []).append(row.name)
        bounds = [f"|error| <= {_bound_text(one)}" for one in used]
        if len(used) > 1:
            bounds = [f"{', '.join(names)} {bound}" for bound, names in zip(bounds, used.values(), strict=True)]
        return f"{'within' if self.ok else 'NOT within'} tolerance: {'; '.join(bounds)}"

    def __repr__(self) -> str:
        return f"{self.title()}\n{text_table(HEADERS, self.cells(), indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table(HEADERS, self.cells(), caption=self.title())


@dataclass(frozen=True, repr=False)
class Result:
    """The outputs of one launch, by attribute (``result.y``) or by key (``result["y"]``).

    blocks: 0 if there was nothing to compute and nothing was launched. launched: all that the launch gave back.
    compile_seconds: 0 if the build came from the cache. tiling: the struct that a registered kernel received, None if
    it has none.
    """

    kernel: str
    blocks: int
    launched: LaunchResult
    compile_seconds: float = 0.0
    tiling: Tiling | None = None

    @property
    def outputs(self) -> dict[str, np.ndarray]:
        """What the kernel wrote, by argument name; of a registered kernel only the operator's outputs."""
        return self.launched.arrays

    @property
    def tally(self) -> Tally:
        """Instructions and bytes counted; zero in a bare build."""
        return self.launched.tally

    @property
    def seconds(self) -> float:
        """Wall time of the kernel's blocks, without Python."""
        return self.launched.seconds

    @property
    def printed(self) -> str:
        """What the kernel printed."""
        return self.launched.printed

    @property
    def observed(self) -> bool:
        """Whether the build checks and counts."""
        return self.launched.observed

    @property
    def diagnostics(self) -> Findings:
        """Warnings; a mistake raises KernelFault instead."""
        return self.launched.diagnostics

    @property
    def trace(self) -> Trace | None:
        """What the blocks did, if the call asked for it."""
        return self.launched.trace

    def __getattr__(self, name: str) -> np.ndarray:
        # Only called when normal lookup fails. Copying and unpickling look up dunders before ``launched`` exists.
        outputs = self.outputs if "launched" in self.__dict__ else {}
        if name in outputs:
            return outputs[name]
        raise AttributeError(f"this result has no '{name}'; its outputs: {', '.join(outputs) or 'none'}")

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self.outputs[name]
        except KeyError:
            raise KeyError(f"no output '{name}'; outputs: {', '.join(self.outputs) or 'none'}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.outputs]

    def compare(
        self,
        reference: Mapping[str, Any] | Sequence[Any] | np.ndarray,
        tolerance: Tolerance | None = None,
        *,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> Comparison:
        """Compare the outputs with a reference: by name, or in order; one array if there is one output.

        The tolerance is given whole (a registered kernel has ``kernel.spec.tolerance``) or as ``rtol`` and ``atol``.
        NaN is right only where the reference is NaN too, and infinity only where it is the same infinity.
        Raises ArgumentError if the reference has another number of arrays or an unknown name.
        """
        if tolerance is None:
            tolerance = Tolerance(rtol=rtol or 0.0, atol=atol or 0.0, reason="given by the caller")
        pairs = self._pair(reference)
        rows = tuple(
            _compare_one(name, actual, golden, tolerance.of(actual.dtype.name))
            for name, actual, golden in ((name, self.outputs[name], golden) for name, golden in pairs)
        )
        return Comparison(rows)

    def _pair(self, reference: Mapping[str, Any] | Sequence[Any] | np.ndarray) -> list[tuple[str, np.ndarray]]:
        if isinstance(reference, Mapping):
            unknown = [name for name in reference if name not in self.outputs]
            if unknown or not reference:
                raise ArgumentError(f"the reference names {unknown}", hint=f"outputs: {', '.join(self.outputs)}")
            return [(name, np.asarray(value)) for name, value in reference.items()]
        values = [reference] if isinstance(reference, np.ndarray) else list(reference)
        if len(values) != len(self.outputs):
            raise ArgumentError(
                f"the reference has {len(values)} arrays and the kernel {len(self.outputs)} outputs",
                hint=f"pass them in the order {', '.join(self.outputs)}, or by name",
            )
        return [(name, np.asarray(value)) for name, value in zip(self.outputs, values, strict=True)]

    def _facts(self) -> list[tuple[str, str]]:
        facts = [(name, f"{array.dtype} {array.shape}") for name, array in self.outputs.items()]
        if not self.blocks:
            return [*facts, ("blocks", "0: nothing to compute, nothing launched")]
        facts.append(("blocks", f"{self.blocks}"))
        if not self.observed:
            return [*facts, ("counts", "none in a bare build")]
        tally = self.tally
        instructions = (
            f"{tally.vector:,} vector, {tally.scalar:,} scalar, {tally.mte2:,} copies in, {tally.mte3:,} copies out"
        )
        return [
            *facts,
            ("instructions", instructions),
            ("bytes", f"{tally.bytes_in:,} in, {tally.bytes_out:,} out"),
            ("Unified Buffer", f"{tally.ub_high_water:,} bytes"),
        ]

    def _printed_lines(self) -> list[str]:
        lines = self.printed.splitlines()
        more = [f"... {len(lines) - _PRINTED_LINES} more lines in .printed"] if len(lines) > _PRINTED_LINES else []
        return lines[:_PRINTED_LINES] + more

    def __repr__(self) -> str:
        """No wall time and no address, so that a notebook's stored output compares equal on every machine."""
        text = f"{self.kernel}\n{text_table((), self._facts(), indent='  ')}"
        printed = ["printed:", *self._printed_lines()] if self.printed else []
        return "\n".join([text, *printed, *([self.diagnostics.render()] if self.diagnostics else [])])

    def _repr_html_(self) -> str:
        printed = [("printed", line) for line in self._printed_lines()]
        table = html_table((), [*self._facts(), *printed], caption=self.kernel)
        return table + (self.diagnostics._repr_html_() if self.diagnostics else "")


def _bound_text(tolerance: Tolerance) -> str:
    text = f"{tolerance.atol:g} + {tolerance.rtol:g} |reference|"
    return text + (f" + {tolerance.of_largest:g} largest |reference|" if tolerance.of_largest else "")


def _compare_one(name: str, actual: np.ndarray, golden: np.ndarray, tolerance: Tolerance) -> ComparisonRow:
    if actual.shape != golden.shape:
        note = f"the reference has shape {golden.shape}"
        nan = float("nan")
        return ComparisonRow(name, actual.shape, nan, nan, nan, actual.size, note, tolerance)
    if actual.size == 0:
        return ComparisonRow(name, actual.shape, 0.0, 0.0, 0.0, 0, "", tolerance)
    # Piece by piece: eight arrays of float64 for all of a large output were two gigabytes.
    ours, truth = actual.reshape(-1), golden.reshape(-1)
    worst, outside = np.zeros(3), 0
    atol = tolerance.atol
    if tolerance.of_largest:
        finite = truth[np.isfinite(truth)]
        atol += tolerance.of_largest * float(np.abs(finite).max(initial=0.0))
    for at in range(0, ours.size, _PIECE):
        errors, wrong = _compare_piece(ours[at : at + _PIECE], truth[at : at + _PIECE], atol, tolerance.rtol)
        # NaN wins over every number, and the table then shows it: that is what the reader has to see.
        worst = np.maximum(worst, errors)
        outside += wrong
    return ComparisonRow(name, actual.shape, *map(float, worst), outside, "", tolerance)


def _compare_piece(actual: np.ndarray, golden: np.ndarray, atol: float, rtol: float) -> tuple[np.ndarray, int]:
    """The largest absolute error, relative error and part of the tolerance; and how many elements are outside."""
    ours, truth = actual.astype(np.float64), golden.astype(np.float64)
    # Infinity minus infinity, and a tolerance of zero: `same` has decided those elements.
    with np.errstate(invalid="ignore", divide="ignore"):
        same = (ours == truth) | (np.isnan(ours) & np.isnan(truth))
        error = np.where(same, 0.0, np.abs(ours - truth))
        bound = atol + rtol * np.abs(truth)
        within = same | (np.isfinite(ours) & np.isfinite(truth) & (error <= bound))
        relative = np.where(same, 0.0, error / (np.abs(truth) + FLOOR))
        used = np.where(same, 0.0, error / bound)
    return np.array([error.max(), relative.max(), used.max()]), int((~within).sum())
