"""Kernel sources as code alone: what comments and strings say does not count."""

from __future__ import annotations

import re

from gn_tutorial.cpp.tokens import placed_tokens

_INCLUDE = re.compile(r'^#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_LITERALS = ("raw", "string", "char")


def code(text: str) -> str:
    """Without comments, and without what is in strings and characters. Every line stays in its place."""
    return _plain(text, literals=False)


def includes(text: str) -> list[tuple[int, str]]:
    """Line number and name of each header that is included."""
    plain = _plain(text, literals=True)
    return [(line_of(plain, found.start()), found[1]) for found in _INCLUDE.finditer(plain)]


def line_of(text: str, at: int) -> int:
    """The number of the line of a place in a text, the first one being 1."""
    return text.count("\n", 0, at) + 1


def _plain(text: str, literals: bool) -> str:
    parts, at = [], 0
    for kind, token, start in placed_tokens(text):
        between = text[at:start]  # white space and comments
        parts.append("\n" * between.count("\n") or (between and " "))
        parts.append(token if literals or kind not in _LITERALS else "\n" * token.count("\n") or '""')
        at = start + len(token)
    return "".join(parts)
