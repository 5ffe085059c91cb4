"""Makes the rows that the playground's parser hands over (web/playground/src/tree.c) of this machine's trees."""

from __future__ import annotations

from array import array

from tree_sitter import Language, Parser, TreeCursor
from tree_sitter_cuda import language

LANGUAGE = Language(language())
KINDS = [LANGUAGE.node_kind_for_id(number) for number in range(LANGUAGE.node_kind_count)]
FIELDS = ["", *(LANGUAGE.field_name_for_id(number) for number in range(1, LANGUAGE.field_count + 1))]


def rows(text: bytes) -> bytes:
    """Return one row a node of a text's tree: kind, field, start, end, flags, parent, the first row behind it."""
    made: list[list[int]] = []
    _append(made, Parser(LANGUAGE).parse(text).walk(), 0)
    return array("i", [number for row in made for number in row]).tobytes()


def _append(made: list[list[int]], cursor: TreeCursor, parent: int) -> None:
    """Append a node and all nodes inside, without recursion."""
    at = 0
    while True:
        node = cursor.node
        assert node is not None
        flags = node.is_named + 2 * node.is_error + 4 * node.is_missing + 8 * node.has_error
        made.append([node.kind_id, cursor.field_id or 0, node.start_byte, node.end_byte, flags, parent, 0])
        at = len(made) - 1
        if cursor.goto_first_child():
            parent = at
            continue
        made[at][-1] = len(made)
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            at, parent = parent, made[parent][5]
            made[at][-1] = len(made)
