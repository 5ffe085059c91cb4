"""Prints the rows of ``gnt bench`` as tables with verdicts, as JSON or as CSV, and writes them to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gn_tutorial.cli.terminal import emit_json, print_table
from gn_tutorial.profiler.bench import files
from gn_tutorial.profiler.bench.grid import OWN, Grid
from gn_tutorial.profiler.bench.run import OK, SKIPPED, UNSUPPORTED, WRONG, Bench, BenchRow
from gn_tutorial.profiler.bench.targets import TargetVerdict, below_bound, judge, worst


def show(bench: Bench, grid: Grid, *, out: Path | None, as_json: bool, as_csv: bool) -> bool:
    """Write the files, print the report, and return whether the results are good.

    They are good if no target is missed, every kernel that was run is right and no time is below its bound.
    """
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
_PARTS = "launches replaced us"


def _print(bench: Bench, grid: Grid, verdicts: Sequence[TargetVerdict], out: Path | None) -> None:
    for kind in dict.fromkeys(row.kind for row in bench.rows):
        chosen = [row for row in bench.rows if row.kind == kind]
        # Leave out the last column if no row has a measurement, because a terminal of 80 columns has no room for it.
        width = len(_HEADERS) - (not any(row.measured_us for row in chosen))
        parts = any(row.parts_us for row in chosen)
        headers = (*_HEADERS[:3], _PARTS, *_HEADERS[4:width]) if parts else _HEADERS[:width]
        rows = _merged([_beside_parts(row) if parts else _cells(row) for row in chosen])
        title = f"{bench.operator}, {_KINDS.get(kind, kind)}: modelled on {bench.machine}, cold L2 cache"
        print_table(
            headers,
            [_without_repeats(rows, place)[:width] for place in range(len(rows))],
            title=title,
            names=("kernel",),
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
        print_table(
            ("ratio", "shape", "kernel", "binding limit", "longest wait of its pipe"),
            cells,
            title=title,
            names=("kernel",),
        )
    for row in below_bound(bench):
        print(f"WRONG: {row.kernel} on {row.case} is modelled below its bound; report this, the bound is too high")
    for row in bench.rows:
        if row.modelled_us and row.parts_us and row.modelled_us >= row.parts_us:
            times = f"{row.modelled_us:.2f} us, its parts {row.parts_us:.2f}"
            print(f"does not pay: {row.kernel} on {row.case} takes {times}")
    skipped = [row for row in bench.rows if row.status == SKIPPED]
    if skipped:
        names = ", ".join(dict.fromkeys(row.kernel for row in skipped))
        print(f"not run: {names}, element by element, above {grid.scalar_elements:,} elements (--all runs it)")
    if any(0 < row.recorded < row.blocks for row in bench.rows):
        print("Up to 8 blocks of a launch are traced, evenly spread, fewer if they have many events; each other block")
        print("counts as the nearest traced one. The files say how many.")
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


def _beside_parts(row: BenchRow) -> tuple[str, ...]:
    """Return a fused kernel's cells, but with the time of the replaced launches where the bound's time would be."""
    cells = _cells(row)
    return (*cells[:3], "" if row.parts_us is None else f"{row.parts_us:.2f}", *cells[4:])


def _short(row: BenchRow) -> str:
    """Return the kernel's name without the operator, because the table's title has the operator."""
    return row.kernel.partition("/")[2] or row.kernel


def _merged(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the rows. Successive kernels that do not support a shape's dtype share a row if their notes are equal."""
    merged: list[tuple[str, ...]] = []
    for row in rows:
        last = merged[-1] if merged else ("",) * len(row)
        if row[2] == UNSUPPORTED and (row[0], *row[2:]) == (last[0], *last[2:]):
            merged[-1] = (row[0], f"{last[1]}, {row[1]}", *row[2:])
        else:
            merged.append(row)
    return merged


def _without_repeats(rows: Sequence[tuple[str, ...]], place: int) -> tuple[str, ...]:
    """Return row number ``place``. If the row before has the same shape, leave out the shape and the measurement."""
    if place and rows[place][0] == rows[place - 1][0]:
        return ("", *rows[place][1:-1], "")
    return rows[place]
