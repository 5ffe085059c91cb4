"""Runs and models one kernel with the arguments of ``gnt profile`` and ``gnt diff``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from gn_tutorial.abi.trace import Tracing
from gn_tutorial.cli.run_arguments import is_file, parse_call, parse_types, parse_values, refuse
from gn_tutorial.cli.terminal import working
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.operators.registry import is_operator
from gn_tutorial.operators.spec import KernelSpec
from gn_tutorial.profiler.operator_bound import arrays_of_call
from gn_tutorial.profiler.profile import Profile, profile_of, run_traced
from gn_tutorial.timing.machine import DEFAULT_MACHINE, Machine, load_machine


@dataclass(frozen=True)
class ProfileRequest:
    """A kernel's arguments and the machine to model: the options of ``gnt profile``, ``diff``, ``tune`` and ``bench``.

    like: a registered kernel whose arguments a file takes. record: how many blocks to record, or which ones. blocks:
    the number of blocks; None for all cores of the machine, or for the choice of a project's tiling function. inputs:
    the inputs of an operator project. settings: the attributes of an operator or a project. arrays: the words of --arg,
    --out, --inout and --workspace, by option name.
    """

    shape: str = ""
    groups: int | None = None
    settings: Sequence[str] = ()
    dtype: str = ""
    arrays: Mapping[str, Sequence[str]] | None = None
    entry: str = ""
    template: str = ""
    types: Sequence[str] = ()
    defines: Sequence[str] = ()
    like: str = ""
    blocks: int | None = None
    seed: int = 0
    machine: str = DEFAULT_MACHINE
    warm: bool = False
    record: str = ""
    inputs: Sequence[str] = ()
    includes: Sequence[str] = ()


@dataclass(frozen=True)
class Answer:
    """A profile, the call's facts by label, and whether the kernel's results are right (None without a reference)."""

    profile: Profile
    facts: Mapping[str, Any]
    right: bool | None


def ask(target: str, question: ProfileRequest) -> Answer:
    """Run and model one kernel.

    Raises ArgumentError for a word that cannot be read or an option that does not apply, RegistryError for an unknown
    kernel, and the errors of a build or a launch.
    """
    machine = load_machine(question.machine)
    tracing = parse_record(question.record)
    if Path(target).is_dir() and not is_operator(target) and not question.like:
        return _ask_project(target, question, machine, tracing)
    if question.inputs:
        raise ArgumentError(f"--in is for an operator project, and {target} is no folder")
    if is_file(target) and not question.like:
        return _ask_file(target, question, machine, tracing)
    only_files = {f"--{name}": words for name, words in (question.arrays or {}).items()}
    only_files |= {"--template": question.template, "--type": question.types, "--define": question.defines}
    only_files["--include"] = question.includes
    refuse(question.like or target, {name: list(given) or None for name, given in only_files.items()})
    call = parse_call(question.like or target, question.shape, question.groups, question.settings, question.dtype)
    if not is_file(target) and (question.like or question.entry):
        raise ArgumentError(f"{'--like' if question.like else '--entry'} belongs to a file, and {target} is registered")
    found = Kernel.registered(call.op, spec_of(target, call.spec, question.entry))
    arrays = call.arrays(question.seed)
    blocks = int(machine.cores) if question.blocks is None else question.blocks
    _build(found)
    with working(f"running {found.name}"):
        result = run_traced(found, *arrays.values(), blocks=blocks, tracing=tracing, machine=machine, **call.attributes)
        right = result.compare(random_inputs.expected(call.op, arrays, call.attributes), call.spec.tolerance).ok
    with working(f"modelling {found.name}"):
        made = profile_of(result, machine=machine, warm=question.warm, inputs=arrays, group=call.op.group)
    return Answer(made, {"shape": call.shape, "dtype": call.dtype, **call.attributes}, right)


def spec_of(target: str, like: KernelSpec, entry: str = "") -> KernelSpec:
    """Return ``like`` for a registered kernel; for a file, ``like`` with the file's name, path and entry."""
    if not is_file(target):
        return like
    made = kernel(Path(target))
    return structs.replace(like, id=made.name, file=made.path, entry=made.entry(entry or None).name)


def _ask_project(target: str, question: ProfileRequest, machine: Machine, tracing: Tracing | None) -> Answer:
    from gn_tutorial.cli.project_arguments import attributes_of, inputs_of
    from gn_tutorial.projects.project import Project

    others = {"--shape": question.shape, "--groups": question.groups, "--dtype": question.dtype}
    others["--include"] = list(question.includes)
    others |= {f"--{name}": list(words) or None for name, words in (question.arrays or {}).items()}
    for option, value in others.items():
        if value not in (None, "", []):
            raise ArgumentError(f"{option} does not apply, because {target} is a project", hint="--in, --set")
    found = Project(target).on(machine.name)
    with working(f"compiling {found.name}"):
        values = inputs_of(found.definition, question.inputs, question.seed)
        values |= attributes_of(found.definition, question.settings)
    with working(f"running {found.name}"):
        result = run_traced(found, tracing=tracing, blocks=question.blocks, **values)
    with working(f"modelling {found.name}"):
        inputs = arrays_of_call(found, (), values)
        return Answer(profile_of(result, machine=machine, warm=question.warm, inputs=inputs), {"project": target}, None)


def _ask_file(target: str, question: ProfileRequest, machine: Machine, tracing: Tracing | None) -> Answer:
    only_registered = {"--shape": question.shape, "--groups": question.groups, "--dtype": question.dtype}
    refuse(target, {**only_registered, "--set": list(question.settings)})
    given = question.arrays or {}
    values = parse_values(*(given.get(name, ()) for name in ("arg", "out", "inout", "workspace")), question.seed)
    found = kernel(
        Path(target),
        template=question.template,
        dtypes=parse_types(question.types),
        defines=tuple(question.defines),
        includes=tuple(question.includes),
    )
    blocks = int(machine.cores) if question.blocks is None else question.blocks
    _build(found)
    with working(f"running {found.name}"):
        result = run_traced(
            found, entry=question.entry or None, blocks=blocks, tracing=tracing, machine=machine, **values
        )
    with working(f"modelling {found.name}"):
        inputs = arrays_of_call(found, (), values)
        return Answer(profile_of(result, machine=machine, warm=question.warm, inputs=inputs), {"file": target}, None)


def _build(found: Kernel) -> None:
    with working(f"compiling {found.name}"):
        found.build()


def parse_record(text: str) -> Tracing | None:
    """Return the blocks to record. ``8``: eight blocks, spread evenly. ``0,5``: blocks 0 and 5. ``5,``: only block 5.

    For an empty text, return None; the profiler then chooses. Raises ArgumentError for a text that has no numbers or
    has other words, and for less than one block.
    """
    if not text:
        return None
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        numbers = []
    if not numbers:
        raise ArgumentError(f"--record {text}: no blocks", hint="a number of blocks, or which: 0,5")
    return Tracing(blocks=numbers if "," in text else numbers[0])


def warn_if_wrong(target: str, answer: Answer) -> bool:
    """Return whether the results may be right; if they are wrong, also print that the time then means little."""
    if answer.right is False:
        print(f"what {target} computes is wrong, so its time says little: gnt run {target}")
    return answer.right is not False


def arrays_of(
    arg: Sequence[str] | None, out: Sequence[str] | None, inout: Sequence[str] | None, workspace: Sequence[str] | None
) -> dict[str, Sequence[str]]:
    """Return the options for a file's arrays in the form of ``ProfileRequest.arrays``."""
    return {"arg": arg or [], "out": out or [], "inout": inout or [], "workspace": workspace or []}
