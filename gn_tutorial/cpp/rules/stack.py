"""Arrays in a function that need more than the whole stack of a core's scalar unit.

Source: -cce-aicore-stack-size in asc-devkit, cmake/asc/legacy_modules/bisheng_intf.cmake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gn_tutorial.cpp.code_parts import CodePart
from gn_tutorial.cpp.declarators import declared
from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.syntax import Node

STACK_BYTES = 0x8000
#: In front of an array that is not on the stack: storage, or a word for another memory, such as ``__ubuf__``.
_ELSEWHERE = re.compile(r"\b(?:static|extern|thread_local|__[a-z]\w*__)\b")
_SIZES = {"char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "half": 2, "bfloat16_t": 2,
          "short": 2, "int": 4, "unsigned": 4, "float": 4, "int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8,
          "double": 8, "size_t": 8, "long": 8}  # fmt: skip


def stack(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at the array with which a function exceeds the stack."""
    totals: dict[CodePart, int] = {}
    for node in code.nodes["array_declarator"]:
        part, around = code.function_of(node), code.syntax.parent(node)
        if part is None or around is None or around.type == "array_declarator":
            continue
        declaration = code.syntax.parent(around) if around.type == "init_declarator" else around
        name = next((one.name for one in declared(node)), None)
        if declaration is None or declaration.type != "declaration" or name is None or not code.is_live(node):
            continue
        before = totals.get(part, 0)
        totals[part] = before + _bytes(code, declaration, node)
        if totals[part] > STACK_BYTES >= before:
            fields = {"name": code.text(name), "bytes": str(totals[part]), "stack": str(STACK_BYTES)}
            yield code.finding("stack", name, **fields)


def _bytes(code: DeviceCode, declaration: Node, array: Node) -> int:
    type_node = declaration.child_by_field_name("type")
    head = code.head(declaration) + code.syntax.between(declaration.start_byte, array.start_byte)
    named = re.findall(r"\w+", code.text(type_node)) if type_node is not None else []
    # Of `unsigned char` the last word has the size, of `unsigned` its own; a name of the source's own may be any type.
    size = _SIZES.get(named[-1], 0) if named and named[-1] not in code.named and len(named) < 3 else 0
    count: int = 0 if _ELSEWHERE.search(head) else size
    while array.type == "array_declarator":
        length = array.child_by_field_name("size")
        count *= (code.number(length) or 0) if length is not None else 0
        inner = array.child_by_field_name("declarator")
        if inner is None or inner.type == "pointer_declarator":
            return 0
        array = inner
    return max(count, 0)
