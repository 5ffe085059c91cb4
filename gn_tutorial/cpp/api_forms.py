"""How the functions of the twin are declared: the forms of an Ascend C call, with their parameters.

Read from the headers as a compiler sees them, macros expanded, so that a form is what a kernel can call and not what
somebody wrote about it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from gn_tutorial.cpp.syntax import Node, Syntax, parse

_NAMESPACE = "AscendC"
#: Classes whose members a kernel calls through another name.
_ALSO = {"TQue": ("TQue", "TQueBind")}
_NOT_SHOWN = frozenset({"inline", "static", "constexpr", "explicit", "friend", "typename"})
_TIGHT_BEFORE = frozenset({",", ")", ">", "::", "]", "(", "[", "&", "*", "<", "..."})
_TIGHT_AFTER = frozenset({"(", "<", "::", "[", "!", "~"})
#: What holds declarations, and what gives them a name.
_LISTS = ("translation_unit", "declaration_list", "field_declaration_list", "compound_statement")
_SCOPES = ("namespace_definition", "class_specifier", "struct_specifier")


def declarations(texts: Iterable[str], name: str) -> list[str]:
    """The forms of a function, ``Add``, or of a member, ``TPipe::InitBuffer``, in the order of the headers.

    texts: headers after the preprocessor. Without the twin's own parameters (the place of the call) and overloads
    (those whose return type is deduced, for pointers to functions).
    """
    owner, _, function = name.rpartition("::")
    owners = [[one] if one else [] for one in _ALSO.get(owner, (owner,))]
    found: dict[str, None] = {}
    for text in texts:
        syntax = parse(text) if f"{function}(" in text or f"{function} (" in text else None
        for node in syntax.nodes("function_declarator", errors=True) if syntax else ():
            called = node.child_by_field_name("declarator")
            if called is None or syntax.text(called) != function:
                continue
            statement, scope = _surroundings(node, syntax)
            if scope is not None and (scope[1:] if scope[:1] == [_NAMESPACE] else scope) in owners:
                shown = _form(list(_leaves(statement, node.end_byte, syntax)), function)
                found |= {shown: None} if shown else {}
    return list(found)


def macro_form(text: str, name: str) -> str:
    """``GET_TILING_DATA(NAME, POINTER)``, of a macro that the headers' own text defines; "" if there is none."""
    if name not in text:
        return ""
    syntax = parse(text)
    for node in syntax.nodes("preproc_def", "preproc_function_def", errors=True):
        defined, params = node.child_by_field_name("name"), node.child_by_field_name("parameters")
        if defined is not None and syntax.text(defined) == name:
            return name + (syntax.text(params) if params else "")
    return ""


def _surroundings(node: Node, syntax: Syntax) -> tuple[Node, list[str] | None]:
    """Return the whole declaration of a function, and the namespaces and classes around it; None in a function."""
    statement, scope = node, list[str]()
    while (around := syntax.parent(statement)) is not None and around.type not in _LISTS:
        statement = around
    while around is not None:
        if around.type in ("compound_statement", "requires_clause"):
            return statement, None
        name = around.child_by_field_name("name") if around.type in _SCOPES else None
        if name is not None:
            plain = name.child_by_field_name("name") if name.type == "template_type" else name
            scope = [*syntax.text(plain or name).split("::"), *scope]
        around = syntax.parent(around)
    return statement, scope


def _leaves(node: Node, end: int, syntax: Syntax) -> Iterator[str]:
    """Yield the tokens of a declaration up to ``end``, without comments."""
    for child in node.children:
        if child.start_byte < end and child.type != "comment":
            if child.child_count and not child.type.endswith("_literal"):
                yield from _leaves(child, end, syntax)
            elif word := syntax.text(child).strip():
                yield word


def _form(words: Sequence[str], name: str) -> str | None:
    """The declaration as a form of this function, or None if it declares something else."""
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
