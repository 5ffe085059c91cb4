"""Markdown cut into what is translated and what is not: a paragraph, an item, a heading, a cell of a table is one text.

Code, formulas that stand alone, comments, tags and addresses of references stay as they are. The lines of a paragraph
are joined, so that English which is only broken anew needs no new translation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gn_tutorial.translation.texts import key_of, translated

#: What begins several lines that are no prose, and what ends them.
_FENCES = {"```": "```", "$$": "$$", "<!--": "-->"}
_MARK = re.compile(r"\s*(?:(?:[-*+]|\d+\.)\s+|#{1,6}\s+|>\s?)?")
_TAGGED = re.compile(r"((?:<[^>]+>)*)(.*?)((?:<[^>]+>)*)", re.DOTALL)
_REFERENCE = re.compile(r"\[[^\]]+\]: \S")
_BAR = re.compile(r"((?<!\\)\|)")
# No words: code, formulas, addresses of links, tags, references by number.
_NO_PROSE = re.compile(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|<[^>]+>|\[\d+\]")
_WORD = re.compile(r"[A-Za-z]{2}")


class Prose(str):
    """A piece that is translated."""

    __slots__ = ()


def translated_markdown(text: str, translate: Callable[[str], str] = translated) -> str:
    """The same Markdown with its prose translated."""
    return "".join(translate(piece) if isinstance(piece, Prose) else piece for piece in pieces(text))


def prose_of(text: str) -> list[str]:
    """The texts of a Markdown document that are translated, in order."""
    return [str(piece) for piece in pieces(text) if isinstance(piece, Prose)]


def pieces(text: str) -> Iterator[str]:
    """The document in pieces, those that are translated as ``Prose``. Joined, they are the document again."""
    paragraph: list[str] = []
    closes = ""

    def end() -> Iterator[str]:
        """The paragraph that was gathered, as one text."""
        if paragraph:
            whole = "".join(paragraph)
            yield from _prose(whole)
            paragraph.clear()

    for line in text.splitlines(keepends=True):
        bare = line.strip()
        opens = next((sign for sign in _FENCES if bare.startswith(sign)), "")
        if closes or opens:
            yield from end()
            yield line
            inside = bare if closes else bare.removeprefix(opens)
            closes = "" if (closes or _FENCES[opens]) in inside else closes or _FENCES[opens]
        elif not bare or _REFERENCE.match(bare):
            yield from end()
            yield line
        elif bare.startswith("|"):
            yield from end()
            for cell in _BAR.split(line):
                yield from _prose(cell)
        elif bare.startswith("<"):
            yield from end()
            before, inside, after = _TAGGED.fullmatch(line.rstrip("\n")).groups()
            yield before
            yield from _prose(inside)
            yield after + line[len(line.rstrip("\n")) :]
        else:
            mark = _MARK.match(line)[0]
            if mark.strip():
                yield from end()
            if not paragraph:
                yield mark
                line = line[len(mark) :]
            paragraph.append(line)
            if mark.lstrip().startswith("#"):
                yield from end()
    yield from end()


def _prose(text: str) -> Iterator[str]:
    """A piece, the white space around it apart."""
    inner = text.strip()
    if not _WORD.search(_NO_PROSE.sub("", inner)):
        yield text
        return
    begin = text.index(inner)
    yield text[:begin]
    yield Prose(key_of(inner))
    yield text[begin + len(inner) :]
