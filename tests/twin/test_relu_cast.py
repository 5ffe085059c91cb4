"""AddReluCast, SubReluCast: numbers against NumPy in each pair of types and each form, and pairs that do not exist."""

from __future__ import annotations

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.errors import CompileError, KernelFault

SOURCE = """#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void k(GM_ADDR a, GM_ADDR b, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffers[3];
  for (auto& one : buffers) pipe.InitBuffer(one, 1024);
  LocalTensor<SRC> first = buffers[0].Get<SRC>(), second = buffers[1].Get<SRC>();
  LocalTensor<DST> to = buffers[2].Get<DST>();
  GlobalTensor<SRC> gmA, gmB;
  GlobalTensor<DST> gmY;
  gmA.SetGlobalBuffer((__gm__ SRC*)a);
  gmB.SetGlobalBuffer((__gm__ SRC*)b);
  gmY.SetGlobalBuffer((__gm__ DST*)y);
  DataCopy(first, gmA, 256);
  DataCopy(second, gmB, 256);
  PipeBarrier<PIPE_ALL>();
  CALL;
  PipeBarrier<PIPE_ALL>();
  DataCopy(gmY, to, 256);
}
"""
PAIRS = [("float", "half"), ("half", "int8_t"), ("int16_t", "int8_t")]
NUMPY = {"float": np.float32, "half": np.float16, "int16_t": np.int16, "int8_t": np.int8}


def source(name: str, pair: tuple[str, str], arguments: str) -> str:
    return SOURCE.replace("SRC", pair[0]).replace("DST", pair[1]).replace("CALL", f"{name}({arguments})")


def inputs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Sums of both signs, ties of int8 and of half, and sums that int8 does not hold."""
    rng = np.random.default_rng(11)
    a, b = rng.uniform(-150, 200, (2, 256))
    if dtype == "half":
        a, b = np.round(a * 2) / 2, np.round(b * 2) / 2
    a[:3], b[:3] = (1.5, 2.5, 100.0), (1.0, 1.0, 100.0)
    return a.astype(NUMPY[dtype]), b.astype(NUMPY[dtype])


def expected(name: str, a: np.ndarray, b: np.ndarray, kind: type) -> np.ndarray:
    exact = a.astype(np.float64) + (b if name == "AddReluCast" else -b.astype(np.float64))
    value = np.maximum(exact.astype(a.dtype).astype(np.float64), 0)
    return np.clip(np.rint(value), -128, 127).astype(np.int8) if kind is np.int8 else value.astype(kind)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("name", ["AddReluCast", "SubReluCast"])
def test_all_elements_by_their_count(name: str, pair: tuple[str, str]) -> None:
    a, b = inputs(pair[0])
    kernel = gnt.kernel(source=source(name, pair, "to, first, second, 256"))
    y = kernel.run(a, b, gnt.out((256,), np.dtype(NUMPY[pair[1]]).name), blocks=1).y
    np.testing.assert_array_equal(y, expected(name, a, b, NUMPY[pair[1]]))
    assert 0 < np.count_nonzero(y == 0) < 256


def test_lanes_are_those_of_the_wider_type() -> None:
    """float to half: 64 lanes a repeat, sources 8 blocks of 32 bytes apart and results 4; a mask leaves lanes alone."""
    a, b = inputs("float")
    before = "Duplicate(to, half(7), 256); PipeBarrier<PIPE_V>(); "
    call = source("AddReluCast", ("float", "half"), "to, first, second, 5, 4, {1, 1, 1, 4, 8, 8}")
    kernel = gnt.kernel(source=call.replace("AddReluCast", f"{before}AddReluCast"))
    y = kernel.run(a, b, gnt.out((256,), "float16"), blocks=1).y.reshape(4, 64)
    want = expected("AddReluCast", a, b, np.float16).reshape(4, 64)
    np.testing.assert_array_equal(y[:, :5], want[:, :5])
    np.testing.assert_array_equal(y[:, 5:], 7)


def test_a_pair_that_does_not_exist_is_a_compile_error() -> None:
    with pytest.raises(CompileError, match="makes half of float, and int8_t of half or int16_t"):
        gnt.kernel(source=source("AddReluCast", ("float", "int8_t"), "to, first, second, 256")).build()


def test_a_result_that_is_too_short_is_found() -> None:
    a, b = inputs("float")
    kernel = gnt.kernel(source=source("SubReluCast", ("float", "half"), "to[300], first, second, 256"))
    with pytest.raises(KernelFault, match=r"SubReluCast touches 512 bytes of dst"):
        kernel.run(a, b, gnt.out((256,), "float16"), blocks=1)
