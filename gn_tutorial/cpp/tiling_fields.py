"""The fields of a project's tiling struct, read from its text: a macro struct (8.x) or a plain one (9.x).

Layout: a field is aligned to its own size; of macro structs nested ones and the whole are aligned to 8 bytes
(docs/zh/api, Utils-API/Tiling数据结构注册), of plain ones to their largest field. The caller compares the size with
that of the bytes that the tiling function gave: a struct that was misread is shown as numbers without names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gn_tutorial.errors import ArgumentError

_TYPES = {
    "int8_t": "i1", "char": "i1", "uint8_t": "u1", "bool": "?", "int16_t": "i2", "uint16_t": "u2", "half": "f2",
    "int32_t": "i4", "int": "i4", "uint32_t": "u4", "unsigned": "u4", "unsigned int": "u4", "float": "f4",
    "int64_t": "i8", "long": "i8", "long long": "i8", "uint64_t": "u8", "size_t": "u8", "double": "f8",
    "ge::DataType": "i4",
}  # fmt: skip
_MACRO = re.compile(r"\bTILING_DATA_FIELD_DEF(_ARR|_STRUCT)?\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_DECLARED = re.compile(
    r"^\s*(?:alignas\s*\(\s*(\d+)\s*\)\s*)?(?:const\s+)?((?:\w|::|\s)+?)\s+(\w+\s*(?:[\[={,].*)?)$", re.DOTALL
)


@dataclass(frozen=True)
class Field:
    """One field: its dtype, an element's, and how many elements; a nested struct's are named ``outer.inner``."""

    name: str
    dtype: np.dtype
    count: int
    offset: int

    @property
    def nbytes(self) -> int:
        """Bytes of all its elements."""
        return self.dtype.itemsize * self.count

    def value(self, data: bytes) -> int | float | bool | list[int | float | bool]:
        """What the field holds in the struct's bytes."""
        found = np.frombuffer(data, self.dtype, self.count, self.offset).tolist()
        return found[0] if self.count == 1 else found

    def write(self, data: bytearray, value: int | float) -> None:
        """Put a value into the struct's bytes. Raises ArgumentError for one that the type does not hold."""
        try:
            # NumPy 2 refuses a whole number beyond the type; a float is rounded.
            made = np.full(self.count, value).astype(self.dtype, casting="unsafe")
            if self.dtype.kind in "iu" and int(made[0]) != value:
                raise OverflowError
        except (OverflowError, ValueError, TypeError):
            raise ArgumentError(f"{self.name} is {self.dtype} and cannot be {value!r}") from None
        data[self.offset : self.offset + self.nbytes] = made.tobytes()


@dataclass(frozen=True)
class Struct:
    """A tiling struct: its fields in order, and its size in bytes."""

    name: str
    fields: tuple[Field, ...]
    nbytes: int


class Unreadable(Exception):
    """A struct or a number that the text does not give."""


def read_struct(name: str, texts: Mapping[Path, str]) -> Struct | None:
    """The struct of that name, found in one of the texts (comments removed); None where it cannot be read."""
    try:
        fields, size, _ = _read(name, texts, ())
    except Unreadable:
        return None
    return Struct(name, tuple(fields), size)


def constant(text: str, texts: Mapping[Path, str]) -> int | None:
    """The value of a number or of a named constant of the texts; None for anything else."""
    try:
        return number(text, texts)
    except Unreadable:
        return None


def macro_fields(name: str, texts: Mapping[Path, str]) -> list[tuple[str, str, str, str]]:
    """The fields of a macro struct: ``""``, ``_ARR`` or ``_STRUCT``, then type, name and count. Raises Unreadable."""
    begin = rf"\bBEGIN_TILING_DATA_DEF\s*\(\s*{re.escape(name)}\s*\)"
    pattern = re.compile(rf"{begin}(.*?)\bEND_TILING_DATA_DEF", re.DOTALL)
    for text in texts.values():
        if found := pattern.search(text):
            return [_of_macro(one) for one in _MACRO.finditer(found[1])]
    raise Unreadable(name)


def _read(name: str, texts: Mapping[Path, str], inside: tuple[str, ...]) -> tuple[list[Field], int, int]:
    """Fields, size and alignment."""
    if name in inside:
        raise Unreadable(name)
    plain = re.compile(rf"\b(?:struct|class)\s+(?:alignas\s*\(\s*(\d+)\s*\)\s*)?{re.escape(name)}\s*\{{", re.DOTALL)
    for text in texts.values():
        if found := plain.search(text):
            body = _body(text, found.end())
            declared = [item for statement in body.split(";") for item in _of_plain(statement)]
            return _laid_out(declared, texts, (*inside, name), least=int(found[1] or 1), nested=1)
    of_macros = [(ctype, field, count, 0) for _, ctype, field, count in macro_fields(name, texts)]
    return _laid_out(of_macros, texts, (*inside, name), least=8, nested=8)


def _body(text: str, start: int) -> str:
    depth, at = 1, start
    while at < len(text) and depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    body = text[start : at - 1]
    # Functions and initialisers are no fields.
    body = re.sub(r"^[ \t]*#.*$", "", body, flags=re.MULTILINE)
    while (
        shorter := re.sub(r"\b(?:public|private|protected)\s*:", " ", re.sub(r"\)[^;{}]*\{[^{}]*\}", ");", body))
    ) != body:
        body = shorter
    return body


def _of_macro(found: re.Match[str]) -> tuple[str, str, str, str]:
    words = [word.strip() for word in found[2].split(",")]
    if found[1] == "_ARR" and len(words) == 3:
        return "_ARR", words[0], words[2], words[1]
    if found[1] != "_ARR" and len(words) == 2:
        return found[1] or "", words[0], words[1], "1"
    raise Unreadable(found[0])


def _of_plain(statement: str) -> list[tuple[str, str, str, int]]:
    if not statement.strip() or "(" in statement.split("=")[0].replace("alignas(", "").replace("alignas (", ""):
        return []
    if re.match(r"\s*(static|using|typedef|friend|enum|template)\b", statement):
        return []
    found = _DECLARED.match(statement)
    if not found:
        raise Unreadable(statement)
    items = []
    for declarator in _split(found[3]):
        parts = re.match(r"\s*(\w+)\s*((?:\[[^\]]*\]\s*)*)", declarator)
        assert parts
        counts = re.findall(r"\[([^\]]*)\]", parts[2])
        items.append(
            (" ".join(found[2].split()), parts[1], "*".join(f"({one})" for one in counts) or "1", int(found[1] or 0))
        )
    return items


def _split(declarators: str) -> list[str]:
    """At the commas that separate names, not at those inside braces."""
    parts, depth = [""], 0
    for char in declarators:
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _laid_out(
    declared: list[tuple[str, str, str, int]],
    texts: Mapping[Path, str],
    inside: tuple[str, ...],
    *,
    least: int,
    nested: int,
) -> tuple[list[Field], int, int]:
    fields: list[Field] = []
    at, widest = 0, least
    for ctype, name, count_text, aligned in declared:
        count = number(count_text, texts)
        kind = _TYPES.get(ctype.removeprefix("std::"))
        if kind is not None:
            dtype = np.dtype(kind)
            align = max(dtype.itemsize, aligned)
            at = -(-at // align) * align
            fields.append(Field(name, dtype, count, at))
            at += dtype.itemsize * count
        else:
            inner, size, align = _read(ctype.split("::")[-1], texts, inside)
            align = max(align, nested, aligned)
            for index in range(count):
                at = -(-at // align) * align
                label = name if count == 1 else f"{name}[{index}]"
                fields += [Field(f"{label}.{one.name}", one.dtype, one.count, at + one.offset) for one in inner]
                at += size
        widest = max(widest, align)
    return fields, -(-at // widest) * widest, widest


def number(text: str, texts: Mapping[Path, str], depth: int = 0) -> int:
    """A whole number from digits, named constants and ``*``, ``+``, ``-``. Raises Unreadable."""
    if depth > 8:
        raise Unreadable(text)

    def named(word: re.Match[str]) -> str:
        name = word[0]
        pattern = (
            rf"#\s*define\s+{name}\s+([^\n]+)|\b(?:constexpr|const|enum)\b[^;{{}}]*\b{name}\s*(?:=|\{{)\s*([^;,}}]+)"
        )
        for source in texts.values():
            if found := re.search(pattern, source):
                return str(number(found[1] or found[2], texts, depth + 1))
        raise Unreadable(name)

    worked = re.sub(r"[A-Za-z_]\w*", named, re.sub(r"(?<=\d)[uUlL]+\b", "", text))
    if not re.fullmatch(r"[\d\s()*+\-]+", worked):
        raise Unreadable(text)
    return int(eval(worked, {"__builtins__": {}}))  # digits and operators only, by the line above


_MACROS = {"": "TILING_DATA_FIELD_DEF", "_ARR": "TILING_DATA_FIELD_DEF_ARR", "_STRUCT": "TILING_DATA_FIELD_DEF_STRUCT"}


def injected_header(op_type: str, chosen: str, texts: Mapping[Path, str], others: tuple[str, ...] = ()) -> str | None:
    """A header with the struct ``chosen`` as the default of ``op_type``, and ``others``; None where one is unreadable.

    texts: of the project's files, comments removed. Nested structs come along.
    """
    written: dict[str, str] = {}
    try:
        for name in (*others, chosen):
            _write_struct(name, texts, written, ())
    except Unreadable:
        return None
    lines = ['#include "register/tilingdata_base.h"', "namespace optiling {", *written.values()]
    return "\n".join([*lines, f"REGISTER_TILING_DATA_CLASS({op_type}, {chosen})", "}", ""])


def _write_struct(name: str, texts: Mapping[Path, str], written: dict[str, str], inside: tuple[str, ...]) -> None:
    if name in written:
        return
    if name in inside:
        raise Unreadable(name)
    lines = [f"BEGIN_TILING_DATA_DEF({name})"]
    for kind, ctype, field, count in macro_fields(name, texts):
        if kind == "_STRUCT" and any(f"({ctype})" in text for text in texts.values()):  # else one of CANN's own
            _write_struct(ctype, texts, written, (*inside, name))
        words = [ctype, str(number(count, texts)), field] if kind == "_ARR" else [ctype, field]
        lines.append(f"{_MACROS[kind]}({', '.join(words)});")
    written[name] = "\n".join([*lines, "END_TILING_DATA_DEF;"])
