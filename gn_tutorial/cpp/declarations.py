"""What a source declares, by its tokens: functions with their attributes and bodies, classes, variables, aliases.

The text is preprocessed, so that macros of the source's own are expanded and what ``#if`` leaves out is gone; CANN's
words (``__aicore__``, ``__gm__``) and the names of its headers stay as they were written. No types are known, so the
function that a call reaches is found by its name; ``device_code`` takes all functions of that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gn_tutorial.cpp.tokens import Token, tokens

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_MARKER = re.compile(r"__\w+__")
#: Words before a parenthesis that is not a list of parameters.
_NO_NAMES = frozenset("noexcept decltype alignas throw requires if while for switch return sizeof explicit".split())
_CLASS_KEYS = frozenset(("class", "struct", "union"))
_ACCESS = frozenset(("public", "private", "protected"))
_OTHER_DECLARATIONS = frozenset(("static_assert", "friend", "asm", "goto"))


@dataclass
class Node:
    """One declaration. ``spans`` are the ranges of tokens that belong to it; ``line`` is that of its name."""

    kind: str  # function, class, variable, alias
    name: str
    line: int
    owner: str = ""  # the class it is a member of
    template: bool = False
    head: tuple[int, int] = (0, 0)
    params: tuple[int, int] = (0, 0)
    body: tuple[int, int] = (0, 0)
    spans: list[tuple[int, int]] = field(default_factory=list)
    words: frozenset[str] = frozenset()  # of the head: __aicore__, inline, static, constexpr, virtual ...


class Outline:
    """The declarations of ``text``. Never raises: text that is not C++ gives few of them."""

    def __init__(self, text: str) -> None:
        self.source = text
        self.tokens = _signs(tokens(text))
        self.match = _matches(self.tokens)
        self.nodes: list[Node] = []
        self._scope(0, len(self.tokens), "", False)

    def text(self, at: int) -> str:
        """The token at a place; empty outside."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def is_name(self, at: int) -> bool:
        """Whether a word stands there."""
        return 0 <= at < len(self.tokens) and self.tokens[at].kind == "name"

    def names(self, span: tuple[int, int]) -> set[str]:
        """The words in a range of tokens."""
        return {token.text for token in self.tokens[span[0] : span[1]] if token.kind == "name"}

    def after_angles(self, at: int, end: int) -> int:
        """Behind the ``>`` that closes the ``<`` at ``at``; ``at`` itself if none does before a statement ends."""
        depth, here = 0, at
        while here < end:
            word = self.text(here)
            if word in _CLOSING:
                here = self.match.get(here, end)
            elif word in ("<", ">"):
                depth += 1 if word == "<" else -1
                if depth == 0:
                    return here + 1
            elif word in (";", "}", ")"):
                break
            here += 1
        return at

    # --- declarations ------------------------------------------------------------------------------------------------

    def _scope(self, at: int, end: int, owner: str, template: bool) -> None:
        while at < end:
            at = max(self._declaration(at, end, owner, template), at + 1)

    def _declaration(self, at: int, end: int, owner: str, template: bool) -> int:
        """Reads one declaration from ``at``; returns where the next one begins."""
        start, own_template = at, template
        if self.text(at) in _ACCESS and self.text(at + 1) == ":":
            return at + 2
        while self.text(at) == "template":
            behind = self.after_angles(at + 1, end) if self.text(at + 1) == "<" else at + 1
            own_template = own_template or behind > at + 3  # template <> is a specialisation
            at = max(behind, at + 1)
        namespace = self._namespace(at, end)
        if namespace:
            self._scope(namespace + 1, self.match.get(namespace, end), "", False)
            return self.match.get(namespace, end) + 1
        if self.text(at) in _OTHER_DECLARATIONS:
            return self._behind(at, end)
        return self._read(start, at, end, owner, own_template)

    def _namespace(self, at: int, end: int) -> int:
        """Where the brace of a namespace or of ``extern "C" {`` stands, if one begins at ``at``; else 0."""
        if self.text(at) == "extern" and self.text(at + 1).startswith('"') and self.text(at + 2) == "{":
            return at + 2
        if self.text(at) == "inline" and self.text(at + 1) == "namespace":
            at += 1
        if self.text(at) != "namespace":
            return 0
        while at < end and self.text(at) not in ("{", ";", "="):
            at += 1
        return at if self.text(at) == "{" else 0

    def _behind(self, at: int, end: int) -> int:
        """Behind the ``;`` of a declaration."""
        while at < end and self.text(at) != ";":
            at = self.match.get(at, end) + 1 if self.text(at) in _CLOSING else at + 1
        return at + 1

    def _read(self, start: int, at: int, end: int, owner: str, template: bool) -> int:
        """A function, class, variable or alias; ``at`` is behind its template heads."""
        here, params, key, initialised, listing = at, -1, -1, False, False
        while here < end:
            word = self.text(here)
            if word == ";":
                break
            if word == "}":
                return here + 1
            if word == "{":
                if key >= 0 and params < 0 and not initialised:
                    return self._class(start, key, here, end, owner, template)
                member = listing and (self.is_name(here - 1) or self.text(here - 1) == ">")
                if params >= 0 and not initialised and not member:
                    self._function(start, at, params, here, owner, template)
                    return self.match.get(here, end) + 1
                here = self.match.get(here, end)
            elif word == "(":
                if not listing and not initialised and self._names_function(here, at):
                    params = here
                here = self.match.get(here, end)
            elif word == "[":
                here = self.match.get(here, end)
            elif word == "=" and self.text(here - 1) != "operator" and "operator" not in self._last_words(here, at):
                initialised = True
            elif word == ":" and params >= 0:
                listing = True
            elif word in _CLASS_KEYS and params < 0 and key < 0 and self.text(here - 1) != "enum":
                key = here
            elif word == "enum" and key < 0:
                return self._behind(here, end)
            here += 1
        self._plain(start, at, here, params, owner, template)
        return here + 1

    def _last_words(self, here: int, at: int) -> list[str]:
        return [self.text(one) for one in range(max(at, here - 3), here)]

    def _names_function(self, here: int, at: int) -> bool:
        """Whether the parenthesis at ``here`` follows a function's name."""
        before = self.text(here - 1)
        if here <= at:
            return False
        if "operator" in self._last_words(here, at):
            return True
        return self.is_name(here - 1) and before not in _NO_NAMES and not _MARKER.fullmatch(before)

    def _function(self, start: int, at: int, params: int, body: int, owner: str, template: bool) -> None:
        name, owner, of_template = self._function_name(at, params, owner)
        close = self.match.get(body, len(self.tokens))
        behind = self.match.get(params, params)
        node = Node("function", name, self.tokens[params - 1].line, owner, template or of_template)
        node.head, node.params, node.body = (start, params), (params + 1, behind), (body + 1, close)
        node.spans = [(start, close)]
        node.words = frozenset(self.names(node.head) | self.names((behind, body)))
        self.nodes.append(node)

    def _function_name(self, at: int, params: int, owner: str) -> tuple[str, str, bool]:
        """Its name, its class, and whether that is written as a template, ``Kernel<T>::Process``."""
        here, of_template = params - 1, False
        if "operator" in self._last_words(params, at):
            name = "operator"
            here = next(one for one in range(params - 1, at - 1, -1) if self.text(one) == "operator")
        else:
            name = self.text(here)
            if self.text(here - 1) == "~":
                name, here = "~" + name, here - 1
        if self.text(here - 1) == "::":
            here -= 2
            if self.text(here) == ">":
                of_template, depth = True, 0
                while here > at:
                    depth += {">": 1, "<": -1}.get(self.text(here), 0)
                    here -= 1
                    if depth == 0:
                        break
            owner = self.text(here) if self.is_name(here) else owner
        return name, owner, of_template

    def _class(self, start: int, key: int, brace: int, end: int, owner: str, template: bool) -> int:
        close = self.match.get(brace, end)
        here, name = key + 1, ""
        while here < brace and self.text(here) != ":":
            if self.is_name(here) and self.text(here) not in ("final", "alignas") and not name:
                name = self.text(here)
            here = self.match.get(here, here) + 1 if self.text(here) in _CLOSING else here + 1
        node = Node("class", name, self.tokens[key].line, owner, template, head=(start, brace), body=(brace + 1, close))
        node.words = frozenset(self.names(node.head))
        self.nodes.append(node)
        before = len(self.nodes)
        self._scope(brace + 1, close, name, template)
        # The class itself is its head and what is no function: fields, aliases.
        inside = sorted(one.spans[0] for one in self.nodes[before:] if one.kind == "function" and one.spans)
        node.spans, at = [(start, brace)], brace + 1
        for first, last in inside:
            if first >= at:
                node.spans.append((at, first))
                at = last
        node.spans.append((at, close))
        return self._behind(close + 1, end)

    def _plain(self, start: int, at: int, end: int, params: int, owner: str, template: bool) -> None:
        """A declaration that ends with a semicolon."""
        first = self.text(at)
        if end <= at or first in ("using", "typedef", "concept"):
            if first == "using" and self.text(at + 1) in ("namespace", "enum"):
                return
            # `using std::vector;` gives the last word a meaning, `using Values = ...;` the first one.
            name = self.text(at + 1) if first == "concept" or self.text(at + 2) == "=" else self.text(end - 1)
            if name:
                self._add("alias", name, at, start, end, owner, template)
            return
        words = self.names((at, end))
        if first in _CLASS_KEYS and all(self.is_name(one) for one in range(at, min(end, at + 2))) and end == at + 2:
            return  # a class is only declared
        if params >= 0 and "=" not in {self.text(one) for one in range(self.match.get(params, params), end)}:
            return  # a function's declaration, or a variable that is made with parentheses
        stop = next((one for one in range(at, end) if self.text(one) in ("=", "{", "[")), end)
        if self.is_name(stop - 1) and stop - 1 > at and not words & {"operator", "friend"}:
            self._add("variable", self.text(stop - 1), stop - 1, start, end, owner, template)

    def _add(self, kind: str, name: str, at: int, start: int, end: int, owner: str, template: bool) -> None:
        stop = next((one for one in range(start, end) if self.text(one) in ("=", "{")), end)
        node = Node(kind, name, self.tokens[at].line, owner, template, head=(start, stop), spans=[(start, end)])
        node.words = frozenset(self.names(node.head))
        self.nodes.append(node)


def _signs(found: Iterable[Token]) -> list[Token]:
    """``a[b[0]]`` ends in two brackets, which the tokens have as one; ``->`` is one sign, which they have as two."""
    out: list[Token] = []
    for token in found:
        if token.text in ("[[", "]]") and token.kind == "punct":
            out += [Token("punct", token.text[0], token.line)] * 2
        elif token.text == ">" and out and out[-1].text == "-":
            out[-1] = Token("punct", "->", token.line)
        else:
            out.append(token)
    return out


def _matches(found: Sequence[Token]) -> dict[int, int]:
    """The closing bracket of each opening one."""
    pairs: dict[int, int] = {}
    open_ones: list[int] = []
    for at, token in enumerate(found):
        if token.kind != "punct":
            continue
        if token.text in _CLOSING:
            open_ones.append(at)
        elif token.text in _CLOSING.values():
            # A bracket that nothing closes is left behind by the next one that fits.
            while open_ones and _CLOSING[found[open_ones[-1]].text] != token.text and token.text == "}":
                open_ones.pop()
            if open_ones and _CLOSING[found[open_ones[-1]].text] == token.text:
                pairs[open_ones.pop()] = at
    return pairs
