"""Runs of wrong elements that the reference has elsewhere: how far away is said, and nothing of other mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from compare_support import said_by

import gn_tutorial as gnt
from gn_tutorial.compare.patterns import shifted

RANDOM = np.random.default_rng(11)
TRUTH = RANDOM.standard_normal((8, 50)).astype(np.float32)
FLAT = TRUTH.reshape(-1)


def said(actual: np.ndarray, golden: np.ndarray = TRUTH) -> tuple[str, ...]:
    return said_by(shifted.shifted, output=actual.reshape(golden.shape).astype(np.float32), reference=golden)


@pytest.mark.parametrize(("away", "words"), [(3, "3 elements further on"), (-40, "40 elements before")])
def test_a_wrong_offset_is_named(away: int, words: str) -> None:
    actual = FLAT.copy()
    actual[100:300] = FLAT[100 + away : 300 + away]
    (hint,) = said(actual)
    assert f"from 100 on, hold what the reference has {words}: look at the offset" in hint


def test_a_pitch_that_grows_row_by_row_is_named() -> None:
    actual = np.stack([FLAT[row * 44 : row * 44 + 50] for row in range(8)])
    (hint,) = said(actual)
    assert "from element 50 on, they hold what the reference has 6 elements more before" in hint
    assert "the gap between rows" in hint


@pytest.mark.parametrize(
    ("actual", "golden"),
    [
        (TRUTH, TRUTH),
        (RANDOM.standard_normal(TRUTH.shape), TRUTH),
        (np.full_like(TRUTH, np.nan), TRUTH),
        (np.ones_like(TRUTH), np.repeat(np.arange(8.0), 50).reshape(8, 50)),
        (TRUTH[[1, 3, 0, 2, 5, 7, 4, 6]], TRUTH),
    ],
    ids=["right", "random", "NaN", "alike", "dealt anew"],
)
def test_nothing_is_said_of_other_mistakes(actual: np.ndarray, golden: np.ndarray) -> None:
    assert said(actual, golden) == ()


SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void squares(GM_ADDR x, GM_ADDR y, uint32_t gap) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, 8 * 32 * sizeof(float));
  pipe.InitBuffer(out, 1, 8 * 32 * sizeof(float));
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = in.AllocTensor<float>(), b = out.AllocTensor<float>();
  DataCopyExtParams rows(8, 32 * sizeof(float), gap, 0, 0);
  DataCopyPad(a, xGm, rows, DataCopyPadExtParams<float>(false, 0, 0, 0.0f));
  in.EnQue(a);
  a = in.DeQue<float>();
  Mul(b, a, a, 8 * 32);
  in.FreeTensor(a);
  out.EnQue(b);
  b = out.DeQue<float>();
  DataCopy(yGm, b, 8 * 32);
  out.FreeTensor(b);
}
"""


def test_a_gap_in_global_memory_that_only_the_reference_shows() -> None:
    """No rule is broken: all of it lies inside x. The comparison says what the rows hold instead."""
    x = RANDOM.standard_normal(512).astype(np.float32)
    kernel = gnt.kernel(source=SOURCE)
    golden = x[:256].astype(np.float64) ** 2
    right = kernel.run(x, gnt.out(256), 0, blocks=1)
    assert not right.diagnostics
    assert right.compare(golden, rtol=1e-6, atol=1e-6).ok
    wrong = kernel.run(x, gnt.out(256), 16, blocks=1)
    assert not wrong.diagnostics
    (row,) = wrong.compare(golden, rtol=1e-6, atol=1e-6).rows
    assert row.wrong
    # Of the last row, most lies behind the part of x that the reference is of.
    hint, of_x = row.hints
    assert of_x.startswith("no copy and no GetValue has read x from element")
    assert "from element 32 on, they hold what the reference has 4 elements more further on" in hint
