"""Quotients of whole numbers that were meant to be fractions: ``1 / length`` is 0.

Told by tokens alone, so only for a name that the source declares as a whole number wherever it declares it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.declarations import Node, Outline
from gn_tutorial.cpp.device_code import DeviceCode
from gn_tutorial.cpp.rules.device_functions import SourceFinding

_WHOLE = frozenset(
    """int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t size_t int unsigned long short""".split()
)
#: Before the 1 of a quotient that is not part of a product: a * 1 / n is a / n.
_BEFORE = frozenset(("=", "(", ",", "+", "-", "return", "?", ":", "{", "["))
#: Words before a name that declare nothing.
_NO_TYPES = frozenset("return case else goto".split())


def division(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """``1 / name``, where name is a whole number: 0, or 1 if it is 1."""
    outline = code.outline
    if node.kind != "function":
        return
    for at in range(*node.body):
        if outline.text(at) != "1" or outline.text(at + 1) != "/" or outline.text(at - 1) not in _BEFORE:
            continue
        name, here = _divisor(outline, at + 2)
        if name and _is_whole(code, name):
            text = "".join(outline.text(one) for one in range(at + 2, here))
            yield SourceFinding("language-division", outline.tokens[at].line, {"text": f"1 / {text}", "name": text})


def _divisor(outline: Outline, at: int) -> tuple[str, int]:
    """The last name of ``a``, ``a.b`` or ``a->b``, and what comes behind it; no name if it is called or indexed."""
    while outline.is_name(at) and outline.text(at + 1) in (".", "->"):
        at += 2
    if outline.text(at + 1) == "-" and outline.text(at + 2) == ">":
        return _divisor(outline, at + 3)
    if not outline.is_name(at) or outline.text(at + 1) in ("(", "[", "<", "::", "."):
        return "", at
    return outline.text(at), at + 1


def _is_whole(code: DeviceCode, name: str) -> bool:
    outline = code.outline
    places = [at for at in code.places(name) if outline.text(at + 1) in ("=", ";", ",", ")", "{", ":")]
    kinds = {word for at in places if (word := _type_before(outline, at))} - _NO_TYPES
    return bool(kinds) and kinds <= _WHOLE


def _type_before(outline: Outline, at: int) -> str:
    """The word before a name, or before the list of names that it is in, ``uint32_t rows, cols;``; "" if none is."""
    while outline.text(at - 1) == "," and outline.is_name(at - 2) and outline.text(at + 1) in (",", ";"):
        at -= 2
    return outline.text(at - 1) if outline.is_name(at - 1) else ""
