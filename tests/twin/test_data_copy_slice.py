"""DataCopy with SliceInfo, both ways, against NumPy's own slicing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.operators.arguments import inout
from gn_tutorial.operators.kernel import Kernel, kernel

SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;
// numbers: dimensions; then 5 of each source dimension, 5 of each local one, 5 of each destination one.
template <class T>
__aicore__ void Run(GM_ADDR x, GM_ADDR y, __gm__ uint32_t* numbers) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 32 * 1024);
  LocalTensor<T> local = buffer.Get<T>();
  GlobalTensor<T> in, out;
  in.SetGlobalBuffer((__gm__ T*)x);
  out.SetGlobalBuffer((__gm__ T*)y);
  SliceInfo infos[3][8];
  const uint32_t dimensions = *numbers++;
  for (auto& side : infos) {
    for (uint32_t i = 0; i < dimensions; ++i, numbers += 5)
      side[i] = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
  }
  DataCopy(local, in, infos[1], infos[0], dimensions);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(out, local, infos[2], infos[1], dimensions);
}
extern "C" __global__ __aicore__ void slices(GM_ADDR x, GM_ADDR y, GM_ADDR numbers, int32_t bytes) {
  if (bytes == 1) Run<int8_t>(x, y, (__gm__ uint32_t*)numbers);
  if (bytes == 2) Run<bfloat16_t>(x, y, (__gm__ uint32_t*)numbers);
  if (bytes == 4) Run<float>(x, y, (__gm__ uint32_t*)numbers);
}
"""


@pytest.fixture(scope="module")
def slices() -> Kernel:
    return kernel(source=SOURCE, optimise="little")


def copied(slices: Kernel, x: np.ndarray, size: int, *sides: list[tuple[int, int, int, int, int]]) -> np.ndarray:
    numbers = [len(sides[0]), *(number for side in sides for one in side for number in one)]
    y = np.zeros(size, x.dtype)
    return slices.run(x, inout(y), np.array(numbers, np.uint32), x.itemsize)["y"]


def test_the_example_of_the_documentation(slices: Kernel) -> None:
    x = np.arange(3 * 87, dtype=np.int32).view(np.float32)
    dense = [(0, 47, 0, 3, 48), (0, 1, 0, 1, 2)]
    y = copied(slices, x, 96, [(16, 70, 7, 3, 87), (0, 2, 1, 1, 3)], dense, dense)
    rows = x.reshape(3, 87)[::2]
    assert np.array_equal(
        y.view(np.int32).reshape(2, 2, 24), np.stack([rows[:, 16:40], rows[:, 47:71]], 1).view(np.int32)
    )


@settings(max_examples=examples(25), deadline=None)
@given(data=st.data())
def test_any_parts(slices: Kernel, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.int8, np.int16, np.int32]))
    block = 32 // np.dtype(dtype).itemsize
    blocks, parts = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    outer = data.draw(st.lists(st.integers(1, 3), max_size=3))

    def side(local: bool) -> tuple[list[tuple[int, int, int, int, int]], np.ndarray, int]:
        """The SliceInfo of one side, the element of each of its parts' elements, and how many elements it has."""
        gap = data.draw(st.integers(0, 2)) * block if local else data.draw(st.integers(0, 40))
        first = data.draw(st.integers(0, 2)) * block if local else data.draw(st.integers(0, 9))
        spare = data.draw(st.integers(0, 2)) * block if local else data.draw(st.integers(0, 9))
        length = blocks * block
        begins = first + np.arange(parts) * (length + gap)
        end = int(begins[-1]) + length - 1
        shape = end + 1 + spare
        shape += -shape % block if local else 0
        infos = [(first, end, gap, blocks, shape)]
        at = (begins[:, None] + np.arange(length)).reshape(-1)
        for count in outer:
            start, step = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))
            last = start + (count - 1) * (step + 1)
            size = last + 1 + data.draw(st.integers(0, 1))
            at = ((start + np.arange(count) * (step + 1)) * shape)[:, None] + at
            at, infos = at.reshape(-1), [*infos, (start, last, step, 1, size)]
            shape *= size
        return infos, at, shape

    source, from_at, size = side(False)
    local, _, room = side(True)
    target, to_at, out_size = side(False)
    if room * np.dtype(dtype).itemsize > 32 * 1024:
        return
    x = np.random.default_rng(7).integers(0, 100, size).astype(dtype)
    kinds = {1: np.int8, 2: np.int16, 4: np.int32}
    expected = np.zeros(out_size, kinds[np.dtype(dtype).itemsize])
    expected[to_at] = x[from_at]
    assert np.array_equal(copied(slices, x, out_size, source, local, target), expected)
