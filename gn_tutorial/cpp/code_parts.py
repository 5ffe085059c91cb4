"""The parts of a source: functions, classes without their functions, and declarations outside of functions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from gn_tutorial.cpp.declarators import declared
from gn_tutorial.cpp.literals import without_comments
from gn_tutorial.cpp.names import leaf_of, parts_of, path_of
from gn_tutorial.cpp.scopes import CLASSES
from gn_tutorial.cpp.syntax import Node, Syntax

#: What makes a function one of the device, or of both sides.
DEVICE_WORDS = frozenset(("__aicore__", "__global__", "__host_aicore__", "__simd_vf__", "__simd_callee__",
                          "__simt_vf__", "__simt_callee__", "__callee__", "aicore", "constexpr",
                          "consteval"))  # fmt: skip
#: Around declarations that are not in a function.
_AROUND = ("translation_unit", "linkage_specification", "namespace_definition", "declaration_list",
           "template_declaration", "field_declaration_list", "preproc_if", "preproc_ifdef", "preproc_else")  # fmt: skip
_ALIASES = ("alias_declaration", "type_definition", "using_declaration", "concept_definition")
_DECLARED = ("declaration", "field_declaration")
#: Members that run without their name being written have this name.
IMPLICIT = "operator"


@dataclass(eq=False)
class CodePart:
    """One part of a source. kind: function, class, variable, alias, prototype (nothing leads to it) or host (a host's).

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


class CodeParts:
    """The parts of a text in its order, and which of them a node is in."""

    def __init__(self, syntax: Syntax) -> None:
        self.syntax, self.text = syntax, syntax.text
        self.parts: list[CodePart] = []
        self.namespaces: set[str] = set()
        self.prototypes: dict[str, list[frozenset[str]]] = {}  # the words of functions that are only declared
        self._read()
        self._places = self._boundaries()
        self._starts = [start for start, _ in self._places]

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
        declarator, name, of = self._declared_function(node.child_by_field_name("declarator"))
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
            declarator, name, _ = self._declared_function(one)
            if declarator is not None and kind == "variable":
                self.prototypes.setdefault(name, []).append(self._words(before, node.end_byte))
                self._add(CodePart("prototype", (), node, before, owner=owner))
            else:
                names += [self.text(leaf_of(found.name)) for found in declared(one)]
        if names:
            words = self._words(before, declarators[0].start_byte)
            self._add(CodePart(kind, tuple(names), node, before, owner=owner, words=words))

    def _declared_function(self, declarator: Node | None) -> tuple[Node | None, str, str]:
        """Return the declarator of a function, its name and the class in front of the name; None for no function."""
        for name, function in declared(declarator):
            path, leaf = parts_of(name, self.text)
            implicit = leaf.type in ("operator_name", "operator_cast")
            if function is not None or leaf.type == "operator_cast":
                named = "~" * (leaf.type == "destructor_name") + self.text(leaf).lstrip("~ ")
                return function or leaf, IMPLICIT if implicit else named, path[-1] if path else ""
        return None, "", ""

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
