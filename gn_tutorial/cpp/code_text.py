"""Kernel sources as code alone: what comments and strings say does not count.

A module of its own, because all that reads C++ text is in this room.
"""

from __future__ import annotations

from gn_tutorial.cpp.tokens import placed_tokens

_LITERALS = ("raw", "string", "char")


def code(text: str) -> str:
    """Without comments, and without what is in strings and characters. Every line stays in its place."""
    parts, at = [], 0
    for kind, token, start in placed_tokens(text):
        between = text[at:start]  # white space and comments
        parts.append("\n" * between.count("\n") or (between and " "))
        parts.append(token if kind not in _LITERALS else "\n" * token.count("\n") or '""')
        at = start + len(token)
    return "".join(parts)
