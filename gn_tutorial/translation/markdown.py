"""Split Markdown into texts to translate and the rest: each paragraph, item, heading and table cell is one text.

Code blocks, formulas between ``$$``, comments, tags and link definitions are not translated. The lines of a paragraph
are joined, so new line breaks in the English need no new translation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gn_tutorial.translation.texts import key_of, translated

#: Maps the beginning of each block without prose to its end.
_FENCES = {"```": "```", "$$": "$$", "<!--": "-->"}
_MARK = re.compile(r"\s*(?:(?:[-*+]|\d+\.)\s+|#{1,6}\s+|>\s?)?")
_TAGGED = re.compile(r"((?:<[^>]+>)*)(.*?)((?:<[^>]+>)*)", re.DOTALL)
_REFERENCE = re.compile(r"\[[^\]]+\]: \S")
_BAR = re.compile(r"((?<!\\)\|)")
# Parts without words: code, formulas, addresses of links, tags, references by number.
_NO_PROSE = re.compile(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|<[^>]+>|\[\d+\]")
_WORD = re.compile(r"[A-Za-z]{2}")


class Prose(str):
    """A piece of Markdown to translate."""

    __slots__ = ()


def translated_markdown(text: str, translate: Callable[[str], str] = translated) -> str:
    """Return the Markdown with its prose translated."""
    return "".join(translate(piece) if isinstance(piece, Prose) else piece for piece in pieces(text))


def prose_of(text: str) -> list[str]:
    """Return the texts of a Markdown document that need a translation, in order."""
    return [str(piece) for piece in pieces(text) if isinstance(piece, Prose)]


def pieces(text: str) -> Iterator[str]:
    """Yield the pieces of the document in order; those to translate are ``Prose``.

    Joined, they give the document, except that a piece of prose has spaces in place of line breaks.
    """
    paragraph: list[str] = []
    closes = ""

    def end() -> Iterator[str]:
        """Yield the pieces of the collected paragraph, and begin a new one."""
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
    """Yield a text as Prose, with the white space around it as separate pieces; unchanged if it has no words."""
    inner = text.strip()
    if not _WORD.search(_NO_PROSE.sub("", inner)):
        yield text
        return
    begin = text.index(inner)
    yield text[:begin]
    yield Prose(key_of(inner))
    yield text[begin + len(inner) :]
