"""Tunes a registered kernel, a file or an operator project with the options of ``gnt tune``.

A file's tuning varies a number that the kernel takes by value. A project's tuning varies a field of the tiling struct.
Files and projects have no reference, so a value is right if it gives the same outputs as the unchanged call, within
a tolerance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.cli.profile_arguments import ProfileRequest, spec_of
from gn_tutorial.cli.project_arguments import attributes_of, inputs_of
from gn_tutorial.cli.run_arguments import is_file, parse_call, parse_values, refuse
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.operators.registry import is_operator
from gn_tutorial.operators.result import Result
from gn_tutorial.profiler.bench import autotune
from gn_tutorial.profiler.bench.grid import BenchCase
from gn_tutorial.profiler.operator_bound import arrays_of_call
from gn_tutorial.profiler.profile import Profile, profile_of, run_traced
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.references import TOLERANCE
from gn_tutorial.timing.machine import Machine, load_machine


def ask(target: str, question: ProfileRequest, field: str, values: Sequence[int]) -> autotune.Tuning:
    """Try the values of the field (by default a series) and return the tuning.

    Raises ArgumentError for a word that cannot be read or an option that does not apply, RegistryError for an unknown
    kernel, and the errors of a build.
    """
    machine = load_machine(question.machine)
    given = question.arrays or {}
    if Path(target).is_dir() and not is_operator(target):
        subject = _project_field(target, question, field, machine)
    elif is_file(target) and not question.like:
        subject = _file_number(target, question, field, machine)
    else:
        words = {f"--{name}": list(texts) or None for name, texts in given.items()} | {"--in": list(question.inputs)}
        refuse(target, words | {"--blocks": question.blocks})
        if question.like and not is_file(target):
            raise ArgumentError(f"--like belongs to a file, and {target} is registered")
        call = parse_call(question.like or target, question.shape, question.groups, question.settings, question.dtype)
        case = BenchCase(call.shape, call.attributes, call.dtype)
        spec = spec_of(target, call.spec, question.entry)
        return autotune.tune(call.op, spec, case, machine, field=field, values=values, seed=question.seed)
    for value in values:
        if value < 1:
            raise ArgumentError(f"{field} cannot be {value}", hint="positive whole numbers")
    return autotune.explore(subject, machine, values or series_around(subject.own))


def _project_field(target: str, question: ProfileRequest, field: str, machine: Machine) -> ProjectField:
    found = Project(target).on(machine.name)
    _need(field, "a field of its tiling struct: gnt project tiling lists them")
    values = inputs_of(found.definition, question.inputs, question.seed)
    return ProjectField(found, values | attributes_of(found.definition, question.settings), field, machine)


def _file_number(target: str, question: ProfileRequest, field: str, machine: Machine) -> FileNumber:
    refuse(target, {"--shape": question.shape, "--groups": question.groups, "--set": list(question.settings)})
    _need(field, "a number that the kernel takes by value")
    given = question.arrays or {}
    values = parse_values(*(given.get(name, ()) for name in ("arg", "out", "inout", "workspace")), question.seed)
    blocks = int(machine.cores) if question.blocks is None else question.blocks
    return FileNumber(kernel(Path(target)), question.entry or None, values, field, blocks, machine)


def _need(field: str, what: str) -> None:
    if not field:
        raise ArgumentError("--field is missing", hint=what)


@dataclass(frozen=True)
class Numbers:
    """The numbers that a kernel takes by value."""

    fields: Mapping[str, Any]


class _Own(ABC):
    """The base of FileNumber and ProjectField: models launches with other values of the field.

    The outputs of each launch are compared with those of the unchanged call. own: the field's value in that call.
    """

    itemsize = 0

    def __init__(self, name: str, case: str, field: str, own: Any, machine: Machine, inputs: Mapping) -> None:
        if not isinstance(own, int) or isinstance(own, bool) or own < 1:
            raise ArgumentError(f"{field} is {own!r}", hint="only a positive whole number can be tuned")
        self.name, self.case, self.field, self.own = name, case, field, own
        self._machine, self._inputs = machine, inputs
        self._expected: dict[str, np.ndarray] | None = None

    @abstractmethod
    def tile(self, value: int) -> Any:
        """Return the argument of ``launch`` that has this value in the field."""

    @abstractmethod
    def _call(self, tile: Any) -> Callable[..., Result]:
        """Return a function that takes the options of a launch, and launches with the value in ``tile``."""

    def launch(self, tile: Any) -> tuple[Profile, bool]:
        """Launch and model; return the profile, and whether the outputs match those of the unchanged call."""
        if self._expected is None:
            self._expected = self._call(self.tile(self.own))().outputs
        result = run_traced(self._call(tile))
        made = profile_of(result, machine=self._machine, inputs=self._inputs)
        return made, result.compare(self._expected, TOLERANCE).ok


class FileNumber(_Own):
    """A number that a file's kernel takes by value. values: the arguments of ``Kernel.run``, by parameter name."""

    chosen_by = "call"

    def __init__(
        self, kernel: Kernel, entry: str | None, values: Mapping[str, Any], field: str, blocks: int, machine: Machine
    ) -> None:
        numbers = [name for name, value in values.items() if isinstance(value, int)]
        if field not in numbers:
            raise ArgumentError(
                f"the call gives {kernel.name} no integer '{field}'",
                hint=f"--field: one of {', '.join(numbers)}" if numbers else "--arg tile=512 gives one",
            )
        self._kernel, self._values = kernel, dict(values)
        self._how = {"entry": entry, "blocks": blocks, "options": TwinOptions(cores=int(machine.cores))}
        case = ", ".join(f"{name}={values[name]}" for name in numbers if name != field) or "as called"
        super().__init__(kernel.name, case, field, values[field], machine, arrays_of_call(kernel, (), values))

    def tile(self, value: int) -> Numbers:
        """Return the kernel's numbers to change: the field, with this value."""
        return Numbers({self.field: value})

    def _call(self, tile: Numbers) -> Callable[..., Result]:
        return lambda **how: self._kernel.run(**{**self._values, **tile.fields}, **self._how, **how)


class ProjectField(_Own):
    """A field of the tiling struct that a project's own function filled. Other fields keep that function's values."""

    chosen_by = "host function"

    def __init__(self, project: Project, values: Mapping[str, Any], field: str, machine: Machine) -> None:
        self._project, self._call_made = project, project.call(**values)
        self._plan = project.host.plan(self._call_made, None, look_for_unset=False)
        known = {name: value for name, value in self._plan.fields.items() if isinstance(value, int)}
        if field not in known:
            listed = ", ".join(known) or "none that could be read"
            raise ArgumentError(
                f"{project.name} has no integer field '{field}' in its tiling struct", hint=f"fields: {listed}"
            )
        inputs = arrays_of_call(project, (), values)
        shapes = " ".join(f"{name}{list(array.shape)}" for name, array in inputs.items())
        super().__init__(project.name, shapes, field, known[field], machine, inputs)

    def tile(self, value: int) -> Any:
        """Return the tiling function's plan with this value in the field."""
        return self._plan.with_(**{self.field: value})

    def _call(self, tile: Any) -> Callable[..., Result]:
        return lambda **how: self._project.launch(self._call_made, tile, **how)


def series_around(own: int) -> Sequence[int]:
    """Return ``own`` * 8 / 2**n for n from 6 to 0, rounded down; without 0, and each value once."""
    return sorted({own * 8 >> shift for shift in range(7)} - {0})
