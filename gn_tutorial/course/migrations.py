"""Maps former numbers of exercises to present ones, to find a learner's progress and files under a former number.

When notebook 06 became two, the numbers of the later notebooks grew by one. After that, some exercises were renumbered
to follow the order of their notebook.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

#: Notebooks whose number grew by one: the former number -> the topic.
_MOVED = {
    "07": "precision",
    "08": "profile_and_tune",
    "09": "derive_backward",
    "10": "backward_kernel",
    "11": "pytorch",
}
#: Exercises that changed places in their notebook after that: the former number -> the present one.
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
    """Return the present id of an exercise whose id is ``old`` in a progress file of format ``version``."""
    notebook, dot, rest = old.partition(".")
    if version < 2 and notebook in _MOVED:
        old = f"{int(notebook) + 1:02}{dot}{rest}"
    return _ORDERED.get(old, old) if version < 3 else old


def former_files(file: str) -> tuple[str, ...]:
    """Return former places of an exercise's file, ``08_precision/08_1_...``, in a learner's folder, latest first."""
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
    """Return a learner's text with the present numbers of exercises and notebooks.

    former, file: the former and the present place of the learner's file.
    """

    def grown(found: re.Match[str]) -> str:
        return f"{found[1]}{int(found[2]) + 1:02}{found[3]}"

    start = r"((?:# |// |\"\"\"|exercise ))"
    if former[:2] != file[:2]:
        text = re.sub(rf"{start}(0[7-9]|1[01])(\.\d )", grown, text)
        text = re.sub(r"([Nn]otebook )(0[7-9]|1[01])(\b)", grown, text)
    number = PurePosixPath(file).name[:4].replace("_", ".")
    before = _BEFORE.get(number, number)
    return re.sub(rf"{start}{re.escape(before)}(?= )", rf"\g<1>{number}", text)
