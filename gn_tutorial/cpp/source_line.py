"""What a line of a learner's source says, for findings and for hints on a compiler's errors.

The answers are empty for a text beyond the bound of ``syntax``. The imports of tree-sitter are in the functions,
because ``import gn_tutorial`` imports this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gn_tutorial.errors import ArgumentError

if TYPE_CHECKING:
    from gn_tutorial.cpp.queries import WrittenCall
    from gn_tutorial.cpp.syntax import Node, Syntax


#: A tensor, or a part of one.
_VIEWS = ("identifier", "subscript_expression", "field_expression")
_AUTO = "placeholder_type_specifier"
_KINDS = ("number_literal", "qualified_identifier", "subscript_expression", "<<<")


class LineFacts(NamedTuple):
    """What stands on a line. numbers: literals; whole: those that are arguments. names: qualified ones, such as a::b.

    subscripts: name and index. launches: ``<<<``. lacks_template: the line is in an ``if constexpr`` whose branches are
    all compiled, because no template is around it.
    """

    numbers: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    subscripts: tuple[tuple[str, str], ...] = ()
    launches: bool = False
    lacks_template: bool = False


def buffer_names(text: str, line: int) -> list[str]:
    """Return the first argument of each InitBuffer call on a line."""
    made = (call for call in _calls(text, "InitBuffer") if call.line <= line <= call.end)
    return [call.arguments[0] for call in made if call.arguments]


def first_call(text: str, name: str) -> tuple[int, int] | None:
    """Return line and column of the first call of a function; None if there is no call."""
    return next(((call.line, call.column) for call in _calls(text, name)), None)


def line_facts(text: str, line: int) -> LineFacts:
    """Return what stands on a line, in errors of the text too."""
    if (syntax := _syntax(text)) is None:
        return LineFacts()
    found = [one for one in syntax.nodes(*_KINDS, errors=True) if syntax.line(one) == line]
    numbers = [one for one in found if one.type == "number_literal"]
    whole = [one for one in numbers if (around := syntax.parent(one)) is not None and around.type == "argument_list"]
    subscripts = [one for one in found if one.type == "subscript_expression"]
    return LineFacts(
        tuple(map(syntax.text, numbers)),
        tuple(word for word in map(syntax.text, whole) if word.removeprefix("-").isdecimal()),
        tuple(_named(one, syntax) for one in found if one.type == "qualified_identifier"),
        tuple(pair for one in subscripts if (pair := _subscript(one, syntax))),
        any(one.type == "<<<" for one in found),
        _lacks_template(syntax, line),
    )


def find_name(line: str, name: str, *, called: bool = False, nth: int = 0) -> tuple[int, int] | None:
    """Return start and end of ``name`` in a line, from 0: its first call ``f(`` or ``f<...>(``, else its first mention.

    Returns None if the line does not mention the name, or, with ``called``, does not call it. nth: find this one of the
    calls, or of the mentions if there is no call, counted from 0, and begin again after the last. ``Queue::Get`` is
    searched as ``Get``; comments and strings do not count.
    """
    words, last = _words(line), name.rpartition("::")[2]
    found = [index for index, (word, _) in enumerate(words) if word == last]
    calls = [index for index in found if _is_call([word for word, _ in words[index + 1 :]])]
    chosen = calls or ([] if called else found)
    if not chosen:
        return None
    at = words[chosen[nth % len(chosen)]][1]
    return at, at + len(last)


def _is_call(behind: Sequence[str]) -> bool:
    depth = 0
    for word in behind:
        if depth == 0 and word != "<":
            return word == "("
        depth += (word == "<") - word.count(">")
    return False


def code_span(line: str) -> tuple[int, int]:
    """Return start and end of the code in a line, from 0; of all but the white space if it has only a comment."""
    words = _words(line)
    if not words:
        return len(line) - len(line.lstrip()), len(line.rstrip())
    return words[0][1], words[-1][1] + len(words[-1][0])


def _words(line: str) -> list[tuple[str, int]]:
    from gn_tutorial.cpp.queries import placed_words

    return list(placed_words(line if _syntax(line) else ""))


def assignment_with(text: str, sign: str, line: int) -> int:
    """Return the line of the first ``z = x SIGN y`` behind ``line`` between two names or views of them; 0 for none."""
    syntax = _syntax(text)
    for node in syntax.nodes("assignment_expression", "init_declarator", errors=True) if syntax else ():
        value = node.child_by_field_name("right") or node.child_by_field_name("value")
        operator = value.child_by_field_name("operator") if value is not None else None
        sides = [value.child_by_field_name(side) for side in ("left", "right")] if value is not None else []
        views = all(side is not None and side.type in _VIEWS for side in sides)
        if operator is not None and operator.type == sign and views and syntax.line(operator) > line:
            return syntax.line(operator)
    return 0


def _syntax(text: str) -> Syntax | None:
    try:
        from gn_tutorial.cpp.syntax import parse

        return parse(text)
    except ArgumentError:
        return None


def _calls(text: str, name: str) -> Iterator[WrittenCall]:
    from gn_tutorial.cpp.queries import calls

    return calls(text if _syntax(text) else "", name)


def _named(node: Node, syntax: Syntax) -> tuple[str, str]:
    """Return the scope and the name of a qualified name, without template arguments; the name may be qualified too."""
    scope, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
    inner = name.child_by_field_name("name") if name is not None and name.type.startswith("template_") else name
    return syntax.text(scope) if scope else "", syntax.text(inner) if inner else ""


def _subscript(node: Node, syntax: Syntax) -> tuple[str, str] | None:
    owner, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
    if owner is None or indices is None or owner.type != "identifier":
        return None
    return syntax.text(owner), syntax.text(indices)[1:-1]


def _lacks_template(syntax: Syntax, line: int) -> bool:
    inside = (one for one in syntax.nodes("if_statement") if syntax.line(one) <= line <= syntax.last_line(one))
    constant = next((one for one in inside if any(word.type == "constexpr" for word in one.children)), None)
    return constant is not None and not _is_generic(constant, syntax)


def _is_generic(node: Node, syntax: Syntax) -> bool:
    """Whether a node is inside a template, or a function whose parameters are ``auto``."""
    from gn_tutorial.cpp.declarators import parameters

    for around in syntax.enclosing(node, "template_declaration", "function_definition", "lambda_expression"):
        deduced = (one for given in parameters(around) for one in syntax.nodes(_AUTO, within=given))
        if around.type == "template_declaration" or next(deduced, None) is not None:
            return True
    return False
