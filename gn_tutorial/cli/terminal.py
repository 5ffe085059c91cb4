"""How ``gnt`` prints: tables, source, Markdown, JSON, errors, findings, and a notice while slow work goes on."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import sys
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gn_tutorial.diagnostics.findings import Findings, printed_tail
from gn_tutorial.diagnostics.rendering import Line, plain
from gn_tutorial.errors import GntError, KernelError, KernelFault

_PATIENCE = 2.0
#: The smallest width, in characters, to which a column is narrowed.
_NARROW = 8
_SPAN_STYLE = {
    "error": "bold red",
    "warning": "bold yellow",
    "label": "bold",
    "place": "cyan",
    "gutter": "dim",
    "mark": "bold red",
    "second": "cyan",
}
_STATUS_STYLE = {"ok": "green", "right": "green", "missing": "yellow", "problem": "bold red", "wrong": "bold red"}


def print_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    title: str = "",
    right: Collection[str] = (),
    names: Collection[str] = (),
) -> None:
    """Print a table to standard output. Cells such as ``ok`` and ``problem`` are coloured on a terminal.

    right: headers of the columns that are aligned to the right. names: headers of columns that, like the first, name
    a row. A table that is too wide is wrapped, and words in these columns are cut last.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # A file or a pipe has no width. There the table is wide, because a path that is folded cannot be copied.
    console = Console(width=None if sys.stdout.isatty() or os.environ.get("COLUMNS") else 200)
    cells = [[str(cell) for cell in row] for row in rows]
    titles = headers or [""] * len(cells[0])
    gaps = len(titles) - 1
    widths = _natural_widths([titles, *cells])
    # In a table with headers, Rich puts one more space between two columns, besides their padding.
    padding, gap = ((0, 1), 3) if headers else ((0, 1), 2)
    if headers and sum(widths) + gap * gaps > console.width:
        padding, gap = (0, 1, 0, 0), 2
    kept = {place for place, header in enumerate(titles) if place == 0 or header in names}
    widths = _narrowed(widths, titles, cells, kept, console.width - gap * gaps)
    look = {"box": box.SIMPLE_HEAD if headers else None, "show_edge": False, "pad_edge": False, "padding": padding}
    table = Table(show_header=bool(headers), **look)
    for header, width in zip(titles, widths, strict=True):
        table.add_column(header, overflow="fold", width=width, justify="right" if header in right else "left")
    for row in cells:
        # Use Text, because Rich would read a shape such as [4096] in a string as markup.
        table.add_row(*(Text(cell, style=_STATUS_STYLE.get(cell, "")) for cell in row))
    if title:
        console.print(Text(title, style="bold"))
    console.print(table)
    console.print()


def _natural_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    from rich.cells import cell_len

    columns = zip(*rows, strict=True)
    return [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in columns]


def _narrowed(
    widths: Sequence[int], headers: Sequence[str], rows: Sequence[Sequence[str]], kept: Collection[int], room: int
) -> list[int]:
    """Return the columns' widths, narrowed until their sum is at most ``room`` characters, if that is possible.

    The widest column is narrowed first. Headers are wrapped first, then cells. Then words are cut, those of the columns
    in ``kept`` last.
    """
    from rich.cells import cell_len

    def longest(texts: Iterable[str]) -> int:
        return max((cell_len(word) for text in texts for word in text.split()), default=0)

    heads = [longest([header]) for header in headers]
    bodies = _natural_widths(rows) if rows else heads
    words = [longest((header, *cells)) for header, *cells in zip(headers, *rows, strict=True)]
    least = [min(width, _NARROW) for width in widths]
    cut = [words[place] if place in kept else one for place, one in enumerate(least)]
    now = list(widths)
    for floor in ([max(pair) for pair in zip(heads, bodies, strict=True)], words, cut, least):
        while (excess := sum(now) - room) > 0:
            widest = max(range(len(now)), key=lambda one: (now[one] > floor[one]) * now[one])
            if now[widest] <= floor[widest]:
                break
            second = max((width for width in now if width < now[widest]), default=0)
            now[widest] = max(floor[widest], now[widest] - excess, min(second, now[widest] - 1))
    return now


def print_source(source: str, path: str) -> None:
    """Print a path and its C++ source: with line numbers on a terminal, as plain text into a file or a pipe."""
    if not sys.stdout.isatty():
        print(f"// {path}\n{source}", end="")
        return
    from rich.console import Console
    from rich.syntax import Syntax
    from rich.text import Text

    console = Console()
    console.print(Text(path, style="bold"))
    # Wrap lines, because a narrow terminal would otherwise cut off the ends of long ones.
    look = {"line_numbers": True, "word_wrap": True, "theme": "ansi_dark", "background_color": "default"}
    console.print(Syntax(source, "cpp", **look))


def print_error(error: GntError) -> None:
    """Print an error on standard error. On a terminal, the findings of the twin are coloured."""
    if isinstance(error, KernelFault) and isinstance(error.diagnostics, Findings) and sys.stderr.isatty():
        print("gnt: ", end="", file=sys.stderr, flush=True)
        _print_lines(error.diagnostics.lines(named=False))
        print(printed_tail(error.printed), end="\n" if error.printed else "", file=sys.stderr)
    else:
        print(f"gnt: {error}", file=sys.stderr)


def print_findings(findings: Findings) -> None:
    """Print on standard error the findings that did not end the launch. On a terminal, they are coloured."""
    if findings:
        _print_lines(findings.lines())


def _print_lines(lines: Sequence[Line]) -> None:
    if not sys.stderr.isatty():
        print(plain(lines), file=sys.stderr)
        return
    from rich.console import Console
    from rich.text import Text

    text = Text("\n").join(
        Text.assemble(*((span.text, _SPAN_STYLE.get(span.style, "")) for span in ls)) for ls in lines
    )
    # The terminal wraps long sentences itself, so that a copied line has no break.
    Console(stderr=True).print(text, soft_wrap=True, highlight=False)


def print_markdown(text: str) -> None:
    """Print Markdown: as formatted text on a terminal, unchanged into a file or a pipe."""
    if not sys.stdout.isatty():
        print(text, end="" if text.endswith("\n") else "\n")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text, code_theme="ansi_dark", hyperlinks=False))


def emit_json(data: Any) -> None:
    """Print ``data`` as JSON: paths as strings, dataclasses as objects, NaN and infinity (JSON has neither) as null."""
    print(json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False))


def emit_failure(error: KernelError) -> None:
    """Print a failed launch as JSON: the error, the findings as data, and the text that the kernel printed."""
    emit_json(
        {
            "ok": False,
            "error": {"kind": type(error).__name__, "what": error.what, "where": error.where, "hint": error.hint},
            "diagnostics": Findings(getattr(error, "diagnostics", ())).to_list(),
            "printed": error.printed,
        }
    )


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


@contextmanager
def working(text: str) -> Iterator[None]:
    """Show on standard error that work goes on: a spinner on a terminal, one line after two seconds elsewhere."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(text):
            yield
        return
    timer = threading.Timer(_PATIENCE, lambda: print(f"gnt: {text} ...", file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
