"""Finds the parts of a source that an entry runs on the device, and what the rules of ``rules/`` ask of them.

A part is a function, a class without its functions, or a declaration outside of functions. A name leads to what it
means by the scopes. A name that no scope explains (a template's base may declare it) leads to all parts of that name.
A member counts only if its class is reached too, so that host classes of the same file stay out.

A clean source is never asked what its names mean: rules look at nodes first, and scopes are read for what they suspect.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from gn_tutorial.cpp.calls import argument_count
from gn_tutorial.cpp.integers import Number, Unreadable, evaluate
from gn_tutorial.cpp.scopes import CLASSES, NAMES, Declaration, Scope, ScopedText, leaf_of, parts_of, path_of
from gn_tutorial.cpp.syntax import Node, Spans, Syntax, parse
from gn_tutorial.cpp.tokens import without_comments

#: What makes a function one of the device, or of both sides.
DEVICE_WORDS = frozenset(("__aicore__", "__global__", "__host_aicore__", "__simd_vf__", "__simd_callee__",
                          "__simt_vf__", "__simt_callee__", "__callee__", "constexpr", "consteval"))  # fmt: skip
#: Around declarations that are not in a function.
_AROUND = ("translation_unit", "linkage_specification", "namespace_definition", "declaration_list",
           "template_declaration", "field_declaration_list", "preproc_if", "preproc_ifdef", "preproc_else")  # fmt: skip
_ALIASES = ("alias_declaration", "type_definition", "using_declaration", "concept_definition")
_DECLARED = ("declaration", "field_declaration")
#: Around a name that belongs to it.
_OF_NAMES = ("qualified_identifier", "template_function", "template_type", "template_method", "dependent_name")
#: Members that run without their name being written have this name.
_IMPLICIT = "operator"
#: The types of nodes that rules ask for. They are found in one walk.
_ASKED = (
    "array_declarator", "assignment_expression", "binary_expression", "call_expression", "cast_expression",
    "co_await_expression", "co_return_statement", "co_yield_statement", "concept_definition", "declaration",
    "delete_expression", "field_declaration", "init_declarator", "lambda_specifier", "new_expression",
    "placeholder_type_specifier", "primitive_type", "requires_clause", "requires_expression", "storage_class_specifier",
    "throw_statement", "try_statement", "type_qualifier", "virtual",
)  # fmt: skip
_LOOPS = ("for_statement", "for_range_loop", "while_statement", "do_statement", "goto_statement", "lambda_expression")


@dataclass(frozen=True)
class SourceFinding:
    """An id of the catalogue, the line in the text, and the facts of its sentences. at: the node that decides."""

    id: str
    line: int
    fields: dict[str, str]
    at: Node


@dataclass(eq=False)
class CodePart:
    """One part of a source. kind: function, class, variable, alias or host (a host's function).

    start, body: offsets; body 0 for none. names: several for ``int a, b;``. words: those of the head, such as
    ``__aicore__``, inline, static, constexpr.
    """

    kind: str
    names: tuple[str, ...]
    node: Node
    start: int
    body: int = 0
    owner: str = ""  # the class that it is a member of
    declarator: Node | None = None  # of a function
    words: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The name, the first of several."""
        return self.names[0] if self.names else ""

    @property
    def is_entry(self) -> bool:
        """Whether it is a kernel's entry point."""
        return self.kind == "function" and "__global__" in self.words

    @property
    def is_device(self) -> bool:
        """Whether its qualifiers make it a function of the device."""
        return not self.words.isdisjoint(DEVICE_WORDS)


class DeviceCode:
    """The parts of a text, and for each entry those that it reaches."""

    def __init__(self, syntax: Syntax) -> None:
        self.syntax, self.text = syntax, syntax.text
        self._whole = syntax.text(syntax.root)
        self.parts: list[CodePart] = []
        self.namespaces: set[str] = set()
        self.prototypes: dict[str, list[frozenset[str]]] = {}  # the words of functions that are only declared
        self._read()
        self.named: dict[str, list[CodePart]] = {}
        for part in (one for one in self.parts if one.kind != "host"):
            for name in part.names:
                self.named.setdefault(name, []).append(part)
        self.nodes = syntax.by_type(_ASKED)
        self._places = self._boundaries()
        self._starts = [start for start, _ in self._places]

    # --- parts -------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Walk through what is not in a function."""
        waiting: list[tuple[Node, int, str]] = [(self.syntax.root, 0, "")]
        while waiting:
            around, before, owner = waiting.pop()
            inner = []
            for child in around.children:
                if child.is_error or child.is_missing:
                    before = child.end_byte
                    continue
                if child.type in _AROUND:
                    if child.type == "namespace_definition":
                        self.namespaces.update(path_of(child.child_by_field_name("name"), self.text))
                    inner.append((child, before, owner))
                elif child.is_named:
                    inner += self._declaration(child, before, owner)
                if not (around.type == "linkage_specification" and child.type == "string_literal"):
                    before = child.end_byte if around.type != "template_declaration" else before
            waiting += reversed(inner)
        self.parts.sort(key=lambda part: (part.start, -part.node.end_byte))

    def _declaration(self, node: Node, before: int, owner: str) -> Iterator[tuple[Node, int, str]]:
        """Add the part of a node; yield the body of a class in it."""
        if node.type == "function_definition":
            self._function(node, before, owner)
        elif node.type in CLASSES:
            yield from self._class(node, before, owner)
        elif node.type in (*_DECLARED, "type_definition"):
            type_node = node.child_by_field_name("type")
            if type_node is not None and type_node.type in CLASSES:
                yield from self._class(type_node, before, owner)
                before = type_node.end_byte
            self._variables(node, before, owner)
        elif node.type in _ALIASES:
            name = node.child_by_field_name("name") or next(iter(node.named_children[::-1]), None)
            words = self._words(before, node.end_byte)
            if name is not None and not (node.type == "using_declaration" and words & {"namespace", "enum"}):
                self._add(CodePart("alias", (self.text(leaf_of(name)),), node, before, owner=owner))

    def _function(self, node: Node, before: int, owner: str) -> None:
        declarator, name, of = function_name(node.child_by_field_name("declarator"), self.text)
        body = node.child_by_field_name("body") or next(
            (one for one in node.named_children if one.type in ("compound_statement", "try_statement")), None
        )
        if declarator is None or body is None:  # `= default`
            return
        params = declarator.child_by_field_name("parameters")
        head = self._words(before, params.start_byte if params else body.start_byte)
        behind = self._words(params.end_byte, body.start_byte) if params else frozenset()
        listed = next((one for one in node.named_children if one.type == "field_initializer_list"), None)
        begin = listed.start_byte if listed else body.start_byte
        words = head | (behind if listed is None else self._words(params.end_byte, begin) if params else frozenset())
        self._add(CodePart("function", (name,), node, before, begin, of or owner, declarator, words))

    def _class(self, node: Node, before: int, owner: str) -> Iterator[tuple[Node, int, str]]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if body is None:
            return
        tag = self.text(leaf_of(name)) if name else ""
        self._add(CodePart("class", (tag,), node, before, body.start_byte, owner, words=frozenset((node.type,))))
        yield body, body.start_byte, tag

    def _variables(self, node: Node, before: int, owner: str) -> None:
        kind = "alias" if node.type == "type_definition" else "variable"
        declarators, names = node.children_by_field_name("declarator"), []
        for one in declarators:
            declarator, name, _ = function_name(one, self.text)
            if declarator is not None and kind == "variable":
                self.prototypes.setdefault(name, []).append(self._words(before, node.end_byte))
            elif (leaf := variable_name(one)) is not None:
                names.append(self.text(leaf))
        if names:
            words = self._words(before, declarators[0].start_byte)
            self._add(CodePart(kind, tuple(names), node, before, owner=owner, words=words))

    def _add(self, part: CodePart) -> None:
        part.kind = "host" if "__host__" in part.words else part.kind
        self.parts.append(part)

    def _words(self, start: int, end: int) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", without_comments(self.syntax.between(start, end))))

    def _boundaries(self) -> list[tuple[int, CodePart | None]]:
        """Return where a part begins or goes on, in text order."""
        found: list[tuple[int, CodePart | None]] = []
        stack: list[CodePart] = []

        def close(until: float) -> None:
            while stack and stack[-1].node.end_byte <= until:
                ended = stack.pop()
                found.append((ended.node.end_byte, stack[-1] if stack else None))

        for part in self.parts:
            close(part.start)
            found.append((part.start, part))
            stack.append(part)
        close(float("inf"))
        return found

    def part_of(self, node: Node) -> CodePart | None:
        """Return the innermost part in which a node stands."""
        at = bisect_right(self._starts, node.start_byte) - 1
        return self._places[at][1] if at >= 0 else None

    def function_of(self, node: Node) -> CodePart | None:
        """Return the function that may run in whose list of initialisers or body a node stands."""
        part = self.part_of(node)
        inside = part is not None and part.kind == "function" and node.start_byte >= part.body
        return part if inside and part in self.may_run else None

    def functions(self, name: str) -> list[CodePart]:
        """Return all functions of this name that have a body."""
        return [part for part in self.named.get(name, ()) if part.kind == "function"]

    def head(self, node: Node) -> str:
        """Return what stands before a node in the node around it and behind the node before: CANN's words."""
        before, around = node.prev_sibling, node.parent
        start = before.end_byte if before else around.start_byte if around else 0
        return self.syntax.between(start, node.start_byte)

    def has(self, *parts: str) -> bool:
        """Return whether the text has one of these words; it may stand inside another one."""
        return any(one in self._whole for one in parts)

    # --- names -------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def names(self) -> dict[str, list[Node]]:
        """All names of the text that do not stand in an error, each with its places in text order."""
        found: dict[str, list[Node]] = {}
        for nodes in self.syntax.by_type((*NAMES, "namespace_identifier")).values():
            for node in nodes:
                found.setdefault(self.text(node), []).append(node)
        for places in found.values():
            if len(places) > 1:
                places.sort(key=_start)
        return found

    def call_of(self, name: Node) -> Node | None:
        """Return the call whose function a name is, with what qualifies it; None if it is none's."""
        whole, _ = qualification(name, self.text)
        around = whole.parent
        if around is not None and around.type == "field_expression" and around.child_by_field_name("field") == whole:
            whole, around = around, around.parent
        while around is not None and around.type == "parenthesized_expression":
            whole, around = around, around.parent
        called = around is not None and around.type == "call_expression"
        return around if called and around.child_by_field_name("function") == whole else None  # type: ignore[union-attr]

    @functools.cached_property
    def assigned(self) -> frozenset[int]:
        """Where the names start to which ``=`` gives a value, with ``this->`` too."""
        found = set()
        for node in self.nodes["assignment_expression"]:
            left, operator = node.child_by_field_name("left"), node.child_by_field_name("operator")
            if left is not None and left.type == "field_expression":
                of = left.child_by_field_name("argument")
                left = left.child_by_field_name("field") if of is not None and of.type == "this" else None
            if left is not None and left.type in NAMES and operator is not None and operator.type == "=":
                found.add(left.start_byte)
        return frozenset(found)

    @functools.cached_property
    def loops(self) -> dict[str, list[Node]]:
        """What may run again, or later than its place says, by type."""
        return self.syntax.by_type(_LOOPS)

    @functools.cached_property
    def own_calls(self) -> list[tuple[CodePart, str, Node]]:
        """The calls in functions by a name that a function of the text has: the function, the name and the call.

        A call through an object may mean another class's function, and one with template arguments another function.
        """
        found = []
        for node in self.nodes["call_expression"]:
            name = self.called_name(node)
            part = self.function_of(node) if name is not None and self.functions(self.text(name)) else None
            if name is not None and part is not None:
                found.append((part, self.text(name), node))
        return found

    @staticmethod
    def called_name(call: Node) -> Node | None:
        """Return the name in a call ``name()``, ``a::name()`` or ``this->name()``."""
        function = call.child_by_field_name("function")
        if function is not None and function.type == "field_expression":
            of = function.child_by_field_name("argument")
            function = function.child_by_field_name("field") if of is not None and of.type == "this" else None
        while function is not None and function.type == "qualified_identifier":
            function = function.child_by_field_name("name")
        return function if function is not None and function.type in NAMES else None

    def callee(self, call: Node) -> CodePart | None:
        """Return the function that a call means; None unless the scopes and the number of arguments tell."""
        name, given = self.called_name(call), argument_count(call)
        declared = self.meant(name) if name is not None else None
        if name is None or not declared or given is None or any(one.kind != "function" for one in declared):
            return None
        homes = {one.place.scope.path for one in declared}
        found = [part for part in self.functions(self.text(name)) if self.home(part) in homes]
        fits = any(one.takes(given, instantiated=False) for one in declared)
        return found[0] if len(found) == 1 and len(homes) == 1 and fits else None

    def is_of_std(self, name: Node) -> bool:
        """Return whether a name is written as ``std::name``."""
        return qualification(name, self.text)[1] == ("std",)

    def is_of_host(self, name: Node) -> bool:
        """Return whether an unqualified name, or ``::name``, is of a header and not of this text."""
        return name.type != "field_identifier" and not qualification(name, self.text)[1] and self.meant(name) == []

    @functools.cached_property
    def unread(self) -> frozenset[str]:
        """The words inside errors: what they do is not known."""
        return frozenset(re.findall(r"\w+", " ".join(self.text(node) for node in self.syntax.errors())))

    @functools.cached_property
    def scoped(self) -> ScopedText:
        """The text with its scopes."""
        return ScopedText(self.syntax, Scope("namespace"))

    @functools.cached_property
    def _with_unread_bases(self) -> set[Scope]:
        """The classes with a base that the text does not declare, which may declare anything."""
        found = set()
        for part in self.parts:
            clauses = [one for one in part.node.named_children if one.type == "base_class_clause"]
            bases = [
                base for one in clauses for base in one.named_children if base.type.endswith(("identifier", "type"))
            ]
            scope = self.scoped.inside.get(part.node.id)
            if part.kind == "class" and scope is not None and len(bases) > len(scope.bases):
                found.add(scope)
        return found

    def meant(self, node: Node) -> list[Declaration] | None:
        """Return what a name means; nothing if the text does not declare it, None if that is not known.

        Of a member behind ``.`` or ``->`` it is not known, except behind ``this``.
        """
        name, scope, (whole, path) = self.text(node), self.scoped.scope_at(node), qualification(node, self.text)
        if path is not None:
            found = scope.find(path) if path else self.scoped.root
            return None if found is None else list(found.visible(name)) or ([] if found.kind == "namespace" else None)
        around = whole.parent
        if node.type == "field_identifier" and around is not None and around.type == "field_expression":
            of = around.child_by_field_name("argument")
            if of is None or of.type != "this":
                return None
            return next((list(one.visible(name)) for one in scope.outward() if one.kind == "class"), []) or None
        return self.meant_by(name, node)

    def meant_by(self, name: str, node: Node) -> list[Declaration] | None:
        """Return what a name without qualifiers means at a node, as ``meant``."""
        for one in self.scoped.scope_at(node).outward():
            local = one.kind == "block"
            if found_here := [two for two in one.visible(name) if not local or two.start < node.start_byte]:
                return found_here
            if one in self._with_unread_bases:
                return None
        return []

    def types(self, declared: Iterable[Declaration]) -> list[frozenset[str]]:
        """Return the words of each declaration's type without const; none for what is no plain variable or field."""
        return [self._type_words(one) for one in declared]

    def _type_words(self, one: Declaration) -> frozenset[str]:
        kind = one.node.child_by_field_name("type") if one.node is not None and one.kind == "value" else None
        declarator = one.declarator
        while declarator is not None and declarator.type in ("init_declarator", "reference_declarator"):
            declarator = declarator.child_by_field_name("declarator") or next(iter(declarator.named_children), None)
        plain = declarator is not None and declarator.type in NAMES
        return frozenset(re.findall(r"\w+", self.text(kind))) - {"const"} if kind is not None and plain else frozenset()

    def fields(self, node: Node, *, guess: bool = False) -> list[Declaration]:
        """Return the fields that ``object.field`` or ``object->field`` may mean; nothing if that is not known.

        guess: if a header's macro declares the object, return all fields of the name.
        """
        of, field_name = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if of is None or field_name is None or field_name.type != "field_identifier":
            return []
        name = self.text(field_name)
        if of.type == "this":
            return self.meant(field_name) or []
        objects = (
            self.meant(of) if of.type == "identifier" else self.fields(of) if of.type == "field_expression" else None
        )
        if guess and objects == [] and of.type == "identifier":
            return [one for one in self.scoped.declared if one.name == name and one.place.scope.kind == "class"]
        kinds = [one.node.child_by_field_name("type") for one in objects or () if one.node is not None]
        if len(kinds) != 1 or kinds[0] is None or objects is None:
            return []
        found = objects[0].place.scope.find(path_of(kinds[0], self.text))
        return found.visible(name) if found is not None else []

    def home(self, part: CodePart) -> tuple[str, ...]:
        """Return the names of the scopes around a part."""
        inside = self.scoped.inside.get(part.node.id)
        if part.kind == "function" and inside is not None and inside.owner is not None:
            return inside.owner.path
        return self.scoped.scope_at(part.node).home.path

    def parts_meant(self, node: Node) -> list[CodePart]:
        """Return the parts to which a name leads."""
        among = self.named.get(self.text(node), [])
        found = self.meant(node)
        if not found:
            members = node.type == "field_identifier"
            return [part for part in among if part.owner] if members else among
        homes = {one.place.scope.path for one in found if one.place.scope.kind in ("namespace", "class")}
        return [part for part in among if self.home(part) in homes]

    # --- what runs ---------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of the functions marked ``__global__``, without their namespaces."""
        return tuple(dict.fromkeys(part.name for part in self.parts if part.is_entry))

    def reached_from(self, entry: str) -> set[CodePart]:
        """Return what the entry of this name reaches."""
        return self._closure((entry,), self._leads_to)

    @functools.cached_property
    def may_run(self) -> set[CodePart]:
        """What the entries reach if a name stands for all parts of the name: more than run, never fewer."""
        found: dict[CodePart, dict[str, list[CodePart]]] = {}
        for name, parts in self.named.items():
            for node in self.names.get(name, ()):
                part = self.part_of(node)
                if part is not None:
                    found.setdefault(part, {})[name] = parts
        return self._closure(self.entries, {part: tuple(led.values()) for part, led in found.items()})

    def _closure(
        self, entries: Iterable[str], leads_to: Mapping[CodePart, Collection[Collection[CodePart]]]
    ) -> set[CodePart]:
        """Return the parts that entries reach. leads_to: groups of parts; one that several share counts once."""
        reached: set[CodePart] = set()
        waiting = [part for entry in entries for part in self.named.get(entry, ()) if part.is_entry]
        held: dict[str, list[CodePart]] = {}  # members whose name is used and whose class is not yet reached
        for part in self.parts:
            if self._is_implicit(part):
                held.setdefault(part.owner, []).append(part)
        classes, told = set[str](), set[int]()
        known = {part.name for part in self.parts if part.kind == "class"}
        while waiting:
            part = waiting.pop()
            if part in reached:
                continue
            if part.owner in known and part.owner not in classes:
                held.setdefault(part.owner, []).append(part)
                continue
            reached.add(part)
            if part.kind == "class":
                classes.add(part.name)
                waiting += held.pop(part.name, ())
            for group in leads_to.get(part, ()):
                waiting += group if id(group) not in told else ()
                told.add(id(group))
        return reached

    @functools.cached_property
    def _leads_to(self) -> dict[CodePart, tuple[set[CodePart]]]:
        """The parts that each part's names lead to."""
        found: dict[CodePart, set[CodePart]] = {}
        for name in self.named:
            for node in self.names.get(name, ()):
                part = self.part_of(node)
                if part in self.may_run and node.start_byte not in self.scoped.names_at and self.is_live(node):
                    found.setdefault(part, set()).update(self.parts_meant(node))  # type: ignore[arg-type]
        return {part: (led,) for part, led in found.items()}

    @staticmethod
    def _is_implicit(part: CodePart) -> bool:
        # A host header may have a class of a name that the device has too, such as half.
        return part.kind == "function" and part.is_device and part.name in (part.owner, "~" + part.owner, _IMPLICIT)

    def is_live(self, node: Node) -> bool:
        """Return whether a node is in no branch of an ``if constexpr`` that may be discarded."""
        return not self._discarded.hold(node)

    @functools.cached_property
    def _discarded(self) -> Spans:
        branches: list[Node | None] = []
        for node in self.syntax.by_type(("if_statement",))["if_statement"] if self.has("constexpr") else ():
            if any(one.type == "constexpr" for one in node.children):
                off = {True: ("alternative",), False: ("consequence",)}.get(
                    self._truth(node),  # type: ignore[arg-type]
                    ("consequence", "alternative"),
                )
                branches += [node.child_by_field_name(one) for one in off]
        return Spans((one.start_byte, one.end_byte) for one in branches if one is not None)

    def _truth(self, branch: Node) -> bool | None:
        condition = branch.child_by_field_name("condition")
        value = condition.child_by_field_name("value") if condition is not None else None
        number = self.number(value) if value is not None else None
        return None if number is None else bool(number)

    def only_declarator(self, name: str) -> Node | None:
        """Return the declarator of a constant, if nothing else in the text declares its name; without the scopes."""
        declaring = [one for one in self.names.get(name, ()) if _declares(one)]
        around = declaring[0].parent if len(declaring) == 1 and name not in self.unread else None
        whole = around.parent if around is not None and around.type == "init_declarator" else None
        words = {self.text(one) for one in whole.named_children if one.type == "type_qualifier"} if whole else set()
        return around if words & {"const", "constexpr"} else None

    def number(self, node: Node) -> int | None:
        """Return the value of an integral constant expression; None for anything else."""
        try:
            return evaluate(node, self.syntax, _Constants(self, node)).value
        except Unreadable:
            return None

    def finding(self, name: str, node: Node, /, **fields: str) -> SourceFinding:
        """Return the finding ``language-<name>`` at a node."""
        return SourceFinding(f"language-{name}", self.syntax.line(node), fields, node)


def host_lines(text: str) -> set[int]:
    """Return the lines of a text's functions that are the host's by their qualifiers. Raises ArgumentError."""
    syntax = parse(text)
    functions = (one for one in DeviceCode(syntax).parts if one.kind in ("function", "host") and not one.is_device)
    return {line for one in functions for line in range(syntax.line(one.node), syntax.last_line(one.node) + 1)}


@dataclass(frozen=True)
class _Constants:
    """The names of constant expressions, at a node."""

    code: DeviceCode
    node: Node
    depth: int = 0

    def number(self, name: tuple[str, ...]) -> Number:
        """Return the value of a constant of the text."""
        if len(name) != 1 or self.depth > 20:
            raise Unreadable("::".join(name))
        declared = self.code.only_declarator(name[0])
        if declared is None:
            declared = next(
                (one.declarator for one in self.code.meant_by(name[0], self.node) or () if one.is_constant), None
            )
        value = declared.child_by_field_name("value") if declared is not None else None
        if value is None:
            raise Unreadable(name[0])
        return evaluate(value, self.code.syntax, _Constants(self.code, value, self.depth + 1))

    def measured(self, type_node: Node) -> tuple[int, int, str]:
        """Types are not measured."""
        raise Unreadable(self.code.text(type_node))


def _start(node: Node) -> int:
    return node.start_byte


def _declares(name: Node) -> bool:
    """Whether a name may be declared where it stands."""
    around = name.parent
    if around is None or around.type == "init_declarator":
        return around is None or around.child_by_field_name("declarator") == name
    return around.type.endswith(("declaration", "declarator", "enumerator", "capture_specifier", "type_definition"))


def function_name(declarator: Node | None, text: Callable[[Node], str]) -> tuple[Node | None, str, str]:
    """Return the declarator of a function, its name and the class in front of the name; None for no function."""
    function: Node | None = None
    while declarator is not None:
        kind = declarator.type
        if kind == "operator_cast":
            return declarator, _IMPLICIT, ""
        if kind in ("array_declarator", "init_declarator"):
            return None, "", ""
        if kind == "function_declarator":
            function = declarator
        if kind in ("pointer_declarator", "reference_declarator", "parenthesized_declarator") and function is not None:
            return None, "", ""  # a pointer to a function
        inner = declarator.child_by_field_name("declarator")
        if inner is None and kind.endswith("declarator"):
            inner = next((one for one in declarator.named_children if one.type != "type_qualifier"), None)
        if inner is None:
            break
        declarator = inner
    if function is None or declarator is None:
        return None, "", ""
    path, leaf = parts_of(declarator, text)
    named = text(leaf) if leaf.type != "destructor_name" else "~" + text(leaf).strip("~ ")
    name = _IMPLICIT if leaf.type in ("operator_name", "operator_cast") else named
    return function, name, path[-1] if path else ""


def variable_name(declarator: Node) -> Node | None:
    """Return the name that a declarator of a variable declares."""
    found: Node | None = declarator
    while found is not None and found.type not in NAMES:
        if found.type == "qualified_identifier":
            return leaf_of(found)
        inner = found.child_by_field_name("declarator")
        found = inner or next(
            (one for one in found.named_children if one.type in NAMES or "declarator" in one.type), None
        )
    return found


def qualification(node: Node, text: Callable[[Node], str]) -> tuple[Node, tuple[str, ...] | None]:
    """Return the whole of a qualified name, and the path before the name; None for a path if nothing qualifies it."""
    whole, around, path = node, node.parent, list[str]()
    qualified = False
    while around is not None and around.type in _OF_NAMES:
        scope = around.child_by_field_name("scope")
        if around.type == "qualified_identifier" and scope != whole:
            qualified = True
            path += [text(leaf_of(scope))] if scope is not None else []
        elif around.type.startswith("template") and around.child_by_field_name("name") != whole:
            break
        whole, around = around, around.parent
    return whole, tuple(path[::-1]) if qualified else None
