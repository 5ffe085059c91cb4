"""From the words of ``gnt tune`` to a tuning: of a registered kernel, of a file, of an operator project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gn_tutorial.cli.profile_arguments import ProfileRequest, spec_of
from gn_tutorial.cli.project_arguments import attributes_of, inputs_of
from gn_tutorial.cli.run_arguments import is_file, parse_call, parse_values, refuse
from gn_tutorial.cli.tuned_fields import FileNumber, ProjectField, series_around
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import is_operator
from gn_tutorial.profiler.bench import autotune
from gn_tutorial.profiler.bench.grid import BenchCase
from gn_tutorial.projects.project import Project
from gn_tutorial.timing.machine import Machine, load_machine


def ask(target: str, question: ProfileRequest, field: str, values: Sequence[int]) -> autotune.Tuning:
    """Try the values of the field. Raises ArgumentError quoting a word that cannot be read, and what a build raises."""
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
