"""Tells comments and literals from code in text that no parser has read."""

from __future__ import annotations

import re

#: A comment, or a literal that may contain what looks like one; of a number only for its separators, 1'000.
COMMENT_OR_LITERAL = re.compile(
    r"""(?=["'/\dLRUu])(?:(?P<comment>//(?:[^\\\n]|\\.)*|/\*.*?(?:\*/|\Z))"""  # the look ahead halves the time
    r"""|\b(?:u8|[uUL])?R"(?P<fence>[^\s()\\"]{0,16})\(.*?(?:\)(?P=fence)"|\Z)"""
    r"""|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|\b\d(?:'?\w)*)""",
    re.DOTALL,
)


def without_comments(text: str) -> str:
    """Return the text with a space for each comment."""
    return COMMENT_OR_LITERAL.sub(lambda found: " " if found["comment"] else found[0], text)


def has_word(text: str, word: str) -> bool:
    """Return whether a word stands in code or in a literal, not only in comments."""
    return word in text and re.search(rf"\b{re.escape(word)}\b", without_comments(text)) is not None
