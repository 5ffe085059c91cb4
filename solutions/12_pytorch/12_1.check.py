"""12.1: register an operator in PyTorch. Probed in a process that has PyTorch."""

from __future__ import annotations

import functools

from gn_tutorial.course.exercises.check_python import PythonChecker

from .registration_cases import FORBIDDEN, SECONDS, probe_cases

CHECK = PythonChecker(
    functools.partial(probe_cases, "rms_norm"), 0, 0, forbidden=FORBIDDEN, seconds=SECONDS, libraries=("torch",)
)
