"""``gnt new``: makes an operator's folder, a copy of one in ``exercises/capstone`` under the name the learner chose."""

from __future__ import annotations

import re
from pathlib import Path

from gn_tutorial.errors import ArgumentError, shown
from gn_tutorial.operators.registry import load_registry
from gn_tutorial.projects.new_project import refuse_existing, write_project
from gn_tutorial.toml_file import course_folder

#: The operators that the capstone grades, and "own": one whose reference the learner writes too.
OPERATORS = ("softmax", "layer_norm", "rms_norm", "own")
_FOLDERS = {name: f"my_{name}" for name in OPERATORS} | {"own": "my_operator"}
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
#: Names that no operator may have, because they mean something else in the C++ and Python files of its folder.
#: `reference` is the name of one of these files. (The files use the name in camel case too. That form is not checked.)
_TAKEN = frozenset(
    "auto bool break case char class const def double else enum float for half if import in int long new operator pass "
    "reference return short struct switch template this tiling void while".split()
)


def capstone_folder() -> Path:
    """Return the course's folder of capstones: the folders that learners start from, and the graded cases."""
    return course_folder("exercises", "capstone/*/op.toml") / "capstone"


def start_folder(operator: str) -> Path:
    """Return the folder from which a learner starts ``operator``. Raises ArgumentError for a name not in OPERATORS."""
    if operator not in OPERATORS:
        raise ArgumentError(f"there is no capstone '{operator}'", hint=f"one of {', '.join(OPERATORS)}")
    return capstone_folder() / _FOLDERS[operator]


def new_operator(folder: Path | str, operator: str = "own") -> Path:
    """Write the folder of a new operator and return its path. The operator gets the folder's name.

    operator: one of OPERATORS. The files run unchanged; comments YOUR TURN mark the gaps. Raises ArgumentError for an
    unknown operator, for a name that is invalid or taken, and if ``folder`` exists, is no path, or cannot be written.
    """
    if not isinstance(folder, (str, Path)):
        raise ArgumentError(f"gnt.new_operator takes the path of a folder, not {shown(folder, 60)}")
    start, root = start_folder(operator), Path(folder).expanduser()
    name = root.name or root.resolve().name
    _check_name(name)
    refuse_existing(root, "name a folder that does not exist; nothing is overwritten")
    return write_project(named(start, name), root, what="the operator")


def named(start: Path, name: str) -> dict[str, str]:
    """Return file name -> text of the course's folder ``start``, with ``name`` in place of the folder's name.

    The name in camel case is replaced too, in the texts.
    """
    old, paths = start.name, (path for path in sorted(start.iterdir()) if path.is_file())
    return {
        path.name.replace(old, name): path.read_text("utf-8").replace(old, name).replace(camel(old), camel(name))
        for path in paths
    }


def camel(name: str) -> str:
    """Return the name in camel case: ``my_softmax`` -> ``MySoftmax``."""
    return "".join(part.capitalize() for part in name.split("_"))


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or name in _TAKEN:
        why = "is a word of the language" if name in _TAKEN else "is no name of an operator"
        raise ArgumentError(f"'{name}' {why}", hint="small letters, digits and single underscores, as in my_softmax")
    if name in load_registry():
        raise ArgumentError(f"the course has an operator '{name}'", hint=f"another name, such as my_{name}")
