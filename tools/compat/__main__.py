"""``python -m tools.compat`` tries a folder's kernels, shows its progress, and prints a table or JSON."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.options import Json, Many, positive_seconds
from gn_tutorial.cli.terminal import emit_json, print_table
from tools.command import run
from tools.compat import trying
from tools.compat.trying import (
    COMPILED,
    EXCLUDED,
    FAILED,
    RAN,
    CompatCase,
    CompatOptions,
    CompatRow,
    missing_apis,
    ranked,
)

#: Exit codes: nothing wrong; something did not compile or run; no kernel under the folder.
GOOD, INCOMPLETE, NOTHING = 0, 1, 2


def try_kernels(
    folder: Annotated[Path, typer.Argument(help="The folder to search for kernels.")],
    seconds: Annotated[
        float, typer.Option(callback=positive_seconds, help="Time limit of each compilation and each run.")
    ] = 30.0,
    include: Annotated[
        list[Path] | None, typer.Option("--include", "-I", help="A folder to search for headers.")
    ] = None,
    define: Annotated[Many, typer.Option("--define", "-D", help="Define a macro: NAME=VALUE.")] = None,
    compile_only: Annotated[bool, typer.Option("--compile-only", help="Run nothing.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="List every file, not only the reasons.")] = False,
    json: Json = False,
) -> None:
    """Try every kernel under a folder on the twin: what compiles, what runs, and why the others do not.

    Exit code 0: every kernel for the vector cores of Atlas A2 compiled and ran; 1: some did not; 2: there is none.
    """
    options = CompatOptions(seconds, tuple(include or ()), tuple(define or ()), run=not compile_only)
    code = _run(folder, options, everything=everything, as_json=json)
    if code:
        raise typer.Exit(code)


def _run(root: Path, options: CompatOptions, *, everything: bool, as_json: bool) -> int:
    """Try every kernel under ``root``, print the results, and return the exit code.

    An interrupt (Ctrl-C) ends the trying; the results until then are printed.
    """
    cases = trying.find_cases(root)
    rows = trying.try_all(cases, options, lambda index, case: _progress(index, len(cases), case, root))
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    counts = Counter(row.status for row in rows)
    tried = [row for row in rows if row.status != EXCLUDED]
    if as_json:
        facts = _facts(rows, tried, counts, root)
        emit_json(facts | {"found": len(cases), "interrupted": len(rows) < len(cases)})
    else:
        _show(rows, tried, counts, root, everything)
        if len(rows) < len(cases):
            print(f"interrupted: {len(cases) - len(rows)} files were not looked at")
    if not cases:
        return NOTHING
    if len(rows) < len(cases):
        return INCOMPLETE
    ended = {RAN} if options.run else {RAN, COMPILED}
    return GOOD if all(row.status in ended for row in tried) else INCOMPLETE


def _progress(index: int, count: int, case: CompatCase, root: Path) -> None:
    """Print progress: one line that changes on a terminal, elsewhere a line for every tenth case."""
    shown = f"{index + 1} of {count}: {_inside(case.path, root)}"
    if sys.stderr.isatty():
        print(f"\r\033[K{shown[:120]}", end="", file=sys.stderr, flush=True)
    elif index % 10 == 0:
        print(f"gnt: {shown}", file=sys.stderr, flush=True)


def _show(rows: list[CompatRow], tried: list[CompatRow], counts: Counter, root: Path, everything: bool) -> None:
    if everything and rows:
        cells = [(str(_inside(row.path, root)), row.status, _why(row), f"{row.seconds:.1f}") for row in rows]
        print_table(("file", "status", "why", "s"), cells)
    reasons = ranked(tried)
    if reasons:
        print_table(
            ("files", "kind", "what"), [(n, kind, name) for kind, name, n in reasons], title="why not, by reason"
        )
    missing = missing_apis(tried)
    if missing:
        print_table(("name", "files"), missing, title="names that the twin lacks, by files that use them")
    others = ranked([row for row in rows if row.status == EXCLUDED])
    if others:
        print_table(("files", "made for"), [(n, name) for _, name, n in others], title="not tried")
    compiled, ran = counts[COMPILED] + counts[RAN], counts[RAN]
    kernels = sum(len(row.kernels) for row in rows)
    facts = [
        ("files with kernels", f"{len(rows)} ({kernels} kernels)"),
        ("for other targets", str(counts[EXCLUDED])),
        ("tried", str(len(tried))),
        ("compiled", _share(compiled, len(tried))),
        ("ran to their end", _share(ran, len(tried))),
        ("did not compile", str(counts[FAILED])),
    ]
    print_table((), facts)


def _facts(rows: list[CompatRow], tried: list[CompatRow], counts: Counter, root: Path) -> dict:
    return {
        "folder": root,
        "kernels": sum(len(row.kernels) for row in rows),
        "excluded": counts[EXCLUDED],
        "tried": len(tried),
        "compiled": counts[COMPILED] + counts[RAN],
        "ran": counts[RAN],
        "reasons": [{"kind": kind, "name": name, "files": n} for kind, name, n in ranked(tried)],
        "missing": dict(missing_apis(tried)),
        "files": [
            {
                "file": _inside(row.path, root),
                "kernels": row.kernels,
                "whole": row.whole,
                "status": row.status,
                "reasons": row.reasons,
                "seconds": row.seconds,
            }
            for row in rows
        ],
    }


def _why(row: CompatRow) -> str:
    return "; ".join(f"{one.kind}: {one.name}" if one.name else one.kind for one in row.reasons[:3])


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "0 of 0"


def _inside(path: Path, root: Path) -> Path:
    return path.relative_to(root) if path.is_relative_to(root) else path


if __name__ == "__main__":
    run(try_kernels, "tools.compat")
