"""Benches a learner's file or project for ``gnt bench``: over several sizes, or beside the kernels of an operator."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gn_tutorial.cli.bench_grid import GridRequest, choose, find_kernels, progress
from gn_tutorial.cli.profile_arguments import ProfileRequest, ask, spec_of
from gn_tutorial.errors import ArgumentError, KernelError
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.profiler.bench.grid import OWN, Grid, load_grid
from gn_tutorial.profiler.bench.run import FAILED, OK, Bench, BenchRow, reason, run_grid, with_profile
from gn_tutorial.timing.machine import load_machine

_OVER = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(\d+(?:\s*,\s*\d+)*)\s*")


def own_bench(target: str, question: GridRequest, own: ProfileRequest, over: Sequence[str]) -> tuple[Bench, Grid]:
    """Bench a file or project, alone (``over_sizes``) or with ``--like`` beside a kernel (``beside``).

    Raises ArgumentError for an option that does not apply, and what a run raises.
    """
    if own.like:
        words = {f"--{name}": list(texts) or None for name, texts in (own.arrays or {}).items()}
        for option, value in {**words, "--in": list(own.inputs) or None, "--over": list(over) or None}.items():
            if value:
                raise ArgumentError(f"{option} does not apply: --like {own.like} fixes the arguments")
        return beside(target, own.like, own.entry, question)
    others = {"--shape": question.shapes, "--kernel": question.kernels, "--kind": question.kinds}
    for option, value in others.items():
        if value:
            raise ArgumentError(
                f"{option} does not apply, because {target} is not registered", hint="--like OP, --over"
            )
    if question.groups is not None or question.dtype:
        raise ArgumentError("--groups and --dtype belong to a registered operator", hint="--like OP")
    return over_sizes(target, own, over)


def beside(target: str, like: str, entry: str, question: GridRequest) -> tuple[Bench, Grid]:
    """Bench a file with the arguments of kernel ``like``, on the grid of that kernel's operator.

    The file stands beside the kernels that the request names; without names, beside ``like``. Raises ArgumentError,
    RegistryError and what a build raises.
    """
    op, spec = find_kernel(like)
    own = spec_of(target, spec, entry)
    kernels = find_kernels(op, question.kernels or [spec.id])
    grid = choose(op, load_grid(op), replace(question, op=op.name))
    with progress() as tell:
        made = run_grid(
            op, replace(grid, targets=()), load_machine(question.machine), kernels=[*kernels, own],
            seed=question.seed, everything=question.everything, tell=tell,
        )  # fmt: skip
    return made, replace(grid, targets=())


def over_sizes(target: str, question: ProfileRequest, over: Sequence[str]) -> tuple[Bench, Grid]:
    """Bench a file or a project with several sizes. In its arguments, each name in ``over`` is replaced by its values.

    An example is ``--arg x=float32[n] --arg n=n --over n=1000,2000``. Several names give all combinations. Raises
    ArgumentError for a text in ``over`` that is not a name and its values, and what a run raises, except KernelError: a
    size with which the kernel fails is a row of the result.
    """
    machine = load_machine(question.machine)
    names = dict(_named_values(text) for text in over)
    points = [dict(zip(names, values, strict=True)) for values in itertools.product(*names.values())]
    rows = []
    with progress() as tell:
        for done, point in enumerate(points):
            case = " ".join(f"{name}={value}" for name, value in point.items()) or "as called"
            tell(done, len(points), case)
            rows.append(_row(target, _filled(question, point), point, case))
        tell(len(points), len(points), "")
    name = Path(target).resolve().stem
    constants = {name: one.value for name, one in machine.constants.items()}
    return Bench(name, machine.name, tuple(rows), question.seed, constants), Grid(())


def _named_values(text: str) -> tuple[str, list[int]]:
    found = _OVER.fullmatch(text)
    if found is None:
        raise ArgumentError(f"--over {text}: a name and its values are needed", hint="--over n=1000,20000")
    return found[1], [int(part) for part in found[2].split(",")]


def _filled(question: ProfileRequest, point: dict[str, int]) -> ProfileRequest:
    """Return the request with each name in its words replaced by the name's value.

    If a word has "=", only the text after its last "=" changes.
    """

    def fill(text: str) -> str:
        head, sign, tail = text.rpartition("=") if "=" in text else ("", "", text)
        for name, value in point.items():
            # A name before a bracket is a dtype, even if a size has the same name.
            tail = re.sub(rf"\b{name}\b(?!\[)", str(value), tail)
        return f"{head}{sign}{tail}"

    arrays = {name: [fill(text) for text in words] for name, words in (question.arrays or {}).items()}
    return replace(
        question,
        arrays=arrays,
        inputs=[fill(text) for text in question.inputs],
        settings=[fill(text) for text in question.settings],
    )


def _row(target: str, question: ProfileRequest, point: dict[str, int], case: str) -> BenchRow:
    row = BenchRow(Path(target).resolve().stem, 0, case, OWN, tuple(point.values()), point, "", OK)
    try:
        made = ask(target, question).profile
    except KernelError as error:
        return replace(row, status=FAILED, note=reason(error))
    return with_profile(row, made, right=True)  # there is no reference to compare with
