"""Unsigned numbers that are compared with zero as if they could be below it: ``i >= 0`` in a loop that counts down.

Told by tokens alone, so only for a name that stands for one thing: declared once in the function, as an unsigned type.
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.declarations import Node, Outline
from gn_tutorial.cpp.device_code import DeviceCode
from gn_tutorial.cpp.rules.device_functions import SourceFinding

_UNSIGNED = frozenset("uint8_t uint16_t uint32_t uint64_t size_t unsigned".split())
_OF_UNSIGNED = frozenset("int char short long".split())
#: What may stand before and behind a whole comparison.
_BEFORE = frozenset(("(", ";", "&", "|", "!", "return", "{", "}", ","))
_BEHIND = frozenset((")", ";", "&", "|", "?", ","))


def unsigned(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """Comparisons ``name >= 0`` and ``name < 0`` of unsigned variables and parameters."""
    outline = code.outline
    if node.kind != "function" or not code.mentions(node) & _UNSIGNED:
        return
    names: set[str] | None = None
    for at in range(*node.body):
        found = _compared_with_zero(outline, at)
        if not found:
            continue
        names = _unsigned_names(outline, node) if names is None else names
        name = outline.text(at)
        if name in names:
            result = "true" if found == ">=" else "false"
            yield SourceFinding(
                "language-unsigned", outline.tokens[at].line, {"name": name, "op": found, "result": result}
            )


def _compared_with_zero(outline: Outline, at: int) -> str:
    """The sign of a comparison with 0 that begins at this name; empty if none does."""
    if not outline.is_name(at) or outline.text(at - 1) not in _BEFORE:
        return ""
    sign, here = outline.text(at + 1), at + 2
    if sign == ">" and outline.text(here) == "=":
        sign, here = ">=", here + 1
    if sign not in ("<", ">=") or outline.text(here) not in ("0", "0u", "0U") or outline.text(here + 1) not in _BEHIND:
        return ""
    return sign


def _unsigned_names(outline: Outline, node: Node) -> set[str]:
    """Names that the function declares once, each as an unsigned number."""
    found: list[str] = []
    others: set[str] = set()
    for at in range(node.params[0], node.body[1]):
        if not outline.is_name(at) or not outline.is_name(at - 1) or outline.text(at + 1) not in "=;,){:":
            continue
        kind = outline.text(at - 1)
        if kind in _OF_UNSIGNED and outline.text(at - 2) == "unsigned":
            kind = "unsigned"
        if kind in _UNSIGNED:
            found.append(outline.text(at))
        elif kind not in ("return", "case", "else", "goto"):
            others.add(outline.text(at))
    return {name for name in found if found.count(name) == 1} - others
