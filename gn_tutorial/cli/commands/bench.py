"""``gnt bench``: from words to a grid of launches, and from their rows to tables, verdicts and files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gn_tutorial.bench import files
from gn_tutorial.bench.grid import OWN, BenchCase, Grid, load_grid
from gn_tutorial.bench.run import OK, SKIPPED, UNSUPPORTED, WRONG, Bench, BenchRow, rows_that_ran, run_grid
from gn_tutorial.bench.targets import TargetVerdict, below_bound, judge, worst
from gn_tutorial.cli.commands.profile import check_paths
from gn_tutorial.cli.commands.run import parse_call
from gn_tutorial.cli.terminal import emit_json, print_table
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators.registry import find_kernel, load_registry
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.timing.machine import load_machine

#: The variant of the chip that the measurements shown beside ours were made on.
DEFAULT_MACHINE = "910B2"


@dataclass(frozen=True)
class Question:
    """What to bench: the options of ``gnt bench``. A shape makes a grid of its own, without targets."""

    op: str
    shapes: Sequence[str] = ()
    groups: int | None = None
    settings: Sequence[str] = ()
    dtype: str = ""
    kernels: Sequence[str] = ()
    kinds: Sequence[str] = ()
    machine: str = ""
    seed: int = 0
    everything: bool = False


@dataclass(frozen=True)
class Drawing:
    """The picture of the ladder: the file (None: no picture), and the shape as the table names it."""

    path: Path | None = None
    case: str = ""


def run(
    question: Question, *, out: Path | None, read: Path | None, drawing: Drawing, as_json: bool, as_csv: bool
) -> bool:
    """Run or read, write the files, print. Returns whether every target is met and every kernel right."""
    _check_words(question, out, read, drawing, as_json and as_csv)
    out = None if out is None else files.check_path(out)
    if read is not None:
        made = files.load(read)
        op = find_op(made.operator)
        grid = load_grid(op)
        known = {case.label(op) for case in grid.cases}
        if not known <= {row.case for row in made.rows}:
            grid = replace(grid, targets=())  # a part of the grid cannot be held to the targets of all of it
    else:
        made, grid = ask(question)
    if drawing.path is not None:
        from gn_tutorial.plot.ladder import ladder_of

        ladder_of(made, drawing.case or _first_ladder(made)).save(drawing.path)
    return show(made, grid, out=out, as_json=as_json, as_csv=as_csv)


def _check_words(question: Question, out: Path | None, read: Path | None, drawing: Drawing, both: bool) -> None:
    """Raise ArgumentError for words that cannot be meant, before anything runs for minutes."""
    if both:
        raise ArgumentError("--json and --csv: one of them")
    check_paths(drawing.path)
    if drawing.path is None and drawing.case:
        raise ArgumentError("--plot-shape belongs to a picture", hint="--plot FILE.png")
    if read is not None and (out is not None or question != Question(question.op)):
        raise ArgumentError("--read shows a file as it is", hint="without --shape, --kernel, --machine, --out ...")


def _first_ladder(bench: Bench) -> str:
    """The first shape with the most kernels that ran."""
    counts = dict.fromkeys(bench.cases, 0)
    for row in rows_that_ran(bench.rows):
        counts[row.case] += 1
    return max(counts, key=counts.__getitem__)


def ask(question: Question) -> tuple[Bench, Grid]:
    """Run it. Raises ArgumentError or RegistryError quoting the word that cannot be read."""
    op = find_op(question.op)
    kernels = find_kernels(op, question.kernels)
    grid = choose(op, load_grid(op), question)
    machine = load_machine(question.machine or DEFAULT_MACHINE)
    with _progress() as tell:
        made = run_grid(
            op, grid, machine, kernels=kernels, seed=question.seed, everything=question.everything, tell=tell
        )
    return made, grid


def find_op(name: str) -> OpSpec:
    """The operator of that name. Raises RegistryError that lists the names."""
    registry = load_registry()
    if name not in registry:
        raise RegistryError(f"no operator is registered as '{name}'", hint=f"one of {', '.join(registry)}")
    return registry[name]


def find_kernels(op: OpSpec, names: Sequence[str]) -> list[KernelSpec]:
    """These kernels of the operator, by short or full name, by step; all if none is named. Raises RegistryError."""
    ids = {find_kernel(name if "/" in name else f"{op.name}/{name}")[1].id for name in names}
    if wrong := ids - {spec.id for spec in op.kernels}:
        raise RegistryError(f"'{wrong.pop()}' is no kernel of {op.name}")
    return [spec for spec in op.kernels if not ids or spec.id in ids]


def choose(op: OpSpec, grid: Grid, question: Question) -> Grid:
    """The grid that the words ask for: their own shapes, or the operator's, perhaps of some kinds only."""
    if question.shapes:
        if question.kinds:
            raise ArgumentError("--kind chooses among the grid's shapes; --shape gives shapes of your own")
        calls = [
            parse_call(op.kernels[0].id, shape, question.groups, question.settings, question.dtype)
            for shape in question.shapes
        ]
        own = tuple(BenchCase(call.shape, call.attributes, call.dtype) for call in calls)
        return replace(grid, cases=own, targets=())
    if question.groups is not None or question.settings or question.dtype:
        raise ArgumentError("--groups, --set and --dtype belong to a --shape; the grid's shapes have their own")
    kinds = {case.kind for case in grid.cases}
    if unknown := set(question.kinds) - kinds:
        raise ArgumentError(f"no shape is '{unknown.pop()}'", hint=f"kinds: {', '.join(sorted(kinds))}")
    if not question.kinds:
        return grid
    cases = tuple(case for case in grid.cases if case.kind in question.kinds)
    # A target about several kinds, or about all, would be judged on a part of its shapes.
    targets = tuple(one for one in grid.targets if one.kinds and set(one.kinds) <= set(question.kinds))
    return replace(grid, cases=cases, targets=targets)


def show(bench: Bench, grid: Grid, *, out: Path | None, as_json: bool, as_csv: bool) -> bool:
    """Write the files and print; returns whether every target is met and every kernel right."""
    verdicts = judge(bench, grid.targets)
    if out is not None:
        files.save(bench, out)
    if as_csv:
        print(files.as_csv(bench), end="")
    elif as_json:
        targets = [
            {"name": one.name, "verdict": one.word, "found": one.found, "missed": one.missed} for one in verdicts
        ]
        emit_json({**files.as_data(bench), "targets": targets, "worst": [_key(row) for row in worst(bench)]})
    else:
        _print(bench, grid, verdicts, out)
    return all(one.met is not False for one in verdicts) and not _broken(bench) and not below_bound(bench)


def _broken(bench: Bench) -> list[BenchRow]:
    return [row for row in bench.rows if row.status not in (OK, SKIPPED, UNSUPPORTED)]


def _key(row: BenchRow) -> dict[str, Any]:
    return {"kernel": row.kernel, "case": row.case, "ratio": row.ratio, "binding": row.binding, "waits": row.waits}


_KINDS = {OWN: "shapes of your own"}
_HEADERS = ("shape", "kernel", "modelled us", "bound us", "ratio", "bound", "binding limit", "measured elsewhere us")


def _print(bench: Bench, grid: Grid, verdicts: Sequence[TargetVerdict], out: Path | None) -> None:
    for kind in dict.fromkeys(row.kind for row in bench.rows):
        chosen = [row for row in bench.rows if row.kind == kind]
        # The column is left out where nobody measured: a terminal of 80 columns has no room to waste.
        width = len(_HEADERS) - (not any(row.measured_us for row in chosen))
        rows = _merged([_cells(row) for row in chosen])
        title = f"{bench.operator}, {_KINDS.get(kind, kind)}: modelled on {bench.machine}, cold L2 cache"
        print_table(
            _HEADERS[:width], [_without_repeats(rows, place)[:width] for place in range(len(rows))], title=title
        )
    if verdicts:
        rows = [(one.name, one.word, one.found) for one in verdicts]
        print_table(("target", "verdict", "found"), rows, title="targets")
    listed = worst(bench)
    if len(listed) > 1:
        cells = [
            (f"{row.ratio:.2f}", row.case, row.kernel, f"{row.binding} {row.binding_us:.1f} us", row.waits)
            for row in listed
        ]
        title = f"the {len(listed)} farthest from their bound, of the last kernel for each shape"
        print_table(("ratio", "shape", "kernel", "binding limit", "longest wait of its pipe"), cells, title=title)
    for row in below_bound(bench):
        print(f"WRONG: {row.kernel} on {row.case} is modelled below its bound; report this, the bound is too high")
    skipped = [row for row in bench.rows if row.status == SKIPPED]
    if skipped:
        names = ", ".join(dict.fromkeys(row.kernel for row in skipped))
        print(f"not run: {names}, element by element, above {grid.scalar_elements:,} elements (--all runs it)")
    if any(0 < row.recorded < row.blocks for row in bench.rows):
        print(
            "Of a launch up to 8 blocks are traced, evenly spread, fewer where their events are many; each other block"
        )
        print("counts as the nearest of them. Files say how many.")
    print("Every time is modelled, none was measured here; 'measured elsewhere' is another kernel on a device.")
    if out is not None:
        print(f"files: {out}, {out.with_suffix('.csv')}")


def _cells(row: BenchRow) -> tuple[str, ...]:
    case = f"{row.case} (instead of {row.instead_of})" if row.instead_of else row.case
    measured = "" if row.measured_us is None else f"{row.measured_us:.2f}"
    if row.modelled_us is None or row.bound_us is None or row.ratio is None:
        return case, _short(row), row.status, "", "", "", row.note, measured
    note = f" ({WRONG}: {row.note})" if row.status == WRONG else ""
    return (
        case, _short(row), f"{row.modelled_us:.2f}", f"{row.bound_us:.2f}", f"{row.ratio:.2f}",
        f"{row.bound_kind}, {row.bound_limit}", f"{row.binding} {row.binding_us:.2f} us{note}", measured,
    )  # fmt: skip


def _short(row: BenchRow) -> str:
    """The kernel without its operator, which the title names."""
    return row.kernel.partition("/")[2]


def _merged(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Kernels that do not take a shape's dtype share one row."""
    merged: list[tuple[str, ...]] = []
    for row in rows:
        last = merged[-1] if merged else ("",) * len(row)
        if row[2] == UNSUPPORTED and (row[0], *row[2:]) == (last[0], *last[2:]):
            merged[-1] = (row[0], f"{last[1]}, {row[1]}", *row[2:])
        else:
            merged.append(row)
    return merged


def _without_repeats(rows: Sequence[tuple[str, ...]], place: int) -> tuple[str, ...]:
    """A shape and its measurement are said once, in its first row."""
    if place and rows[place][0] == rows[place - 1][0]:
        return ("", *rows[place][1:-1], "")
    return rows[place]


@contextmanager
def _progress() -> Iterator[Callable[[int, int, str], None]]:
    """A bar on a terminal; elsewhere one line on standard error for each tenth of the launches."""
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
