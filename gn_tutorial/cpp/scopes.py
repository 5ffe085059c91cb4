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
from typing import Any

from gn_tutorial.cpp.directives import applied, definitions
from gn_tutorial.cpp.integers import Unreadable
from gn_tutorial.cpp.syntax import Node, Spans, Syntax, parse

STRUCTS = ("struct_specifier", "class_specifier")
CLASSES = (*STRUCTS, "union_specifier")
SPECIFIERS = (*CLASSES, "enum_specifier")
NAMES = ("identifier", "type_identifier", "field_identifier")
_PARAMETER = "parameter_declaration"
_BLOCKS = (
    "compound_statement", "for_statement", "if_statement", "while_statement", "switch_statement", "catch_clause",
    "lambda_expression", "requires_expression",
)  # fmt: skip
_DECLARATIONS = (
    "declaration", "field_declaration", "type_definition", "parameter_declaration", "optional_parameter_declaration",
    "variadic_parameter_declaration",
)  # fmt: skip
_OF_OTHER_TYPES = ("pointer_declarator", "reference_declarator", "array_declarator")
_UNREAD = ("attribute_declaration", "attribute_specifier", "destructor_name")


@dataclass(eq=False)
class Scope:
    """One scope. kind: namespace, class (or enum), template (its parameters) or block.

    nested: its namespaces, classes and enumerations, with aliases. directives: the namespaces of its using-directives.
    owner: the class or namespace of a function that is defined outside of it.
    """

    kind: str
    parent: Scope | None = None
    owner: Scope | None = None
    name: str = ""
    declared: dict[str, list[Declaration]] = field(default_factory=dict)
    nested: dict[str, Scope] = field(default_factory=dict)
    directives: list[Scope] = field(default_factory=list)
    bases: list[Scope] = field(default_factory=list)

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
    """One declaration of a name. start: where the name stands, -1 for a macro. kind: type, function, value or macro.

    node: the specifier of a struct or an enum (of an enumerator too), else the whole declaration, which has the
    ``declarator``; None for a type without its body. least, most: the number of arguments that a function takes.
    """

    name: str
    kind: str
    place: NamePlace
    start: int
    node: Node | None = None
    declarator: Node | None = None
    template: bool = False
    least: int = 0
    most: float = math.inf

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
        plain = self.declarator.type != "array_declarator" and declared_name(self.declarator) is not None
        return plain and not words.isdisjoint(("const", "constexpr"))

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


class ScopedText:
    """A parsed text with its scopes. ``inside``: the scope of a node's children, by the node's id.

    root: the global scope, with the declarations that are known before. It gets those of this text.
    """

    def __init__(self, syntax: Syntax, root: Scope, index: int = -1, *, functions: bool = True) -> None:
        self.syntax, self.root, self.index = syntax, root, index
        self.inside: dict[int, Scope] = {syntax.root.id: root}
        self.declared: list[Declaration] = []
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
        return not self._unread_spans.hold(node)

    def scope_at(self, node: Node) -> Scope:
        """Return the scope in which a node stands."""
        at = bisect_right(self._starts, node.start_byte) - 1
        span = self._innermost[at] if at >= 0 else None
        while span is not None and (span.end <= node.start_byte or span.is_in(node)):
            span = span.around
        return span.scope if span else self.root

    @functools.cached_property
    def _unread_spans(self) -> Spans:
        return Spans(self.unread_spans)

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
        for name, function in _declared(node.child_by_field_name("declarator")):
            if function is not None:
                self._defined.add(function.start_byte)
            if name.type == "qualified_identifier":
                path, leaf = parts_of(name, self.text)
                self.of.names_at.add(leaf.start_byte)
                owner = scope.find(path) if path else None
            else:
                self._declare_one(name, function, node, scope)
        return Scope("block", scope, owner)

    def _prototype(self, node: Node, scope: Scope) -> Scope:
        return scope if node.start_byte in self._defined else Scope("block", scope)

    def _declaration(self, node: Node, scope: Scope) -> Scope:
        for declarator in node.children_by_field_name("declarator"):
            for name, function in _declared(declarator):
                if name.type == "qualified_identifier":  # of a member that its class has declared
                    self.of.names_at.add(parts_of(name, self.text)[1].start_byte)
                else:
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
        home = scope if node.type.endswith(_PARAMETER) else scope.home
        kind = "type" if node.type == "type_definition" else "value" if function is None else "function"
        template = kind == "function" and (home is not scope or _deduces(function))
        arity = _arity(function, self.text) if kind == "function" else (0, math.inf)
        self._declare(leaf_of(name), kind, home, node, declarator, template, *arity)

    def _declare(self, name: Node, kind: str, scope: Scope, *more: Any) -> None:
        self.of.names_at.add(name.start_byte)
        made = Declaration(self.text(name), kind, NamePlace(self.of, scope), name.start_byte, *more)
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
            made = Declaration(self.text(name), "macro", NamePlace(self.of, self.of.root), -1)
            self.of.root.declared.setdefault(made.name, []).append(made)


def _declared(declarator: Node | None) -> Iterator[tuple[Node, Node | None]]:
    """Yield the names that a declarator declares, each with its function_declarator if it is a function's."""
    function: Node | None = None
    while declarator is not None:
        kind = declarator.type
        if kind in NAMES or kind in ("qualified_identifier", "template_function"):
            yield declarator, function
            return
        if kind == "structured_binding_declarator":
            yield from ((one, None) for one in declarator.named_children if one.type == "identifier")
            return
        function = declarator if kind == "function_declarator" else None if kind in _OF_OTHER_TYPES else function
        inner = declarator.child_by_field_name("declarator")
        declarator = inner or next((one for one in declarator.named_children if _is_declarator(one)), None)


def _is_declarator(node: Node) -> bool:
    return node.type in NAMES or node.type.endswith("declarator") or node.type == "qualified_identifier"


def _arity(function: Node, text: Callable[[Node], str]) -> tuple[int, float]:
    """Return the least and the largest number of arguments that a function takes."""
    parameters = function.child_by_field_name("parameters")
    least, most = 0, 0.0
    for one in parameters.children if parameters else ():
        if one.type == _PARAMETER and text(one).strip() != "void":
            least, most = least + 1, most + 1
        elif one.type == "optional_parameter_declaration":
            most += 1
        elif one.type in ("variadic_parameter_declaration", "..."):
            most = math.inf
    return least, most


def _deduces(function: Node) -> bool:
    """Whether a parameter's type is ``auto``, which makes a template."""
    parameters = function.child_by_field_name("parameters")
    types = (one.child_by_field_name("type") for one in (parameters.named_children if parameters else ()))
    return any(one is not None and one.type == "placeholder_type_specifier" for one in types)


# --- names -----------------------------------------------------------------------------------------------------------


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


def leaf_of(node: Node) -> Node:
    """Return the name itself of a name with template arguments or a path."""
    while (name := node.child_by_field_name("name")) is not None:
        node = name
    return node


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
