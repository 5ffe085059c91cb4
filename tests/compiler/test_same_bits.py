"""The twin gives the same bits whatever compiles it: other compiler, other optimisation, other instruction set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.abi.options import Optimise
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import build_kernel
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

# One result row per operation whose bits could depend on a library, on contraction or on the order of additions.
ROWS = """
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t kCount = 2000;
constexpr uint32_t kRow = 2048;

extern "C" __global__ __aicore__ void rows(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECIN> inBuf;
  TBuf<TPosition::VECOUT> outBuf;
  TBuf<TPosition::VECCALC> workBuf, halfBuf;
  pipe.InitBuffer(inBuf, kRow * sizeof(float));
  pipe.InitBuffer(outBuf, kRow * sizeof(float));
  pipe.InitBuffer(workBuf, kRow * sizeof(float));
  pipe.InitBuffer(halfBuf, kRow * sizeof(half));
  LocalTensor<float> in = inBuf.Get<float>();
  LocalTensor<float> out = outBuf.Get<float>();
  LocalTensor<float> work = workBuf.Get<float>();
  LocalTensor<half> small = halfBuf.Get<half>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer((__gm__ float*)x, kRow);
  yGm.SetGlobalBuffer((__gm__ float*)y, 9 * kRow);
  DataCopy(in, xGm, kRow);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  for (uint32_t row = 0; row < 9; ++row) {
    Duplicate(out, 0.0f, kRow);
    if (row == 0) Exp(out, in, kCount);
    if (row == 1) { Abs(work, in, kCount); Ln(out, work, kCount); }
    if (row == 2) { Abs(work, in, kCount); Sqrt(out, work, kCount); }
    if (row == 3) { Adds(work, in, 3.25f, kCount); Div(out, in, work, kCount); }
    if (row == 4) { Muls(work, in, 1.0f, kCount); Axpy(work, in, 0.3f, kCount); Mul(out, work, in, kCount); }
    if (row == 5) ReduceSum(out, in, work, kCount);
    if (row == 6) Sigmoid(out, in, kCount);
    if (row == 7) {
      Cast(small, in, RoundMode::CAST_RINT, kCount);
      Mul(small, small, small, kCount);
      Exp(small, small, kCount);
      Cast(out, small, RoundMode::CAST_NONE, kCount);
    }
    if (row == 8) { Rsqrt(work, in, kCount); Reciprocal(out, in, kCount); Max(out, out, work, kCount); }
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(yGm[row * kRow], out, kRow);
    SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
  }
}
"""


def rows(**how: object) -> np.ndarray:
    """The nine rows as raw bits; NaN of any sign and payload as one pattern, for IEEE 754 leaves those open."""
    rng = np.random.default_rng(11)
    x = (rng.normal(0.7, 3.0, 2048) * rng.choice([1e-3, 1.0, 9.0], 2048)).astype(np.float32)
    args = [
        LaunchArg("x", ArgKind.TENSOR, Role.IN, x),
        LaunchArg("y", ArgKind.TENSOR, Role.OUT, np.empty((9, 2048), np.float32)),
    ]
    y = launch(build_kernel(ROWS, **how).library, LaunchRequest(entry="rows", args=args)).arrays["y"]
    return np.where(np.isnan(y), np.float32("nan"), y).view(np.uint32)


def group_norm() -> bytes:
    x = np.random.default_rng(12).normal(2.0, 3.0, (2, 6, 11, 7)).astype(np.float32)
    done = gnt.kernel("group_norm/scalar")(x, num_groups=3)
    return done.y.tobytes() + done.mean.tobytes() + done.rstd.tobytes()


@pytest.mark.parametrize("level", [pytest.param("little", marks=pytest.mark.thorough), False])
def test_optimisation_does_not_change_a_bit(level: Optimise) -> None:
    np.testing.assert_array_equal(rows(optimise=level), rows())


def test_both_modes_agree() -> None:
    np.testing.assert_array_equal(rows(observed=False), rows())


@pytest.mark.zig
def test_another_compiler_gives_the_same_bits(use_zig: Callable[[], None]) -> None:
    here = rows(), group_norm()
    use_zig()
    np.testing.assert_array_equal(rows(), here[0])
    assert group_norm() == here[1]


@pytest.mark.zig
def test_every_name_of_the_twin_compiles_with_another_compiler(use_zig: Callable[[], None]) -> None:
    """clang once called Adds ambiguous where g++ did not."""
    use_zig()
    assert build_kernel(Path(__file__).parents[1] / "programs" / "apis" / "all_names.cpp").entries


def test_the_rows_are_the_functions() -> None:
    """Equal bits of wrong numbers would prove nothing."""
    rng = np.random.default_rng(11)
    x = (rng.normal(0.7, 3.0, 2048) * rng.choice([1e-3, 1.0, 9.0], 2048)).astype(np.float32)[:2000].astype(np.float64)
    y = rows().view(np.float32)[:, :2000].astype(np.float64)
    with np.errstate(over="ignore"):
        exact = np.exp(x).astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(y[0], exact, rtol=1e-7)
    np.testing.assert_allclose(y[1], np.log(np.abs(x)), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(y[6], 1 / (1 + np.exp(-x)), rtol=3e-7)
    np.testing.assert_allclose(y[5, 0], x.sum(), rtol=1e-5)
