"""Reads names as they are written: what qualifies a name, and the call whose function it is."""

from __future__ import annotations

from collections.abc import Callable

from gn_tutorial.cpp.declarators import NAMES
from gn_tutorial.cpp.syntax import Node, Syntax

#: Around a name that belongs to it.
_OF_NAMES = ("qualified_identifier", "template_function", "template_type", "template_method", "dependent_name")


def leaf_of(node: Node) -> Node:
    """Return the last name of ``a::name<T>`` and ``object.name``, and of what a call has as its function."""
    while (name := _name_in(node)) is not None:
        node = name
    return node


def _name_in(node: Node) -> Node | None:
    if node.type == "dependent_name":
        return node.named_child(0)
    return node.child_by_field_name("field") or node.child_by_field_name("name")


def parts_of(node: Node, text: Callable[[Node], str]) -> tuple[tuple[str, ...], Node]:
    """Return the path before the last name of a qualified name, and the node of this last name."""
    path = []
    while node.type == "qualified_identifier" and (name := node.child_by_field_name("name")) is not None:
        scope = node.child_by_field_name("scope")
        path += [text(leaf_of(scope))] if scope else []
        node = name
    return tuple(path), leaf_of(node)


def path_of(node: Node | None, text: Callable[[Node], str]) -> tuple[str, ...]:
    """Return the names of ``a::b::c``, without template arguments."""
    found = []
    waiting = [node] if node else []
    while waiting:
        one = waiting.pop()
        if one.type in NAMES or one.type == "namespace_identifier":
            found.append(text(one))
        elif one.type != "template_argument_list":
            waiting += reversed(one.named_children)
    return tuple(found)


def qualification(node: Node, syntax: Syntax) -> tuple[Node, tuple[str, ...] | None]:
    """Return the whole of a qualified name, and the path before the name; None for a path if nothing qualifies it."""
    whole, around, path = node, syntax.parent(node), list[str]()
    qualified = False
    while around is not None and around.type in _OF_NAMES:
        scope = around.child_by_field_name("scope")
        if around.type == "qualified_identifier" and scope != whole:
            qualified = True
            path += [syntax.text(leaf_of(scope))] if scope is not None else []
        elif around.type.startswith("template") and around.child_by_field_name("name") != whole:
            break
        whole, around = around, syntax.parent(around)
    return whole, tuple(path[::-1]) if qualified else None


def call_of(name: Node, syntax: Syntax) -> Node | None:
    """Return the call whose function a name is, with what qualifies it; None if it is none's."""
    whole, _ = qualification(name, syntax)
    around = syntax.parent(whole)
    if leaf_of(whole) != name:  # it is the scope of another name
        return None
    if around is not None and around.type == "field_expression" and around.child_by_field_name("field") == whole:
        whole, around = around, syntax.parent(around)
    while around is not None and around.type in ("parenthesized_expression", "pointer_expression"):
        whole, around = around, syntax.parent(around)
    called = around is not None and around.type == "call_expression"
    return around if called and around.child_by_field_name("function") == whole else None


def argument_count(call: Node) -> int | None:
    """Return the number of a call's arguments; None if a pack or an error is among them."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.has_error:
        return None
    given = [one.type for one in arguments.named_children if one.type != "comment"]
    return None if "parameter_pack_expansion" in given else len(given)
