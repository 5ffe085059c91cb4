"""Applies the directives that are in a text itself: its ``#if`` and its macros, without the files that it includes.

For what has to be read where no compiler runs first. Every line keeps its number. CANN's macros of tiling structs count
as defined.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gn_tutorial.cpp.integers import Number, Unreadable, evaluate
from gn_tutorial.cpp.literals import COMMENT_OR_LITERAL
from gn_tutorial.cpp.syntax import MOST_BYTES, Node, Syntax, require_bounded
from gn_tutorial.errors import ArgumentError

#: A declaration that stands for lines of which it is not known whether they count.
UNKNOWN = "static_assert(__gnt_unknown);"
#: The base of a struct that CANN's macros define (its name in CANN too).
MACRO_BASE = "TilingDef"
#: CANN's own words, by their form. A text that defines one for its compiler or an editor must not remove it.
_CANNS_WORD = re.compile(r"__[a-z]\w*__|GM_ADDR")
#: Stands for a line end that does not end a line for directives: in a comment, a raw string, a continued line.
_INNER = "\v"
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
        directive = _directive(line)
        if directive and directive[1] == "define" and (macro := _DEFINITION.match(directive[2])) and macro[2] is None:
            found.setdefault(macro[1], macro[3])
    return found


def applied(
    text: str,
    elsewhere: Mapping[str, str],
    defined: Mapping[str, Definition] | None = None,
    *,
    guess: bool = False,
) -> str:
    """Return the text without comments and the lines that ``#if`` leaves out, with its macros replaced.

    elsewhere: name -> body of macros that conditions may also ask for. defined: macros that are defined before the
    text's first line. guess: whether a condition that cannot be read holds; without it such lines are ``UNKNOWN``. Of
    the directives only ``#pragma`` stays.
    Raises ArgumentError for text beyond the bound of ``syntax``, and Unreadable for macros that grow beyond it.
    """
    return _Application(elsewhere, defined or {}, guess).run(text)


def lines_left_out(text: str, left: str, word: str) -> Iterator[int]:
    """Yield the lines that have a word outside comments, but not in what ``applied`` left of the text."""
    number, kept = 1, left.split("\n")
    for line in _lines(text):
        if word in line and not _directive(line) and not kept[number - 1].strip():
            yield number
        number += 1 + line.count(_INNER)


def macros_after(texts: Iterable[str], elsewhere: Mapping[str, str]) -> dict[str, Definition]:
    """Return the macros that are defined after these texts, one read after the other; a text too long has none.

    A condition that cannot be read holds.
    """
    application = _Application(elsewhere, {}, True)
    for text in texts:
        if "define" in text and len(text) <= MOST_BYTES:
            application.read_macros(text)
    return application.macros


def _directive(line: str) -> re.Match[str] | None:
    return _DIRECTIVE.match(line.replace(_INNER, " ")) if "#" in line else None


@functools.lru_cache(maxsize=32)
def _lines(text: str) -> list[str]:
    """Return the lines as directives count them, with a blank for each comment and ``_INNER`` for other line ends."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace(_INNER, " ")
    return COMMENT_OR_LITERAL.sub(_without_line_ends, _joined(text)).split("\n")


def _joined(text: str) -> str:
    """Return the text with continued lines joined. What is joined inside a word has its line end behind the line."""
    if "\\" not in text:
        return text
    out: list[str] = []
    behind, continued = 0, False
    for line in text.split("\n"):
        if continued:
            inside_word = bool(out[-1][-1:].strip() and line[:1].strip())
            behind += inside_word
            out += [] if inside_word else [_INNER]
        bare = line.rstrip(" \t")
        continued = bare.endswith("\\")
        out += [bare[:-1]] if continued else [line, _INNER * behind, "\n"]
        behind *= continued
    return "".join(out).removesuffix("\n")


def _without_line_ends(found: re.Match[str]) -> str:
    """Return a blank for a comment, and a literal as it is; the line ends behind them as ``_INNER``."""
    text = found[0]
    inner = _INNER * (text.count("\n") + text.count(_INNER))
    return (" " if found["comment"] else re.sub(f"[\n{_INNER}]", " ", text) if inner else text) + inner


class _Application:
    def __init__(self, elsewhere: Mapping[str, str], defined: Mapping[str, Definition], guess: bool) -> None:
        self.elsewhere, self.macros, self.guess, self.grown = elsewhere, {**_PREDEFINED, **defined}, guess, 0

    def run(self, text: str) -> str:
        out: list[str] = []
        waiting: list[str] = []  # lines for which the macros have not changed yet
        for line, changes in self._active(text):
            if changes:
                out += [self.expanded("\n".join(waiting))] if waiting else []
                waiting = []
                self._define(*changes.groups())
            waiting.append(line)
        return "\n".join([*out, self.expanded("\n".join(waiting))])

    def read_macros(self, text: str) -> None:
        """Define what the text defines."""
        for _, changes in self._active(text):
            if changes:
                self._define(*changes.groups())

    def _active(self, text: str) -> Iterator[tuple[str, re.Match[str] | None]]:
        """Yield each line, empty if it does not count, and the directive if it defines or removes a macro."""
        branches: list[tuple[bool, bool]] = []  # of each open #if: whether its lines count now, whether a branch did
        require_bounded(text)
        # A macro that this text defines is not yet defined at its top, also if another text has one of the name.
        own, elsewhere = definitions(text), self.elsewhere
        self.elsewhere = {name: body for name, body in elsewhere.items() if name not in own}
        for line in _lines(text):
            directive, counts = _directive(line), not branches or branches[-1][0]
            inner = "\n" * line.count(_INNER)
            if directive is None:
                yield line.replace(_INNER, "\n") if counts else inner, None
            elif directive[1].startswith(("if", "el", "endif")):
                yield self._branch(directive[1], directive[2], branches) + inner, None
            elif counts and directive[1] == "pragma":
                yield directive[0] + inner, None
            else:
                yield inner, directive if counts and directive[1] in ("define", "undef") else None
        self.elsewhere = elsewhere

    def _branch(self, word: str, rest: str, branches: list[tuple[bool, bool]]) -> str:
        """Change ``branches`` as the directive says. Return what replaces a branch whose condition cannot be read."""
        done, said = False, ""
        if word.startswith("el") or word == "endif":
            if not branches:
                return said
            _, done = branches.pop()
            if word == "endif":
                return said
        outside = not branches or branches[-1][0]
        try:
            holds = outside and not done and (word == "else" or self._holds(word, rest))
        except Unreadable:
            holds, done, said = self.guess, True, "" if self.guess else UNKNOWN
        branches.append((holds, done or holds))
        return said

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
            for _ in range(_DEEPEST):  # the name of a macro with parameters, whose call follows in this text
                if params is None and body in self.macros:
                    params, body = self.macros[body]
            if _CANNS_WORD.fullmatch(name) and "__global__" not in body:
                continue
            if params is not None:
                values, end = _arguments(text, end)
                self._pay(name, end - found.end())
                if values is None:
                    continue
                body = _filled(params, body, [self.expanded(one, inside) for one in values])
            self._pay(name, len(body) + 1)
            # The line ends of a call over several lines stand behind what replaces it.
            ends = "\n" * text.count("\n", found.start(), end)
            out += [text[at : found.start()], self.expanded(body, inside | {name}), ends]
            at = end
        return "".join([*out, text[at:]])

    def _pay(self, name: str, count: int) -> None:
        """Raise Unreadable if macros have read and written too much."""
        self.grown += count
        if self.grown > MOST_BYTES:
            raise Unreadable(f"the macro {name} grows beyond {MOST_BYTES} bytes")


def _arguments(text: str, at: int) -> tuple[list[str] | None, int]:
    """Return the arguments of the call whose parenthesis follows ``at``, or None, and where the reading ended."""
    opened = re.compile(r"\s*\(").match(text, at)
    if opened is None:
        return None, at
    values, start, depth = [], opened.end(), 1
    for found in re.compile(r""""(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|[(),]""").finditer(text, start):
        char = found[0]
        depth += (char == "(") - (char == ")")
        if depth == 0 or (depth == 1 and char == ","):
            values.append(text[start : found.start()].replace("\n", " ").strip())
            start = found.end()
        if depth == 0:
            return values, found.end()
    return None, len(text)


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


@functools.lru_cache(maxsize=256)  # files ask one condition many times
def expression(text: str) -> tuple[Node, Syntax]:
    """Return the node of an expression's text, and its tree. Raises Unreadable for text that is no expression."""
    try:
        syntax = Syntax(f"int v = ({text}\n);")
    except ArgumentError:
        raise Unreadable(text[:80]) from None
    found = list(syntax.nodes("init_declarator"))
    value = found[0].child_by_field_name("value") if len(found) == 1 and not syntax.root.has_error else None
    if value is None or syntax.root.named_child_count != 1:
        raise Unreadable(text[:80])
    return value, syntax
