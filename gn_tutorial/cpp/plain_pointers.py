"""Finds whether device code reads or writes memory through plain pointers or in arrays of its own, and what is declared
as such a pointer.

A kernel with such pointers is compiled so that it reports these accesses (``compiler/pointer_hooks``), which costs
time. So a pointer that only tells a tensor its place is none, and neither is ``tiling->field``: nearly every kernel
reads its tiling struct like that, and nothing writes it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gn_tutorial.cpp.device_code import DeviceCode
from gn_tutorial.cpp.names import call_of
from gn_tutorial.cpp.scopes import Declaration
from gn_tutorial.cpp.syntax import Node

#: The words for memory that a cast or a declaration may name.
OF_GLOBAL = frozenset(("__gm__", "GM_ADDR"))
_INTEGERS = re.compile(r"\b(?:u?int64_t|u?intptr_t|size_t|long)\b")
_CASTS = ("reinterpret_cast", "static_cast", "const_cast")
#: ``auto a = b;`` leads to ``b``: so many steps, because ``auto a = a;`` leads to itself.
_MOST_AUTO = 10
_INSIDE = {"parenthesized_expression": None, "binary_expression": "left", "update_expression": "argument"}


class Cast(NamedTuple):
    """A cast. name: the function of ``name<to>(value)``, empty for ``(to)value``."""

    name: str
    to: Node
    value: Node


def cast_of(code: DeviceCode, node: Node) -> Cast | None:
    """Return the cast that a node is: ``(to)value``, or a call with one argument and one template argument."""
    if node.type == "cast_expression":
        name, to, value = "", node.child_by_field_name("type"), node.child_by_field_name("value")
    else:
        function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or function.type != "template_function" or given is None or given.named_child_count != 1:
            return None
        called, types = function.child_by_field_name("name"), function.child_by_field_name("arguments")
        if called is None or types is None or types.named_child_count != 1:
            return None
        name, to, value = code.text(called), types.named_children[0], given.named_children[0]
    return Cast(name, to, value) if to is not None and value is not None else None


def names_global(written: str) -> bool:
    """Return whether the text of a type has a word for global memory."""
    return not OF_GLOBAL.isdisjoint(re.findall(r"\w+", written))


def is_to_global(code: DeviceCode, to: Node) -> bool:
    """Return whether the type of a cast has a word for global memory."""
    return names_global(code.head(to) + code.text(to))


def uses_plain_pointers(code: DeviceCode) -> bool:
    """Return whether a function that may run on the device accesses memory through a plain pointer."""
    if code.has("__ubuf__") or any(_keeps(code, name) for name in code.names.get("GetPhyAddr", ())):
        return True
    if not code.has(*OF_GLOBAL):
        return False
    found = code.syntax.by_type(("subscript_expression", "pointer_expression"))
    return any(_is_global(code, _pointer_of(code, node)) for nodes in found.values() for node in nodes)


def indexes_arrays(code: DeviceCode) -> bool:
    """Return whether a function that may run on the device indexes an array by more than a literal.

    An array is here what has the name of one that is declared anywhere in the text: a member's class may be unknown.
    """
    found = code.syntax.by_type(("array_declarator", "subscript_expression"))
    arrays = {_name_of(code, node, "declarator") for node in found["array_declarator"]} - {""}
    return any(
        _name_of(code, node, "argument") in arrays and not _is_literal(node) and code.function_of(node) is not None
        for node in found["subscript_expression"]
        if arrays
    )


def _name_of(code: DeviceCode, node: Node | None, inside: str) -> str:
    """Return the name in ``name[i][j]`` and ``object.name[i]``; else "". inside: the field of a node with the next."""
    while node is not None and node.type in ("array_declarator", "subscript_expression"):
        node = node.child_by_field_name(inside)
    if node is not None and node.type == "field_expression":
        node = node.child_by_field_name("field")
    return code.text(node) if node is not None and node.type in ("identifier", "field_identifier") else ""


def _is_literal(node: Node) -> bool:
    indices = node.child_by_field_name("indices")
    return indices is not None and [one.type for one in indices.named_children] == ["number_literal"]


def points_to_global(code: DeviceCode, one: Declaration) -> bool:
    """Return whether a variable, a parameter or a field is declared as a pointer with the word ``__gm__``."""
    kind = one.node.child_by_field_name("type") if one.node is not None else None
    declarator = one.declarator or (one.node.child_by_field_name("declarator") if one.node is not None else None)
    if one.node is None or kind is None or declarator is None:
        return False
    if declarator.type == "init_declarator":
        declarator = declarator.child_by_field_name("declarator") or declarator
    if code.text(kind) == "GM_ADDR":
        return declarator.type in ("identifier", "field_identifier")
    first = one.node.child_by_field_name("declarator") or declarator
    head = code.head(one.node) + code.syntax.between(one.node.start_byte, first.start_byte)
    pointer = declarator.type == "pointer_declarator" and "pointer_declarator" not in (
        inner.type for inner in declarator.named_children
    )
    return pointer and "__gm__" in re.findall(r"\w+", head)


def _keeps(code: DeviceCode, name: Node) -> bool:
    """Return whether a call of GetPhyAddr gives a pointer to follow, not a place for a tensor or a number."""
    call = call_of(name, code.syntax)
    around = code.syntax.parent(call) if call is not None else None
    while around is not None and around.type in ("binary_expression", "parenthesized_expression", "argument_list"):
        around = code.syntax.parent(around)
    if around is None:
        return call is not None
    if around.type == "cast_expression":
        to = around.child_by_field_name("type")
        return to is None or "*" in code.text(to) or not _INTEGERS.search(code.text(to))
    function = around.child_by_field_name("function") if around.type == "call_expression" else None
    if function is None:
        return True
    if function.type == "template_function":
        return "*" in code.text(function) or not _INTEGERS.search(code.text(function))
    return not code.text(function).endswith("SetGlobalBuffer")


def _pointer_of(code: DeviceCode, node: Node) -> Node | None:
    """Return the pointer in ``pointer[i]`` and ``*pointer``; None for ``&x``."""
    operator = node.child_by_field_name("operator")
    if node.type == "pointer_expression" and (operator is None or operator.type != "*"):
        return None
    return node.child_by_field_name("argument") if code.function_of(node) else None


def _is_global(code: DeviceCode, value: Node | None, most: int = _MOST_AUTO) -> bool:
    """Return whether a value is a pointer into global memory, by a cast or the declaration of its name.

    most: the number of ``auto`` variables that are followed from here on.
    """
    while value is not None and value.type in _INSIDE:
        inside = _INSIDE[value.type]
        value = value.child_by_field_name(inside) if inside else next(iter(value.named_children), None)
    if value is None:
        return False
    if value.type in ("cast_expression", "call_expression"):
        cast = cast_of(code, value)
        return cast is not None and cast.name in ("", *_CASTS) and is_to_global(code, cast.to)
    if value.type not in ("identifier", "field_expression"):
        return False
    named = value if value.type == "identifier" else value.child_by_field_name("field")
    declared = (code.scoped.meant(named) if named is not None else None) or []
    return any(
        points_to_global(code, one) or (most > 0 and _is_global(code, _initial(one), most - 1)) for one in declared
    )


def _initial(one: Declaration) -> Node | None:
    """Return the value that ``auto name = value`` gives a variable; None for another declaration."""
    kind = one.node.child_by_field_name("type") if one.node is not None else None
    declarator = one.declarator
    if kind is None or kind.type != "placeholder_type_specifier" or declarator is None:
        return None
    return declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
