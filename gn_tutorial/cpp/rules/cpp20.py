"""What only C++20 has: CANN's build chooses C++17. What clang, and so CANN's compiler, takes in C++17 too is left out.

Source: asc-devkit, docs/zh/guide, 技术附录/CPP标准支持/概述.md (C++11 by default; 14, 17 and 20 can be chosen); its
cmake/asc chooses 17.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gn_tutorial.cpp.code_parts import CodePart
from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.names import qualification
from gn_tutorial.cpp.syntax import Node

_OF_NODES = {"concept_definition": "concept", "requires_clause": "requires", "requires_expression": "requires",
             "co_await_expression": "co_await", "co_yield_statement": "co_yield",
             "co_return_statement": "co_return"}  # fmt: skip
_WORDS = ("consteval", "constinit", "char8_t")
_STD = frozenset(("span", "bit_cast", "ranges", "numbers", "popcount", "bit_ceil", "bit_floor", "countl_zero",
                  "has_single_bit", "type_identity_t", "remove_cvref_t", "same_as", "integral", "floating_point",
                  "is_constant_evaluated", "source_location"))  # fmt: skip


def cpp20(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at the first place of each of these in a part."""
    seen: set[tuple[CodePart | None, str]] = set()
    for node, what in sorted(_uses(code), key=lambda use: use[0].start_byte):
        part = code.part_of(node)
        if (part, what) not in seen:
            seen.add((part, what))
            yield code.finding("cpp20", node, name=what)


def _uses(code: DeviceCode) -> Iterator[tuple[Node, str]]:
    for kind, word in _OF_NODES.items():
        yield from ((node, word) for node in code.nodes[kind])
    if code.has(*_WORDS):
        for kind in ("type_qualifier", "storage_class_specifier", "lambda_specifier", "primitive_type"):
            yield from ((node, code.text(node)) for node in code.nodes[kind] if code.text(node) in _WORDS)
    for word in code.names.keys() & _STD:
        of_std = (node for node in code.names[word] if code.is_of_std(node))
        yield from ((qualification(node, code.syntax)[0], f"std::{word}") for node in of_std)
    if code.has("<=>"):
        for node in code.nodes["binary_expression"]:
            operator = node.child_by_field_name("operator")
            if operator is not None and operator.type == "<=>":
                yield operator, "the operator <=>"
        for node in code.syntax.nodes("operator_name"):
            if re.fullmatch(r"operator\s*<=>", code.text(node)):
                yield node, "the operator <=>"
    for node in code.nodes["placeholder_type_specifier"]:
        if _is_of_parameter(code, node):
            yield node, "a parameter of type auto"


def _is_of_parameter(code: DeviceCode, node: Node) -> bool:
    """Whether it is the type of a function's parameter; a lambda's may be auto in C++14 too."""
    part = code.part_of(node)
    if part is None or part.kind != "function" or node.start_byte >= part.body or part.declarator is None:
        return False
    parameters = part.declarator.child_by_field_name("parameters")
    around = code.syntax.parent(node)
    return around is not None and code.syntax.parent(around) == parameters and code.text(node) == "auto"
