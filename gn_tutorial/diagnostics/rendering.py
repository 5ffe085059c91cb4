"""Renders one finding as text with carets, as lines of spans that a terminal may colour, and as HTML.

The text may name a folder, so that a terminal can open the file. Notebooks store the HTML, so it names no folder, has
no script and no style sheet, and is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import NamedTuple
from unicodedata import east_asian_width

from gn_tutorial.diagnostics.excerpt import Excerpt
from gn_tutorial.translation.texts import translated


class TextSpan(NamedTuple):
    """A piece of a line. ``style`` is its role: error, warning, label, place, gutter, mark, second; or "" for none."""

    text: str
    style: str = ""


Line = tuple[TextSpan, ...]


@dataclass(frozen=True)
class FindingView:
    """A finding for display. ``more`` is the command that prints its page, and ``link`` the page's path.

    ``where`` begins with ``folder``, which HTML leaves out.
    """

    id: str
    severity: str
    what: str
    where: str
    folder: str
    why: str
    fix: str
    more: str
    link: str
    excerpts: tuple[Excerpt, ...]


def plain(lines: Iterable[Line]) -> str:
    """Return the lines as one text."""
    return "\n".join("".join(span.text for span in line) for line in lines)


def lines_of(view: FindingView, *, named: bool = True, reasons: bool = True) -> list[Line]:
    """Return a finding as lines. named: begin with its severity. reasons: add why, fix and more."""
    severity = [TextSpan(f"{severity_word(view.severity)}: ", view.severity)] if named else []
    return [
        (*severity, TextSpan(view.what)),
        _labelled(translated("where"), view.where, "place"),
        *source_lines(view.excerpts),
        *(_labelled(label, text) for label, text in (_reasons(view, str, view.more) if reasons else [])),
    ]


def severity_word(severity: str) -> str:
    """Return ``error`` or ``warning`` in the learner's language."""
    return translated("error") if severity == "error" else translated("warning")


def source_lines(excerpts: Sequence[Excerpt]) -> list[Line]:
    """Return the excerpts as lines, one below the other, with the file's name where the file changes.

    Another place whose line cannot be read gives a line with its label, file and line number.
    """
    lines: list[Line] = []
    file = excerpts[0].file if excerpts else ""
    for one in excerpts:
        if not one.text and not one.primary:
            lines.append(_labelled(one.label, f"{one.file}:{one.line}", "place"))
            continue
        if one.file != file:
            lines.append(_labelled(translated("in"), one.file, "place"))
        lines += _marked(one)
        file = one.file
    return lines


def html_of(view: FindingView, *, reasons: bool = True) -> str:
    """Return the finding as one HTML element, everything escaped, readable in light and dark themes."""
    # JupyterLab defines a red that is readable in each of its themes, but no amber. So a warning has the text's colour.
    error = view.severity == "error"
    edge, colour = ("#d1453b", "var(--jp-error-color1,#d1453b)") if error else ("#b7791f", "inherit")
    parts = [
        f'<div style="border-left:4px solid {edge};padding:2px 0 2px 12px;margin:6px 0">',
        f'<div><b style="color:{colour}">{escape(severity_word(view.severity))}</b> {escape(view.what)}</div>',
        f'<div style="opacity:.75">{escape(view.where.removeprefix(view.folder))}</div>',
        *_html_source(view.excerpts, colour),
    ]
    if reasons:
        parts += [f"<div><b>{label}</b> {text}</div>" for label, text in _reasons(view, escape, _html_link(view))]
    return "".join([*parts, "</div>"])


def _reasons(view: FindingView, shown: Callable[[str], str], more: str) -> list[tuple[str, str]]:
    """Return (label, text) of the parts below the source, without the parts that the catalogue lacks."""
    labelled = [
        (translated("why"), shown(view.why)),
        (translated("fix"), shown(view.fix)),
        (translated("more"), more),
    ]
    return [(label, text) for label, text in labelled if text]


def _html_link(view: FindingView) -> str:
    # The link is relative to notebooks/, the folder of the course's notebooks. It has the text's colour, because a
    # browser's own blue is unreadable on a dark page.
    link = f'<a href="../{escape(view.link)}" style="color:inherit"><code>{escape(view.more)}</code></a>'
    return link if view.more else ""


def _labelled(label: str, text: str, style: str = "") -> Line:
    # A Chinese character is two columns wide.
    columns = sum(2 if east_asian_width(sign) in "WF" else 1 for sign in label)
    return (TextSpan(f"  {label}:{' ' * (5 - columns)} ", "label"), TextSpan(text, style))


def _marked(one: Excerpt) -> list[Line]:
    if not one.text:
        return []
    number = f"{one.line:>6}"
    marks = " " * one.start + ("^" if one.primary else "-") * one.length
    mark = TextSpan(marks + (f" {one.label}" if one.label else ""), "mark" if one.primary else "second")
    return [
        (TextSpan(f"{number} | ", "gutter"), TextSpan(one.text)),
        (TextSpan(f"{' ' * len(number)} | ", "gutter"), mark),
    ]


def _html_source(excerpts: Sequence[Excerpt], colour: str) -> list[str]:
    rows = []
    for line in source_lines([replace(one, file=one.name) for one in excerpts]):
        for span in line:
            text = escape(span.text)
            if span.style == "mark":
                text = f'<b style="color:{colour}">{text}</b>'
            elif span.style in ("gutter", "label"):
                text = f'<span style="opacity:.7">{text}</span>'
            rows.append(text)
        rows.append("\n")
    # background:none, because Jupyter's own rules for <pre> differ between its front ends.
    style = "margin:4px 0;padding:0;line-height:1.3;background:none;color:inherit;overflow-x:auto"
    return [f'<pre style="{style}">{"".join(rows).rstrip(chr(10))}</pre>'] if rows else []
