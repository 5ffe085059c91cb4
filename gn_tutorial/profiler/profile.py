"""``gnt.profile(kernel, ...)``: runs a kernel on the twin, and models how long the chip would take, and why.

Every time in a Profile is modelled, never measured on an NPU. docs/timing-model.md and ``gnt dev calibrate`` compare
the model with published measurements.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.trace import Kind, Pipe, Space, Trace, Tracing
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.profiler.operator_bound import arrays_of_call, bound_of
from gn_tutorial.profiler.svg import svg_gantt
from gn_tutorial.runtime.launch_types import Tally
from gn_tutorial.tables import html_table, text_table
from gn_tutorial.timing.lower_bound import Bound
from gn_tutorial.timing.machine import DEFAULT_MACHINE, ErrorBand, Machine, default_machine, load_machine
from gn_tutorial.timing.span import place
from gn_tutorial.timing.timeline import Timeline, make_timeline

#: Numbers of blocks to record, tried in turn until the events fit into _ROOM bytes, about half a million events. More
#: events would take minutes and gigabytes, and most blocks do the same.
_SAMPLES, _ROOM = (8, 2, 1), 128 * 1024 * 1024
_PIPES = (Pipe.S, Pipe.MTE2, Pipe.V, Pipe.MTE3)


class Limit(NamedTuple):
    """One limit of the launch's time: an amount of work and the greatest rate at which it can be done.

    microseconds: the least time of the work, spread evenly over the cores, if everything else overlaps with it. unit:
    of ``amount``. rate: in this unit per microsecond.
    """

    name: str
    amount: float
    unit: str
    rate: float
    microseconds: float


class Stall(NamedTuple):
    """The idle time of a pipe, in the recorded blocks, for one reason: how many cycles, and how many times.

    cause: the pipe that it waited for, or "blocks" after SyncAll. line, file: the place of the last instruction of the
    pipe that it waited for; line 0: unknown.
    """

    pipe: Pipe
    cause: str
    line: int
    cycles: float
    times: int
    file: str

    @property
    def where(self) -> str:
        """The place as text: ``line 41``, ``parts.h:41`` in a header; empty if unknown."""
        return place(self.file, self.line) if self.line else ""


@dataclass(frozen=True)
class Profile:
    """The modelled profile of one launch.

    timeline: when each pipe was busy. trace: the recorded events. tally: instructions and bytes of all blocks. bound:
    the least time in which any kernel can move the call's arrays (``timing.lower_bound``); None if they are unknown.
    """

    kernel: str
    blocks: int
    timeline: Timeline
    trace: Trace
    tally: Tally
    bound: Bound | None = None

    @property
    def machine(self) -> Machine:
        """The modelled machine."""
        return self.timeline.machine

    @property
    def microseconds(self) -> float:
        """The modelled duration of the launch, in us."""
        return self.timeline.microseconds

    @property
    def error_band(self) -> ErrorBand:
        """The model's error band for kernels of this length."""
        return self.machine.error_band(self.microseconds)

    @property
    def likely(self) -> tuple[float, float]:
        """The time in us that a device would probably need, as (least, most), from the error band."""
        band = self.error_band
        return self.microseconds / (1.0 + band.high / 100.0), self.microseconds / (1.0 + band.low / 100.0)

    @cached_property
    def busy(self) -> dict[Pipe, float]:
        """Pipe -> microseconds for which it was occupied, in the recorded block that took longest."""
        block = max(self.timeline.block_cycles, key=self.timeline.block_cycles.__getitem__)
        return {pipe: self.machine.microseconds(self.timeline.busy[block][pipe]) for pipe in _PIPES}

    @cached_property
    def operations(self) -> int:
        """Elements that vector instructions processed in all blocks, scaled up from the recorded blocks."""
        return self._over_blocks(lambda event: event.lanes if event.kind is Kind.VECTOR else 0)

    @cached_property
    def ub_bytes(self) -> int:
        """Bytes of the UB that vector instructions read and wrote in all blocks, scaled up from the recorded blocks."""

        def touched(event: Any) -> int:
            if event.kind is not Kind.VECTOR:
                return 0
            return sum(event.lanes * one.element_bytes for one in event.operands if one.space is Space.UB)

        return self._over_blocks(touched)

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """The limits of the launch's time, the binding limit first."""
        machine, traffic = self.machine, self.timeline.traffic
        cores = min(self.blocks, machine.cores)
        hbm = traffic.hbm_read / machine.hbm_read_gbs + traffic.hbm_written / machine.hbm_write_gbs
        hbm_bytes = traffic.hbm_read + traffic.hbm_written
        clock = machine.clock_ghz * 1000.0
        moved = (
            ("L2", traffic.l2_read, machine.l2_read_gbs * 1000.0),
            ("MTE2", float(self.tally.bytes_in), machine.mte2_bytes_per_cycle * clock * cores),
            ("MTE3", float(self.tally.bytes_out), machine.mte3_bytes_per_cycle * clock * cores),
        )
        found = [Limit("HBM", hbm_bytes, "bytes", hbm_bytes / hbm * 1000.0 if hbm else 0.0, hbm / 1000.0)]
        found += [Limit(name, amount, "bytes", rate, amount / rate) for name, amount, rate in moved]
        weights = self.trace.weights()
        for pipe, name, amount, unit in (
            (Pipe.V, "vector unit", float(self.operations), "elements"),
            (Pipe.S, "scalar unit", 0.0, "cycles"),
        ):
            cycles = 0.0
            for block, weight in weights.items():
                cycles += self.timeline.busy[block][pipe] * weight
            time = machine.microseconds(cycles / cores)
            done = amount or cycles
            found.append(Limit(name, done, unit, done / time if time else 0.0, time))
        return tuple(sorted(found, key=lambda limit: -limit.microseconds))

    @property
    def binding(self) -> Limit:
        """The limit with the longest time, to which the launch is nearest."""
        return self.limits[0]

    @property
    def distance(self) -> float:
        """Modelled time divided by the time of the binding limit: 1 at best, infinity if that time is 0."""
        return self.microseconds / self.binding.microseconds if self.binding.microseconds else float("inf")

    @property
    def of_bound(self) -> float | None:
        """Modelled time divided by the lower bound: how many times faster a kernel can be at most. None: no bound."""
        return self.microseconds / self.bound.microseconds if self.bound else None

    @cached_property
    def stalls(self) -> tuple[Stall, ...]:
        """The reasons why pipes of the recorded blocks were idle, the longest first."""
        sums: dict[tuple[Pipe, str, int, str], tuple[float, int]] = {}
        for span in self.timeline.spans:
            if span.cause:
                key = (span.pipe, span.cause, span.cause_line, span.cause_file)
                cycles, times = sums.get(key, (0.0, 0))
                sums[key] = (cycles + span.waited, times + 1)
        found = [Stall(pipe, cause, line, *sums[pipe, cause, line, file], file) for pipe, cause, line, file in sums]
        return tuple(sorted(found, key=lambda stall: (-stall.cycles, stall.pipe, stall.line, stall.file)))

    @cached_property
    def unmeasured(self) -> tuple[str, ...]:
        """Vector APIs that the kernel calls and whose cost nobody measured. They count as the cheapest instruction."""
        names = {event.op for events in self.trace.blocks.values() for event in events if event.kind is Kind.VECTOR}
        other = self.machine.instructions["other"]
        return tuple(sorted(name for name in names if self.machine.instruction(name) is other))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that qualify the numbers."""
        found = ["modelled, not measured on a device"]
        if self.trace.sampled:
            listed = ", ".join(map(str, sorted(self.trace.blocks)))
            found.append(f"recorded blocks {listed} of {self.blocks}; each other one counts as the nearest of them")
        if not self.trace.complete:
            found.append("the room for the trace ended: the end of some blocks is missing, and the time is too short")
        if self.timeline.warm:
            found.append("warm: what fits into the L2 cache was there before the launch")
        if self.unmeasured:
            found.append(f"no measured cost, counted as the cheapest instruction: {', '.join(self.unmeasured)}")
        return tuple(found)

    def _over_blocks(self, of_event: Any) -> int:
        weights = self.trace.weights()
        return sum(weights[block] * sum(map(of_event, events)) for block, events in self.trace.blocks.items())

    def facts(self) -> list[tuple[str, str]]:
        """Return the table of the profile, as text."""
        band, (low, high) = self.error_band, self.likely
        rows = [
            ("machine", f"{self.machine.name}, {min(self.blocks, self.machine.cores)} of {self.machine.cores} cores"),
            ("modelled time", f"{self.microseconds:.2f} us"),
            (
                "a device likely measures",
                f"{low:.1f} to {high:.1f} us (the model reads {band.low:+g} to {band.high:+g} %)",
            ),
        ]
        rows += [(f"{pipe.name} busy", f"{time:.2f} us") for pipe, time in self.busy.items()]
        for limit in self.limits:
            if limit.amount:
                rows.append(
                    (f"limit: {limit.name}", f"{limit.microseconds:.2f} us for {limit.amount:,.0f} {limit.unit}")
                )
        rows.append(("binding limit", f"{self.binding.name}; the launch takes {self.distance:.2f} times as long"))
        if self.bound is not None:
            words = f"{self.bound.microseconds:.2f} us to move the arrays ({self.bound.kind}; {self.bound.limit})"
            rows.append(("lower bound", f"{words}; the launch takes {self.of_bound:.2f} times as long"))
        for stall in self.stalls[:3]:
            where = f" ({stall.where})" if stall.where else ""
            rows.append((f"{stall.pipe.name} waits", f"{stall.cycles:,.0f} cycles for {stall.cause}{where}"))
        return rows + [("note", note) for note in self.notes]

    def __repr__(self) -> str:
        return f"{self.kernel}, modelled\n{text_table((), self.facts(), indent='  ')}"

    def _repr_html_(self) -> str:
        table = html_table((), self.facts(), caption=f"{self.kernel}, modelled")
        return f'{table}<div style="overflow-x:auto">{svg_gantt(self.timeline)}</div>'


class Launchable(Protocol):
    """An object that is called with arrays but is not a single kernel, such as an operator project."""

    def on(self, chip: str) -> Launchable:
        """Return the same object for another chip."""

    def __call__(self, *values: Any, **named: Any) -> Result:
        """Run the object. ``named`` may contain ``tracing``."""


def profile(
    target: Kernel | Launchable | str | Path,
    *values: Any,
    machine: str | Path | Machine = DEFAULT_MACHINE,
    warm: bool = False,
    tracing: Tracing | None = None,
    **named: Any,
) -> Profile:
    """Run a kernel and model its time: ``gnt.profile("copy/queue", x)``.

    target: a kernel, its registered name, a path, or an operator project (``gnt.project``), whose own tiling sets the
    blocks. ``values`` and ``named`` are the arguments of a call: of the operator if it is registered, else of
    ``Kernel.run``. machine: a name of ``timing.machine.machines()``, a TOML file, or a Machine. tracing: which blocks
    to record; None: eight of them, spread evenly, or fewer if their events do not fit into 128 MiB (the profile names
    the recorded blocks). warm: the data are in the L2 cache before the launch, if they fit; the default is a cold
    cache. blocks: by default all cores of the machine, but one for source text (see ``Kernel.run``).

    Raises ArgumentError, RegistryError (no such kernel, or a faulty machine file), and the errors of a call.
    """
    chosen = load_machine(machine)
    found = target if isinstance(target, Kernel) or hasattr(target, "on") else kernel(target)
    if not isinstance(found, Kernel):  # an operator project: its own tiling divides the work among the chip's cores
        found = found.on(chosen.name)
        result = run_traced(found, *values, tracing=tracing, **named)
        return profile_of(result, machine=chosen, warm=warm, inputs=arrays_of_call(found, values, named))
    if chosen.ub_bytes != default_machine().ub_bytes:
        found = found.with_ub(int(chosen.ub_bytes))
    if named.get("blocks") is None and found.path is not None:
        named["blocks"] = int(chosen.cores)
    result = run_traced(found, *values, tracing=tracing, machine=chosen, **named)
    inputs, group = arrays_of_call(found, values, named), found.op.group if found.op else ""
    return profile_of(result, machine=chosen, warm=warm, inputs=inputs, group=group)


def run_traced(
    found: Kernel | Launchable,
    *values: Any,
    tracing: Tracing | None = None,
    machine: Machine | None = None,
    **named: Any,
) -> Result:
    """Run a kernel as ``profile`` does, and return the result: outputs and trace. Raises the errors of a call.

    machine: the chip whose cores the blocks run on; None: the default chip, or that of an operator project.
    """
    if machine is not None:
        named["options"] = dataclasses.replace(named.get("options") or TwinOptions(), cores=int(machine.cores))
    call = found.run if isinstance(found, Kernel) and found.spec is None else found
    if tracing is not None:
        return call(*values, tracing=tracing, **named)
    for count in _SAMPLES:
        result = call(*values, tracing=Tracing(blocks=count, bytes=_ROOM), **named)
        if result.trace is None or result.trace.complete or result.blocks == 1:
            break
    return result


def profile_of(
    result: Result,
    *,
    machine: str | Path | Machine = DEFAULT_MACHINE,
    warm: bool = False,
    inputs: Mapping[str, np.ndarray] | None = None,
    group: str = "",
) -> Profile:
    """Return the profile of a launch that ran with ``tracing=Tracing()``.

    inputs, group: as in ``operator_bound.bound_of``; with them the profile has a lower bound. Raises ArgumentError for
    a launch without a trace.
    """
    if result.trace is None:
        why = "nothing was launched" if not result.blocks else "this launch was not traced"
        raise ArgumentError(f"there is no profile: {why}", hint="k(..., tracing=Tracing()), or gnt.profile(k, ...)")
    chosen = load_machine(machine)
    timeline = make_timeline(result.trace, chosen, warm=warm)
    bound = bound_of(result, inputs, group, chosen) if inputs else None
    return Profile(result.kernel, result.blocks, timeline, result.trace, result.tally, bound)
