"""Walks from a declarator to the name that it declares: from ``(*rows[3])(int)`` to ``rows``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gn_tutorial.cpp.syntax import Node

NAMES = ("identifier", "type_identifier", "field_identifier")
PARAMETERS = ("parameter_declaration", "optional_parameter_declaration", "variadic_parameter_declaration")
_NO_PLAIN_NAMES = ("qualified_identifier", "template_function", "destructor_name", "operator_name", "operator_cast")
#: Without a name inside them, what they contain is an array's size or a qualifier.
_WITH_FIELD = ("pointer_declarator", "array_declarator")
#: Inside of one of these a function's declarator is that of a variable: a pointer to the function, say.
_OF_VARIABLES = (*_WITH_FIELD, "reference_declarator")
_OF_OBJECTS = ("init_declarator", "array_declarator", "parenthesized_declarator")


class Declared(NamedTuple):
    """A name that a declarator declares. function: the function_declarator, if the name is a function's."""

    name: Node
    function: Node | None


def inner(declarator: Node) -> Node | None:
    """Return the declarator or the name inside a declarator; None in a name, and where a type has no name."""
    if not declarator.type.endswith("declarator"):
        return None
    if (found := declarator.child_by_field_name("declarator")) is not None or declarator.type.endswith(_WITH_FIELD):
        return found
    return next((one for one in declarator.named_children if _may_declare(one)), None)


def _may_declare(node: Node) -> bool:
    return node.type.endswith("declarator") or node.type in NAMES or node.type in _NO_PLAIN_NAMES


def chain(declarator: Node | None) -> Iterator[Node]:
    """Yield a declarator, those inside it, and the name that is declared, if it has one."""
    while declarator is not None:
        yield declarator
        declarator = inner(declarator)


def declared(declarator: Node | None) -> list[Declared]:
    """Return the names that a declarator declares: one, several for a structured binding, none for a type alone.

    A name may be qualified, an operator's or a destructor's.
    """
    function, last = None, None
    for last in chain(declarator):
        if last.type == "structured_binding_declarator":
            return [Declared(one, None) for one in last.named_children if one.type == "identifier"]
        function = last if last.type == "function_declarator" else None if last.type in _OF_VARIABLES else function
    return [Declared(last, function)] if last is not None and not last.type.endswith("declarator") else []


def object_name(declarator: Node) -> Node | None:
    """Return the name that a declarator of an object or of arrays declares; None for any other declarator."""
    *around, name = chain(declarator)
    plain = name.type in NAMES and all(one.type in _OF_OBJECTS for one in around)
    return name if plain else None


def declared_by(statement: Node, is_type: Callable[[Node], bool]) -> list[Node]:
    """Return the names that a statement declares and the parser takes for an expression's: ``int (a) = 1, b;``.

    What may be a declaration is one ([stmt.ambig]). is_type: whether a type stands where a call has its function.
    """
    found, parts = list[Node | None](), statement.named_children[:1]
    while parts:
        part = parts.pop(0)
        if part.type == "comma_expression":
            parts = [*part.named_children, *parts]
            continue
        if part.type == "assignment_expression" and part.children[1].type == "=":
            part = part.children[0]
        while part.type == "subscript_expression" and not found:
            part = part.children[0]
        if not found:
            function, given = (part.child_by_field_name(one) for one in ("function", "arguments"))
            if function is None or given is None or given.named_child_count != 1 or not is_type(function):
                return []
            part = given.named_children[0]
        found.append(_written_as_expression(part))
    names = [one for one in found if one is not None]
    return names if len(names) == len(found) else []


def _written_as_expression(declarator: Node) -> Node | None:
    """Return the name in ``name``, ``*name``, ``(name)`` and ``name[1]``; None for another expression."""
    while declarator.type in ("parenthesized_expression", "pointer_expression", "subscript_expression"):
        declarator = declarator.named_children[0]
    return declarator if declarator.type == "identifier" else None


def _listed(function: Node) -> Node | None:
    """Return the list of a function's parameters."""
    inside = chain(function.child_by_field_name("declarator"))
    lists = (one.child_by_field_name("parameters") for one in (function, *inside))
    return next((one for one in lists if one is not None), None)


def parameters(function: Node) -> list[Node]:
    """Return the parameters of a function, a lambda or a function's declarator."""
    listed = _listed(function)
    return [one for one in listed.named_children if one.type in PARAMETERS] if listed else []


def arity(function: Node, text: Callable[[Node], str]) -> tuple[int, float]:
    """Return the least and the largest number of arguments that a function takes. It is given as to ``parameters``."""
    given, listed = parameters(function), _listed(function)
    if len(given) == 1 and text(given[0]).strip() == "void":
        return 0, 0
    kinds = [one.type for one in given]
    open_end = "variadic_parameter_declaration" in kinds or any(
        one.type == "..." for one in (listed.children if listed else ())
    )
    return kinds.count("parameter_declaration"), math.inf if open_end else len(kinds)
