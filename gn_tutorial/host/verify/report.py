"""Stores the results of the steps, row by row, in a JSON file for programs and a Markdown file for people.

The user sends both files back. They are written after every row, so nothing is lost when a step fails, hangs or is
stopped. A later call with the same sources, toolkit and device leaves out the kernels whose rows all passed, and the
projects whose build passed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gn_tutorial.errors import ArgumentError

JSON, MARKDOWN = "report.json", "report.md"
_FORMAT = 1
Row = dict[str, Any]


class VerifyReport:
    """The report in ``folder``. key: the result of ``steps.state_key``; rows stored with another key are dropped.

    fresh: begin a new report. Otherwise raises ArgumentError if the folder's report.json is not such a report.
    """

    def __init__(self, folder: Path, key: str, *, fresh: bool = False) -> None:
        self.folder = folder
        self.environment: dict[str, Any] = {}
        self.rows: dict[str, dict[str, Row]] = {}
        path = folder / JSON
        if path.is_file() and not fresh:
            try:
                found = json.loads(path.read_text("utf-8"))
                same = found["format"] == _FORMAT and found["key"] == key
                kept = found["rows"] if same else {}
            except (ValueError, KeyError, TypeError) as error:
                raise ArgumentError(
                    "this is no report of gnt npu verify", where=str(path), hint="another folder, or --fresh"
                ) from error
            self.rows = {step: {row["name"]: row for row in rows} for step, rows in kept.items()}
        self._key = key

    def passed(self, step: str, name: str) -> bool:
        """Whether the report has this row and the row passed."""
        return self.rows.get(step, {}).get(name, {}).get("passed") is True

    def add(self, step: str, row: Row) -> None:
        """Store a row of a step.

        A row has a ``name``, and ``passed``, which is None if nothing could be checked. If an error ended the check,
        ``error`` has its text. If nothing could be checked, ``skipped`` says why.
        """
        self.rows.setdefault(step, {})[row["name"]] = row
        self.save()

    def failed(self) -> list[str]:
        """Return the rows that failed, as "step: name". A row that could not be checked did not fail."""
        return [f"{step}: {name}" for step, rows in self.rows.items() for name, row in rows.items() if _is_wrong(row)]

    def save(self) -> None:
        """Write both files, each by an atomic rename, so that a reader sees the old or the new file, never a part."""
        self.folder.mkdir(parents=True, exist_ok=True)
        rows = {step: list(named.values()) for step, named in self.rows.items()}
        data = {"format": _FORMAT, "key": self._key, "environment": self.environment, "rows": rows}
        _write(self.folder / JSON, json.dumps(data, indent=1, default=str))
        _write(self.folder / MARKDOWN, self.markdown())

    def markdown(self) -> str:
        """Return the report for people, as Markdown."""
        all_rows = [row for rows in self.rows.values() for row in rows.values()]
        wrong, skipped = sum(map(_is_wrong, all_rows)), sum("skipped" in row for row in all_rows)
        lines = ["# gnt npu verify", ""]
        lines += [f"{len(all_rows) - wrong - skipped} passed, {wrong} failed, {skipped} not asked.", ""]
        lines += _table(("what", "here"), self.environment.items())
        for step, rows in self.rows.items():
            lines += ["", f"## {step}", ""]
            lines += _table(_HEADERS, (_cells(row) for row in rows.values()))
            for row in rows.values():
                if row.get("error"):
                    lines += ["", f"**{row['name']}**", "", "```", str(row["error"]).strip(), "```"]
        lines += ["", *_CLOSING]
        return "\n".join(lines) + "\n"


_HEADERS = ("what", "result", "outside tolerance", "not the twin's bits", "modelled us", "measured us, p50 / p90 / p99")


_CLOSING = (
    "Measured times are from the host's call until the stream was done, so they hold what a launch costs the host.",
    "Modelled ones are of the kernel alone.",
)


def _is_wrong(row: Mapping[str, Any]) -> bool:
    return row.get("passed") is False


def _cells(row: Mapping[str, Any]) -> tuple[Any, ...]:
    result = "passed" if row.get("passed") else f"not asked: {row['skipped']}" if "skipped" in row else "FAILED"
    outputs = row.get("outputs", [])
    counts = [", ".join(f"{one['name']} {one[key]}" for one in outputs) for key in ("outside", "not the twin's bits")]
    measured = row.get("measured_us")
    times = " / ".join(f"{one:.1f}" for one in measured.values()) if measured else ""
    modelled = f"{row['modelled_us']:.1f}" if "modelled_us" in row else ""
    return row["name"], result, *counts, modelled, times


def _table(headers: Iterable[Any], rows: Iterable[Iterable[Any]]) -> list[str]:
    def line(cells: Iterable[Any]) -> str:
        return "| " + " | ".join(str(one).replace("|", "\\|").replace("\n", " ") for one in cells) + " |"

    headers = list(headers)
    return [line(headers), line("---" for _ in headers), *map(line, rows)]


def _write(path: Path, text: str) -> None:
    new = path.with_suffix(path.suffix + ".new")
    new.write_text(text, "utf-8", "backslashreplace")
    os.replace(new, path)
