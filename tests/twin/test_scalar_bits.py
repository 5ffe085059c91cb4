"""Bits of a number for the scalar unit, and the 9.x names of the reductions, against what they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_reference import no_zero_sign
from twin_support import Data, assert_same, data

import gn_tutorial as gnt

BITS = """
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void bits(GM_ADDR x, GM_ADDR y, uint32_t n) {
  __gm__ uint64_t* in = (__gm__ uint64_t*)x;
  __gm__ int64_t* out = (__gm__ int64_t*)y;
  for (uint32_t i = 0; i < n; ++i, out += 6) {
    out[0] = ScalarGetSFFValue<1>(in[i]);
    out[1] = GetSFFValue<0>(in[i]);
    out[2] = ScalarGetCountOfValue<1>(in[i]);
    out[3] = GetBitCount<0>(in[i]);
    out[4] = ScalarCountLeadingZero(in[i]);
    out[5] = CountBitsCntSameAsSignBit(static_cast<int64_t>(in[i]));
  }
}
"""
NAMES = """
#include "kernel_operator.h"
using namespace AscendC;

template <class T>
__aicore__ void Both(LocalTensor<T> a, LocalTensor<T> b, LocalTensor<T> x, const uint64_t* mask, int32_t lanes,
                     int32_t times) {
  WholeReduceSum(a, x, lanes, times, 2, 1, 8);
  ReduceRepeat<ReduceType::SUM>(b, x, lanes, times, 2, 1, 8);
  WholeReduceMax(a[16], x, mask, times, 2, 1, 8, ReduceOrder::ORDER_INDEX_VALUE);
  ReduceRepeat<ReduceType::MAX, T>(b[16], x, mask, times, 2, 1, 8, ReduceOrder::ORDER_INDEX_VALUE);
  WholeReduceMin(a[32], x, lanes, times, 2, 1, 8);
  ReduceRepeat<ReduceType::MIN>(b[32], x, lanes, times, 2, 1, 8);
  BlockReduceSum(a[64], x, times, mask, 1, 1, 8);
  ReduceDataBlock<ReduceType::SUM>(b[64], x, mask, times, 1, 1, 8);
  BlockReduceMax(a[96], x, times, lanes, 1, 1, 8);
  ReduceDataBlock<ReduceType::MAX>(b[96], x, lanes, times, 1, 1, 8);
  BlockReduceMin(a[128], x, times, lanes, 1, 1, 8);
  ReduceDataBlock<ReduceType::MIN>(b[128], x, lanes, times, 1, 1, 8);
  PairReduceSum(a[256], x, times, lanes, 1, 1, 8);
  ReducePairElem<ReduceType::SUM>(b[256], x, lanes, times, 1, 1, 8);
}

extern "C" __global__ __aicore__ void names(GM_ADDR in, GM_ADDR old_names, GM_ADDR new_names, uint32_t wide,
                                            uint64_t low, uint64_t high, int32_t lanes, int32_t times) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 3 * 4096);
  GlobalTensor<uint8_t> x, y, z;
  x.SetGlobalBuffer(in);
  y.SetGlobalBuffer(old_names);
  z.SetGlobalBuffer(new_names);
  LocalTensor<uint8_t> all = buffer.Get<uint8_t>();
  DataCopy(all[8192], x, 4096);
  PipeBarrier<PIPE_ALL>();
  Duplicate(all.ReinterpretCast<int32_t>(), 0, 2048);
  const uint64_t mask[2] = {low, high};
  if (wide) {
    Both(buffer.GetWithOffset<float>(1024, 0), buffer.GetWithOffset<float>(1024, 4096),
         buffer.GetWithOffset<float>(1024, 8192), mask, lanes, times);
  } else {
    Both(buffer.GetWithOffset<half>(2048, 0), buffer.GetWithOffset<half>(2048, 4096),
         buffer.GetWithOffset<half>(2048, 8192), mask, lanes, times);
  }
  PipeBarrier<PIPE_ALL>();
  DataCopy(y, all, 4096);
  DataCopy(z, all[4096], 4096);
}
"""


def expected(x: int) -> list[int]:
    text = f"{x:064b}"
    rest = text[1:].lstrip(text[0])
    same = -1 if not rest else 63 - len(rest)
    return [text[::-1].find("1"), text[::-1].find("0"), text.count("1"), text.count("0"), 64 - x.bit_length(), same]


def test_bits_of_a_number() -> None:
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.integers(0, 2**64, 200, np.uint64) >> np.uint64(s) for s in (0, 20, 50)])
    x = np.concatenate([x, ~x, np.array([0, 2**64 - 1, 1, 2**63, 0x0100000000000020], np.uint64)])
    result = gnt.kernel(source=BITS).run(x, gnt.out((len(x), 6), np.int64), len(x), isolated=False)
    assert result.y.tolist() == [expected(int(one)) for one in x]
    assert result.y[-1].tolist()[-1] == 6  # the example of the documentation


WORDS = st.integers(0, 2**64 - 1)
# One bit alone, or a run of equal bits below the sign: where a count is off by one.
EDGES = st.builds(
    lambda word, shift, flip: word >> shift ^ flip, WORDS, st.integers(0, 64), st.sampled_from([0, 2**64 - 1])
)
ONE_BIT = st.builds(lambda place, flip: 1 << place ^ flip, st.integers(0, 63), st.sampled_from([0, 2**64 - 1]))


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.one_of(WORDS, EDGES, ONE_BIT), min_size=1, max_size=64))
def test_bits_of_any_number(numbers: list[int]) -> None:
    x = np.array(numbers, np.uint64)
    result = gnt.kernel(source=BITS).run(x, gnt.out((len(x), 6), np.int64), len(x), isolated=False)
    assert result.y.tolist() == [expected(one) for one in numbers]


def in_numpy(x: np.ndarray, lanes: int) -> dict[int, np.ndarray]:
    """Where Both puts exact results of its first repeat, and those: Min of the repeat, Max and Min of its blocks."""
    row = x[:lanes]
    blocks = np.split(row, range(32 // x.itemsize, lanes, 32 // x.itemsize))
    index = np.array([row.argmin()], f"u{x.itemsize}").view(x.dtype)  # its bits; the lowest lane of equal ones
    return {
        32: np.concatenate([row.min(keepdims=True), index]),
        96: np.array([block.max() for block in blocks]),
        128: np.array([block.min() for block in blocks]),
    }


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_new_names_of_reductions_give_the_same_bits(dtype: type) -> None:
    width = 256 // np.dtype(dtype).itemsize

    @settings(max_examples=examples(40), deadline=None)
    @given(data(), WORDS, WORDS, st.integers(1, width), st.integers(1, 3))
    def check(values: Data, low: int, high: int, lanes: int, times: int) -> None:
        x = np.nan_to_num(values.array(dtype, 4096 // np.dtype(dtype).itemsize))
        high = high if width > 64 else 0
        low = low or 1  # a mask without a lane is a diagnostic
        y = gnt.out((4096,), np.uint8)
        run = gnt.kernel(source=NAMES).run
        result = run(x.view(np.uint8), y, y, int(width == 64), low, high, lanes, times, isolated=False)
        np.testing.assert_array_equal(result.old_names, result.new_names)
        got = result.new_names.view(dtype)
        for at, want in in_numpy(x, lanes).items():
            assert_same(no_zero_sign(got[at : at + want.size]), no_zero_sign(want))

    check()
