"""12.2: mend a registration. Probed in a process that has PyTorch."""

from __future__ import annotations

import functools

import numpy as np

from gn_tutorial import host
from gn_tutorial.course.exercises.check_python import PythonChecker

from .registration_cases import FORBIDDEN, SECONDS, probe_cases


def _compile_host_api() -> None:
    """Make both calls of 12.2: compiling them takes minutes on a busy machine, too long for an attempt's seconds."""
    x, ones = np.ones((1, 2), np.float32), np.ones(2, np.float32)
    made = host.group_norm(x, ones, ones, num_groups=1)
    host.group_norm_backward(x, x, made.mean, made.rstd, ones, num_groups=1)


CHECK = PythonChecker(
    functools.partial(probe_cases, "layer_norm"),
    0,
    0,
    forbidden=FORBIDDEN,
    seconds=SECONDS,
    libraries=("torch", "gn_tutorial"),
    before=_compile_host_api,
)
