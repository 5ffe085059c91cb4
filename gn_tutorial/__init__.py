"""gn_tutorial: write an Ascend C operator on a laptop, run it on a CPU twin of the NPU, and check it against NumPy.

import gn_tutorial as gnt
k = gnt.kernel("group_norm/scalar")
result = k(x, gamma, beta, num_groups=4)

This is the door: notebooks, exercises and users import nothing deeper. What needs Matplotlib, PyTorch or the course's
exercises is imported when it is first named (``_LAZY``).
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from gn_tutorial import errors
from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.abi.trace import Kind, Pipe
from gn_tutorial.operators.arguments import inout, out, workspace
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.profiler.diff import diff
from gn_tutorial.profiler.profile import Profile, profile
from gn_tutorial.timing.machine import load_machine

#: Name -> the module that it is, or module and name.
_LAZY = {
    "bench": "bench",
    "check": "exercises.grade:check",
    "doctor": "cli.doctor",
    "exam_goals": "exam.goals_report:exam_goals",
    "exam_theory": "exam.browser:exam_theory",
    "fuse": "torch_ops.fusion:fuse",
    "fuse_backend": "torch_ops.fusion:backend",
    "fusion_gain": "fusion.gain:fusion_gain",
    "grade": "capstone.grading:grade",
    "host": "host",
    "lessons": "exercises.lessons",
    "new_operator": "capstone.starter:new_operator",
    "nn": "nn",
    "plot": "plot",
    "project": "projects.project:project",
    "puzzle": "exercises.puzzles.check:puzzle",
    "quiz": "exercises.quiz:quiz",
    "reference": "reference",
    "save_chrome_trace": "profiler.chrome_trace:save_chrome_trace",
}

__all__ = [
    "Kernel",
    "Kind",
    "Limits",
    "Pipe",
    "Profile",
    "TwinOptions",
    "__version__",
    "diff",
    "errors",
    "inout",
    "kernel",
    "load_machine",
    "out",
    "profile",
    "workspace",
    *_LAZY,
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # 40 ms, and most programs never ask

        return version("gn_tutorial")
    if name not in _LAZY:
        raise AttributeError(f"module 'gn_tutorial' has no attribute '{name}'")
    module, _, item = _LAZY[name].partition(":")
    found = import_module(f"gn_tutorial.{module}")
    found = getattr(found, item) if item else found
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if os.environ.get("JPY_SESSION_NAME"):  # in a kernel that knows its notebook, or in what such a kernel has started
    import_module("gn_tutorial.course.lab.in_kernel").attach()
