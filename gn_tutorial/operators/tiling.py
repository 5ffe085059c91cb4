"""Calls an operator's C++ tiling function from Python, and reads the struct that it fills.

``kernels/<op>/<op>_tiling.h`` is the only place where the work is split: the kernel includes it, NPU host code
includes it, and this module compiles it as a small host library. The struct's fields are parsed from the header's
text, and the compiler then confirms them: the library does not compile if their number or a name is wrong, and exports
the offset, size and kind of each, from which the NumPy dtype is made.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.compiler.build import build_host_library
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators.spec import TilingSpec
from gn_tutorial.tables import html_table, text_table

_MESSAGE_BYTES = 1024
_KINDS = {0: "u", 1: "i", 2: "f", 3: "?"}


@dataclass(frozen=True)
class Tiling:
    """One filled tiling struct. ``bytes`` is what the kernel receives; ``tiling["usedCores"]`` reads a field."""

    name: str
    bytes: bytes
    dtype: np.dtype
    fields: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        record = np.frombuffer(self.bytes, self.dtype)[0]
        object.__setattr__(self, "fields", {name: record[name].tolist() for name in self.dtype.names or ()})

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def with_(self, **values: int | float) -> Tiling:
        """The same struct with other numbers, to try what the host function did not choose.

        ``tiling.with_(tileElements=512)``. Nothing else follows: fields that depend on a changed one are the caller's
        business. Raises ArgumentError for a field that does not exist or cannot hold the number.
        """
        record = np.frombuffer(self.bytes, self.dtype).copy()
        for name, value in values.items():
            if name not in self.fields:
                raise ArgumentError(f"{self.name} has no field '{name}'", hint=f"fields: {', '.join(self)}")
            kind = record.dtype[name]
            whole = kind.kind in "iu" and isinstance(value, int) and not isinstance(value, bool)
            if kind.shape or not (kind.kind == "f" or whole):
                raise ArgumentError(f"{name} of {self.name} is {kind}; it cannot be {value!r}")
            if whole and not np.iinfo(kind).min <= value <= np.iinfo(kind).max:
                raise ArgumentError(f"{name} of {self.name} is {kind}; {value} does not fit")
            record[name] = value
        return Tiling(self.name, record.tobytes(), self.dtype)

    def rows(self) -> list[tuple[str, str, int, str]]:
        """Field name, dtype, byte offset and value as text, in the struct's order."""
        record, places = np.frombuffer(self.bytes, self.dtype)[0], self.dtype.fields or {}
        # A NumPy scalar's text has its own digits: 1e-05, where a Python float shows 9.999999747378752e-06.
        return [(name, str(places[name][0]), places[name][1], str(record[name])) for name in self.fields]

    def __repr__(self) -> str:
        table = text_table(("field", "type", "offset", "value"), self.rows(), indent="  ")
        return f"{self.name}, {len(self.bytes)} bytes\n{table}"

    def _repr_html_(self) -> str:
        caption = f"{self.name}, {len(self.bytes)} bytes"
        return html_table(("field", "type", "offset", "value"), self.rows(), caption=caption)


class TilingFunction:
    """The tiling function of one header, ready to be called. ``load_tiling`` makes it."""

    def __init__(self, spec: TilingSpec, library: Path, field_names: tuple[str, ...]) -> None:
        self.spec = spec
        self._library = ctypes.CDLL(str(library))
        self._library.gnt_make_tiling.argtypes = [
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(ctypes.c_double),
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_uint64,
        ]
        self._library.gnt_make_tiling.restype = ctypes.c_int
        self._is_real = (ctypes.c_bool * len(spec.arguments)).in_dll(self._library, "gnt_tiling_real")
        self.dtype = self._read_dtype(field_names)

    def __call__(self, symbols: Mapping[str, Any]) -> Tiling:
        """Fill the struct for these symbols (``{"N": 2, ..., "cores": 8}``).

        Raises ArgumentError with the sentence that the C++ function returned.
        """
        count = len(self.spec.arguments)
        whole, real = (ctypes.c_int64 * count)(), (ctypes.c_double * count)()
        for index, symbol in enumerate(self.spec.arguments):
            value = symbols[symbol]
            if self._is_real[index]:
                real[index] = value
            elif -(2**63) <= value < 2**63:
                whole[index] = value
            else:
                raise ArgumentError(f"{symbol} = {value} does not fit in 64 bits", where=self.spec.function)
        data = ctypes.create_string_buffer(self.dtype.itemsize)
        why = ctypes.create_string_buffer(_MESSAGE_BYTES)
        if self._library.gnt_make_tiling(whole, real, data, why, _MESSAGE_BYTES):
            raise ArgumentError(
                why.value.decode("utf-8", "replace"), where=f"{self.spec.function} in {self.spec.header.name}"
            )
        return Tiling(self.spec.struct, data.raw, self.dtype)

    def _read_dtype(self, field_names: tuple[str, ...]) -> np.dtype:
        numbers = (ctypes.c_uint64 * (4 * len(field_names) + 1)).in_dll(self._library, "gnt_tiling_layout")
        formats = []
        for index in range(len(field_names)):
            _, size, kind, length = numbers[4 * index + 1 : 4 * index + 5]
            element = np.dtype(f"{_KINDS[kind]}{size // length}" if _KINDS[kind] != "?" else "?")
            formats.append(element if length == 1 else (element, (length,)))
        offsets = [numbers[4 * index + 1] for index in range(len(field_names))]
        return np.dtype(
            {"names": list(field_names), "formats": formats, "offsets": offsets, "itemsize": int(numbers[0])}
        )


def load_tiling(spec: TilingSpec) -> TilingFunction:
    """Compile the header (once per content) and return its function.

    Raises RegistryError if the header or the struct is missing or has a field that is no number, CompileError if the
    header does not compile.
    """
    try:
        text = spec.header.read_text(encoding="utf-8")
    except OSError as error:
        raise RegistryError(f"cannot read the tiling header: {error.strerror}", where=str(spec.header)) from error
    return _load(spec, text)


@functools.lru_cache(maxsize=64)
def _load(spec: TilingSpec, text: str) -> TilingFunction:
    names = field_names(text, spec.struct, where=str(spec.header))
    built = build_host_library(_export(spec, names), include_dirs=(spec.header.parent,))
    return TilingFunction(spec, built.library, names)


def field_names(text: str, struct: str, *, where: str = "") -> tuple[str, ...]:
    """The names of a plain struct's fields, in order, from the header's text. Raises RegistryError."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    found = re.search(rf"\bstruct\s+{re.escape(struct)}\s*\{{(.*?)\}}\s*;", code, flags=re.DOTALL)
    if not found:
        raise RegistryError(f"there is no 'struct {struct} {{ ... }};'", where=where)
    names: list[str] = []
    for statement in found.group(1).split(";"):
        if not statement.strip():
            continue
        declared = re.fullmatch(r"\s*((?:\w|::|\s)+?)\s+(\w+\s*(?:[\[=,].*)?)", statement, flags=re.DOTALL)
        if not declared:
            raise RegistryError(f"cannot read the field '{' '.join(statement.split())}' of {struct}", where=where)
        for declarator in declared.group(2).split(","):
            names.append(re.match(r"\s*(\w+)", declarator).group(1))  # type: ignore[union-attr]
    if not names:
        raise RegistryError(f"struct {struct} has no fields", where=where)
    return tuple(names)


def _export(spec: TilingSpec, names: tuple[str, ...]) -> str:
    """The C++ that exports the layout and the function.

    The structured binding fails to compile unless ``names`` are as many as the struct has fields; ``offsetof`` fails
    unless each one exists. An argument arrives as an integer or as a real, whichever ``gnt_tiling_real`` says that its
    parameter is; an integer that does not fit the parameter is refused, because the conversion would silently give
    another number.
    """
    layout = ",\n    ".join(
        f"offsetof({spec.struct}, {name}), sizeof({spec.struct}::{name}), kind_of<decltype({spec.struct}::{name})>, "
        f"length_of<decltype({spec.struct}::{name})>"
        for name in names
    )
    bindings = ", ".join(f"f{index}" for index in range(len(names)))
    checks = "\n  ".join(
        f'if (!fits<Parameter<{index}>>(whole[{index}])) return refuse("{symbol} is too large", why, size);'
        for index, symbol in enumerate(spec.arguments)
    )
    reals = ", ".join(f"std::is_floating_point_v<Parameter<{index}>>" for index in range(len(spec.arguments)))
    values = ", ".join(
        f"pass<Parameter<{index}>>(whole[{index}], real[{index}])" for index in range(len(spec.arguments))
    )
    return f"""\
#include "{spec.header.resolve().as_posix()}"
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <tuple>
#include <type_traits>
#include <utility>

namespace {{
template <class T>
constexpr uint64_t length_of = sizeof(T) / sizeof(std::remove_all_extents_t<T>);

template <class T, class E = std::remove_all_extents_t<T>>
constexpr uint64_t kind_of = [] {{
  static_assert(std::is_arithmetic_v<E>, "a field of a tiling struct is a number, or an array of numbers");
  return std::is_same_v<E, bool> ? 3 : std::is_floating_point_v<E> ? 2 : std::is_signed_v<E> ? 1 : 0;
}}();

[[maybe_unused]] void count_fields({spec.struct}& tiling) {{
  [[maybe_unused]] auto& [{bindings}] = tiling;
}}

template <class R, class... A>
std::tuple<A...> parameters_of(R (*)(A...));
template <int I>
using Parameter = std::tuple_element_t<I, decltype(parameters_of(&{spec.function}))>;

template <class T>
bool fits(int64_t value) {{
  if constexpr (std::is_floating_point_v<T>) return true;
  else return std::in_range<T>(value);
}}

template <class T>
T pass(int64_t whole, double real) {{
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(real);
  else return static_cast<T>(whole);
}}

int refuse(const char* sentence, char* why, uint64_t size) {{
  std::snprintf(why, size, "%s", sentence);
  return 1;
}}
}}  // namespace

extern "C" {{
__attribute__((visibility("default"))) extern const uint64_t gnt_tiling_layout[];
const uint64_t gnt_tiling_layout[] = {{
    sizeof({spec.struct}),
    {layout}}};
__attribute__((visibility("default"))) extern const bool gnt_tiling_real[];
const bool gnt_tiling_real[] = {{{reals}}};

__attribute__((visibility("default"))) int gnt_make_tiling(const int64_t* whole, const double* real, void* data,
                                                           char* why, uint64_t size) {{
  {checks}
  {spec.struct} tiling{{}};
  const char* refused = {spec.function}({values}, &tiling);
  if (refused) return refuse(refused, why, size);
  __builtin_memcpy(data, &tiling, sizeof(tiling));
  return 0;
}}
}}
"""
