"""The fields of tiling structs, read from C++ text: names, types, offsets.

A struct is written plainly (9.x) or with CANN's macros (8.x). ``layouts`` says what is not read.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.cpp.directives import expression
from gn_tutorial.cpp.integers import Unreadable, path
from gn_tutorial.cpp.layouts import Field, Types
from gn_tutorial.cpp.members import Member, bases, is_macro, members
from gn_tutorial.cpp.names import leaf_of
from gn_tutorial.cpp.queries import calls
from gn_tutorial.cpp.scopes import Declaration
from gn_tutorial.cpp.syntax import parse
from gn_tutorial.cpp.variables import Variables
from gn_tutorial.errors import ArgumentError


@dataclass(frozen=True)
class Struct:
    """A tiling struct: its fields in order, and its size in bytes."""

    name: str
    fields: tuple[Field, ...]
    nbytes: int


def read_struct(name: str, texts: Mapping[Path, str]) -> Struct | None:
    """Return the struct of that name, found in one of the texts; None where it cannot be read."""
    try:
        reader = _reader(tuple(texts.values()))
        read = reader.layout(reader.struct(name))
    except (Unreadable, ArgumentError):
        return None
    return Struct(name, read.fields, read.size)


def struct_file(name: str, texts: Mapping[Path, str]) -> Path | None:
    """Return the file whose text defines the struct that ``read_struct`` reads; None without one."""
    try:
        return list(texts)[_reader(tuple(texts.values())).struct(name).place.text.index]
    except (Unreadable, ArgumentError):
        return None


def fields_read(struct: str, text: str, texts: Mapping[Path, str]) -> set[str]:
    """Return the names of a struct's fields that a text reads: those of objects whose type is the struct or not known.

    texts: for aliases of the struct. Raises ArgumentError for a text that is too long.
    """
    variables, types = Variables(parse(text)), _reader(tuple(texts.values()))
    found = {one.arguments[1] for one in calls(text, "GET_TILING_DATA_MEMBER") if len(one.arguments) > 1}
    written = {one.name.id for one in variables.assignments}
    for node in (one for one in variables.nodes if one.type == "field_expression"):
        of, field = (node.child_by_field_name(one) for one in ("argument", "field"))
        kind = variables.known_type(of) if of else ""
        if field and field.id not in written and (not kind or _is_alias(kind, struct, types)):
            found.add(variables.last_name(field))
    return found


def _is_alias(name: str, struct: str, types: Types) -> bool:
    """Return whether a type may be the struct: by its name, by an alias, or by one whose meaning is not known."""
    if name == struct:
        return True
    try:
        with types.resolving(("alias", name)):
            known = types.scopes.named((name,), types=True, local=True)
            alias = next((one for one in known if one.node.type in ("alias_declaration", "type_definition")), None)
            of = alias.node.child_by_field_name("type") if alias is not None else None
            if alias is None or of is None:
                return False
            return _is_alias(alias.place.syntax.text(leaf_of(of.child_by_field_name("type") or of)), struct, types)
    except (Unreadable, ArgumentError):
        return True


def struct_members(name: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a struct's non-static data members, those of its bases first. Raises Unreadable.

    Their types need not be known. The message of Unreadable is the member, or empty if there is no such struct.
    """
    reader = _reader(tuple(texts))
    return tuple(reader.member_names(reader.struct(name)))


def is_derived(name: str, texts: Sequence[str]) -> bool:
    """Return whether a struct has a base. Raises Unreadable."""
    return bool(bases(_reader(tuple(texts)).struct(name).node))


def constant(text: str, texts: Mapping[Path, str]) -> int | None:
    """Return the value of a constant expression in the names of the texts; None for anything else."""
    try:
        value, syntax = expression(text)
        reader = _reader(tuple(texts.values()))
        return reader.value(value, reader.place_of(syntax)).value
    except (Unreadable, ArgumentError):
        return None


def injected_header(op_type: str, chosen: str, texts: Mapping[Path, str], others: tuple[str, ...] = ()) -> str | None:
    """Return a header with the macro struct ``chosen`` as the default of ``op_type``, and ``others``.

    Macro structs that are fields come along. Returns None if a struct cannot be read or is not defined by macros.
    """
    written: dict[str, str] = {}
    try:
        for name in (*others, chosen):
            _write_macros(name, _reader(tuple(texts.values())), written)
    except (Unreadable, ArgumentError):
        return None
    lines = ['#include "register/tilingdata_base.h"', "namespace optiling {", *written.values()]
    return "\n".join([*lines, f"REGISTER_TILING_DATA_CLASS({op_type}, {chosen})", "}", ""])


@functools.lru_cache(maxsize=8)
def _reader(texts: tuple[str, ...]) -> Types:
    return Types(texts)


def _write_macros(name: str, types: Types, written: dict[str, str]) -> None:
    """Add the macro struct of that name, and those that are its fields, to ``written``. Raises Unreadable."""
    entry = _macro_struct(name, types)
    if entry is None:
        raise Unreadable(name)
    if name not in written:
        with types.resolving(("macros", name)):
            lines = [_macro_field(member, entry, types, written) for member in members(entry)]
        written[name] = "\n".join([f"BEGIN_TILING_DATA_DEF({name})", *lines, "END_TILING_DATA_DEF;"])


def _macro_field(member: Member, entry: Declaration, types: Types, written: dict[str, str]) -> str:
    ctype, count, declarator = entry.place.syntax.text(member.type), 1, member.declarator
    while declarator.type == "array_declarator":
        count *= types.length(declarator, entry.place)
        declarator = declarator.child_by_field_name("declarator") or declarator
    if declarator is not member.declarator:
        return f"TILING_DATA_FIELD_DEF_ARR({ctype}, {count}, {member.name});"
    if member.node.named_children[0].type != "type_qualifier":
        return f"TILING_DATA_FIELD_DEF({ctype}, {member.name});"
    # ``directives`` writes alignas for a nested struct. One that the texts do not define is CANN's own.
    if _macro_struct(ctype, types) is not None:
        _write_macros(ctype, types, written)
    return f"TILING_DATA_FIELD_DEF_STRUCT({ctype}, {member.name});"


def _macro_struct(name: str, types: Types) -> Declaration | None:
    return next((one for one in types.scopes.named(path(name), types=True) if is_macro(one)), None)
