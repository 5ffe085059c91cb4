"""Values of type double in functions: the scalar unit has none. Tiling data may hold what the host alone reads.

A constant that the compiler computes is no such value, nor is a type that is compared with double.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gn_tutorial.cpp.code_parts import CodePart
from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.syntax import Node

_DECLARES = ("declaration", "field_declaration", "parameter_declaration", "optional_parameter_declaration")
_PLAIN = ("identifier", "field_identifier", "init_declarator")


def double(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at the first such value of each function."""
    seen: set[CodePart] = set()
    for node in code.nodes["primitive_type"] if code.has("double") else ():
        part = code.part_of(node)
        if part is None or part.kind != "function" or part in seen or code.text(node) != "double":
            continue
        if _is_value(code, node) and not _is_constant(code, node) and code.is_live(node):
            seen.add(part)
            yield code.finding("double", node, op="double")


def _is_value(code: DeviceCode, node: Node) -> bool:
    around = code.syntax.parent(node)
    if around is None:
        return False
    if around.type in _DECLARES:
        declarator = around.child_by_field_name("declarator")
        while declarator is not None and declarator.type in ("init_declarator", "array_declarator"):
            declarator = declarator.child_by_field_name("declarator")
        return declarator is not None and declarator.type in _PLAIN
    if around.type != "type_descriptor" or around.child_by_field_name("declarator") is not None:
        return False
    cast = code.syntax.parent(around)
    if cast is None or cast.type == "cast_expression":
        return cast is not None
    function = code.syntax.parent(cast)
    named = function.child_by_field_name("name") if function is not None else None
    return named is not None and code.text(named) == "static_cast"


def _is_constant(code: DeviceCode, node: Node) -> bool:
    around = next(code.syntax.enclosing(node, "declaration", "compound_statement", "function_definition"), None)
    if around is None or around.type != "declaration":
        return False
    declarator = around.child_by_field_name("declarator")
    end = declarator.start_byte if declarator is not None else around.end_byte
    return re.search(r"\bconstexpr\b", code.syntax.between(around.start_byte, end)) is not None
