"""11.2: sums that all cores clear and add to.

A run without checks, one core after the other, shows in its numbers what a core wiped out or did too early; the trace
shows which cores took part.
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.abi.trace import Access
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import WAITING_CORES, KernelCase, KernelChecker
from gn_tutorial.operators.result import Result

from .channel_sums import TILE, case_label, copying_blocks, core_sums, matrix


def _shared_cases(rng: np.random.Generator) -> list[KernelCase]:
    shapes = [(5, 150, 2), (3, 10, 1), (7, 70, 4), (2, 30, 4)]
    shapes += [(int(rng.integers(6, 20)), int(rng.integers(65, 250)), int(rng.integers(3, 8))) for _ in range(2)]
    return [_shared_case(rng, *shape) for shape in shapes]


def _shared_case(rng: np.random.Generator, samples: int, channels: int, cores: int) -> KernelCase:
    dy = matrix(rng, samples, channels)
    expected = {"dx": 2 * dy, "dbeta": dy.astype(np.float64).sum(axis=0).astype(np.float32)}
    label = case_label(samples, channels, cores)
    return KernelCase(label, {"dy": dy}, {"samples": samples, "channels": channels}, expected, cores)


def _what_is_left(case: KernelCase, result: Result) -> str | None:
    dy, dbeta = case.inputs["dy"].astype(np.float64), result["dbeta"]
    if np.isnan(result["dx"]).any() and not unwritten(result["dx"]).any():
        return (
            "dx is added to what lay in its place: the atomic setting holds for every copy out of this core until it "
            "is taken back"
        )
    if np.isnan(dbeta).any():
        return "dbeta is a sum with the garbage that lay there: somebody has to clear it, before anybody adds"
    shares = core_sums(dy, case.blocks)
    if case.blocks > 1 and np.allclose(dbeta, dy[case.blocks - 1 :: case.blocks][-1], rtol=1e-4, atol=1e-4):
        return "of dbeta one row of dy is left: without SetAtomicAdd a copy overwrites what was there"
    if case.blocks > 1 and np.allclose(dbeta, shares[-1], rtol=1e-4, atol=1e-4):
        return (
            f"only what core {case.blocks - 1} has added is left: every core clears all channels, and wipes out what "
            "cores before it have added"
        )
    owner = np.arange(dy.shape[1]) // TILE % case.blocks
    after = np.stack([shares[core:].sum(axis=0) for core in range(case.blocks)])
    if np.allclose(dbeta, after[owner, np.arange(dy.shape[1])], rtol=1e-4, atol=1e-4):
        return (
            f"from channel {TILE} on, what core 0 has added is gone: its own core cleared the tile after that. Nobody "
            "may add before all channels are clear"
        )
    return None


def _all_cores_add(case: KernelCase, result: Result) -> str | None:
    asked = min(case.inputs["dy"].shape[0], case.blocks)
    adding = len(copying_blocks(result, "dbeta", Access.WRITE))
    writing = len(copying_blocks(result, "dx", Access.WRITE))
    if writing < asked:
        return f"the numbers are right, but {writing} of {case.blocks} cores write dx: keep the work divided"
    if adding < asked:
        return f"the numbers are right, but {adding} of {case.blocks} cores write to dbeta: keep the atomic additions"
    # Bytes that must go out: dx once, a share of dbeta for each row, and the zeros.
    rows, asked = (case.inputs["dy"].nbytes, 2 * case.inputs["dy"].nbytes + case.expected["dbeta"].nbytes)
    if result.tally.bytes_out >= asked + rows:
        return (
            f"dx is right, but {result.tally.bytes_out} bytes go out where {asked} are enough: it is cleared and added "
            "to. It is no sum: take the atomic setting back before it leaves"
        )
    return None


CHECK = KernelChecker(
    _shared_cases,
    # Float32 sums of at most 20 numbers of about 1, in any order.
    rtol=1e-5,
    atol=1e-5,
    symptoms=(_what_is_left,),
    demands=(_all_cores_add,),
    faults={
        "race-blocks dbeta": "two cores are at the same channels of dbeta at once: each channel is cleared by one "
        "core, and all cores meet before the first addition",
        "gm-read-before-write dx": "dx is added to what lay in its place: the atomic setting holds for every copy out "
        "of this core until it is taken back",
        "gm-read-before-write dbeta": "something is added to channels that nobody has cleared",
        "race-same-pipe": "an addition may overtake the clearing of the same channels: all cores meet in between",
        "sync-all-deadlock": "every core has to come to SyncAll equally often; under a condition, or in a loop over "
        "its own samples or tiles, some come less often",
    },
    keeps=WAITING_CORES,
    traced=True,
)
