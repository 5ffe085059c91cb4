"""How the functions of the twin are declared: the forms of an Ascend C call, with their parameters.

Read from the headers as a compiler sees them, macros expanded, so that a form is what a kernel can call and not what
somebody wrote about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gn_tutorial.cpp.names import path_of
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
            around, scope = _surroundings(node, syntax)
            if scope is not None and (scope[1:] if scope[:1] == [_NAMESPACE] else scope) in owners:
                shown = _form(node, around, function, syntax)
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


def _surroundings(node: Node, syntax: Syntax) -> tuple[list[Node], list[str] | None]:
    """Return the nodes around a function in its declaration, and the scopes around that; None in a function."""
    inside, scope = list[Node](), list[str]()
    for around in syntax.enclosing(node):
        if around.type in ("compound_statement", "requires_clause"):
            return inside, None
        name = around.child_by_field_name("name") if around.type in _SCOPES else None
        scope = [*path_of(name, syntax.text), *scope]
        inside += [around] if around.type not in _LISTS and not scope else []
    return inside, scope


def _words(node: Node, end: int, syntax: Syntax) -> Iterator[str]:
    """Yield the tokens of a node up to ``end``, without comments."""
    for child in node.children or [node]:
        if child.start_byte < end and child.type != "comment":
            if child.child_count and not child.type.endswith("_literal"):
                yield from _words(child, end, syntax)
            elif word := syntax.text(child).strip():
                yield word


def _form(node: Node, around: list[Node], name: str, syntax: Syntax) -> str | None:
    """Return the declaration of a function as a form, or None if it declares something else."""
    declaration = next((one for one in around if one.child_by_field_name("type")), node)
    returns = [word for word in _words(declaration, node.start_byte, syntax) if word not in _NOT_SHOWN]
    if returns == ["R"] or not returns or returns[0] == "__attribute__":
        return None
    heads = [one for one in around if one.type == "template_declaration"]
    template = (
        [one for one in _listed(heads[-1], syntax) if one[:2] not in (["class", "Mask"], ["class", "R"])]
        if heads
        else []
    )
    front = f"template <{', '.join(map(_spaced, template))}> " if template else ""
    shown = [_parameter(one) for one in _listed(node, syntax) if one[:3] != ["gn_twin", "::", "Loc"]]
    return f"{front}{_spaced(returns)} {name}({', '.join(shown)})"


def _listed(node: Node, syntax: Syntax) -> list[list[str]]:
    """Return the words of each parameter of a function or a template."""
    given = node.child_by_field_name("parameters")
    return (
        [list(_words(one, one.end_byte, syntax)) for one in given.named_children if one.type != "comment"]
        if given
        else []
    )


def _parameter(words: list[str]) -> str:
    if words[:1] == ["Mask"]:
        return "uint64_t mask (or uint64_t mask[2])"
    text = _spaced(words)
    for of_twin, shown in (("gn_twin::RepeatTime", "uint8_t"), ("gn_twin::", ""), ("AscendC::", ""), ("{ }", "{}")):
        text = text.replace(of_twin, shown)
    return text


def _spaced(words: Sequence[str]) -> str:
    """The words as one would write them."""
    text = ""
    for index, word in enumerate(words):
        before = words[index - 1] if index else ""
        tight = not index or before in _TIGHT_AFTER or word in _TIGHT_BEFORE
        text += word if tight else f" {word}"
    return text
