"""The tasks of the practical exam: ``exercises/exam/<task>.toml``, and what is right and wrong in ``solutions/exam``.

The TOML file has all that a candidate is given besides an empty project: the text, the prototype, the reference, the
cases of the given test; and what the judge draws its hidden calls from. ``solutions/exam/<task>/`` has a folder for
each right solution (``pieces``) and ``wrong.toml``, edits of the first one.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.course.exercises.registry import Edit, WrongSolution, exercises_root, solutions_root
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.prototype_file import read_prototypes
from gn_tutorial.toml_file import read_toml

GRADES = ("easy", "medium", "hard")
#: The parts that earn points, in the order of a report.
PARTS = ("tiling struct", "tiling function", "kernel", "accuracy", "no findings", "share of the bound")
#: The part that refuses nobody: a right operator may be slow.
SPEED = "share of the bound"
_KEYS = {
    "title", "grade", "text", "forbidden", "read", "prototype", "reference", "tolerance", "case", "hidden", "points",
    "bound",
}  # fmt: skip
_OPTIONAL = {"infer_shape"}


@dataclass(frozen=True)
class HiddenCase:
    """From what one hidden call is drawn (``hidden``).

    what: in a report. dims: name -> a length, or ``{from, to, multiple_of, not_multiple_of}``. shapes: of each input,
    of names of dims and numbers. values: kind and numbers of what the inputs hold. attributes: name -> a list to choose
    from. dtypes: of the first input; without any, all of the definition. means: what a wrong result in this case comes
    from; read: where that is explained.
    """

    what: str
    shapes: Mapping[str, tuple[Any, ...]]
    dims: Mapping[str, Any]
    values: Mapping[str, Any]
    attributes: Mapping[str, Any]
    dtypes: Sequence[str] = ()
    means: str = ""
    read: str = ""


@dataclass(frozen=True)
class Task:
    """One task. definition: of its prototype, for Ascend910B. cases: of the given test, as gen_data.py has them.

    forbidden: API names that score nothing. points: by part, 100 in all. full_share: of the bound, for all points.
    """

    name: str
    title: str
    grade: str
    text: str
    forbidden: tuple[str, ...]
    read: Mapping[str, str]
    prototype: Mapping[str, Any]
    definition: OpDefinition
    infer_shape: str
    reference: str
    tolerance: Tolerance
    cases: tuple[Mapping[str, Any], ...]
    hidden: tuple[HiddenCase, ...]
    points: Mapping[str, int]
    bound: HiddenCase
    full_share: float

    @property
    def op(self) -> str:
        """The operator's type."""
        return self.definition.type

    @functools.cached_property
    def golden(self) -> Callable[[Mapping[str, np.ndarray], Mapping[str, Any]], Mapping[str, Any]]:
        """``golden(inputs, attributes)``: each output in float64, by name; the text that gen_data.py has, too."""
        names: dict[str, Any] = {"np": np}
        exec(compile(self.reference, f"exercises/exam/{self.name}.toml", "exec"), names)
        return names["golden"]

    def reading(self, part: str) -> str:
        """Where a part of the work is explained."""
        return self.read.get(part, "docs/exam.md, section 'Points'")

    @property
    def answers(self) -> Path:
        """The folder of its solutions."""
        return solutions_root() / "exam" / self.name

    def wrong(self) -> tuple[WrongSolution, ...]:
        """The named wrong solutions: edits of the first right one. Raises RegistryError."""
        where = self.answers / "wrong.toml"
        try:
            return tuple(
                WrongSolution(one["name"], one["message"], tuple(Edit(**edit) for edit in one["edit"]))
                for one in read_toml(where, "the wrong solutions")["wrong"]
            )
        except (KeyError, TypeError) as error:
            raise RegistryError(f"a wrong solution has a name, a message and edits: {error!r}", str(where)) from error


@functools.cache
def load_tasks(root: Path | None = None) -> tuple[Task, ...]:
    """Every task, the easy ones first; root: the course's exercises. Raises RegistryError with the file at fault."""
    folder = (root or exercises_root()) / "exam"
    found = [_task(path) for path in sorted(folder.glob("*.toml"))]
    if not found:
        raise RegistryError("the practical exam has no task", where=str(folder))
    return tuple(sorted(found, key=lambda one: (GRADES.index(one.grade), one.name)))


def find_task(name: str) -> Task:
    """The task of that name. Raises ArgumentError that suggests another."""
    names = [one.name for one in load_tasks()]
    for one in load_tasks():
        if one.name == name:
            return one
    near = difflib.get_close_matches(name, names, n=1)
    raise ArgumentError(
        f"there is no task '{name}'", hint=f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    )


def _task(path: Path) -> Task:
    data, where = read_toml(path, "the task"), str(path)
    for key in sorted((_KEYS ^ data.keys()) - (_OPTIONAL & data.keys())):
        raise RegistryError(f"'{key}' is {'missing' if key in _KEYS else 'not a key of a task'}", where=where)
    if data["grade"] not in GRADES:
        raise RegistryError(f"'grade' is {data['grade']!r}", where=where, hint=f"one of {', '.join(GRADES)}")
    if tuple(data["points"]) != PARTS or sum(data["points"].values()) != 100:
        raise RegistryError("the points are those of every part, in order, and 100 in all", where=where)
    for part in sorted(data["read"].keys() - {*PARTS}):
        raise RegistryError(f"'{part}' is no part", where=where, hint=", ".join(PARTS))
    definition = read_prototypes(data["prototype"], "ascend910b")[0]
    try:
        bound = dict(data["bound"])
        full_share = float(bound.pop("full_share"))
        return Task(
            name=path.stem,
            title=data["title"],
            grade=data["grade"],
            text=data["text"].strip(),
            forbidden=tuple(data["forbidden"]),
            read=data["read"],
            prototype=data["prototype"],
            definition=definition,
            infer_shape=data.get("infer_shape", "").strip("\n"),
            reference=data["reference"].strip("\n"),
            tolerance=_tolerance(data["tolerance"]),
            cases=tuple(data["case"]),
            hidden=tuple(_hidden(one, definition) for one in data["hidden"]),
            points=data["points"],
            bound=_hidden({"what": "the large case of the bound", **bound}, definition),
            full_share=full_share,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise RegistryError(f"a key is missing or of the wrong type: {error!r}", where=where) from error


def _tolerance(given: Mapping[str, Mapping[str, Any]]) -> Tolerance:
    """One for each dtype, with its reason; whole numbers are exact."""
    narrow = tuple((dtype, Tolerance(**one)) for dtype, one in given.items())
    return Tolerance(rtol=0.0, atol=0.0, reason="whole numbers are exact", narrow=narrow)


def _hidden(given: Mapping[str, Any], definition: OpDefinition) -> HiddenCase:
    unknown = given.keys() - {*HiddenCase.__dataclass_fields__}
    if unknown:
        raise TypeError(f"{sorted(unknown)[0]} is not a key of a hidden case")
    shapes = {one.name: tuple(given["shapes"][one.name]) for one in definition.inputs}
    return HiddenCase(**{"dims": {}, "values": {}, "attributes": {}, **given, "shapes": shapes})
