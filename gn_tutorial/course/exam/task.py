"""The tasks of the practical exam: ``exercises/exam/<task>.toml``, and their solutions in ``solutions/exam``.

The TOML file has all that a candidate gets besides an empty project: the text, the prototype, the reference, and the
cases of the given test. It also has the hidden cases. ``solutions/exam/<task>/`` has a folder for each right solution
(``solution_files``), and ``wrong.toml``, which has edits of the first right solution.

The judge draws its hidden calls from a task's hidden cases, seeded with the text of the attempt. So the same attempt
meets the same calls each time, and no attempt can contain their answers.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import force_setattr

from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.course.exercises.registry import WrongSolution, exercises_root, solutions_root
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.dtype_columns import Column, dtype_name
from gn_tutorial.projects.prototype_file import read_prototypes
from gn_tutorial.toml_file import decode

GRADES = ("easy", "medium", "hard")
#: The parts that earn points, in the order of a report.
PARTS = ("tiling struct", "tiling function", "kernel", "accuracy", "no findings", "share of the bound")
#: An operator that loses points in this part only is accepted, because a right operator may be slow.
SPEED = "share of the bound"


class Length(Struct, frozen=True, forbid_unknown_fields=True, rename={"least": "from", "most": "to"}):
    """The range from which a length of a hidden call is drawn. least, most: both included.

    The length is a multiple of ``multiple_of``, and no multiple of ``not_multiple_of`` unless that is 0.
    """

    least: int
    most: int
    multiple_of: int = 1
    not_multiple_of: int = 0


class HiddenCase(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A case from which hidden calls are drawn; the key ``hidden`` of a task has them.

    what: its name in a report. shapes: input -> shape; a length is a number or a name in dims. dims: name -> length, or
    the range to draw it from. values: as in ``numbers``, for every input. attributes: name -> a list to choose from.
    dtypes: of the first input; empty: all dtypes of the definition. means: the cause of a wrong result in this case.
    read: where that is explained.
    """

    what: str
    shapes: dict[str, tuple[int | str, ...]]
    dims: dict[str, int | Length] = {}
    values: dict[str, Any] = {}
    attributes: dict[str, list[Any]] = {}
    dtypes: tuple[str, ...] = ()
    means: str = ""
    read: str = ""


class BoundCase(HiddenCase, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The case that is timed. full_share: the share of the bound that earns all points."""

    full_share: float
    what: str = "the large case of the bound"


class Task(
    Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True,
    rename={"cases": "case", "tolerances": "tolerance"},
):  # fmt: skip
    """One task, with the fields of its file.

    cases: of the given test, as in gen_data.py. forbidden: API names with which a kernel earns no points. points: by
    part, 100 in all. tolerances: by dtype. read: part -> where it is explained.
    """

    name: str
    title: str
    grade: Literal[*GRADES]
    text: str
    forbidden: tuple[str, ...]
    read: dict[str, str]
    prototype: dict[str, Any]
    infer_shape: str = ""
    reference: str
    tolerances: dict[str, Tolerance]
    cases: tuple[dict[str, Any], ...]
    hidden: tuple[HiddenCase, ...]
    points: dict[str, int]
    bound: BoundCase

    def __post_init__(self) -> None:
        for key, around in (("text", None), ("infer_shape", "\n"), ("reference", "\n")):
            force_setattr(self, key, getattr(self, key).strip(around))
        if tuple(self.points) != PARTS or sum(self.points.values()) != 100:
            raise ValueError("'points' must name every part, in their order, and sum to 100")
        for part in sorted(self.read.keys() - {*PARTS}):
            raise ValueError(f"'{part}' is no part; there are {', '.join(PARTS)}")
        for case, one in itertools.product((*self.hidden, self.bound), self.definition.inputs):
            if one.name not in case.shapes:
                raise ValueError(f"'shapes' of '{case.what}' lacks the input {one.name}")

    @functools.cached_property
    def definition(self) -> OpDefinition:
        """The definition of the operator for Ascend910B, read from the prototype. Raises RegistryError."""
        return read_prototypes(self.prototype, "ascend910b")[0]

    @functools.cached_property
    def tolerance(self) -> Tolerance:
        """The tolerance of outputs: by dtype, with its reason; whole numbers must be exact."""
        return Tolerance(0.0, 0.0, "whole numbers are exact", narrow=tuple(self.tolerances.items()))

    @property
    def op(self) -> str:
        """The operator's type."""
        return self.definition.type

    @functools.cached_property
    def golden(self) -> Callable[[Mapping[str, np.ndarray], Mapping[str, Any]], Mapping[str, Any]]:
        """The function ``golden(inputs, attributes)``, which returns outputs by name. gen_data.py has the same text."""
        names: dict[str, Any] = {"np": np}
        exec(compile(self.reference, f"exercises/exam/{self.name}.toml", "exec"), names)
        return names["golden"]

    def reading(self, part: str) -> str:
        """Return where a part of PARTS is explained: a document and its section."""
        return self.read.get(part, "docs/exam.md, section 'Points'")

    @property
    def answers(self) -> Path:
        """The folder of the task's solutions."""
        return solutions_root() / "exam" / self.name

    def wrong(self) -> tuple[WrongSolution, ...]:
        """Return the named wrong solutions, which are edits of the first right one. Raises RegistryError."""
        return decode(self.answers / "wrong.toml", _WrongSolutions, "the wrong solutions").wrong


class _WrongSolutions(Struct, frozen=True, forbid_unknown_fields=True):
    wrong: tuple[WrongSolution, ...]


@functools.cache
def load_tasks(root: Path | None = None) -> tuple[Task, ...]:
    """Return every task, easy ones first. root: the course's exercises. Raises RegistryError with the file at fault."""
    folder = (root or exercises_root()) / "exam"
    paths = sorted(folder.glob("*.toml"))
    found = [decode(path, Task, "the task", name=path.stem) for path in paths]
    if not found:
        raise RegistryError("the practical exam has no task", where=str(folder))
    return tuple(sorted(found, key=lambda one: (GRADES.index(one.grade), one.name)))


def find_task(name: str) -> Task:
    """Return the task of that name.

    Raises ArgumentError if there is none; its hint is a task with a similar name, or all tasks.
    """
    names = [one.name for one in load_tasks()]
    for one in load_tasks():
        if one.name == name:
            return one
    near = difflib.get_close_matches(name, names, n=1)
    raise ArgumentError(
        f"there is no task '{name}'", hint=f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    )


@dataclass(frozen=True)
class HiddenCall:
    """One hidden call: the case that it was drawn from, its input arrays by name, its attributes by name."""

    case: HiddenCase
    arrays: Mapping[str, np.ndarray]
    attributes: Mapping[str, Any]

    def __str__(self) -> str:
        arrays = ", ".join(f"{name} {one.dtype.name}{list(one.shape)}" for name, one in self.arrays.items())
        given = "".join(f", {name}={value!r}" for name, value in self.attributes.items())
        return f"{self.case.what}: {arrays}{given}"


def draw(task: Task, seed: int) -> list[HiddenCall]:
    """Return the hidden calls: every case, in the file's order, for each combination of dtypes that the case allows."""
    columns = task.definition.columns("ascend910b").columns
    return [
        draw_one(case, column, np.random.default_rng([seed, number, index]))
        for number, case in enumerate(task.hidden)
        for index, column in enumerate(columns)
        if not case.dtypes or dtype_name(column.inputs[0].dtype) in case.dtypes
    ]


def draw_one(case: HiddenCase, column: Column, rng: np.random.Generator) -> HiddenCall:
    """Return one call of a case for one combination of dtypes, ``column``."""
    dims = {name: _length(one, rng) for name, one in case.dims.items()}
    arrays = {
        form.name: numbers(
            case.values, tuple(dims.get(axis, axis) for axis in case.shapes[form.name]), dtype_name(form.dtype), rng
        )
        for form in column.inputs
    }
    chosen = {name: choices[int(rng.integers(len(choices)))] for name, choices in case.attributes.items()}
    return HiddenCall(case, arrays, chosen)


def _length(given: int | Length, rng: np.random.Generator) -> int:
    if isinstance(given, int):
        return given
    step, without = given.multiple_of, given.not_multiple_of
    found = range(math.ceil(given.least / step) * step, given.most + 1, step)
    fitting = [one for one in found if not without or one % without]
    return int(rng.choice(fitting))


def numbers(given: Mapping[str, Any], shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
    """Return the values of an input, drawn from the distribution that ``kind`` names.

    normal, the default: with ``mean`` and ``spread`` (by default 0.4 and 1.3, so that there is no symmetry around 0).
    uniform: from ``low`` to ``high``. log: sizes from ``low`` to ``high``, uniform in the logarithm, with random sign.
    constant: ``value``. Raises KeyError for another kind, or if a number that the kind needs is missing.
    """
    kind = given.get("kind", "normal")
    if kind == "normal":
        made = rng.normal(given.get("mean", 0.4), given.get("spread", 1.3), shape)
    elif kind == "uniform":
        made = rng.uniform(given["low"], given["high"], shape)
    elif kind == "log":
        sizes = np.exp(rng.uniform(math.log(given["low"]), math.log(given["high"]), shape))
        made = sizes * rng.choice([-1.0, 1.0], shape)
    elif kind == "constant":
        made = np.full(shape, float(given["value"]))
    else:
        raise KeyError(f"there are no numbers of the kind {kind!r}")
    return made.astype(as_dtype(dtype))


def bound_call(task: Task, seed: int) -> HiddenCall:
    """Return the call whose modelled time is compared with the bound, in the first combination of dtypes."""
    column = task.definition.columns("ascend910b").columns[0]
    return draw_one(task.bound, column, np.random.default_rng([seed, len(task.hidden)]))
