"""What the names of C++ texts mean: the declarations that a name leads to at its place.

``ScopedText`` is for one text as it stands, ``Scopes`` for several, whose directives count.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Iterator

from gn_tutorial.cpp.directives import applied, definitions
from gn_tutorial.cpp.integers import Unreadable
from gn_tutorial.cpp.names import path_of, qualification
from gn_tutorial.cpp.scope_reader import ScopeReader
from gn_tutorial.cpp.scopes import Declaration, NamePlace, Scope, ScopeSpan, TextScopes
from gn_tutorial.cpp.syntax import Node, Spans, Syntax, parse

#: Around a name that only members have: ``: rows(rows)`` gives the member the parameter's value.
_OF_MEMBERS = ("field_expression", "field_initializer")


class ScopedText(TextScopes):
    """A text with its scopes, and what its names mean. Without ``functions``, their bodies are left out at first."""

    def __init__(self, syntax: Syntax, root: Scope, index: int = -1, *, functions: bool = True) -> None:
        super().__init__(syntax, root, index)
        self._reader = ScopeReader(self, functions)
        self._visible: dict[tuple[Scope, str], list[Declaration]] = {}
        self._reader.read()

    def read_functions(self) -> None:
        """Read what functions declare, if it was left out. It takes more time than all else."""
        self._reader.read_functions()
        self._visible.clear()
        for name in ("_innermost", "_starts", "_unread_spans"):
            self.__dict__.pop(name, None)

    def is_read(self, node: Node) -> bool:
        """Return whether a node is not in an attribute or a branch that ``#if 0`` leaves out."""
        return not self._unread_spans.hold(node)

    def scope_at(self, node: Node) -> Scope:
        """Return the scope in which a node stands."""
        at = bisect_right(self._starts, node.start_byte) - 1
        span = self._innermost[at] if at >= 0 else None
        while span is not None and (span.end <= node.start_byte or span.is_in(node)):
            span = span.around
        return span.scope if span else self.root

    def candidates(self, name: str, node: Node) -> Iterator[tuple[Scope, list[Declaration]]]:
        """Yield the scopes around a node, the innermost first, each with what it declares of a name.

        Of a block what stands before the node counts.
        """
        for scope in self.scope_at(node).outward():
            found = self.visible(scope, name)
            if scope.kind != "block" or not found:
                yield scope, found
            elif scope.opened:
                self.root.steps.pay(len(found))
                yield scope, [one for one in found if one.start <= node.start_byte]
            else:
                yield scope, found[: bisect_right(found, node.start_byte, key=lambda one: one.start)]

    def visible(self, scope: Scope, name: str) -> list[Declaration]:
        """Return what ``Scope.visible`` does, and remember it."""
        if not scope.opened:
            return scope.visible(name)
        if (scope, name) not in self._visible:
            self._visible[scope, name] = scope.visible(name)
        return self._visible[scope, name]

    def meant(self, node: Node) -> list[Declaration] | None:
        """Return what a name means; nothing if the text does not declare it, None if that is not known.

        Of a member behind ``.`` or ``->`` it is not known, except behind ``this``.
        """
        name, (whole, path) = self.syntax.text(node), qualification(node, self.syntax)
        if path is not None:
            found = self.scope_at(node).find(path) if path else self.root
            here = self._listed(self.visible(found, name)) if found is not None else None
            return here or (here if found is not None and found.kind == "namespace" else None)
        around = self.syntax.parent(whole)
        if node.type == "field_identifier" and around is not None and around.type in _OF_MEMBERS:
            of = around.child_by_field_name("argument")
            if around.type == "field_expression" and (of is None or of.type != "this"):
                return None
            return self.members(node) or None
        return self.meant_by(name, node)

    def members(self, name: Node) -> list[Declaration]:
        """Return what the innermost class around a name declares of it."""
        around = self.candidates(self.syntax.text(name), name)
        return next((here for scope, here in around if scope.kind == "class"), [])

    def meant_by(self, name: str, node: Node) -> list[Declaration] | None:
        """Return what a name without qualifiers means at a node, as ``meant``."""
        for scope, here in self.candidates(name, node):
            if here or scope.is_open:
                return self._listed(here) or None
        return []

    def _listed(self, found: list[Declaration]) -> list[Declaration]:
        """Count declarations that a caller looks at."""
        self.root.steps.pay(len(found))
        return found

    def fields(self, node: Node, *, guess: bool = False) -> list[Declaration]:
        """Return the fields that ``object.field`` or ``object->field`` may mean; nothing if that is not known.

        guess: if a header's macro declares the object, return all fields of the name.
        """
        of, field_name = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if of is None or field_name is None or field_name.type != "field_identifier":
            return []
        name = self.syntax.text(field_name)
        if of.type == "this":
            return self.meant(field_name) or []
        objects = (
            self.meant(of) if of.type == "identifier" else self.fields(of) if of.type == "field_expression" else None
        )
        if guess and objects == [] and of.type == "identifier":
            every = self._listed(self.declared.get(name, []))
            return [one for one in every if one.place.scope.kind == "class"]
        kinds = [one.node.child_by_field_name("type") for one in objects or () if one.node is not None]
        if len(kinds) != 1 or kinds[0] is None or objects is None:
            return []
        found = objects[0].place.scope.find(path_of(kinds[0], self.syntax.text))
        return self._listed(self.visible(found, name)) if found is not None else []

    @functools.cached_property
    def _unread_spans(self) -> Spans:
        return Spans(self.unread_spans)

    @functools.cached_property
    def _innermost(self) -> list[ScopeSpan]:
        """The spans of scopes by their starts. The one that contains a place is the last before it, or around that."""
        ordered = sorted(self.spans, key=lambda one: (one.start, -one.end))
        open_spans: list[ScopeSpan] = []
        for one in ordered:
            while open_spans and open_spans[-1].end <= one.start:
                open_spans.pop()
            one.around = open_spans[-1] if open_spans else None
            open_spans.append(one)
        return ordered

    @functools.cached_property
    def _starts(self) -> list[int]:
        return [one.start for one in self._innermost]


class Scopes:
    """The scopes of several texts. A text is read when a name that it contains is looked up.

    Directives count (``directives``); an included file counts if it is one of the texts.
    """

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts
        self.macros = {index: definitions(text) for index, text in enumerate(texts)}
        self.root = Scope("namespace")
        self._read: dict[int, ScopedText] = {}

    def named(self, name: tuple[str, ...], *, types: bool, local: bool = False) -> list[Declaration]:
        """Return the types or constants of this name in any scope, in the texts' order. Raises Unreadable.

        Those in functions are among them if ``local`` is true or if there is no other.
        """
        texts = [self._text(index) for index, text in enumerate(self.texts) if name and name[-1] in text]
        found = _among(texts, name, types)
        if local or not found:
            for text in texts:
                text.read_functions()
            found = _among(texts, name, types)
        return found

    def meant(self, name: tuple[str, ...], place: NamePlace, *, types: bool) -> Declaration | None:
        """Return the type or value that a name means at a place; None for a name of none of the texts.

        A name that is not visible at the place may come from what no text shows: then it must be the only one. Raises
        Unreadable for one of several, and for a template's parameter.
        """
        self.root.steps.refill()
        known = self.named(name, types=types, local=place.scope.local)
        *qualifiers, last = name
        for scope in place.scope.outward():
            if scope.kind == "template" and name[0] in scope.declared:
                raise Unreadable("::".join(name))
            home = scope.find(tuple(qualifiers)) if qualifiers else scope
            here = [one for one in home.visible(last) if one.node] if home else []
            if here and all((one.kind == "type") != types for one in here):
                raise Unreadable("::".join(name))  # it hides what the scopes around declare
            here = [one for one in here if (one.kind == "type") == types]
            if here:
                return min(here, key=lambda one: (one.place.text is not place.text, one.place.text.index))
        if place.text.index >= 0:
            known = [one for one in known if not one.place.scope.local]
        if len({one.place.scope for one in known}) > 1:
            raise Unreadable("::".join(name))
        return min(known, key=lambda one: one.place.text is not place.text, default=None)

    def place_in(self, path: tuple[str, ...]) -> NamePlace:
        """Return the place in a namespace or class of the first text. Raises Unreadable and ArgumentError."""
        text = self._text(0)
        return NamePlace(text, self.root.find(path) or self.root)

    def _text(self, index: int) -> ScopedText:
        """Return a text that has been read. Raises Unreadable; ArgumentError beyond the bound of ``syntax``."""
        if index not in self._read:
            others: dict[str, str] = {}
            for other, macros in self.macros.items():
                others = others if other == index else macros | others
            syntax = parse(applied(self.texts[index], others))
            self._read[index] = ScopedText(syntax, self.root, index, functions=False)
        return self._read[index]


def _among(texts: list[ScopedText], name: tuple[str, ...], types: bool) -> list[Declaration]:
    named = (one for text in texts for one in text.declared.get(name[-1], ()) if one.node)
    kept = (one for one in named if (one.kind == "type" if types else one.is_constant))
    return [one for one in kept if one.path[-len(name) :] == name]
