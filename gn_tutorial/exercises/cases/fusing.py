"""13.1: a chain of operators as one kernel. 13.2: a pattern and its filter. 13.3: which of five fusions pay."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gn_tutorial.exercises.check_kernel import KernelCase, KernelChecker, by_scalars, unwritten
from gn_tutorial.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.exercises.check_python import FunctionText, PythonCase, PythonChecker
from gn_tutorial.exercises.compare import spots
from gn_tutorial.fusion.gain import fusion_gain
from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import kernels_root
from gn_tutorial.operators.result import Result
from gn_tutorial.profiler.profile import profile
from gn_tutorial.reference import silu
from gn_tutorial.timing.machine import default_machine

_TILE = 1024  # kTile of the exercise's kernel
#: Where no exponential has left what a float holds, so that the formula decides and not the overflow.
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
    # The sum is rounded once, in every order of instructions; where x and r nearly cancel, that decides the digits.
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

    def sigmoid(v: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-np.clip(v, -_MODERATE * 4, _MODERATE * 4)))

    return [
        (x * sigmoid(x) * z, "this is silu(x) * z: r is not in it"),
        (u * sigmoid(u), "this is silu(x + r): z is not in it"),
        (u * z, "this is (x + r) * z: SiLU is missing"),
        (sigmoid(u) * z, "this is the sigmoid of x + r, times z: the numerator of SiLU is u, not 1"),
        (u * sigmoid(-u) * z, "this is u / (1 + exp(u)): the sign of u has to change before Exp"),
        ((x * sigmoid(x) + r) * z, "this is (silu(x) + r) * z: r is added before SiLU, not behind it"),
        (x * sigmoid(x) * z + r, "this is silu(x) * z + r: r is added before SiLU, not at the end"),
        (u * sigmoid(z) * z, "this is silu(z) * (x + r): SiLU stands around z, and belongs around x + r"),
        (x * sigmoid(u) * z, "the numerator is x: it is u = x + r, in the exponential and above the line"),
        (sigmoid(u) * u + z, "this is silu(x + r) + z: the last operator is a product"),
    ]


def _by_vector_unit(case: KernelCase, result: Result) -> str | None:
    return by_scalars(result, case.inputs["x"].size)


def _once_through_memory(case: KernelCase, result: Result) -> str | None:
    """A launch that writes a result between and reads it again is as slow as two."""
    least_in, least_out = 3 * case.inputs["x"].nbytes, case.inputs["x"].nbytes
    moved_in, moved_out = result.tally.bytes_in, result.tally.bytes_out
    if moved_in <= least_in and moved_out <= least_out:
        return None
    between = "x + r goes through memory" if moved_out > least_out else "an input comes in again"
    return (
        f"the numbers are right, but {moved_in} bytes come in and {moved_out} leave, where {least_in} and {least_out} "
        f"are enough: {between}. One launch alone is no fusion; the result between has to stay on the core"
    )


GATED_SUM = KernelChecker(
    _cases,
    rtol=2e-6,  # five roundings, none of which cancels: the sum is taken as a float has it
    atol=1e-35,  # below -88.7, where exp(-u) is infinite, 0 stands for what is smaller than this
    symptoms=(_message,),
    demands=(_by_vector_unit, _once_through_memory),
    faults={
        "ub-never-written": "y leaves before an instruction wrote it, or an instruction reads what no other one wrote",
        "ub-out-of-bounds": "an instruction goes past the end of its buffer: n is the count",
    },
    auto_sync=True,
)

#: Probe -> what it looks at, in words.
_PROBES: Mapping[str, str] = {
    "both_orders": "the layer in both orders",
    "what_the_kernel_takes": "tensors that the kernel refuses",
    "unknown": "a graph without shapes",
    "others": "expressions that look like the layer",
}


def _pattern_cases(rng: np.random.Generator) -> Sequence[PythonCase]:
    text = (Path(__file__).parent / "torch_pattern_probes.py").read_text(encoding="utf-8")
    text = text.replace("from __future__ import annotations\n", "")
    seed = int(rng.integers(1 << 30))
    return [
        PythonCase(label, "fuse", {"seed": seed}, {}, probe=FunctionText(text, probe))
        for probe, label in _PROBES.items()
    ]


#: Importing PyTorch takes a second, and ten where others work too.
GATE_PATTERN = PythonChecker(_pattern_cases, 0, 0, seconds=60.0, libraries=("torch",))

_N = 1 << 20  # elements of the launches in 13.3, where its text says no other number
_SMALL, _LARGE = 1 << 12, 1 << 22


@functools.cache
def _modelled(name: str, n: int = _N) -> tuple[float, float]:
    """Modelled microseconds without the fusion, and with it: one of add_relu, horner, shared, saved."""
    x = np.full(n, 0.25, np.float32)
    if name == "add_relu":
        return fusion_gain("add_relu", x, x).microseconds
    cores = int(default_machine().cores)

    def launch(file: str, entry: str, inputs: int, outputs: int = 1) -> float:
        found = kernel(kernels_root() / "fusion" / file)
        arrays = [*[x] * inputs, *[out(n) for _ in range(outputs)]]
        return profile(found, *arrays, n, 0, entry=entry, blocks=cores).microseconds

    if name == "saved":
        before = profile("swiglu/chain", x, x).microseconds + profile("swiglu_backward/map", x, x, x).microseconds
        file = "swiglu_saving.cpp"
        return before, launch(file, "swiglu_saving", 2, 2) + launch(file, "swiglu_from_saved", 4, 2)
    halves = launch("horner.cpp", "first", 1) + launch("horner.cpp", "rest", 2)
    return halves, launch("horner.cpp", "own" if name == "horner" else "shared", 1)


def _pays(name: str, n: int = _N) -> str:
    before, after = _modelled(name, n)
    return "yes" if after < before else "no"


def _saved_by(name: str, n: int = _N) -> str:
    """What most of the saved time is: the start of a launch, or the bytes."""
    before, after = _modelled(name, n)
    machine = default_machine()
    return "launch" if machine.launch(int(machine.cores)) > (before - after) / 2 else "bytes"


def _gain(name: str, n: int) -> float:
    before, after = _modelled(name, n)
    return round(before / after, 2)


_WHETHER, _WHY = ("yes", "no"), ("launch", "bytes", "tiles")

WHICH_PAY = PredictChecker(
    (
        Prediction(
            "a_pays",
            "add and ReLU of 4,096 floats in one launch",
            lambda: _pays("add_relu", _SMALL),
            {"no": "Two launches start one after the other, and the fused one starts once"},
            choices=_WHETHER,
        ),
        Prediction(
            "a_because",
            "what most of that time is",
            lambda: _saved_by("add_relu", _SMALL),
            {
                "bytes": "So few bytes take well below a microsecond; how long does a launch take to start?",
                "tiles": "A core has less than one tile here, with the fusion and without",
            },
            choices=_WHY,
        ),
        Prediction(
            "a_gain",
            "how many times as fast the fused launch is",
            lambda: _gain("add_relu", _SMALL),
            {5 / 3: "That is the ratio of the bytes, and this launch does not wait for bytes"},
            within=0.05,
            above="Two launches became one: the start cannot get more than twice as cheap",
            below="Nearly all of the time is the start of a launch",
        ),
        Prediction(
            "b_pays",
            "add and ReLU of 4,194,304 floats in one launch",
            lambda: _pays("add_relu", _LARGE),
            {"no": "Five tensors went through memory, and now there are three"},
            choices=_WHETHER,
        ),
        Prediction(
            "b_because",
            "what most of that time is",
            lambda: _saved_by("add_relu", _LARGE),
            {
                "launch": "A launch starts in 7.8 us, whatever n is. How long does HBM take for 16 MiB?",
                "tiles": "The fused kernel has tiles of 4096, as the others have",
            },
            choices=_WHY,
        ),
        Prediction(
            "c_pays",
            "60 values in one launch, each in a tensor of its own",
            lambda: _pays("horner"),
            {"yes": "Look at the last table of section 5: what happens to the length of a tile?"},
            choices=_WHETHER,
        ),
        Prediction(
            "c_because",
            "what decides it",
            lambda: "tiles",
            {
                "bytes": "One launch moves fewer bytes than two, and is the slower one",
                "launch": "One launch starts once, and is the slower one all the same",
            },
            choices=_WHY,
        ),
        Prediction(
            "d_pays",
            "the same 60 values with one tensor for all of them",
            lambda: _pays("shared"),
            {"no": "The tiles are as long as a tile gets, and a launch is saved"},
            choices=_WHETHER,
        ),
        Prediction(
            "d_because",
            "what most of that time is",
            lambda: _saved_by("shared"),
            {
                "bytes": "V is the busiest pipe of all three launches, and copies run in its shadow",
                "tiles": "The tiles help a little, too; compare with the 7.8 us of a launch",
            },
            choices=_WHY,
        ),
        Prediction(
            "e_pays",
            "SwiGLU that saves sigma for its backward pass",
            lambda: _pays("saved"),
            {"yes": "Both launches of the saving pair wait for memory. What does saving do to the bytes?"},
            choices=_WHETHER,
        ),
        Prediction(
            "e_because",
            "what decides it",
            lambda: "bytes",
            {
                "launch": "Both ways have two launches",
                "tiles": "The saving pair has no shorter tiles than the other: look at the bytes",
            },
            choices=_WHY,
        ),
    )
)
