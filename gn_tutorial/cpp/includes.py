"""What a text includes, and the lines of it that ``#if 0`` leaves out.

A directive is a line, whatever stands around it, so a pattern on lines reads it exactly, also where ``#if`` cuts a
construct in two, in text beyond the bound of ``syntax``, and in the playground's page before it has the parser.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

from gn_tutorial.cpp.literals import COMMENT_OR_LITERAL, without_comments

_DIRECTIVE = re.compile(r"^[^\S\n]*#[^\S\n]*(?P<word>include|if\w*|el\w*|endif)\b(?P<rest>[^\n]*)", re.MULTILINE)
_INCLUDED = re.compile(r'\s*(?:"([^"]+)"|<([^>]+)>)')
#: Without these, what looks like a directive is one.
_HIDES = re.compile(r"""/\*|R"|\\[^\S\n]*\n""")
#: Conditions that are known without any macro.
_KNOWN_CONDITIONS = {"0": False, "false": False, "1": True, "true": True}


@dataclass(frozen=True)
class Include:
    """An ``#include``. quoted: whether its name is in quotes. start, end: the offsets of its line in the text."""

    name: str
    quoted: bool
    line: int
    start: int
    end: int


def includes(text: str) -> tuple[Include, ...]:
    """Return what a text includes, in order, without comments and lines that ``#if 0`` leaves out. Never raises."""
    return _directives(text)[0] if "include" in text else ()


def with_includes(text: str, put: Callable[[Include], str | None]) -> str:
    """Return the text with what ``put`` returns in the place of an include's line; None leaves the line."""
    parts, at = [], 0
    for one in includes(text):
        if (line := put(one)) is not None:
            parts += [text[at : one.start], line]
            at = one.end
    return "".join([*parts, text[at:]])


def with_live_lines(text: str) -> str:
    """Return the text with blanks for the lines that ``#if 0`` leaves out; each offset stays true."""
    parts, at = [], 0
    for start, end in _directives(text)[1] if "#" in text else ():
        parts += [text[at:start], _blanks(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


@functools.lru_cache(maxsize=64)
def _directives(text: str) -> tuple[tuple[Include, ...], tuple[tuple[int, int], ...]]:
    """Return the includes of a text, and the offsets of lines that ``#if 0`` leaves out."""
    found, dead = [], []
    branches: list[tuple[bool, bool]] = []  # of each open #if: whether this branch is left out, whether one was taken
    since = line = at = 0  # since: where the lines that are left out begin, 0 outside of them
    for directive in _DIRECTIVE.finditer(_bare(text)):
        word, rest = directive["word"], without_comments(directive["rest"]).strip()
        if word == "include":
            if not since and (name := _INCLUDED.match(rest)):
                line, at = line + text.count("\n", at, directive.start()), directive.start()
                found.append(Include(name[1] or name[2], bool(name[1]), line + 1, at, directive.end()))
            continue
        taken = branches.pop()[1] if branches and not word.startswith("if") else False
        holds = _KNOWN_CONDITIONS.get(rest.strip("() \t")) if word in ("if", "elif") else None
        if word != "endif":
            branches.append((taken or holds is False, taken or holds is True))
        if since and not any(left for left, _ in branches):
            dead.append((since, directive.start()))
            since = 0
        elif not since and any(left for left, _ in branches):
            since = directive.end()
    return tuple(found), (*dead, *([(since, len(text))] if since else []))


def _bare(text: str) -> str:
    """Return the text up to the last directive, with blanks for comments, raw strings and joints of lines.

    Each offset stays true. To split all of a text takes longer than to parse it.
    """
    text = text[: max((one.end() for one in _DIRECTIVE.finditer(text)), default=0)]
    if not _HIDES.search(text):
        return text

    def hidden(found: re.Match[str]) -> str:
        return _blanks(found[0]) if found["comment"] or found["fence"] is not None else found[0]

    bare = COMMENT_OR_LITERAL.sub(hidden, text)
    return re.sub(r"\\[^\S\n]*\n", lambda found: " " * len(found[0]), bare)


def _blanks(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
