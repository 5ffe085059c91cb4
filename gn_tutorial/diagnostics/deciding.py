"""The lines that decide where a flagged line reads or writes, and how much: loops, variables, a copy's struct.

The twin sees that an offset or a length is wrong; the mistake is often made lines before, where it was computed. What
decides it is read from the text: variables are followed to where they get their values, through parameters to the calls
of the function. Constants are not shown.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Iterator

from gn_tutorial.cpp.dataflow import Deciding, SourceFlow
from gn_tutorial.cpp.tokens import tokens

#: What a comparison has found: an input that is read at another place than it should be.
READS_ELSEWHERE = "reads-elsewhere"
#: Causes that count instead of their finding: stores that meet lack an offset, whatever finds it.
DECIDING_CAUSES = ("stores-meet", "stored-over")
#: Flags only the last of many stores, so it shows more lines, those of its length before those of its place.
_NOT_WRITTEN = "gm-not-written"
#: Findings about a place in global memory; those for which its beginning counts even if nothing is added to it.
_PLACE = {
    "gm-out-of-bounds", "gm-behind-end", "gm-beyond-declared-size", "gm-declared-rounded", "gm-misaligned",
    _NOT_WRITTEN, "race-blocks", "race-equal-bytes", "race-global", "cache-line-shared", READS_ELSEWHERE,
    *DECIDING_CAUSES,
}  # fmt: skip
_SHARED = {
    READS_ELSEWHERE,
    *DECIDING_CAUSES,
    "race-blocks",
    "race-equal-bytes",
    "gm-beyond-declared-size",
    "gm-out-of-bounds",
    "gm-misaligned",
}
#: About the index of a tensor; a length; the layout of a copy; padding; tensors that should be two.
_INDEX = {"ub-out-of-bounds", "ub-misaligned", "ub-index"}
_LENGTH = {
    "ub-out-of-bounds", "copy-not-whole-blocks", "copy-too-many-rows", "count-negative", "repeat-range", "stride-range",
    "mask-range", "ub-overflow", "gm-out-of-bounds", "gm-beyond-declared-size", "gm-behind-end",
}  # fmt: skip
_LAYOUT = {
    "ub-out-of-bounds", "ub-never-written", "race-same-pipe", "pad-row-too-long", "copy-tail-never-written",
    "copy-too-many-rows", "gm-out-of-bounds", "gm-beyond-declared-size", _NOT_WRITTEN, *DECIDING_CAUSES,
}  # fmt: skip
_PADDING = {"padding-reduced"}
_TENSORS = {"ub-overwritten-unread", "operands-overlap", "view-overlap"}
_ALL = _PLACE | _INDEX | _LENGTH | _LAYOUT | _PADDING | _TENSORS
#: Lines of a finding; of _NOT_WRITTEN.
_LINES, _MORE_LINES = 4, 6


def deciding(finding: str, file: str, line: int, said: str = "", *, copy: int = 0) -> list[Deciding]:
    """The lines that decide the place or the length of what this line does; none for findings about other things.

    finding: its id, or one of DECIDING_CAUSES. file, line: of the operation that it is about. said: the finding's
    sentences, which may name a field of the copy's struct. copy: the line of another copy in the file that it is about;
    0: none.
    """
    if finding not in _ALL or not file:
        return []
    linecache.checkcache(file)
    source = _source("".join(linecache.getlines(file)))
    every = [*_of_statement(source, line, finding, said)]
    every += source.layouts(*source.statement(copy), said) if copy else ()
    found: dict[int, Deciding] = {}
    for one in sorted(every, key=lambda one: one.steps):
        if one.line != line:
            found.setdefault(one.line, one)
    return list(found.values())[: _MORE_LINES if finding == _NOT_WRITTEN else _LINES]


@functools.lru_cache(maxsize=8)
def _source(text: str) -> SourceFlow:
    return SourceFlow(list(tokens(text)))


def _of_statement(source: SourceFlow, line: int, finding: str, said: str) -> Iterator[Deciding]:
    begin, end = source.statement(line)
    if begin == end:
        return
    if finding in _LAYOUT:
        yield from source.layouts(begin, end, said)
    if finding == _NOT_WRITTEN:
        yield from source.values(source.lengths(begin, end), begin)
    if finding in _PLACE:
        places = source.places(begin, end)
        for at in places:
            yield from source.index_values(at)
        for name in dict.fromkeys(source.name(at) for at in places):
            yield from source.given(name, finding in _SHARED)
    if finding in _INDEX:
        for first, last in source.local_indices(begin, end):
            yield from source.values(source.names(first, last), begin)
    if finding in _LENGTH:
        yield from source.values(source.lengths(begin, end), begin)
    if finding in _TENSORS or "ReinterpretCast" in said:
        yield from source.tensors(begin, end)


def operator_line(file: str, line: int, op: str) -> int:
    """The line of ``z = x + y`` on tensors, of which the twin knows the last call before it; that one if none is found.

    op: ``operator+``. An operator of C++ takes no argument for its place.
    """
    linecache.checkcache(file)
    return _source("".join(linecache.getlines(file))).operator_line(line, op.removeprefix("operator")) or line
