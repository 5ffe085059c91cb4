"""What host files of operator repositories use: logs and checks, arithmetic, shapes, tiling by templates."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from op_host_program import compile_program, run_program

LOGS = r"""
#include <cstdio>
#include <memory>
#include "log/log.h"
struct Context {
  const char* name = "Halve";
  const char* GetNodeName() const { return name; }
};
enum class Mode { kFast = 3 };
static ge::graphStatus Checked(Context* context, const int* pointer) {
  OP_CHECK_NULL_WITH_CONTEXT(context, pointer);
  OP_CHECK_IF(*pointer > 3, OP_LOGE(context, "%d is too much", *pointer), return 7);
  return ge::GRAPH_SUCCESS;
}
int main() {
  Context context;
  const Context nameless{nullptr};
  const std::string text = "some text";
  const char* nothing = nullptr;
  OP_LOGI(&context, "plain");
  OP_LOGD(context.GetNodeName(), "%d %ld %lld %zu %u %lu", -1, -2L, -3LL, size_t{4}, 5u, uint64_t{6});
  OP_LOGW("Name", "%s|%5s|%-5s|%.3s", text, "ab", "ab", text.c_str());
  OP_LOGE(text, "%d %s %f", text, 12, 7);
  OP_LOGE("few", "%d %d", 1);
  OP_LOGE("many", "%d", 1, 2, 3);
  OP_LOGE("real", "%f %.2f %d %5.1lf %e", 1.5f, 2.345, 3.5, 9.96, 1e10);
  OP_LOGE("hex", "%x %#x %08X %c %% %5d|%-5d|", 255, 255, 255, 'z', 42, 42);
  OP_LOGE("star", "%*d|%.*f", 5, 42, 2, 1.239);
  OP_LOGE(nothing, "%s %s", nothing, nullptr);
  OP_LOGE(nameless, "no name %d", Mode::kFast);
  OP_LOGE((const Context*)nullptr, "no context %s", true);
  OP_LOGE(std::make_unique<Context>(), "end %");
  OP_LOGE("big", "%u %d %u %x", ~0ull, ~0ull, -1, int8_t{-2});
  OP_LOGI("alone");
  const int four = 4;
  std::printf("%u\n", Checked(&context, nullptr));
  std::printf("%u\n", Checked(&context, &four));
  OP_LOGE_FOR_INVALID_DTYPE(&context, "x", "DT_INT8", std::string("float or half"));
  OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON("Halve", "x and y", text.c_str(), "They should be equal.");
  OP_LOGE_FOR_INVALID_TENSORNUM("Halve", "x", 3, 4);
  OP_LOGE_FOR_INVALID_CONFIG_WITH_REASON("Halve", "tiling", "compile_info", "null", "It is needed.");
  for (const auto& line : gn_twin::op_host::Logs()) {
    std::printf("%s %s\n", gn_twin::op_host::NameOf(line.level), line.text.c_str());
  }
  const auto& last = gn_twin::op_host::Logs().back();
  std::printf("%s %d\n", strrchr(last.file, '/') + 1, last.line);
}
"""


def test_log_lines_are_kept_whatever_their_format(tmp_path: Path) -> None:
    lines = run_program(compile_program(tmp_path, LOGS))
    last = next(index for index, line in enumerate(LOGS.splitlines(), 1) if "OP_LOGE_FOR_INVALID_CONFIG" in line)
    assert lines == [
        str(2**32 - 1),
        "7",
        "info Halve: plain",
        "debug Halve: -1 -2 -3 4 5 6",
        "warning Name: some text|   ab|ab   |som",
        "error some text: some text 12 7",
        "error few: 1 (missing)",
        "error many: 1",
        "error real: 1.500000 2.35 3.5  10.0 1.000000e+10",
        "error hex: ff 0xff 000000FF z %    42|42   |",
        "error star:    42|1.24",
        "error (null) (null)",
        "error no name 3",
        "error no context 1",
        "error Halve: end %",
        f"error big: {2**64 - 1} -1 {2**32 - 1} fe",
        "info alone",
        "error Halve: pointer is nullptr",
        "error Halve: 4 is too much",
        "error Halve: dtype of x is DT_INT8; it should be float or half",
        "error Halve: shape of x and y is some text: They should be equal.",
        "error Halve: number of tensors of x is 3; it should be 4",
        "error Halve: configuration of tiling, compile_info is null: It is needed.",
        f"host.cpp {last}",
    ]


ARITHMETIC = r"""
#include <iostream>
#include "util/math_util.h"
int main() {
  int64_t x, y;
  while (std::cin >> x >> y) {
    using namespace Ops::Base;
    std::cout << CeilDiv(x, y) << ' ' << Ops::Base::FloorDiv(x, y) << ' ' << Ops::Base::CeilAlign(x, y) << ' '
              << Ops::Base::FloorAlign(x, y) << ' ' << ops::CeilDiv<uint32_t>(x, y) << '\n';
  }
}
"""


@pytest.fixture(scope="module")
def arithmetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(tmp_path_factory.mktemp("arithmetic"), ARITHMETIC)


def test_arithmetic_rounds_towards_its_side(arithmetic: Path) -> None:
    """Signs of both kinds; a divisor of 0 as documented; no overflow near the end of the type."""
    numbers = st.integers(-(2**40), 2**40) | st.integers(-9, 9) | st.just(2**31 - 1)

    @settings(max_examples=20, deadline=None)
    @given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=50))
    def check(pairs: list[tuple[int, int]]) -> None:
        lines = run_program(arithmetic, "".join(f"{x} {y}\n" for x, y in pairs))
        for line, (x, y) in zip(lines, pairs, strict=True):
            ceil, floor = (-(-x // y), x // y) if y else (x, x)
            unsigned, by = x % 2**32, y % 2**32
            small = -(-unsigned // by) if by else unsigned
            assert [int(word) for word in line.split()] == [ceil, floor, ceil * y, floor * y, small]

    check()
    assert math.ceil(5000 / 4096) == int(run_program(arithmetic, "5000 4096\n")[0].split()[0])


SHAPES = r"""
#include <cstdio>
#include "log/log.h"
#include "util/shape_util.h"
struct Shape {
  std::vector<int64_t> dims;
  size_t GetDimNum() const { return dims.size(); }
  int64_t GetDim(size_t i) const { return dims[i]; }
  void SetDimNum(size_t many) { dims.resize(many); }
  void AppendDim(int64_t dim) { dims.push_back(dim); }
};
struct Context {
  Shape in[2], out;
  const Shape* GetInputShape(size_t i) const { return i < 2 ? &in[i] : nullptr; }
  Shape* GetOutputShape(size_t) { return &out; }
};
using namespace Ops::Base;
static void Print(const Shape& shape) { std::printf("%s\n", ToString(shape).c_str()); }
int main() {
  std::printf("%s %s %s\n", ToString(ge::DT_BF16).c_str(), ToString(ge::FORMAT_NCDHW).c_str(),
              ToString(std::vector<int64_t>{1, 2}).c_str());
  Shape shape{{2, -1, 128}};
  Print(shape);
  std::printf("%d %d\n", IsUnknownShape(shape), IsUnknownRank(shape));
  SetUnknownRank(shape);
  std::printf("%d %d %s\n", IsUnknownShape(shape), IsUnknownRank(shape), ToString(shape).c_str());
  SetUnknownShape(3, shape);
  Print(shape);
  Print(EnsureNotScalar(Shape{}));
  Print(EnsureNotScalar(Shape{{4, 5}}));
  Context context{{{{2, 1, 4}}, {{3, 1}}}, {}};
  InferShape4Elewise(&context);
  Print(context.out);
  std::printf("%u\n", InferShape4Broadcast(&context, 2));
  Print(context.out);
  context.in[1].dims = {3};
  std::printf("%d\n", InferShape4Broadcast(&context) == ge::GRAPH_FAILED);
  const int64_t axes[] = {0, -1, 3};
  const Shape source{{7, 8, 9}};
  ReduceDimsWithKeepDims<int64_t>(&source, axes, 2, &shape);
  Print(shape);
  ReduceDimsWithoutKeepDims<int64_t>(&source, axes, 2, &shape);
  Print(shape);
  std::printf("%d\n", ReduceDimsWithKeepDims<int64_t>(&source, axes, 3, &shape) == ge::GRAPH_FAILED);
}
"""


def test_shapes_as_text_unknown_and_inferred(tmp_path: Path) -> None:
    lines = run_program(compile_program(tmp_path, SHAPES))
    assert lines == [
        "DT_BF16 NCDHW [1,2]", "[2,-1,128]", "1 0", "1 1 [-2]", "[-1,-1,-1]", "[1]", "[4,5]",
        "[2,1,4]", "0", "[2,3,4]", "1", "[1,8,1]", "[8]", "1",
    ]  # fmt: skip
