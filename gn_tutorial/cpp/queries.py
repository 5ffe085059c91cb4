"""Answers small questions about one text from its syntax tree: its calls, includes, comments and uses of a name.

Nodes inside an error count too: these texts were compiled, so an error is the parser's. ``#if`` does not count: ask with
preprocessed text where it has to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from gn_tutorial.cpp.syntax import MOST_BYTES, Syntax, parse

#: Macros whose first argument is a tiling struct.
_ASKING_BY_STRUCT = ("REGISTER_TILING_DEFAULT", "GET_TILING_DATA_WITH_STRUCT", "GET_TILING_DATA_PTR_WITH_STRUCT")
_NAMES = ("identifier", "field_identifier", "type_identifier")


class WrittenCall(NamedTuple):
    """A call as it is written. name: without namespace, object and template arguments. line, column: of the name.

    types: the template arguments. end: the line on which the call ends.
    """

    name: str
    arguments: tuple[str, ...]
    types: tuple[str, ...]
    line: int
    column: int
    end: int


def calls(text: str, *names: str) -> Iterator[WrittenCall]:
    """Yield the calls of functions with these names, macros too, in text order; without ``names``, all calls.

    Raises ArgumentError for text of more than a megabyte, as ``syntax`` does.
    """
    if names and not any(name in text for name in names):
        return
    syntax = parse(text)
    for node in syntax.nodes("call_expression", errors=True):
        types: Node | None = None
        function = node.child_by_field_name("function")
        while function is not None and function.type not in _NAMES:
            types = function.child_by_field_name("arguments") if function.type.startswith("template_") else types
            function = function.child_by_field_name("field") or function.child_by_field_name("name")
        if function is not None and (not names or syntax.text(function) in names):
            arguments = node.child_by_field_name("arguments")
            yield WrittenCall(
                syntax.text(function),
                _texts(syntax, arguments),
                _texts(syntax, types),
                syntax.line(function),
                syntax.column(function),
                node.end_point.row + 1,
            )


def buffer_names(text: str, line: int) -> list[str]:
    """Return the first argument of each InitBuffer call on a line; none for text beyond the bound of ``syntax``."""
    if len(text) > MOST_BYTES:
        return []
    made = (call for call in calls(text, "InitBuffer") if call.line <= line <= call.end)
    return [call.arguments[0] for call in made if call.arguments]


def registered_structs(text: str, op_type: str) -> list[str]:
    """Return the structs that the text registers for an operator, for all its tiling keys or for one."""
    found = (one.arguments for one in calls(text, "REGISTER_TILING_DATA_CLASS") if len(one.arguments) == 2)
    return [name for op, name in found if op == op_type or op.removeprefix(f"{op_type}_").isdecimal()]


def named_structs(text: str) -> list[str]:
    """Return the tiling structs that kernels and tiling functions name where they ask for their data."""
    asking = calls(text, *_ASKING_BY_STRUCT, "GetTilingData")
    listed = (one.types if one.name == "GetTilingData" else one.arguments for one in asking)
    return [names[0] for names in listed if names]


def includes(text: str, *, quoted: bool = False) -> Iterator[str]:
    """Yield the names of the files that the text includes, in text order; ``quoted``: only those in quotes."""
    if "include" not in text:
        return
    syntax = parse(text)
    for node in syntax.nodes("preproc_include", errors=True):
        path = node.child_by_field_name("path")
        if path is not None and path.type in ("string_literal", "system_lib_string")[: 1 if quoted else 2]:
            yield syntax.text(path)[1:-1]


def is_used(name: str, text: str) -> bool:
    """Return whether an expression names a variable, other than as ``(void)name``, which only silences a warning."""
    syntax = parse(text)
    return any(syntax.text(node) == name and not _is_idle(node, syntax) for node in syntax.nodes("identifier", errors=True))


def _is_idle(node: Node, syntax: Syntax) -> bool:
    around = node.parent
    if around is None or node in around.children_by_field_name("declarator"):
        return True
    to = around.child_by_field_name("type") if around.type == "cast_expression" else None
    return (around.type.endswith("declarator") and around.type != "init_declarator") or (
        to is not None and syntax.text(to) == "void"
    )


def _texts(syntax: Syntax, listed: Node | None) -> tuple[str, ...]:
    return tuple(syntax.text(one) for one in (listed.named_children if listed else ()) if one.type != "comment")
