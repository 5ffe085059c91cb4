"""Parses C++ text into a syntax tree, with tree-sitter and its CUDA grammar, which knows ``__global__`` and ``<<<>>>``.

CANN's own words (``__aicore__``, ``__gm__``) are not C++. Spaces of equal length replace them before the parse, so a
node keeps its place in the given text. The same is done to what the grammar does not know of C++, and a macro that is a
whole condition (``if ASCEND_IS_AIV {``) gets parentheses. In the playground's page the same parser and grammar run
outside of Python, with the same trees (``page_tree``): other modules import ``Node`` from here, so that they need not
know.
"""

from __future__ import annotations

import functools
import math
import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from gn_tutorial.errors import ArgumentError
from gn_tutorial.toml_file import PACKAGE

try:
    from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree
    from tree_sitter_cuda import language
except ImportError:
    from gn_tutorial.cpp.page_tree import Language, Node, Parser, Query, QueryCursor, Tree, language

#: The longest text in bytes, and the longest time of the processor that its parse takes. Ordinary code takes 0.4 s a
#: megabyte; of some texts, such as ``[[a]][[a]]...``, the parser takes the square of the length.
MOST_BYTES, MOST_SECONDS = 1 << 20, 5
#: The deepest tree, in nodes inside one another: an ``else if`` takes two, a term of a sum or a parenthesis one.
#: Readers climb from nodes to what is around them, and some call themselves at each level. Of the largest files of four
#: public repositories none needs more than 212.
DEEPEST = 500
#: So often ``Node.parent`` is asked before there is a map: the map takes as long as half of the parse.
_MOST_CLIMBS = 500
#: A lower-case name that the standard reserves for compilers. Those that the grammar does not know are CANN's. It does
#: not know ``__restrict`` either.
_RESERVED = rb"__[a-z]\w*__"
#: Names in these places are macros: a definition without its name would be an error.
_DIRECTIVE = rb"#[ \t]*(?:(?:define|undef|ifn?def|elifn?def)[ \t]+\w+|(?:el)?if\b[^\n]*)"
#: What the grammar does not know: CANN's ``[host, aicore]``; its words in capitals, where no value can stand; a
#: ``template`` behind a dot or an arrow without arguments in ``<>``; ``->*``.
_UNKNOWN = (
    rb"\[(?:host,\s*)?aicore\]|\b__[A-Z]\w*__(?=\s+[A-Za-z_]|\s*\{)"
    rb"|(?:(?<=->)|(?<=\.))template(?=\s+\w+\s*\()|(?<=->)\*(?=\w)"
)
#: A name behind ``if``, which C++ does not allow: a macro that has the parentheses.
_CONDITION = rb"(?P<if>\bif\s+)(?P<condition>(?!constexpr\b|consteval\b)[A-Za-z_]\w+\w(?!\w|\s*\())"


class Spans:
    """Ranges of a text's bytes. Of two that have bytes in common one has all of the other's."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._outermost: list[tuple[int, float]] = []
        for start, end in sorted(spans, key=lambda one: (one[0], -one[1])):
            if not self._outermost or self._outermost[-1][1] < end:
                self._outermost.append((start, end))

    def hold(self, node: Node) -> bool:
        """Return whether a node is in one of them."""
        at = bisect_right(self._outermost, (node.start_byte, math.inf)) - 1
        return at >= 0 and node.end_byte <= self._outermost[at][1]


class Syntax:
    """The syntax tree of one text. ``root`` is its first node. ``parse`` makes it."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode("utf-8", "replace")
        require_bounded(self._bytes)
        self._starts = [0, *(found.end() for found in re.finditer(rb"\n", self._bytes))]
        self._tree = _parsed(_blanked(self._bytes))
        self.root = self._tree.root_node
        self._climbs = 0
        self._require_shallow()

    def _require_shallow(self) -> None:
        """Raise ArgumentError for a tree deeper than ``DEEPEST``. What has too few nodes for that is not walked."""
        level, left = [self.root], DEEPEST
        while level and left >= 0:
            level = [one for node in level if node.descendant_count > left for one in node.children]
            left -= 1
        if level:
            raise ArgumentError(
                f"C++ source nested more than {DEEPEST} levels deep is not read: line {self.line(level[0])} is",
                hint="close what is open, split the expression, or make a switch of the else-ifs",
            )

    def text(self, node: Node) -> str:
        """Return the node's text as it was given, CANN's words included."""
        return self._bytes[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def parent(self, node: Node) -> Node | None:
        """Return the node around a node; None for the root.

        ``Node.parent`` searches from the root: a deep or wide text would take the square of its length.
        """
        self._climbs += 1
        return node.parent if self._climbs <= _MOST_CLIMBS else self._parents.get(node.id)

    @functools.cached_property
    def _parents(self) -> dict[int, Node]:
        found = dict[int, Node]()
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            children = node.children
            found.update(dict.fromkeys([one.id for one in children], node))
            waiting += [one for one in children if one.child_count]
        return found

    def enclosing(self, node: Node | None, *types: str) -> Iterator[Node]:
        """Yield the nodes of these types around a node, or all, the innermost first."""
        while node is not None:
            node = self.parent(node)
            if node is not None and (not types or node.type in types):
                yield node

    def before(self, node: Node) -> Node | None:
        """Return the node before a node in the same parent."""
        around = self.parent(node)
        children = around.children if around is not None else []
        at = bisect_left(children, node.start_byte, key=lambda one: one.start_byte)
        while at < len(children) and children[at] != node:  # nodes without text start at one place
            at += 1
        return children[at - 1] if 0 < at < len(children) else None

    def line(self, node: Node) -> int:
        """Return the line on which the node starts; the first line is 1."""
        return bisect_right(self._starts, node.start_byte)

    def last_line(self, node: Node) -> int:
        """Return the line on which the node ends."""
        return bisect_right(self._starts, max(node.start_byte, node.end_byte - 1))

    def column(self, node: Node) -> int:
        """Return the character of its line at which the node starts; the first one is 1."""
        start = self._starts[self.line(node) - 1]
        return len(self._bytes[start : node.start_byte].decode("utf-8", "replace")) + 1

    def lines(self, node: Node) -> tuple[int, int]:
        """Return where the first line of a node begins and where its last line ends, in bytes."""
        starts = [*self._starts, len(self._bytes)]
        return starts[self.line(node) - 1], starts[self.last_line(node)]

    def edited(self, edits: Iterable[tuple[int, int, str]]) -> str:
        """Return the text with other text in place of some ranges of bytes, which do not overlap."""
        parts, at = list[bytes](), 0
        for start, end, text in sorted(edits):
            parts += [self._bytes[at:start], text.encode()]
            at = end
        return b"".join([*parts, self._bytes[at:]]).decode("utf-8", "replace")

    def span(self, node: Node) -> tuple[int, int]:
        """Return where the node starts and ends in the text as it was given, in characters."""
        start, end = (at - bisect_left(self._continued, at) for at in (node.start_byte, node.end_byte))
        return start, end

    @functools.cached_property
    def _continued(self) -> list[int]:
        """The places of all bytes that continue a character."""
        return [found.start() for found in re.finditer(rb"[\x80-\xbf]", self._bytes)]

    def between(self, start: int, end: int) -> str:
        """Return the text between two offsets."""
        return self._bytes[start:end].decode("utf-8", "replace")

    def by_type(self, types: tuple[str, ...]) -> dict[str, list[Node]]:
        """Return for each type its nodes as ``nodes`` gives them; all in one walk, which takes a tenth of the time."""
        by_type = self._captured(types)
        if not self.root.has_error:
            return by_type
        errors = Spans((one.start_byte, one.end_byte) for one in self.errors())
        return {
            name: [one for one in nodes if not (one.is_missing or errors.hold(one))] for name, nodes in by_type.items()
        }

    def errors(self) -> list[Node]:
        """Return the outermost nodes of text that the parser did not understand, in text order."""
        found: list[Node] = []
        if self.root.has_error:
            for one in self._captured(("ERROR",))["ERROR"]:
                if not found or one.end_byte > found[-1].end_byte:
                    found.append(one)
        return found

    def _captured(self, types: tuple[str, ...]) -> dict[str, list[Node]]:
        """Return for each type all its nodes. The parser's own query gives them in no order."""
        found = QueryCursor(_of_types(types)).captures(self.root)
        return {name: sorted(found.get(name, ()), key=_place) for name in types}

    def is_off(self, directive: Node) -> bool:
        """Return whether a directive's condition is 0 or false, so that its lines never count."""
        condition = directive.child_by_field_name("condition")
        return condition is not None and self.text(condition).strip("() \t") in ("0", "false")

    def nodes(self, *types: str, within: Node | None = None, errors: bool = False) -> Iterator[Node]:
        """Return the nodes of these types in ``within`` (default: the whole text), outer before inner, in text order.

        Nodes that the parser made up (missing) and those inside an error are left out, because the parser guessed them.
        A node that is returned may contain an error: ask its ``has_error``. errors: take nodes inside errors too.
        """
        cursor = (within or self.root).walk()
        while True:
            node = cursor.node
            assert node is not None
            guessed = (node.is_error and not errors) or node.is_missing
            if node.type in types and not guessed:
                yield node
            if not guessed and cursor.goto_first_child():
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return

    def around(self, word: str) -> Iterator[list[Node]]:
        """Yield the nodes around each token ``word``, the outermost first; an error that has it is the last of them."""
        for *around, last in self._paths(rf"\b{word}\b", into_errors=False):
            if last.is_error or last.type == word:
                yield [*around, last] if last.is_error else around

    def names(self, pattern: str, *, behind: str = "") -> Iterator[Node]:
        """Yield the names that match a pattern, where another one matches behind them; those in errors too.

        What is in a comment or a literal is no name, and what is in a directive neither.
        """
        for *_, around, last in self._paths(rf"\b(?:{pattern})\b(?={behind})", into_errors=True):
            if last.type.endswith("identifier") and not around.type.startswith("preproc_"):
                yield last

    def is_in_macros(self, pattern: str) -> bool:
        """Return whether a word in the body of a macro matches a pattern."""
        paths = self._paths(rf"\b(?:{pattern})\b", into_errors=True)
        return any(last.type == "preproc_arg" and around.type != "preproc_call" for *_, around, last in paths)

    def _paths(self, pattern: str, *, into_errors: bool) -> Iterator[list[Node]]:
        """Yield the nodes from the root to each one that has no children and a place where the pattern matches."""
        places = [found.start() for found in re.finditer(pattern.encode(), self._bytes)]
        cursor, around = self.root.walk(), list[Node]()
        while places:
            node = cursor.node
            assert node is not None
            at = bisect_left(places, node.start_byte)
            if at < len(places) and places[at] < node.end_byte:
                if (into_errors or not node.is_error) and cursor.goto_first_child():
                    around.append(node)
                    continue
                yield [*around, node]
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                around.pop()


def _place(node: Node) -> tuple[int, int]:
    """Return a key that puts outer nodes before inner ones, and all in text order."""
    return node.start_byte, -node.end_byte


def require_bounded(text: str | bytes) -> None:
    """Raise ArgumentError for text of more than ``MOST_BYTES`` bytes or characters."""
    if len(text) > MOST_BYTES:
        raise ArgumentError(
            f"C++ source of {len(text):,} bytes is not read: the limit is {MOST_BYTES:,}", hint="split the file"
        )


def _parsed(text: bytes) -> Tree:
    end = time.process_time() + MOST_SECONDS
    try:
        return Parser(_language()).parse(
            lambda at, _: text[at:], progress_callback=lambda _at, _failed: time.process_time() > end
        )
    except ValueError:  # what the parser raises when it is stopped
        raise ArgumentError(
            f"C++ source is not read: its {len(text):,} bytes take more than {MOST_SECONDS} s to parse",
            hint="split the file, or remove what repeats",
        ) from None


@functools.lru_cache(maxsize=64)
def parse(text: str) -> Syntax:
    """Return the syntax tree of C++ text. Raises ArgumentError for text beyond one of the bounds above."""
    return Syntax(text)


@functools.lru_cache
def _of_types(types: tuple[str, ...]) -> Query:
    of = _language()
    named = ((name, name == "ERROR" or of.id_for_node_kind(name, True) is not None) for name in types)
    return Query(of, " ".join(f"({name}) @{name}" if is_named else f'"{name}" @{name}' for name, is_named in named))


@functools.cache
def _language() -> Language:
    return Language(language())


def _blanked(text: bytes) -> bytes:
    """Return the text with spaces of equal length for CANN's words, and for the arguments of those that take some.

    A condition without parentheses gets them in place of its first and last letters.
    """

    def replaced(found: re.Match[bytes]) -> bytes:
        if found["condition"]:
            return b"%b(%b)" % (found["if"], found["condition"][1:-1])
        return re.sub(rb"[^\r\n]", b" ", found[0]) if found["word"] else found[0]

    return _words().sub(replaced, text)


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
        rb"%b|%b|(?P<word>%b|\b(?:(?:%b)\s*\([^()]*\)|(?!(?:%b)\b)(?:%b|__restrict)(?!\w)))"
        % (_DIRECTIVE, _CONDITION, _UNKNOWN, calls, kept, _RESERVED)
    )
