"""Reads the puzzles, one from each file ``exercises/puzzles/NN_name.toml`` (README.md there describes the format)."""

from __future__ import annotations

import difflib
import re
import textwrap
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import asdict

from gn_tutorial.course.exercises.registry import Text, exercises_root
from gn_tutorial.course.mistakes import WrongAnswer
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.toml_file import decode

FEWEST_WRONG = 3
#: The estimated minutes for one puzzle, a task of three to fifteen lines. Notebooks and README add the minutes up.
MINUTES = 5
_FILE = re.compile(r"(\d\d)_(\w+)\.toml")
_COLUMNS = 88


class _Puzzle(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of a puzzle's file."""

    title: Text
    section: Text
    task: Text
    frame: Literal["local", "global"]
    outputs: Annotated[dict[str, str], Meta(min_length=1)] = field(name="out")
    hints: Annotated[tuple[str, ...], Meta(min_length=1)]
    solution: Text
    wrong: tuple[dict[str, Any], ...]
    inputs: dict[str, str] = field(default_factory=dict, name="in")
    before: str = ""
    after: str = ""
    picture: Literal["lanes", "blocks", "pipes"] = "lanes"
    blocks: int = 1
    rtol: float = 1e-5
    options: dict[str, Any] = {}


class Puzzle(_Puzzle, frozen=True, kw_only=True):
    """One puzzle. inputs, outputs: name -> a Python expression, for an input's array or for an output's right values.

    frame: with "local", the lines use an array ``x`` as a tensor ``x`` in the Unified Buffer; with "global", as a
    tensor ``xGm`` in global memory. before, after: the kernel's lines around the learner's. options: fields of
    ``TwinOptions``.
    """

    id: str
    wrong: tuple[WrongAnswer, ...]

    @property
    def notebook(self) -> str:
        """The number of the puzzle's notebook, ``"04"``."""
        return self.id[:2]

    def stub(self) -> str:
        """Return the text that a learner starts from: the task as C++ comments."""
        return "\n".join(["", *(f"// {line}" for line in textwrap.wrap(self.task, _COLUMNS - 3)), ""])

    def cell(self) -> str:
        """Return the text of the puzzle's cell in the notebook."""
        return f'mine = """{self.stub()}"""\ngnt.puzzle("{self.id}", mine)'


def load(root: Path | None = None) -> dict[str, Puzzle]:
    """Return all puzzles by id, notebook by notebook. Raises RegistryError that names the file and the key at fault."""
    folder = (root or exercises_root()) / "puzzles"
    return {puzzle.id: puzzle for puzzle in map(_read, sorted(folder.glob("*.toml")))}


def find(name: str, root: Path | None = None) -> Puzzle:
    """Return the puzzle with the id ``name``, such as ``04.count``.

    Raises ArgumentError, which names the closest ids, for an unknown id; RegistryError for a faulty file.
    """
    notebook, _, word = str(name).partition(".")
    path = (root or exercises_root()) / "puzzles" / f"{notebook}_{word}.toml"
    if _FILE.fullmatch(path.name) and path.is_file():
        return _read(path)
    ids = list(load(root))
    near = difflib.get_close_matches(str(name), ids, n=2)
    hint = f"did you mean {' or '.join(near)}?" if near else "gnt puzzle lists them"
    raise ArgumentError(f"there is no puzzle '{name}'", hint=hint)


def _read(path: Path) -> Puzzle:
    where, named = str(path), _FILE.fullmatch(path.name)
    if not named:
        raise RegistryError("the file is NN_name.toml: a puzzle of notebook NN", where=where)
    made = decode(path, _Puzzle, "the puzzle")
    try:
        wrong = tuple(WrongAnswer(**one) for one in made.wrong)
    except TypeError as error:
        raise RegistryError(f"a [[wrong]] has name, lines, say, and finding or when: {error}", where=where) from error
    if len(wrong) < FEWEST_WRONG or len({one.say for one in wrong}) < len(wrong):
        raise RegistryError(f"at least {FEWEST_WRONG} wrong answers are needed, each with its own say", where=where)
    return Puzzle(**asdict(made) | {"id": f"{named[1]}.{named[2]}", "wrong": wrong})
