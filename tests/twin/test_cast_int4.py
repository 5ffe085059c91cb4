"""int4b_t: Cast from and to half against exact rounding, and where tensors of half bytes begin."""

from __future__ import annotations

import numpy as np
import pytest

from gn_tutorial.operators.arguments import inout
from gn_tutorial.operators.kernel import Kernel, kernel

MODES = {0: np.rint, 1: np.rint, 2: np.floor, 3: np.ceil, 4: None, 5: np.trunc}
LANES = 128

SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;
// form 0: count, 1: mask and repeat, 2: mask array; strides: of the halves and of the pairs between repeats.
extern "C" __global__ __aicore__ void convert(GM_ADDR halves, GM_ADDR pairs, int32_t back, int32_t mode,
                                              int32_t form, int32_t count, int32_t repeats, int32_t half_stride,
                                              int32_t pair_stride) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> half_buffer, pair_buffer;
  pipe.InitBuffer(half_buffer, 2048);
  pipe.InitBuffer(pair_buffer, 512);
  LocalTensor<half> h = half_buffer.Get<half>();
  LocalTensor<int4b_t> p = pair_buffer.Get<int4b_t>();
  GlobalTensor<half> gm_halves;
  GlobalTensor<int4b_t> gm_pairs;
  gm_halves.SetGlobalBuffer((__gm__ half*)halves);
  gm_pairs.SetGlobalBuffer((__gm__ int4b_t*)pairs);
  DataCopy(h, gm_halves, 1024);
  DataCopy(p, gm_pairs, p.GetSize());
  PipeBarrier<PIPE_ALL>();
  const RoundMode round = static_cast<RoundMode>(mode);
  const uint64_t bits[2] = {0xf0f0f0f0f0f0f00fu, 0x3u};
  const uint8_t h_rep = static_cast<uint8_t>(half_stride), p_rep = static_cast<uint8_t>(pair_stride);
  const uint8_t times = static_cast<uint8_t>(repeats);
  const uint64_t lanes = static_cast<uint64_t>(count);
  if (back == 0) {
    if (form == 0) Cast(p, h, round, static_cast<uint32_t>(count));
    if (form == 1) Cast<int4b_t, half>(p, h, round, lanes, times, {1, 1, p_rep, h_rep});
    if (form == 2) Cast<int4b_t, half>(p, h, round, bits, times, {1, 1, p_rep, h_rep});
  } else {
    if (form == 0) Cast(h, p, round, static_cast<uint32_t>(count));
    if (form == 1) Cast<half, int4b_t>(h, p, round, lanes, times, {1, 1, h_rep, p_rep});
    if (form == 2) Cast<half, int4b_t>(h, p, round, bits, times, {1, 1, h_rep, p_rep});
  }
  PipeBarrier<PIPE_ALL>();
  DataCopy(gm_halves, h, 1024);
  DataCopyPad(gm_pairs, p, {1, 512, 0, 0, 0});
}
extern "C" __global__ __aicore__ void sizes(GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(buffer, 64);
  pipe.InitBuffer(queue, 1, 32);
  LocalTensor<int4b_t> p = buffer.Get<int4b_t>();
  LocalTensor<int4b_t> q = queue.AllocTensor<int4b_t>();
  const int64_t found[] = {p.GetSize(), p.GetLength(), p[64].GetSize(), p.ReinterpretCast<half>().GetSize(),
                           q.GetSize(),
                           p[64].ReinterpretCast<int8_t>().GetPhyAddr() - p.ReinterpretCast<int8_t>().GetPhyAddr(),
                           p.ReinterpretCast<half>().ReinterpretCast<int4b_t>().GetSize()};
  for (uint32_t i = 0; i < 7; ++i) ((__gm__ int32_t*)y)[i] = static_cast<int32_t>(found[i]);
}
"""


@pytest.fixture(scope="module")
def kernels() -> Kernel:
    return kernel(source=SOURCE, optimise="little")


def unpacked(pairs: np.ndarray) -> np.ndarray:
    """int8 values of the half bytes, the low half of each byte first."""
    both = np.stack([pairs & 15, pairs >> 4], 1).reshape(-1).astype(np.int8)
    return np.where(both > 7, both - 16, both).astype(np.int8)


def packed(values: np.ndarray) -> np.ndarray:
    low, high = values.reshape(-1, 2).astype(np.uint8).T & 15
    return (low | high << 4).astype(np.uint8)


def rounded(values: np.ndarray, mode: int) -> np.ndarray:
    x = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=99, neginf=-99)
    whole = np.trunc(x) + (np.abs(x - np.trunc(x)) >= 0.5) * np.sign(x) if mode == 4 else MODES[mode](x)
    return np.clip(whole, -8, 7).astype(np.int8)


def lanes_of(form: int, count: int, repeats: int) -> list[np.ndarray]:
    """The active lanes of each repeat."""
    if form == 0:
        return [np.arange(min(LANES, count - first)) for first in range(0, count, LANES)]
    if form == 1:
        return [np.arange(count)] * repeats
    bits = np.array([0xF0F0F0F0F0F0F00F >> i & 1 for i in range(64)] + [0x3 >> i & 1 for i in range(64)])
    return [np.flatnonzero(bits)] * repeats


@pytest.mark.parametrize("form", [0, 1, 2])
@pytest.mark.parametrize("mode", sorted(MODES))
def test_half_to_pairs_and_back(kernels: Kernel, mode: int, form: int) -> None:
    rng = np.random.default_rng(mode)
    halves = np.concatenate(
        [np.array([0.5, 1.5, -0.5, -1.5, 2.5, -2.5, 7.5, -8.5, 100, -100, np.nan, np.inf, -np.inf, -0.0, 6.5, -7.5]),
         rng.uniform(-10, 10, 1008)]
    ).astype(np.float16)  # fmt: skip
    pairs = rng.integers(0, 256, 512).astype(np.uint8)
    for count, repeats, half_stride, pair_stride in [(LANES if form else 900, 3, 8, 2), (30, 2, 9, 3)]:
        if form == 0:
            half_stride, pair_stride = 8, 2
        lanes = lanes_of(form, count, repeats)
        half_at = np.concatenate([repeat * half_stride * 16 + one for repeat, one in enumerate(lanes)])
        pair_at = np.concatenate([repeat * pair_stride * 64 + one for repeat, one in enumerate(lanes)])
        how = (mode, form, count, repeats, half_stride, pair_stride)
        expected = unpacked(pairs)
        expected[pair_at] = rounded(halves[half_at], mode)
        made = kernels.run(inout(halves), inout(pairs), 0, *how, entry="convert")
        assert np.array_equal(made["pairs"], packed(expected))
        if mode == 0:
            wide = halves.copy()
            wide[half_at] = unpacked(pairs)[pair_at].astype(np.float16)
            made = kernels.run(inout(halves), inout(pairs), 1, *how, entry="convert")
            assert np.array_equal(made["halves"].view(np.uint16), wide.view(np.uint16))


def test_lengths_count_half_bytes(kernels: Kernel) -> None:
    found = kernels.run(inout(np.zeros(8, np.int32)), entry="sizes")["y"]
    assert found.tolist() == [128, 64, 64, 32, 64, 32, 128, 0]
