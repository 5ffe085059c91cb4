"""Tiling structs: the op_host macros' layout and accessors, which struct GET_TILING_DATA means, DTYPE_ macros."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pytest

from gn_tutorial.abi import Kind, Role
from gn_tutorial.build import build_kernel
from gn_tutorial.errors import CompileError
from gn_tutorial.launch import LaunchArg, launch

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
# The layout by hand: u32, pad, i64, u8, pad, f32, then 16 bytes of Inner at a multiple of 8, two floats, u16, padding to 8.
LAYOUT = "<I4xqB3xfB1x3Hb7x2fH6x"
VALUES = (48, -(2**40), 7, 1.5, 200, 1, 2, 65535, -5, 0.25, -8.0, 999)
KERNEL = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void tiled(GM_ADDR y, GM_ADDR tiling) {
  GET_TILING_DATA(td, tiling);
  __gm__ double* out = (__gm__ double*)y;
  const double values[] = {double(td.blocks), double(td.get_total()), double(td.flag), td.scale, double(td.inner.get_small()),
                           double(td.inner.triple[0]), double(td.inner.get_triple()[1]), double(td.inner.triple[2]),
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
    built = build_kernel(source, optimise=False, defines=defines)
    args = [LaunchArg("y", Kind.TENSOR, Role.OUT, np.zeros(n)),
            LaunchArg("tiling", Kind.TENSOR, Role.INOUT, np.frombuffer(tiling, np.uint8).copy())]  # fmt: skip
    return launch(built.library, built.entries[entry].name, args, blocks=1, isolated=False).arrays


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
