"""Recognises the mistakes that a puzzle names. The module imports no NumPy, because a web page uses it too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from gn_tutorial.abi.trace import Kind, Pipe, Trace
from gn_tutorial.cpp.literals import without_comments
from gn_tutorial.diagnostics.catalogue import harmless_forms
from gn_tutorial.timing.timeline import Timeline


@dataclass(frozen=True)
class WrongAnswer:
    """A mistake that a puzzle recognises. lines: example code with the mistake. say: the sentence that a learner reads.

    The mistake is recognised by ``finding`` (the id of the twin's finding, or a pattern such as "race-*"), by ``when``
    (a Python expression over the variables of ``names_of``), or by both. right: True if lines with this mistake compute
    right numbers and the twin finds nothing in them; the puzzle refuses them nevertheless.
    """

    name: str
    lines: str
    say: str
    finding: str = ""
    when: str = ""
    right: bool = False


def code_of(lines: str) -> str:
    """Return the lines without comments and blanks; empty if nothing was written yet."""
    return "".join(without_comments(lines).split())


def names_of(lines: str, said: str, trace: Trace | None, timeline: Callable[[], Timeline] | None) -> dict[str, Any]:
    """Return name -> value of the variables that a ``when`` expression may use. The caller may add the arrays.

    text: the lines without comments, blanks, ``AscendC::`` and ``[0]``. said: the message of the compiler, the twin or
    the comparison. ops: how many events each vector, copy and scalar operation has in the trace, over all recorded
    blocks (a run of scalar accesses is one event). together("MTE2", "V"): the modelled microseconds in which both pipes
    of block 0 are at work; missing if there is no timeline.
    """
    events = [event for block in (trace.blocks.values() if trace else ()) for event in block]
    names: dict[str, Any] = {
        "text": code_of(lines).replace("AscendC::", "").replace("[0]", ""),
        "said": said,
        "ops": Counter(event.op for event in events if event.kind in (Kind.VECTOR, Kind.COPY, Kind.SCALARS)),
    }
    if timeline:
        names["together"] = lambda one, other: together(timeline(), one, other)
    return names


def recognised(
    wrong: Iterable[WrongAnswer], names: Mapping[str, Any], *, right: bool, finding: str = ""
) -> WrongAnswer | None:
    """Return the first mistake that this attempt shows; None if it shows none.

    right: whether the attempt's numbers are right and the twin found nothing. finding: the id of the twin's finding.
    A finding is certain and a ``when`` is a guess, so with a finding only the mistakes that name it are tried.
    """
    for one in wrong:
        if one.right != right or not (one.when or one.finding):
            continue
        if (finding or one.finding) and not fnmatchcase(harmless_forms().get(finding, finding), one.finding):
            continue
        if not one.when or _true(one.when, names):
            return one
    return None


def together(found: Timeline, one: str, other: str) -> float:
    """Return the modelled microseconds in which two pipes of block 0, given by name, are both at work."""
    first, second = ([(span.start, span.end) for span in found.of(0, Pipe[name])] for name in (one, other))
    return found.machine.microseconds(sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in first for b in second))


def _true(expression: str, names: Mapping[str, Any]) -> bool:
    try:
        return bool(eval(expression, {}, dict(names)))
    # The expression may name an output of a launch that failed, or a word that the lines lack (`text.index`).
    except (NameError, KeyError, ValueError):
        return False
