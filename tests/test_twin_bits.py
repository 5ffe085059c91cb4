"""Bits of a number for the scalar unit, and the 9.x names of the reductions, against what they stand for."""

from __future__ import annotations

import numpy as np

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
__aicore__ void Both(LocalTensor<T> a, LocalTensor<T> b, LocalTensor<T> x, const uint64_t* mask) {
  const int32_t lanes = 256 / sizeof(T) - 3;
  WholeReduceSum(a, x, lanes, 3, 2, 1, 8);
  ReduceRepeat<ReduceType::SUM>(b, x, lanes, 3, 2, 1, 8);
  WholeReduceMax(a[16], x, mask, 3, 2, 1, 8, ReduceOrder::ORDER_INDEX_VALUE);
  ReduceRepeat<ReduceType::MAX, T>(b[16], x, mask, 3, 2, 1, 8, ReduceOrder::ORDER_INDEX_VALUE);
  WholeReduceMin(a[32], x, lanes, 3, 2, 1, 8);
  ReduceRepeat<ReduceType::MIN>(b[32], x, lanes, 3, 2, 1, 8);
  BlockReduceSum(a[64], x, 3, mask, 1, 1, 8);
  ReduceDataBlock<ReduceType::SUM>(b[64], x, mask, 3, 1, 1, 8);
  BlockReduceMax(a[96], x, 3, lanes, 1, 1, 8);
  ReduceDataBlock<ReduceType::MAX>(b[96], x, lanes, 3, 1, 1, 8);
  BlockReduceMin(a[128], x, 3, lanes, 1, 1, 8);
  ReduceDataBlock<ReduceType::MIN>(b[128], x, lanes, 3, 1, 1, 8);
  PairReduceSum(a[256], x, 3, lanes, 1, 1, 8);
  ReducePairElem<ReduceType::SUM>(b[256], x, lanes, 3, 1, 1, 8);
}

extern "C" __global__ __aicore__ void names(GM_ADDR in, GM_ADDR old_names, GM_ADDR new_names, uint32_t wide) {
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
  const uint64_t mask[2] = {0x0ff0f0f0cccc5555, 0x123456789abcdef0};
  if (wide) {
    Both(buffer.GetWithOffset<float>(1024, 0), buffer.GetWithOffset<float>(1024, 4096),
         buffer.GetWithOffset<float>(1024, 8192), mask);
  } else {
    Both(buffer.GetWithOffset<half>(2048, 0), buffer.GetWithOffset<half>(2048, 4096),
         buffer.GetWithOffset<half>(2048, 8192), mask);
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


def test_new_names_of_reductions_give_the_same_bits() -> None:
    x = np.random.default_rng(6).standard_normal(2048).astype(np.float16)
    for wide in (0, 1):
        data = (x[:1024].astype(np.float32) if wide else x).view(np.uint8)
        result = gnt.kernel(source=NAMES).run(
            data, gnt.out((4096,), np.uint8), gnt.out((4096,), np.uint8), wide, isolated=False
        )
        assert np.count_nonzero(result.old_names) > 200
        np.testing.assert_array_equal(result.old_names, result.new_names)
