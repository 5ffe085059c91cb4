"""What the checker of kernels says, with the real compiler and twin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.course.exercises.verdict import Verdict
from gn_tutorial.runtime.launch_types import poison_word

# One int32 at a time; TODO_* are the lines that the tests change.
KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y, uint32_t n) {
  AscendC::GlobalTensor<int32_t> from, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(x), n);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(y), n);
  for (uint32_t i = 0; i < n; ++i) to.SetValue(i, 2 * from.GetValue(i));
}
"""
LOOP = "for (uint32_t i = 0; i < n; ++i) to.SetValue(i, 2 * from.GetValue(i));"


def twice_cases(rng: np.random.Generator) -> list[KernelCase]:
    made = []
    for n in (3, 10):
        x = rng.integers(1, 1000, n).astype(np.int32)
        made.append(KernelCase(f"{n} numbers", {"x": x}, {"n": n}, {"y": 2 * x}))
    return made


def judged(tmp_path: Path, text: str, checker: KernelChecker | None = None) -> Verdict | int:
    path = tmp_path / "twice.cpp"
    path.write_text(text)
    return (checker or KernelChecker(twice_cases, 0, 0, seconds=2 if "i += 0" in text else 60)).check(path, 1)


def test_a_right_kernel_passes_every_case(tmp_path: Path) -> None:
    assert judged(tmp_path, KERNEL) == 2


@pytest.mark.parametrize(
    ("loop", "message", "case"),
    [
        (";", "y was never written", "3 numbers"),
        (LOOP.replace("i < n", "i < n && i < 5"), "part of y was never written: y[5] to y[9], 5 of 10", "10 numbers"),
        (LOOP.replace("2 * from.GetValue(i)", "7"), "every element of y is 7: it does not depend", "3 numbers"),
        (LOOP.replace("2 *", "3 *"), "y[0] is ", "3 numbers"),
        (LOOP + " from.SetValue(1, 0);", "the kernel changed its input: x[1]", "3 numbers"),
        (LOOP.replace("i < n", "i < n + 1"), "the twin stopped the kernel: ", "3 numbers"),
        (LOOP.replace("++i", "i += 0"), "never ends", "3 numbers"),
        ("*reinterpret_cast<volatile int*>(8) = 1;", "the kernel crashed", "3 numbers"),
    ],
)
def test_a_wrong_kernel_is_told_why(tmp_path: Path, loop: str, message: str, case: str) -> None:
    found = judged(tmp_path, KERNEL.replace(LOOP, loop))
    assert isinstance(found, Verdict)
    assert message in found.message
    assert found.case == case


def test_a_fault_is_shown_at_the_learners_line(tmp_path: Path) -> None:
    found = judged(tmp_path, KERNEL.replace("i < n", "i < n + 1"))
    assert isinstance(found, Verdict)
    assert found.where == "twice.cpp:6, block 0"
    assert "for (uint32_t i" in found.detail


def test_a_kernel_that_does_not_compile_and_one_that_was_renamed(tmp_path: Path) -> None:
    found = judged(tmp_path, KERNEL.replace("SetValue(i,", "SetValu(i,"))
    assert isinstance(found, Verdict)
    assert found.message.startswith("the kernel does not compile: ")
    assert "'SetValu'" in found.message
    assert "SetValu" in found.detail
    assert found.where.startswith("twice.cpp:6")
    found = judged(tmp_path, KERNEL.replace("__global__", ""))
    assert isinstance(found, Verdict)
    assert found.message == "twice.cpp has no kernel entry: no function marked __global__"
    found = judged(tmp_path, KERNEL.replace("uint32_t n)", "uint32_t length)").replace("n)", "length)"))
    assert isinstance(found, Verdict)
    assert "cannot be called" in found.message or "does not compile" in found.message


def test_a_demand_is_asked_when_the_numbers_are_right(tmp_path: Path) -> None:
    checker = KernelChecker(twice_cases, 0, 0, demands=(lambda case, result: "too slow" if result.blocks else None,))
    found = judged(tmp_path, KERNEL, checker)
    assert isinstance(found, Verdict)
    assert found.message == "too slow"


def test_an_output_with_a_golden_is_held_to_the_accuracy_standard(tmp_path: Path) -> None:
    def cases(rng: np.random.Generator) -> list[KernelCase]:
        x = rng.uniform(1, 2, 10).astype(np.float32)
        golden = 2 * x.astype(np.float64)
        return [KernelCase("10 numbers", {"x": x}, {"n": 10}, {"y": golden.astype(np.float32)}, golden={"y": golden})]

    checker = KernelChecker(cases, 0, 0)
    floats = KERNEL.replace("int32_t>", "float>").replace("__gm__ int32_t", "__gm__ float")
    # T of float32 is 1.2e-4: a relative error of 5e-5 is allowed, and one of 5e-4 is not.
    assert judged(tmp_path, floats.replace("2 * from", "2.0001f * from"), checker) == 1
    found = judged(tmp_path, floats.replace("2 * from", "2.001f * from"), checker)
    assert isinstance(found, Verdict)
    assert "y misses the accuracy standard: MERE is 4.1 T and MARE 4.1 T" in found.message


# Each block adds one float of x to the workspace, which block 0 clears, and which block 0 copies to y in the end.
ADDED = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void added(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 32);
  AscendC::LocalTensor<float> one = buffer.Get<float>();
  AscendC::GlobalTensor<float> from, to, sum;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 8);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 1);
  sum.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(workspace), 1);
  AscendC::DataCopyExtParams row{1, sizeof(float), 0, 0, 0};
  AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
  if (AscendC::GetBlockIdx() == 0) {
    AscendC::Duplicate(one, 0.0f, 8);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopyPad(sum, one, row);
  }
  AscendC::SyncAll();
  AscendC::DataCopyPad(one, from[AscendC::GetBlockIdx()], row, pad);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::SetAtomicAdd<float>();
  AscendC::DataCopyPad(sum, one, row);
  AscendC::SetAtomicNone();
  AscendC::SyncAll();
  if (AscendC::GetBlockIdx() != 0) return;
  AscendC::DataCopyPad(one, sum, row, pad);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::DataCopyPad(to, one, row);
}
"""


def added(tmp_path: Path, x: list[float], text: str = ADDED, **checks: Any) -> Verdict | int:
    def cases(rng: np.random.Generator) -> list[KernelCase]:
        values = np.array(x, np.float32)
        right = values.astype(np.float64).sum(keepdims=True).astype(np.float32)
        return [KernelCase("8 numbers", {"x": values}, {}, {"y": right}, blocks=8, workspace={"workspace": 4})]

    return judged(tmp_path, text, KernelChecker(cases, 1e-5, 0, **checks))


def test_bits_that_depend_on_the_order_of_the_blocks_are_found_if_asked_for(tmp_path: Path) -> None:
    whole, broken = [float(n) for n in range(8)], [1.0 + n / 7 for n in range(8)]
    assert added(tmp_path, whole, orders=(1, 2, 3)) == 1
    assert added(tmp_path, broken) == 1
    found = added(tmp_path, broken, orders=(1, 2, 3))
    assert isinstance(found, Verdict)
    assert "y is right, but not the same twice: in another order of the cores y[0] is 1" in found.message


def test_a_fault_may_have_words_for_one_argument(tmp_path: Path) -> None:
    uncleared = ADDED.replace("    AscendC::DataCopyPad(sum, one, row);\n", "")
    assert uncleared != ADDED
    for argument, words in (("workspace", "the sum: "), ("y", "any: ")):
        faults = {"gm-read-before-write": "any", f"gm-read-before-write {argument}": "the sum"}
        found = added(tmp_path, [1.0] * 8, uncleared, faults=faults)
        assert isinstance(found, Verdict)
        assert found.message.startswith(words)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
def test_poison_is_told_from_written_elements(dtype: str) -> None:
    array = np.full(4, poison_word(np.dtype(dtype)), np.uint64).view(dtype)[:4]
    array[1] = 3
    assert unwritten(array).tolist() == [True, False, True, True]
    if array.dtype.kind == "f":
        array[2] = np.nan
        assert unwritten(array).tolist() == [True, False, False, True]
