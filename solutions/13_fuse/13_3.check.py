"""13.3: which of five fusions pay, and what decides it. Every answer is launched and modelled when it is checked."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import kernels_root
from gn_tutorial.profiler.bench.fusion_gain import fusion_gain
from gn_tutorial.profiler.profile import Profile, profile
from gn_tutorial.timing.machine import default_machine

_FLOAT16 = 1  # as CANN numbers it (ge::DataType)


@dataclass(frozen=True)
class _Pair:
    """The launches of two ways to one result: without what the question names, and with it."""

    before: tuple[Profile, ...]
    after: tuple[Profile, ...]

    @property
    def saved(self) -> float:
        """Modelled microseconds; negative where the second way is the slower one."""
        return sum(one.microseconds for one in self.before) - sum(one.microseconds for one in self.after)

    @property
    def pays(self) -> str:
        return "yes" if self.saved > 0 else "no"

    @property
    def because(self) -> str:
        """The word for most of the difference; the exercise's file explains the words."""
        slow, quick = (self.before, self.after) if self.saved > 0 else (self.after, self.before)
        if len(slow) <= len(quick) and _orders(slow) > 1.5 * _orders(quick):
            return "tiles"
        if len(slow) == len(quick):
            return "vector" if slow[-1].binding.name == "vector unit" else "bytes"  # the backward pass
        machine = default_machine()
        return "launch" if machine.launch(int(machine.cores)) > abs(self.saved) / 2 else "bytes"


def _orders(launches: tuple[Profile, ...]) -> int:
    """Return the number of copies in and out, which grows with shorter tiles."""
    return sum(one.tally.mte2 + one.tally.mte3 for one in launches)


@functools.cache
def _pair(question: str) -> _Pair:
    if question == "e":
        return _sigma(1 << 22)
    dtype, operator, shape, inputs, attributes = _FUSIONS[question]
    gain = fusion_gain(operator, *[np.full(shape, 0.25, dtype)] * inputs, **attributes)
    return _Pair(gain.parts, (gain.fused,))


_FUSIONS: dict[str, tuple[str, str, tuple[int, ...], int, dict[str, Any]]] = {
    "a": ("float16", "swiglu", (1 << 11,), 2, {}),
    "b": ("float16", "add_relu", (1 << 23,), 2, {}),
    "c": ("float32", "add_rms_norm", (8192, 64), 2, {}),
    "d": ("float32", "group_norm_silu", (16, 64, 32, 32), 1, {"num_groups": 32}),
}


def _sigma(n: int) -> _Pair:
    """Return SwiGLU and its gradients in halves: with sigma computed again, and with sigma saved."""
    x, cores = np.full(n, 0.25, np.float16), int(default_machine().cores)
    saving = kernel(kernels_root() / "fusion" / "swiglu_saving.cpp")

    def launch(entry: str, inputs: int) -> Profile:
        arrays = [*[x] * inputs, *[out(n, "float16") for _ in range(2)]]
        return profile(saving, *arrays, n, _FLOAT16, entry=entry, blocks=cores)

    again = profile("swiglu/chain", x, x), profile("swiglu_backward/map", x, x, x)
    return _Pair(again, (launch("swiglu_saving", 2), launch("swiglu_from_saved", 4)))


def _pays(question: str, asks: str, slip: dict[str, str]) -> Prediction:
    return Prediction(f"{question}_pays", asks, lambda: _pair(question).pays, slip, choices=("yes", "no"))


def _because(question: str, slips: dict[str, str], asks: str = "what decides it") -> Prediction:
    words = ("launch", "bytes", "tiles", "vector")
    return Prediction(f"{question}_because", asks, lambda: _pair(question).because, slips, choices=words)


def _gain() -> float:
    pair = _pair("a")
    after = sum(one.microseconds for one in pair.after)
    return round((after + pair.saved) / after, 2)


CHECK = PredictChecker(
    (
        _pays(
            "a",
            "SwiGLU of 2,048 halves in one launch",
            {"no": "Two launches start one after the other, and the fused one starts once"},
        ),
        _because(
            "a",
            {
                "bytes": "So few bytes take well below a microsecond; how long does a launch take to start?",
                "tiles": "A core has less than one tile here, with the fusion and without",
                "vector": "V of a core works for about a tenth of a microsecond",
            },
        ),
        Prediction(
            "a_gain",
            "how many times as fast the fused launch is",
            _gain,
            {5 / 3: "That is the ratio of the bytes, and this launch does not wait for bytes"},
            within=0.05,
            above="Two launches became one: the start cannot get more than twice as cheap",
            below="Nearly all of the time is the start of a launch",
        ),
        _pays(
            "b",
            "add and ReLU of 8,388,608 halves in one launch",
            {"no": "Five tensors went through memory, and now there are three"},
        ),
        _because(
            "b",
            {
                "launch": "A launch starts in 7.8 us, whatever n is. How long does HBM take for a tensor of 16.8 MB?",
                "tiles": "A tile of the fused kernel is as long as those of the parts",
                "vector": "V works while HBM delivers, and has time to spare, fused or not",
            },
        ),
        _pays(
            "c",
            "sum and RMSNorm of 8,192 rows of 64 floats in one launch",
            {"yes": "The sum alone has tiles of 4,096 elements. What is a tile of the fused kernel? (Section 4)"},
        ),
        _because(
            "c",
            {
                "bytes": "One launch moves fewer bytes than two, and is the slower one",
                "launch": "One launch starts once, and is the slower one all the same",
                "vector": "V works for 36 of 117 us in the fused launch. Who gives the orders for such short copies?",
            },
        ),
        _pays(
            "d",
            "GroupNorm and SiLU in one launch",
            {"no": "V works 7.8 us in place of 6.9, but a launch is spared. How long does that take?"},
        ),
        _because(
            "d",
            {
                "bytes": "The fused launch waits for V, so bytes that are spared gain little; compare with 7.8 us",
                "tiles": "What is faster here is the fused launch, and its tiles are no longer than GroupNorm's",
                "vector": "V has more to do in the fused launch, and that is the faster one",
            },
        ),
        _pays(
            "e",
            "SwiGLU that saves sigma for its backward pass",
            {"no": "More is read. But compare the time of V with that of the bytes, launch by launch: what is more?"},
        ),
        _because(
            "e",
            {
                "launch": "Both ways have two launches",
                "bytes": "The way that saves sigma reads more bytes, and is the faster one",
                "tiles": "The tiles of both ways are about as long. Look at the times of V",
            },
        ),
    )
)
