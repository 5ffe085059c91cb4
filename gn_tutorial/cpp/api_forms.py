"""How the functions of the twin are declared: the forms of an Ascend C call, with their parameters.

Read from the headers as a compiler sees them, macros expanded, so that a form is what a kernel can call and not what
somebody wrote about it.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence

from gn_tutorial.cpp.tokens import Token, tokens

_NAMESPACE = "AscendC"
#: Classes whose members a kernel calls through another name.
_ALSO = {"TQue": ("TQue", "TQueBind")}
_NOT_SHOWN = frozenset({"inline", "static", "constexpr", "explicit", "friend", "typename"})
_TIGHT_BEFORE = frozenset({",", ")", ">", "::", "]", "(", "[", "&", "*", "<", "..."})
_TIGHT_AFTER = frozenset({"(", "<", "::", "[", "!", "~"})
_MACRO = r"^#define {}(\([^)]*\))?"


def declarations(text: str, name: str) -> list[str]:
    """The forms of a function, ``Add``, or of a member, ``TPipe::InitBuffer``, in the order of the headers.

    text: headers after the preprocessor. Without the twin's own parameters (the place of the call) and overloads (those
    whose return type is deduced, for pointers to functions).
    """
    owner, _, function = name.rpartition("::")
    owners = _ALSO.get(owner, (owner,))
    found: dict[str, None] = {}
    for scope, statement in _parsed(text):
        inner = scope[1:] if scope[:1] == [_NAMESPACE] else scope  # set_flag and its kin are in no namespace
        if (inner or [""]) not in [[one] for one in owners]:
            continue
        if (shown := _form(statement, function)) is not None:
            found[shown] = None
    return list(found)


def macro_form(text: str, name: str) -> str:
    """``GET_TILING_DATA(NAME, POINTER)``, of a macro that the headers' own text defines; "" if there is none."""
    found = re.search(_MACRO.format(re.escape(name)), text, re.MULTILINE)
    return name + (found[1] or "") if found else ""


@functools.lru_cache(maxsize=1)
def _parsed(text: str) -> tuple[tuple[list[str], list[Token]], ...]:
    """All declarations of a text: half a second for the twin's headers, so once for all names."""
    return tuple(_statements(tokens(text)))


def _statements(found: Iterator[Token]) -> Iterator[tuple[list[str], list[Token]]]:
    """Each declaration at namespace or class scope, up to its body or semicolon, with the names that surround it."""
    scope: list[str | None] = []  # None: the body of a function, or whatever else holds no declarations
    statement: list[Token] = []
    depth = 0
    for token in found:
        if token.text in ("{", "}") and (depth or (statement and statement[-1].text == "requires")):
            depth += 1 if token.text == "{" else -1  # a default argument, a condition: a part of the declaration
            statement.append(token)
            continue
        if token.kind == "punct":  # "]]" is one token, also at the end of all[used[i]]
            depth += sum({"(": 1, "[": 1, ")": -1, "]": -1}.get(sign, 0) for sign in token.text)
        if token.text == "{" and not depth:
            if None not in scope:
                yield [part for one in scope if one for part in one.split("::")], statement
            scope.append(_scope_name(statement))
            statement = []
        elif token.text == "}" and not depth:
            if scope:
                scope.pop()
            statement = []
        elif token.text == ";" and not depth:
            if None not in scope:
                yield [part for one in scope if one for part in one.split("::")], statement
            statement = []
        else:
            statement.append(token)
            if (
                len(statement) == 2
                and statement[1].text == ":"
                and statement[0].text in ("public", "protected", "private")
            ):
                statement = []


def _scope_name(statement: Sequence[Token]) -> str | None:
    """What a brace behind these tokens opens: the name of a namespace or class, "" of an unnamed one, else None."""
    words = [token.text for token in statement]
    for kind in ("namespace", "class", "struct"):
        if kind in words and "(" not in words and words[0] != "enum":
            # The last one: those before it are of template parameters.
            at = len(words) - 1 - words[::-1].index(kind)
            end = at + 1
            while end < len(words) and (words[end] == "::" or words[end - 1] in ("::", kind)):
                end += 1
            return "".join(words[at + 1 : end])
    return None


def _form(statement: Sequence[Token], name: str) -> str | None:
    """The statement as a form of this function, or None if it declares something else."""
    words = [token.text for token in statement]
    at = next((i for i, word in enumerate(words[:-1]) if word == name and words[i + 1] == "("), None)
    if at is None or at == 0 or words[at - 1] in (".", "::", "=", "return", "->") or "using" in words:
        return None
    head, end = words[:at], _closing(words, at + 1)
    template, rest = _template(head)
    returns = [word for word in rest if word not in _NOT_SHOWN]
    parameters = [one for one in _split(words[at + 2 : end]) if one[:3] != ["gn_twin", "::", "Loc"]]
    if returns == ["R"] or not returns or returns[0] == "__attribute__":
        return None
    if template:
        kept = [one for one in _split(template) if one[:2] not in (["class", "Mask"], ["class", "R"])]
        returns = (["template", "<", *_joined(kept), ">"] if kept else []) + returns
    shown = [_parameter(one) for one in parameters]
    return f"{_spaced(returns)} {name}({', '.join(shown)})"


def _template(head: Sequence[str]) -> tuple[list[str], list[str]]:
    """The parameters of the template and the words behind it, without ``requires`` and its condition."""
    if not head or head[0] != "template":
        return [], list(head)
    depths = itertools.accumulate({"<": 1, ">": -1}.get(word, 0) for word in head)
    end = next(at for at, depth in enumerate(depths) if head[at] == ">" and not depth)
    rest = list(head[end + 1 :])
    if rest[:1] == ["requires"] and "inline" in rest:  # the condition ends where the function begins
        rest = rest[rest.index("inline") :]
    return list(head[2:end]), rest


def _parameter(words: list[str]) -> str:
    if words[:1] == ["Mask"]:
        return "uint64_t mask (or uint64_t mask[2])"
    text = _spaced(words)
    return (
        text.replace("gn_twin::RepeatTime", "uint8_t")
        .replace("gn_twin::", "")
        .replace("AscendC::", "")
        .replace("{ }", "{}")
    )


def _closing(words: Sequence[str], at: int) -> int:
    depth = 0
    for end in range(at, len(words)):
        depth += {"(": 1, ")": -1}.get(words[end], 0)
        if not depth:
            return end
    return len(words)


def _split(words: Sequence[str]) -> list[list[str]]:
    """Parameters between commas that stand in no brackets."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += {"(": 1, "<": 1, "{": 1, "[": 1, ")": -1, ">": -1, "}": -1, "]": -1}.get(word, 0)
        if word == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if part]


def _joined(parts: Sequence[Sequence[str]]) -> list[str]:
    return [word for index, part in enumerate(parts) for word in ([","] if index else []) + list(part)]


def _spaced(words: Sequence[str]) -> str:
    """The words as one would write them."""
    text = ""
    for index, word in enumerate(words):
        before = words[index - 1] if index else ""
        tight = not index or before in _TIGHT_AFTER or word in _TIGHT_BEFORE
        if word == "<" and before == "template":
            tight = False
        text += word if tight else f" {word}"
    return text
