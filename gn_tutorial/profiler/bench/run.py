"""Runs kernels on shapes and compares the modelled time of each with its lower bound.

``run_grid`` gives a ``Bench``: plain rows, which ``bench.files`` writes and reads, ``bench.targets`` judges and
``plot.ladder`` draws without running anything again. The same kernels, shapes and machine give the same digits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from msgspec import structs

from gn_tutorial.abi.options import Limits
from gn_tutorial.abi.trace import Pipe
from gn_tutorial.errors import GntError, KernelFault
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.profiler.bench.grid import BenchCase, Grid, example_case
from gn_tutorial.profiler.bench.replaced_launches import run_parts
from gn_tutorial.profiler.profile import Profile, profile_of, run_traced
from gn_tutorial.timing.machine import Machine

OK, WRONG, FAILED, SKIPPED, UNSUPPORTED = "ok", "wrong", "failed", "not run", "not supported"
#: The dtype in which a kernel runs on a shape whose own dtype it does not take.
INSTEAD = "float32"
#: The limits of one launch. One of 64 M elements with a trace takes a minute on a laptop; a kernel that hangs must end.
_LIMITS = Limits(seconds=1800.0)


@dataclass(frozen=True)
class BenchRow:
    """One kernel on one shape. All times are modelled, in microseconds, except ``measured_us``.

    case: the shape, its attributes and its dtype, as text. kind: the shape's kind. status: OK, WRONG, FAILED, SKIPPED
    or UNSUPPORTED; ``note`` says why. WRONG: the time is unreliable, because the kernel's numbers are out of tolerance,
    or the memory for the trace was full. Modelled times, except was_us, are None if the kernel did not run or failed.
    instead_of: the shape's dtype in the grid, if this row ran in another dtype.

    bound_us, bound_kind, bound_limit: as in ``timing.lower_bound``. binding, binding_us: the profile's binding limit.
    waits: the reason for the longest idle time of the binding limit's pipe, in the recorded blocks. measured_us: a time
    that somebody else measured on a device with another kernel. was_us: as in BenchCase. parts_us: for a fused kernel,
    the time of the launches that it replaces, one after the other.

    blocks, recorded: the number of blocks of the launch, and of those that were traced.
    """

    kernel: str
    step: int
    case: str
    kind: str
    shape: tuple[int, ...]
    attributes: Mapping[str, Any]
    dtype: str
    status: str
    instead_of: str = ""
    modelled_us: float | None = None
    bound_us: float | None = None
    bound_kind: str = ""
    bound_limit: str = ""
    binding: str = ""
    binding_us: float | None = None
    waits: str = ""
    measured_us: float | None = None
    source: str = ""
    was_us: float | None = None
    parts_us: float | None = None
    blocks: int = 0
    recorded: int = 0
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Modelled time divided by the bound; None unless the kernel ran and has a bound."""
        return self.modelled_us / self.bound_us if self.modelled_us and self.bound_us else None


@dataclass(frozen=True)
class Bench:
    """The rows of one run, shape by shape, in the kernels' order; rows in another dtype come last of their shape.

    constants: the machine's figures. seed: the seed of the inputs.
    """

    operator: str
    machine: str
    rows: tuple[BenchRow, ...]
    seed: int = 0
    constants: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def of(self, kernel: str) -> tuple[BenchRow, ...]:
        """Return the rows of one kernel."""
        return tuple(row for row in self.rows if row.kernel == kernel)

    @property
    def cases(self) -> tuple[str, ...]:
        """Every shape's text, in order."""
        return tuple(dict.fromkeys(row.case for row in self.rows))


class BenchJob(NamedTuple):
    """One kernel on one shape. instead_of: as in BenchRow. status: OK if the kernel is to run.

    why_not: the reason if the kernel is not to run.
    """

    spec: KernelSpec
    case: BenchCase
    instead_of: str = ""
    status: str = OK
    why_not: str = ""


def plan_jobs(op: OpSpec, grid: Grid, kernels: Sequence[KernelSpec], *, everything: bool = False) -> list[BenchJob]:
    """Return the jobs, by shape: each kernel in the shape's dtype.

    If a kernel does not take that dtype, this job is UNSUPPORTED, and another job has the kernel in float32 if it takes
    float32. everything: on shapes above ``grid.scalar_elements``, also run kernels that work element by element; else
    these jobs are SKIPPED.
    """
    large = not everything and any(case.elements > grid.scalar_elements for case in grid.cases)
    slow = {spec.id for spec in kernels if works_by_element(op, spec)} if large else set()
    jobs = []
    for case in grid.cases:
        # The grid's times are those of the shape's own dtype, so the case in float32 has none.
        other = structs.replace(case, dtype=INSTEAD, measured_us=None, source="", was_us=None)
        instead = []
        for spec in kernels:
            if case.dtype in spec.dtypes:
                jobs.append(_perhaps(BenchJob(spec, case), slow, grid))
                continue
            jobs.append(BenchJob(spec, case, status=UNSUPPORTED, why_not=f"takes {', '.join(spec.dtypes)}"))
            if INSTEAD in spec.dtypes:
                instead.append(_perhaps(BenchJob(spec, other, instead_of=case.dtype), slow, grid))
        jobs += instead
    return jobs


def _perhaps(job: BenchJob, slow: set[str], grid: Grid) -> BenchJob:
    if job.spec.id not in slow or job.case.elements <= grid.scalar_elements:
        return job
    why = f"element by element, above {grid.scalar_elements:,} elements"
    return job._replace(status=SKIPPED, why_not=why)


def works_by_element(op: OpSpec, spec: KernelSpec) -> bool:
    """Whether a kernel makes at least one scalar access per element, counted on the operator's example.

    False for a kernel that fails on the example: the rows of its shapes report the error.
    """
    case = example_case(op)
    arrays = random_inputs.inputs(op, case.shape, dtype=spec.dtypes[0], attributes=case.attributes)
    try:
        result = Kernel.registered(op, spec)(*arrays.values(), **case.attributes)
    except GntError:
        return False
    return result.tally.scalar >= case.elements


def run_grid(
    op: OpSpec,
    grid: Grid,
    machine: Machine,
    *,
    kernels: Sequence[KernelSpec] | None = None,
    seed: int = 0,
    everything: bool = False,
    tell: Callable[[int, int, str], None] = lambda done, total, text: None,
) -> Bench:
    """Run every kernel on every shape, as ``plan_jobs`` says, on all cores of the machine, from a cold L2 cache.

    kernels: by default all of the operator. tell: called with the number of jobs done, the number of all jobs, and a
    text that names the next kernel and its shape. If a kernel fails or is wrong, its row says so.
    """
    jobs = plan_jobs(op, grid, kernels or op.kernels, everything=everything)
    rows: list[BenchRow] = []
    inputs = _Inputs(op, seed)
    for done, job in enumerate(jobs):
        tell(done, len(jobs), f"{job.spec.id} {job.case.label(op)}")
        rows.append(_row(op, machine, job, inputs))
    tell(len(jobs), len(jobs), "")
    constants = {name: one.value for name, one in machine.constants.items()}
    return Bench(op.name, machine.name, tuple(rows), seed, constants, _versions())


class _Inputs:
    """The seeded arrays of the last shape and the reference's results, kept for the next kernels on that shape."""

    def __init__(self, op: OpSpec, seed: int) -> None:
        self._op, self._seed = op, seed
        self._key: Any = None
        self._made: tuple[dict[str, np.ndarray], dict[str, np.ndarray]] = {}, {}

    def of(self, case: BenchCase) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        key = (case.shape, case.dtype, tuple(case.attributes.items()), tuple(case.lengths.items()))
        if key != self._key:
            self._made = {}, {}  # free the old arrays before new ones are made: the largest take half a gigabyte
            arrays = random_inputs.inputs(
                self._op,
                case.shape,
                seed=self._seed,
                dtype=case.dtype,
                attributes=case.attributes,
                lengths=case.lengths,
            )
            self._made = arrays, random_inputs.expected(self._op, arrays, case.attributes)
            self._key = key
        return self._made


def _row(op: OpSpec, machine: Machine, job: BenchJob, inputs: _Inputs) -> BenchRow:
    case, spec = job.case, job.spec
    row = BenchRow(
        spec.id, spec.step, case.label(op), case.kind, case.shape, dict(case.attributes), case.dtype, job.status,
        job.instead_of, source=case.source, measured_us=case.measured_us, was_us=case.was_us,
        note=job.why_not,
    )  # fmt: skip
    if job.status != OK:
        return row
    arrays, expected = inputs.of(case)
    try:
        result = run_traced(
            Kernel.registered(op, spec), *arrays.values(), blocks=machine.cores, machine=machine, limits=_LIMITS,
            **case.attributes,
        )  # fmt: skip
        made = profile_of(result, machine=machine, inputs=arrays, group=op.group)
        right = result.compare(expected, spec.tolerance).ok
        parts_us = _parts_us(op, machine, arrays, case.attributes) if op.replaces else None
    except GntError as error:
        return replace(row, status=FAILED, note=reason(error))
    return replace(with_profile(row, made, right), parts_us=parts_us)


def _parts_us(op: OpSpec, machine: Machine, arrays: Mapping[str, np.ndarray], attributes: Mapping[str, Any]) -> float:
    """Return the modelled time of the launches that a fused operator replaces, each from a cold L2 cache."""
    launch = functools.partial(run_traced, blocks=machine.cores, machine=machine, limits=_LIMITS)
    results, _ = run_parts(op, arrays, attributes, launch)
    return sum(profile_of(one, machine=machine).microseconds for one in results)


def with_profile(row: BenchRow, made: Profile, right: bool) -> BenchRow:
    """Return the row with the facts of a launch's profile. right: whether the kernel's numbers are right."""
    doubts, bound = doubts_about(made, right), made.bound
    return replace(
        row,
        status=WRONG if doubts else OK,
        modelled_us=made.microseconds,
        bound_us=bound and bound.microseconds,
        bound_kind=bound.kind if bound else "",
        bound_limit=bound.limit if bound else "",
        binding=made.binding.name,
        binding_us=made.binding.microseconds,
        waits=longest_wait(made),
        blocks=made.blocks,
        recorded=len(made.trace.blocks),
        note=doubts,
    )


def doubts_about(made: Profile, right: bool) -> str:
    """Return why a modelled time is unreliable; "" if it is not. right: whether the kernel's numbers are right."""
    found = [] if right else ["its numbers are out of tolerance"]
    if not made.trace.complete:
        found.append("the room for the trace ended: the time is too short")
    return "; ".join(found)


#: The pipe of each binding limit. Its idle times say more about the launch than those of the other pipes.
_PIPE_OF = {"HBM": Pipe.MTE2, "L2": Pipe.MTE2, "MTE2": Pipe.MTE2, "MTE3": Pipe.MTE3, "vector unit": Pipe.V}


def longest_wait(made: Profile) -> str:
    """Return the reason for the longest idle time of the binding limit's pipe; "" if the pipe never waited.

    An example is ``MTE2 waits for V (line 46), 41% of the time``. The share is of the recorded blocks' time.
    """
    pipe = _PIPE_OF.get(made.binding.name, Pipe.S)
    stall = next((one for one in made.stalls if one.pipe is pipe), None)
    if stall is None:
        return ""
    share = stall.cycles / sum(made.timeline.block_cycles.values())
    where = f" ({stall.where})" if stall.where else ""
    return f"{stall.pipe.name} waits for {stall.cause}{where}, {share:.0%} of the time"


def reason(error: GntError) -> str:
    """Return an error as one line of text; for a fault, the ids of its findings."""
    if isinstance(error, KernelFault) and error.diagnostics:
        return ", ".join(dict.fromkeys(one.id for one in error.diagnostics))
    return error.what


def rows_that_ran(rows: Sequence[BenchRow]) -> Iterator[BenchRow]:
    """Return the rows that have a modelled time."""
    return (row for row in rows if row.modelled_us is not None)


def _versions() -> dict[str, str]:
    return {"gn_tutorial": version("gn_tutorial"), "numpy": np.__version__}
