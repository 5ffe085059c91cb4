"""Rules about who calls whom in device code: recursion at run time, and functions that lack ``__aicore__``.

Only calls that are certain count: a name with one possible callee, by class and number of arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gn_tutorial.cpp.declarations import Node, Outline
from gn_tutorial.cpp.device_code import DEVICE_WORDS, DeviceCode
from gn_tutorial.cpp.rules.device_functions import SourceFinding

_KEYWORDS = frozenset("if for while switch return sizeof alignof decltype catch static_assert".split())


class CertainCalls:
    """The certain calls of each function, found once."""

    def __init__(self, code: DeviceCode) -> None:
        self.code = code
        self._of: dict[int, list[tuple[int, Node]]] = {}

    def of(self, node: Node) -> list[tuple[int, Node]]:
        """Place and callee of each."""
        if id(node) not in self._of:
            self._of[id(node)] = list(_calls(self.code, node))
        return self._of[id(node)]


def recursion(all_calls: CertainCalls, reached: Sequence[Node]) -> Iterator[SourceFinding]:
    """Functions that call themselves, at once or through others."""
    functions = [node for node in reached if node.kind == "function"]
    calls = {id(node): all_calls.of(node) for node in functions}
    known = {id(node): node for node in functions}
    for node in functions:
        for at, callee in calls[id(node)]:
            if _reaches(callee, node, calls, known):
                yield SourceFinding(
                    "language-recursion", all_calls.code.outline.tokens[at].line, {"name": node.name, "op": callee.name}
                )
                break


def not_aicore(all_calls: CertainCalls, reached: Sequence[Node]) -> Iterator[SourceFinding]:
    """Functions of the source that device code calls and that are the host's by their qualifiers."""
    seen: set[int] = set()
    for node in reached:
        if node.kind != "function" or not node.words & DEVICE_WORDS:
            continue
        for _, callee in all_calls.of(node):
            if callee.words & DEVICE_WORDS or id(callee) in seen or _declared_for_device(all_calls.code, callee):
                continue
            seen.add(id(callee))
            yield SourceFinding(
                "language-not-aicore",
                callee.line,
                {"name": callee.name, "op": callee.name, "caller": node.name},
            )


def _declared_for_device(code: DeviceCode, callee: Node) -> bool:
    """A declaration elsewhere may have the word that the definition lacks."""
    outline = code.outline
    for at, token in enumerate(outline.tokens):
        if token.text == callee.name and outline.text(at + 1) == "(":
            here = at - 1
            while here > 0 and outline.text(here) not in (";", "{", "}", "(", ","):
                if outline.text(here) in DEVICE_WORDS:
                    return True
                here -= 1
    return False


def _reaches(start: Node, goal: Node, calls: dict[int, list[tuple[int, Node]]], known: dict[int, Node]) -> bool:
    waiting, seen = [start], set()
    while waiting:
        node = waiting.pop()
        if node is goal:
            return True
        if id(node) in seen or id(node) not in known:
            continue
        seen.add(id(node))
        waiting += [callee for _, callee in calls[id(node)]]
    return False


def _calls(code: DeviceCode, node: Node) -> Iterator[tuple[int, Node]]:
    """CertainCalls of the function's body whose callee is certain, with their places."""
    outline = code.outline
    hidden = _local_names(outline, node)
    for at in range(*node.body):
        if not outline.is_name(at) or outline.text(at + 1) != "(" or outline.text(at) in _KEYWORDS:
            continue
        name, before = outline.text(at), outline.text(at - 1)
        if before in (".", "->") and outline.text(at - 2) != "this":
            continue
        if (outline.is_name(at - 1) and before not in ("return", "else", "do")) or name in hidden:
            continue  # a declaration: Type name(...)
        owner = ""
        if before == "::":
            owner = outline.text(at - 2)
        count = _arguments(outline, at + 1, outline.match.get(at + 1, at + 1))
        fitting = [one for one in code.functions(name) if _may_take(outline, one, count)]
        if owner:
            fitting = [one for one in fitting if one.owner == owner or not one.owner]
        elif members := [one for one in fitting if one.owner and one.owner == node.owner]:
            fitting = members
        else:
            fitting = [one for one in fitting if not one.owner]
        if (
            len(fitting) == 1
            and count >= 0
            and len(code.functions(name))
            == len([one for one in code.functions(name) if one.owner != fitting[0].owner or one is fitting[0]])
        ):
            if before == "::" and not (fitting[0].owner == owner or not fitting[0].owner):
                continue
            yield at, fitting[0]


def _local_names(outline: Outline, node: Node) -> set[str]:
    """Lambdas and variables of the body that a call may mean."""
    found = set()
    for at in range(*node.body):
        if outline.is_name(at) and outline.text(at + 1) == "=" and outline.is_name(at - 1):
            found.add(outline.text(at))
    return found


def _arguments(outline: Outline, first: int, last: int) -> int:
    """How many arguments stand between two parentheses; -1 where a pack makes that unknown."""
    at, count = first + 1, 0
    if at < last:
        count = 1
    angles = 0
    while at < last:
        word = outline.text(at)
        if word == "...":
            return -1
        if word in ("(", "[", "{"):
            at = outline.match.get(at, last)
        elif word == "<" and outline.is_name(at - 1) and outline.after_angles(at, last) > at:
            at = outline.after_angles(at, last) - 1
        elif word == "," and angles == 0:
            count += 1
        at += 1
    return count


def _may_take(outline: Outline, node: Node, count: int) -> bool:
    first, last = node.params
    words = [outline.text(at) for at in range(first, last)]
    if count < 0 or "..." in words:
        return True
    most = 0 if words in ([], ["void"]) else _arguments(outline, first - 1, last)
    return most - words.count("=") <= count <= most
