"""The strided copy kernel on any pair of views, through its tiling function: NumPy says what belongs where."""

from __future__ import annotations

import ctypes
import math
from ctypes import c_int32, c_int64
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

import gn_tutorial as gnt
from gn_tutorial.compiler.build import build_host_library
from gn_tutorial.operators.arguments import inout
from gn_tutorial.operators.registry import load_registry
from gn_tutorial.operators.tiling import Tiling, load_tiling

OP = load_registry()["strided_copy"]
EXPORT = f"""
#include "{OP.tiling.header.resolve().as_posix()}"
extern "C" const char* make(int32_t rank, const int64_t* counts, const int64_t* src, const int64_t* dst, int32_t item,
                            int32_t cores, StridedCopyTilingData* tiling) {{
  return MakeStridedCopyTiling(rank, counts, src, dst, item, cores, tiling);
}}
"""


@dataclass(frozen=True)
class Copy:
    counts: tuple[int, ...]
    src: tuple[int, ...]
    dst: tuple[int, ...]


def tiling(copy: Copy, item: int, cores: int) -> Tiling:
    library = ctypes.CDLL(str(build_host_library(EXPORT).library))
    library.make.restype = ctypes.c_char_p
    layout = load_tiling(OP.tiling).dtype
    made = ctypes.create_string_buffer(layout.itemsize)
    rank = len(copy.counts)
    arrays = [(c_int64 * rank)(*one) for one in (copy.counts, copy.src, copy.dst)]
    refused = library.make(c_int32(rank), *arrays, c_int32(item), c_int32(cores), made)
    if refused is not None:
        raise ValueError(refused.decode())
    return Tiling(OP.tiling.struct, made.raw, layout)


def extent(counts: tuple[int, ...], strides: tuple[int, ...]) -> int:
    return 1 + sum((count - 1) * step for count, step in zip(counts, strides, strict=True)) if 0 not in counts else 0


def check(copy: Copy, dtype: str, cores: int = 40) -> Tiling:
    made = tiling(copy, np.dtype(dtype).itemsize, cores)
    rng = np.random.default_rng(len(copy.counts))
    x = rng.integers(0, np.iinfo(dtype).max, max(extent(copy.counts, copy.src), 1)).astype(dtype)
    y = np.full(max(extent(copy.counts, copy.dst), 1), 0x5A, dtype)
    right = y.copy()
    item = x.itemsize
    view = np.lib.stride_tricks.as_strided
    view(right, copy.counts, [item * one for one in copy.dst])[...] = view(
        x, copy.counts, [item * one for one in copy.src]
    )
    blocks = made["usedCores"]
    assert (blocks == 0) is (0 in copy.counts)
    assert blocks <= cores
    if blocks:
        result = gnt.kernel(OP.kernels[0].file).run(x=x, y=inout(y), tiling=made, blocks=blocks)
        assert list(result.diagnostics) == []
        np.testing.assert_array_equal(result.outputs["y"], right)
    return made


CASES = {
    "contiguous": Copy((100_000,), (1,), (1,)),
    "one element": Copy((), (), ()),
    "nothing": Copy((3, 0, 5), (5, 5, 1), (5, 5, 1)),
    "columns": Copy((300, 40), (1000, 1), (40, 1)),
    "into columns": Copy((300, 40), (40, 1), (1000, 1)),
    "every third": Copy((7000,), (3,), (1,)),
    "transposed": Copy((500, 70), (1, 500), (70, 1)),
    "channels last": Copy((2, 6, 9, 11), (594, 1, 66, 6), (594, 99, 11, 1)),
    "repeated": Copy((50, 20), (0, 1), (20, 1)),
    "one number repeated": Copy((130,), (0,), (1,)),
    "windows": Copy((40, 16), (3, 1), (16, 1)),
    "rows longer than a tile": Copy((2, 50_000), (60_000, 1), (50_000, 1)),
    "more rows than one copy": Copy((9001, 3), (5, 1), (3, 1)),
    "eight axes": Copy((2, 1, 3, 2, 1, 2, 3, 2), (1, 9, 2, 6, 5, 12, 24, 72), (72, 72, 24, 12, 12, 6, 2, 1)),
}


@pytest.mark.parametrize("dtype", ["uint32", "uint16"])
@pytest.mark.parametrize("copy", CASES.values(), ids=CASES)
def test_numbers(copy: Copy, dtype: str) -> None:
    check(copy, dtype)


@st.composite
def copies(draw: st.DrawFn) -> Copy:
    """A view of up to five axes whose memory is in any order on both sides, with gaps; src may repeat elements."""
    counts = tuple(draw(st.lists(st.integers(0, 9), max_size=5)))

    def strides() -> tuple[int, ...]:
        made, step = [0] * len(counts), draw(st.integers(1, 3))
        for axis in draw(st.permutations(range(len(counts)))):
            made[axis] = step
            step = step * max(counts[axis], 1) + draw(st.integers(0, 4))
        return tuple(made)

    src = tuple(draw(st.sampled_from([step, step, 0])) for step in strides())
    return Copy(counts, src, strides())


@given(copy=copies(), dtype=st.sampled_from(["uint32", "uint16"]), cores=st.integers(1, 48))
@settings(deadline=None, max_examples=examples(60))
def test_any_view(copy: Copy, dtype: str, cores: int) -> None:
    check(copy, dtype, cores)


@pytest.mark.parametrize("name", ["columns", "transposed", "contiguous", "channels last"])
def test_every_core_has_work_and_none_much_more(name: str) -> None:
    made = check(CASES[name], "uint32")
    units = made["rowTiles"] * made["rowParts"] * math.prod(made["loopCounts"][: made["loops"]])
    assert made["usedCores"] == min(units, 40)
    assert made["unitsPerCore"] * made["usedCores"] + made["extraUnits"] == units
    assert units >= 38, "fewer tiles than cores only where tiles are whole rows"


@pytest.mark.parametrize(
    ("copy", "item", "cores", "text"),
    [
        (Copy((1,) * 9, (1,) * 9, (1,) * 9), 4, 8, "at most 8 axes"),
        (Copy((2,), (1,), (1,)), 8, 8, "2 or 4 bytes"),
        (Copy((2,), (1,), (1,)), 4, 0, "cores must be positive"),
        (Copy((-2,), (1,), (1,)), 4, 8, "negative"),
        (Copy((2,), (-1,), (1,)), 4, 8, "negative"),
    ],
    ids=str,
)
def test_refusals(copy: Copy, item: int, cores: int, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        tiling(copy, item, cores)
