"""Finds the lines to show beside a finding's own line: those that decide it, and the line that its fix changes.

The twin sees that an offset or a length is wrong. But the mistake is often in an earlier line, where the number was
computed, and the twin sees no declarations. So both kinds of line are found in the source text (``cpp.dataflow``). The
catalogue says which lines a finding or a cause needs: its ``decided_by`` lists keys of ``DECIDED_BY``, its ``fix_at``
is a key of ``FIX_AT``. Variables are followed to the lines that set them, and parameters to the calls of the function;
constants are not shown.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gn_tutorial.cpp.source_line import assignment_with
from gn_tutorial.errors import ArgumentError
from gn_tutorial.translation.texts import translated

if TYPE_CHECKING:
    from gn_tutorial.cpp.dataflow import Deciding, SourceFlow, Statement

#: How many deciding lines are shown, unless the catalogue gives another number.
LINES = 4

_Find = Callable[["SourceFlow", "Statement", str], Iterable["Deciding"]]
#: The part of a statement that decides a finding -> a function that finds the lines where the part gets its value. The
#: function takes the source, the statement, and the finding's sentences, which may name a field of the copy's struct.
DECIDED_BY: Mapping[str, _Find] = {
    # The terms added to an offset in global memory: in the index, or in the address for SetGlobalBuffer.
    "global-offset": lambda source, statement, said: source.global_places(statement, always=False),
    # The same terms, and the line of SetGlobalBuffer even if its call adds nothing.
    "global-start": lambda source, statement, said: source.global_places(statement, always=True),
    "local-index": lambda source, statement, said: source.local_places(statement),
    # The element count or the number of repeats.
    "length": lambda source, statement, said: source.lengths(statement),
    "copy-struct": lambda source, statement, said: source.layouts(statement, said),
    # The struct of the copy at the finding's place "other".
    "other-copy-struct": lambda source, statement, said: source.layouts(statement, said),
    # The lines that took the tensors from a queue or a buffer.
    "tensors": lambda source, statement, said: source.tensors(statement),
}
_Kind = Callable[["SourceFlow", str, Mapping[str, Any]], Iterable["Deciding"]]
#: The kind of line that a fix changes -> a function that finds such lines. It takes the source, and the finding's
#: buffer and facts.
FIX_AT: Mapping[str, _Kind] = {
    "queue": lambda source, buffer, facts: source.queues(buffer),
    # The declaration of a variable with too few bits.
    "narrow-integer": lambda source, buffer, facts: source.narrow_integers(facts.get("bits", 0)),
    "sizeof-in-index": lambda source, buffer, facts: source.sizes_in_indices(),
}


def deciding(
    decided_by: Sequence[str],
    file: str,
    line: int,
    said: str = "",
    *,
    calls: Sequence[str] = (),
    other: int = 0,
    other_call: str = "",
    most: int = LINES,
) -> list[Deciding]:
    """Return the lines, at most ``most``, that decide the place or the length of the operation in line ``line``.

    decided_by: keys of DECIDED_BY; among equally near lines, those of the first key come first. file, line: the place
    of the operation that the finding is about. said: the finding's sentences. calls: names of the operation; of several
    statements in the line those count that call the first of them. other, other_call: line and operation of the
    finding's place "other" if it is in the same file; 0: none.
    """
    source = _source(file) if decided_by else None
    if source is None:
        return []
    every: list[Deciding] = []
    for word in decided_by:
        find = DECIDED_BY.get(word)  # skip an unknown word, which the catalogue's check refuses: the finding is shown
        place = (other, (other_call,)) if word.startswith("other-") else (line, calls)
        with contextlib.suppress(ArgumentError):  # its names lead to too much
            every += [one for statement in source.statements(*place) if find for one in find(source, statement, said)]
    found: dict[int, Deciding] = {}
    for one in sorted(every, key=lambda one: one.steps):
        if one.line != line:
            found.setdefault(one.line, one)
    return [_labelled(one) for one in list(found.values())[:most]]


def fixed_at(what: str, file: str, buffer: str, facts: Mapping[str, Any]) -> Deciding | None:
    """Return the line that the fix changes; None unless exactly one of the file is of the kind ``what``.

    what: a key of FIX_AT or "".
    """
    source = _source(file) if what in FIX_AT else None
    found = {one.line: one for one in (FIX_AT[what](source, buffer, facts) if source else ())}
    return _labelled(*found.values()) if len(found) == 1 else None


def operator_line(file: str, line: int, op: str) -> int:
    """Return the number of the first line after ``line`` with ``z = x + y`` on tensors; ``line`` if there is none.

    An operator has no argument that could pass its line, so the twin knows only the line of the last call before it.
    op: the operator, as ``operator+``.
    """
    return assignment_with(_text(file), op.removeprefix("operator"), line) or line


def _labelled(one: Deciding) -> Deciding:
    return one._replace(label=translated(one.label))


def _text(file: str) -> str:
    linecache.checkcache(file)
    return "".join(linecache.getlines(file))


def _source(file: str) -> SourceFlow | None:
    """Return the flow of a file; None for one that is too long to be read."""
    try:
        return _flow(_text(file))
    except ArgumentError:
        return None


@functools.lru_cache(maxsize=8)
def _flow(text: str) -> SourceFlow:
    from gn_tutorial.cpp.dataflow import SourceFlow

    return SourceFlow(text)
