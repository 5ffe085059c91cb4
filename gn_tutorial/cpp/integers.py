"""The value of an integral constant expression, by the standard's rules of types: ``~0u >> 28`` is 15."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, Protocol

from gn_tutorial.cpp.syntax import Node, Syntax

_LITERAL = re.compile(r"(0x[\da-f]+|0b[01]+|\d+)(u?l{0,2}|l{1,2}u|u?z|zu)", re.IGNORECASE)


class Unreadable(Exception):
    """What the text does not give. The message is the part that cannot be read."""


class Number(NamedTuple):
    """An integer and its type: ``i4``, ``u4``, ``i8`` or ``u8``, to which the standard promotes the narrower ones."""

    value: int
    type: str = "i4"


class Names(Protocol):
    """What an expression asks of the place where it stands. Each method raises Unreadable."""

    def number(self, name: tuple[str, ...]) -> Number:
        """Return the constant of this name, ``("Mode", "kFast")``."""

    def measured(self, type_node: Node) -> tuple[int, int, str]:
        """Return size, alignment and dtype of a type, the dtype empty for a type that is no number."""


def _quotient(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__, "-": int.__sub__, "*": int.__mul__, "&": int.__and__, "|": int.__or__, "^": int.__xor__,
    "/": _quotient, "%": lambda left, right: left - right * _quotient(left, right),
}  # fmt: skip
_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "==": int.__eq__, "!=": int.__ne__, "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__
}  # fmt: skip
_WORDS = {"and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^", "compl": "~", "not_eq": "!="}


def converted(number: Number, dtype: str) -> Number:
    """Return the number as a value of NumPy's ``dtype``, promoted. Raises Unreadable for one that is no integer."""
    if dtype == "?":
        return Number(int(number.value != 0))
    if not dtype or dtype[0] not in "iu":
        raise Unreadable(dtype)
    bits = 8 * int(dtype[1])
    value = number.value & ((1 << bits) - 1)
    if dtype[0] == "i" and value >> (bits - 1):
        value -= 1 << bits
    return Number(value, dtype if bits >= 32 else "i4")


def evaluate(node: Node, syntax: Syntax, names: Names) -> Number:
    """Return the value of an expression's node. Raises Unreadable, also for one that is nested too deeply."""
    if node.has_error:
        raise Unreadable(syntax.text(node)[:80])
    try:
        return _value(node, syntax, names)
    except RecursionError:
        raise Unreadable(syntax.text(node)[:80]) from None


def _value(node: Node, syntax: Syntax, names: Names) -> Number:
    def part(of: Node | None) -> Number:
        if of is None:
            raise Unreadable(syntax.text(node))
        return _value(of, syntax, names)

    match node.type:
        case "number_literal":
            text = syntax.text(node)
            sign, digits = (text[0], text[1:]) if text[0] in "+-" else ("+", text)  # the grammar takes a sign into it
            return _unary(sign, _literal(digits))
        case "true" | "false":
            return Number(int(node.type == "true"))
        case "parenthesized_expression" if node.named_child_count == 1:
            return part(node.named_children[0])
        case "identifier" | "qualified_identifier":
            return names.number(path(syntax.text(node)))
        case "unary_expression":
            return _unary(_operator(node, syntax), part(node.child_by_field_name("argument")))
        case "binary_expression":
            return _binary(_operator(node, syntax), lambda side: part(node.child_by_field_name(side)))
        case "conditional_expression":
            chosen = "consequence" if part(node.child_by_field_name("condition")).value else "alternative"
            return part(node.child_by_field_name(chosen))
        case "sizeof_expression" | "alignof_expression":
            asked = node.named_children[0]
            while asked.type == "parenthesized_expression":  # sizeof(Name) does not show whether Name is a type
                asked = asked.named_children[0]
            return Number(names.measured(asked)[node.type == "alignof_expression"], "u8")
        case "cast_expression":
            return _cast(node.child_by_field_name("type"), part(node.child_by_field_name("value")), names)
        case "call_expression" | "compound_literal_expression":
            return _functional_cast(node, syntax, names, part)
    raise Unreadable(syntax.text(node)[:80])


def path(text: str) -> tuple[str, ...]:
    """Return the parts of a qualified name."""
    return tuple(one for one in re.sub(r"\s+", "", text).split("::") if one)


def _operator(node: Node, syntax: Syntax) -> str:
    found = node.child_by_field_name("operator")
    text = syntax.text(found) if found else ""
    return _WORDS.get(text, text)


def _literal(text: str) -> Number:
    found = _LITERAL.fullmatch(text.replace("'", ""))
    if not found or len(text) > 70:
        raise Unreadable(text[:80])
    digits, suffix = found[1].lower(), found[2].lower()
    decimal = digits == "0" or digits[0] != "0"
    value = int(digits, 10 if decimal else 0 if digits[1] in "xb" else 8)
    signed = [] if "u" in suffix else ["i4", "i8"]
    unsigned = ["u4", "u8"] if "u" in suffix or not decimal else []
    wide = "l" in suffix or "z" in suffix
    # The first type that holds the value, the narrower ones first.
    for one in sorted(signed + unsigned, key=lambda kind: (kind[1], kind[0])):
        if value < 1 << (8 * int(one[1]) - (one[0] == "i")) and (one[1] == "8" or not wide):
            return Number(value, one)
    raise Unreadable(text)


def _unary(operator: str, of: Number) -> Number:
    match operator:
        case "!":
            return Number(int(not of.value))
        case "~":
            return converted(Number(~of.value), of.type)
        case "+" | "-":
            return _within(of.value if operator == "+" else -of.value, of.type)
    raise Unreadable(operator)


def _binary(operator: str, side: Callable[[str], Number]) -> Number:
    left = side("left")
    if operator in ("&&", "||"):  # the right side does not count if the left one decides
        decided = bool(left.value) == (operator == "||")
        return Number(int(bool(left.value if decided else side("right").value)))
    right = side("right")
    if operator in ("<<", ">>"):
        if not 0 <= right.value < 8 * int(left.type[1]):
            raise Unreadable(f"{operator} {right.value}")
        shifted = left.value << right.value if operator == "<<" else left.value >> right.value
        return converted(Number(shifted), left.type)
    common = max(left.type, right.type, key=lambda kind: (kind[1], kind[0]))
    first, second = (converted(one, common).value for one in (left, right))
    if operator in _COMPARED:
        return Number(int(_COMPARED[operator](first, second)))
    if operator not in _BINARY or (operator in "/%" and second == 0):
        raise Unreadable(operator)
    return _within(_BINARY[operator](first, second), common)


def _within(value: int, kind: str) -> Number:
    """Return the result of an operation. An unsigned one wraps around; a signed one has no value beyond its type."""
    number = converted(Number(value), kind)
    if kind[0] == "i" and number.value != value:
        raise Unreadable(f"{value} is beyond its type")
    return number


def _cast(type_node: Node | None, number: Number, names: Names) -> Number:
    if type_node is None:
        raise Unreadable("cast")
    return converted(number, names.measured(type_node)[2])


def _functional_cast(node: Node, syntax: Syntax, names: Names, part: Callable[[Node], Number]) -> Number:
    """Return the value of ``uint32_t(4)``, ``uint32_t{4}`` or ``static_cast<uint32_t>(4)``."""
    function = node.child_by_field_name("function") or node.child_by_field_name("type")
    values = node.child_by_field_name("arguments") or node.child_by_field_name("value")
    if function is None or values is None or values.named_child_count != 1:
        raise Unreadable(syntax.text(node)[:80])
    if function.type == "template_function":
        name, arguments = function.named_children[0], function.named_children[-1]
        if syntax.text(name) != "static_cast" or arguments.named_child_count != 1:
            raise Unreadable(syntax.text(node)[:80])
        function = arguments.named_children[0]
    return _cast(function, part(values.named_children[0]), names)
