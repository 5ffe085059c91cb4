"""The least time that any kernel needs for an operator on a machine: the time of its data movement alone.

This time is a lower bound for the timing model of docs/timing-model.md: the model gives no shorter time to any launch
that reads all its inputs and writes all its outputs. The bound counts no instruction, no flag and no scalar work. All
constants are fields of ``Machine``; ``machines/*.toml`` has the source of each.

With R and W the bytes of all inputs and of all outputs, and rates in bytes per cycle, on ``a`` cores::

    bound = launch(a) + max(memory, in, out)
    memory = R / hbm_read + max(0, W - L2) / hbm_write
    in     = R / a / mte2 + l2_read_latency + l2_write_latency
    out    = l2_read_latency + W / a / mte3 + l2_write_latency

The operator's bound is the least over all ``a``, because fewer cores start sooner and more cores move data faster.

memory: every input is read from HBM once. Outputs stay in the L2 cache while they fit; only the rest is evicted. The
inputs take no space there, because a kernel may bypass the cache. in: the core that reads most reads at least R / a
bytes. After the last byte has arrived, a result that depends on it is written. out: the core that writes most writes at
least W / a bytes, after something has arrived. The latency of HBM is left out, because another core may already have
brought the data of the last transfer into L2.

Some operators must read a whole group (``Work.unit_bytes``) before any of its results can be written. A group that does
not fit into the Unified Buffer (UB) has to be read again, except for the part that the UB can keep. The second read
comes from L2 at best:

- "two reads": each group belongs to one core. The busiest core has k = ceil(groups / a) groups, of D bytes each::

      in  = k * (D + (D - UB)) / mte2 + latencies
      out = k * W / groups / mte3 + latencies

- "two reads, split": several cores share a group. Only bytes that do not fit into the UBs of all cores are re-read::

      in = (R + groups * max(0, D - a * UB)) / a / mte2 + latencies

The re-read lines pass through L2 too: memory is at least (R + re-read) / l2_read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gn_tutorial.errors import ArgumentError
from gn_tutorial.timing.machine import Machine

ONE_READ, TWO_READS, TWO_READS_SPLIT = "one read", "two reads", "two reads, split"


@dataclass(frozen=True)
class Work:
    """The bytes that every kernel of an operator moves.

    read, written: bytes of all inputs and of all outputs, each counted once. units: the number of groups that must be
    read whole before any of their results is written; 0 for an element-wise operator. unit_bytes: bytes of the data
    inputs (x; dy and x of a backward pass) in one group. Raises ArgumentError for impossible sizes.
    """

    read: int
    written: int
    units: int = 0
    unit_bytes: int = 0

    def __post_init__(self) -> None:
        if min(self.read, self.written, self.units, self.unit_bytes) < 0 or self.units * self.unit_bytes > self.read:
            hint = "no size may be negative, and units * unit_bytes may not exceed read"
            raise ArgumentError(f"these sizes are impossible: {self}", hint=hint)


class Bound(NamedTuple):
    """A lower bound. microseconds: including the launch. kind: ONE_READ and so on. limit: name of the longest term."""

    microseconds: float
    kind: str
    limit: str


def lower_bound(work: Work, machine: Machine, *, split: bool) -> Bound:
    """Return the bound that the module's docstring defines, for a cold L2 cache.

    split: whether several cores may share a group. Then only a group that does not fit into all UBs is read again.
    """
    return min(
        (_on(cores, work, machine, split) for cores in range(1, machine.cores + 1)), key=lambda one: one.microseconds
    )


def _on(cores: int, work: Work, machine: Machine, split: bool) -> Bound:
    """Return the bound of a launch on ``cores`` cores."""
    kept = (cores if split else 1) * machine.ub_bytes
    again = work.units * max(0, work.unit_bytes - kept)
    kind = ONE_READ if not again else TWO_READS_SPLIT if split else TWO_READS
    latency = machine.l2_read_latency + machine.l2_write_latency
    read, written = (work.read + again) / cores, work.written / cores
    terms = {}
    if kind == TWO_READS:
        most = -(-work.units // cores)
        terms["whole groups"] = latency + most * max(
            (work.unit_bytes + again / work.units) / machine.mte2_bytes_per_cycle,
            work.written / work.units / machine.mte3_bytes_per_cycle,
        )
    terms |= {
        "HBM": _cycles(work.read, machine.hbm_read_gbs, machine)
        + _cycles(max(0, work.written - machine.l2_bytes), machine.hbm_write_gbs, machine),
        "L2": _cycles(work.read + again, machine.l2_read_gbs, machine),
        "reading": read / machine.mte2_bytes_per_cycle + latency,
        "writing": written / machine.mte3_bytes_per_cycle + latency,
    }
    limit = max(terms, key=terms.__getitem__)
    return Bound(machine.launch(cores) + machine.microseconds(terms[limit]), kind, limit)


def _cycles(size: int, gbs: float, machine: Machine) -> float:
    """Return the cycles in which a memory of ``gbs`` GB/s delivers ``size`` bytes."""
    return size / gbs * machine.clock_ghz
