"""The right and the wrong programs of tests/programs, with the launch that their comments ask for.

All compute on x = 0, 1, 2, ... and y = 0, 1024 floats each. ``// expect: <id>`` is the finding of a wrong one,
``// blocks: <n>`` asks for more than one block, ``// roles: in out`` for other roles of x and y than in and inout,
``// options: <field>=<choice>`` for a choice of TwinOptions. tests/support/program_pairs.py reads what only tests need.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

#: Folders of programs of other kinds.
_OTHERS = ("families", "apis")
_ANSWER = re.compile(r"[ ]*// (?:expect|also): [\w-]+", re.MULTILINE)
EXPECT = re.compile(r"// expect: ([\w-]+)(?=$|  // also: )", re.MULTILINE)
_BLOCKS = re.compile(r"^// blocks: (\d+)$", re.MULTILINE)
_ROLES = re.compile(r"^// roles: (\w+) (\w+)$", re.MULTILINE)
_OPTIONS = re.compile(r"^// options: (\w+)=(\w+)$", re.MULTILINE)


def programs(folder: Path) -> dict[str, Path]:
    """Return all programs in ``folder``, which is ``tests/programs``: ``check/name`` -> file."""
    files = sorted(folder.glob("*/*.cpp"))
    return {f"{path.parent.name}/{path.stem}": path for path in files if path.parent.name not in _OTHERS}


def without_answer(text: str) -> str:
    """Return a program without the comments that name its finding. Its lines keep their numbers."""
    return _ANSWER.sub("", text)


def is_special(text: str) -> bool:
    """Whether a program asks for roles or options, which a command line would have to name."""
    return bool(_ROLES.search(text) or _OPTIONS.search(text))


def request(name: str, text: str, y: np.ndarray | None = None, **options: Any) -> LaunchRequest:
    """Return a program's launch. ``options``: further fields of TwinOptions. A given ``y`` is written in place."""
    roles, blocks = _ROLES.search(text), _BLOCKS.search(text)
    of_x, of_y = (Role[role.upper()] for role in roles.groups()) if roles else (Role.IN, Role.INOUT)
    args = [
        LaunchArg("x", ArgKind.TENSOR, of_x, np.arange(1024, dtype=np.float32)),
        LaunchArg("y", ArgKind.TENSOR, of_y, np.zeros(1024, np.float32) if y is None else y),
    ]
    return LaunchRequest(
        entry=name.replace("/", "_"),
        args=args,
        blocks=int(blocks[1]) if blocks else 1,
        options=TwinOptions(**dict(_OPTIONS.findall(text)), **options),
        isolated=False,
    )
