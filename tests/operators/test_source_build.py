"""The library that a launch gets, by its purpose."""

from __future__ import annotations

import uuid

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.abi.options import Optimise
from gn_tutorial.compiler.build import build_kernel
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.source_build import SourceBuild

TWICE = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void twice(GM_ADDR x) {
  AscendC::GlobalTensor<float> t;
  t.SetGlobalBuffer((__gm__ float *)x, 8);
  for (int i = 0; i < 8; ++i) t.SetValue(i, 2.0f * t.GetValue(i));
}
"""


@pytest.mark.parametrize(
    ("observed", "optimise", "mib", "level"),
    [
        (True, None, 1, "soonest"),
        (True, None, 64, "soonest"),
        (True, None, 65, True),
        (False, None, 1, True),
        (True, False, 1, False),
        (True, True, 1, True),
        (False, "little", 1, "little"),
    ],
)
def test_a_small_checked_launch_is_not_kept_waiting_by_the_compiler(
    observed: bool, optimise: Optimise | None, mib: int, level: object
) -> None:
    assert SourceBuild(None, TWICE, optimise=optimise)._level(observed, mib << 20) == level


@pytest.mark.thorough
def test_the_first_small_launch_compiles_little_and_a_fast_library_is_used_where_there_is_one() -> None:
    source = f"{TWICE}// {uuid.uuid4()}\n"
    made, x = kernel(source=source), np.arange(8, dtype=np.float32)
    assert made.run(x=gnt.inout(x)).compile_seconds > 0
    little, fast = (build_kernel(source, optimise=level) for level in ("little", True))
    assert (little.cached, fast.cached) == (True, False)
    assert made.build().library == fast.library
    assert made.build(array_bytes=65 << 20).library == fast.library


def test_macros_of_the_build_choose_the_entry() -> None:
    source = (
        "#if ORIG_DTYPE_X == DT_FLOAT16 && defined(WIDE)\n__global__ __aicore__ void wide(GM_ADDR x) {}\n"
        "#else\n__global__ __aicore__ void narrow(GM_ADDR x) {}\n#endif\n"
    )
    assert kernel(source=source).entry().name == "narrow"
    assert kernel(source=source, defines=["WIDE"], dtypes={"x": "float32"}).entry().name == "narrow"
    assert kernel(source=source, defines=["WIDE"], dtypes={"x": "float16"}).entry().name == "wide"
