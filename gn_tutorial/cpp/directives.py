"""Applies the directives that are in a text itself: its ``#if`` and its macros, without the files that it includes.

For what has to be read where no compiler runs first. CANN's macros of tiling structs count as defined.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gn_tutorial.cpp.integers import Number, Unreadable, evaluate
from gn_tutorial.cpp.syntax import MOST_BYTES, Node, Syntax, require_bounded
from gn_tutorial.cpp.tokens import without_comments

#: A declaration that stands for lines of which it is not known whether they count.
UNKNOWN = "static_assert(__gnt_unknown);"
#: The base of a struct that CANN's macros define (its name in CANN too).
MACRO_BASE = "TilingDef"
#: Macros nested more deeply stay as they are.
_DEEPEST = 32
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w*)[ \t]*(.*)")
_DEFINITION = re.compile(r"(\w+)(?:\(([^()]*)\))?[ \t]*(.*)")
_DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
_WORD = re.compile(r""""(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|\b\d(?:'?\w)*|(?P<name>[^\W\d]\w*)""")


class Definition(NamedTuple):
    """``params`` is None for a macro without parentheses."""

    params: tuple[str, ...] | None
    body: str


#: Fields of a macro struct are aligned to their size, nested structs to 8 bytes (Utils-API/Tiling数据结构注册).
_PREDEFINED = {
    "__cplusplus": Definition(None, "202002L"),
    "BEGIN_TILING_DATA_DEF": Definition(("n",), f"struct n : {MACRO_BASE} {{"),
    "TILING_DATA_FIELD_DEF": Definition(("t", "n"), "t n;"),
    "TILING_DATA_FIELD_DEF_ARR": Definition(("t", "c", "n"), "t n[c];"),
    "TILING_DATA_FIELD_DEF_STRUCT": Definition(("t", "n"), "alignas(8) t n;"),
    "END_TILING_DATA_DEF": Definition(None, "}"),
}


@functools.lru_cache(maxsize=256)
def definitions(text: str) -> dict[str, str]:
    """Return name -> body of all macros without parentheses that the text defines anywhere."""
    found: dict[str, str] = {}
    for line in _lines(text) if "define" in text and len(text) <= MOST_BYTES else ():
        directive = _DIRECTIVE.match(line)
        if directive and directive[1] == "define" and (macro := _DEFINITION.match(directive[2])) and macro[2] is None:
            found.setdefault(macro[1], macro[3])
    return found


def applied(text: str, elsewhere: Mapping[str, str]) -> str:
    """Return the text without comments and the lines that ``#if`` leaves out, with its macros replaced.

    elsewhere: name -> body of macros that conditions may also ask for. Of the directives only ``#pragma`` stays.
    Raises ArgumentError for text beyond the bound of ``syntax``, and Unreadable for macros that grow beyond it.
    """
    return _Application(elsewhere).run(text)


@functools.lru_cache(maxsize=4)
def _lines(text: str) -> list[str]:
    return re.sub(r"\\[ \t]*\n", "", without_comments(text.replace("\r\n", "\n"))).split("\n")


class _Application:
    def __init__(self, elsewhere: Mapping[str, str]) -> None:
        self.elsewhere, self.macros, self.grown = elsewhere, dict(_PREDEFINED), 0

    def run(self, text: str) -> str:
        out: list[str] = []
        waiting: list[str] = []  # lines for which the macros have not changed yet
        branches: list[tuple[bool, bool]] = []  # of each open #if: whether its lines count now, whether a branch did
        require_bounded(text)
        # A macro that this text defines is not yet defined at its top, also if another text has one of the name.
        own = definitions(text)
        self.elsewhere = {name: body for name, body in self.elsewhere.items() if name not in own}
        for line in _lines(text):
            directive, counts = _DIRECTIVE.match(line), all(now for now, _ in branches)
            if directive is None:
                waiting += [line] * counts
            elif directive[1].startswith(("if", "el", "endif")):
                waiting += self._branch(directive[1], directive[2], branches)
            elif counts and directive[1] in ("define", "undef"):
                out.append(self.expanded("\n".join(waiting)))
                waiting = []
                self._define(directive[1], directive[2])
            elif counts and directive[1] == "pragma":
                waiting.append(line)
        return "\n".join([*out, self.expanded("\n".join(waiting)), ""])

    def _branch(self, word: str, rest: str, branches: list[tuple[bool, bool]]) -> Iterator[str]:
        """Change ``branches`` as the directive says. Yield what replaces a branch whose condition cannot be read."""
        if word.startswith("el") or word == "endif":
            if not branches:
                return
            _, done = branches.pop()
            if word == "endif":
                return
        else:
            done = False
        outside = all(now for now, _ in branches)
        try:
            holds = outside and not done and (word == "else" or self._holds(word, rest))
        except Unreadable:
            yield UNKNOWN
            holds, done = False, True
        branches.append((holds, done or holds))

    def _holds(self, word: str, rest: str) -> bool:
        if word in ("if", "elif"):
            return self.condition(rest)
        name = (re.match(r"\w*", rest) or [""])[0]
        return self._is_defined(name) != word.endswith("ndef")

    def _is_defined(self, name: str) -> bool:
        return name in self.macros or name in self.elsewhere

    def condition(self, text: str) -> bool:
        """Return whether the condition of an ``#if`` holds. Raises Unreadable."""
        text = _DEFINED.sub(lambda found: str(int(self._is_defined(found[1] or found[2]))), text)
        text = self.expanded(re.sub(r"\bdefined\b", "@", text))
        return bool(parsed_value(text, _OfConditions(self.elsewhere)).value)

    def _define(self, word: str, rest: str) -> None:
        found = _DEFINITION.match(rest)
        if not found or found[1] in _PREDEFINED:
            return
        if word == "undef":
            self.macros.pop(found[1], None)
            return
        params = None if found[2] is None else tuple(one.strip() for one in found[2].split(",") if one.strip())
        self.macros[found[1]] = Definition(params, found[3])

    def expanded(self, text: str, inside: frozenset[str] = frozenset()) -> str:
        """Return the text with its macros replaced, except those that are ``inside`` their own replacement."""
        if len(inside) > _DEEPEST or self.macros.keys().isdisjoint(re.findall(r"[^\W\d]\w*", text)):
            return text
        out, at = [], 0
        for found in _WORD.finditer(text):
            name, end = found["name"], found.end()
            if found.start() < at or name in inside or name not in self.macros:
                continue
            params, body = self.macros[name]
            if params is not None:
                given = _arguments(text, end)
                if given is None:
                    continue
                values, end = given
                body = _filled(params, body, [self.expanded(one, inside) for one in values])
            self.grown += len(body) + 1
            if self.grown > MOST_BYTES:
                raise Unreadable(f"the macro {name} grows beyond {MOST_BYTES} bytes")
            out += [text[at : found.start()], self.expanded(body, inside | {name})]
            at = end
        return "".join([*out, text[at:]])


def _arguments(text: str, at: int) -> tuple[list[str], int] | None:
    """Return the arguments of the call whose parenthesis follows ``at``, and where it ends; None if there is none."""
    opened = re.compile(r"\s*\(").match(text, at)
    if opened is None:
        return None
    values, start, depth = [], opened.end(), 1
    for found in re.compile(r""""(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|[(),]""").finditer(text, start):
        char = found[0]
        depth += (char == "(") - (char == ")")
        if depth == 0 or (depth == 1 and char == ","):
            values.append(text[start : found.start()].strip())
            start = found.end()
        if depth == 0:
            return values, found.end()
    return None


def _filled(params: tuple[str, ...], body: str, values: list[str]) -> str:
    """Return a macro's body with its arguments in the places of the parameters."""
    named = dict(zip(params, values, strict=False))
    if params and params[-1].endswith("..."):
        named[params[-1].removesuffix("...") or "__VA_ARGS__"] = ", ".join(values[len(params) - 1 :])
    body = re.sub(r"(?<!#)#\s*\w+", '""', body)  # as a string
    body = re.sub(r"[^\W\d]\w*", lambda found: named.get(found[0], found[0]), body)
    return re.sub(r"\s*##\s*", "", body)


class _OfConditions:
    """The names of a condition: macros of other texts, and 0 for any other name, as the standard says."""

    def __init__(self, elsewhere: Mapping[str, str], inside: frozenset[str] = frozenset()) -> None:
        self.elsewhere, self.inside = elsewhere, inside

    def number(self, name: tuple[str, ...]) -> Number:
        body = self.elsewhere.get(name[-1])
        if body is None or len(name) > 1 or name[0] in self.inside:
            return Number(0)
        return parsed_value(body, _OfConditions(self.elsewhere, self.inside | {name[0]}))

    def measured(self, type_node: Node) -> tuple[int, int, str]:
        raise Unreadable("sizeof in a condition")


def parsed_value(text: str, names: _OfConditions) -> Number:
    """Return the value of an expression's text. Raises Unreadable."""
    if len(text) > 4096 or len(names.inside) > _DEEPEST:
        raise Unreadable(text[:80])
    return evaluate(*expression(text), names)


def expression(text: str) -> tuple[Node, Syntax]:
    """Return the node of an expression's text, and its tree. Raises Unreadable for text that is no expression."""
    syntax = Syntax(f"int v = ({text}\n);")
    found = list(syntax.nodes("init_declarator"))
    value = found[0].child_by_field_name("value") if len(found) == 1 and not syntax.root.has_error else None
    if value is None or syntax.root.named_child_count != 1:
        raise Unreadable(text[:80])
    return value, syntax
