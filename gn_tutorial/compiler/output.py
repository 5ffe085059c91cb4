"""Splits the output of g++, clang or a linker into errors, each with its notes and the places that led to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Place:
    """A file as the compiler spelled it, a line, and a column from 1 (0: not known)."""

    file: str
    line: int
    column: int = 0


@dataclass
class Report:
    """One error. place: None if the compiler or linker named none. notes: the texts of its notes.

    chain: the places that led to the error (instantiations, macros, inlining), innermost first. includes: the
    ``#include`` lines that led to the file of the error, innermost first. fatal: whether the compiler stopped there.
    """

    message: str
    place: Place | None
    fatal: bool = False
    chain: list[Place] = field(default_factory=list)
    includes: list[Place] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


_PLACE = r"(?P<file>[^\n]+?):(?P<line>\d+)(?::(?P<column>\d+))?"
_DIAGNOSTIC = re.compile(
    _PLACE
    + r":\s+(?P<kind>fatal error|error|warning|note|sorry, unimplemented|internal compiler error):\s*(?P<text>.*)"
)
# g++ prints the places that led to an error before the error, the nearest place first.
_CONTEXT = re.compile(
    _PLACE
    + r":\s+(?:required from|required by|recursively required|in .constexpr. expansion of)|.*\binlined from .* at "
    r"(?P<file2>[^\n]+?):(?P<line2>\d+)(?::(?P<column2>\d+))?[:,]"
)
_CONTEXT_STARTS = re.compile(r".*: In (?:instantiation|substitution|member function|function|static member|lambda)")
_INCLUDED = re.compile(r"(?:In file included|\s+) from " + _PLACE + r"[,:]$")
# Notes after an error that name a place which led to the error: clang's instantiations, both compilers' macros, and
# calls in constant evaluation.
_NOTE_CHAIN = re.compile(
    r"in instantiation of|in expansion of macro|requested here|expanded from (?:here|macro)|in call to"
)
# The messages of GNU ld, lld and Apple's ld about a function without a body.
_UNDEFINED = re.compile(
    r"(?:undefined reference to|undefined symbol:)\s+[`'\"]?(?P<name>.+?)['\"]?$"
    r"|^\s+\"_?(?P<apple>.+)\", referenced from:$"
)
_NO_PLACE = re.compile(
    r"(?:[\w./+-]*(?:g\+\+|clang|cc1plus|collect2|ld|zig)[\w./+-]*: |)(?:fatal )?error: (?P<text>.*)"
)
_NOT_ERRORS = re.compile(
    r"too many errors|ld returned|linker command failed|compilation terminated|unable to build|\d+ errors?"
)


def parse(text: str) -> list[Report]:
    """Return the errors of the text in the order they were printed; empty if it has none."""
    reports: list[Report] = []
    before: list[Place] = []
    includes: list[Place] = []
    in_error = in_includes = False
    for line in _lines(text):
        was_in_includes, in_includes = in_includes, False
        if found := _INCLUDED.match(line):
            if not was_in_includes:
                includes, before = [], []
            in_includes = True
            # g++ prints the innermost file first; its lines after the first start with "from". clang prints the
            # outermost file first; each of its lines starts with "In file".
            includes.insert(0 if line.startswith("In file") else len(includes), _place(found))
        elif found := _DIAGNOSTIC.match(line):
            kind, message = found["kind"], found["text"].strip()
            if kind == "note":
                if in_error:
                    if _NOTE_CHAIN.search(message):
                        reports[-1].chain.append(_place(found))
                    reports[-1].notes.append(message)
                continue
            in_error = kind != "warning" and not _NOT_ERRORS.match(message)
            if in_error:
                fatal = kind != "error"
                reports.append(Report(message, _place(found), fatal, chain=before, includes=includes))
                if kind == "internal compiler error":
                    reports[-1].message = f"{kind}: {message}"
            before, includes = [], []
        elif found := _CONTEXT.match(line):
            before.append(_place(found))
        elif _CONTEXT_STARTS.match(line):
            before = []
        elif found := _UNDEFINED.search(line):
            reports.append(Report(f"undefined reference to {found['name'] or found['apple']}", None))
            in_error = True
        elif (found := _NO_PLACE.match(line)) and not _NOT_ERRORS.match(found["text"]):
            reports.append(Report(found["text"].strip(), None, fatal="fatal error" in line))
            in_error = True
    return reports


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield line.rstrip()


def _place(found: re.Match[str]) -> Place:
    groups = found.groupdict()
    if groups.get("file") is None:
        return Place(groups["file2"], int(groups["line2"]), int(groups["column2"] or 0))
    return Place(groups["file"], int(groups["line"]), int(groups["column"] or 0))
