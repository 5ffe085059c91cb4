"""Kernel sources as code alone: what comments and strings say does not count."""

from __future__ import annotations

import re

#: Comments, strings (raw ones first) and characters; a quote behind a digit separates digits.
_ASIDE = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)|R"(?P<fence>[^()\s\\]{0,16})\(.*?\)(?P=fence)"|"(?:\\.|[^"\\\n])*"|"""
    r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)


def code(text: str) -> str:
    """Without comments, and without what is in strings. Every line stays in its place."""
    return _ASIDE.sub(lambda found: "\n" * found[0].count("\n") or (" " if found["comment"] else '""'), text)


def includes(text: str) -> list[tuple[int, str]]:
    """Line number and name of each header that is included."""
    plain = _ASIDE.sub(lambda found: "\n" * found[0].count("\n") or " " if found["comment"] else found[0], text)
    return [(line_of(plain, found.start()), found[1]) for found in _INCLUDE.finditer(plain)]


def line_of(text: str, at: int) -> int:
    """The number of the line of a place in a text, the first one being 1."""
    return text.count("\n", 0, at) + 1
