"""13.1: a chain of operators as one kernel."""

from __future__ import annotations

import numpy as np

from gn_tutorial.compare.elements import spots
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.course.exercises.launch_facts import from_basic_instructions
from gn_tutorial.operators.result import Result
from gn_tutorial.reference import silu

_TILE = 1024  # kTile of the exercise's kernel

#: Below this size of x and u no exponential overflows a float, so that the formula alone decides the numbers.
_MODERATE = 8.0


def _cases(rng: np.random.Generator) -> list[KernelCase]:
    size = int(rng.integers(4000, 9000))
    return [
        _case(rng, "around 0", 300, 3.0),
        _case(rng, "a tile and a tail", _TILE + 13, 3.0),
        _case(rng, "large numbers", 700, 300.0),
        _case(rng, "several cores", size, 3.0, blocks=int(rng.integers(2, 6))),
    ]


def _case(rng: np.random.Generator, label: str, n: int, width: float, blocks: int = 1) -> KernelCase:
    x, r = (rng.uniform(-width, width, n).astype(np.float32) for _ in range(2))
    z = (rng.uniform(0.4, 2.2, n) * rng.choice([-1, 1, 1], n)).astype(np.float32)
    # Every kernel rounds the sum x + r once; where they nearly cancel, this rounding decides the digits.
    y = silu(x + r) * z
    text = f"{label}: {n} floats on {blocks} block{'s' * (blocks > 1)}, tiles of {_TILE}"
    return KernelCase(text, {"x": x, "r": r, "z": z}, {"n": n}, {"y": y.astype(np.float32)}, blocks)


def _message(case: KernelCase, result: Result) -> str | None:
    got = result["y"].astype(np.float64)
    holes = unwritten(result["y"])
    if holes.all():
        return "y was never written: the last instruction of Compute has to write into y"
    if holes.any():
        return f"{int(holes.sum())} of {holes.size} elements were never written ({spots('y', holes)})"
    x, r, z = (case.inputs[name].astype(np.float64) for name in "xrz")
    u = x + r
    if (bad := ~np.isfinite(got)).any():
        at = int(np.flatnonzero(bad)[0])
        what = "not a number" if np.isnan(got[at]) else "infinite"
        return (
            f"y[{at}] is {what}, for u = x + r = {u[at]:.4g}: an exponential became infinite on both sides of a "
            "division. In u / (1 + exp(-u)) it stands below the line only, where infinity gives 0"
        )
    here = (np.abs(u) < _MODERATE) & (np.abs(x) < _MODERATE)
    for values, text in _mistakes(x, r, z):
        if here.sum() > 10 and np.allclose(got[here], values[here], rtol=1e-4, atol=1e-5):
            return text
    return None


def _mistakes(x: np.ndarray, r: np.ndarray, z: np.ndarray) -> list[tuple[np.ndarray, str]]:
    u = x + r

    def exponential(v: np.ndarray) -> np.ndarray:
        return np.exp(np.clip(v, -_MODERATE * 4, _MODERATE * 4))

    def sigmoid(v: np.ndarray) -> np.ndarray:
        return 1 / (1 + exponential(-v))

    overwritten = "u was overwritten before Div could read it. Keep u in u_, and make the exponential in e_"
    return [
        (x * sigmoid(x) * z, "this is silu(x) * z: r is not in it"),
        (u * sigmoid(u), "this is silu(x + r): z is not in it"),
        (u * z, "this is (x + r) * z: SiLU is missing"),
        (sigmoid(u) * z, "this is the sigmoid of x + r, times z: the numerator of SiLU is u, not 1"),
        (u * sigmoid(-u) * z, "this is u / (1 + exp(u)): the sign of u has to change before Exp"),
        (sigmoid(-u) * z, f"the numerator is exp(-u): {overwritten}"),
        (z, f"1 + exp(-u) stands on both sides of the division, and z is left: {overwritten}"),
        (z / (u * sigmoid(u)), "the fraction is turned over, (1 + exp(-u)) / u: Div has the numerator first"),
        (u * exponential(u) * z, "this is u / exp(-u): 1 is missing below the line"),
        (u * exponential(u - 1) * z, "this is u / exp(1 - u): 1 is added behind Exp, not in front of it"),
        ((x * sigmoid(x) + r) * z, "this is (silu(x) + r) * z: r is added before SiLU, not behind it"),
        (x * sigmoid(x) * z + r, "this is silu(x) * z + r: r is added before SiLU, not at the end"),
        (u * sigmoid(z) * z, "this is silu(z) * (x + r): SiLU stands around z, and belongs around x + r"),
        (x * sigmoid(u) * z, "the numerator is x: it is u = x + r, in the exponential and above the line"),
        (sigmoid(u) * u + z, "this is silu(x + r) + z: the last operator is a product"),
    ]


def _once_through_memory(case: KernelCase, result: Result) -> str | None:
    """Return a complaint if the launch writes an intermediate result and reads it again, as slow as two launches."""
    least_in, least_out = 3 * case.inputs["x"].nbytes, case.inputs["x"].nbytes
    moved_in, moved_out = result.tally.bytes_in, result.tally.bytes_out
    if moved_in <= least_in and moved_out <= least_out:
        return None
    between = "x + r goes through memory" if moved_out > least_out else "an input comes in again"
    return (
        f"the numbers are right, but {moved_in} bytes come in and {moved_out} leave, where {least_in} and {least_out} "
        f"are enough: {between}. One launch alone is no fusion; the result between has to stay on the core"
    )


CHECK = KernelChecker(
    _cases,
    rtol=2e-6,  # five roundings, none of which cancels: the sum is taken as a float has it
    atol=1e-35,  # below -88.7, where exp(-u) is infinite, 0 stands for what is smaller than this
    symptoms=(_message,),
    demands=(from_basic_instructions, _once_through_memory),
    faults={
        "ub-never-written": "y leaves before an instruction wrote it, or an instruction reads what no other one wrote",
        "ub-out-of-bounds": "an instruction goes past the end of its buffer: n is the count",
    },
    auto_sync=True,
    traced=True,
)
