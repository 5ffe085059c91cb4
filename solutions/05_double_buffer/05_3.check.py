"""05.3: flags by hand.

The timeline of the same launch shows what the numbers do not: which pipes worked at the same time. It is modelled for
the default chip, which the texts name.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from gn_tutorial.abi.trace import Kind, Pipe
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.operators.result import Result
from gn_tutorial.profiler.profile import Profile, profile_of

from .overlap import MANY_TILES, both_busy, has_full_barrier

_FLAG_TILE = 2048  # kTile of the kernel

#: 05.3: the flags of two buffers, one for each direction.
_NEEDED = ("MTE2_V", "V_MTE2", "V_MTE3", "MTE3_V")


def _flag_cases(rng: np.random.Generator) -> list[KernelCase]:
    sizes = [5, 2048, 2053, 8 * _FLAG_TILE + 77, int(rng.integers(3000, 20000))]
    return [_flag_case(rng, n) for n in sizes]


def _flag_case(rng: np.random.Generator, n: int) -> KernelCase:
    x = (rng.standard_normal(n) * 2 + 0.5).astype(np.float32)
    return KernelCase(f"{n} floats, tiles of {_FLAG_TILE}", {"x": x}, {"n": n}, {"y": 2 * np.maximum(x, 0)})


def _half(case: KernelCase, result: Result) -> str | None:
    if np.array_equal(result["y"], np.maximum(case.inputs["x"], 0)):
        return "y is max(x, 0), not twice that: Muls is missing, or its result is not copied out"
    return None


def _no_barrier(case: KernelCase, result: Result) -> str | None:
    if case.inputs["x"].size < MANY_TILES * _FLAG_TILE:
        return None
    found = profile_of(result)
    time = f"{found.microseconds:.2f} us modelled"
    if has_full_barrier(found):
        return (
            f"the numbers are right, on a device too, but a barrier stops all pipes ({time}): find the flag that it "
            "replaces"
        )
    if both_busy(found, Pipe.MTE2, Pipe.MTE3) > 0.0:
        return _needless(found)
    return (
        f"the numbers are right, but MTE2 and MTE3 never work together ({time}): a flag makes them wait for each "
        "other, although they use different buffers"
    )


def _needless(found: Profile) -> str | None:
    """Return a complaint about more flags than the four that order two buffers: each may cost a wait.

    Four more in all are right: backward flags may be set ahead of the loop.
    """
    events = found.trace.blocks[0]
    tiles = sum(event.kind is Kind.COPY and event.pipe is Pipe.MTE2 for event in events)
    flags = Counter(event.flag for event in events if event.kind is Kind.SET_FLAG)
    if flags.total() <= len(_NEEDED) * (tiles + 1):
        return None
    first = next((name for name in flags if name not in _NEEDED), "")
    which = f"{first} orders two pipes that share no buffer" if first else ""
    twice = next((name for name in _NEEDED if flags[name] > tiles + 1), "")
    which = which or f"{twice} is there twice"
    return f"the numbers are right, with {flags.total() / tiles:.2g} flags for each tile, and four are enough: {which}"


CHECK = KernelChecker(
    _flag_cases,
    rtol=0.0,
    atol=0.0,
    symptoms=(_half,),
    demands=(_no_barrier,),
    faults={
        "race-read-after-write": "a pipe reads what another one may still be writing, because no flag between the two "
        "lines makes it wait (the first pipe in the name of a flag sets it, the second one waits)",
        "race-write-after-read": "a buffer is filled again while another pipe may still be reading it: a backward flag "
        "is missing, in the wrong place, or the wrong way round",
        "race-same-pipe": "nothing waits for a copy, not even the next copy into the same place",
        "flag-wait-unset": "a pipe waits for ever",
        "flag-never-awaited": "no pipe has waited for the last flag when the block ends",
        "flag-set-twice": "a flag is set again before any pipe has waited for it",
    },
    auto_sync=True,
    traced=True,
)
