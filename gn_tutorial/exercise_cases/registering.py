"""11.1: register an operator in PyTorch. 11.2: mend a registration. Both are probed in a process that has PyTorch."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gn_tutorial.check_python import Code, PythonCase, PythonChecker

#: Probe of torch_probes -> what it looks at, in words. In the order in which one mends.
_PROBES: Mapping[str, str] = {
    "forward_fake": "the fake beside the operator",
    "fake_defaults": "calls without eps",
    "backward_fake": "the backward operator's fake, under all masks",
    "gradients": "all gradients, against the formula in float64",
    "mask": "one input needs a gradient",
    "statistics": "the results without a gradient",
    "saved": "what is kept for the backward pass",
}
_OWN = {
    "functional": "the two operators of the file compute",
    "autograd": "PyTorch's own derivative is what your gradient is compared with",
    "func": "PyTorch's own derivative is what your gradient is compared with",
    "aten": "the two operators of the file compute",
    "torch_ops": "it has the finished registration",
    "nn": "it has the finished registration",
}


def _cases(op: str, rng: np.random.Generator) -> Sequence[PythonCase]:
    text = Path(__file__).with_name("torch_probes.py").read_text(encoding="utf-8")
    seed = int(rng.integers(1 << 30))
    return [
        PythonCase(label, op, {"op": op, "seed": seed}, {}, probe=Code(text, probe)) for probe, label in _PROBES.items()
    ]


# Importing PyTorch takes seconds where others work too; 11.2 may be the first to compile the host API and its kernels.
REGISTER_RMS_NORM = PythonChecker(
    functools.partial(_cases, "rms_norm"), 0, 0, forbidden=_OWN, seconds=120.0, libraries=("torch",)
)
MEND_LAYER_NORM = PythonChecker(
    functools.partial(_cases, "layer_norm"), 0, 0, forbidden=_OWN, seconds=600.0, libraries=("torch", "gn_tutorial")
)
