"""How ``gnt`` prints: tables, source, JSON, and a sign of life while something takes longer than two seconds."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gn_tutorial.diagnostics.findings import Findings, printed_tail
from gn_tutorial.diagnostics.rendering import Line, plain
from gn_tutorial.errors import GntError, KernelError, KernelFault

_PATIENCE = 2.0
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


def print_table(headers: Sequence[str], rows: Sequence[Sequence[object]], *, title: str = "") -> None:
    """Print a table to standard output; words such as ``ok`` and ``problem`` are coloured on a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=bool(headers), box=box.SIMPLE_HEAD if headers else None, show_edge=False, pad_edge=False)
    for header in headers or [""] * len(rows[0]):
        table.add_column(header, overflow="fold")
    for row in rows:
        # Text, not a string: a shape such as [4096] is no markup.
        table.add_row(*(Text(str(cell), style=_STATUS_STYLE.get(str(cell), "")) for cell in row))
    # A file or a pipe has no width of its own, and a folded path there cannot be copied.
    console = Console(width=None if sys.stdout.isatty() else 200)
    if title:
        console.print(Text(title, style="bold"))
    console.print(table)
    console.print()


def print_source(source: str, path: str) -> None:
    """Print C++ source with line numbers and its path; plain text, without numbers, into a file or a pipe."""
    if not sys.stdout.isatty():
        print(f"// {path}\n{source}", end="")
        return
    from rich.console import Console
    from rich.syntax import Syntax
    from rich.text import Text

    console = Console()
    console.print(Text(path, style="bold"))
    # Wrapped: on a narrow terminal the ends of long lines would otherwise be cut off.
    look = {"line_numbers": True, "word_wrap": True, "theme": "ansi_dark", "background_color": "default"}
    console.print(Syntax(source, "cpp", **look))


def print_error(error: GntError) -> None:
    """Print an error on standard error; the findings of the twin in colour if that is a terminal."""
    if isinstance(error, KernelFault) and isinstance(error.diagnostics, Findings) and sys.stderr.isatty():
        print("gnt: ", end="", file=sys.stderr, flush=True)
        _print_lines(error.diagnostics.lines(named=False))
        print(printed_tail(error.printed), end="\n" if error.printed else "", file=sys.stderr)
    else:
        print(f"gnt: {error}", file=sys.stderr)


def print_findings(findings: Findings) -> None:
    """Print what the twin found without ending the launch, on standard error; in colour if that is a terminal."""
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
    """Print Markdown as text on a terminal, as it stands into a file or a pipe."""
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
    """Print a launch that did not end well as JSON: what happened, the findings as data, what the kernel printed."""
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
