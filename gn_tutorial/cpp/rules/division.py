"""Quotients of whole numbers that were meant to be fractions: ``1 / length`` is 0, or 1 if length is 1."""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.syntax import Node

_WHOLE = frozenset(
    """int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t size_t int unsigned long short""".split()
)


def division(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at each ``1 / name``, ``1 / a.name`` and ``1 / a->name`` of a whole number."""
    for node in code.nodes["binary_expression"]:
        left = node.child_by_field_name("left")
        if left is None or left.type != "number_literal" or code.text(left) != "1":
            continue
        operator, right = node.child_by_field_name("operator"), node.child_by_field_name("right")
        if right is None or operator is None or operator.type != "/" or not code.function_of(node):
            continue
        if _is_whole(code, right):
            text = "".join(code.text(right).split())
            yield code.finding("division", node, text=f"1 / {text}", name=text)


def _is_whole(code: DeviceCode, divisor: Node) -> bool:
    if divisor.type == "identifier":
        types = [one.type_words for one in code.scoped.meant(divisor) or ()]
    elif divisor.type == "field_expression":
        types = [one.type_words for one in code.scoped.fields(divisor, guess=True)]
    else:
        return False
    return bool(types) and all(words and words <= _WHOLE for words in types)
