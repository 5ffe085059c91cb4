"""The data members and the bases of a struct, as nodes of its tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gn_tutorial.cpp.declarators import declared, object_name
from gn_tutorial.cpp.directives import MACRO_BASE, UNKNOWN
from gn_tutorial.cpp.integers import Unreadable
from gn_tutorial.cpp.scopes import SPECIFIERS, Declaration
from gn_tutorial.cpp.syntax import Node, Syntax

#: Attributes that move fields.
_PLACING = re.compile(r"\b_*(?:packed|aligned|no_unique_address|ms_struct|mode)_*\b")
_NO_FIELDS = ("access_specifier", "alias_declaration", "type_definition", "friend_declaration", "using_declaration",
              "template_declaration", "static_assert_declaration", "preproc_call")  # fmt: skip


class Member(NamedTuple):
    """One name of a declaration. node: the whole declaration."""

    name: str
    type: Node
    declarator: Node
    node: Node


def members(entry: Declaration) -> Iterator[Member]:
    """Yield the non-static data members of a struct, without those of its bases. Raises Unreadable."""
    body, syntax = entry.node.child_by_field_name("body"), entry.place.syntax
    if body is None or body.has_error:
        raise Unreadable(shown(_first_error(body or entry.node), syntax))
    for node in body.named_children:
        if node.type == "field_declaration":
            yield from _declared_members(node, syntax)
        elif not _has_no_fields(node, syntax) and not _is_method(node, syntax, entry.name):
            raise Unreadable(shown(node, syntax))


def _has_no_fields(node: Node, syntax: Syntax) -> bool:
    text = syntax.text(node)
    unknown = text == UNKNOWN or (node.type == "preproc_call" and re.search(r"\bpack\b", text))
    return node.type in _NO_FIELDS and not unknown


def _declared_members(node: Node, syntax: Syntax) -> Iterator[Member]:
    """Yield the data members of one declaration. Raises Unreadable."""
    refuse_placing_attributes(node, syntax)
    children = {one.type for one in node.children}
    storage = {syntax.text(one) for one in node.children if one.type == "storage_class_specifier"}
    of, declarators = node.child_by_field_name("type"), node.children_by_field_name("declarator")
    if "virtual" in children or "bitfield_clause" in children or of is None:
        raise Unreadable(shown(node, syntax))
    if "static" in storage:
        return
    if not declarators and (of.type not in SPECIFIERS or (of.type != "enum_specifier" and not tag_of(of, syntax))):
        raise Unreadable(shown(node, syntax))  # no declaration of a type, or a struct whose members are this one's
    for declarator in declarators:
        if _is_function(declarator):
            continue
        name = object_name(declarator)
        if name is None or of.type == "union_specifier":
            raise Unreadable(shown(node, syntax))
        yield Member(syntax.text(name), of, declarator, node)


def is_macro(entry: Declaration) -> bool:
    """Whether CANN's macros define the struct."""
    return any(entry.place.syntax.text(one) == MACRO_BASE for one in bases(entry.node))


def _is_method(node: Node, syntax: Syntax, struct: str) -> bool:
    """Whether a declaration in a struct is a member function that is not virtual."""
    if node.type not in ("function_definition", "declaration") or any(one.type == "virtual" for one in node.children):
        return False
    declarator = node.child_by_field_name("declarator")
    if declarator is None or node.child_by_field_name("type") is not None:
        return declarator is not None and _is_function(declarator)
    name = declarator.child_by_field_name("declarator")
    own = name is not None and syntax.text(name).lstrip("~ ") == struct  # a constructor or a destructor
    return own or declarator.type == "operator_cast"


def _is_function(declarator: Node) -> bool:
    """Whether a declarator is that of a function, not of a pointer to one."""
    return any(function is not None and name.type != "destructor_name" for name, function in declared(declarator))


def tag_of(node: Node, syntax: Syntax) -> str:
    """Return the name of a struct, an enum or an alias; empty for one without a name."""
    name = node.child_by_field_name("name")
    return syntax.text(name) if name else ""


def bases(node: Node) -> list[Node]:
    """Return the names of a struct's bases. A node that is no name stands for virtual ones."""
    clause = next((one for one in node.named_children if one.type == "base_class_clause"), None)
    if clause is None:
        return []
    if any(one.type == "virtual" for one in clause.children):
        return [clause]
    return [one for one in clause.named_children if one.type != "access_specifier"]


def refuse_placing_attributes(node: Node, syntax: Syntax) -> None:
    """Raise Unreadable for attributes that move fields."""
    for child in node.named_children:
        if child.type.startswith("attribute") and _PLACING.search(syntax.text(child)):
            raise Unreadable(shown(node, syntax))


def _first_error(node: Node) -> Node:
    """Return the innermost node around the first error in a struct, to name it."""
    while True:
        deeper = next((one for one in node.children if one.has_error or one.is_missing), None)
        if deeper is None or not deeper.named_child_count:
            return node
        node = deeper


def shown(node: Node, syntax: Syntax) -> str:
    """Return the text of a node in a line, for the message of Unreadable."""
    return " ".join(syntax.text(node).split())[:80].rstrip(" ;")
