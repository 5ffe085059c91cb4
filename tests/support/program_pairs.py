"""Finds, builds and runs the pairs of programs under ``programs``, for their test and for the pages of diagnostics.

``programs/<check>/<name>_ok.cpp`` runs to its end without a diagnostic; ``..._bad.cpp`` has exactly the diagnostic of
its ``// expect: <id>`` comment, an error or a warning, on that line, besides those of ``// also: <id>``, and names as
the second place the line of ``// the other access``, if it has one. ``cause/<cause>_bad.cpp`` shows a cause of
causes.toml, and names the line of ``// the cause``, if it has one; what ``extent/`` shows is in test_extents.py.
course/playground/programs reads the other comments.
They are compiled into two libraries, to compile the headers once: those with plain pointers, whose code reports each
access (``compiler/pointer_hooks``), and all others. No pytest here: the lint of the pages runs without it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.compiler.build import Built, build_kernel
from gn_tutorial.course.playground import programs
from gn_tutorial.cpp.device_code import DeviceCode
from gn_tutorial.cpp.plain_pointers import uses_plain_pointers
from gn_tutorial.cpp.syntax import parse
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import KernelFault
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchRequest, LaunchResult

PROGRAMS = Path(__file__).parents[1] / "programs"
SOURCES = programs.programs(PROGRAMS)
ALSO = re.compile(r"// also: ([\w-]+)$")
OTHER = "// the other access"
CAUSE = "// the cause"


@functools.cache  # the catalogue's pages read every program's for each of their ids
def expected(path: Path) -> list[tuple[str, int]]:
    """Return the diagnostics that a program's comments expect, with their lines."""
    return _marked(path, programs.EXPECT)


def also(path: Path) -> list[tuple[str, int]]:
    """Return diagnostics that come with the expected one, with their lines."""
    return _marked(path, ALSO)


def _marked(path: Path, mark: re.Pattern[str]) -> list[tuple[str, int]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(found.group(1), number) for number, line in enumerate(lines, 1) if (found := mark.search(line))]


@functools.cache
def _has_plain_pointers(name: str) -> bool:
    return uses_plain_pointers(DeviceCode(parse(SOURCES[name].read_text(encoding="utf-8"))))


@functools.cache
def _library(*, plain_pointers: bool) -> Built:
    names = [name for name in SOURCES if _has_plain_pointers(name) == plain_pointers]
    return build_kernel(together(names), optimise=False)


def together(names: Sequence[str]) -> str:
    """Return one source with all these programs. #line keeps each one's own file and line numbers."""
    return "\n".join(f'#line 1 "{SOURCES[name]}"\n{SOURCES[name].read_text(encoding="utf-8")}' for name in names)


def run(name: str, y: np.ndarray | None = None, **more: Any) -> LaunchResult:
    """Launch a program with the request of ``request``. Raises KernelFault as the launch does."""
    return launch(_library(plain_pointers=_has_plain_pointers(name)).library, request(name, y, **more))


def request(name: str, y: np.ndarray | None = None, **more: Any) -> LaunchRequest:
    """Return a program's launch; ``more`` are fields of TwinOptions. A given ``y`` is written in place."""
    return programs.request(name, SOURCES[name].read_text(encoding="utf-8"), y, **more)


def findings(name: str) -> tuple[Diagnostic, ...]:
    """Return the twin's diagnostics for a program, whether or not the launch failed."""
    try:
        failed, diagnostics, told = False, run(name).diagnostics, ""
    except KernelFault as fault:
        failed, diagnostics, told = True, fault.diagnostics, str(fault)
    assert failed == any(found.severity == "error" for found in diagnostics)
    assert failed == (SOURCES[name].name in told)
    return diagnostics
