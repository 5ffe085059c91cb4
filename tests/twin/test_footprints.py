"""An event names exactly the bytes that its instruction writes and reads.

Every case runs three times in one kernel, under an observer that collects the footprints: bytes outside the written
ones must stay; a written byte must not depend on what was there before, unless it is also read; and changing bytes that
are neither must change no result.
"""

from __future__ import annotations

import numpy as np
import pytest

from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import build_kernel
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

CASES = {
    "Add": "Add(dst, a, b, 50);",
    "Adds_strides": "Adds(dst, a, 2.0f, 40, 3, {2, 1, 16, 8});",
    "Adds_bits": "uint64_t mask[2] = {0x0f0f00ff12345678, 0}; Adds(dst, a, 2.0f, mask, 3, {1, 2, 8, 16});",
    "Adds_dense": "Adds(dst, a, 2.0f, 64, 3, {1, 1, 8, 8});",
    "Adds_lanes": "Adds(dst, a, 2.0f, 37, 3, {1, 1, 8, 9});",
    "Adds_columns": "Adds(dst, a, 2.0f, 64, 3, {9, 8, 1, 1});",
    "Adds_one_block": "Adds(dst, a, 2.0f, 5, 4, {3, 0, 2, 3});",
    "Add_one_row": "Add(dst, a, b, 40, 3, {1, 2, 0, 8, 16, 1});",
    "Adds_tails_apart": "Adds(dst, a, 2.0f, 37, 3, {2, 1, 16, 8});",
    "Adds_counted": "SetMaskCount(); SetVectorMask<float, MaskMode::COUNTER>(0, 100); "
    "Adds<float, false>(dst, a, 2.0f, MASK_PLACEHOLDER, 1, {1, 1, 9, 8}); SetMaskNorm(); ResetMask();",
    "Cast_wider": "Cast(dst, h, RoundMode::CAST_NONE, 40, 3, {1, 1, 8, 4});",
    "Axpy": "Axpy(dst, a, 0.5f, 50);",
    "Copy": "Copy(dst, a, 40, 3, {1, 1, 10, 8});",
    "Duplicate": "Duplicate(dst, 1.5f, 20, 3, 2, 16);",
    "CreateVecIndex": "CreateVecIndex(dst, 1.0f, 50);",
    "Compare": "Compare(bytes, a, b, CMPMODE::LT, 128);",
    "CompareScalar": "CompareScalar(bytes, a, 1.0f, CMPMODE::LT, 128);",
    "Select": "Select(dst, bits, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, 100);",
    "Select_mask": "Select(dst, bits, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, 40, 3, {1, 1, 1, 8, 8, 8});",
    "WholeReduceSum": "WholeReduceSum(dst, a, 40, 3, 2, 1, 8);",
    "WholeReduceMax": "WholeReduceMax(dst, a, 40, 3, 2, 1, 8);",
    "WholeReduceMax_value": "WholeReduceMax(dst, a, 40, 3, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);",
    "BlockReduceSum": "BlockReduceSum(dst, a, 3, 64, 2, 1, 8);",
    "BlockReduceMax_mask": "BlockReduceMax(dst, a, 3, 20, 2, 1, 8);",
    "BlockReduceSum_bits": "const uint64_t m[2] = {0x00ff0000000000f1, 0}; BlockReduceSum(dst, a, 2, m, 1, 1, 8);",
    "PairReduceSum": "PairReduceSum(dst, a, 2, 37, 1, 1, 8);",
    "ReduceSum": "ReduceSum(dst, a, tmp, 100);",
    "ReduceSum_repeats": "ReduceSum(dst, a, tmp, 40, 3, 8);",
    "ReduceMax_index": "ReduceMax(dst, a, tmp, 100, true);",
    "Sum": "Sum<float, -1, false, false>(dst, a, SumParams{3, 16, 10});",
    "Brcb": "Brcb(dst, a, 2, {1, 9});",
    "Gather": "Gather(dst, a, offsets, 8, 20);",
    "Gather_mask": "Gather(dst, a, offsets, 0, 20, 2, 8);",
    "Gatherb": "Gatherb(words, wordsIn, blockOffsets, 2, {1, 8});",
    "GatherMask": "uint64_t kept = 0; GatherMask(dst, a, 1, false, 0, {1, 2, 8, 0}, kept);",
    "GatherMask_count": "uint64_t kept = 0; GatherMask(dst, a, 7, true, 13, {1, 2, 8, 0}, kept);",
    "Transpose": "Transpose(hDst, h);",
    "TransData": "Lists<half>(hDst, h, 16, {false, false, 1, 0, 0});",
    "TransData_repeats": "Lists<float>(dst, a, 8, {false, false, 2, 16, 16});",
    "TransData_bytes": "Lists<int8_t>(byteDst, byteSrc, 32, {true, false, 1, 0, 0});",
    "Broadcast": "uint32_t to[2] = {3, 16}, from[2] = {3, 1}; Broadcast<float, 2, 1>(dst, a, to, from);",
    "DataCopy": "DataCopy(dst, a, DataCopyParams{3, 2, 1, 3});",
    "SetCmpMask": "SetCmpMask(a); GetCmpMask(dst);",
}

SOURCE = """
#include "kernel_operator.h"
#include "gn_twin/events/footprint.h"
using namespace AscendC;

constexpr uint32_t kUb = 48 * 1024;  // the part that is looked at

// Collects what the instructions say they touch.
struct Recorder : gn_twin::Observer {
  uint8_t read[kUb], written[kUb], scratch[kUb];
  void OnEvent(gn_twin::Core& core, const gn_twin::Event& event) override {
    for (uint8_t i = 0; i < event.operands; ++i) {
      const gn_twin::Operand& operand = event.operand[i];
      uint8_t* map = operand.access == gn_twin::Access::Read    ? read
                     : operand.access == gn_twin::Access::Write ? written
                                                                : scratch;
      gn_twin::ForRuns(event, operand, [&](const uint8_t* at, uint64_t bytes) {
        if (at < operand.at || at + bytes > operand.at + operand.bytes) ++outside;
        for (uint64_t b = 0; b < bytes; ++b) map[at - core.ub + b] = 1;
      });
      Compare(core, event, operand);
    }
  }
  // The same operand as rows at a pitch, if it is that.
  void Compare(gn_twin::Core& core, const gn_twin::Event& event, const gn_twin::Operand& operand) {
    static uint8_t in_runs[kUb], in_rows[kUb];
    gn_twin::StridedRange all;
    if (!gn_twin::AsStridedRange(event, operand, static_cast<uint32_t>(operand.at - core.ub), all)) return;
    __builtin_memset(in_runs, 0, kUb);
    __builtin_memset(in_rows, 0, kUb);
    gn_twin::ForRuns(event, operand, [&](const uint8_t* at, uint64_t bytes) {
      __builtin_memset(in_runs + (at - core.ub), 1, bytes);
    });
    all.ForEach([&](gn_twin::LocalRange row) { __builtin_memset(in_rows + row.begin, 1, row.end - row.begin); });
    ++rows;
    other_rows += __builtin_memcmp(in_runs, in_rows, kUb) != 0;
  }
  uint32_t rows = 0;        // operands that are rows at a pitch,
  uint32_t other_rows = 0;  // and those of them whose rows are not their runs
  uint32_t outside = 0;  // runs that the operand's range does not enclose
};

template <class T>
void Lists(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t step, const TransDataTo5HDParams& params) {
  LocalTensor<T> to[16], from[16];
  for (uint32_t i = 0; i < 16; ++i) {
    to[i] = dst[i * step];
    from[i] = src[i * step];
  }
  TransDataTo5HD<T>(to, from, params);
}

#define TENSORS \\
  LocalTensor<float> dst, LocalTensor<float> a, LocalTensor<float> b, LocalTensor<float> tmp, LocalTensor<half> h, \\
  LocalTensor<half> hDst, LocalTensor<uint8_t> bytes, LocalTensor<uint8_t> bits, LocalTensor<int8_t> byteDst, \\
  LocalTensor<int8_t> byteSrc, LocalTensor<uint32_t> words, LocalTensor<uint32_t> wordsIn,                   \\
  LocalTensor<uint32_t> offsets, LocalTensor<uint32_t> blockOffsets

void Try(uint32_t* result, void (*run)(TENSORS)) {
  static Recorder recorder;
  static uint8_t first[kUb];
  recorder = Recorder{};
  __builtin_memset(recorder.read, 0, kUb);
  __builtin_memset(recorder.written, 0, kUb);
  __builtin_memset(recorder.scratch, 0, kUb);
  gn_twin::Observers only;
  only.Add(recorder);
  gn_twin::Core& core = gn_twin::ThisCore();
  const gn_twin::Observers* before = core.observers;
  LocalTensor<float> dst(TPosition::VECCALC, 0, 2048), a(TPosition::VECCALC, 8192, 2048),
      b(TPosition::VECCALC, 16384, 2048), tmp(TPosition::VECCALC, 24576, 256);
  LocalTensor<half> h = a.ReinterpretCast<half>(), hDst = dst.ReinterpretCast<half>();
  LocalTensor<uint8_t> bytes = dst.ReinterpretCast<uint8_t>(), bits = tmp.ReinterpretCast<uint8_t>();
  LocalTensor<int8_t> byteDst = dst.ReinterpretCast<int8_t>(), byteSrc = a.ReinterpretCast<int8_t>();
  LocalTensor<uint32_t> words = dst.ReinterpretCast<uint32_t>(), wordsIn = a.ReinterpretCast<uint32_t>();
  LocalTensor<uint32_t> offsets(TPosition::VECCALC, 32768, 128), blockOffsets(TPosition::VECCALC, 36864, 16);
  const auto value = [](uint32_t at, uint32_t seed) {
    const uint32_t mixed = (at * 2654435761u) ^ (seed * 40503u);
    return static_cast<uint8_t>((mixed >> 13) & 0x7b);  // no infinity and no NaN in float or half
  };
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t at = 0; at < kUb; ++at) {
      // Round 1 changes the bytes that are only written, round 2 those that are neither read nor written.
      const bool other = (round == 1 && recorder.written[at] && !recorder.read[at]) ||
                         (round == 2 && !recorder.read[at] && !recorder.written[at]);
      core.ub[at] = value(at, other ? 7 : 0);
    }
    for (uint32_t i = 0; i < 128; ++i) {
      if (round == 0 || recorder.read[32768 + 4 * i]) offsets.Data()[i] = (i * 36) % 1024;
    }
    for (uint32_t i = 0; i < 16; ++i) blockOffsets.Data()[i] = (i * 96) % 2048;
    static uint8_t start[kUb];
    __builtin_memcpy(start, core.ub, kUb);
    core.observers = &only;
    run(dst, a, b, tmp, h, hDst, bytes, bits, byteDst, byteSrc, words, wordsIn, offsets, blockOffsets);
    core.observers = before;
    for (uint32_t at = 0; at < kUb; ++at) {
      if (!recorder.written[at]) {
        result[0] += core.ub[at] != start[at] && !recorder.scratch[at];  // written, but not told
      } else if (round == 0) {
        first[at] = core.ub[at];
      } else {
        result[round] += core.ub[at] != first[at];  // told, but not written; or read, but not told
      }
    }
  }
  for (uint32_t at = 0; at < kUb; ++at) {
    result[3] += recorder.written[at];
    result[4] += recorder.read[at];
  }
  result[5] += recorder.outside;
  result[6] += recorder.rows;
  result[7] += recorder.other_rows;
}

#define CASE(CODE, ...) Try(reinterpret_cast<uint32_t*>(y) + 8 * CODE, [](TENSORS) { __VA_ARGS__ });

extern "C" __global__ __aicore__ void footprints(GM_ADDR y) {
@@
}
"""


@pytest.fixture(scope="module")
def told() -> dict[str, np.ndarray]:
    lines = "\n".join(f"  CASE({code}, {text})" for code, text in enumerate(CASES.values()))
    built = build_kernel(SOURCE.replace("@@", lines), optimise=False)
    arg = LaunchArg("y", ArgKind.TENSOR, Role.INOUT, np.zeros((len(CASES), 8), np.uint32))
    counts = launch(built.library, LaunchRequest(entry="footprints", args=[arg], isolated=False)).arrays["y"]
    return dict(zip(CASES, counts, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_footprint_is_exact(case: str, told: dict[str, np.ndarray]) -> None:
    untold, unwritten, unread, written, _, outside, _, other_rows = told[case]
    assert written > 0
    assert (untold, unwritten, unread, outside, other_rows) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("case", "written", "read"),
    [
        ("Add", 200, 400),
        ("Adds_strides", 3 * 160, 3 * 160),
        ("Adds_bits", 3 * 4 * 29, 3 * 4 * 29),
        ("Compare", 16, 1024),
        ("WholeReduceSum", 12, 480),
        ("WholeReduceMax", 24, 480),
        ("BlockReduceMax_mask", 3 * 12, 3 * 80),
        ("BlockReduceSum_bits", 2 * 8, 2 * 13 * 4),
        ("PairReduceSum", 2 * 19 * 4, 2 * 37 * 4),
        ("Sum", 12, 120),
        ("Brcb", 512, 64),
        ("Gather", 80, 80 + 80),
        ("Gather_mask", 160, 160 + 160),
        ("TransData_bytes", 256, 256),
        ("DataCopy", 192, 192),
    ],
)
def test_number_of_bytes(case: str, written: int, read: int, told: dict[str, np.ndarray]) -> None:
    assert tuple(told[case][3:5]) == (written, read)


@pytest.mark.parametrize(
    ("case", "rows"),
    # Without one pitch: 37 lanes in separate blocks, since the last block has fewer lanes, and so the last repeat of
    # 100; bits of a mask.
    [
        ("Adds_lanes", 6),
        ("Adds_columns", 6),
        ("Adds_one_block", 6),
        ("Add_one_row", 9),
        ("DataCopy", 6),
        ("WholeReduceSum", 6),
        ("Adds_tails_apart", 3),
        ("Adds_counted", 3),
        ("Adds_bits", 0),
    ],
)
def test_operands_with_gaps_are_rows_at_a_pitch(case: str, rows: int, told: dict[str, np.ndarray]) -> None:
    """Each of three rounds tells of two operands, or of three."""
    assert told[case][6] == rows
