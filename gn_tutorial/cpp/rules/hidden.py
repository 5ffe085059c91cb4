"""Local variables that hide a member which nothing writes: ``int32_t end_ = ...``, where ``end_ = ...`` was meant."""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.code_parts import CodePart
from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.rules.never_set import SuspectedVariable, is_number
from gn_tutorial.cpp.syntax import Node


def hidden(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at a variable of a class's function with the name of a member that only other functions read."""
    members: dict[tuple[str, str], list[CodePart]] = {}
    for part in code.parts:
        for name in part.names if part.kind == "variable" and part.owner else ():
            members.setdefault((part.owner, name), []).append(part)
    for node in code.nodes["init_declarator"]:
        name, part = node.child_by_field_name("declarator"), code.function_of(node)
        around = code.syntax.parent(node)
        if name is None or name.type != "identifier" or part is None or around is None:
            continue
        found = members.get((part.owner, code.text(name)), [])
        if len(found) == 1 and _is_plain(code, around) and _is_read_elsewhere(code, found[0], name, part):
            yield code.finding("hidden", name, **{"name": code.text(name), "op": code.text(name), "class": part.owner})


def _is_plain(code: DeviceCode, declaration: Node) -> bool:
    kind = declaration.child_by_field_name("type")
    return kind is not None and (kind.type == "placeholder_type_specifier" or is_number(code, kind))


def _is_read_elsewhere(code: DeviceCode, member: CodePart, name: Node, function: CodePart) -> bool:
    variable = SuspectedVariable.member(code, member, code.text(name))
    if variable is None or variable.may_be_written:
        return False
    return any(code.function_of(one) is not function for one in variable.reads)
