"""Pointers into global memory that lose their ``__gm__`` in a cast or a declaration: a launch stops.

Source: asc-devkit, docs/zh/guide, 编程指南/语言扩展层/SIMD-BuiltIn关键字.md (a pointer to global memory says __gm__).
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.plain_pointers import OF_GLOBAL, cast_of, is_to_global, names_global, points_to_global
from gn_tutorial.cpp.syntax import Node

_CASTS = ("reinterpret_cast", "static_cast")


def no_gm(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding where a variable's pointer becomes one without the word."""
    if not code.has(*OF_GLOBAL):
        return
    for node in (*code.nodes["cast_expression"], *code.nodes["call_expression"]):
        cast = cast_of(code, node)
        if cast is not None and cast.name in ("", *_CASTS):
            yield from _pointer(code, cast.to, cast.value)
    for node in code.nodes["init_declarator"]:
        declarator, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        if declarator is None or declarator.type != "pointer_declarator" or value is None:
            continue
        name, declaration = pointed_from(value), code.syntax.parent(node)
        kind = declaration.child_by_field_name("type") if declaration is not None else None
        if name is None or kind is None or kind.type == "placeholder_type_specifier" or declaration is None:
            continue
        written = code.head(declaration) + code.syntax.between(declaration.start_byte, node.end_byte)
        if not names_global(written) and is_global(code, name):
            yield code.finding("no-gm", name, name=code.text(name))


def _pointer(code: DeviceCode, to: Node, value: Node) -> Iterator[SourceFinding]:
    """Yield a finding for a value that is cast to a pointer without the word."""
    pointer = to.child_by_field_name("declarator") if to.type == "type_descriptor" else None
    if pointer is None or pointer.type != "abstract_pointer_declarator":
        return
    name = pointed_from(value)
    if name is not None and not is_to_global(code, to) and not _is_auto(to) and is_global(code, name):
        yield code.finding("no-gm", name, name=code.text(name))


def _is_auto(to: Node) -> bool:
    kind = to.child_by_field_name("type")
    return kind is not None and kind.type == "placeholder_type_specifier"


def pointed_from(value: Node) -> Node | None:
    """Return the name in ``name``, ``(name)``, ``name + n`` and ``name - n``."""
    while value.type in ("parenthesized_expression", "binary_expression"):
        operator = value.child_by_field_name("operator")
        if operator is not None and operator.type not in ("+", "-"):
            return None
        inner = value.child_by_field_name("left") if operator is not None else next(iter(value.named_children), None)
        if inner is None:
            return None
        value = inner
    return value if value.type == "identifier" else None


def is_global(code: DeviceCode, name: Node) -> bool:
    """Whether a name means a parameter or a variable that is declared as a pointer into global memory."""
    if not code.function_of(name):
        return False
    declared = code.scoped.meant(name) or []
    return len(declared) == 1 and declared[0].place.scope.kind == "block" and points_to_global(code, declared[0])
