"""Finds the declarations of a source that an entry runs on the device, by the names that each of them mentions.

It finds more than run, never fewer, because a name that several declarations share stands for all of them. A member
function counts only if its class is reached too, so that host classes of the same file stay out.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from gn_tutorial.cpp import syntax
from gn_tutorial.cpp.declarations import Node, Outline

#: What makes a function one of the device, or of both sides.
DEVICE_WORDS = frozenset(("__aicore__", "__global__", "__host_aicore__", "__simd_vf__", "__simd_callee__",
                          "__simt_vf__", "__simt_callee__", "__callee__", "constexpr", "consteval"))  # fmt: skip
#: Members that run without their name being written.
_IMPLICIT = "operator"


class DeviceCode:
    """The declarations of an outline, and for each entry those that it reaches."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.nodes = [node for node in outline.nodes if "__host__" not in node.words]
        self._named: dict[str, list[Node]] = {}
        self._members: dict[str, list[Node]] = {}
        self._mentions: dict[int, set[str]] = {}
        self._places: dict[str, list[int]] = {}
        for node in self.nodes:
            if node.name != _IMPLICIT:
                self._named.setdefault(node.name, []).append(node)
            if node.owner:
                self._members.setdefault(node.owner, []).append(node)

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of the functions marked ``__global__``, without their namespaces."""
        return tuple(dict.fromkeys(node.name for node in self.nodes if is_entry(node)))

    def reached_from(self, entry: str) -> list[Node]:
        """What the entry of this name reaches, in the order of the source."""
        reached: dict[int, Node] = {}
        waiting = [node for node in self._named.get(entry, ()) if is_entry(node)]
        mentioned: set[str] = set()
        held: list[Node] = []  # members whose name is mentioned and whose class is not yet reached
        classes: set[str] = set()
        known_classes = {node.name for node in self.nodes if node.kind == "class"}
        while waiting:
            node = waiting.pop()
            if id(node) in reached:
                continue
            if node.owner in known_classes and node.owner not in classes:
                held.append(node)
                continue
            reached[id(node)] = node
            if node.kind == "class":
                classes.add(node.name)
                waiting += self._implicit(node.name)
                waiting += [one for one in held if one.owner == node.name]
            for name in self.mentions(node) - mentioned:
                mentioned.add(name)
                waiting += self._named.get(name, ())
        return [node for node in self.nodes if id(node) in reached]

    def mentions(self, node: Node) -> set[str]:
        """The words of its tokens."""
        if id(node) not in self._mentions:
            found: set[str] = set()
            for span in node.spans:
                found |= self.outline.names(span)
            self._mentions[id(node)] = found
        return self._mentions[id(node)]

    def places(self, name: str) -> list[int]:
        """Where the word stands in the whole text, in its order."""
        if not self._places:
            for at, token in enumerate(self.outline.tokens):
                if token.kind == "name":
                    self._places.setdefault(token.text, []).append(at)
        return self._places.get(name, [])

    def functions(self, name: str) -> list[Node]:
        """All functions of this name."""
        return [node for node in self._named.get(name, ()) if node.kind == "function"]

    @cached_property
    def syntax(self) -> syntax.Syntax:
        """The tree of the whole text."""
        return syntax.parse(self.outline.source)

    def trees(self, function: Node) -> list[syntax.Node]:
        """Return the function's definition in ``syntax``, and others of this name on its line.

        There is none if the parser does not understand the definition.
        """
        return self._definitions.get((function.name, function.line), [])

    @cached_property
    def _definitions(self) -> dict[tuple[str, int], list[syntax.Node]]:
        found: dict[tuple[str, int], list[syntax.Node]] = {}
        for one in self.syntax.nodes("function_definition"):
            name = _name_of(one)
            if name is not None:
                word = _IMPLICIT if name.type in ("operator_name", "operator_cast") else self.syntax.text(name)
                found.setdefault((word, self.syntax.line(name)), []).append(one)
        return found

    def _implicit(self, owner: str) -> Iterable[Node]:
        special = (owner, "~" + owner, _IMPLICIT)
        functions = [one for one in self._members.get(owner, ()) if one.kind == "function" and one.name in special]
        # A host header may have a class of a name that the device has too, such as half.
        return [one for one in functions if one.words & DEVICE_WORDS]


def is_entry(node: Node) -> bool:
    """Whether it is a kernel's entry point."""
    return node.kind == "function" and "__global__" in node.words


def _name_of(definition: syntax.Node) -> syntax.Node | None:
    """Return the name that a function's definition declares, without the scopes before it."""
    found, inner = None, definition.child_by_field_name("declarator")
    while inner is not None and inner.type != "operator_cast":
        found = inner
        inner = found.child_by_field_name("declarator") or found.child_by_field_name("name")
        if found.type == "reference_declarator":
            inner = found.named_children[-1]
    return inner or found
