"""Exercises that got another number when notebook 06 became two: what a learner has under the old one moves along."""

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


def new_id(old: str) -> str:
    """The present id of an exercise that was known as ``old`` when there were twelve notebooks."""
    notebook, dot, rest = old.partition(".")
    return f"{int(notebook) + 1:02}{dot}{rest}" if notebook in _MOVED else old


def former_file(file: str) -> str | None:
    """Where a learner had the exercise's file, ``08_precision/08_1_...``, before; None if it has not moved."""
    path = PurePosixPath(file)
    notebook, _, topic = path.parent.name.partition("_")
    old = f"{int(notebook) - 1:02}"
    if _MOVED.get(old) != topic:
        return None
    return f"{old}_{topic}/{old}{path.name.removeprefix(notebook)}"


def renumbered(text: str) -> str:
    """A learner's file with the new numbers of exercises and notebooks in its comments."""

    def grown(found: re.Match[str]) -> str:
        return f"{found[1]}{int(found[2]) + 1:02}{found[3]}"

    text = re.sub(r"((?:# |// |\"\"\"|exercise ))(0[7-9]|1[01])(\.\d )", grown, text)
    return re.sub(r"([Nn]otebook )(0[7-9]|1[01])(\b)", grown, text)
