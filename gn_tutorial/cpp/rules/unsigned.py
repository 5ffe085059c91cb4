"""Unsigned numbers that are compared with zero as if they could be below it: ``i >= 0`` in a loop that counts down."""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding

_UNSIGNED = frozenset("uint8_t uint16_t uint32_t uint64_t size_t unsigned".split())
_OF_UNSIGNED = frozenset("int char short long".split())
_RESULTS = {">=": "true", "<": "false"}


def unsigned(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at each ``name >= 0`` and ``name < 0`` of an unsigned variable or parameter."""
    for node in code.nodes["binary_expression"]:
        right = node.child_by_field_name("right")
        if right is None or right.type != "number_literal" or code.text(right) not in ("0", "0u", "0U"):
            continue
        left, operator = node.child_by_field_name("left"), node.child_by_field_name("operator")
        if left is None or left.type != "identifier" or operator is None or operator.type not in _RESULTS:
            continue
        declared = code.scoped.meant(left) or () if code.function_of(node) else ()
        local = all(one.place.scope.kind == "block" for one in declared)
        types = [one.type_words for one in declared]
        if local and len(types) == 1 and types[0] & _UNSIGNED and types[0] <= _UNSIGNED | _OF_UNSIGNED:
            fields = {"name": code.text(left), "op": operator.type, "result": _RESULTS[operator.type]}
            yield code.finding("unsigned", left, **fields)
