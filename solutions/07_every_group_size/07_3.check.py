"""07.3: one row on all cores. The messages say whose moments a core has taken, and what combining them left out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import WAITING_CORES, KernelCase, KernelChecker
from gn_tutorial.operators.result import Result

_EPS = 1e-5


def _shares(x: np.ndarray, cores: int) -> list[np.ndarray]:
    eights = x.size // 8
    ends = [eights * core // cores * 8 for core in range(cores + 1)]
    return [x[first:last] for first, last in pairwise(ends)]


def _which_moments(case: KernelCase, result: Result) -> str | None:
    x, y = case.inputs["x"].astype(np.float64), result["y"].astype(np.float64)
    if unwritten(result["y"]).any():
        return "part of y was never written: each core normalises the whole of its share"
    shares = [one for one in _shares(x, case.blocks) if one.size]
    if len(shares) > 1:
        own = np.concatenate([(one - one.mean()) / np.sqrt(one.var() + _EPS) for one in shares])
        if np.allclose(y, own, rtol=1e-3, atol=1e-3):
            return "each share has mean 0 by itself: the moments are those of one core, and the row needs those of all"
    if np.isnan(y).all() and case.blocks > len(shares):
        return "a core without elements makes 0 / 0: it changes nothing, so leave it out"
    within = sum(((one - one.mean()) ** 2).sum() for one in shares)
    mean, average = x.mean(), np.mean([one.mean() for one in shares])
    known = [
        (
            (x - mean) / np.sqrt(within / x.size + _EPS),
            "the variance lacks the distances between the means of the shares: Chan's formula adds "
            "apart^2 * n_a * n_b / (n_a + n_b)",
        ),
        (
            (x - average) / np.sqrt(within / x.size + _EPS),
            "the means of the shares were averaged: a share with more elements weighs more, and the distances between "
            "the means belong to the variance",
        ),
        ((x - mean) / np.sqrt(x.size * x.var() + _EPS), "the squares have to be divided by the count of all elements"),
        (
            (x - shares[-1].mean()) / np.sqrt(shares[-1].var() + _EPS),
            "every core took the moments of the last core: each has a block of its own in the workspace",
        ),
        (
            (x - shares[0].mean()) / np.sqrt(shares[0].var() + _EPS),
            "every core took the moments of core 0: the loop goes over the blocks of all cores",
        ),
    ]
    for values, words in known:
        if not np.allclose(values, case.expected["y"], rtol=1e-3) and np.allclose(y, values, rtol=1e-3, atol=1e-3):
            return words
    return _means_off(x, y)


def _means_off(x: np.ndarray, y: np.ndarray) -> str | None:
    """Return which of mean and variance is off, if y is a linear function of x."""
    slope, shift = np.polyfit(x, y, 1)
    if not np.allclose(slope * x + shift, y, rtol=1e-3, atol=1e-3) or not slope:
        return None
    mean, spread = -shift / slope, 1 / slope
    return (
        f"mean {mean:.4g} was taken off, and {x.mean():.4g} is right; the divisor was {spread:.4g}, and "
        f"{np.sqrt(x.var() + _EPS):.4g} is right: do the formula once by hand, for two shares"
    )


def _share_stays(case: KernelCase, result: Result) -> str | None:
    asked = case.inputs["x"].nbytes + case.blocks * case.blocks * 32
    if result.tally.bytes_in > asked:
        return (
            f"the numbers are right, but {result.tally.bytes_in} bytes come in, and x and the workspace have "
            f"{asked} for all cores: a share stays in local memory, and is read once"
        )
    return None


_PAST_THE_END = "a copy goes past the end of the workspace: it has kBlock floats for each core"

_ONE_PLACE = (
    "several cores write one place of the workspace: core k has the kBlock floats from k * kBlock on, and no others"
)

_NOBODY_MEETS = (
    "a core goes on before the others, and its own copy, are done: all cores have to meet between Publish and Combine, "
    "and SyncAll also waits for the core's own copies"
)


def _shared_cases(rng: np.random.Generator) -> list[KernelCase]:
    # One core; shares of different lengths; more cores than shares; then drawn.
    shapes = [(200, 1), (1000, 3), (24, 5), (4096, 4)]
    shapes += [(8 * int(rng.integers(100, 900)), int(rng.integers(3, 8))) for _ in range(2)]
    return [_shared_case(rng, *shape) for shape in shapes]


def _shared_case(rng: np.random.Generator, length: int, cores: int) -> KernelCase:
    """Return a case whose shares differ in mean and in spread, so that no average of their moments is right."""
    x = rng.standard_normal(length) * np.linspace(0.5, 2, length) + 6 * np.linspace(0, 1, length) ** 2
    x = x.astype(np.float32)
    wide = x.astype(np.float64)
    y = ((wide - wide.mean()) / np.sqrt(wide.var() + _EPS)).astype(np.float32)
    label = f"a row of {length} floats on {cores} core{'s' * (cores > 1)}"
    return KernelCase(label, {"x": x}, {"length": length}, {"y": y}, cores, workspace={"workspace": cores * 32})


CHECK = KernelChecker(
    _shared_cases,
    # Float32 sums of some thousand numbers of about 3, and moments of at most eight cores.
    rtol=1e-4,
    atol=1e-4,
    symptoms=(_which_moments,),
    demands=(_share_stays,),
    faults={
        "race-blocks workspace": _ONE_PLACE,
        "race-global workspace": _NOBODY_MEETS,
        "race-write-after-read": _NOBODY_MEETS,
        "gm-read-before-write workspace": "a block of the workspace is read that its core never wrote, or not yet: "
        "every core publishes, those without elements too, and all meet before anybody reads",
        "gm-out-of-bounds workspace": _PAST_THE_END,
        "gm-beyond-declared-size workspace": _PAST_THE_END,
        "sync-all-deadlock": "every core has to come to SyncAll, those without elements too",
        "race-blocks y": "several cores write the same elements of y: each writes its own share",
    },
    keeps=WAITING_CORES,
    auto_sync=True,
    traced=True,
    orders=(1, 2, 3),
)
