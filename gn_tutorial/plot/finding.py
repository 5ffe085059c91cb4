"""Draw a finding as a terminal shows it, for slides, pages and reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from textwrap import wrap

import matplotlib
from matplotlib.figure import Figure

from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.diagnostics.rendering import FindingView, Line, TextSpan, lines_of, plain
from gn_tutorial.plot.picture import INK, STYLE, WIDTH, Picture

# Font size, width of a letter (DejaVu Sans Mono: 0.602 em), and distance between rows, in points.
_SIZE, _ADVANCE, _ROW = 8.0, 0.602 * 8.0, 1.5 * 8.0
_MARGIN = 8.0  # points around the text
# A letter's width is rounded to whole pixels, so a picture of low resolution needs up to 6 % more width.
_COLUMNS = int((WIDTH * 72 - 2 * _MARGIN) / (1.06 * _ADVANCE))
_COLOURS = {"error": "#b3261e", "mark": "#b3261e", "warning": "#7a4f00", "place": "#00336f", "second": "#00336f"}
_BOLD = {"error", "warning", "label", "mark"}


def finding(found: Diagnostic) -> Picture:
    """Draw a finding: its message, the lines of the source, the reason and the fix. File names have no folder."""
    lines = lines_of(_of_any_machine(found.view()))
    rows = [row for line in lines for row in _rows(line)]
    height = len(rows) * _ROW + 2 * _MARGIN
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height / 72))
        for number, row in enumerate(rows):
            _write(figure, row, height - _MARGIN - (number + 0.5) * _ROW, height)
    return Picture(figure, plain(lines))


def _of_any_machine(view: FindingView) -> FindingView:
    excerpts = tuple(replace(one, file=one.name) for one in view.excerpts)
    return replace(view, where=view.where.removeprefix(view.folder), excerpts=excerpts)


def _rows(line: Line) -> Iterator[Line]:
    """Yield the rows of a line: its text is wrapped, and indented by its label. A line of source is cut off instead."""
    head, *rest = line
    text, style, room = plain([tuple(rest)]), rest[-1].style if rest else "", _COLUMNS - len(head.text)
    if head.style == "gutter":
        yield head, TextSpan(text if len(text) <= room else f"{text[: room - 1]}…", style)
        return
    for number, part in enumerate(wrap(text, room) or [""]):
        yield head if not number else TextSpan(" " * len(head.text)), TextSpan(part, style)


def _write(figure: Figure, row: Line, at: float, height: float) -> None:
    """Write one row, with its middle ``at`` points above the lower edge of the picture."""
    column = 0
    for text, style in row:
        words = text.strip()
        left = _MARGIN + (column + len(text) - len(text.lstrip())) * _ADVANCE
        column += len(text)
        if words:
            look = {"color": _COLOURS.get(style, INK), "fontweight": "bold" if style in _BOLD else "normal"}
            where = {"family": "DejaVu Sans Mono", "fontsize": _SIZE, "va": "center", "parse_math": False}
            figure.text(left / 72 / WIDTH, at / height, words, **look, **where)
