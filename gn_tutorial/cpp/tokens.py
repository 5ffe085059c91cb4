"""Splits C++ text into the tokens that a compiler would see, with their lines. No macro is expanded."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
      (?P<comment>  //[^\n]* | /\*.*?(?:\*/|\Z) )
    | (?P<raw>      (?:u8|[uUL])?R"(?P<fence>[^\s()\\"]{0,16})\(.*?(?:\)(?P=fence)"|\Z) )
    | (?P<string>   (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"? )
    | (?P<char>     (?:u8|[uUL])?'(?:\\.|[^'\\\n])*'? )
    | (?P<number>   \.?\d(?:'?[\w.]|(?<=[eEpP])[+-])* )
    | (?P<name>     [^\W\d]\w* )
    | (?P<newline>  \n )
    | (?P<space>    [^\S\n]+ )
    | (?P<punct>    ::|\[\[|\]\]|\.\.\.|. )
    """,
    re.VERBOSE | re.DOTALL,
)
_CONTINUATION = re.compile(r"\\[ \t]*\n")
#: A comment, or a literal that may contain what looks like one; of a number only for its separators, 1'000.
COMMENT_OR_LITERAL = re.compile(
    r"""(?=["'/\dLRUu])(?:(?P<comment>//(?:[^\\\n]|\\.)*|/\*.*?(?:\*/|\Z))"""  # the look ahead halves the time
    r"""|\b(?:u8|[uUL])?R"(?P<fence>[^\s()\\"]{0,16})\(.*?(?:\)(?P=fence)"|\Z)"""
    r"""|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|\b\d(?:'?\w)*)""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """``kind`` is raw, string, char, number, name or punct; ``line`` counts from 1 in the text as it was given."""

    kind: str
    text: str
    line: int


def tokens(text: str) -> Iterator[Token]:
    """Names, literals and punctuation that the compiler sees: no comments, directives or ``#if 0`` blocks."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    joins: list[int] = []  # offsets, in the joined text, where a continued line was joined to the next one
    pieces = _CONTINUATION.split(text)
    offset = 0
    for piece in pieces[:-1]:
        offset += len(piece)
        joins.append(offset)
    joined = "".join(pieces)
    newlines = [found.start() for found in re.finditer("\n", joined)]

    def line_of(at: int) -> int:
        return 1 + bisect.bisect_left(newlines, at) + bisect.bisect_right(joins, at)

    skipping = 0  # depth of conditional blocks inside an `#if 0`; 0 outside
    line_start, at = True, 0
    while match := _TOKEN.match(joined, at):
        kind, at = match.lastgroup or "punct", match.end()
        if kind == "fence":
            kind = "raw"
        if kind == "newline":
            line_start = True
        elif kind in ("comment", "space"):
            pass
        elif line_start and match.group() == "#":
            directive, at = _directive(joined, at)
            skipping = _nesting(skipping, directive)
        else:
            line_start = False
            if not skipping:
                yield Token(kind, match.group(), line_of(match.start()))


def _directive(text: str, at: int) -> tuple[str, int]:
    """The directive that starts at ``at`` without its comments, and where its line ends."""
    parts = []
    while (match := _TOKEN.match(text, at)) and match.lastgroup != "newline":
        parts.append(" " if match.lastgroup in ("comment", "space") else match.group())
        at = match.end()
    return "".join(parts).strip(), at


def _nesting(skipping: int, directive: str) -> int:
    word = re.match(r"\w*", directive).group()  # type: ignore[union-attr]  # matches at least the empty string
    if skipping:
        if word.startswith("if"):
            return skipping + 1
        if word == "endif" or (skipping == 1 and word in ("else", "elif", "elifdef", "elifndef")):
            return skipping - 1
        return skipping
    return 1 if re.fullmatch(r"if\s*\(?\s*(0|false)\s*\)?", directive) else 0


def without_comments(text: str) -> str:
    """Return the text with a space for each comment."""
    return COMMENT_OR_LITERAL.sub(lambda found: " " if found["comment"] else found[0], text)


def placed_tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Kind, text and offset of every token of ``text`` but comments and white space, directives and ``#if 0`` included.

    For rewriting in place: joined to one string with what lies between them, the tokens give ``text`` again.
    """
    at = 0
    while match := _TOKEN.match(text, at):
        kind, at = match.lastgroup or "punct", match.end()
        if kind not in ("newline", "comment", "space"):
            yield ("raw" if kind == "fence" else kind), match.group(), match.start()


def find_name(text: str, name: str, *, called: bool = False, nth: int = 0) -> tuple[int, int] | None:
    """Return start and end of ``name`` in a line, from 0: its first call ``f(`` or ``f<...>(``, else its first mention.

    Returns None if the line does not mention the name, or, with ``called``, does not call it. nth: find this one of the
    calls, or of the mentions if there is no call, counted from 0, and begin again after the last. ``Queue::Get`` is
    searched as ``Get``; comments and strings do not count.
    """
    tokens = list(placed_tokens(text))
    last = name.rpartition("::")[2]
    found = [i for i, (kind, word, _) in enumerate(tokens) if kind == "name" and word == last]
    calls = [i for i in found if _is_call(tokens, i + 1)]
    chosen = calls or ([] if called else found)
    if not chosen:
        return None
    at = tokens[chosen[nth % len(chosen)]][2]
    return at, at + len(last)


def _is_call(tokens: Sequence[tuple[str, str, int]], at: int) -> bool:
    depth = 0
    for _, text, _ in tokens[at:]:
        if text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
        elif depth == 0:
            return text == "("
    return False


def code_span(text: str) -> tuple[int, int]:
    """Return start and end of the code in a line, from 0; of all but the white space if it has only a comment."""
    tokens = list(placed_tokens(text))
    if not tokens:
        return len(text) - len(text.lstrip()), len(text)
    _, last, at = tokens[-1]
    return tokens[0][2], at + len(last)


def assignment_with(text: str, sign: str, line: int) -> int:
    """Return the line of the first ``z = x SIGN y`` behind ``line`` between two names or views of them; 0 for none."""
    found = [one for one in tokens(text) if one.line > line]
    assigns = False  # whether the statement has had a =
    for before, one, after in zip(found, found[1:], found[2:], strict=False):
        assigns = one.text == "=" or (assigns and one.text not in (";", "{", "}", "("))
        if assigns and one.text == sign and after.kind == "name" and (before.kind == "name" or before.text == "]"):
            return one.line
    return 0
