"""Expressions of whole numbers in a registry file: ``min(tileElements // spatial, 4095)``. No other Python gets in."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from gn_tutorial.errors import ArgumentError

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max}


def evaluate(text: str, names: Mapping[str, int]) -> int:
    """The value of an expression of whole numbers, names, ``+ - * // %``, min and max.

    Raises ArgumentError quoting the expression for anything else, an unknown name, or a division by zero.
    """
    try:
        return _value(ast.parse(text, mode="eval").body, names)
    except (SyntaxError, ValueError, ZeroDivisionError) as error:
        raise ArgumentError(
            f"'{text}' cannot be computed: {error}", hint="whole numbers, names, + - * // %, min(...) and max(...)"
        ) from None


def _value(node: ast.expr, names: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            if name not in names:
                raise ValueError(f"nothing is called '{name}'")
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
            return _FUNCTIONS[name](*[_value(one, names) for one in args]) if len(args) > 1 else _value(args[0], names)
    raise ValueError(f"'{ast.unparse(node)}' is not allowed")
