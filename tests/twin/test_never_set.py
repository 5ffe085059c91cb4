"""What variables without a value and unwritten global memory hold in observed builds, and what the twin reports."""

from __future__ import annotations

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import KernelFault

# A kernel class as courses have it. Its constructor says nothing of `length` and `factor`.
SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;
class Scale {{
 public:
  __aicore__ inline Scale() {{}}
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t count) {{
    xGm.SetGlobalBuffer((__gm__ float*)x, count);
    yGm.SetGlobalBuffer((__gm__ float*)y, count);
    {init}
    pipe.InitBuffer(tiles, 1, {bytes});
    {late}
  }}
  __aicore__ inline void Process() {{
    LocalTensor<float> t = tiles.AllocTensor<float>();
    DataCopy(t, xGm, 64);
    tiles.EnQue<TPosition::GM, TPosition::VECIN>(t);
    t = tiles.DeQue<TPosition::GM, TPosition::VECIN, float>();
    Muls(t, t, factor, 64);
    tiles.EnQue<TPosition::VECOUT, TPosition::GM>(t);
    t = tiles.DeQue<TPosition::VECOUT, TPosition::GM, float>();
    DataCopy(yGm, t, 64);
    tiles.FreeTensor(t);
  }}
 private:
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> tiles;
  GlobalTensor<float> xGm, yGm;
  uint32_t length;
  float factor;
}};
extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, uint32_t count) {{
  Scale op;
  op.Init(x, y, count);
  op.Process();
}}
"""


def run(init: str, late: str = "", size: str = "length * sizeof(float)", optimise: bool = True) -> np.ndarray:
    """y of 64 elements."""
    source = SOURCE.format(init=init, late=late, bytes=size)
    kernel = gnt.kernel(source=source, optimise=optimise)
    return kernel.run(np.arange(64, dtype=np.float32), gnt.out((64,), np.float32), 64, blocks=1)["y"]


def said_by_the_launch(fault: KernelFault) -> list[Diagnostic]:
    """The findings without the source rule, which warns of the same member before anything runs."""
    return [one for one in fault.diagnostics if one.id != "language-never-set"]


@pytest.mark.parametrize("optimise", [True, False])
def test_members_of_a_class_with_a_constructor_are_never_right_by_chance(optimise: bool) -> None:
    with pytest.raises(KernelFault) as fault:
        run("length = count;", optimise=optimise)
    (found,) = said_by_the_launch(fault.value)
    assert (found.id, found.fields["op"]) == ("value-never-set", "Muls")


def test_a_length_that_is_set_too_late_is_told_where_it_is_used() -> None:
    with pytest.raises(KernelFault) as fault:
        run("factor = 2.0f;", late="length = count;")
    (found,) = said_by_the_launch(fault.value)
    assert (found.id, found.fields["cause"]) == ("ub-overflow", "no-value")
    assert str(found.fields["wild"]) in found.what


def test_a_kernel_that_sets_all_of_them_runs() -> None:
    assert np.array_equal(run("length = count; factor = 2.0f;"), np.arange(64, dtype=np.float32) * 2)


# Through a field, which nobody sees (cpp/plain_pointers): the last turn of the loop reads what lies behind x.
BEHIND = """
#include "kernel_operator.h"
using namespace AscendC;
struct Cell {
  float value;
};
extern "C" __global__ __aicore__ void total(GM_ADDR x, GM_ADDR y, uint32_t turns) {
  const __gm__ Cell* in = reinterpret_cast<__gm__ Cell*>(x);
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 8);
  float sum = 0.0f;
  for (uint32_t i = 0; i < turns; ++i) sum += (in + i)->value;
  for (uint32_t i = 0; i < 8; ++i) out.SetValue(i, sum);
}
"""
LAST = """
#include "kernel_operator.h"
using namespace AscendC;
struct Cell {
  int32_t value;
};
extern "C" __global__ __aicore__ void last(GM_ADDR x, GM_ADDR y, uint32_t at) {
  const __gm__ Cell* in = reinterpret_cast<__gm__ Cell*>(x);
  GlobalTensor<int32_t> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(y), 8);
  for (uint32_t i = 0; i < 8; ++i) out.SetValue(i, (in + at)->value);
}
"""


@pytest.mark.parametrize("elements", [5, 1000, 1001, 1024])
def test_one_element_behind_the_end_through_a_pointer(elements: int) -> None:
    """Also where the array ends with its page, and where it ends inside a block of 32 bytes."""
    x = np.arange(1, elements + 1, dtype=np.float32)
    kernel = gnt.kernel(source=BEHIND)
    assert kernel.run(x, gnt.out(8), elements, blocks=1)["y"][0] == x.sum()
    with pytest.raises(KernelFault) as fault:
        kernel.run(x, gnt.out(8), elements + 1, blocks=1)
    (found,) = fault.value.diagnostics
    assert (found.id, found.fields["op"]) == ("value-unwritten", "SetValue")
    assert "out.SetValue(i, sum)" in str(fault.value)


def test_a_word_behind_tiling_data() -> None:
    """A float that is read behind the bytes of a struct, whose poison is that of bytes."""
    tiling = np.zeros(12, np.uint8)
    with pytest.raises(KernelFault) as fault:
        gnt.kernel(source=BEHIND).run(tiling, gnt.out(8), 4, blocks=1)
    assert [found.id for found in fault.value.diagnostics] == ["value-unwritten"]


@pytest.mark.parametrize("elements", [5, 1000, 1024])
def test_a_whole_number_behind_the_end_through_a_pointer(elements: int) -> None:
    x = np.arange(1, elements + 1, dtype=np.int32)
    kernel = gnt.kernel(source=LAST)
    assert kernel.run(x, gnt.out(8, np.int32), elements - 1, blocks=1)["y"][7] == elements
    with pytest.raises(KernelFault, match="global memory that nobody wrote"):
        kernel.run(x, gnt.out(8, np.int32), elements, blocks=1)
