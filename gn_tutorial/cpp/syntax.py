"""Parses C++ text into a syntax tree, with tree-sitter and its CUDA grammar, which knows ``__global__`` and ``<<<>>>``.

CANN's own words (``__aicore__``, ``__gm__``) are not C++. Spaces of equal length replace them before the parse, so a
node keeps its place in the given text. In the playground's page the same parser and grammar run outside of Python, with
the same trees (``page_tree``): other modules import ``Node`` from here, so that they need not know.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterator

from gn_tutorial.errors import ArgumentError
from gn_tutorial.toml_file import PACKAGE

try:
    from tree_sitter import Language, Node, Parser
    from tree_sitter_cuda import language
except ImportError:
    from gn_tutorial.cpp.page_tree import Language, Node, Parser, language

#: The longest text in bytes. Ordinary code takes 0.4 s a megabyte, and the worst that we found 5 s.
MOST_BYTES = 1 << 20
#: A lower-case name that the standard reserves for compilers. Those that the grammar does not know are CANN's.
_RESERVED = rb"__[a-z]\w*__"
#: Names in these places are macros: a definition without its name would be an error.
_DIRECTIVE = rb"#[ \t]*(?:(?:define|undef|ifn?def|elifn?def)[ \t]+\w+|(?:el)?if\b[^\n]*)"


class Syntax:
    """The syntax tree of one text. ``root`` is its first node. ``parse`` makes it."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode("utf-8", "replace")
        require_bounded(self._bytes)
        self._starts = [0, *(found.end() for found in re.finditer(rb"\n", self._bytes))]
        self._tree = Parser(_language()).parse(_blanked(self._bytes))
        self.root = self._tree.root_node

    def text(self, node: Node) -> str:
        """Return the node's text as it was given, CANN's words included."""
        return self._bytes[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def line(self, node: Node) -> int:
        """Return the line on which the node starts; the first line is 1."""
        return bisect_right(self._starts, node.start_byte)

    def nodes(self, *types: str, within: Node | None = None) -> Iterator[Node]:
        """Return the nodes of these types in ``within`` (default: the whole text), outer before inner, in text order.

        Nodes that the parser made up (missing) and those inside an error are left out, because the parser guessed them.
        A node that is returned may contain an error: ask its ``has_error``.
        """
        cursor = (within or self.root).walk()
        while True:
            node = cursor.node
            assert node is not None
            guessed = node.is_error or node.is_missing
            if node.type in types and not guessed:
                yield node
            if not guessed and cursor.goto_first_child():
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return


def require_bounded(text: str | bytes) -> None:
    """Raise ArgumentError for text of more than ``MOST_BYTES`` bytes or characters."""
    if len(text) > MOST_BYTES:
        raise ArgumentError(
            f"C++ source of {len(text):,} bytes is not read: the limit is {MOST_BYTES:,}", hint="split the file"
        )


@functools.lru_cache(maxsize=64)
def parse(text: str) -> Syntax:
    """Return the syntax tree of C++ text. Raises ArgumentError for text of more than ``MOST_BYTES`` bytes."""
    return Syntax(text)


@functools.cache
def _language() -> Language:
    return Language(language())


def _blanked(text: bytes) -> bytes:
    """Return the text with spaces of equal length for CANN's words, and for the arguments of those that take some."""
    return _words().sub(lambda found: found[0] if not found["word"] else re.sub(rb"[^\r\n]", b" ", found[0]), text)


@functools.cache
def _words() -> re.Pattern[bytes]:
    """Return the pattern of what ``_blanked`` finds.

    The twin's headers say which of CANN's words take arguments. They do not define the words of other chips, whose
    kernels are read too, so a word is recognised by its form.
    """
    header = (PACKAGE / "twin" / "include" / "gn_twin" / "base" / "config.h").read_bytes()
    calls = b"|".join(re.findall(rb"^#define (" + _RESERVED + rb")\(\.\.\.\)$", header, re.MULTILINE))
    kinds = (_language().node_kind_for_id(index) for index in range(_language().node_kind_count))
    known = [kind.encode() for kind in kinds if kind and re.fullmatch(_RESERVED, kind.encode())]
    kept = b"|".join([*known, b"__func__"])  # the one such name that the standard itself declares
    return re.compile(
        rb"%b|(?P<word>\b(?:(?:%b)\s*\([^()]*\)|(?!(?:%b)\b)%b(?!\w)))" % (_DIRECTIVE, calls, kept, _RESERVED)
    )
