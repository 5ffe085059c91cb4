"""The calls with which the checks of 12.1 and 12.2 probe a registration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gn_tutorial.course.exercises.check_python import FunctionText, PythonCase

#: Probe -> what it looks at, in words. In the order in which a learner should mend.
_FAKES: Mapping[str, str] = {
    "forward_fake": "the fake beside the operator",
    "fake_defaults": "calls without eps",
    "backward_fake": "the backward operator's fake, under all masks",
}

_GRADIENTS: Mapping[str, str] = {
    "gradients": "all gradients, against the formula in float64",
    "mask": "one input needs a gradient",
    "statistics": "the results without a gradient",
    "saved": "what is kept for the backward pass",
}

#: A file of probes, the section of the notebook that explains their subject, and the probes.
_FILES = (("fake_probes.py", "The fake", _FAKES), ("gradient_probes.py", "The gradient", _GRADIENTS))

#: Importing PyTorch takes a second, and ten on a busy machine.
SECONDS = 60.0

FORBIDDEN = {
    "functional": "the two operators of the file compute",
    "autograd": "PyTorch's own derivative is what your gradient is compared with",
    "func": "PyTorch's own derivative is what your gradient is compared with",
    "aten": "the two operators of the file compute",
    "torch_ops": "it has the finished registration",
    "nn": "it has the finished registration",
}


def _text(name: str) -> str:
    """The text of a file of probes behind that of their data: an attempt's process cannot import either of them."""
    folder = Path(__file__).parent
    own = (folder / name).read_text(encoding="utf-8").splitlines()
    rest = [line for line in own if not line.startswith(("from __future__", "from .probe_data"))]
    return "\n".join([(folder / "probe_data.py").read_text(encoding="utf-8"), *rest])


def probe_cases(op: str, rng: np.random.Generator) -> Sequence[PythonCase]:
    """A call of each probe, for the operator ``op``."""
    seed = int(rng.integers(1 << 30))
    return [
        PythonCase(label, op, {"op": op, "seed": seed}, {}, probe=FunctionText(_text(name), probe), section=section)
        for name, section, probes in _FILES
        for probe, label in probes.items()
    ]
