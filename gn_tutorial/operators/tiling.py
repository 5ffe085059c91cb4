"""Calls an operator's C++ tiling function from Python and reads the struct that the function fills.

``kernels/<op>/<op>_tiling.h`` is the only place where the work is split: the kernel includes it, NPU host code
includes it, and this module compiles it as a small host library. The struct's fields are parsed from the header's
text, and the compiler then confirms them: the library does not compile if their number or a name is wrong. The library
exports the offset, size and kind of each field, from which the NumPy dtype is made.
"""

from __future__ import annotations

import functools
import operator
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gn_tutorial.abi.options import Limits
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import build_host_library
from gn_tutorial.compiler.build_request import TWIN_INCLUDE
from gn_tutorial.compiler.cached_library import Kept
from gn_tutorial.cpp.includes import includes
from gn_tutorial.cpp.source_text import readable_text, source_text
from gn_tutorial.errors import ArgumentError, KernelError, RegistryError, shown
from gn_tutorial.operators.spec import TilingSpec
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest
from gn_tutorial.tables import html_table, text_table

#: The bytes of an answer before the struct: the first says whether the call was refused, the others are the reason.
_HEAD_BYTES = 1024
#: The time limit of a call. A tiling function computes only a few numbers, but reading its library from a slow disk
#: takes a second.
_SECONDS = 20.0
#: The answers of at most this number of calls are kept, because launches of one shape come in loops.
_MOST_KNOWN = 4096
#: The most bytes of a tiling struct. CANN's own limit is far lower (projects/host_call.py has 8 MiB for all answers).
_MOST_BYTES = 8 << 20
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
        """Return the struct with other numbers, to try values that the host function did not choose.

        ``tiling.with_(tileElements=512)``. No other field changes, so the caller must adapt the fields that depend on a
        changed field. Raises ArgumentError for a field that does not exist or cannot hold the number.
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
        """Return (name, dtype, byte offset, value as text) for each field, in the struct's order."""
        record, places = np.frombuffer(self.bytes, self.dtype)[0], self.dtype.fields or {}
        # A NumPy float32 prints as few digits as it needs: 1e-05. A Python float prints 9.999999747378752e-06.
        return [(name, str(places[name][0]), places[name][1], str(record[name])) for name in self.fields]

    def __repr__(self) -> str:
        table = text_table(("field", "type", "offset", "value"), self.rows(), indent="  ")
        return f"{self.name}, {len(self.bytes)} bytes\n{table}"

    def _repr_html_(self) -> str:
        caption = f"{self.name}, {len(self.bytes)} bytes"
        return html_table(("field", "type", "offset", "value"), self.rows(), caption=caption)


class TilingFunction:
    """The tiling function of one header, ready to be called. ``load_tiling`` makes it.

    The header may be anybody's C++, so it runs as a kernel does, in a process of its own with limits
    (``runtime.isolated``). A crash, an endless loop, a write to a file or the start of a program becomes an exception,
    in the function and also in a static initialiser of the header.
    """

    def __init__(self, spec: TilingSpec, library: Kept, field_names: tuple[str, ...]) -> None:
        self.spec = spec
        self._library = library
        count = 4 * len(field_names) + 1
        numbers = self._ask("layout", b"", 8 * (count + len(spec.arguments)), Limits(seconds=_SECONDS)).view(np.uint64)
        self._is_real = [bool(one) for one in numbers[count:]]
        self.dtype = self._read_dtype(field_names, [int(one) for one in numbers[:count]])
        self._known: dict[bytes, bytes] = {}

    def __call__(self, symbols: Mapping[str, Any], limits: Limits | None = None) -> Tiling:
        """Return the struct for these symbols (``{"N": 2, ..., "cores": 8}``). The answers of earlier calls are cached.

        Raises ArgumentError with the sentence that the C++ function returned, or for a number that does not fit its
        parameter; KernelError if the function does not return.
        """
        words = []
        for symbol, real in zip(self.spec.arguments, self._is_real, strict=True):
            value = symbols[symbol]
            if not real and not -(2**63) <= value < 2**63:
                raise ArgumentError(f"{symbol} = {shown(value)} does not fit in 64 bits", where=self.spec.function)
            words.append(struct.pack("<d", value) if real else struct.pack("<q", operator.index(value)))
        request = b"".join(words)
        data = self._known.get(request)
        if data is None:
            answer = self._ask("tile", request, _HEAD_BYTES + self.dtype.itemsize, limits or Limits(seconds=_SECONDS))
            if answer[0] != 1:
                why = answer[1:_HEAD_BYTES].tobytes().partition(b"\0")[0].decode("utf-8", "replace")
                raise ArgumentError(why, where=f"{self.spec.function} in {self.spec.header.name}")
            data = answer[_HEAD_BYTES:].tobytes()
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[request] = data
        return Tiling(self.spec.struct, data, self.dtype)

    def _ask(self, entry: str, request: bytes, answer_bytes: int, limits: Limits) -> np.ndarray:
        """Return the library's answer to ``request``. Raises KernelError, whose text names the tiling function."""
        args = [
            LaunchArg("request", ArgKind.TENSOR, Role.IN, request),
            LaunchArg("answer", ArgKind.TENSOR, Role.INOUT, np.zeros(answer_bytes, np.uint8)),
        ]
        try:
            return launch(self._library.path(), LaunchRequest(entry=entry, args=args, limits=limits)).arrays["answer"]
        except KernelError as error:
            error.what = error.what.replace("the kernel", "the tiling function").replace(
                f"'{entry}'", f"'{self.spec.function}'"
            )
            error.where = error.where or f"{self.spec.function} in {self.spec.header.name}"
            raise

    def _read_dtype(self, field_names: tuple[str, ...], numbers: Sequence[int]) -> np.dtype:
        """Return the struct's dtype. Raises RegistryError for impossible numbers.

        The numbers are checked, because the library may have written anything.
        """
        total, rows = numbers[0], [numbers[at : at + 4] for at in range(1, len(numbers), 4)]
        if not 0 < total <= _MOST_BYTES or any(
            kind not in _KINDS or not length or size not in (length << n for n in range(5)) or at + size > total
            for at, size, kind, length in rows
        ):
            what = f"the library reports an impossible layout of struct {self.spec.struct}"
            raise RegistryError(what, where=str(self.spec.header))
        formats = []
        for _, size, kind, length in rows:
            element = np.dtype("?" if kind == 3 else f"{_KINDS[kind]}{size // length}")
            formats.append(element if length == 1 else (element, (length,)))
        return np.dtype(
            {"names": list(field_names), "formats": formats, "offsets": [row[0] for row in rows], "itemsize": total}
        )


def load_tiling(spec: TilingSpec) -> TilingFunction:
    """Compile the header (once per content) and return its function.

    Raises RegistryError if the header or the struct is missing, if a field cannot be parsed, or if the library
    describes an impossible struct; CompileError if the header does not compile, or if a field is neither a number nor
    an array of numbers; KernelError if the library does not answer; CompilerMissing, CacheError.
    """
    try:
        text = source_text(spec.header)
    except OSError as error:
        raise RegistryError(f"cannot read the tiling header: {error.strerror}", where=str(spec.header)) from error
    included = [spec.header.parent / one.name for one in includes(text) if one.quoted and "/" not in one.name]
    return _load(spec, text, tuple(map(readable_text, included)))


@functools.lru_cache(maxsize=64)
def _load(spec: TilingSpec, text: str, included: tuple[str, ...]) -> TilingFunction:
    """Return the function of a header. included: the texts of the headers that it includes from its folder."""
    from gn_tutorial.cpp.structs import (
        is_derived,  # not at the start: the parser makes the import of the package slower
    )

    names = field_names(text, spec.struct, where=str(spec.header), included=included)
    source = _export(spec, names, is_derived(spec.struct, (text, *included)))
    folders = (spec.header.parent, TWIN_INCLUDE)
    return TilingFunction(spec, Kept(lambda: build_host_library(source, include_dirs=folders).library), names)


def field_names(text: str, struct: str, *, where: str = "", included: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the names of a struct's fields, in order, from the texts of the header and of those that it includes.

    Raises RegistryError.
    """
    from gn_tutorial.cpp.integers import Unreadable
    from gn_tutorial.cpp.structs import struct_members

    try:
        names = struct_members(struct, (text, *included))
    except Unreadable as error:
        field = str(error)
        said = f"cannot read the field '{field}' of {struct}" if field else f"there is no 'struct {struct} {{ ... }};'"
        raise RegistryError(said, where=where) from None
    if not names:
        raise RegistryError(f"struct {struct} has no fields", where=where)
    return names


def _export(spec: TilingSpec, names: tuple[str, ...], derived: bool) -> str:
    """Return C++ source that exports the struct's layout and the function.

    The structured binding compiles only if the struct has as many fields as ``names`` (one that is derived can have no
    binding), and ``offsetof`` only if each name exists. An argument arrives as an integer or as a real number,
    depending on the type of its parameter. An integer that does not fit the parameter is refused, because the
    conversion would silently give another number.
    """
    layout = ",\n    ".join(
        f"offsetof({spec.struct}, {name}), sizeof({spec.struct}::{name}), kind_of<decltype({spec.struct}::{name})>, "
        f"length_of<decltype({spec.struct}::{name})>"
        for name in names
    )
    bindings = ", ".join(f"f{index}" for index in range(len(names)))
    binding = "" if derived else f"[[maybe_unused]] auto& [{bindings}] = tiling;"
    checks = "\n  ".join(
        f'if (!fits<Parameter<{index}>>(whole[{index}])) return refuse("{symbol} is too large", why, size);'
        for index, symbol in enumerate(spec.arguments)
    )
    reals = ", ".join(f"std::is_floating_point_v<Parameter<{index}>>" for index in range(len(spec.arguments)))
    count = len(spec.arguments)
    values = ", ".join(
        f"pass<Parameter<{index}>>(whole[{index}], real[{index}])" for index in range(len(spec.arguments))
    )
    return f"""\
#include "{spec.header.resolve().as_posix()}"
#include "gn_twin/base/abi.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <tuple>
#include <type_traits>
#include <utility>

namespace {{
template <class T>
struct ElementOf {{
  using Type = T;
}};
template <class T, std::size_t N>
struct ElementOf<T[N]> : ElementOf<T> {{}};
template <class T, std::size_t N>
struct ElementOf<std::array<T, N>> : ElementOf<T> {{}};
template <class T>
  requires std::is_enum_v<T>
struct ElementOf<T> {{
  using Type = std::underlying_type_t<T>;
}};
template <class T>
using Element = std::remove_cv_t<typename ElementOf<T>::Type>;

template <class T>
constexpr uint64_t length_of = sizeof(T) / sizeof(Element<T>);

template <class T, class E = Element<T>>
constexpr uint64_t kind_of = [] {{
  static_assert(std::is_arithmetic_v<E>, "a field of a tiling struct is a number, or an array of numbers");
  return std::is_same_v<E, bool> ? 3 : std::is_floating_point_v<E> ? 2 : std::is_signed_v<E> ? 1 : 0;
}}();

[[maybe_unused]] void count_fields([[maybe_unused]] {spec.struct}& tiling) {{
  {binding}
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

int32_t refuse(const char* sentence, char* why, uint64_t size) {{
  std::snprintf(why, size, "%s", sentence);
  return GNT_OK;
}}
}}  // namespace

extern "C" {{
__attribute__((visibility("default"))) uint32_t gnt_abi() {{ return GNT_ABI_VERSION << 16 | sizeof(GntJob); }}

// Entry "layout": the struct's size, each field's offset, size, kind and length, then which arguments are real.
// Entry "tile": the arguments, eight bytes each, give 1, a sentence's room and the struct, or 2 and the sentence.
__attribute__((visibility("default"))) int32_t gnt_run(const char* entry, GntJob* job) {{
  uint8_t* answer = job->args[1].data;
  if (entry[0] == 'l') {{
    const uint64_t numbers[] = {{
        sizeof({spec.struct}),
        {layout},
        {reals}}};
    __builtin_memcpy(answer, numbers, sizeof(numbers));
    return GNT_OK;
  }}
  int64_t whole[{count}];
  double real[{count}];
  __builtin_memcpy(whole, job->args[0].data, sizeof(whole));
  __builtin_memcpy(real, job->args[0].data, sizeof(real));
  char* const why = reinterpret_cast<char*>(answer) + 1;
  const uint64_t size = {_HEAD_BYTES} - 1;
  answer[0] = 2;
  {checks}
  {spec.struct} tiling{{}};
  const char* refused = {spec.function}({values}, &tiling);
  if (refused) return refuse(refused, why, size);
  __builtin_memcpy(answer + {_HEAD_BYTES}, &tiling, sizeof(tiling));
  answer[0] = 1;
  return GNT_OK;
}}
}}
"""
