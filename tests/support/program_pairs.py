"""The pairs of programs under ``programs``: found, built and run, for their test and for the pages of diagnostics.

``programs/<check>/<name>_ok.cpp`` runs to its end without a diagnostic; ``..._bad.cpp`` has exactly the diagnostic of
its ``// expect: <id>`` comment, an error or a warning, on that line, besides those of ``// also: <id>``, and names as
the second place the line of ``// the other access``, if it has one. ``cause/<cause>_bad.cpp`` shows a cause of
causes.toml, and names the line of ``// the cause``, if it has one. ``// blocks: <n>`` asks for more than one block,
``// roles: in out`` for other
roles of x and y than in and inout, ``// options: <field>=<choice>`` for a choice of TwinOptions. All are compiled into
one library, to compile the headers once. No pytest here: the lint of the pages runs without it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import Built, build_kernel
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import KernelFault
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest, LaunchResult

PROGRAMS = Path(__file__).parents[1] / "programs"
SOURCES = {
    f"{path.parent.name}/{path.stem}": path
    for path in sorted(PROGRAMS.glob("*/*.cpp"))
    if path.parent.name not in ("families", "apis")
}
EXPECT = re.compile(r"// expect: ([\w-]+)(?=$|  // also: )")
BLOCKS = re.compile(r"^// blocks: (\d+)$", flags=re.MULTILINE)
ROLES = re.compile(r"^// roles: (\w+) (\w+)$", flags=re.MULTILINE)
OPTIONS = re.compile(r"^// options: (\w+)=(\w+)$", flags=re.MULTILINE)
ALSO = re.compile(r"// also: ([\w-]+)$")
OTHER = "// the other access"
CAUSE = "// the cause"


@functools.cache  # the pages of the catalogue ask for every program's, for each of their ids
def expected(path: Path) -> list[tuple[str, int]]:
    """The diagnostics that a program's comments ask for, with their lines."""
    return _marked(path, EXPECT)


def also(path: Path) -> list[tuple[str, int]]:
    """Diagnostics that come with the expected one, with their lines."""
    return _marked(path, ALSO)


def _marked(path: Path, mark: re.Pattern[str]) -> list[tuple[str, int]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(found.group(1), number) for number, line in enumerate(lines, 1) if (found := mark.search(line))]


@functools.cache
def library() -> Built:
    return build_kernel(together(list(SOURCES)), optimise=False)


def together(names: Sequence[str]) -> str:
    """One source with all these programs. #line keeps each one's own file and line numbers."""
    return "\n".join(f'#line 1 "{SOURCES[name]}"\n{SOURCES[name].read_text(encoding="utf-8")}' for name in names)


def run(name: str, y: np.ndarray | None = None, **more: Any) -> LaunchResult:
    """Launch a program as ``request`` says. Raises KernelFault as the launch does."""
    return launch(library().library, request(name, y, **more))


def request(name: str, y: np.ndarray | None = None, **more: Any) -> LaunchRequest:
    """A program's launch on x = 0, 1, 2, ... and y = 0, 1024 floats each; ``more`` are fields of TwinOptions.

    A ``y`` that is given is written in place.
    """
    text = SOURCES[name].read_text(encoding="utf-8")
    roles = ROLES.search(text)
    of_x, of_y = (Role[role.upper()] for role in roles.groups()) if roles else (Role.IN, Role.INOUT)
    args = [
        LaunchArg("x", ArgKind.TENSOR, of_x, np.arange(1024, dtype=np.float32)),
        LaunchArg("y", ArgKind.TENSOR, of_y, np.zeros(1024, np.float32) if y is None else y),
    ]
    blocks = BLOCKS.search(text)
    return LaunchRequest(
        entry=name.replace("/", "_"),
        args=args,
        blocks=int(blocks.group(1)) if blocks else 1,
        options=TwinOptions(**dict(OPTIONS.findall(text)), **more),
        isolated=False,
    )


def findings(name: str) -> tuple[Diagnostic, ...]:
    """What the twin has to say about a program, whether or not the launch failed for it."""
    try:
        failed, diagnostics, told = False, run(name).diagnostics, ""
    except KernelFault as fault:
        failed, diagnostics, told = True, fault.diagnostics, str(fault)
    assert failed == any(found.severity == "error" for found in diagnostics)
    assert failed == (SOURCES[name].name in told)
    return diagnostics
