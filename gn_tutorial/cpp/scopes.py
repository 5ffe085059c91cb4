"""A scope of C++ text, a declaration in one, and the lookup of a name from scope to scope ([basic.lookup]).

``scope_reader`` finds the scopes of a text, and ``scoped_text`` answers what a name of the text means.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from gn_tutorial.cpp.declarators import NAMES, chain, object_name
from gn_tutorial.cpp.syntax import Node, Syntax
from gn_tutorial.errors import ArgumentError

STRUCTS = ("struct_specifier", "class_specifier")
CLASSES = (*STRUCTS, "union_specifier")
SPECIFIERS = (*CLASSES, "enum_specifier")
#: Declarators that leave a variable's type as it is written, but for ``&``.
_PLAIN = ("init_declarator", "reference_declarator")
#: What the lookups of one reading may visit: scopes and declarations. Of the kernels and exercises none needs more than
#: 20; names of a text that is made for it lead to the square of its length.
MOST_STEPS = 2_000_000


class Steps:
    """Counts what lookups visit, and refuses a text whose names lead to too much."""

    def __init__(self) -> None:
        self._left = MOST_STEPS

    def pay(self, count: int) -> None:
        """Count some more. Raises ArgumentError beyond the bound."""
        self._left -= count
        if self._left < 0:
            raise ArgumentError(
                f"C++ source is not read: its names lead to more than {MOST_STEPS:,} declarations",
                hint="split the file, or remove what repeats",
            )

    def refill(self) -> None:
        """Begin again, for another question about the same text."""
        self._left = MOST_STEPS


@dataclass(eq=False)
class Scope:
    """One scope. kind: namespace, class (or enum), template (its parameters) or block.

    nested: its namespaces, classes and enumerations, with aliases. directives: the namespaces of its using-directives.
    owner: the class or namespace of a function that is defined outside of it. is_open: whether it is a class that may
    declare more than the text shows, in itself or in a base.
    """

    kind: str
    parent: Scope | None = None
    owner: Scope | None = None
    name: str = ""
    declared: dict[str, list[Declaration]] = field(default_factory=dict)
    nested: dict[str, Scope] = field(default_factory=dict)
    directives: dict[Scope, None] = field(default_factory=dict)
    bases: list[Scope] = field(default_factory=list)
    is_open: bool = False

    def __post_init__(self) -> None:
        self.steps: Steps = self.parent.steps if self.parent is not None else Steps()

    def outward(self) -> Iterator[Scope]:
        """Yield this scope and those around it, in the order in which an unqualified name is looked up."""
        waiting: list[Scope] = [self]
        while waiting:
            scope = waiting.pop()
            yield scope
            waiting += [one for one in (scope.parent, scope.owner) if one is not None]

    def reached(self, of: Callable[[Scope], Collection[Scope]] = lambda one: one.opened) -> Iterator[Scope]:
        """Yield this scope and, nearest first, all that ``of`` leads to: bases, namespaces of directives, or both."""
        found = {self: True}
        waiting = [self]
        for scope in waiting:
            self.steps.pay(1)
            yield scope
            new = [one for one in of(scope) if one not in found]
            found |= dict.fromkeys(new, True)
            waiting += new

    @property
    def opened(self) -> Collection[Scope]:
        """The namespaces of its directives, and its bases."""
        return (*self.directives, *self.bases) if self.bases else self.directives

    def visible(self, name: str) -> list[Declaration]:
        """Return what the scope, its bases and the namespaces of its directives declare of a name, nearest first."""
        if not self.opened:
            return self.declared.get(name, [])
        return [declared for one in self.reached() for declared in one.declared.get(name, ())]

    def find(self, path: tuple[str, ...]) -> Scope | None:
        """Return the namespace, class or enumeration that a path means here; None if no text declares it."""
        found: Scope | None = None
        for index, name in enumerate(path):
            scopes = self.outward() if index == 0 else [found] if found else []
            among = (one for scope in scopes for one in (scope.reached() if scope.opened else (scope,)))
            found = next((one.nested[name] for one in among if name in one.nested), None)
        return found

    @property
    def home(self) -> Scope:
        """The scope in which a template below this one is declared."""
        return next((one for one in self._around() if one.kind != "template"), self)

    @property
    def namespace(self) -> Scope:
        """The innermost namespace around."""
        return next((one for one in self._around() if one.kind == "namespace"), self)

    @property
    def local(self) -> bool:
        """Whether it is in a function."""
        return any(one.kind == "block" for one in self._around())

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the scopes around, and its own."""
        return tuple(one.name for one in self._around() if one.name)[::-1]

    def _around(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass(frozen=True, eq=False)
class NamePlace:
    """Where a name stands: in a text, and in one of its scopes."""

    text: TextScopes
    scope: Scope

    @property
    def syntax(self) -> Syntax:
        """The tree of the text."""
        return self.text.syntax


@dataclass(frozen=True, eq=False)
class Declaration:
    """One declaration of a name. at: the name, None for a macro. kind: type, function, value or macro.

    node: the specifier of a struct or an enum (of an enumerator too), else the whole declaration, which has the
    ``declarator``; None for a type without its body. least, most: the number of arguments that a function takes.
    """

    name: str
    kind: str
    place: NamePlace
    at: Node | None
    node: Node | None = None
    declarator: Node | None = None
    template: bool = False
    least: int = 0
    most: float = math.inf

    @property
    def start(self) -> int:
        """The offset of the name, -1 for a macro."""
        return -1 if self.at is None else self.at.start_byte

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the scopes around, and its own."""
        return (*self.place.scope.path, self.name)

    @property
    def inside(self) -> NamePlace:
        """The place in the struct or enum that it declares."""
        assert self.node is not None
        return NamePlace(self.place.text, self.place.text.inside[self.node.id])

    @property
    def is_constant(self) -> bool:
        """Whether it is an enumerator, or a variable with ``const`` or ``constexpr`` that is no pointer or array."""
        if self.kind != "value" or self.node is None or self.declarator is None:
            return self.kind == "value" and self.node is not None
        words = {self.place.syntax.text(one) for one in self.node.named_children if one.type == "type_qualifier"}
        plain = self.declarator.type != "array_declarator" and object_name(self.declarator) is not None
        return plain and not words.isdisjoint(("const", "constexpr"))

    @property
    def type_words(self) -> frozenset[str]:
        """The words of the type without const; none for what is no plain variable or field."""
        kind = self.node.child_by_field_name("type") if self.node is not None and self.kind == "value" else None
        plain = all(one.type in (*_PLAIN, *NAMES) for one in chain(self.declarator))
        if kind is None or self.declarator is None or not plain:
            return frozenset()
        return frozenset(re.findall(r"\w+", self.place.syntax.text(kind))) - {"const"}

    def takes(self, arguments: int | None, *, instantiated: bool) -> bool:
        """Whether a use may mean this function. arguments: None if it is no call, or if their number is not known."""
        fits = arguments is None or self.least <= arguments <= self.most
        return fits and (self.template or not instantiated)


class FunctionDefinition(NamedTuple):
    """A function's definition. home: the namespace or class that it belongs to."""

    name: str
    node: Node
    home: Scope


@dataclass(eq=False)
class ScopeSpan:
    """The bytes of a node that has a scope. around: the next larger span."""

    start: int
    end: int
    scope: Scope
    around: ScopeSpan | None = None

    def is_in(self, node: Node) -> bool:
        """Whether it is the node's own span, or one inside it."""
        return node.start_byte <= self.start and self.end <= node.end_byte


class TextScopes:
    """The scopes of a parsed text, as ``scope_reader`` finds them. inside: the scope of a node's children, by its id.

    root: the global scope, with the declarations that are known before. It gets those of this text.
    """

    def __init__(self, syntax: Syntax, root: Scope, index: int) -> None:
        self.syntax, self.root, self.index = syntax, root, index
        self.inside: dict[int, Scope] = {syntax.root.id: root}
        self.declared: dict[str, list[Declaration]] = {}  # by name
        self.functions: dict[int, FunctionDefinition] = {}  # by the definition's id
        self.names_at: set[int] = set()  # where names start that are declared
        self.unread_spans: list[tuple[int, int]] = []  # of what declares and uses nothing
        self.spans: list[ScopeSpan] = []
