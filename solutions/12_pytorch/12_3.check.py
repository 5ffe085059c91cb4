"""12.3: both calls of GroupNormBackward, made by hand. Probed in a process that has the host API."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gn_tutorial import host
from gn_tutorial.course.exercises.check_python import FunctionText, PythonCase, PythonChecker

#: Call, in words -> probe, and its arguments besides the seed.
_CALLS = {
    "three axes, all gradients": ("computes", {"shape": "3 6 5"}),
    "five axes": ("computes", {"shape": "2 6 2 3 2"}),
    "two axes": ("computes", {"shape": "4 6"}),
    "weight is None": ("computes", {"shape": "3 6 5", "weighted": 0}),
    "the gradient of x alone": ("computes", {"shape": "3 6 5", "mask": "100"}),
    "the gradients of weight and bias": ("computes", {"shape": "3 6 5", "mask": "011"}),
    "num_groups does not divide C": ("refuses", {"num_groups": 4, "code": 161002}),
    "rstd is None": ("refuses", {"num_groups": 3, "code": 161001}),
}

_OWN = {
    "group_norm_backward": "it makes both calls for you",
    "reference": "the kernel computes the gradients",
    "c_library": "first_call and second_call are enough",
}


def _cases(rng: np.random.Generator) -> Sequence[PythonCase]:
    text = Path(__file__).with_name("12_3.probes.py").read_text(encoding="utf-8")
    return [
        PythonCase(label, "gradients", {"seed": int(rng.integers(1 << 30)), **more}, {}, probe=FunctionText(text, name))
        for label, (name, more) in _CALLS.items()
    ]


def _compile() -> None:
    """Compile the host API and its kernel: that takes minutes on a busy machine, too long for an attempt's seconds."""
    x, one = np.ones((1, 2), np.float32), np.ones((1, 1), np.float32)
    host.group_norm_backward(x, x, one, one, num_groups=1)


CHECK = PythonChecker(_cases, 0, 0, forbidden=_OWN, seconds=30.0, libraries=("gn_tutorial",), before=_compile)
