"""12.1: register an operator in PyTorch. 12.2: mend a registration. Both are probed in a process that has PyTorch."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gn_tutorial import host
from gn_tutorial.course.exercises.check_python import FunctionText, PythonCase, PythonChecker

#: Probe -> what it looks at, in words. In the order in which one mends.
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
#: File of probes, the section of the notebook that explains what they ask, and the probes.
_FILES = (("torch_fake_probes.py", "The fake", _FAKES), ("torch_gradient_probes.py", "The gradient", _GRADIENTS))
#: Importing PyTorch takes a second, and ten where others work too.
_SECONDS = 60.0
_OWN = {
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
    rest = [line for line in own if not line.startswith(("from __future__", "from gn_tutorial"))]
    return "\n".join([(folder / "torch_probe_data.py").read_text(encoding="utf-8"), *rest])


def _cases(op: str, rng: np.random.Generator) -> Sequence[PythonCase]:
    seed = int(rng.integers(1 << 30))
    return [
        PythonCase(label, op, {"op": op, "seed": seed}, {}, probe=FunctionText(_text(name), probe), section=section)
        for name, section, probes in _FILES
        for probe, label in probes.items()
    ]


def _compile_host_api() -> None:
    """Both calls of 12.2, once. Compiling them takes minutes on a busy machine, which is no part of an attempt."""
    x, ones = np.ones((1, 2), np.float32), np.ones(2, np.float32)
    made = host.group_norm(x, ones, ones, num_groups=1)
    host.group_norm_backward(x, x, made.mean, made.rstd, ones, num_groups=1)


REGISTER_RMS_NORM = PythonChecker(
    functools.partial(_cases, "rms_norm"), 0, 0, forbidden=_OWN, seconds=_SECONDS, libraries=("torch",)
)
MEND_LAYER_NORM = PythonChecker(
    functools.partial(_cases, "layer_norm"),
    0,
    0,
    forbidden=_OWN,
    seconds=_SECONDS,
    libraries=("torch", "gn_tutorial"),
    before=_compile_host_api,
)
