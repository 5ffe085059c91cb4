"""Writes a bench as JSON, and as CSV for spreadsheets, and reads the JSON back for pictures and comparisons.

Nothing in a file depends on the day or the computer: the same kernels, with the same versions of this package and
NumPy, give the same bytes. Only a file's name may have a date: ``bench-{date}.json``.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import io
import json
from pathlib import Path
from typing import Any

from gn_tutorial.errors import ArgumentError
from gn_tutorial.profiler.bench.run import Bench, BenchRow

FORMAT = 1
_ABOUT = "modelled times in microseconds; measured_us: measured elsewhere, with another kernel; docs/benchmark.md"


def as_data(bench: Bench) -> dict[str, Any]:
    """Return the bench as plain data for JSON."""
    return {
        "format": FORMAT,
        "about": _ABOUT,
        "operator": bench.operator,
        "machine": bench.machine,
        "versions": dict(bench.versions),
        "seed": bench.seed,
        "constants": dict(bench.constants),
        "rows": [{**dataclasses.asdict(row), "ratio": row.ratio} for row in bench.rows],
    }


def as_csv(bench: Bench) -> str:
    """Return CSV text: one line for each row, the machine's name first; shapes as ``8x32x64x64``."""
    names = [each.name for each in dataclasses.fields(BenchRow)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["machine", *names, "ratio"])
    for row in bench.rows:
        values = dataclasses.asdict(row) | {
            "shape": "x".join(map(str, row.shape)),
            "attributes": " ".join(f"{name}={value}" for name, value in row.attributes.items()),
        }
        cells = [bench.machine, *(values[name] for name in names), row.ratio]
        writer.writerow(["" if cell is None else cell for cell in cells])
    return text.getvalue()


def as_json(bench: Bench) -> str:
    """Return the text of the JSON file."""
    return json.dumps(as_data(bench), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def dated(path: Path) -> Path:
    """Return the path with ``{date}`` in its name replaced by today's date."""
    return path.with_name(path.name.replace("{date}", datetime.date.today().isoformat()))


def check_path(path: Path) -> Path:
    """Return the path with its date filled in. Raises ArgumentError if it is not .json, or its folder is missing."""
    found = dated(path)
    if found.suffix != ".json":
        raise ArgumentError(f"--out {path}: the name must end in .json; a .csv is written beside it")
    if not found.resolve().parent.is_dir():
        raise ArgumentError(f"--out {path}: there is no folder {found.parent}")
    return found


def save(bench: Bench, path: Path) -> tuple[Path, Path]:
    """Write the JSON file and a CSV beside it; return both paths. Raises ArgumentError if they cannot be written."""
    table = path.with_suffix(".csv")
    try:
        path.write_text(as_json(bench), encoding="utf-8")
        table.write_text(as_csv(bench), encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"cannot write {path}: {error.strerror or error}", where=str(path)) from error
    return path, table


def load(path: Path) -> Bench:
    """Read a file that ``save`` wrote. Raises ArgumentError for any other file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']}, this version reads {FORMAT}")
        rows = []
        for given in data["rows"]:
            table = {name: value for name, value in given.items() if name != "ratio"}
            rows.append(BenchRow(**{**table, "shape": tuple(table["shape"])}))
        return Bench(data["operator"], data["machine"], tuple(rows), data["seed"], data["constants"], data["versions"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArgumentError(
            f"{path} is no result of gnt bench: {error}", hint="gnt bench OP --out FILE.json"
        ) from error
