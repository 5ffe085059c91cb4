"""Behind an array: what a copy rounded up to 32 bytes may touch there, as in memory from aclrtMalloc, and what not."""

from __future__ import annotations

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.errors import KernelError, KernelFault

COPY = """#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void copy(GM_ADDR x, GM_ADDR y, uint32_t first, uint32_t in, uint32_t out) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 1024);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer((__gm__ float*)x);
  yGm.SetGlobalBuffer((__gm__ float*)y);
  LocalTensor<float> t = queue.AllocTensor<float>();
  DataCopy(t, xGm[first], in);
  queue.EnQue(t);
  t = queue.DeQue<float>();
  DataCopy(yGm[first], t, out);
  queue.FreeTensor(t);
}
"""


def copy(elements: int, first: int, count: int, out: int, **how: bool) -> gnt.Result:
    x = np.arange(1, elements + 1, dtype=np.float32)
    numbers = [np.uint32(number) for number in (first, count, out)]
    return gnt.kernel(source=COPY, optimise=False).run(x, gnt.out(elements, np.float32), *numbers, **how)


@pytest.mark.parametrize("isolated", [True, False])
@pytest.mark.parametrize(("elements", "first", "count"), [(5, 0, 8), (13, 0, 16), (13, 5, 16), (9, 1, 16), (1, 0, 8)])
def test_what_is_written_behind_an_array_is_not_in_the_result(
    elements: int, first: int, count: int, isolated: bool
) -> None:
    result = copy(elements, first, count, count, isolated=isolated)
    np.testing.assert_array_equal(result.y[first:], np.arange(first + 1, elements + 1))
    behind = 4 * (first + count - elements)
    (found,) = [one for one in result.diagnostics if one.id == "gm-behind-end" and one.fields["does"] == "writes"]
    assert (found.severity, found.fields["bytes"]) == ("warning", behind)
    assert f"{behind} bytes behind the end of y" in found.what


def test_a_bare_build_may_touch_the_same_bytes() -> None:
    result = copy(13, 5, 16, 16, observed=False)
    np.testing.assert_array_equal(result.y[5:], np.arange(6, 14))


@pytest.mark.parametrize("isolated", [True, False])
@pytest.mark.parametrize(("elements", "first", "count"), [(8, 1, 16), (13, 9, 16), (5, 0, 24), (5, 5, 8), (13, 14, 8)])
def test_further_behind_is_an_error(elements: int, first: int, count: int, isolated: bool) -> None:
    """aclrtMalloc rounds the size up to 32 bytes and adds 32; and what begins behind an array was not rounded up."""
    with pytest.raises(KernelFault) as caught:
        copy(elements, first, count, count, isolated=isolated)
    assert caught.value.diagnostics[-1].id == "gm-out-of-bounds"


def test_a_bare_build_beyond_those_bytes_is_an_error() -> None:
    with pytest.raises(KernelError, match="wrote outside 'y'"):
        copy(13, 9, 8, 24, observed=False)


@pytest.mark.parametrize("isolated", [True, False])
def test_an_array_that_is_read_and_written_keeps_its_neighbours(isolated: bool) -> None:
    source = COPY.replace("DataCopy(yGm[first], t, out);", "DataCopy(xGm[first], t, out);")
    whole = np.full(32, 7, np.float32)
    part = whole[:13]
    found = gnt.kernel(source=source, optimise=False).run(
        gnt.inout(part), gnt.inout(np.zeros(4, np.float32)), np.uint32(5), np.uint32(16), np.uint32(16),
        isolated=isolated,
    )  # fmt: skip
    np.testing.assert_array_equal(found.x, np.full(13, 7))
    assert (whole == 7).all()


def test_values_from_behind_an_array_are_nobodys() -> None:
    """A sum over the rounded length uses them: on the device they are garbage."""
    source = COPY.replace("DataCopy(yGm[first], t, out);", "Adds(t, t, 1.0f, in); DataCopy(yGm, t, in);")
    x = np.ones(5, np.float32)
    with pytest.raises(KernelFault) as caught:
        gnt.kernel(source=source, optimise=False).run(
            x, gnt.out(64, np.float32), np.uint32(0), np.uint32(8), np.uint32(8), isolated=False
        )
    assert "ub-never-written" in {one.id for one in caught.value.diagnostics}


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float16, np.int32, np.float32, np.int64])
@pytest.mark.parametrize("forgotten", [0, 1])
def test_what_a_pointer_wrote_is_known_by_whole_elements(dtype: type, forgotten: int) -> None:
    """Each value has bytes of the poison; the last one is forgotten."""
    ctype = {np.float16: "uint16_t", np.float32: "uint32_t"}.get(dtype, f"{np.dtype(dtype).name}_t")
    source = f"""#include "kernel_operator.h"
extern "C" __global__ __aicore__ void fill(GM_ADDR y, uint32_t count) {{
  auto* out = (__gm__ {ctype}*)y;
  const uint8_t bytes[] = {{0xa5, 0xe5, 0x7f, 0x7e, 0xfd, 0xa5, 0x01}};
  for (uint32_t i = 0; i < count; ++i) {{
    {ctype} value = 0;
    for (uint32_t b = 0; b < sizeof(value); ++b) ((uint8_t*)&value)[b] = bytes[(i + 3 * b) % 7];
    out[i] = value;
  }}
}}
"""
    size = 64
    left = max(1, 4 // np.dtype(dtype).itemsize) * forgotten
    result = gnt.kernel(source=source, optimise=False).run(gnt.out(size, dtype), np.uint32(size - left))
    assert [(one.id, one.fields["bytes"]) for one in result.diagnostics] == [
        ("gm-not-written", left * np.dtype(dtype).itemsize)
    ] * forgotten
