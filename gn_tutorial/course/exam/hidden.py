"""The calls that the judge hides: drawn from a task's hidden cases, by the text of the attempt.

The same attempt meets the same calls each time it is handed in, and no attempt can hold what it will be asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gn_tutorial.course.exam.task import HiddenCase, Length, Task
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.projects.dtype_columns import Column, dtype_name


@dataclass(frozen=True)
class HiddenCall:
    """One call: the case that it was drawn from, its arrays by name, its attributes."""

    case: HiddenCase
    arrays: Mapping[str, np.ndarray]
    attributes: Mapping[str, Any]

    def __str__(self) -> str:
        arrays = ", ".join(f"{name} {one.dtype.name}{list(one.shape)}" for name, one in self.arrays.items())
        given = "".join(f", {name}={value!r}" for name, value in self.attributes.items())
        return f"{self.case.what}: {arrays}{given}"


def draw(task: Task, seed: int) -> list[HiddenCall]:
    """The hidden calls, each case in each combination of dtypes that it is for, the plain ones first."""
    columns = task.definition.columns("ascend910b").columns
    return [
        draw_one(case, column, np.random.default_rng([seed, number, index]))
        for number, case in enumerate(task.hidden)
        for index, column in enumerate(columns)
        if not case.dtypes or dtype_name(column.inputs[0].dtype) in case.dtypes
    ]


def draw_one(case: HiddenCase, column: Column, rng: np.random.Generator) -> HiddenCall:
    """One call of a case in one combination of dtypes."""
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
    """What an input holds, by its ``kind``.

    normal: ``mean``, ``spread`` (the default: 0.4 and 1.3, without symmetry). uniform: ``low``, ``high``. log: sizes
    from ``low`` to ``high``, as many of each power, of either sign. constant: ``value``.
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
    """The call whose modelled time is compared with the bound: in the first combination of dtypes."""
    column = task.definition.columns("ascend910b").columns[0]
    return draw_one(task.bound, column, np.random.default_rng([seed, len(task.hidden)]))
