"""The result of a launch, and its comparison with a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gn_tutorial.abi.structs import Role
from gn_tutorial.abi.trace import Trace
from gn_tutorial.compare.comparison import Comparison, ComparisonRow, compare
from gn_tutorial.compare.evidence import KnownLaunch
from gn_tutorial.compare.provenance.origin import Origin
from gn_tutorial.compare.provenance.trace_back import Again, Origins
from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.compiler.address_spaces import SpaceCheck
from gn_tutorial.diagnostics.findings import Findings
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.shapes import flat_index
from gn_tutorial.operators.tiling import Tiling
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchResult, Tally
from gn_tutorial.tables import html_table, text_table

_PRINTED_LINES = 20
#: A comparison looks for the origin of a wrong number only if the output's elements plus the launch's vector
#: instructions and copies are at most this number. To trace so many takes a second.
_MOST_TRACED = 1 << 17


@dataclass(frozen=True, repr=False)
class Result:
    """The outputs of one launch, by attribute (``result.y``) or by key (``result["y"]``).

    blocks: 0 if there was nothing to compute and nothing was launched. launched: all results of the launch.
    compile_seconds: 0 if the build came from the cache. tiling: the struct that a registered kernel received, None if
    it has none. args: the launch's arguments, not copied, for the sentences of a comparison. again: a function that
    repeats the launch with a trace; None if the launch overwrote its inputs, or if nothing was launched. spaces: the
    check of address spaces; None if the launch's options did not ask for one.
    """

    kernel: str
    blocks: int
    launched: LaunchResult
    compile_seconds: float = 0.0
    tiling: Tiling | None = None
    args: Sequence[LaunchArg] = ()
    again: Again | None = None
    spaces: SpaceCheck | None = None

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        """The arrays that the kernel only read."""
        arrays = {arg.name: arg.data for arg in self.args if arg.role == Role.IN}
        return {name: data for name, data in arrays.items() if isinstance(data, np.ndarray)}

    @property
    def outputs(self) -> dict[str, np.ndarray]:
        """The arrays that the kernel wrote, by argument name; for a registered kernel only the operator's outputs."""
        return self.launched.arrays

    @property
    def tally(self) -> Tally:
        """The counts of instructions and bytes; zero in a bare build."""
        return self.launched.tally

    @property
    def seconds(self) -> float:
        """The wall time of the kernel's blocks in seconds, without Python's part."""
        return self.launched.seconds

    @property
    def printed(self) -> str:
        """The text that the kernel printed."""
        return self.launched.printed

    @property
    def observed(self) -> bool:
        """Whether the build checks and counts."""
        return self.launched.observed

    @property
    def diagnostics(self) -> Findings:
        """The warnings of the launch. A finding with severity error raises KernelFault instead."""
        return self.launched.diagnostics

    @property
    def trace(self) -> Trace | None:
        """The events of the blocks; None if the call did not ask for a trace."""
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
        """Return a comparison of the outputs with a reference: arrays by name, a list in order, or a single array.

        Give a ``tolerance`` (a registered kernel has ``kernel.spec.tolerance``), or ``rtol`` and ``atol``.
        ``tolerance.within`` defines when NaN and infinity are right.
        Raises ArgumentError if the reference has another number of arrays or an unknown name.
        """
        if tolerance is None:
            tolerance = Tolerance(rtol=rtol or 0.0, atol=atol or 0.0, reason="given by the caller")
        rows: list[ComparisonRow] = []
        launch = KnownLaunch(self.blocks, self.inputs, bool(self.diagnostics), self.launched.notes)
        for name, golden in self._pair(reference):
            rows.append(compare(name, self.outputs[name], golden, tolerance, launch))
            if rows[-1].wrong:  # the notes, such as inputs that nothing has read, belong to the first wrong output only
                launch = replace(launch, notes=())
        return Comparison(tuple(rows), self._origin_of_wrong)

    def origin(self, name: str, *index: int) -> Origin:
        """Return where an element of an output comes from, step by step back to inputs: ``result.origin("y", 0, 37)``.

        The kernel is launched again for this, so the inputs must not have changed. A single index counts in the flat
        array. Raises ArgumentError for an output or an element that does not exist, for a bare build, and for a launch
        that overwrote its inputs.
        """
        if name not in self.outputs:
            raise ArgumentError(f"this result has no output '{name}'", hint=f"outputs: {', '.join(self.outputs)}")
        flat = flat_index(name, self.outputs[name].shape, index)
        if self.again is None or not self.observed or not self.blocks:
            what = "an origin needs an observed launch that does not overwrite its inputs"
            raise ArgumentError(what, hint="observed=True; isolated=True if an array is read and written")
        return Origins(self.again, self.blocks).of(name, self.outputs[name], flat)

    def _origin_of_wrong(self, row: ComparisonRow) -> Origin | None:
        """Return the origin of the first wrong element; None if it cannot be found, or not quickly.

        It cannot be found if the launch cannot be repeated, the build is bare, the shapes differ, or the trace lacks
        events. It takes long in a launch that is larger than _MOST_TRACED.
        """
        seen = row.evidence
        size = seen.output.size + self.tally.vector + self.tally.mte2 + self.tally.mte3
        if self.again is None or not self.observed or row.note or size > _MOST_TRACED:
            return None
        origins = Origins(self.again, self.blocks)
        return origins.of_wrong(seen) if origins.complete else None

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
        """Return a text without wall times and addresses, so a notebook's stored output is equal on every machine."""
        text = f"{self.kernel}\n{text_table((), self._facts(), indent='  ')}"
        printed = ["printed:", *self._printed_lines()] if self.printed else []
        return "\n".join([text, *printed, *([self.diagnostics.render()] if self.diagnostics else [])])

    def _repr_html_(self) -> str:
        printed = [("printed", line) for line in self._printed_lines()]
        table = html_table((), [*self._facts(), *printed], caption=self.kernel)
        return table + (self.diagnostics._repr_html_() if self.diagnostics else "")
