"""Stands in for the packages tree_sitter and tree_sitter_cuda in the playground's page, whose Python has neither.

The page's script runs the same parser with the same grammar (web/playground/src/tree.c), as the module ``gn_parser``.
It hands over a whole tree as rows of numbers, one row a node, outer nodes first. A node here is the number of its row.
It has the names, and of the package's attributes those that ``cpp/`` uses.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence

_NAMED, _ERROR, _MISSING, _HAS_ERROR = 1, 2, 4, 8


class Language:
    """The names of a grammar's kinds of nodes, and of its fields, by number; field 0 is none."""

    def __init__(self, names: tuple[Sequence[str], Sequence[str]]) -> None:
        self.kinds, self.fields = names

    @property
    def node_kind_count(self) -> int:
        """The number of kinds."""
        return len(self.kinds)

    def node_kind_for_id(self, number: int) -> str:
        """Return the name of a kind."""
        return self.kinds[number]

    def id_for_node_kind(self, name: str, is_named: bool) -> int | None:
        """Return the number of a kind; None without one. is_named does not count: the page is not told of it."""
        return self.kinds.index(name) if name in self.kinds else None


def language() -> tuple[Sequence[str], Sequence[str]]:
    """Return the names of the grammar that the page has."""
    import gn_parser

    return gn_parser.kinds.to_py(), gn_parser.fields.to_py()


class Parser:
    """Parses in the page."""

    def __init__(self, of: Language) -> None:
        self._language = of

    def parse(self, read: Callable[[int, object], bytes], *, progress_callback: object = None) -> Tree:
        """Return the tree of the text in UTF-8 that ``read`` gives; a parse is not stopped here, the page can be."""
        import gn_parser
        from pyodide.ffi import to_js

        return Tree(self._language, gn_parser.parse(to_js(read(0, None))).to_bytes())


class Tree:
    """The rows of a text's nodes as columns, of which ``after`` is the first row that is not inside the node."""

    def __init__(self, of: Language, rows: bytes) -> None:
        numbers = array("i", rows)
        self.language = of
        self.kind, self.field, self.start, self.end, self.flags, self.parent, self.after = (
            numbers[column::7] for column in range(7)
        )

    @property
    def root_node(self) -> Node:
        """The node of the whole text."""
        return Node(self, 0)

    def inside(self, row: int) -> Iterator[int]:
        """Yield the rows of a node's children."""
        at, end = row + 1, self.after[row]
        while at < end:
            yield at
            at = self.after[at]


class Node:
    """One node of a tree."""

    __slots__ = ("_tree", "id")

    def __init__(self, tree: Tree, row: int) -> None:
        self._tree, self.id = tree, row

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.id == other.id and self._tree is other._tree

    def __hash__(self) -> int:
        return hash((id(self._tree), self.id))

    @property
    def type(self) -> str:
        """The name of its kind."""
        return "ERROR" if self.is_error else self._tree.language.kinds[self._tree.kind[self.id]]

    @property
    def start_byte(self) -> int:
        """The offset of its first byte."""
        return self._tree.start[self.id]

    @property
    def end_byte(self) -> int:
        """The offset behind its last byte."""
        return self._tree.end[self.id]

    @property
    def is_named(self) -> bool:
        """Whether a rule of the grammar has its name; a sign such as ``(`` has none."""
        return self._has(_NAMED)

    @property
    def is_error(self) -> bool:
        """Whether it is text that the parser did not understand."""
        return self._has(_ERROR)

    @property
    def is_missing(self) -> bool:
        """Whether the parser made it up."""
        return self._has(_MISSING)

    @property
    def has_error(self) -> bool:
        """Whether it or a node inside is an error or missing."""
        return self._has(_HAS_ERROR)

    @property
    def parent(self) -> Node | None:
        """The node around it; None for the root."""
        return Node(self._tree, self._tree.parent[self.id]) if self.id else None

    @property
    def children(self) -> list[Node]:
        """The nodes directly inside."""
        return [Node(self._tree, row) for row in self._tree.inside(self.id)]

    @property
    def child_count(self) -> int:
        """The number of ``children``."""
        return sum(1 for _ in self._tree.inside(self.id))

    @property
    def descendant_count(self) -> int:
        """The number of nodes inside, itself included."""
        return self._tree.after[self.id] - self.id

    @property
    def named_children(self) -> list[Node]:
        """Those of ``children`` that are named."""
        return [one for one in self.children if one.is_named]

    @property
    def named_child_count(self) -> int:
        """The number of ``named_children``."""
        return len(self.named_children)

    def named_child(self, index: int) -> Node | None:
        """Return one of ``named_children``; None if there are fewer."""
        return dict(enumerate(self.named_children)).get(index)

    def child_by_field_name(self, name: str) -> Node | None:
        """Return the first child in a field; None without one, and in an error, which has no fields of its own."""
        return None if self.is_error else next(iter(self.children_by_field_name(name)), None)

    def children_by_field_name(self, name: str) -> list[Node]:
        """Return the children in a field."""
        tree = self._tree
        return [Node(tree, row) for row in tree.inside(self.id) if tree.language.fields[tree.field[row]] == name]

    def walk(self) -> TreeCursor:
        """Return a cursor at this node, which does not leave it."""
        return TreeCursor(self)

    def _has(self, flag: int) -> bool:
        return bool(self._tree.flags[self.id] & flag)


class Query:
    """The kinds of nodes that a query asks for, each captured by its own name: ``(comment) @comment``."""

    def __init__(self, of: Language, source: str) -> None:
        self.kinds = frozenset(re.findall(r"@(\w+)", source))


class QueryCursor:
    """Finds what a query asks for."""

    def __init__(self, query: Query) -> None:
        self._kinds = query.kinds

    def captures(self, within: Node) -> dict[str, list[Node]]:
        """Return kind -> its nodes in ``within``, outer before inner, in text order."""
        tree, found = within._tree, dict[str, list[Node]]()
        for row in range(within.id, tree.after[within.id]):
            node = Node(tree, row)
            if (kind := node.type) in self._kinds:
                found.setdefault(kind, []).append(node)
        return found


class TreeCursor:
    """A place in a tree, which moves."""

    def __init__(self, start: Node) -> None:
        self._start = self.node = start

    def goto_first_child(self) -> bool:
        """Move to the first child; False if there is none."""
        return self._goto(next(iter(self.node.children), None))

    def goto_next_sibling(self) -> bool:
        """Move to the next node in the same parent; False if there is none, and at the cursor's own node."""
        tree, row = self.node._tree, self.node.id
        is_last = self.node == self._start or tree.after[row] == tree.after[tree.parent[row]]
        return self._goto(None if is_last else Node(tree, tree.after[row]))

    def goto_parent(self) -> bool:
        """Move to the parent; False at the cursor's own node."""
        return self._goto(None if self.node == self._start else self.node.parent)

    def _goto(self, node: Node | None) -> bool:
        self.node = node or self.node
        return node is not None
