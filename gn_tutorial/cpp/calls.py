"""Finds where a text uses some names, and how: with a qualifier, with template arguments, in a call of so many."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from gn_tutorial.cpp.names import argument_count, call_of, qualification
from gn_tutorial.cpp.queries import words
from gn_tutorial.cpp.scoped_text import ScopedText
from gn_tutorial.cpp.scopes import Scope
from gn_tutorial.cpp.syntax import Node


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
            yield _use(of, node)


def _use(of: ScopedText, node: Node) -> Use:
    syntax, around = of.syntax, node.parent
    whole, path = qualification(node, syntax.text)
    call = call_of(node, syntax.text)
    return Use(
        syntax.text(node),
        path,
        of.scope_at(whole),
        whole.start_byte,
        syntax.line(whole),
        argument_count(call) if call is not None else None,
        around is not None and around.type in ("template_function", "template_type"),
    )


def _in_macro(of: ScopedText, node: Node, names: Collection[str]) -> Iterator[Use]:
    """Yield the uses in the body of a macro, in a text that was not preprocessed."""
    value, given = node.child_by_field_name("value"), node.child_by_field_name("parameters")
    if value is None or not of.is_read(node):
        return
    parameters = {of.syntax.text(one) for one in given.named_children} if given else set()
    for word in words(of.syntax.text(value)):
        if word in names and word not in parameters:
            yield Use(word, None, of.root, node.start_byte, of.syntax.line(node))
