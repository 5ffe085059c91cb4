"""The types and constants that C++ texts declare, by scope, and what a name means at a place of them.

A text is parsed when a name that it contains is looked up. Directives count (``directives``); an included file counts
if it is one of the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gn_tutorial.cpp.directives import applied, definitions
from gn_tutorial.cpp.integers import Unreadable, path
from gn_tutorial.cpp.syntax import Node, Syntax, parse

STRUCTS = ("struct_specifier", "class_specifier")
SPECIFIERS = (*STRUCTS, "union_specifier", "enum_specifier")
#: A scope nested more deeply is not read.
_DEEPEST = 50
_DECLARATIONS = ("declaration", "field_declaration", "type_definition", "alias_declaration")


@dataclass(frozen=True)
class TextPlace:
    """Where a name stands: a text by its index (-1: none of them), its tree, and the scopes around the name.

    params: the parameters of the templates around it, which have no value. local: whether it is in a function.
    """

    index: int
    syntax: Syntax
    scope: tuple[str, ...] = ()
    params: frozenset[str] = frozenset()
    local: bool = False

    def inside(self, name: tuple[str, ...]) -> TextPlace:
        """Return the place in a scope of this name here."""
        return replace(self, scope=(*self.scope, *name))


@dataclass(frozen=True)
class Entity:
    """A type or a constant. node: the specifier of a struct or enum, or a whole declaration with this declarator."""

    path: tuple[str, ...]
    node: Node
    place: TextPlace
    declarator: Node | None = None


class Scopes:
    """The declarations of several texts."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts
        self.macros = {index: definitions(text) for index, text in enumerate(texts)}
        self._tables: dict[int, _Table] = {}

    def named(self, name: tuple[str, ...], *, types: bool, local: bool = False) -> list[Entity]:
        """Return the declarations of this name in any scope, in the texts' order. Raises Unreadable.

        Those in functions are among them if ``local`` is true or if there is no other.
        """
        tables = [self.table(index) for index, text in enumerate(self.texts) if name and name[-1] in text]
        found = [one for table in tables for one in table.named(name, types)]
        if local or not found:
            for table in tables:
                table.read_functions()
            found = [one for table in tables for one in table.named(name, types)]
        return found

    def found(self, name: tuple[str, ...], place: TextPlace, *, types: bool) -> Entity | None:
        """Return what a name means at a place, the innermost scope first; None for a name of none of the texts.

        A name that no scope around the place has may be inherited, or brought in by using: then it must be the only
        one. Raises Unreadable for one of several, and for a template's parameter.
        """
        if place.params.intersection(name):
            raise Unreadable("::".join(name))
        known = [
            one for one in self.named(name, types=types, local=place.local) if place.index < 0 or _is_seen(one, place)
        ]
        known.sort(key=lambda one: one.place.index != place.index)
        for depth in range(len(place.scope), -1, -1):
            here = [one for one in known if one.path == place.scope[:depth] + name]
            if here:
                known = here
                break
        # A local name may be declared in several blocks of a function.
        if len({one.path for one in known}) > 1 or (len(known) > 1 and known[0].place.local):
            raise Unreadable("::".join(name))
        return known[0] if known else None

    def table(self, index: int) -> _Table:
        """Return what a text declares. Raises Unreadable; ArgumentError for a text beyond the bound of ``syntax``."""
        if index not in self._tables:
            others: dict[str, str] = {}
            for other, macros in self.macros.items():
                others = others if other == index else macros | others
            self._tables[index] = _Table(TextPlace(index, parse(applied(self.texts[index], others))))
        return self._tables[index]


def _is_seen(one: Entity, place: TextPlace) -> bool:
    """Whether a place is in the function of a local declaration; true for any other declaration."""
    scope = one.place.scope
    return not one.place.local or (one.place.index == place.index and place.scope[: len(scope)] == scope)


class _Table:
    """The types and constants of one text, by their last name, and its packing."""

    def __init__(self, place: TextPlace) -> None:
        self._types: dict[str, list[Entity]] = {}
        self._numbers: dict[str, list[Entity]] = {}
        self._functions: list[tuple[Node, Node, TextPlace]] = []  # those that are not read yet
        self._syntax = place.syntax
        self._packs = list(_packings(place.syntax))
        self._read(place.syntax.root, place)

    def named(self, name: tuple[str, ...], types: bool) -> list[Entity]:
        """Return the declarations that were read so far and have this name, or end with it."""
        entries = (self._types if types else self._numbers).get(name[-1], ())
        return [one for one in entries if one.path[-len(name) :] == name]

    def read_functions(self) -> None:
        """Read what functions declare. It takes more time than all else, and is seldom asked for."""
        waiting, self._functions = self._functions, []
        for node, body, place in waiting:
            self._function(node, body, place)

    def pack_at(self, at: int) -> int | None:
        """Return the largest alignment that ``#pragma pack`` leaves at an offset; None for any. Raises Unreadable."""
        found = [value for start, value in self._packs if start < at]
        if found and found[-1] < 0:
            raise Unreadable("#pragma pack")
        return found[-1] or None if found else None

    def _read(self, node: Node, place: TextPlace) -> None:
        if node.is_error or len(place.scope) > _DEEPEST:
            return
        for child in node.named_children:
            body = child.child_by_field_name("body")
            match child.type:
                case "namespace_definition" | "linkage_specification" if body is not None:
                    name = child.child_by_field_name("name")
                    inner = place.inside(path(self._syntax.text(name))) if name else place
                    self._read(body if body.type == "declaration_list" else child, inner)
                case "template_declaration" if len(place.params) < _DEEPEST:
                    self._read(child, replace(place, params=place.params | set(_template_params(child, self._syntax))))
                case "function_definition" if body is not None:
                    self._functions.append((child, body, place))
                case _:
                    self._one(child, place)

    def _one(self, node: Node, place: TextPlace) -> None:
        if node.type in SPECIFIERS:
            self._specifier(node, place)
        elif node.type in _DECLARATIONS:
            self._declaration(node, place)

    def _function(self, node: Node, body: Node, place: TextPlace) -> None:
        if re.search(r"\b(?:const|constexpr|struct|class|enum|using|typedef)\b", self._syntax.text(body)):
            declarator = node.child_by_field_name("declarator")
            inner = replace(place, scope=(*place.scope, self._syntax.text(declarator or node)), local=True)
            for one in self._syntax.nodes("struct_specifier", "enum_specifier", *_DECLARATIONS, within=body):
                around = one.parent
                if around is not None and around.type in ("compound_statement", "case_statement"):
                    self._one(one, inner)

    def _specifier(self, node: Node, place: TextPlace) -> None:
        body, tag = node.child_by_field_name("body"), path(tag_of(node, self._syntax))
        if body is None:
            return
        inner = place.inside(tag)
        if tag:
            self._add(self._types, Entity(inner.scope, node, place))
        if node.type != "enum_specifier":
            self._read(body, inner)
            return
        # An enumerator of any enum may be written behind the enum's name; of one without class also alone.
        scoped = any(one.type in ("class", "struct") for one in node.children)
        for name, _ in enumerators(node, self._syntax):
            self._add(self._numbers, Entity((*inner.scope, name), node, place))
            if not scoped and tag:
                self._add(self._numbers, Entity((*place.scope, name), node, place))

    def _declaration(self, node: Node, place: TextPlace) -> None:
        of = node.child_by_field_name("type")
        if of is not None and of.type in SPECIFIERS:
            self._specifier(of, place)
        if node.type == "alias_declaration":
            self._add(self._types, Entity((*place.scope, tag_of(node, self._syntax)), node, place))
            return
        words = {self._syntax.text(one) for one in node.named_children if one.type == "type_qualifier"}
        for declarator in node.children_by_field_name("declarator"):
            name = declared_name(declarator)
            if name is None:
                continue
            entry = Entity((*place.scope, self._syntax.text(name)), node, place, declarator)
            if node.type == "type_definition":
                self._add(self._types, entry)
            elif not words.isdisjoint(("const", "constexpr")) and declarator.type != "array_declarator":
                self._add(self._numbers, entry)

    def _add(self, table: dict[str, list[Entity]], entry: Entity) -> None:
        table.setdefault(entry.path[-1], []).append(entry)


def tag_of(node: Node, syntax: Syntax) -> str:
    """Return the name of a struct, an enum or an alias; empty for one without a name."""
    name = node.child_by_field_name("name")
    return syntax.text(name) if name else ""


def declared_name(declarator: Node) -> Node | None:
    """Return the name that a declarator of a variable or of arrays declares; None for another declarator."""
    found: Node | None = declarator
    while found is not None and not found.type.endswith("identifier"):
        if found.type not in ("init_declarator", "array_declarator", "parenthesized_declarator"):
            return None
        found = found.child_by_field_name("declarator") or (found.named_children or [None])[0]
    return found


def enumerators(node: Node, syntax: Syntax) -> Iterator[tuple[str, Node | None]]:
    """Yield the enumerators of an enum, and the expressions that give their values."""
    body = node.child_by_field_name("body")
    for one in body.named_children if body else ():
        name = one.child_by_field_name("name")
        if one.type == "enumerator" and name is not None:
            yield syntax.text(name), one.child_by_field_name("value")


def _template_params(node: Node, syntax: Syntax) -> Iterator[str]:
    listed = node.child_by_field_name("parameters")
    for one in listed.named_children if listed else ():
        name = one.child_by_field_name("name") or one.child_by_field_name("declarator")
        names = [name] if name else one.named_children[:1]
        yield from (found for each in names for found in re.findall(r"[^\W\d]\w*", syntax.text(each)))


def _packings(syntax: Syntax) -> Iterator[tuple[int, int]]:
    """Yield where ``#pragma pack`` stands, and the packing from there on: 0 for none, -1 for one that is not known."""
    now, stack = 0, list[int]()
    for node in syntax.nodes("preproc_call") if "pragma" in syntax.text(syntax.root) else ():
        found = re.match(r"#\s*pragma\s+pack\b\s*(.*)", syntax.text(node))
        if found is None:
            continue
        words = re.findall(r"[^\s(),]+", found[1])
        if words[:1] == ["push"]:
            stack.append(now)
        elif words[:1] == ["pop"]:
            now = stack.pop() if stack else 0
        sizes = [int(one) for one in words if one in ("1", "2", "4", "8", "16")]
        now = sizes[0] if sizes else now if words else 0
        yield node.start_byte, now if set(words) <= {"push", "pop", *map(str, sizes)} else -1
