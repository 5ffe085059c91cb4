"""Exercises that got another number: a learner's progress and files move to the new number.

When notebook 06 became two, the numbers of the notebooks behind it grew by one. In a later version exercises took the
order in which their notebook has them.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

#: The notebooks whose number grew by one: the number before -> the topic.
_MOVED = {
    "07": "precision",
    "08": "profile_and_tune",
    "09": "derive_backward",
    "10": "backward_kernel",
    "11": "pytorch",
}
#: Exercises that later changed places in their notebook: the number before -> the number now.
_ORDERED = {
    "01.2": "01.3",
    "01.3": "01.2",
    "02.1": "02.2",
    "02.2": "02.3",
    "02.3": "02.1",
    "12.3": "12.5",
    "12.4": "12.6",
    "12.5": "12.3",
    "12.6": "12.4",
}
_BEFORE = {new: old for old, new in _ORDERED.items()}


def new_id(old: str, version: int) -> str:
    """Return the present id of an exercise that a progress file of that version calls ``old``."""
    notebook, dot, rest = old.partition(".")
    if version < 2 and notebook in _MOVED:
        old = f"{int(notebook) + 1:02}{dot}{rest}"
    return _ORDERED.get(old, old) if version < 3 else old


def former_files(file: str) -> tuple[str, ...]:
    """Return the earlier paths of an exercise's file, such as ``08_precision/08_1_...``, the latest one first."""
    folder, name = PurePosixPath(file).parent.name, PurePosixPath(file).name
    notebook, _, topic = folder.partition("_")
    number = name[:4].replace("_", ".")
    before = _BEFORE.get(number, number).replace(".", "_") + name[4:]
    places = [f"{folder}/{before}"] if before != name else []
    old = f"{int(notebook) - 1:02}"
    if _MOVED.get(old) == topic:
        places.append(f"{old}_{topic}/{old}{before.removeprefix(notebook)}")
    return tuple(places)


def renumbered(text: str, former: str, file: str) -> str:
    """Return a learner's text with the new numbers of exercises and notebooks. former, file: its old and new paths."""

    def grown(found: re.Match[str]) -> str:
        return f"{found[1]}{int(found[2]) + 1:02}{found[3]}"

    start = r"((?:# |// |\"\"\"|exercise ))"
    if former[:2] != file[:2]:
        text = re.sub(rf"{start}(0[7-9]|1[01])(\.\d )", grown, text)
        text = re.sub(r"([Nn]otebook )(0[7-9]|1[01])(\b)", grown, text)
    number = PurePosixPath(file).name[:4].replace("_", ".")
    before = _BEFORE.get(number, number)
    return re.sub(rf"{start}{re.escape(before)}(?= )", rf"\g<1>{number}", text)
