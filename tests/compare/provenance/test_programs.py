"""Origins of wrong outputs of small kernels: the line of the mistake is among the steps, or alone is marked."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.compare.comparison import Comparison
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.result import Result

HEAD = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR g, GM_ADDR y) {
  constexpr uint32_t rows = 4, n = 64;
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(in, 1, 256);
  pipe.InitBuffer(out, 1, 256);
  pipe.InitBuffer(buffer, 1024);
  LocalTensor<float> w = buffer.Get<float>();
  GlobalTensor<float> from, gamma, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), rows * n);
  gamma.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(g), n);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), rows * n);
  for (uint32_t r = GetBlockIdx(); r < rows; r += GetBlockNum()) {
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, from[r * n], n);
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<float> b = out.AllocTensor<float>();
"""
TAIL = """
    in.FreeTensor(a);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopy(to[r * n], b, n);
    out.FreeTensor(b);
  }
}
"""
WAIT = """
    int32_t id = GetTPipePtr()->FetchEventID(HardEvent::V_S);
    SetFlag<HardEvent::V_S>(id);
    WaitFlag<HardEvent::V_S>(id);
"""
X = np.random.default_rng(3).standard_normal((4, 64)).astype(np.float32) + 1
GAMMA = np.random.default_rng(4).standard_normal(64).astype(np.float32)


def launched(body: str, **how: object) -> tuple[Result, int]:
    """The result of a kernel with this body, and the line of its source that ends with ``// here``."""
    source = HEAD + body + TAIL
    here = next((number for number, line in enumerate(source.splitlines(), 1) if line.endswith("// here")), 0)
    return gnt.kernel(source=source).run(X, GAMMA, gnt.out(X.shape, "float32"), blocks=2, **how), here


def compared(body: str, right: np.ndarray) -> tuple[Comparison, int]:
    result, here = launched(body)
    return result.compare(right, rtol=1e-5, atol=1e-5), here


def test_a_factor_that_is_wrong_is_among_the_steps_with_its_value() -> None:
    comparison, here = compared("    Muls(b, a, 3.0f, n);  // here\n    Adds(b, b, 1.0f, n);", 2 * X + 1)
    origin = comparison.origin
    assert origin is not None
    assert [line for _, line in origin.lines][2] == here
    row = next(row for row in origin.rows() if row[0] == str(here))
    assert (row[1].strip(), row[3]) == ("Muls", f"{X[0, 0]:.6g} * 3")
    assert f"y[0, 0] is {3 * X[0, 0] + 1:.6g}, {2 * X[0, 0] + 1:.6g} is right" in repr(comparison)
    assert f"x[0] = {X[0, 0]:.6g}" in repr(comparison)
    assert f">{here}<" in comparison._repr_html_()
    assert ">\u00a0\u00a0Adds<" in comparison._repr_html_()
    assert "only wrong" not in repr(comparison)  # there are no right ones to hold them against


def test_only_the_line_that_wrong_elements_come_by_is_marked() -> None:
    body = "    Muls(b, a, 2.0f, 48);\n    Muls(b[48], a[48], 2.5f, 16);  // here"
    comparison, here = compared(body, 2 * X)
    assert comparison.origin is not None
    assert {line for _, line in comparison.origin.marked} == {here}
    assert "Muls *" in repr(comparison)
    assert "only wrong elements" in repr(comparison)


def test_a_step_that_right_elements_pass_and_wrong_ones_do_not_is_named_with_its_values() -> None:
    mask = "    uint64_t mask[2] = {0x0FFFFFFFFFFFFF0F, 0};\n    Adds(b, a, 0.0f, n);\n"
    comparison, here = compared(mask + "    Muls(b, b, 2.0f, mask, 1, {1, 1, 8, 8});  // here", 2 * X)
    assert comparison.origin is not None
    passes = f"y[0, 3] passes Muls in line {here} ({X[0, 3]:.6g} -> {2 * X[0, 3]:.6g}), y[0, 4] does not"
    assert comparison.origin.differs == f"{passes}: its mask leaves out lane 4"
    assert f"{passes}: its mask" in repr(comparison)
    (hint,) = comparison.hints()  # none on what the wrong elements look like
    assert hint.startswith("y: no copy and no GetValue has read g")
    body = "    Duplicate(b, 1.0f, n);\n    Muls(b, a, 2.0f, 40);  // here"
    comparison, here = compared(body, 2 * X)
    assert comparison.origin is not None
    assert comparison.origin.differs == (
        f"y[0, 39] passes Muls in line {here} ({X[0, 39]:.6g} -> {2 * X[0, 39]:.6g}), y[0, 40] does not: its 40"
        f" elements end before; it comes from Duplicate in line {here - 1} instead"
    )
    comparison, here = compared("    Muls(b, a, 2.0f, n);\n    Adds(b, b, 1.0f, 16);  // here", 2 * X)
    assert comparison.origin is not None
    assert comparison.origin.differs == (
        f"y[0, 0] passes Adds in line {here} ({2 * X[0, 0]:.6g} -> {2 * X[0, 0] + 1:.6g}), y[0, 16] does not"
    )


def test_a_select_names_the_bit_that_decides() -> None:
    bytes_of_one = (
        "    LocalTensor<int16_t> keep = w.ReinterpretCast<int16_t>();\n    Duplicate(keep, (int16_t)257, n);\n"
    )
    select = "    Select(b, w.ReinterpretCast<uint8_t>(), a, -9.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, n);  // here"
    comparison, here = compared(bytes_of_one + select, X)
    assert comparison.origin is not None
    assert "y[0, 1] is -9" in comparison.origin.title()
    row = next(row for row in comparison.origin.rows() if row[0] == str(here))
    assert row[3] == f"bit 1 of 1, {X[0, 1]:.6g}"


def test_rounds_that_nothing_cleared_before_are_counted() -> None:
    kept = HEAD.replace("  for (uint32_t r", "  Duplicate(w, 0.0f, n);\n  for (uint32_t r")
    added = "    Add(w, w, a, n);  // here\n    Adds(b, w, 0.0f, n);"
    source = kept + added + TAIL
    here = next(number for number, line in enumerate(source.splitlines(), 1) if line.endswith("// here"))
    origin = gnt.kernel(source=source).run(X, GAMMA, gnt.out(X.shape, "float32"), blocks=2).compare(X).origin
    assert origin is not None
    words = rf"Add in line {here} makes 1 round for y\[[01], \d+\], 2 for y\[2, 0\]: both begin with Duplicate in"
    assert re.fullmatch(rf"{words} line 18, and nothing sets its result again in between", origin.differs)
    cleared = HEAD + "    Duplicate(w, 0.0f, n);\n" + added.replace("Adds(b, w, 0.0f", "Adds(b, w, 1.0f") + TAIL
    origin = gnt.kernel(source=cleared).run(X, GAMMA, gnt.out(X.shape, "float32"), blocks=2).compare(X).origin
    assert origin is not None
    assert origin.differs == ""


TAILS = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t taken, uint32_t by) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(in, 1, 256);
  pipe.InitBuffer(buffer, 1024);
  LocalTensor<float> w = buffer.Get<float>();
  GlobalTensor<float> from, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), n);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 64);
  Duplicate(w[192], 0.0f, 64);
  for (uint32_t at = 0; at < n; at += 64) {
    uint32_t left = n - at < 64 ? n - at : 64;
    LocalTensor<float> a = in.AllocTensor<float>();
    uint8_t more = (8 - left % 8) % 8;
    DataCopyPad(a, from[at], DataCopyExtParams{1, left * 4, 0, 0, 0}, DataCopyPadExtParams<float>{true, 0, more, 0});
    in.EnQue(a);
    a = in.DeQue<float>();
    Mul(w, a, a, left + more);  // made
    ReduceSum(w[64], w, w[128], taken ? taken : left + more);  // summed
    Adds(w[192], w[192], w.GetValue(64) / by, 64);  // divided
    in.FreeTensor(a);
  }
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(to, w[192], 64);
}
"""


def of_tails(n: int, taken: int, by: int, right: float) -> str:
    """What is said of the sum of n squares, in tiles of 64, if ReduceSum takes so many and the sum is divided by this.

    right: what the sum should be multiplied with.
    """
    x = np.random.default_rng(6).standard_normal(n).astype(np.float32) + 1
    result = gnt.kernel(source=TAILS).run(x=x, y=gnt.out(64), n=n, taken=taken, by=by, blocks=1)
    origin = result.compare(np.full(64, (x.astype(np.float64) ** 2).sum() * right), rtol=1e-4, atol=1e-4).origin
    return origin.said or origin.besides if origin else ""


def test_what_a_reduction_takes_beside_what_was_written_is_counted() -> None:
    line = {mark: TAILS[: TAILS.index(f"// {mark}")].count("\n") + 1 for mark in ("made", "summed", "divided")}
    stale = f"line {line['summed']}: ReduceSum takes 64 elements, and Mul in line {line['made']} has written 40 of them"
    assert of_tails(104, 64, 1, 1.0) == f"{stale}: the other 24 are of an earlier round"
    assert of_tails(104, 0, 1, 2.0) == ""

    said = f"the sum of 61 loaded elements (line {line['summed']}) is divided by 64 before Adds in line"
    assert of_tails(61, 0, 64, 1 / 61) == f"{said} {line['divided']}"
    assert of_tails(61, 0, 61, 2 / 61) == ""


def test_a_number_of_the_scalar_unit_is_followed_to_its_sum() -> None:
    body = (
        "    ReduceSum(w, a, w[8], n);"
        + WAIT
        + "    float mean = w.GetValue(0) / (n - 1);  // here\n    Adds(b, a, -mean, n);"
    )
    comparison, here = compared(body, X - X.mean(axis=1, keepdims=True))
    assert comparison.origin is not None
    rows = {row[1].strip(): row for row in comparison.origin.rows()}
    assert rows["GetValue"][0] == str(here)
    assert float(rows["GetValue"][2]) == pytest.approx(X[0].sum(), rel=1e-5)
    largest = int(np.abs(X[0]).argmax())
    assert rows["ReduceSum"][3] == f"64 elements, number {largest}: {X[0, largest]:.6g}"
    assert f"x[{largest}] = {X[0, largest]:.6g}" in repr(comparison)
    mean = float(rows["Adds"][3].partition(" + ")[2].strip("()"))
    assert mean == pytest.approx(-X[0].sum() / 63, rel=1e-4)


@pytest.mark.parametrize(("op", "place"), [("ReduceMax", np.argmax), ("ReduceMin", np.argmin)])
def test_an_extreme_is_followed_to_the_element_that_it_is(op: str, place: Callable[..., int]) -> None:
    body = f"    {op}(w, a, w[8], n);" + WAIT + "    Duplicate(b, w.GetValue(0), n);"
    result, _ = launched(body)
    assert f"x[{64 + place(X[1])}] = {X[1, place(X[1])]:.6g}" in repr(result.origin("y", 1, 3))


def test_what_is_no_number_is_followed_through_a_sum() -> None:
    body = "    Muls(b, a, 1e30f, n);\n    Mul(b, b, b, n);\n    ReduceSum(w, b, w[8], n);" + WAIT
    result, _ = launched(body + "    Duplicate(b, w.GetValue(0), n);")
    rows = {row[1].strip(): row for row in result.origin("y", 3, 3).rows()}
    assert rows["ReduceSum"][3].endswith(": inf")
    assert float(rows["Muls"][2]) ** 2 > 3e38


def test_a_step_that_is_repeated_is_one_row() -> None:
    body = "    Duplicate(b, 0.0f, n);\n    for (int i = 0; i < 5; ++i) Add(b, b, a, n);  // here"
    result, here = launched(body)
    rows = result.origin("y", 2, 7).rows()
    (repeated,) = [row for row in rows if row[0] == str(here)]
    assert repeated[1].endswith("Add (and 4 rounds before)")
    assert float(repeated[2]) == pytest.approx(5 * X[2, 7], rel=1e-5)
    assert next(row for row in rows if "Duplicate" in row[1])[2] == "0"


def test_where_a_gather_reads_is_told_in_bytes() -> None:
    body = """
    LocalTensor<int32_t> at = buffer.Get<int32_t>();
    CreateVecIndex(at, static_cast<int32_t>(0), n);
    Muls(at, at, static_cast<int32_t>(4), n);
    Gather(b, a, at.ReinterpretCast<uint32_t>(), 0, n);  // here
"""
    result, here = launched(body)
    row = next(row for row in result.origin("y", 2, 5).rows() if row[0] == str(here))
    assert row[3] == f"offset of 20 bytes: {X[2, 5]:.6g}"


def test_where_a_row_was_read_is_told_by_its_elements() -> None:
    shifted = HEAD.replace("from[r * n]", "from[(r + 1) % rows * n]") + "    Muls(b, a, 2.0f, n);" + TAIL
    result = gnt.kernel(source=shifted).run(X, GAMMA, gnt.out(X.shape, "float32"), blocks=2)
    assert f"x[{2 * 64 + 5}] = {X[2, 5]:.6g}" in repr(result.origin("y", 1, 5))
    origin = result.compare(2 * X).origin
    assert origin is not None
    assert str(origin.suspect).startswith("y[0, 0] is made of x[64] (line 20), and holds what belongs in y[1, 0]: look")
    other = result.compare(2 * np.roll(X, -1, axis=0) + 1).origin
    assert other is not None
    assert other.suspect is None


@pytest.mark.parametrize("index", [(4, 0), (0, 64), (256,), (), (0, 0, 0), (1.5,), (True,)])
def test_an_element_that_is_not_there_is_refused(index: tuple[int, ...]) -> None:
    result, _ = launched("    Muls(b, a, 2.0f, n);")
    with pytest.raises(ArgumentError, match="has no element"):
        result.origin("y", *index)


def test_the_last_element_by_negative_indices() -> None:
    result, _ = launched("    Muls(b, a, 2.0f, n);")
    assert repr(result.origin("y", -1, -1)) == repr(result.origin("y", 255)) == repr(result.origin("y", 3, 63))


def test_another_name_and_a_bare_build_are_refused() -> None:
    result, _ = launched("    Muls(b, a, 2.0f, n);")
    with pytest.raises(ArgumentError, match="no output 'z'"):
        result.origin("z", 0)
    bare, _ = launched("    Muls(b, a, 2.0f, n);", observed=False)
    with pytest.raises(ArgumentError, match="observed"):
        bare.origin("y", 0)
    assert bare.compare(X, rtol=0, atol=0).origin is None


def test_a_comparison_that_is_right_launches_nothing_again() -> None:
    comparison, _ = compared("    Muls(b, a, 2.0f, n);", 2 * X)
    assert comparison.ok
    assert comparison.origin is None


HALVES = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  TBuf<TPosition::VECCALC> work;
  pipe.InitBuffer(in, 1, 2048);
  pipe.InitBuffer(out, 1, 64);
  pipe.InitBuffer(work, 2048);
  GlobalTensor<half> from, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x));
  to.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y));
  LocalTensor<half> a = in.AllocTensor<half>();
  DataCopy(a, from, 1024);
  in.EnQue(a);
  a = in.DeQue<half>();
  LocalTensor<half> b = out.AllocTensor<half>();
  Duplicate(b, half(0.0f), 16);
  ReduceSum(b, a, work.Get<half>(), 1024);  // here
  Muls(b, b, half(1.0f / 1024), 16);
  in.FreeTensor(a);
  out.EnQue(b);
  b = out.DeQue<half>();
  DataCopy(to, b, 16);
  out.FreeTensor(b);
}
"""


ADDED = "for (int i = 0; i < 64; ++i) Add(b, b, a[i * 16], 16);"


def test_a_sum_of_many_halves_is_named_where_the_error_is_as_small_as_its_rounding() -> None:
    x = np.random.default_rng(5).integers(20, 40, 1024).astype(np.float16)
    rounds = gnt.kernel(source=HALVES.replace("ReduceSum(b, a, work.Get<half>(), 1024);", ADDED))
    columns = rounds.run(x * 3, gnt.out(16, "float16"), blocks=1)
    said = columns.compare(x.reshape(64, 16).sum(axis=0, dtype=np.float64) * 3 / 1024, rtol=1e-6, atol=0).origin
    assert said is not None
    assert "Add adds 64 halves into a half, which near" in said.said
    right = np.zeros(16)
    right[0] = x.astype(np.float64).mean()
    result = gnt.kernel(source=HALVES).run(x, gnt.out(16, "float16"), blocks=1)
    here = next(number for number, line in enumerate(HALVES.splitlines(), 1) if line.endswith("// here"))
    said = result.compare(right, rtol=1e-5, atol=0).origin
    assert said is not None
    assert f"line {here}: ReduceSum adds 1024 halves" in said.said
    assert "multiples of 16 only" in said.said
    far = result.compare(right + 7, rtol=1e-5, atol=0).origin
    assert far is not None
    assert "halves" not in far.said


def test_an_input_that_wrong_elements_take_from_another_place_is_named() -> None:
    body = "    Muls(b, a, 2.0f, 32);\n    Muls(b[32], a, 2.0f, 32);  // here"
    comparison, _ = compared(body, 2 * X)
    assert comparison.origin is not None
    assert str(comparison.origin.suspect).startswith(
        "y[0, 32] is made of x[0] (line 20), and holds what belongs in y[0, 0]"
    )
    assert "y[0, 32] is made of x[0]" in repr(comparison)
    right, _ = compared("    Muls(b, a, 2.0f, n);\n    Muls(b[32], b[32], 2.5f, 32);", 2 * X)
    assert right.origin is not None
    assert right.origin.suspect is None


def test_what_is_overwritten_through_another_tensor_of_the_same_bytes_is_named() -> None:
    ones = "    LocalTensor<float> ones = buffer.Get<float>(n);\n    Duplicate(ones, 1.0f, n);\n"
    two = "    LocalTensor<float> u = buffer.Get<float>(n);\n    Exp(u, a, n);  // here\n    Add(b, u, ones, n);"
    comparison, here = compared(ones + two, np.exp(X) + 1)
    origin = comparison.origin
    assert origin is not None
    assert str(origin.suspect) == (
        f"line {here}: Exp overwrites what Duplicate in line {here - 2} wrote and Add in line {here + 1} takes: Get in"
        f" line {here - 3} and Get in line {here - 1} return the same bytes"
    )
    assert origin.explains
    assert "LocalTensor<float> ones = buffer.Get<float>(n);" in repr(comparison)
    apart, _ = compared(ones + two.replace("Get<float>(n)", "GetWithOffset<float>(n, 256)"), np.exp(X) + 2)
    assert apart.origin is not None
    assert apart.origin.suspect is None


def test_a_result_that_a_helper_leaves_in_the_same_bytes_is_only_mentioned() -> None:
    helper = "    Duplicate(w, 0.0f, n);\n    Helper(a, buffer.Get<float>());\n    Adds(b, w, 1.0f, n);"
    body = "    const auto Helper = [](auto a, auto to) { Muls(to, a, 3.0f, 64); };\n" + helper
    comparison, _ = compared(body, 2 * X + 1)  # the mistake is the factor
    assert comparison.origin is not None
    assert "Muls overwrites what Duplicate" in str(comparison.origin.suspect)
    assert not comparison.origin.explains
    some = (2 * X + 1).copy()
    some[0, 0] = 3 * X[0, 0] + 1
    comparison, _ = compared(body, some)  # a right element comes the same way
    assert comparison.origin is not None
    assert comparison.origin.suspect is None


def test_the_lines_that_decide_where_it_is_read_are_shown_with_it(tmp_path: Path) -> None:
    source = (
        HEAD.replace("float*>(x), rows * n);", "float*>(x) + 16 * GetBlockIdx());") + "    Muls(b, a, 2.0f, n);" + TAIL
    )
    file = tmp_path / "kernel.cpp"
    file.write_text(source)
    result = gnt.kernel(file).run(np.concatenate([X, X]), GAMMA, gnt.out(X.shape, "float32"), blocks=2)
    origin = result.compare(2 * X, rtol=1e-5, atol=1e-5).origin
    assert origin is not None
    assert "y[1, 0] is made of x[80]" in repr(origin)
    assert "from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x) + 16 * GetBlockIdx());" in repr(origin)


def test_padding_that_a_wrong_element_is_made_of_is_named_with_the_length_of_its_row(tmp_path: Path) -> None:
    source = HEAD.replace("DataCopy(a, from[r * n], n);", "DataCopyPad(a, from[r * n], row, pad);")
    source = source.replace(
        "  for (uint32_t r",
        "  DataCopyExtParams row{1, n - 4, 0, 0, 0};\n"
        "  DataCopyPadExtParams<float> pad{true, 0, 0, 0.0f};\n  for (uint32_t r",
    )
    source += "    Adds(b, a, 2.0f, 16);\n    Duplicate(b[16], 3.0f, 48);" + TAIL
    file = tmp_path / "kernel.cpp"
    file.write_text(source)
    right = X + 2
    right[:, 16:] = 3
    origin = gnt.kernel(file).run(X, GAMMA, gnt.out(X.shape, "float32"), blocks=2).compare(right).origin
    assert origin is not None
    assert origin.name == "y[0, 15]"
    assert origin.rows()[-1][3] == "padding behind a row of 60 bytes"
    assert "DataCopyPad filled this in behind a row of 60 bytes" in repr(origin)
    assert "row{1, n - 4, 0, 0, 0};" in repr(origin)


def test_what_an_atomic_copy_adds_to_is_named() -> None:
    body = "    Muls(b, a, 2.0f, n);\n    SetAtomicAdd<float>();"
    source = HEAD + body + TAIL.replace("to[r * n], b, n);", "to[r * n], b, n);\n    SetAtomicNone();")
    held = np.full_like(X, 7)
    result = gnt.kernel(source=source).run(X, GAMMA, gnt.inout(held), blocks=2, isolated=True)
    comparison = result.compare(2 * X, rtol=1e-4, atol=1e-4)
    assert comparison.origin is not None
    assert "DataCopy adds to the 7 that was there" in comparison.origin.said


def test_a_fused_multiplication_is_written_as_a_formula() -> None:
    result, here = launched("    Duplicate(b, 3.0f, n);\n    MulAddDst(b, a, a, n);  // here")
    row = next(row for row in result.origin("y", 1, 7).rows() if row[0] == str(here))
    assert row[3] == f"3 + {X[1, 7]:.6g} * {X[1, 7]:.6g}"
