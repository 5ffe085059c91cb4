"""The scopes of C++ texts, what each of them declares, and which declaration a name means.

They follow the C++ standard ([basic.scope], [basic.lookup]): namespaces that are opened again, inline and unnamed ones,
aliases, using-directives and using-declarations, classes with bases, scoped and unscoped enumerations, template
parameters, lambdas, conditions and loops. Members that are defined outside of their class see its members.
"""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gn_tutorial.cpp.declarators import NAMES, PARAMETERS, arity, chain, declared, object_name, parameters
from gn_tutorial.cpp.directives import applied, definitions
from gn_tutorial.cpp.integers import Unreadable
from gn_tutorial.cpp.names import leaf_of, parts_of, path_of, qualification
from gn_tutorial.cpp.syntax import Node, Syntax, parse

STRUCTS = ("struct_specifier", "class_specifier")
CLASSES = (*STRUCTS, "union_specifier")
SPECIFIERS = (*CLASSES, "enum_specifier")
_BLOCKS = (
    "compound_statement", "for_statement", "if_statement", "while_statement", "switch_statement", "catch_clause",
    "lambda_expression", "requires_expression",
)  # fmt: skip
_DECLARATIONS = ("declaration", "field_declaration", "type_definition", *PARAMETERS)
#: Declarators that leave a variable's type as it is written, but for ``&``.
_PLAIN = ("init_declarator", "reference_declarator")
_UNREAD = ("attribute_declaration", "attribute_specifier", "destructor_name")


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
    directives: list[Scope] = field(default_factory=list)
    bases: list[Scope] = field(default_factory=list)
    is_open: bool = False

    def outward(self) -> Iterator[Scope]:
        """Yield this scope and those around it, in the order in which an unqualified name is looked up."""
        waiting: list[Scope] = [self]
        while waiting:
            scope = waiting.pop()
            yield scope
            waiting += [one for one in (scope.parent, scope.owner) if one is not None]

    def reached(self, of: Callable[[Scope], Collection[Scope]]) -> list[Scope]:
        """Return this scope and, nearest first, all that ``of`` leads to: bases, or namespaces of directives."""
        found = {id(self): self}
        waiting = [self]
        for scope in waiting:
            new = [one for one in of(scope) if id(one) not in found]
            found |= {id(one): one for one in new}
            waiting += new
        return list(found.values())

    def visible(self, name: str) -> list[Declaration]:
        """Return what the scope, its bases and the namespaces of its directives declare of a name, nearest first."""
        among = self.reached(lambda one: (*one.directives, *one.bases))
        return [declared for one in among for declared in one.declared.get(name, ())]

    def find(self, path: tuple[str, ...]) -> Scope | None:
        """Return the namespace, class or enumeration that a path means here; None if no text declares it."""
        found: Scope | None = None
        for index, name in enumerate(path):
            scopes = self.outward() if index == 0 else [found] if found else []
            among = (one for scope in scopes for one in scope.reached(lambda one: (*one.directives, *one.bases)))
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

    text: ScopedText
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


@dataclass(eq=False)
class _Span:
    """The bytes of a node that has a scope. around: the next larger span."""

    start: int
    end: int
    scope: Scope
    around: _Span | None = None

    def is_in(self, node: Node) -> bool:
        """Whether it is the node's own span, or one inside it."""
        return node.start_byte <= self.start and self.end <= node.end_byte


class Function(NamedTuple):
    """A function's definition. home: the namespace or class that it belongs to."""

    name: str
    node: Node
    home: Scope


class ScopedText:
    """A parsed text with its scopes. ``inside``: the scope of a node's children, by the node's id.

    root: the global scope, with the declarations that are known before. It gets those of this text.
    """

    def __init__(self, syntax: Syntax, root: Scope, index: int = -1, *, functions: bool = True) -> None:
        self.syntax, self.root, self.index = syntax, root, index
        self.inside: dict[int, Scope] = {syntax.root.id: root}
        self.declared: list[Declaration] = []
        self.functions: dict[int, Function] = {}  # by the definition's id
        self.names_at: set[int] = set()  # where names start that are declared
        self.unread_spans: list[tuple[int, int]] = []  # of what declares and uses nothing
        self.spans: list[_Span] = []
        self._reader = _Reader(self, functions)
        self._reader.read()

    def read_functions(self) -> None:
        """Read what functions declare, if it was left out. It takes more time than all else."""
        self._reader.read_functions()
        for name in ("_innermost", "_starts", "_unread_spans"):
            self.__dict__.pop(name, None)

    def is_read(self, node: Node) -> bool:
        """Return whether a node is not in an attribute or a branch that ``#if 0`` leaves out."""
        at = bisect_right(self._unread_spans, (node.start_byte, math.inf)) - 1
        return at < 0 or self._unread_spans[at][1] < node.end_byte

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
            before = math.inf if scope.kind != "block" else node.start_byte
            yield scope, [one for one in scope.visible(name) if one.start <= before]

    def meant(self, node: Node) -> list[Declaration] | None:
        """Return what a name means; nothing if the text does not declare it, None if that is not known.

        Of a member behind ``.`` or ``->`` it is not known, except behind ``this``.
        """
        name, (whole, path) = self.syntax.text(node), qualification(node, self.syntax.text)
        if path is not None:
            found = self.scope_at(node).find(path) if path else self.root
            return None if found is None else found.visible(name) or ([] if found.kind == "namespace" else None)
        around = whole.parent
        if node.type == "field_identifier" and around is not None and around.type == "field_expression":
            of = around.child_by_field_name("argument")
            if of is None or of.type != "this":
                return None
            return next((here for scope, here in self.candidates(name, node) if scope.kind == "class"), []) or None
        return self.meant_by(name, node)

    def meant_by(self, name: str, node: Node) -> list[Declaration] | None:
        """Return what a name without qualifiers means at a node, as ``meant``."""
        for scope, here in self.candidates(name, node):
            if here or scope.is_open:
                return here or None
        return []

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
            return [one for one in self.declared if one.name == name and one.place.scope.kind == "class"]
        kinds = [one.node.child_by_field_name("type") for one in objects or () if one.node is not None]
        if len(kinds) != 1 or kinds[0] is None or objects is None:
            return []
        found = objects[0].place.scope.find(path_of(kinds[0], self.syntax.text))
        return found.visible(name) if found is not None else []

    @functools.cached_property
    def _unread_spans(self) -> list[tuple[int, float]]:
        merged: list[tuple[int, float]] = []
        for start, end in sorted(self.unread_spans):
            if not merged or merged[-1][1] < end:
                merged.append((start, end))
        return merged

    @functools.cached_property
    def _innermost(self) -> list[_Span]:
        """The spans of scopes by their starts. The one that contains a place is the last before it, or around that."""
        ordered = sorted(self.spans, key=lambda one: (one.start, -one.end))
        open_spans: list[_Span] = []
        for one in ordered:
            while open_spans and open_spans[-1].end <= one.start:
                open_spans.pop()
            one.around = open_spans[-1] if open_spans else None
            open_spans.append(one)
        return ordered

    @functools.cached_property
    def _starts(self) -> list[int]:
        return [one.start for one in self._innermost]

    @functools.cached_property
    def _packs(self) -> list[tuple[int, int]]:
        return list(_packings(self.syntax))

    def pack_at(self, at: int) -> int | None:
        """Return the largest alignment that ``#pragma pack`` leaves at an offset; None for any. Raises Unreadable."""
        found = [value for start, value in self._packs if start < at]
        if found and found[-1] < 0:
            raise Unreadable("#pragma pack")
        return found[-1] or None if found else None


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
    named = (one for text in texts for one in text.declared if one.name == name[-1] and one.node)
    kept = (one for one in named if (one.kind == "type" if types else one.is_constant))
    return [one for one in kept if one.path[-len(name) :] == name]


class _Reader:
    """Visits every node once, outer before inner, in text order, without recursion: nesting has no limit.

    A visit returns the scope of the node's children; None to leave them out.
    """

    def __init__(self, of: ScopedText, functions: bool) -> None:
        self.of, self.text, self.functions = of, of.syntax.text, functions
        self._defined: set[int] = set()  # where the declarators of function definitions start
        self._unread: dict[tuple[str, ...], Scope] = {}  # classes by their paths
        self._stack: list[tuple[Node, Scope]] = [(of.syntax.root, of.root)]
        self._later: list[tuple[Node, Scope]] = []  # the bodies of functions
        self._visits: dict[str, Callable[[Node, Scope], Scope | None]] = {
            **dict.fromkeys(CLASSES, self._class),
            **dict.fromkeys(_BLOCKS, lambda _node, scope: Scope("block", scope)),
            **dict.fromkeys(_DECLARATIONS, self._declaration),
            **dict.fromkeys(_UNREAD, self._leave_out),
            **dict.fromkeys(("alias_declaration", "concept_definition"), self._type),
            **dict.fromkeys(
                ("type_parameter_declaration", "variadic_type_parameter_declaration"), self._type_parameter
            ),
            **dict.fromkeys(("preproc_def", "preproc_function_def"), self._macro),
            "enum_specifier": self._enum,
            "for_range_loop": self._range_loop,
            "friend_declaration": self._friend,
            "function_declarator": self._prototype,
            "function_definition": self._function,
            "lambda_capture_initializer": self._capture,
            "namespace_alias_definition": self._alias,
            "namespace_definition": self._namespace,
            "optional_type_parameter_declaration": self._optional_type,
            "preproc_if": self._condition,
            "template_declaration": lambda _node, scope: Scope("template", scope),
            "using_declaration": self._using,
        }

    def read(self) -> None:
        """Visit the nodes."""
        while self._stack:
            node, scope = self._stack.pop()
            if node.is_error or node.is_missing:
                continue
            visit = self._visits.get(node.type)
            inner = visit(node, scope) if visit else scope
            if inner is None:
                continue
            if inner is not scope:
                self.of.inside[node.id] = inner
                self.of.spans.append(_Span(node.start_byte, node.end_byte, inner))
            children = node.named_children
            if node.type == "function_definition" and not self.functions:
                self._later += [(one, inner) for one in children if one.type == "compound_statement"]
                children = [one for one in children if one.type != "compound_statement"]
            self._stack += [(child, inner) for child in reversed(children)]

    def read_functions(self) -> None:
        """Visit the bodies of functions that were left out."""
        self._stack, self._later, self.functions = self._later[::-1], [], True
        self.read()

    # --- namespaces --------------------------------------------------------------------------------------------------

    def _namespace(self, node: Node, scope: Scope) -> Scope:
        made = scope
        for part in path_of(node.child_by_field_name("name"), self.text):  # none: it is visible around
            made = made.nested.setdefault(part, Scope("namespace", made, name=part))
        if made is not scope and any(child.type == "inline" for child in node.children):
            scope.directives.append(made)
        return made

    def _alias(self, node: Node, scope: Scope) -> None:
        name, *path = path_of(node, self.text)
        found = scope.find(tuple(path))
        if found is not None:
            scope.nested[name] = found

    def _using(self, node: Node, scope: Scope) -> Scope:
        words = {child.type for child in node.children}
        named = next((child for child in node.named_children if child.type != "comment"), None)
        if named is None:
            return scope
        if words & {"namespace", "enum"}:
            found = scope.find(path_of(named, self.text))
            if found is not None and "namespace" in words:
                scope.directives.append(found)
            elif found is not None:
                self._copy(found, list(found.declared), scope)
        elif named.type == "qualified_identifier":
            path, name = parts_of(named, self.text)
            found = scope.find(path) if path else self.of.root
            if found is None:  # a member of a base that the text does not declare
                self._declare(name, "value", scope)
                self.of.names_at.discard(name.start_byte)
            else:
                self._copy(found, [self.text(name)], scope)
        return scope

    @staticmethod
    def _copy(found: Scope, names: list[str], scope: Scope) -> None:
        if found is scope:
            return
        for name in names:
            scope.declared.setdefault(name, []).extend(found.declared.get(name, ()))
            if name in found.nested:
                scope.nested[name] = found.nested[name]

    # --- types -------------------------------------------------------------------------------------------------------

    def _class(self, node: Node, scope: Scope) -> Scope:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            # The members of an unnamed union or structure belong to the scope around, unless it is a variable's type.
            above = node.parent
            named = above is not None and above.child_by_field_name("declarator") is not None
            return Scope("class", scope) if named else scope
        leaf = leaf_of(name)
        if body is None:  # `struct Sum;`, or `struct Sum x`, which declares it too
            self._declare(leaf, "type", scope.home)
            return scope
        made = Scope("class", scope, name=self.text(leaf))
        bases = next((one for one in node.named_children if one.type == "base_class_clause"), None)
        for base in bases.named_children if bases else ():
            found = scope.find(path_of(base, self.text))
            if found is not None:
                made.bases.append(found)
            elif base.type.endswith(("identifier", "type")):
                made.is_open = True
        if name.type != "qualified_identifier":
            self._declare(leaf, "type", scope.home, node)
            scope.home.nested[self.text(leaf)] = made
        self._declare(leaf, "type", made)
        return made

    def _enum(self, node: Node, scope: Scope) -> Scope:
        made, home = Scope("class", scope), scope.home
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None:
            leaf = leaf_of(name)
            made.name = self.text(leaf)
            self._declare(leaf, "type", home, node if body else None)
            if body is not None:
                home.nested[made.name] = made
        scoped = any(child.type in ("class", "struct") for child in node.children)
        for one in body.named_children if body else ():
            named = one.child_by_field_name("name") if one.type == "enumerator" else None
            if named is not None:
                self._declare(named, "value", made, node)
                if not scoped:
                    self._declare(named, "value", home, node)
        return made

    def _type(self, node: Node, scope: Scope) -> Scope:
        name = node.child_by_field_name("name")
        if name is not None:
            self._declare(name, "type", scope.home, node)
        return scope

    def _optional_type(self, node: Node, scope: Scope) -> Scope:
        name = node.child_by_field_name("name")
        if name is not None:
            self._declare(name, "type", scope)
        return scope

    def _type_parameter(self, node: Node, scope: Scope) -> Scope:
        for child in node.named_children:
            if child.type == "type_identifier":
                self._declare(child, "type", scope)
        return scope

    def _friend(self, node: Node, scope: Scope) -> Scope:
        for child in node.named_children:
            if child.type == "type_identifier":
                self._declare(child, "type", scope.namespace)
        return scope.namespace

    # --- functions and variables -------------------------------------------------------------------------------------

    def _function(self, node: Node, scope: Scope) -> Scope:
        owner = None
        for name, function in declared(node.child_by_field_name("declarator")):
            if function is not None:
                self._defined.add(function.start_byte)
            path, leaf = parts_of(name, self.text)
            if path:
                self.of.names_at.add(leaf.start_byte)
                owner = scope.find(path) or self._unread_class(path, scope)
            elif leaf.type in NAMES:
                self._declare_one(name, function, node, scope)
            self.of.functions[node.id] = Function(self.text(leaf), node, owner or scope.home)
        return Scope("block", scope, owner)

    def _unread_class(self, path: tuple[str, ...], scope: Scope) -> Scope:
        """Return the scope of a class that the text does not declare, though it defines functions of it."""
        return self._unread.setdefault(path, Scope("class", scope.namespace, name=path[-1], is_open=True))

    def _prototype(self, node: Node, scope: Scope) -> Scope:
        return scope if node.start_byte in self._defined else Scope("block", scope)

    def _declaration(self, node: Node, scope: Scope) -> Scope:
        for declarator in node.children_by_field_name("declarator"):
            for name, function in declared(declarator):
                path, leaf = parts_of(name, self.text)
                if path:  # of a member that its class has declared
                    self.of.names_at.add(leaf.start_byte)
                elif leaf.type in NAMES:
                    self._declare_one(name, function, node, scope, declarator)
        return scope

    def _range_loop(self, node: Node, scope: Scope) -> Scope:
        return self._declaration(node, Scope("block", scope))

    def _capture(self, node: Node, scope: Scope) -> Scope:
        left = node.child_by_field_name("left")
        if left is not None:
            self._declare(left, "value", scope)
        return scope

    def _declare_one(
        self, name: Node, function: Node | None, node: Node, scope: Scope, declarator: Node | None = None
    ) -> None:
        # A template's parameter stays in the scope of the template, and a template of variables does not.
        home = scope if node.type in PARAMETERS else scope.home
        # In a function, ``T name(a, b);`` is a variable, though the parser takes it for a function.
        is_value = function is None or home.kind == "block"
        kind = "type" if node.type == "type_definition" else "value" if is_value else "function"
        template = kind == "function" and (home is not scope or _deduces(function))
        takes = arity(function, self.text) if kind == "function" else (0, math.inf)
        self._declare(leaf_of(name), kind, home, node, declarator, template, *takes)

    def _declare(self, name: Node, kind: str, scope: Scope, *more: Any) -> None:
        self.of.names_at.add(name.start_byte)
        made = Declaration(self.text(name), kind, NamePlace(self.of, scope), name, *more)
        self.of.declared.append(made)
        scope.declared.setdefault(made.name, []).append(made)

    def _leave_out(self, node: Node, _scope: Scope) -> None:
        self.of.unread_spans.append((node.start_byte, node.end_byte))

    # --- directives, in a text that was not preprocessed -------------------------------------------------------------

    def _condition(self, node: Node, scope: Scope) -> Scope | None:
        if not self.of.syntax.is_off(node):
            return scope
        other = node.child_by_field_name("alternative")
        self.of.unread_spans += [(one.start_byte, one.end_byte) for one in node.named_children if one != other]
        self._stack += [(other, scope)] if other else []
        return None

    def _macro(self, node: Node, _scope: Scope) -> None:
        name = node.child_by_field_name("name")
        self.of.unread_spans += [(one.start_byte, one.end_byte) for one in node.named_children]
        if name is not None:
            made = Declaration(self.text(name), "macro", NamePlace(self.of, self.of.root), None)
            self.of.root.declared.setdefault(made.name, []).append(made)


def _deduces(function: Node) -> bool:
    """Whether a parameter's type is ``auto``, which makes a template."""
    types = (one.child_by_field_name("type") for one in parameters(function))
    return any(one is not None and one.type == "placeholder_type_specifier" for one in types)


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
