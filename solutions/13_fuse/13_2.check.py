"""13.2: a pattern and its filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gn_tutorial.course.exercises.check_python import FunctionText, PythonCase, PythonChecker

#: Probe -> what it looks at, in words.
_PROBES: Mapping[str, str] = {
    "both_orders": "the layer in both orders",
    "what_the_kernel_takes": "tensors that the kernel refuses",
    "unknown": "a graph without shapes",
    "others": "expressions that look like the layer",
}


def _pattern_cases(rng: np.random.Generator) -> Sequence[PythonCase]:
    text = Path(__file__).with_name("13_2.probes.py").read_text(encoding="utf-8")
    text = text.replace("from __future__ import annotations\n", "")
    seed = int(rng.integers(1 << 30))
    return [
        PythonCase(label, "fuse", {"seed": seed}, {}, probe=FunctionText(text, probe))
        for probe, label in _PROBES.items()
    ]


#: Importing PyTorch takes a second, and ten on a busy machine.
CHECK = PythonChecker(_pattern_cases, 0, 0, seconds=60.0, libraries=("torch",))
