"""Exercises that got another number: what a learner has under the old one moves along.

When notebook 06 became two, those behind it grew by one. Later exercises took the order of their notebook.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

#: Notebooks whose number grew by one, by the number that they had, and their topic.
_MOVED = {
    "07": "precision",
    "08": "profile_and_tune",
    "09": "derive_backward",
    "10": "backward_kernel",
    "11": "pytorch",
}
#: Exercises that changed places in their notebook, none of those above: the number before -> the number now.
_ORDERED = {
    "01.2": "01.3",
    "01.3": "01.2",
}
_BEFORE = {new: old for old, new in _ORDERED.items()}


def new_id(old: str, version: int) -> str:
    """The present id of an exercise that a progress file of that version calls ``old``."""
    notebook, dot, rest = old.partition(".")
    if version < 2 and notebook in _MOVED:
        return f"{int(notebook) + 1:02}{dot}{rest}"
    return _ORDERED.get(old, old) if version < 3 else old


def former_file(file: str) -> str | None:
    """Where a learner had the exercise's file, ``08_precision/08_1_...``, before; None if it has not moved."""
    path = PurePosixPath(file)
    notebook, _, topic = path.parent.name.partition("_")
    number, rest = path.name[:4].replace("_", "."), path.name[4:]
    if before := _BEFORE.get(number):
        return f"{path.parent.name}/{before.replace('.', '_')}{rest}"
    old = f"{int(notebook) - 1:02}"
    if _MOVED.get(old) != topic:
        return None
    return f"{old}_{topic}/{old}{path.name.removeprefix(notebook)}"


def renumbered(text: str, exercise: str) -> str:
    """A learner's file of that exercise with the new numbers of exercises and notebooks in its comments."""
    start = r"((?:# |// |\"\"\"|exercise ))"
    if before := _BEFORE.get(exercise):
        return re.sub(rf"{start}{re.escape(before)}(?= )", rf"\g<1>{exercise}", text)

    def grown(found: re.Match[str]) -> str:
        return f"{found[1]}{int(found[2]) + 1:02}{found[3]}"

    text = re.sub(rf"{start}(0[7-9]|1[01])(\.\d )", grown, text)
    return re.sub(r"([Nn]otebook )(0[7-9]|1[01])(\b)", grown, text)
