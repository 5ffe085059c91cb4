"""Finds the parts of a source that an entry runs on the device, and what the rules of ``rules/`` ask of them.

A name leads to what it means by the scopes. A name that no scope explains (a template's base may declare it) leads to
all parts of that name. A member counts only if its class is reached too, so that host classes of the same file stay
out.

A clean source is never asked what its names mean: rules look at nodes first, and scopes are read for what they suspect.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from gn_tutorial.cpp.code_parts import IMPLICIT, CodePart, CodeParts
from gn_tutorial.cpp.declarators import NAMES
from gn_tutorial.cpp.integers import Number, Unreadable, evaluate
from gn_tutorial.cpp.names import argument_count, qualification
from gn_tutorial.cpp.scoped_text import ScopedText
from gn_tutorial.cpp.scopes import Scope
from gn_tutorial.cpp.syntax import Node, Spans, Syntax, parse

#: The types of nodes that rules ask for. They are found in one walk.
_ASKED = (
    "array_declarator", "assignment_expression", "binary_expression", "call_expression", "cast_expression",
    "co_await_expression", "co_return_statement", "co_yield_statement", "concept_definition", "declaration",
    "delete_expression", "field_declaration", "init_declarator", "lambda_specifier", "new_expression",
    "placeholder_type_specifier", "primitive_type", "requires_clause", "requires_expression", "storage_class_specifier",
    "throw_statement", "try_statement", "type_qualifier", "virtual",
)  # fmt: skip
#: What an entry has that runs on cores, beside ``__global__``.
_OF_CORES = ("__aicore__", "aicore", "__vector__", "__cube__", "__mix__")
_LOOPS = ("for_statement", "for_range_loop", "while_statement", "do_statement", "goto_statement", "lambda_expression")


@dataclass(frozen=True)
class SourceFinding:
    """An id of the catalogue, the line in the text, and the facts of its sentences. at: the node that decides."""

    id: str
    line: int
    fields: dict[str, str]
    at: Node


class DeviceCode(CodeParts):
    """The parts of a text, and for each entry those that it reaches."""

    def __init__(self, syntax: Syntax) -> None:
        super().__init__(syntax)
        self._whole = syntax.text(syntax.root)
        self.named: dict[str, list[CodePart]] = {}
        self._homes: dict[CodePart, tuple[str, ...]] = {}
        for part in (one for one in self.parts if one.kind != "host"):
            for name in part.names:
                self.named.setdefault(name, []).append(part)
        self.nodes = syntax.by_type(_ASKED)

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
        before, around = self.syntax.before(node), self.syntax.parent(node)
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
        declared = self.scoped.meant(name) if name is not None else None
        if name is None or not declared or given is None or any(one.kind != "function" for one in declared):
            return None
        homes = {one.place.scope.path for one in declared}
        found = [part for part in self.functions(self.text(name)) if self.home(part) in homes]
        fits = any(one.takes(given, instantiated=False) for one in declared)
        return found[0] if len(found) == 1 and len(homes) == 1 and fits else None

    def is_of_std(self, name: Node) -> bool:
        """Return whether a name is written as ``std::name``."""
        return qualification(name, self.syntax)[1] == ("std",)

    def is_of_host(self, name: Node) -> bool:
        """Return whether an unqualified name, or ``::name``, is of a header and not of this text."""
        return (
            name.type != "field_identifier"
            and not qualification(name, self.syntax)[1]
            and self.scoped.meant(name) == []
        )

    @functools.cached_property
    def unread(self) -> frozenset[str]:
        """The words inside errors: what they do is not known."""
        return frozenset(re.findall(r"\w+", " ".join(self.text(node) for node in self.syntax.errors())))

    @functools.cached_property
    def scoped(self) -> ScopedText:
        """The text with its scopes."""
        return ScopedText(self.syntax, Scope("namespace"))

    def home(self, part: CodePart) -> tuple[str, ...]:
        """Return the names of the scopes around a part."""
        if part not in self._homes:
            function = self.scoped.functions.get(part.node.id)
            self._homes[part] = (function.home if function else self.scoped.scope_at(part.node).home).path
        return self._homes[part]

    def parts_meant(self, node: Node) -> list[CodePart]:
        """Return the parts to which a name leads."""
        among = self.named.get(self.text(node), [])
        found = self.scoped.meant(node)
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

    @functools.cached_property
    def thread_entries(self) -> frozenset[str]:
        """Those of ``entries`` that threads run (SIMT): no word of a core stands beside ``__global__``."""
        return frozenset(part.name for part in self.parts if part.is_entry and part.words.isdisjoint(_OF_CORES))

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
        return part.kind == "function" and part.is_device and part.name in (part.owner, "~" + part.owner, IMPLICIT)

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
        meant = self.code.scoped.meant_by(name[0], self.node) or ()
        declared = next((one.declarator for one in meant if one.is_constant), None)
        value = declared.child_by_field_name("value") if declared is not None else None
        if value is None:
            raise Unreadable(name[0])
        return evaluate(value, self.code.syntax, _Constants(self.code, value, self.depth + 1))

    def measured(self, type_node: Node) -> tuple[int, int, str]:
        """Types are not measured."""
        raise Unreadable(self.code.text(type_node))


def _start(node: Node) -> int:
    return node.start_byte


def between(nodes: list[Node], begin: int, end: int) -> list[Node]:
    """Return those of nodes in text order that start from one offset to another."""
    return nodes[bisect_left(nodes, begin, key=_start) : bisect_left(nodes, end, key=_start)]
