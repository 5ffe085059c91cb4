"""Tiling structs: the op_host macros' layout and accessors, which struct GET_TILING_DATA means, DTYPE_ macros."""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import Built, SourceOptions, build_kernel
from gn_tutorial.errors import CompileError
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

HOST = """
#include "register/tilingdata_base.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(Inner)
  TILING_DATA_FIELD_DEF(uint8_t, small);
  TILING_DATA_FIELD_DEF_ARR(uint16_t, 3, triple);
  TILING_DATA_FIELD_DEF(int8_t, last);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(InnerOp, Inner)

constexpr uint32_t MOST = 2;
BEGIN_TILING_DATA_DEF(AddTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, blocks);
  TILING_DATA_FIELD_DEF(int64_t, total);
  TILING_DATA_FIELD_DEF(uint8_t, flag);
  TILING_DATA_FIELD_DEF(float, scale);
  TILING_DATA_FIELD_DEF_STRUCT(Inner, inner);
  TILING_DATA_FIELD_DEF_ARR(float, MOST, pair);
  TILING_DATA_FIELD_DEF(uint16_t, tail);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Add, AddTilingData)

BEGIN_TILING_DATA_DEF(OtherKey)
  TILING_DATA_FIELD_DEF(uint32_t, unused);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Add_1, OtherKey)
}  // namespace optiling
"""
# By hand: u32, pad, i64, u8, pad, f32, then 16 bytes of Inner at a multiple of 8, two floats, u16, padding to 8.
LAYOUT = "<I4xqB3xfB1x3Hb7x2fH6x"
VALUES = (48, -(2**40), 7, 1.5, 200, 1, 2, 65535, -5, 0.25, -8.0, 999)
KERNEL = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void tiled(GM_ADDR y, GM_ADDR tiling) {
  GET_TILING_DATA(td, tiling);
  __gm__ double* out = (__gm__ double*)y;
  const double values[] = {double(td.blocks), double(td.get_total()), double(td.flag), td.scale,
                           double(td.inner.get_small()), double(td.inner.triple[0]),
                           double(td.inner.get_triple()[1]), double(td.inner.triple[2]),
                           double(td.inner.last), td.get_pair()[0], td.pair[1], double(td.tail)};
  for (int i = 0; i < 12; ++i) out[i] = values[i];
  uint16_t three[] = {4, 5, 6};
  td.inner.set_triple(three);
  td.set_scale(2.5f);
  out[12] = td.scale + td.inner.triple[2];
  out[13] = td.GetDataSize();
  td.SaveToBuffer(tiling, td.GetDataSize());
}
"""


def run(
    source: str, tiling: bytes, *, defines: Sequence[str] = (), n: int = 14, entry: int = 0
) -> dict[str, np.ndarray]:
    built = build_kernel(source, SourceOptions(defines=defines), optimise=False)
    args = [LaunchArg("y", ArgKind.TENSOR, Role.OUT, np.zeros(n)),
            LaunchArg("tiling", ArgKind.TENSOR, Role.INOUT, np.frombuffer(tiling, np.uint8).copy())]  # fmt: skip
    return launch(built.library, LaunchRequest(entry=built.entries[entry].name, args=args, isolated=False)).arrays


def test_layout_and_accessors_of_the_macros() -> None:
    data = struct.pack(LAYOUT, *VALUES)
    arrays = run(HOST + KERNEL, data)
    assert arrays["y"].tolist() == [*VALUES, 8.5, len(data)]
    changed = (*VALUES[:3], 2.5, VALUES[4], 4, 5, 6, *VALUES[8:])
    assert struct.unpack(LAYOUT, arrays["tiling"].tobytes()) == changed


def test_the_kernels_header_may_come_first() -> None:
    data = struct.pack(LAYOUT, *VALUES)
    assert run('#include "kernel_operator.h"\n' + HOST + KERNEL, data)["y"][0] == 48


SECOND = """
namespace optiling {
BEGIN_TILING_DATA_DEF(SubTilingData)
  TILING_DATA_FIELD_DEF(uint16_t, blocks);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Sub, SubTilingData)
}
"""
BLOCKS = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void tiled(GM_ADDR y, GM_ADDR tiling) {
  GET_TILING_DATA(td, tiling);
  *(__gm__ double*)y = td.blocks;
  ((__gm__ double*)y)[1] = sizeof(td);
}
"""


def test_two_operators_in_one_file_need_a_choice() -> None:
    with pytest.raises(CompileError, match="ambiguous"):
        build_kernel(HOST + SECOND + BLOCKS, optimise=False)
    data = struct.pack(LAYOUT, *VALUES)
    assert run(HOST + SECOND + BLOCKS, data, defines=["GNT_OP_TYPE=Sub"], n=2)["y"].tolist() == [48, 8]
    assert run(HOST + SECOND + BLOCKS, data, defines=["GNT_OP_TYPE=Add"], n=2)["y"].tolist() == [48, len(data)]
    same = HOST + "namespace optiling { REGISTER_TILING_DATA_CLASS(AddV2, AddTilingData) }" + BLOCKS
    assert run(same, data, n=2)["y"].tolist() == [48, len(data)]


IN_BODY = """
#include "kernel_operator.h"
namespace optiling { struct Wide { uint32_t n; double x; }; }
struct Narrow { uint16_t n; };
extern "C" __global__ __aicore__ void first(GM_ADDR y, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(optiling::Wide);
  GET_TILING_DATA(td, tiling);
  ((__gm__ double*)y)[0] = td.n;
  ((__gm__ double*)y)[1] = td.x;
}
extern "C" __global__ __aicore__ void second(GM_ADDR y, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(Narrow);
  GET_TILING_DATA(td, tiling);
  ((__gm__ double*)y)[0] = td.n;
  ((__gm__ double*)y)[1] = sizeof(td);
}
"""


def test_each_kernel_may_register_its_own_struct() -> None:
    data = struct.pack("<I4xd", 70000, 2.5)
    assert run(IN_BODY, data, n=2)["y"].tolist() == [70000, 2.5]
    assert run(IN_BODY, data, n=2, entry=1)["y"].tolist() == [70000 % 65536, 2]


def test_dtype_macros_come_from_the_build() -> None:
    source = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void typed(GM_ADDR y, GM_ADDR tiling) {
  AscendC::LocalTensor<DTYPE_X> x(AscendC::TPosition::VECCALC, 0, 32);
  ((__gm__ double*)y)[0] = sizeof(DTYPE_X) * x.GetSize();
  if constexpr (gn_twin::kSame<DTYPE_X, half>) ((__gm__ double*)y)[1] = ORIG_DTYPE_X;
}
"""
    for kind, size in (("half", 64), ("float", 128)):
        y = run(source, b"\0" * 8, n=2, defines=[f"DTYPE_X={kind}", "ORIG_DTYPE_X=1"])["y"]
        assert y[0] == size
        assert (y[1] == 1) == (kind == "half")


SIZES = {f"{sign}int{8 * n}_t": n for sign in ("", "u") for n in (1, 2, 4, 8)} | {"float": 4}


@dataclass(frozen=True)
class Field:
    """A number, an array of them (count above 0), or a struct; ``offset`` from the beginning of its struct."""

    name: str
    ctype: str
    count: int
    inner: Layout | None
    offset: int


@dataclass(frozen=True)
class Layout:
    """A struct as the macros make it: numbers at multiples of their size, structs and the end at multiples of 8."""

    name: str
    fields: tuple[Field, ...]
    size: int

    def text(self) -> str:
        lines = [f"BEGIN_TILING_DATA_DEF({self.name})"]
        for one in self.fields:
            if one.inner:
                lines.append(f"  TILING_DATA_FIELD_DEF_STRUCT({one.ctype}, {one.name});")
            elif one.count:
                lines.append(f"  TILING_DATA_FIELD_DEF_ARR({one.ctype}, {one.count}, {one.name});")
            else:
                lines.append(f"  TILING_DATA_FIELD_DEF({one.ctype}, {one.name});")
        return "\n".join([*lines, "END_TILING_DATA_DEF;", f"REGISTER_TILING_DATA_CLASS({self.name}Op, {self.name})"])

    def places(self, begin: int = 0) -> list[tuple[int, int]]:
        """Offset and size of every number, structs opened."""
        found = []
        for one in self.fields:
            if one.inner:
                found += one.inner.places(begin + one.offset)
            else:
                size = SIZES[one.ctype]
                found += [(begin + one.offset + size * i, size) for i in range(max(one.count, 1))]
        return found

    def reads(self, path: str) -> list[str]:
        """How C++ names each of them: as members and through accessors in turn."""
        found = []
        for place, one in enumerate(self.fields):
            member = f"{path}.{one.name}" if place % 2 or one.inner else f"{path}.get_{one.name}()"
            if one.inner:
                found += one.inner.reads(member)
            else:
                found += [f"{member}[{i}]" for i in range(one.count)] if one.count else [member]
        return found


@functools.cache
def layouts(number: int = 24) -> tuple[Layout, ...]:
    """Structs drawn once: each costs compile time. Later ones hold earlier ones."""
    rng, made = np.random.default_rng(8), []
    for index in range(number):
        fields, at = [], 0
        for place in range(int(rng.integers(1, 9))):
            inner = made[rng.integers(len(made))] if made and rng.random() < 0.2 else None
            ctype = inner.name if inner else str(rng.choice(list(SIZES)))
            align = 8 if inner else SIZES[ctype]
            count = int(rng.integers(1, 6)) if not inner and rng.random() < 0.3 else 0
            at = -(-at // align) * align
            fields.append(Field(f"f{place}", ctype, count, inner, at))
            at += inner.size if inner else align * max(count, 1)
        made.append(Layout(f"Drawn{index}", tuple(fields), -(-at // 8) * 8))
    return tuple(made)


@functools.cache
def drawn() -> Built:
    """A kernel that copies every number of one of the structs to y, one behind the other, and its size before them."""
    cases = []
    for index, layout in enumerate(layouts()):
        puts = " ".join(f"out = Put(out, {read});" for read in layout.reads("td"))
        cases.append(
            f"case {index}: {{ GET_TILING_DATA_WITH_STRUCT({layout.name}, td, tiling); "
            f"out = Put(out, uint64_t(sizeof(td))); {puts} break; }}"
        )
    return build_kernel(
        '#include "kernel_operator.h"\n#include "register/tilingdata_base.h"\nnamespace optiling {\n'
        + "\n".join(layout.text() for layout in layouts())
        + """
}  // namespace optiling
template <class T>
__aicore__ inline __gm__ uint8_t* Put(__gm__ uint8_t* out, T value) {
  __builtin_memcpy(out, &value, sizeof(T));
  return out + sizeof(T);
}
extern "C" __global__ __aicore__ void drawn(GM_ADDR y, GM_ADDR tiling, uint32_t which) {
  __gm__ uint8_t* out = y;
  switch (which) {
"""
        + "\n".join(cases)
        + "\n  }\n}\n",
        optimise=False,
    )


def test_any_struct_is_read_where_the_host_wrote() -> None:
    library = drawn().library

    @settings(max_examples=examples(150), deadline=None)
    @given(st.integers(0, len(layouts()) - 1), st.integers(0, 2**32 - 1))
    def check(which: int, seed: int) -> None:
        layout = layouts()[which]
        data = np.random.default_rng(seed).integers(0, 256, layout.size, np.uint8)
        args = [
            LaunchArg("y", ArgKind.TENSOR, Role.INOUT, np.zeros(4096, np.uint8)),
            LaunchArg("tiling", ArgKind.TENSOR, Role.IN, data),
            LaunchArg("which", ArgKind.VALUE, Role.IN, which.to_bytes(4, "little")),
        ]
        y = launch(library, LaunchRequest(entry="drawn", args=args, isolated=False)).arrays["y"].tobytes()
        numbers = [data[at : at + size].tobytes() for at, size in layout.places()]
        written = b"".join([layout.size.to_bytes(8, "little"), *numbers])
        assert y[: len(written)] == written
        assert not any(y[len(written) :])

    check()
