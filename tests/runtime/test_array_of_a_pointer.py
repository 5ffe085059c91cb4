"""An access that leaves its array is reported with this array, however far it goes and whatever lies there."""

from __future__ import annotations

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.errors import KernelFault

#: One kernel that reaches an element in many ways, compiled once. Each array has 1024 elements.
REACH = """#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void reach(GM_ADDR a, GM_ADDR b, GM_ADDR y, GM_ADDR w, int64_t first, uint32_t count,
                                            uint32_t way) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  LocalTensor<float> t = buffer.Get<float>();
  GlobalTensor<float> g;
  if (way == 0) g.SetGlobalBuffer((__gm__ float*)a + first, count);
  if (way == 1) g.SetGlobalBuffer((__gm__ float*)(a + 4 * first));
  if (way == 2) g.SetGlobalBuffer((__gm__ float*)((__gm__ int64_t*)a + first / 2));
  if (way == 3) {
    g.SetGlobalBuffer((__gm__ float*)a);
    g = g[first];
  }
  if (way == 4) {
    g.SetGlobalBuffer((__gm__ float*)a);
    g.SetGlobalBuffer(g.GetPhyAddr(first));
  }
  if (way == 9) g.SetGlobalBuffer((__gm__ float*)b + first);
  if (way == 5) g.SetGlobalBuffer((__gm__ float*)GetUserWorkspace(w) + first);
  if (way == 6) {
    g.SetGlobalBuffer((__gm__ float*)y);
    DataCopy(g[first], t, count);
  } else if (way == 7) {
    g.SetGlobalBuffer((__gm__ float*)a);
    t.SetValue(0, g.GetValue(first));
  } else if (way == 8) {
    t.SetValue(0, ((__gm__ volatile float*)a)[first]);
  } else if (count != 0) {
    DataCopy(t, g, count);
  }
}
"""
WAYS = ("a", "a", "a", "a", "a", "w", "y", "a")
RAW, SECOND = 8, 9
#: First elements outside: the next one, before the start, beyond the other arrays (4 MiB), and 64 GiB.
OUTSIDE = (1024, -64, 1 << 20, 1 << 34)


def reach(way: int, first: int, count: int = 64) -> gnt.Result:
    a, b, y, w = (np.zeros(1024, np.float32) for _ in range(4))
    numbers = np.int64(first), np.uint32(count), np.uint32(way)
    return gnt.kernel(source=REACH, optimise=False).run(a, b, gnt.inout(y), gnt.inout(w), *numbers)


@pytest.mark.parametrize("first", OUTSIDE)
@pytest.mark.parametrize(("way", "array"), [*enumerate(WAYS)])
def test_an_access_outside_its_array_names_this_array(way: int, array: str, first: int) -> None:
    with pytest.raises(KernelFault) as caught:
        reach(way, first)
    found = caught.value.diagnostics[-1]
    assert (found.id, found.fields["argument"], found.fields["offset"]) == ("gm-out-of-bounds", array, 4 * first)


@pytest.mark.parametrize("first", [1024, 1200, 1 << 20, 1 << 34, -(1 << 20), -1])
def test_a_plain_pointer_outside_its_array_names_this_array_at_its_line(first: int) -> None:
    with pytest.raises(KernelFault) as caught:
        reach(RAW, first)
    found = caught.value.diagnostics[-1]
    assert (found.id, found.fields["argument"], found.fields["offset"]) == ("gm-out-of-bounds", "a", 4 * first)
    assert "(__gm__ volatile float*)a" in REACH.splitlines()[found.line - 1]


@pytest.mark.parametrize(("first", "count"), [(0, 64), (960, 64), (1024, 0)])
def test_parts_and_a_view_without_elements_at_the_end_are_right(first: int, count: int) -> None:
    for way in [*range(6), *((7, RAW) if count else ())]:
        assert reach(way, first, count).diagnostics == ()


@pytest.mark.parametrize("isolated", [True, False])
def test_overlapping_arrays_are_each_whole(isolated: bool) -> None:
    whole, w = np.zeros(2048, np.float32), np.zeros(1024, np.float32)
    numbers = np.int64(0), np.uint32(1024), np.uint32(SECOND)
    found = gnt.kernel(source=REACH, optimise=False).run(
        whole[:1024], whole[512:1536], gnt.inout(w), gnt.inout(w.copy()), *numbers, isolated=isolated
    )
    assert found.diagnostics == ()
