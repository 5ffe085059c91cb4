"""Calls of memcpy and its relatives on global memory: a launch stops.

They take pointers without ``__gm__``. The device's compiler has them for a core's own memory at most, so structs and
arrays of the stack are no finding.

Source: asc-devkit, docs/zh/guide, 编程指南/语言扩展层/SIMD-BuiltIn关键字.md (a pointer to global memory says __gm__).
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.names import call_of
from gn_tutorial.cpp.plain_pointers import cast_of, is_to_global
from gn_tutorial.cpp.rules.no_gm import is_global, pointed_from
from gn_tutorial.cpp.syntax import Node

_COPIES = ("memcpy", "memmove", "memset", "memcmp", "memcpy_s", "memmove_s", "memset_s")


def host_copy(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at each of these calls that gets a pointer into global memory."""
    for name in code.names.keys() & set(_COPIES):
        for node in code.names[name]:
            call = call_of(node, code.syntax)
            if call is None or not code.function_of(node) or not (code.is_of_std(node) or code.is_of_host(node)):
                continue
            given = call.child_by_field_name("arguments")
            pointers = [_global_pointer(code, one) for one in given.named_children] if given is not None else []
            if pointer := next((one for one in pointers if one), ""):
                yield code.finding("host-copy", node, op=name, name=pointer)


def _global_pointer(code: DeviceCode, value: Node) -> str:
    """Return the name, or the text, of what an argument points to in global memory; "" if it does not point there.

    It does if it is such a pointer (``x``, ``x + n``), is cast to one, or is the address of what lies behind one.
    """
    inner, address = value, False
    while (below := _below(code, inner, address)) is not None:
        address = address or inner.type == "pointer_expression"
        inner = below
    if inner.type == "identifier":
        return code.text(inner) if is_global(code, inner) else ""
    cast = cast_of(code, inner) if inner.type in ("cast_expression", "call_expression") else None
    if cast is None or not is_to_global(code, cast.to):
        return ""
    return code.text(pointed_from(cast.value) or cast.value)


def _below(code: DeviceCode, node: Node, address: bool) -> Node | None:
    """Return the operand of ``node`` that decides where a pointer points; None if there is none.

    address: whether ``&`` stands before it. A field or an element has an address in global memory, its value has not.
    """
    operator = node.child_by_field_name("operator")
    sign = code.text(operator) if operator is not None else ""
    if node.type == "binary_expression":
        return node.child_by_field_name("left") if sign in ("+", "-") else None
    if node.type == "pointer_expression":
        return node.child_by_field_name("argument") if sign == "&" else None
    if node.type in ("field_expression", "subscript_expression"):
        return node.child_by_field_name("argument") if address else None
    return next(iter(node.named_children), None) if node.type == "parenthesized_expression" else None
