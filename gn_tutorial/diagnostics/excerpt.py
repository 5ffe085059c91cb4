"""Makes excerpts: a line of the learner's source with a mark under the part that a finding is about.

The twin names a file and a line; the column is found in the text of the line. The compiler does not give the column:
g++ 12 has no ``__builtin_COLUMN``. A column from the text is also the same for every compiler, so stored output
compares equal. If a line calls the operation twice, the first call is marked, unless the twin sends the number of the
call.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gn_tutorial.cpp.source_line import code_span, find_name
from gn_tutorial.translation.texts import translated

_TAB = 4


@dataclass(frozen=True)
class Excerpt:
    """One line of source and its mark.

    ``text`` is the line with its tabs expanded, empty if the file cannot be read; ``start`` and ``length`` give the
    mark's place in it. ``column`` is the mark's column in the file's line, from 1; 0 if unknown. ``primary``: the line
    is the finding's own; every other line (where the buffer was made, the other access) has a ``label``.
    """

    file: str
    line: int
    column: int = 0
    text: str = ""
    start: int = 0
    length: int = 0
    label: str = ""
    primary: bool = False

    @property
    def name(self) -> str:
        """The file's name, without its folder, because the folder differs from machine to machine."""
        return Path(self.file).name


def excerpt(
    file: str,
    line: int,
    op: str = "",
    *,
    calls: Sequence[str] = (),
    label: str = "",
    primary: bool = False,
    nth: int = 0,
    start: int = -1,
) -> Excerpt:
    """Return the line with a mark under ``op``, else under the first of ``calls`` that it calls, else under all code.

    nth: which call of ``op`` in the line to mark, from 0; a number beyond the last call begins again at the first.
    start: where ``op`` begins in the line, from 0; -1 if that is not known. A line that is blank or cannot be read has
    no mark.
    """
    raw = source_line(file, line)
    if not raw.strip():
        return Excerpt(file, line, label=label, primary=primary)
    call = (start, start + len(op)) if start >= 0 else find_name(raw, op, nth=nth) if op else None
    call = call or next((at for name in calls if (at := find_name(raw, name, called=True))), None)
    begin, end = call or code_span(raw)
    before = len(raw[:begin].expandtabs(_TAB))
    return Excerpt(
        file,
        line,
        column=begin + 1 if call else 0,
        text=raw.expandtabs(_TAB),
        start=before,
        length=len(raw[:end].expandtabs(_TAB)) - before,
        label=label,
        primary=primary,
    )


def joined(excerpts: Sequence[Excerpt]) -> tuple[Excerpt, ...]:
    """Return the excerpts with every line once: a second excerpt of a line only adds its label to the first one."""
    lines: dict[tuple[str, int], Excerpt] = {}
    for one in excerpts:
        place = (one.file, one.line)
        if place not in lines:
            lines[place] = one
        elif one.label:
            known = lines[place]
            alone = translated("{label}, on the same line").format(label=one.label)
            label = f"{known.label}; {one.label}" if known.label else alone
            lines[place] = replace(known, label=label)
    return tuple(lines.values())


def source_line(file: str, line: int) -> str:
    """Return the current text of a line, without its end; empty if there is no such file or line."""
    if not file or line < 1:
        return ""
    linecache.checkcache(file)  # a learner edits the file between two launches
    return linecache.getline(file, line).rstrip()
