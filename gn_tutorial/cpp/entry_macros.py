"""Macros that write ``__global__``: ``#define KERNEL_API extern "C" __global__ __aicore__`` and functions like it.

Only these are expanded, so that entries are seen where a build with CANN sees them; every other macro stays a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gn_tutorial.cpp.tokens import Token, tokens

_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^()\n]*\))?((?:[^\n\\]|\\.|\\\r?\n)*)", re.MULTILINE)
_WRITES_ONE = re.compile(r"#[ \t]*define\b(?:[^\n\\]|\\.|\\\r?\n)*\b__global__")
#: A macro may be used in the text of another one; deeper than this nobody nests them.
_DEEPEST = 8


@dataclass(frozen=True)
class Macro:
    """``params`` is None for one without parentheses; ``body`` is what it stands for."""

    params: tuple[str, ...] | None
    body: tuple[Token, ...]


def entry_macros(texts: Sequence[str]) -> dict[str, Macro]:
    """The macros of ``texts`` whose text, or that of a macro in it, has ``__global__``; of two definitions the last."""
    if not any(_WRITES_ONE.search(text) for text in texts):
        return {}
    found: dict[str, Macro] = {}
    for text in texts:
        for name, params, body in _DEFINE.findall(text):
            # A macro that rejoins pieces of names (##) is read as if they were written together.
            listed = tuple(tokens(re.sub(r"\s*##\s*", "##", body.replace("\\\r\n", " ").replace("\\\n", " "))))
            names = tuple(one.strip() for one in params[1:-1].split(",")) if params else None
            found[name] = Macro(names, listed)
    wanted = {name for name, macro in found.items() if any(one.text == "__global__" for one in macro.body)}
    while grown := {
        name
        for name, macro in found.items()
        if name not in wanted and any(one.text in wanted for one in macro.body if one.kind == "name")
    }:
        wanted |= grown
    return {name: found[name] for name in found if name in wanted}


def expand(listed: Sequence[Token], macros: dict[str, Macro], depth: int = 0) -> list[Token]:
    """The tokens with each macro of ``macros`` replaced by its text, on the line where it is used."""
    if not macros or depth > _DEEPEST:
        return list(listed)
    out: list[Token] = []
    at = 0
    while at < len(listed):
        token = listed[at]
        at += 1
        macro = macros.get(token.text) if token.kind == "name" else None
        if macro is None:
            out.append(token)
            continue
        values: dict[str, list[Token]] = {}
        if macro.params is not None:
            given = _arguments(listed, at)
            if given is None:
                out.append(token)
                continue
            arguments, at = given
            values = _bound(macro.params, arguments)
        put = [Token(one.kind, one.text, token.line) for one in _substituted(macro.body, values)]
        others = {name: one for name, one in macros.items() if name != token.text}
        out += expand(put, others, depth + 1)
    return out


def _arguments(listed: Sequence[Token], at: int) -> tuple[list[list[Token]], int] | None:
    """The arguments of a call whose parenthesis is at ``at``, and where the call ends; None if there is no call."""
    if at >= len(listed) or listed[at].text != "(":
        return None
    found: list[list[Token]] = [[]]
    depth = 0
    while at < len(listed):
        text = listed[at].text
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if depth == 0:
            return found, at + 1
        if text == "," and depth == 1:
            found.append([])
        elif not (text == "(" and depth == 1 and not any(found)):
            found[-1].append(listed[at])
        at += 1
    return None


def _bound(params: tuple[str, ...], arguments: list[list[Token]]) -> dict[str, list[Token]]:
    values: dict[str, list[Token]] = {}
    for index, name in enumerate(params):
        if name.endswith("..."):
            rest = arguments[index:]
            commas = [[Token("punct", ",", 0)]] * (len(rest) - 1)
            parts = [part for pair in zip(rest, [*commas, []], strict=False) for part in pair] if rest else []
            values[name[:-3].strip() or "__VA_ARGS__"] = [token for part in parts for token in part]
        else:
            values[name] = arguments[index] if index < len(arguments) else []
    return values


def _substituted(body: tuple[Token, ...], values: dict[str, list[Token]]) -> Iterator[Token]:
    """``body`` with its parameters replaced; ``a##b`` becomes one name."""
    replaced: list[Token] = []
    for token in body:
        replaced += values.get(token.text, [token]) if token.kind == "name" else [token]
    at = 0
    while at < len(replaced):
        token = replaced[at]
        while [one.text for one in replaced[at + 1 : at + 3]] == ["#", "#"] and at + 3 < len(replaced):
            token = Token(token.kind, token.text + replaced[at + 3].text, token.line)
            at += 3
        yield token
        at += 1
