"""Sizes, alignments and fields of types, by the ABI that g++ and clang share on 64-bit Linux (Itanium).

Each field lies at the next multiple of its alignment, and a struct's size is a multiple of the largest one. Not read
are unions, bit-fields, pointers, virtual functions, templates, packing by attributes, and a base whose last bytes a
derived class may use.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gn_tutorial.cpp.declarators import NAMES, chain
from gn_tutorial.cpp.directives import MACRO_BASE, expression
from gn_tutorial.cpp.integers import Number, Unreadable, converted, evaluate, path
from gn_tutorial.cpp.members import bases, is_macro, members, refuse_placing_attributes, shown, tag_of
from gn_tutorial.cpp.scoped_text import ScopedText, Scopes
from gn_tutorial.cpp.scopes import STRUCTS, Declaration, NamePlace, Scope
from gn_tutorial.cpp.syntax import Node, Syntax
from gn_tutorial.errors import ArgumentError

#: A struct of more fields or bytes is not read, and no type or namespace nested more deeply.
_MOST_FIELDS, _MOST_BYTES, _DEEPEST = 1 << 14, 1 << 31, 50

#: Fundamental types and those of the library's headers, by NumPy's name. ge::DataType is an enum.
_TYPES = {"float": "f4", "double": "f8", "half": "f2", "bool": "?", "size_t": "u8", "ptrdiff_t": "i8", "intptr_t": "i8",
          "uintptr_t": "u8", "intmax_t": "i8", "uintmax_t": "u8", "char8_t": "u1", "char16_t": "u2", "char32_t": "u4",
          "wchar_t": "i4", "DataType": "i4"}  # fmt: skip
_EXACT = re.compile(r"(u?)int(?:_least)?(8|16|32|64)_t")
_WORDS = frozenset(("signed", "unsigned", "char", "short", "int", "long"))


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


class TypeLayout(NamedTuple):
    """Size, alignment and fields of a type; a number has one field, without a name. used: bytes to the last field's."""

    size: int
    align: int
    fields: tuple[Field, ...]
    used: int

    @property
    def number(self) -> Field | None:
        """The only field of a number or of an array of numbers."""
        return self.fields[0] if len(self.fields) == 1 and not self.fields[0].name else None


class Types:
    """Reads the structs of several texts. A text is parsed when a name that it contains is looked up."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.scopes = Scopes(texts)
        self._open: list[object] = []  # what is being resolved, to find what refers to itself

    def value(self, node: Node, place: NamePlace) -> Number:
        """Return the value of an expression. Raises Unreadable."""
        return evaluate(node, place.syntax, _At(self, place))

    def struct(self, name: str) -> Declaration:
        """Return the first definition of a struct, a plain one before one by macros. Raises Unreadable("")."""
        found = [one for one in self.scopes.named(path(name), types=True) if one.node.type in STRUCTS]
        if not found:
            raise Unreadable("")
        return min(found, key=lambda one: (one.place.scope.local, is_macro(one)))

    def layout(self, entry: Declaration) -> TypeLayout:
        """Return the layout of a struct. Raises Unreadable."""
        around = entry.place.syntax.parent(entry.node)
        if around is not None and around.type == "template_declaration":
            raise Unreadable(f"{entry.name} is a template")
        with self.resolving((entry.place.text.index, entry.node.id)):
            return self._laid_out(entry, entry.inside)

    def _laid_out(self, entry: Declaration, inner: NamePlace) -> TypeLayout:
        refuse_placing_attributes(entry.node, inner.syntax)
        pack = _pack_at(inner.syntax, entry.node.start_byte) or _MOST_BYTES
        at, align, fields = 0, 8 if is_macro(entry) else 1, list[Field]()
        for base in self._base_entries(entry):
            read = self.layout(base)
            if read.used not in (0, read.size):
                raise Unreadable(f"the base {base.name} ends with padding")
            align = max(align, min(read.align, pack))
            at = -(-at // min(read.align, pack)) * min(read.align, pack)
            fields += [_moved(one, "", at) for one in read.fields]
            at += read.used
        for member in members(entry):
            read = self._declared(self.resolved(member.type, inner), member.declarator, inner)
            own = max(min(read.align, pack), *self._alignments(member.node, inner))
            at = -(-at // own) * own
            fields += [_moved(one, member.name, at) for one in read.fields]
            at, align = at + read.size, max(align, own)
            if len(fields) > _MOST_FIELDS or at > _MOST_BYTES:
                raise Unreadable(f"{entry.name} is too large")
        align = max(align, *self._alignments(entry.node, inner))
        return TypeLayout(-(-max(at, 1) // align) * align, align, tuple(fields), at)

    def member_names(self, entry: Declaration) -> list[str]:
        """Return the names of the data members, those of bases first. Raises Unreadable."""
        with self.resolving(("names", entry.place.text.index, entry.node.id)):
            above = [name for base in self._base_entries(entry) for name in self.member_names(base)]
            return above + [member.name for member in members(entry)]

    def resolved(self, node: Node, place: NamePlace) -> TypeLayout:
        """Return the layout of the type that a node names or defines. Raises Unreadable."""
        match node.type:
            case "type_descriptor":
                of = node.child_by_field_name("type")
                declarator = node.child_by_field_name("declarator")
                if of is None:
                    raise Unreadable(place.syntax.text(node))
                read = self.resolved(of, place)
                return self._declared(read, declarator, place) if declarator else read
            case "primitive_type" | "sized_type_specifier":
                return _number_layout(_fundamental(place.syntax.text(node)))
            case "enum_specifier" if node.child_by_field_name("body"):
                return self._enum(Declaration("", "type", place, node, node))
            case "struct_specifier" | "class_specifier" if node.child_by_field_name("body"):
                return self.layout(Declaration(tag_of(node, place.syntax), "type", place, node, node))
            case "struct_specifier" | "class_specifier" | "enum_specifier":
                return self._of_name(path(tag_of(node, place.syntax)), place)
            case "type_identifier" | "identifier":
                return self._of_name(path(place.syntax.text(node)), place)
            case "qualified_identifier":
                last = node
                while last.type == "qualified_identifier" and (deeper := last.child_by_field_name("name")):
                    last = deeper
                if last.type == "template_type":
                    return self._std_array(node, last, place)
                return self._of_name(path(place.syntax.text(node)), place)
            case "template_type":
                return self._std_array(node, node, place)
        raise Unreadable(shown(node, place.syntax))

    def constant_of(self, name: tuple[str, ...], place: NamePlace) -> Number:
        """Return the value of a constant, an enumerator, or a macro of another text. Raises Unreadable."""
        entry = self.scopes.meant(name, place, types=False)
        if entry is None:
            return self._macro_value(name)
        with self.resolving(("value", entry.place.text.index, entry.node.id, name[-1])):
            if entry.node.type == "enum_specifier":
                return self._enumerators(entry)[name[-1]]
            value = _initialiser(entry.declarator, entry.node)
            if value is None:
                raise Unreadable("::".join(name))
            number = self.value(value, entry.place)
            of = entry.node.child_by_field_name("type")
            if of is None or of.type == "placeholder_type_specifier":
                return number
            return converted(number, _At(self, entry.place).measured(of)[2])

    def _macro_value(self, name: tuple[str, ...]) -> Number:
        bodies = [macros[name[0]] for macros in self.scopes.macros.values() if name[0] in macros]
        if len(name) > 1 or not bodies:
            raise Unreadable("::".join(name))
        with self.resolving(("macro", name)):
            value, syntax = expression(bodies[0])
            return self.value(value, self.place_of(syntax))

    def _of_name(self, name: tuple[str, ...], place: NamePlace) -> TypeLayout:
        entry = self.scopes.meant(name, place, types=True)
        if entry is None:
            return _number_layout(_fundamental("::".join(name)))
        if entry.node.type == "enum_specifier":
            return self._enum(entry)
        if entry.node.type in STRUCTS:
            return self.layout(entry)
        of = entry.node.child_by_field_name("type")
        if of is None:
            raise Unreadable("::".join(name))
        with self.resolving(("alias", entry.place.text.index, entry.node.id)):
            read = self.resolved(of, entry.place)
            return self._declared(read, entry.declarator, entry.place) if entry.declarator else read

    def _declared(self, read: TypeLayout, declarator: Node, place: NamePlace) -> TypeLayout:
        """Return the layout of what a declarator makes of a type: itself or arrays of it. Raises Unreadable."""
        for one in chain(declarator):
            if one.type in ("array_declarator", "abstract_array_declarator"):
                read = _array(read, self.length(one, place))
            elif one.type not in (*NAMES, "parenthesized_declarator"):
                raise Unreadable(shown(one, place.syntax))
        return read

    def length(self, declarator: Node, place: NamePlace) -> int:
        """Return the length in an array's declarator. Raises Unreadable."""
        size = declarator.child_by_field_name("size")
        if size is None:
            raise Unreadable(shown(declarator, place.syntax))
        return self.value(size, place).value

    def _std_array(self, whole: Node, node: Node, place: NamePlace) -> TypeLayout:
        """Return the layout of ``std::array<type, count>``. Raises Unreadable for another template."""
        arguments, name = node.child_by_field_name("arguments"), path(place.syntax.text(whole).partition("<")[0])
        if arguments is None or arguments.named_child_count != 2 or name not in (("std", "array"), ("array",)):
            raise Unreadable(shown(whole, place.syntax))
        of, count = arguments.named_children
        if count.type == "type_descriptor":  # a name alone may be of a type or of a constant
            count = count.named_children[0]
        is_name = "identifier" in count.type
        number = self.constant_of(path(place.syntax.text(count)), place) if is_name else self.value(count, place)
        return _array(self.resolved(of, place), number.value)

    def _enum(self, entry: Declaration) -> TypeLayout:
        """Return the layout of an enum: its underlying type, or what g++ and clang take if none is given."""
        base = entry.node.child_by_field_name("base")
        if base is not None:
            return self.resolved(base, entry.place)
        if any(one.type in ("class", "struct") for one in entry.node.children):
            return _number_layout("i4")
        values = [number.value for number in self._enumerators(entry).values()] or [0]
        kinds = ("i4", "i8") if min(values) < 0 else ("u4", "u8")
        return _number_layout(next(one for one in kinds if converted(Number(max(values)), one).value == max(values)
                                   and converted(Number(min(values)), one).value == min(values)))  # fmt: skip

    def _enumerators(self, entry: Declaration) -> dict[str, Number]:
        found: dict[str, Number] = {}
        at, next_value = _InEnum(self, entry.place, found), 0
        for name, value in _enumerators(entry.node, entry.place.syntax):
            found[name] = Number(next_value) if value is None else evaluate(value, entry.place.syntax, at)
            next_value = found[name].value + 1
        return found

    def _base_entries(self, entry: Declaration) -> Iterator[Declaration]:
        for node in bases(entry.node):
            name = entry.place.syntax.text(node)
            if name == MACRO_BASE:
                continue
            found = self.scopes.meant(path(name), entry.place, types=True) if "identifier" in node.type else None
            if found is None or found.node.type not in STRUCTS:
                raise Unreadable(shown(node, entry.place.syntax))
            yield found

    def _alignments(self, node: Node, place: NamePlace) -> list[int]:
        """Return what the alignas in front of a declaration or a struct's name demand, and 1."""
        found = [1]
        for child in node.named_children:
            if child.type == "field_declaration_list":
                break
            for one in (child, *child.named_children):
                if one.type == "alignas_qualifier" and one.named_children:
                    given = one.named_children[0]
                    name = path(place.syntax.text(given)) if "identifier" in given.type else ()
                    is_type = given.type in ("type_descriptor", "primitive_type") or (
                        name and self.scopes.meant(name, place, types=True)
                    )
                    value = self.resolved(given, place).align if is_type else self.value(given, place).value
                    if value < 0 or value & (value - 1):
                        raise Unreadable(shown(one, place.syntax))
                    found.append(value)
        return found

    def place_of(self, syntax: Syntax) -> NamePlace:
        """Return the place of an expression that stands in no text."""
        return NamePlace(ScopedText(syntax, Scope("namespace")), self.scopes.root)

    def resolving(self, what: object) -> _Resolving:
        """Return a context in which ``what`` is being read. Raises Unreadable if it is already."""
        return _Resolving(self._open, what)


class _At:
    """What an expression asks of its place (``integers.Names``)."""

    def __init__(self, reader: Types, place: NamePlace) -> None:
        self.reader, self.place = reader, place

    def number(self, name: tuple[str, ...]) -> Number:
        return self.reader.constant_of(name, self.place)

    def measured(self, type_node: Node) -> tuple[int, int, str]:
        found = self.reader.resolved(type_node, self.place)
        number = found.number
        return found.size, found.align, number.dtype.str[1:].replace("b1", "?") if number and number.count == 1 else ""


class _InEnum(_At):
    """The same inside an enum, whose enumerators so far have values."""

    def __init__(self, reader: Types, place: NamePlace, before: Mapping[str, Number]) -> None:
        super().__init__(reader, place)
        self.before = before

    def number(self, name: tuple[str, ...]) -> Number:
        return self.before[name[-1]] if name[-1] in self.before else super().number(name)


class _Resolving:
    """Refuses what refers to itself, and what is nested too deeply."""

    def __init__(self, opened: list[object], what: object) -> None:
        self.opened, self.what = opened, what

    def __enter__(self) -> None:
        if self.what in self.opened or len(self.opened) > _DEEPEST:
            raise Unreadable(str(self.what))
        self.opened.append(self.what)

    def __exit__(self, *_: object) -> None:
        self.opened.pop()


def _enumerators(node: Node, syntax: Syntax) -> Iterator[tuple[str, Node | None]]:
    """Yield the enumerators of an enum, and the expressions that give their values."""
    body = node.child_by_field_name("body")
    for one in body.named_children if body else ():
        name = one.child_by_field_name("name")
        if one.type == "enumerator" and name is not None:
            yield syntax.text(name), one.child_by_field_name("value")


def _pack_at(syntax: Syntax, at: int) -> int | None:
    """Return the largest alignment that ``#pragma pack`` leaves at an offset; None for any. Raises Unreadable."""
    found = [value for start, value in _packings(syntax) if start < at]
    if found and found[-1] < 0:
        raise Unreadable("#pragma pack")
    return found[-1] or None if found else None


@functools.lru_cache(maxsize=8)
def _packings(syntax: Syntax) -> list[tuple[int, int]]:
    """Return where ``#pragma pack`` stands, and the packing from there on: 0 for none, -1 for one that is not known."""
    now, stack, packings = 0, list[int](), list[tuple[int, int]]()
    for node in syntax.nodes("preproc_call") if "pragma" in syntax.text(syntax.root) else ():
        found = re.match(r"#\s*pragma\s+pack\b\s*(.*)", syntax.text(node))
        if found is None:
            continue
        words = re.findall(r"[^\s(),]+", found[1])
        if words[:1] == ["push"]:
            stack.append(now)
        elif words[:1] == ["pop"]:
            now = stack.pop() if stack else 0
        sizes = [int(one) for one in words if one in ("1", "2", "4", "8", "16")]
        now = sizes[0] if sizes else now if words else 0
        known = set(words) <= {"push", "pop", *map(str, sizes)}
        packings.append((node.start_byte, now if known else -1))
    return packings


def _initialiser(declarator: Node | None, node: Node) -> Node | None:
    """Return the expression that initialises a constant: ``= 4``, ``{4}`` or ``(4)``."""
    if declarator is None:
        return None
    value = declarator.child_by_field_name("value")
    if declarator.type == "field_identifier":  # in a struct the value follows the name
        after = dict(itertools.pairwise(node.named_children)).get(declarator)
        value = after if after in node.children_by_field_name("default_value") else None
    if value is not None and value.type in ("initializer_list", "argument_list"):
        return value.named_children[0] if value.named_child_count == 1 else None
    return value


def _fundamental(text: str) -> str:
    """Return NumPy's name of a type that the language or a standard header has. Raises Unreadable."""
    words = text.split()
    if words and set(words) <= _WORDS:
        bits = 1 if "char" in words else 2 if "short" in words else 8 if "long" in words else 4
        return ("u" if "unsigned" in words else "i") + str(bits)
    name = path(text)
    plain = name[-1] if name[:-1] in ((), ("std",), ("ge",), ("AscendC",)) else ""
    if found := _EXACT.fullmatch(plain):
        return ("u" if found[1] else "i") + str(int(found[2]) // 8)
    if plain not in _TYPES:
        raise Unreadable(text)
    return _TYPES[plain]


def _number_layout(kind: str) -> TypeLayout:
    dtype = np.dtype(kind)
    return TypeLayout(dtype.itemsize, dtype.itemsize, (Field("", dtype, 1, 0),), dtype.itemsize)


def _array(of: TypeLayout, count: int) -> TypeLayout:
    """Return the layout of an array. Of numbers it is one field; of structs of one element it has no index."""
    if not 0 < count * max(of.size, len(of.fields)) <= _MOST_BYTES:
        raise Unreadable(f"[{count}]")
    if (number := of.number) is not None:
        fields = (Field("", number.dtype, number.count * count, 0),)
    elif count * len(of.fields) > _MOST_FIELDS:
        raise Unreadable(f"[{count}]")
    elif count == 1:
        fields = of.fields
    else:
        fields = tuple(_moved(one, f"[{index}]", index * of.size) for index in range(count) for one in of.fields)
    return TypeLayout(of.size * count, of.align, fields, of.size * count)


def _moved(field: Field, outer: str, by: int) -> Field:
    """Return a field of a member as one of the struct around it."""
    joined = "." if outer and field.name and not field.name.startswith("[") else ""
    return Field(f"{outer}{joined}{field.name}", field.dtype, field.count, by + field.offset)
