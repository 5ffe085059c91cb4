"""12.5: the gradient of GELU, for every finite x."""

from __future__ import annotations

from functools import partial

import numpy as np

from gn_tutorial.compare.accuracy import accuracy
from gn_tutorial.compare.elements import spots
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker, by_scalars
from gn_tutorial.course.exercises.launch_facts import vector_instructions
from gn_tutorial.operators.result import Result
from gn_tutorial.reference import gelu, gelu_backward

_value, _gradient = (partial(gelu, approximate="tanh"), partial(gelu_backward, approximate="tanh"))

_TILE = 1024  # kTile of the exercise's kernels

_A = 2.0 * np.sqrt(2.0 / np.pi)

_B = 0.044715 * _A

#: Where the slope crosses zero; x keeps away from it, because a relative error says nothing there.
_CROSSING = -0.7524614

#: Below this |x| no exponential overflows a float, so that the formula alone decides the numbers.
_MODERATE = 6.0

#: Ranges of x in which the slope, as a float, is 1, in which it is 0, and in which it is small but not always 0.
_FAR = ((9, 30), (-30, -9), (-9.5, -8))


def _cases(rng: np.random.Generator) -> list[KernelCase]:
    far = np.array([12, -12, 40, -40, 700, -700, 1e6, -1e6, 1e13, -1e13, 1e20, -1e20, 3e38, -3e38])
    size = int(rng.integers(4000, 9000))
    mixed = np.concatenate([rng.uniform(-7, 7, size), far])
    return [
        _case(rng, "around 0", rng.uniform(-3, 3, 300)),
        _case(rng, "a tile and a tail", rng.uniform(-3, 3, _TILE + 13)),
        _case(rng, "below zero", rng.uniform(-8, -2, 500)),
        _case(rng, "large numbers", np.concatenate([far, *(rng.uniform(*ends, 100) for ends in _FAR)])),
        _case(rng, "numbers of every size", rng.permutation(mixed), blocks=int(rng.integers(2, 6))),
    ]


def _case(rng: np.random.Generator, label: str, x: np.ndarray, blocks: int = 1) -> KernelCase:
    x = np.where(np.abs(x - _CROSSING) < 0.05, x + 0.2, x).astype(np.float32)
    # Neither 1 nor near 0, nor of one sign.
    dy = (rng.uniform(0.4, 2.2, x.size) * rng.choice([-1, 1, 1], x.size)).astype(np.float32)
    golden = _gradient(dy, x)
    text = f"{label}: {x.size} floats on {blocks} block{'s' * (blocks > 1)}, tiles of {_TILE}"
    expected = {"dx": golden.astype(np.float32)}
    return KernelCase(text, {"dy": dy, "x": x}, {"n": x.size}, expected, blocks, golden={"dx": golden})


def _message(case: KernelCase, result: Result) -> str | None:
    got = result["dx"].astype(np.float64)
    holes = unwritten(result["dx"])
    if holes.any():
        return _missing(holes)
    x, dy = case.inputs["x"].astype(np.float64), case.inputs["dy"].astype(np.float64)
    bad = ~np.isfinite(got)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        what = "not a number" if np.isnan(got[at]) else "infinite"
        return (
            f"dx[{at}] is {what}, for x = {x[at]:g}: the slope is {_gradient(1.0, x[at]):.3g} there, but something "
            "on the way became infinite, and infinity times 0, or divided by infinity, has no value. Limit x first"
        )
    here = np.abs(x) < _MODERATE
    for values, text in _mistakes(dy[here], x[here]):
        if here.sum() > 10 and np.allclose(got[here], values, rtol=2e-3, atol=2e-3):
            return text
    return _digits(case, got, x)


def _mistakes(dy: np.ndarray, x: np.ndarray) -> list[tuple[np.ndarray, str]]:
    s = 1 / (1 + np.exp(-x * (_A + _B * x**2)))
    rest, w = s * (1 - s), _A + 3 * _B * x**2
    return [
        (dy, "dx is dy, returned unchanged: multiply it by the slope of GELU at x"),
        (dy * _value(x), "this is dy * GELU(x): the value of GELU is used instead of its slope"),
        (dy * s, "this is dy * s: s depends on x, too, which is the second term of the slope"),
        (dy * x * rest * w, "this is the second term alone: x has a slope of 1, which leaves dy * s"),
        (s + x * rest * w, "this is the slope alone: dy is not in it"),
        (dy * (s + rest * w), "the second term lacks the factor x"),
        (dy * (s + x * rest), "the second term lacks the factor w, the slope of v"),
        (
            dy * (s + x * rest * (_A + _B * x**2)),
            "w is v / x here; the slope of v has 3 * B, because x^3 has the slope 3 x^2",
        ),
        (dy * (s + x * s * w), "the second term lacks the factor 1 - s"),
        (dy * (1 - s + x * rest * w), "s belongs to -v here: change the sign of v before the exponential"),
        (dy * (s - x * rest * w), "the second term is subtracted, but must be added"),
    ]


def _digits(case: KernelCase, got: np.ndarray, x: np.ndarray) -> str | None:
    """Explain numbers that are nearly right: a limit for x changed them, or digits were lost."""
    golden, dy = case.golden["dx"], case.inputs["dy"].astype(np.float64)
    for end in (x <= np.quantile(x, 0.05), x >= np.quantile(x, 0.95)):
        slopes, right = got[end] / dy[end], golden[end] / dy[end]
        if slopes.all() and right.all() and _spread(slopes) < 1e-5 and _spread(right) > 1e-3:
            at = int(np.flatnonzero(end)[0])
            return (
                f"dx[{at}] is {got[at]:.4g}, for x = {x[at]:.4g}, and {golden[at]:.4g} is right: the slope is the same "
                "for all x beyond a limit here. The limit must be where it has reached 0 or 1, for a float at 11"
            )
    error = np.abs(got - golden)
    below = x < -1
    if (error < 1e-4).all() and below.any() and not accuracy(got[below].astype(np.float32), golden[below]).ok:
        lost = np.where(below & (np.abs(golden) > 1e-9), error / np.maximum(np.abs(golden), 1e-30), 0)
        at = int(np.argmax(lost))
        return (
            f"dx[{at}] is {got[at]:.4g}, for x = {x[at]:.4g}, and {golden[at]:.4g} is right: below zero the digits are "
            "lost, as in 1 + tanh(u) where the tanh is close to -1. Take s from one exponential, 1 / (1 + exp(-v))"
        )
    return None


def _spread(numbers: np.ndarray) -> float:
    """The range of the numbers, in parts of the largest of them, which is not 0."""
    return float(np.ptp(numbers) / np.abs(numbers).max())


def _missing(holes: np.ndarray) -> str:
    if holes.all():
        return "dx was never written: Compute must write its result to dx"
    return f"{int(holes.sum())} of {holes.size} elements were never written ({spots('dx', holes)})"


def _by_vector_unit(case: KernelCase, result: Result) -> str | None:
    return by_scalars(result, case.inputs["x"].size)


def _small_slopes(case: KernelCase, result: Result) -> str | None:
    """Check slopes far below zero, where the accuracy standard asks for little: it accepts 1e-20 in place of 0."""
    x, dy = case.inputs["x"], case.inputs["dy"].astype(np.float64)
    slopes, right = result["dx"] / dy, case.golden["dx"] / dy
    for here, wrong in (
        ((x > -9.5) & (x < -8), lambda: np.abs(slopes - right) > 0.01 * np.abs(right)),
        (x < -12, lambda: np.abs(slopes) > np.finfo(np.float32).tiny),
    ):
        if (bad := here & wrong()).any():
            at = int(np.flatnonzero(bad)[0])
            return (
                f"the slope at x = {x[at]:.4g} is {slopes[at]:.3g} here, and {right[at]:.3g} is right: a limit for x "
                "comes too early. At 8 the slope is not yet 0, though small; at 11 it is, for a float"
            )
    return None


def _no_more_than_n(case: KernelCase, result: Result) -> str | None:
    """Return a complaint about an instruction on more numbers than the tile has: it computes with unwritten ones."""
    most = min(case.inputs["x"].size, _TILE)
    # Init fills all of ones_.
    worst = next((one for one in vector_instructions(result) if one.lanes > most and one.op != "Duplicate"), None)
    if worst is None:
        return None
    return (
        f"the numbers are right, but {worst.op} works on {worst.lanes} numbers, and the tile has {most}: it computes "
        "with what lies behind them. n is the count for every instruction"
    )


CHECK = KernelChecker(
    _cases,
    rtol=0.0,  # dx has a golden
    atol=0.0,
    symptoms=(_message,),
    demands=(_by_vector_unit, _small_slopes, _no_more_than_n),
    faults={
        "ub-never-written": "an instruction reads data that were never written",
        "ub-out-of-bounds": "an instruction goes past the end of its buffer",
    },
    auto_sync=True,
    traced=True,
)
