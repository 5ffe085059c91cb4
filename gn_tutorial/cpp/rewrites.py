"""Rewrites sources of operator projects: their calls, and tiling from CANN 9.x's form into 8.x's.

In 9.x a tiling struct is plain C++. In 8.x macros define its fields, the tiling function sets them by ``set_``
functions and saves them, and the build adds the struct to the kernel, which does not include it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.includes import includes
from gn_tutorial.cpp.queries import calls
from gn_tutorial.cpp.syntax import Node, Syntax, parse

_REGISTERS = "REGISTER_TILING_DEFAULT"
_ASKS, _ASKS_8 = "GET_TILING_DATA_WITH_STRUCT", "GET_TILING_DATA"
_SAVES = """\
  auto* raw = context->GetRawTilingData();
  tiling.SaveToBuffer(raw->GetData(), raw->GetCapacity());
  raw->SetDataSize(tiling.GetDataSize());
"""


def without_calls(text: str, name: str) -> str:
    """Return the text without the lines of each statement that calls ``name``."""
    syntax = parse(text)
    return syntax.edited((*syntax.lines(node), "") for node in _calls(syntax, name))


def with_struct(text: str, struct: str) -> str:
    """Return the text with another definition in place of its first struct."""
    syntax = parse(text)
    old = next(syntax.nodes("struct_specifier"))
    return syntax.edited([(old.start_byte, old.end_byte, struct.strip().removesuffix(";"))])


def with_function(text: str, name: str, function: str) -> str:
    """Return the text with another definition in place of the function ``name``."""
    syntax = parse(text)
    for node in syntax.nodes("function_definition"):
        declarator = node.child_by_field_name("declarator")
        declared = declarator.child_by_field_name("declarator") if declarator else None
        if declared is not None and syntax.text(declared) == name:
            return syntax.edited([(node.start_byte, node.end_byte, function.strip())])
    return text


def macro_fields(struct: str) -> str | None:
    """Return the fields of a plain struct as the macros of 8.x, comments included; None if there is no struct."""
    syntax = parse(struct)
    body = next((node.child_by_field_name("body") for node in syntax.nodes("struct_specifier")), None)
    if body is None:
        return None
    edits = [(0, body.start_byte + 1, ""), (body.end_byte - 1, len(struct.encode()), "")]
    for field in syntax.nodes("field_declaration", within=body):
        ctype, declarator = field.child_by_field_name("type"), field.child_by_field_name("declarator")
        if ctype is None or declarator is None:
            continue
        size = declarator.child_by_field_name("size")
        name = declarator.child_by_field_name("declarator") if size else declarator
        words = [syntax.text(one) for one in (ctype, size, name) if one]
        macro = f"TILING_DATA_FIELD_DEF{'_ARR' if size else ''}({', '.join(words)});"
        edits.append((syntax.lines(field)[0], field.end_byte, macro))
    return syntax.edited(edits).strip("\n")


def with_setters(tiling: str) -> str:
    """Return a tiling function for an 8.x struct: ``S tiling``, ``set_`` and ``get_`` calls, SaveToBuffer."""
    syntax = parse(tiling)
    edits: list[tuple[int, int, str]] = []
    assigned = set()
    for node in syntax.nodes("declaration"):
        for one in calls(syntax.text(node), "GetTilingData"):
            edits.append((node.start_byte, node.end_byte, f"{one.types[0]} tiling;"))
    for node in syntax.nodes("assignment_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None and (field := _field(left, syntax)):
            assigned.add(left.id)
            edits += [
                (left.start_byte, right.start_byte, f"tiling.set_{field}("),
                (right.end_byte, right.end_byte, ")"),
            ]
    for node in syntax.nodes("field_expression"):
        if node.id not in assigned and (field := _field(node, syntax)):
            edits.append((node.start_byte, node.end_byte, f"tiling.get_{field}()"))
    *_, last = syntax.nodes("return_statement")
    at = syntax.lines(last)[0]
    return syntax.edited([*edits, (at, at, _SAVES)])


def without_struct(kernel: str) -> str:
    """Return the kernel for an 8.x build, without the struct's include, registration and name."""
    for one in reversed(includes(kernel)):
        if one.quoted and one.name.endswith("_tiling.h") and "/" not in one.name:
            kernel = kernel[: one.start] + kernel[one.end + 1 :]
    syntax = parse(without_calls(kernel, _REGISTERS))
    edits = []
    for statement in _calls(syntax, _ASKS):
        call = statement.named_children[0]
        _, *rest = [syntax.text(one) for one in call.children_by_field_name("arguments")[0].named_children]
        edits.append((call.start_byte, call.end_byte, f"{_ASKS_8}({', '.join(rest)})"))
    return syntax.edited(edits)


def _calls(syntax: Syntax, name: str) -> Iterator[Node]:
    """Yield the statements that are a call of ``name``, of a member too."""
    for node in syntax.nodes("expression_statement"):
        call = node.named_children[0] if node.named_children else node
        function = call.child_by_field_name("function")
        called = function.child_by_field_name("field") or function if function else None
        if called is not None and syntax.text(called) == name:
            yield node


def _field(node: Node, syntax: Syntax) -> str:
    """Return the field that ``tiling->field`` names; "" for any other expression."""
    owner, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
    return syntax.text(field) if owner is not None and field is not None and syntax.text(owner) == "tiling" else ""
