"""Answers small questions about one text from its syntax tree: its calls, tokens and uses of a name.

Calls and comments inside an error count too: the texts were compiled, so an error is the parser's. ``#if`` does
not count: ask with preprocessed text where it has to.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from gn_tutorial.cpp.declarators import NAMES
from gn_tutorial.cpp.directives import applied
from gn_tutorial.cpp.includes import includes, with_live_lines
from gn_tutorial.cpp.integers import Unreadable
from gn_tutorial.cpp.names import leaf_of
from gn_tutorial.cpp.scoped_text import ScopedText
from gn_tutorial.cpp.scopes import Declaration, Scope
from gn_tutorial.cpp.syntax import Node, Syntax, parse

#: Macros that register an operator, those that register something of one, and names of matrix multiplication.
_OPERATORS = "OP_ADD|IMPL_OP|IMPL_OP_OPTILING"
_REGISTERING = r"OP_ADD|IMPL_OP\w*|REGISTER_(?:OPS_)?TILING_TEMPLATE\w*"
_MATMUL, _MATMUL_HEADER = "matmul_tiling|MatmulImpl|REGIST_MATMUL_OBJ", "lib/matmul_intf.h"
#: Bytes behind a macro's name, with its first argument.
_NEAR = 200
#: Macros whose first argument is a tiling struct.
_ASKING_BY_STRUCT = ("REGISTER_TILING_DEFAULT", "GET_TILING_DATA_WITH_STRUCT", "GET_TILING_DATA_PTR_WITH_STRUCT")
#: Words of the language, and of the types that every kernel uses.
_OF_THE_LANGUAGE = frozenset(
    "auto bool break case char class const constexpr continue default do double else enum explicit false float for "
    "half if inline int int32_t int64_t long nullptr operator private public return short sizeof static static_cast "
    "struct switch template this true typename uint16_t uint32_t uint64_t uint8_t unsigned using void while".split()
)


class WrittenCall(NamedTuple):
    """A call as it is written. name: without namespace, object and template arguments. line, column: of the name.

    types: the template arguments. end: the line on which the call ends.
    """

    name: str
    arguments: tuple[str, ...]
    types: tuple[str, ...]
    line: int
    column: int
    end: int


def calls(text: str, *names: str) -> Iterator[WrittenCall]:
    """Yield the calls of functions with these names, macros too, in text order; without ``names``, all calls.

    Raises ArgumentError for text of more than a megabyte, as ``syntax`` does.
    """
    if names and not any(name in text for name in names):
        return
    syntax = parse(text)
    for node in syntax.nodes("call_expression", errors=True):
        called = node.child_by_field_name("function")
        name = leaf_of(called) if called is not None else node
        if name.type in NAMES and (not names or syntax.text(name) in names):
            around = syntax.parent(name)
            templated = around is not None and around.type.startswith("template_")
            yield WrittenCall(
                syntax.text(name),
                _texts(syntax, node.child_by_field_name("arguments")),
                _texts(syntax, around.child_by_field_name("arguments")) if around is not None and templated else (),
                syntax.line(name),
                syntax.column(name),
                syntax.last_line(node),
            )


def registered_operators(text: str) -> list[str]:
    """Return the operators that a host file registers, in its order; those of all branches of ``#if`` but ``#if 0``."""
    found = (name for syntax in _readings(text, _OPERATORS) for name in _called(syntax, _OPERATORS))
    return list(dict.fromkeys(found))


def is_host_source(text: str) -> bool:
    """Return whether a text registers an operator or its tiling, or names CANN's OpDef or one of gert's contexts."""
    return any(
        any(_called(syntax, _REGISTERING))
        or any(syntax.names("gert", behind=r"\s*::\s*\w*Context\b"))
        or _names_foreign(syntax, "OpDef")
        for syntax in _readings(text, rf"{_REGISTERING}|gert|OpDef")
    )


def names_matmul(text: str) -> bool:
    """Return whether a text includes the library for matrix multiplication or has one of its names."""
    included = any(one.name.endswith(_MATMUL_HEADER) for one in includes(text))
    return included or any(_names_foreign(syntax, _MATMUL) for syntax in _readings(text, _MATMUL))


def _readings(text: str, pattern: str) -> Iterator[Syntax]:
    """Yield the tree of a text with a word that matches; if a macro has one, also that of what its macros leave."""
    if re.search(rf"\b(?:{pattern})\b", text):
        yield (syntax := parse(with_live_lines(text)))
        with contextlib.suppress(Unreadable):  # of macros that grow too much
            if syntax.is_in_macros(pattern):
                yield parse(applied(text, {}, guess=True))


def _called(syntax: Syntax, pattern: str) -> Iterator[str]:
    """Yield the first name in the parentheses behind each name that matches, also where the parser sees no call."""
    for name in syntax.names(pattern, behind=r"\s*\(\s*\"?(\w+)"):
        yield re.findall(r"\w+", syntax.between(name.end_byte, name.end_byte + _NEAR))[0]


def _names_foreign(syntax: Syntax, pattern: str) -> bool:
    """Return whether code has a name that matches and means nothing that the text itself defines."""
    found = list(syntax.names(pattern))
    scoped = ScopedText(syntax, Scope("namespace")) if found else None
    return scoped is not None and not all(any(map(_defines, scoped.meant(name) or ())) for name in found)


def _defines(declared: Declaration) -> bool:
    return declared.node is not None or declared.place.scope.name == declared.name  # the name inside its own class


def template_parameters(text: str, name: str) -> list[str]:
    """Return the parameters of the first template that declares a function ``name``; none without such a template."""
    syntax = parse(text)
    for node in syntax.nodes("template_declaration", errors=True):
        declared = next(syntax.nodes("function_declarator", within=node), None)
        called = declared.child_by_field_name("declarator") if declared else None
        if called is not None and syntax.text(called) == name:
            return list(_texts(syntax, node.child_by_field_name("parameters")))
    return []


def registered_structs(text: str, op_type: str) -> list[str]:
    """Return the structs that the text registers for an operator, for all its tiling keys or for one."""
    found = (one.arguments for one in calls(text, "REGISTER_TILING_DATA_CLASS") if len(one.arguments) == 2)
    return [name for op, name in found if op == op_type or op.removeprefix(f"{op_type}_").isdecimal()]


def named_structs(text: str) -> list[str]:
    """Return the tiling structs that kernels and tiling functions name where they ask for their data."""
    asking = calls(text, *_ASKING_BY_STRUCT, "GetTilingData")
    listed = (one.types if one.name == "GetTilingData" else one.arguments for one in asking)
    return [names[0] for names in listed if names]


def takes_registered_struct(text: str) -> bool:
    """Return whether a kernel asks for its tiling data without naming a struct: it gets the registered one."""
    return any(calls(text, "GET_TILING_DATA", "GET_TILING_DATA_MEMBER")) and not any(
        calls(text, "REGISTER_TILING_DEFAULT", "REGISTER_TILING_FOR_TILINGKEY")
    )


class Prototype(NamedTuple):
    """A function that a header declares. types: of its parameters. comment: the one in front of it, else empty."""

    name: str
    returns: str
    types: tuple[str, ...]
    comment: str


def prototypes(text: str, mark: str) -> Iterator[Prototype]:
    """Yield the functions that a header of C declares behind the macro ``mark``, in its order."""
    syntax = parse(f"\n{text}".replace(f"\n{mark} ", "\n" + " " * len(f"{mark} ")))
    for node in syntax.nodes("declaration"):
        declared = next(syntax.nodes("function_declarator", within=node), None)
        if declared is None or syntax.column(node) != len(f"{mark} ") + 1:
            continue
        name = next(syntax.nodes("identifier", within=declared))
        given = (one for one in syntax.nodes("parameter_declaration", within=declared) if syntax.text(one) != "void")
        before = syntax.before(node)
        yield Prototype(
            syntax.text(name),
            syntax.text(node).partition(syntax.text(declared))[0].strip(),
            tuple(syntax.text(one).removesuffix(_first_name(one, syntax)) for one in given),
            syntax.text(before) if before is not None and before.type == "comment" else "",
        )


def _first_name(parameter: Node, syntax: Syntax) -> str:
    return next((syntax.text(one) for one in syntax.nodes("identifier", within=parameter)), "")


def comments(text: str) -> list[tuple[int, str]]:
    """Return line and text of each comment."""
    syntax = parse(text)
    return [(syntax.line(node), syntax.text(node)) for node in syntax.nodes("comment", errors=True)]


def with_comments(text: str, change: Callable[[str], str]) -> str:
    """Return the text with ``change(comment)`` in place of each comment, and without the blanks before an empty one."""
    syntax = parse(text)
    edits = []
    for node in syntax.nodes("comment", errors=True):
        old, start = syntax.text(node), node.start_byte
        if (new := change(old)) != old:
            first = syntax.lines(node)[0]
            before = text.encode("utf-8", "replace")[first:start]
            edits.append((start if new else first + len(before.rstrip()), node.end_byte, new))
    return syntax.edited(edits)


def words(text: str, *, directives: bool = False) -> Iterator[str]:
    """Yield the tokens of the code that counts: no comments, no ``#if 0``, and directives only with ``directives``.

    A literal is one token.
    """
    syntax = parse(text)
    return (word for word, _ in _tokens(syntax, lambda node: _counting(node, syntax, directives=directives)))


def placed_words(text: str) -> Iterator[tuple[str, int]]:
    """Yield all tokens but comments, with their offsets in characters, those that do not count too."""
    return _tokens(parse(text), lambda node: node.children)


def _tokens(syntax: Syntax, parts: Callable[[Node], list[Node]]) -> Iterator[tuple[str, int]]:
    """Yield the tokens with their offsets. parts: what counts of a directive."""
    waiting = [syntax.root]
    while waiting:
        node = waiting.pop()
        if node.type == "preproc_arg":
            start = syntax.span(node)[0]
            yield from ((word, start + at) for word, at in _tokens(parse(syntax.text(node)), parts))
        elif node.type.startswith("preproc_") and node.child_count:
            waiting += reversed(parts(node))
        elif node.type != "comment" and not node.is_missing:
            if node.child_count and not node.type.endswith("_literal"):
                waiting += reversed(node.children)
            elif word := syntax.text(node).strip():
                yield word, syntax.span(node)[0]


def _counting(node: Node, syntax: Syntax, *, directives: bool) -> list[Node]:
    """Return the parts of a directive that count: what a conditional has, without a branch that never counts."""
    condition, alternative = node.child_by_field_name("condition"), node.child_by_field_name("alternative")
    if syntax.is_off(node):
        return [alternative] if alternative else []
    own = () if directives else (condition, node.child_by_field_name("name"))
    is_branch = node.type.startswith(("preproc_if", "preproc_el"))
    return [one for one in node.named_children if (is_branch or directives) and one not in own]


def fingerprint(text: str, known: Collection[str]) -> Iterator[str]:
    """Yield the tokens of the code with ``name`` in place of each name but those of the language and ``known``.

    The qualifier ``AscendC::`` is left out, because a using-directive makes it unnecessary.
    """
    for word in words(text):
        if word not in ("AscendC", "::"):
            kept = not word.isidentifier() or word in _OF_THE_LANGUAGE or word in known
            yield word if kept else "name"


def is_used(name: str, text: str) -> bool:
    """Return whether an expression names a variable, other than as ``(void)name``, which only silences a warning.

    Nothing inside an error counts.
    """
    syntax = parse(text)
    return any(syntax.text(node) == name and not _is_idle(node, syntax) for node in syntax.nodes("identifier"))


def _is_idle(node: Node, syntax: Syntax) -> bool:
    around = syntax.parent(node)
    if around is None or around.type == "reference_declarator" or node in around.children_by_field_name("declarator"):
        return True
    to = around.child_by_field_name("type") if around.type == "cast_expression" else None
    return to is not None and syntax.text(to) == "void"


def _texts(syntax: Syntax, listed: Node | None) -> tuple[str, ...]:
    return tuple(syntax.text(one) for one in (listed.named_children if listed else ()) if one.type != "comment")
