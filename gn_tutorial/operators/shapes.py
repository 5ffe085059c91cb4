"""Finds the value of each symbol of an ``op.toml`` from the inputs' shapes, then the outputs' shapes from the symbols.

``["N", "C", "S..."]`` means: the first axis is N, the second C, and ``S...`` stands for all remaining axes (none, or
several). ``S`` is the product of their lengths, 1 if there are none. In ``["N", "S...", "C"]`` the remaining axes lie
between N and C.
"""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

from gn_tutorial.errors import ArgumentError, shown
from gn_tutorial.operators.spec import Argument, Attribute, OpSpec

Shape = tuple[int, ...]
#: Symbol -> its value: a length, an attribute's value, or the lengths of the axes that ``S...`` stands for.
Symbols = dict[str, Any]


def bind(op: OpSpec, shapes: Mapping[str, Shape], attributes: Mapping[str, Any]) -> Symbols:
    """Return the value of every symbol of ``op`` that these shapes and attributes fix.

    ``shapes`` holds the shape of each input that was given (an optional input may be absent), ``attributes`` the
    values of the operator's attributes by name. Raises ArgumentError for a missing input, an attribute that does not
    fit, or a rank or length that does not fit. For a length it also names the argument that fixed the length.
    """
    # Bind the attributes first. If one of them fixes a length, as num_groups fixes the length of mean, an input with
    # another length is then refused.
    symbols = bind_attributes(op, attributes)
    origins = {a.symbol: f"'{a.name}' is {shown(symbols[a.symbol])}" for a in op.attributes}
    for argument in op.inputs:
        if argument.name in shapes:
            _bind_shape(op, argument, tuple(shapes[argument.name]), symbols, origins)
        elif argument.fill is None:
            raise ArgumentError(f"argument '{argument.name}' is missing", where=describe_call(op))
    return symbols


def bind_attributes(op: OpSpec, given: Mapping[str, Any]) -> Symbols:
    """Return symbol -> value for all attributes: given or default. Raises ArgumentError for a wrong name or value."""
    names = [attribute.name for attribute in op.attributes]
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"call it as {describe_call(op)}"
            raise ArgumentError(f"'{op.name}' has no argument '{name}'", hint=hint)
    return {attribute.symbol: _attribute_value(op, attribute, given) for attribute in op.attributes}


def resolve(shape: Sequence[str], symbols: Symbols) -> Shape:
    """Return the lengths of a shape that is given as symbols: ``("N", "G")`` -> ``(2, 4)``. ``S...`` gives several."""
    lengths: list[int] = []
    for axis in shape:
        value = symbols[axis]
        lengths.extend(value if axis.endswith("...") else (value,))
    return tuple(lengths)


def input_shapes(
    op: OpSpec,
    first: Sequence[int],
    attributes: Mapping[str, Any] | None = None,
    lengths: Mapping[str, int] | None = None,
) -> dict[str, Shape]:
    """Return every input's shape, given the first input's: with ``(2, 8, 16)``, gamma of GroupNorm has ``(8,)``.

    attributes: needed if one fixes a length, as ``num_groups`` fixes the length of mean. A length that neither
    attributes nor the first input fix, as the O of Linear's weight, comes from ``lengths``, or else from the operator's
    [example]. Raises ArgumentError if the rank does not fit, or if such an attribute is missing.
    """
    symbols: Symbols = {}
    needed = {axis for argument in op.inputs for axis in argument.shape or ()}
    if needed & {a.symbol for a in op.attributes}:
        symbols = bind_attributes(op, attributes or {})
    _bind_shape(op, op.inputs[0], tuple(first), symbols, {})
    known = {**op.example, **(lengths or {})}
    symbols |= {axis: known[axis] for axis in needed - symbols.keys() if axis in known}
    return {argument.name: resolve(argument.shape or (), symbols) for argument in op.inputs}


def describe_call(op: OpSpec) -> str:
    """Return the call as one line of text: ``group_norm(x, gamma=None, beta=None, *, num_groups, eps=1e-05)``."""
    parts = [a.name if a.fill is None else f"{a.name}=None" for a in op.inputs]
    if op.attributes:
        parts.append("*")
    parts += [a.name if a.default is None else f"{a.name}={a.default!r}" for a in op.attributes]
    return f"{op.name}({', '.join(parts)})"


def _attribute_value(op: OpSpec, attribute: Attribute, given: Mapping[str, Any]) -> int | float:
    value = given.get(attribute.name, attribute.default)
    if attribute.type == "mask":
        return _mask_bits(op, attribute, value)
    if value is None:
        raise ArgumentError(f"argument '{attribute.name}' is missing", where=describe_call(op))
    if attribute.type == "choice":
        if value not in attribute.choices:
            wanted = " or ".join(repr(one) for one in attribute.choices)
            raise ArgumentError(f"'{attribute.name}' must be {wanted}, not {shown(value)}", where=describe_call(op))
        return attribute.choices.index(value)
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value) if attribute.type == "int64" else float(value)
    except (TypeError, ValueError, OverflowError):
        kind = "a whole number" if attribute.type == "int64" else "a number"
        raise ArgumentError(f"'{attribute.name}' must be {kind}, not {shown(value)}", where=describe_call(op)) from None


def _mask_bits(op: OpSpec, attribute: Attribute, value: Any) -> int:
    wanted = list(value) if isinstance(value, Sequence) else []
    if len(wanted) != len(op.outputs) or not all(isinstance(one, bool) for one in wanted):
        names = ", ".join(output.name for output in op.outputs)
        raise ArgumentError(
            f"'{attribute.name}' is {value!r}; {len(op.outputs)} booleans are needed",
            where=describe_call(op),
            hint=f"whether the caller wants {names}, in this order",
        )
    return sum(one << place for place, one in enumerate(wanted))


def _bind_shape(op: OpSpec, argument: Argument, actual: Shape, symbols: Symbols, origins: dict[str, str]) -> None:
    pattern = argument.shape or ()
    rest = next((axis for axis in pattern if axis.endswith("...")), "")
    fixed = tuple(axis for axis in pattern if axis != rest)
    if len(actual) < len(fixed) or (not rest and len(actual) != len(fixed)):
        least = "at least " if rest else ""
        axes = "axis" if len(fixed) == 1 else "axes"
        raise ArgumentError(
            f"'{argument.name}' has shape {actual}; it needs {least}{len(fixed)} {axes}: ({', '.join(pattern)})",
            where=f"argument '{argument.name}' of {describe_call(op)}",
        )
    values: list[tuple[str, int | Shape]] = list(zip(pattern, actual, strict=False))
    if rest:
        start, end = pattern.index(rest), len(actual) - (len(pattern) - 1 - pattern.index(rest))
        lengths = (*actual[:start], *actual[end:])
        values = [*zip(fixed, lengths, strict=True), (rest, actual[start:end])]
    for symbol, value in values:
        if symbols.setdefault(symbol, value) != value:
            raise ArgumentError(
                f"'{argument.name}' has shape {actual}, but {symbol} is {symbols[symbol]} because {origins[symbol]}",
                where=f"argument '{argument.name}' of {describe_call(op)}",
            )
        origins.setdefault(symbol, f"'{argument.name}' has shape {actual}")
    if rest:
        symbols[rest.removesuffix("...")] = math.prod(symbols[rest])


def flat_index(name: str, shape: Sequence[int], index: Sequence[int]) -> int:
    """Return an element's index in the flat array. index: one number for each axis, or only the flat index.

    Negative numbers count from the end. Raises ArgumentError if there is no such element.
    """
    axes = list(shape) if len(index) != 1 else [math.prod(shape)]
    whole = all(isinstance(one, SupportsIndex) and not isinstance(one, bool) for one in index)
    if (
        len(index) != len(axes)
        or not whole
        or any(not -size <= one < size for one, size in zip(index, axes, strict=True))
    ):
        raise ArgumentError(
            f"{name} has no element {list(index)}", hint=f"its shape is {tuple(shape)}; one number counts in all of it"
        )
    flat = 0
    for one, size in zip(index, axes, strict=True):
        flat = flat * size + int(one) % size
    return flat
