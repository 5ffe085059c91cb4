"""Finds where a text uses some names, and how: with a qualifier, with template arguments, in a call of so many."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from gn_tutorial.cpp.scopes import Scope, ScopedText, parts_of
from gn_tutorial.cpp.syntax import Node
from gn_tutorial.cpp.tokens import tokens

#: What may stand between a name and the call of what it names.
_AROUND_A_NAME = frozenset({"qualified_identifier", "parenthesized_expression", "pointer_expression"})
_INSTANTIATIONS = ("template_function", "template_type")


@dataclass(frozen=True)
class Use:
    """A use of a name. path: what qualifies it, None if nothing does, () for ``::Name``.

    arguments: the number of arguments of the call, None if there is no call or a pack among them. instantiated: whether
    template arguments follow.
    """

    name: str
    path: tuple[str, ...] | None
    scope: Scope
    start: int
    line: int
    arguments: int | None = None
    instantiated: bool = False


def uses(of: ScopedText, names: Collection[str]) -> Iterator[Use]:
    """Yield where a text uses one of ``names``, in text order. Nothing in an error is read."""
    syntax = of.syntax
    for node in syntax.nodes("identifier", "type_identifier", "preproc_def", "preproc_function_def"):
        if node.type.startswith("preproc"):
            yield from _in_macro(of, node, names)
        elif syntax.text(node) in names and node.start_byte not in of.names_at and of.is_read(node):
            found = _use(of, node)
            if found is not None:
                yield found


def _use(of: ScopedText, node: Node) -> Use | None:
    whole, around, instantiated, arguments = node, node.parent, False, None
    while around is not None and around.type in ("qualified_identifier", *_INSTANTIATIONS):
        if around.child_by_field_name("name") != whole:
            break
        instantiated |= around.type in _INSTANTIATIONS
        whole, around = around, around.parent
    if around is not None and around.type == "qualified_identifier" and whole.type == "qualified_identifier":
        return None  # of the scopes in a path only the first is looked up where the path stands
    path = parts_of(whole, of.syntax.text)[0] if whole.type == "qualified_identifier" else None
    below = whole
    while around is not None and around.type in _AROUND_A_NAME:
        below, around = around, around.parent
    if around is not None and around.type == "call_expression" and around.child_by_field_name("function") == below:
        arguments = argument_count(around)
    line = of.syntax.line(whole)
    return Use(of.syntax.text(node), path, of.scope_at(whole), whole.start_byte, line, arguments, instantiated)


def argument_count(call: Node) -> int | None:
    """Return the number of a call's arguments; None if a pack or an error is among them."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.has_error:
        return None
    given = [one.type for one in arguments.named_children if one.type != "comment"]
    return None if "parameter_pack_expansion" in given else len(given)


def _in_macro(of: ScopedText, node: Node, names: Collection[str]) -> Iterator[Use]:
    """Yield the uses in the body of a macro, in a text that was not preprocessed."""
    value, given = node.child_by_field_name("value"), node.child_by_field_name("parameters")
    if value is None or not of.is_read(node):
        return
    parameters = {of.syntax.text(one) for one in given.named_children} if given else set()
    for token in tokens(of.syntax.text(value)):
        if token.kind == "name" and token.text in names and token.text not in parameters:
            yield Use(token.text, None, of.root, node.start_byte, of.syntax.line(node))
