"""Small tables as text and as HTML, for the reprs that a notebook shows and stores."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

# No text colour is set, so text has the page's. A half-transparent grey line is visible on light and dark pages.
_CELL = "padding:2px 10px;text-align:left;border-bottom:1px solid rgba(128,128,128,.35)"
_CODE = "font-family:monospace"


class Html(str):
    """A cell of ``html_table`` that is HTML already, so it is not escaped."""

    __slots__ = ()


def text_table(headers: Sequence[str], rows: Sequence[Sequence[object]], *, indent: str = "") -> str:
    """Return the table as text, with aligned columns two spaces apart; no header row if all headers are empty."""
    cells = [[str(cell) for cell in row] for row in ([headers] if any(headers) else []) + [list(row) for row in rows]]
    if not cells:
        return ""
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(indent + line.rstrip() for line in lines)


def html_table(headers: Sequence[str], rows: Sequence[Sequence[object]], *, caption: str = "") -> str:
    """Return the table as HTML, readable in light and dark themes. Everything but cells of ``Html`` is escaped."""
    parts = ['<table style="border-collapse:collapse">']
    if caption:
        parts.append(f'<caption style="text-align:left;font-weight:600;padding:2px 10px">{escape(caption)}</caption>')
    if any(headers):
        parts.append("<tr>" + "".join(f'<th style="{_CELL}">{escape(h)}</th>' for h in headers) + "</tr>")
    for row in rows:
        cells = (c if isinstance(c, Html) else escape(str(c)) for c in row)
        parts.append("<tr>" + "".join(f'<td style="{_CELL};{_CODE}">{cell}</td>' for cell in cells) + "</tr>")
    return "".join([*parts, "</table>"])
