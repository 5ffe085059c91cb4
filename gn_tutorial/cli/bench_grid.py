"""Turns the arguments of ``gnt bench`` into a grid of launches, and runs the grid."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from gn_tutorial.cli.run_arguments import parse_call
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators.registry import find_kernel, find_operator
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.profiler.bench.grid import BenchCase, Grid, load_grid
from gn_tutorial.profiler.bench.run import Bench, run_grid
from gn_tutorial.timing.machine import DEFAULT_MACHINE, load_machine


@dataclass(frozen=True)
class GridRequest:
    """The options of ``gnt bench``. If there are ``shapes``, the grid has only these, and no targets."""

    op: str
    shapes: Sequence[str] = ()
    groups: int | None = None
    settings: Sequence[str] = ()
    dtype: str = ""
    kernels: Sequence[str] = ()
    kinds: Sequence[str] = ()
    machine: str = DEFAULT_MACHINE
    seed: int = 0
    everything: bool = False


def ask(question: GridRequest) -> tuple[Bench, Grid]:
    """Run the requested grid; return its results and the grid.

    Raises ArgumentError or RegistryError for a word that cannot be read or options that exclude each other.
    """
    op = find_operator(question.op)
    kernels = find_kernels(op, question.kernels)
    grid = choose(op, load_grid(op), question)
    machine = load_machine(question.machine)
    with progress() as tell:
        made = run_grid(
            op, grid, machine, kernels=kernels, seed=question.seed, everything=question.everything, tell=tell
        )
    return made, grid


def find_kernels(op: OpSpec, names: Sequence[str]) -> list[KernelSpec]:
    """Return the operator's kernels with these short or full names, ordered by step; all kernels if none is named.

    Raises RegistryError for a name that is no kernel of the operator.
    """
    known = {op.name: op}
    ids = {(find_kernel(name) if "/" in name else find_kernel(f"{op.name}/{name}", known))[1].id for name in names}
    if wrong := ids - {spec.id for spec in op.kernels}:
        raise RegistryError(f"'{wrong.pop()}' is no kernel of {op.name}")
    return [spec for spec in op.kernels if not ids or spec.id in ids]


def choose(op: OpSpec, grid: Grid, question: GridRequest) -> Grid:
    """Return the grid to run: the requested shapes, or the operator's grid with only the requested kinds of shapes.

    Raises ArgumentError for an unknown kind, a shape that cannot be read, or options that exclude each other.
    """
    if question.shapes:
        if question.kinds:
            raise ArgumentError("--kind chooses among the grid's shapes; --shape gives shapes of your own")
        first = f"{question.op}/{op.kernels[0].id.partition('/')[2]}"
        calls = [
            parse_call(first, shape, question.groups, question.settings, question.dtype) for shape in question.shapes
        ]
        own = tuple(BenchCase(call.shape, call.attributes, call.dtype) for call in calls)
        return replace(grid, cases=own, targets=())
    if question.groups is not None or question.settings or question.dtype:
        raise ArgumentError("--groups, --set and --dtype belong to a --shape; the grid's shapes have their own")
    kinds = {case.kind for case in grid.cases}
    if unknown := set(question.kinds) - kinds:
        raise ArgumentError(
            f"no shape of the grid has the kind '{unknown.pop()}'", hint=f"kinds: {', '.join(sorted(kinds))}"
        )
    if not question.kinds:
        return grid
    cases = tuple(case for case in grid.cases if case.kind in question.kinds)
    # Leave out targets that also cover other kinds: they would be judged on only a part of their shapes.
    targets = tuple(one for one in grid.targets if one.kinds and set(one.kinds) <= set(question.kinds))
    return replace(grid, cases=cases, targets=targets)


@contextmanager
def progress() -> Iterator[Callable[[int, int, str], None]]:
    """Yield a function ``tell(done, total, text)`` that shows the number of launches done and the next launch.

    It draws a bar on a terminal; elsewhere it prints a line on standard error for each tenth of the launches.
    """
    if not sys.stderr.isatty():

        def tell(done: int, total: int, text: str) -> None:
            if text and 10 * done // total != 10 * (done - 1) // total:
                print(f"gnt: launch {done + 1} of {total}: {text}", file=sys.stderr, flush=True)

        yield tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("")
        yield lambda done, total, text: bar.update(task, completed=done, total=total, description=text)
