"""Finds the lines to show beside a finding's own line: those that decide it, and the line that its fix changes.

The twin sees that an offset or a length is wrong. But the mistake is often in an earlier line, where the number was
computed, and the twin sees no declarations. So both kinds of line are found in the source text. The catalogue says
which lines a finding or a cause needs: its ``decided_by`` lists keys of ``DECIDED_BY``, its ``fix_at`` is a key of
``FIX_AT``. Variables are followed to the lines that set them, and parameters to the calls of the function; constants
are not shown.
"""

from __future__ import annotations

import functools
import linecache
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gn_tutorial.cpp.dataflow import Deciding, SourceFlow
from gn_tutorial.cpp.tokens import tokens
from gn_tutorial.translation.texts import translated

#: How many deciding lines are shown, unless the catalogue gives another number.
LINES = 4

_Find = Callable[[SourceFlow, int, int, str], Iterator[Deciding]]
#: The part of a statement that decides a finding -> a function that finds the lines where the part gets its value. The
#: function takes the source, the statement's first and end token, and the finding's sentences, which may name a field
#: of the copy's struct.
DECIDED_BY: Mapping[str, _Find] = {
    # The terms added to an offset in global memory: in the index, or in the address for SetGlobalBuffer.
    "global-offset": lambda source, begin, end, said: source.global_places(begin, end, always=False),
    # The same terms, and the line of SetGlobalBuffer even if its call adds nothing.
    "global-start": lambda source, begin, end, said: source.global_places(begin, end, always=True),
    "local-index": lambda source, begin, end, said: source.local_places(begin, end),
    # The element count or the number of repeats.
    "length": lambda source, begin, end, said: source.lengths(begin, end),
    "copy-struct": lambda source, begin, end, said: source.layouts(begin, end, said),
    # The struct of the copy at the finding's place "other".
    "other-copy-struct": lambda source, begin, end, said: source.layouts(begin, end, said),
    # The lines that took the tensors from a queue or a buffer.
    "tensors": lambda source, begin, end, said: source.tensors(begin, end),
}
_Kind = Callable[[str, Mapping[str, Any]], tuple[str, str, str]]
#: The kind of line that a fix changes -> a function of the finding's buffer and facts. The function returns the regular
#: expression of such a line, the part to mark in it, and the mark's label.
FIX_AT: Mapping[str, _Kind] = {
    "queue": lambda buffer, facts: (
        rf"\bT(?:Que|QueBind)\s*<[^;]*>[^;<>()]*\b{re.escape(buffer)}\b", buffer, translated("declared here")
    ),
    # The declaration of a variable with too few bits.
    "narrow-integer": lambda buffer, facts: (
        rf"\buint{facts.get('bits')}_t\s+\w+\s*[={{]", f"uint{facts.get('bits')}_t", translated("declared here")
    ),
    "sizeof-in-index": lambda buffer, facts: (
        r"[\w\]]\s*\[[^\[\]]*\bsizeof\b[^\[\]]*\]", "sizeof", translated("counts elements")
    ),
}  # fmt: skip


def deciding(
    decided_by: Sequence[str], file: str, line: int, said: str = "", *, other: int = 0, most: int = LINES
) -> list[Deciding]:
    """Return the lines, at most ``most``, that decide the place or the length of the operation in line ``line``.

    decided_by: keys of DECIDED_BY; among equally near lines, those of the first key come first. file, line: the place
    of the operation that the finding is about. said: the finding's sentences. other: the line of the finding's place
    "other" if it is in the same file; 0: none.
    """
    if not decided_by or not file:
        return []
    linecache.checkcache(file)
    source = _source("".join(linecache.getlines(file)))
    every: list[Deciding] = []
    for word in decided_by:
        find = DECIDED_BY.get(word)  # skip an unknown word, which the catalogue's check refuses: the finding is shown
        begin, end = source.statement(other if word.startswith("other-") else line)
        every += find(source, begin, end, said) if find and begin < end else ()
    found: dict[int, Deciding] = {}
    for one in sorted(every, key=lambda one: one.steps):
        if one.line != line:
            found.setdefault(one.line, one)
    return [one._replace(label=translated(one.label)) for one in list(found.values())[:most]]


def fixed_at(what: str, file: str, buffer: str, facts: Mapping[str, Any]) -> tuple[int, str, str]:
    """Return the number of the line that the fix changes, the part to mark in it, and the mark's label.

    The number is 0 unless exactly one line of the file is of the kind ``what``, a key of FIX_AT or "". It is also 0 if
    there is nothing to mark.
    """
    if what not in FIX_AT:
        return 0, "", ""
    pattern, marked, label = FIX_AT[what](buffer, facts)
    linecache.checkcache(file)
    texts = (text.partition("//")[0] for text in linecache.getlines(file))
    found = [number for number, text in enumerate(texts, 1) if re.search(pattern, text)]
    return (found[0], marked, label) if marked and len(found) == 1 else (0, "", "")


def operator_line(file: str, line: int, op: str) -> int:
    """Return the number of the first line after ``line`` with ``z = x + y`` on tensors; ``line`` if there is none.

    An operator has no argument that could pass its line, so the twin knows only the line of the last call before it.
    op: the operator, as ``operator+``.
    """
    linecache.checkcache(file)
    return _source("".join(linecache.getlines(file))).operator_line(line, op.removeprefix("operator")) or line


@functools.lru_cache(maxsize=8)
def _source(text: str) -> SourceFlow:
    return SourceFlow(list(tokens(text)))
