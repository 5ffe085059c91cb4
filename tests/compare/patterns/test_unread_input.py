"""A comparison that fails names the inputs that nobody has read, or whose end nobody has read."""

from __future__ import annotations

import numpy as np
import pytest

import gn_tutorial as gnt

COPY = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void copy(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  GlobalTensor<float> xGm, zGm;
  xGm.SetGlobalBuffer((__gm__ float*)x);
  zGm.SetGlobalBuffer((__gm__ float*)z);
  LocalTensor<float> tile = queue.AllocTensor<float>();
  DataCopy(tile, xGm[64], 64);
  queue.EnQue(tile);
  tile = queue.DeQue<float>();
  DataCopy(zGm, tile, 64);
  queue.FreeTensor(tile);
}
"""
X = np.arange(192, dtype=np.float32)


@pytest.mark.parametrize("isolated", [True, False])
def test_a_wrong_output_names_inputs_that_were_not_read(isolated: bool) -> None:
    numbers = np.arange(8, dtype=np.int32)
    result = gnt.kernel(source=COPY).run(X, X + 1, gnt.out(64), blocks=1, isolated=isolated)
    assert not result.diagnostics
    assert result.compare(X[64:128], rtol=0, atol=0).hints() == []
    hints = result.compare(np.exp2(-X[:64]), rtol=0, atol=0).hints()
    assert any("z: no copy and no GetValue has read y: look at what its GlobalTensor" in hint for hint in hints)
    assert any("has read x before element 64 and from element 128 on (192 in all)" in hint for hint in hints)
    result = gnt.kernel(source=COPY).run(X, numbers, gnt.out(64), blocks=1, isolated=isolated)
    hints = result.compare(np.exp2(-X[:64]), rtol=0, atol=0).hints()
    assert not any("read y" in hint for hint in hints)
    integers = gnt.kernel(source=COPY.replace("float", "int32_t")).run(
        X.astype(np.int32), numbers, gnt.out(64, np.int32), blocks=1, isolated=isolated
    )
    hints = integers.compare(X[:64].astype(np.int32), rtol=0, atol=0).hints()
    assert any("has read x before element 64 and from element 128 on (192 in all)" in hint for hint in hints)
