"""gn_tutorial: write an Ascend C operator on a laptop, run it on a CPU twin of the NPU, and check it against NumPy.

import gn_tutorial as gnt
k = gnt.kernel("group_norm/scalar")
result = k(x, gamma, beta, num_groups=4)

Notebooks, exercises and users import only this module. The names in ``_LAZY`` are imported when they are first used,
because many of them need Matplotlib, PyTorch or the course's exercises.
"""

from __future__ import annotations

import os
import sys
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

#: Public name -> the module that it stands for, or ``module:object`` for an object in that module.
_LAZY = {
    "bench": "profiler.bench",
    "check": "course.exercises.grade:check",
    "doctor": "cli.machine_report",
    "exam_goals": "course.exam.goals_report:exam_goals",
    "exam_theory": "course.exam.browser:exam_theory",
    "fuse": "torch_ops.fusion:fuse",
    "fuse_backend": "torch_ops.fusion:backend",
    "fusion_gain": "profiler.bench.fusion_gain:fusion_gain",
    "grade": "course.capstone.grading:grade",
    "host": "host",
    "lessons": "course.lessons",
    "new_operator": "course.capstone.starter:new_operator",
    "nn": "nn",
    "plot": "plot",
    "project": "projects.project:project",
    "puzzle": "course.puzzles.check:puzzle",
    "quiz": "course.quizzes.quiz:quiz",
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
        from importlib.metadata import version  # this import takes 40 ms, and few programs need the version

        return version("gn_tutorial")
    if name not in _LAZY:
        raise AttributeError(f"module 'gn_tutorial' has no attribute '{name}'")
    module, _, item = _LAZY[name].partition(":")
    found = import_module(f"gn_tutorial.{module}")
    found = getattr(found, item) if item else found
    globals()[name] = found
    return found


class _OldPath:
    """Finds the package ``gn_tutorial.course.lab`` also as ``gn_tutorial.lab``, its name before version 0.2.0.

    The settings of a JupyterHub of that time start ``python -m gn_tutorial.lab.hub``.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> Any:
        """Return the module's spec at its new place, or None for every other name."""
        if name != "gn_tutorial.lab":
            return None
        from importlib.util import spec_from_file_location

        room = os.path.join(os.path.dirname(__file__), "course", "lab")
        return spec_from_file_location(name, os.path.join(room, "__init__.py"), submodule_search_locations=[room])


sys.meta_path.append(_OldPath)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if os.environ.get("JPY_SESSION_NAME"):  # in a Jupyter kernel that knows its notebook, or in a process started there
    import_module("gn_tutorial.course.lab.in_kernel").attach()
