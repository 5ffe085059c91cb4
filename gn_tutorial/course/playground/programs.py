"""Reads the right and the wrong programs of tests/programs, and makes the launches that their comments ask for.

Every program gets two arrays of 1024 floats: x holds 0, 1, 2, ..., and y holds zeros. ``// expect: <id>`` names the
finding of a wrong program, ``// blocks: <n>`` asks for more than one block, ``// roles: in out`` for other roles of x
and y than in and inout, ``// options: <field>=<choice>`` for a choice of TwinOptions. The other comments are read by
tests/support/program_pairs.py.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.cpp.queries import comments, with_comments
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

#: Folders of tests/programs that hold other kinds of programs.
_OTHERS = ("families", "apis")
#: Patterns of comments. MARK: what a comment says for tests, at the end of a line.
MARK = re.compile(r" *// (?:(?:expect|also): [\w-]+|the other access|the cause)(?=$|  // )", re.MULTILINE)
EXPECT = re.compile(r"// expect: ([\w-]+)(?=$|  // also: )")
_BLOCKS = re.compile(r"// blocks: (\d+)")
_ROLES = re.compile(r"// roles: (\w+) (\w+)")
_OPTIONS = re.compile(r"// options: (\w+)=(\w+)")


def programs(folder: Path) -> dict[str, Path]:
    """Return ``check/name`` -> file for all programs in ``folder``, which is ``tests/programs``."""
    files = sorted(folder.glob("*/*.cpp"))
    return {f"{path.parent.name}/{path.stem}": path for path in files if path.parent.name not in _OTHERS}


def without_answer(text: str) -> str:
    """Return a program without the comments that name its findings and places. All lines keep their numbers."""
    return with_comments(text, lambda comment: MARK.sub("", comment))


def finding_of(text: str) -> str:
    """Return the id of the finding that a program's comments expect; empty for a right program."""
    return next((found[1] for _, one in comments(text) if (found := EXPECT.search(one))), "")


def is_special(text: str) -> bool:
    """Whether a program asks for roles or options, so that a command line that runs it must name them."""
    return any(_ROLES.fullmatch(one) or _OPTIONS.fullmatch(one) for _, one in comments(text))


def request(name: str, text: str, y: np.ndarray | None = None, **options: Any) -> LaunchRequest:
    """Return the launch of a program. ``options``: further fields of TwinOptions. A given ``y`` is written in place."""
    asked = [one for _, one in comments(text)]
    roles, blocks = (next(filter(None, map(one.fullmatch, asked)), None) for one in (_ROLES, _BLOCKS))
    of_x, of_y = (Role[role.upper()] for role in roles.groups()) if roles else (Role.IN, Role.INOUT)
    args = [
        LaunchArg("x", ArgKind.TENSOR, of_x, np.arange(1024, dtype=np.float32)),
        LaunchArg("y", ArgKind.TENSOR, of_y, np.zeros(1024, np.float32) if y is None else y),
    ]
    return LaunchRequest(
        entry=name.replace("/", "_"),
        args=args,
        blocks=int(blocks[1]) if blocks else 1,
        options=TwinOptions(**dict(found.groups() for one in asked if (found := _OPTIONS.fullmatch(one))), **options),
        isolated=False,
    )
