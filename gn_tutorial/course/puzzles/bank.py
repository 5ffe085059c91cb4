"""The puzzles there are, read from ``exercises/puzzles/NN_name.toml``, a file each (README.md there says how)."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gn_tutorial.course.exercises.registry import exercises_root
from gn_tutorial.course.mistakes import WrongAnswer
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.toml_file import read_toml

FRAMES, PICTURES = ("local", "global"), ("lanes", "blocks", "pipes")
FEWEST_WRONG = 3
#: What a puzzle takes, in the times that notebooks and README say: an estimate, for three to fifteen lines.
MINUTES = 5
_FILE = re.compile(r"(\d\d)_(\w+)\.toml")
_REQUIRED: dict[str, type] = {
    "title": str,
    "section": str,
    "task": str,
    "frame": str,
    "out": dict,
    "hints": list,
    "solution": str,
    "wrong": list,
}
_OPTIONAL: dict[str, Any] = {
    "in": {},
    "before": "",
    "after": "",
    "picture": "lanes",
    "blocks": 1,
    "rtol": 1e-5,
    "options": {},
}
_COLUMNS = 88


@dataclass(frozen=True)
class Puzzle:
    """One puzzle. inputs, outputs: name -> a Python expression; of an output, what is right.

    frame: "local" gives tensors of the Unified Buffer by these names, "global" tensors of global memory, ``xGm``.
    before, after: the lines of the kernel around the learner's. options: of ``TwinOptions``.
    """

    id: str
    title: str
    section: str
    task: str
    frame: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    hints: tuple[str, ...]
    solution: str
    wrong: tuple[WrongAnswer, ...]
    before: str = ""
    after: str = ""
    picture: str = "lanes"
    blocks: int = 1
    rtol: float = 1e-5
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def notebook(self) -> str:
        """Its number: ``"04"``."""
        return self.id[:2]

    def stub(self) -> str:
        """What a learner starts from: the task, as comments."""
        return "\n".join(["", *(f"// {line}" for line in textwrap.wrap(self.task, _COLUMNS - 3)), ""])

    def cell(self) -> str:
        """The cell of its notebook."""
        return f'mine = """{self.stub()}"""\ngnt.puzzle("{self.id}", mine)'


def load(root: Path | None = None) -> dict[str, Puzzle]:
    """All puzzles by id, notebook by notebook. Raises RegistryError that names the file and the key at fault."""
    folder = (root or exercises_root()) / "puzzles"
    return {puzzle.id: puzzle for puzzle in map(_read, sorted(folder.glob("*.toml")))}


def find(name: str, root: Path | None = None) -> Puzzle:
    """The puzzle of that id, ``04.count``. Raises ArgumentError with the closest ids, RegistryError."""
    notebook, _, word = str(name).partition(".")
    path = (root or exercises_root()) / "puzzles" / f"{notebook}_{word}.toml"
    if _FILE.fullmatch(path.name) and path.is_file():
        return _read(path)
    ids = list(load(root))
    near = difflib.get_close_matches(str(name), ids, n=2)
    hint = f"did you mean {' or '.join(near)}?" if near else "gnt puzzle lists them"
    raise ArgumentError(f"there is no puzzle '{name}'", hint=hint)


def _read(path: Path) -> Puzzle:
    where, item = str(path), read_toml(path, "the puzzle")
    named = _FILE.fullmatch(path.name)
    if not named:
        raise RegistryError("the file is NN_name.toml: a puzzle of notebook NN", where=where)
    for key in [*(_REQUIRED.keys() - item.keys()), *(item.keys() - _REQUIRED.keys() - _OPTIONAL.keys())]:
        raise RegistryError(f"'{key}' is {'missing' if key in _REQUIRED else 'not a key of a puzzle'}", where=where)
    for key, kind in [*_REQUIRED.items(), *((key, type(value)) for key, value in _OPTIONAL.items())]:
        if key in item and (not isinstance(item[key], kind) or (key in _REQUIRED and not item[key])):
            raise RegistryError(f"'{key}' is empty or of the wrong type: {item[key]!r}", where=where)
    for key, choices in (("frame", FRAMES), ("picture", PICTURES)):
        if item.get(key, choices[0]) not in choices:
            raise RegistryError(f"'{key}' is {item[key]!r}", where=where, hint=f"one of {', '.join(choices)}")
    given = _OPTIONAL | item
    try:
        wrong = tuple(WrongAnswer(**one) for one in item["wrong"])
    except TypeError as error:
        raise RegistryError(f"a [[wrong]] has name, lines, say, and finding or when: {error}", where=where) from error
    if len(wrong) < FEWEST_WRONG or len({one.say for one in wrong}) < len(wrong):
        raise RegistryError(f"{FEWEST_WRONG} wrong answers are the least, each with words of its own", where=where)
    rest = {key: given[key] for key in given.keys() - {"in", "out", "hints", "wrong"}}
    return Puzzle(
        id=f"{named[1]}.{named[2]}",
        inputs=given["in"],
        outputs=given["out"],
        hints=tuple(given["hints"]),
        wrong=wrong,
        **rest,
    )
