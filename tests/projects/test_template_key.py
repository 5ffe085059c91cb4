"""Template tiling in host code: declarations as data, keys, choices, and the kernel template's arguments.

The model here and the C++ share no code; the public test of the key is compiled unchanged where it is at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from op_host_program import GTEST, compile_program, run_program
from public_code import needs, public_code
from thoroughness import examples

from gn_tutorial.compiler.build import build_kernel

INVALID = 2**64 - 1
DTYPE, FORMAT, UINT, BOOL, KERNEL_TYPE, DETERMINISTIC, SHARED_KERNEL_TYPE = range(7)
RANGE, LIST, MIX = range(3)
TYPES = {0: "float", 1: "half", 3: "int32_t", 9: "int64_t", 12: "bool", 27: "bfloat16_t", 29: "AscendC::int4b_t"}


@dataclass(frozen=True)
class Parameter:
    """One parameter: its numbers as they are written down, and the values they stand for."""

    name: str
    kind: int
    width: int
    written: tuple[int, ...]
    values: tuple[int, ...]
    native: bool = False

    def text(self) -> str:
        return " ".join(
            map(str, (self.name, self.kind, self.width, int(self.native), len(self.written), *self.written))
        )


def a_list(name: str, kind: int, width: int, *values: int, native: bool = False) -> Parameter:
    return Parameter(name, kind, width, (LIST, *values) if kind == UINT else values, values, native)


def question(declared: list[Parameter], selections: list[list[Parameter]], values: list[int]) -> str:
    lists = " ".join(f"{len(one)} {' '.join(p.text() for p in one)}" for one in selections)
    declarations = " ".join(p.text() for p in declared)
    return f"{len(declared)} {declarations} {len(selections)} {lists} {len(values)} {' '.join(map(str, values))}\n"


ANSWERS = r"""
#include <deque>
#include <iostream>
#include "ascendc/host_api/tiling/template_argument.h"
static std::deque<std::string> names;
static std::vector<ParamStruct> Read() {
  size_t count = 0;
  std::cin >> count;
  std::vector<ParamStruct> all;
  for (; count > 0; --count) {
    uint32_t kind, width, native;
    size_t numbers;
    std::cin >> names.emplace_back() >> kind >> width >> native >> numbers;
    std::vector<uint64_t> values(numbers);
    for (uint64_t& value : values) std::cin >> value;
    all.emplace_back(names.back().c_str(), kind, static_cast<uint8_t>(width), values, "", native != 0);
  }
  return all;
}
int main() {
  for (;;) {
    const TilingDeclareParams declared = Read();
    size_t count = 0;
    std::cin >> count;
    TilingSelectParams selections;
    for (; count > 0; --count) selections.push_back(Read());
    std::cin >> count;
    if (!std::cin) return 0;
    std::vector<uint64_t> values(count);
    for (uint64_t& value : values) std::cin >> value;
    const auto choice = gn_twin::op_host::Choose(declared, selections, values);
    std::cout << choice.key << '|' << choice.text << '|' << choice.wrong << '\n';
    const auto back = gn_twin::op_host::Decode(declared, choice.key);
    std::cout << back.text << '|' << back.wrong << '|';
    for (uint64_t value : back.values) std::cout << value << ' ';
    std::cout << '\n';
  }
}
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(tmp_path_factory.mktemp("answers"), ANSWERS)


def ask(program: Path, declared: list[Parameter], selections: list[list[Parameter]], values: list[int]) -> list[str]:
    """Key, text and complaint of the choice; text, complaint and values of its key."""
    first, second = run_program(program, question(declared, selections, values))
    return [*first.split("|"), *second.split("|")]


@st.composite
def uints(draw: st.DrawFn, name: str) -> Parameter:
    """Distinct values, as a list, as ranges, or both."""
    mode = draw(st.sampled_from((RANGE, LIST, MIX)))
    ranges: list[tuple[int, int]] = []
    at = 0
    if mode != LIST:
        for _ in range(draw(st.integers(1 if mode == RANGE else 0, 3))):
            first = at + draw(st.integers(0, 9))
            last = first + draw(st.integers(0, 20))
            ranges.append((first, last))
            at = last + 1
        ranges = draw(st.permutations(ranges))
    listed = draw(st.lists(st.integers(at, 2**40), min_size=mode != RANGE, max_size=5 * (mode != RANGE), unique=True))
    values = [value for first, last in ranges for value in range(first, last + 1)] + listed
    numbers = [number for pair in ranges for number in pair]
    written = (mode, *listed) if mode == LIST else (mode, len(ranges), *numbers, *listed)
    width = draw(st.integers(max(1, (len(values) - 1).bit_length()), 12))
    return Parameter(name, UINT, width, written, tuple(values))


@st.composite
def parameters(draw: st.DrawFn) -> list[Parameter]:
    declared: list[Parameter] = []
    for number in range(draw(st.integers(1, 6))):
        name = f"P{number}"
        small = st.lists(st.integers(0, 255), min_size=1, max_size=4, unique=True)
        dtypes = st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=4, unique=True)
        declared.append(
            draw(
                st.one_of(
                    uints(name),
                    dtypes.map(lambda values, name=name: a_list(name, DTYPE, 8, *values, native=True)),
                    small.map(lambda values, name=name: a_list(name, DTYPE, 8, *values)),
                    small.map(lambda values, name=name: a_list(name, FORMAT, 8, *values)),
                    st.sampled_from(((0,), (1,), (0, 1), (1, 0))).map(
                        lambda values, name=name: a_list(name, BOOL, 1, *values)
                    ),
                    small.map(lambda values, name=name: a_list(name, SHARED_KERNEL_TYPE, 8, *values)),
                )
            )
        )
    while sum(one.width for one in declared) > 64:
        declared.pop()
    return declared


def test_any_choice_has_its_key_and_any_key_its_choice(answers: Path) -> None:
    @settings(max_examples=examples(120), deadline=None)
    @given(parameters(), st.data())
    def check(declared: list[Parameter], data: st.DataObject) -> None:
        values = [data.draw(st.sampled_from(one.values)) for one in declared]
        # Another list stands in between, and the order of a list's parameters is free.
        chosen = [
            a_list(one.name, one.kind, one.width, *dict.fromkeys([*one.values[:2], value]))
            for one, value in zip(declared, values, strict=True)
        ]
        extra = a_list("kernel_type", KERNEL_TYPE, 8, 7)
        other = [a_list(one.name, one.kind, one.width, one.values[-1]) for one in declared]
        selections = [other, [extra, *data.draw(st.permutations(chosen))]]
        key, at = 0, 0
        for one, value in zip(declared, values, strict=True):
            key |= (one.values.index(value) if one.kind == UINT else value) << at
            at += one.width
        text = ", ".join(
            TYPES[value] if one.native else str(value) for one, value in zip(declared, values, strict=True)
        )
        answer = ask(answers, declared, selections, values)
        assert answer[:3] == [str(key), text, ""]
        if key != INVALID:
            assert answer[3:5] == [text, ""]
            assert [int(value) for value in answer[5].split()] == values

    check()


X = a_list("X", DTYPE, 8, 0, 1, 27, native=True)
N = a_list("N", UINT, 4, 10, 12, 13, 9)
S = a_list("S", BOOL, 1, 0, 1)
THREE = [X, N, S]


@pytest.mark.parametrize(
    ("declared", "selections", "values", "why"),
    [
        ([], [[X]], [1], "no ASCENDC_TPL_ARGS_DECL"),
        ([X], [], [1], "no ASCENDC_TPL_SEL"),
        ([X], [[X]], [1, 2], "2 values for 1 parameters"),
        ([X, N], [[X]], [1, 10], "leaves out N"),
        ([X], [[X, N]], [1], "ASCENDC_TPL_ARGS_DECL has no such parameter"),
        (THREE, [[X, N, a_list("S", UINT, 0, 0, 1)]], [1, 10, 0], "S: declared as another kind"),
        (THREE, [[X, a_list("N", UINT, 0, 10, 11), S]], [1, 10, 0], "N: 11 is not among the declared values"),
        (THREE, [THREE], [1, 11, 0], "no ASCENDC_TPL_ARGS_SEL has these values together"),
        (
            THREE,
            [[a_list("X", DTYPE, 8, 1), N, a_list("S", BOOL, 1, 0)], [a_list("X", DTYPE, 8, 0), N, S]],
            [1, 10, 1],
            "no ASCENDC_TPL_ARGS_SEL has these values together",
        ),
        ([a_list("X", DTYPE, 8)], [[X]], [1], "X: it has no values"),
        ([a_list("X", DTYPE, 8, 3, 1, 3)], [[X]], [1], "the value 3 is listed twice"),
        ([a_list("X", 1000, 8, 3)], [[X]], [3], "X: this kind cannot be declared"),
        ([a_list("X", DETERMINISTIC, 1, 1)], [[X]], [1], "X: this kind cannot be declared"),
        ([Parameter("N", UINT, 8, (LIST,), ())], [[N]], [3], "ASCENDC_TPL_UI_RANGE, "),
        ([Parameter("N", UINT, 8, (3, 1, 2), ())], [[N]], [3], "ASCENDC_TPL_UI_RANGE, "),
        ([Parameter("N", UINT, 8, (RANGE, 2, 0, 5), ())], [[N]], [3], "2 ranges of two numbers, but 2 numbers"),
        ([Parameter("N", UINT, 8, (RANGE, 1, 0, 5, 7), ())], [[N]], [3], "1 range of two numbers, but 3 numbers"),
        ([Parameter("N", UINT, 8, (RANGE, 1, 5, 4), ())], [[N]], [3], "a range ends at 4, before its start 5"),
        ([Parameter("N", UINT, 8, (MIX, 1, 0, 5, 3), ())], [[N]], [3], "the value 3 is listed twice"),
        ([Parameter("N", UINT, 8, (RANGE, 2, 0, 5, 4, 9), ())], [[N]], [3], "the value 4 is listed twice"),
        ([a_list("N", UINT, 2, 4, 5, 6, 7, 8)], [[N]], [4], "5 values need more than 2 bits"),
        ([Parameter("N", UINT, 8, (RANGE, 1, 0, 2**62), ())], [[N]], [3], "values need more than 8 bits"),
        ([a_list("S", BOOL, 1, 0, 2)], [[a_list("S", BOOL, 1, 2)]], [2], "S = 2 needs more than 1 bit"),
        ([a_list("X", DTYPE, 8, 5, native=True)], [[a_list("X", DTYPE, 8, 5)]], [5], "is not a dtype with a kernel"),
        (
            [a_list(f"P{i}", FORMAT, 8, 0) for i in range(8)] + [S],
            [[a_list(f"P{i}", FORMAT, 8, 0) for i in range(8)] + [S]],
            [0] * 9,
            "the key would need 65 bits",
        ),
    ],
)
def test_what_has_no_key_and_why(
    answers: Path, declared: list[Parameter], selections: list[list[Parameter]], values: list[int], why: str
) -> None:
    key, _, wrong, *_ = ask(answers, declared, selections, values)
    assert key == str(INVALID)
    assert why in wrong


def test_a_range_is_not_written_out(answers: Path) -> None:
    """A 40-bit field of one range, and a selection across the seam of two ranges."""
    wide = Parameter("N", UINT, 40, (RANGE, 2, 0, 2**38, 2**38 + 1, 2**39), ())
    part = Parameter("N", UINT, 0, (RANGE, 1, 5, 2**39), ())
    assert ask(answers, [wide], [[part]], [2**39 - 1])[:2] == [str(2**39 - 1), str(2**39 - 1)]
    assert ask(answers, [wide], [[part]], [4])[0] == str(INVALID)


def test_an_inputs_dtype_instead_of_a_list(answers: Path) -> None:
    """Where only inputs are named, the operator's own dtypes decide; beside a list the list does."""
    only = a_list("X", DTYPE, 8, 100000000, native=True)
    assert ask(answers, [only], [[a_list("X", DTYPE, 8, 1, 27)]], [27])[:2] == ["27", "bfloat16_t"]
    assert ask(answers, [only], [[only]], [3])[:2] == ["3", "int32_t"]
    beside = a_list("X", DTYPE, 8, 0, 1, 100000001, native=True)
    assert ask(answers, [beside], [[a_list("X", DTYPE, 8, 1)]], [1])[:2] == ["1", "half"]
    assert ask(answers, [beside], [[a_list("X", DTYPE, 8, 27)]], [27])[0] == str(INVALID)


KEY_HEADER = r"""
#include "ascendc/host_api/tiling/template_argument.h"
#define LEVEL_ONE 1
ASCENDC_TPL_ARGS_DECL(Halve,
  ASCENDC_TPL_DATATYPE_DECL(D_T_X, C_DT_FLOAT16, C_DT_FLOAT, ASCENDC_TPL_INPUT(0)),
  ASCENDC_TPL_DTYPE_DECL(MODE, 3, 200),
  ASCENDC_TPL_FORMAT_DECL(LAYOUT, C_FORMAT_ND, C_FORMAT_FRACTAL_NZ),
  ASCENDC_TPL_UINT_DECL(TILES, ASCENDC_TPL_8_BW, ASCENDC_TPL_UI_MIX, 2, 0, 2, 3, 5, 10, 12, 13, 9, 8),
  ASCENDC_TPL_KERNEL_TYPE_DECL(CORES, ASCENDC_TPL_AIV_ONLY, ASCENDC_TPL_MIX_AIC_1_2),
  ASCENDC_TPL_BOOL_DECL(SPLIT, 0, 1),
);
ASCENDC_TPL_SEL(
  ASCENDC_TPL_ARGS_SEL(
    ASCENDC_TPL_DATATYPE_SEL(D_T_X, C_DT_FLOAT16),
    ASCENDC_TPL_DTYPE_SEL(MODE, 3, 200),
    ASCENDC_TPL_FORMAT_SEL(LAYOUT, C_FORMAT_FRACTAL_NZ),
    ASCENDC_TPL_UINT_SEL(TILES, ASCENDC_TPL_UI_LIST, LEVEL_ONE, 8),
    ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(CORES, ASCENDC_TPL_MIX_AIC_1_2),
    ASCENDC_TPL_BOOL_SEL(SPLIT, 1),
    ASCENDC_TPL_DETERMINISTIC_SEL(true),
    ASCENDC_TPL_TILING_STRUCT_SEL(inner::Wide),
  ),
  ASCENDC_TPL_ARGS_SEL(
    ASCENDC_TPL_DATATYPE_SEL(D_T_X, C_DT_FLOAT),
    ASCENDC_TPL_DTYPE_SEL(MODE, 3),
    ASCENDC_TPL_FORMAT_SEL(LAYOUT, C_FORMAT_ND),
    ASCENDC_TPL_UINT_SEL(TILES, ASCENDC_TPL_UI_RANGE, 1, 0, 5),
    ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(CORES, ASCENDC_TPL_AIV_ONLY),
    ASCENDC_TPL_BOOL_SEL(SPLIT, 0, 1)
  ),
);
"""
TILING = r"""
#include <cstdio>
KEY_HEADER
struct Context {
  uint64_t key = 0;
  void SetTilingKey(uint64_t value) { key = value; }
};
enum class Mode : int { kFast = 3 };
int main() {
  Context context;
  Context* pointer = &context;
  const int tiles = 8, split = 1;
  ASCENDC_TPL_SEL_PARAM(pointer, C_DT_FLOAT16, Mode::kFast, C_FORMAT_FRACTAL_NZ, tiles, ASCENDC_TPL_MIX_AIC_1_2, split);
  std::printf("%llu\n", (unsigned long long)context.key);
  const uint64_t second = GET_TPL_TILING_KEY({C_DT_FLOAT, 3, C_FORMAT_ND, 5, 0, false});
  std::printf("%llu\n", (unsigned long long)second);
  if (split) ASCENDC_TPL_SEL_PARAM(pointer, 0, 3, 2, -1, 0, 0);
  std::printf("%d\n", context.key == INVALID_TILING_KEY);
  for (const auto& choice : gn_twin::op_host::Choices()) {
    std::printf("%s;%s;%s;%s;%d;", choice.text.c_str(), choice.tiling_struct.c_str(), choice.kernel_type.c_str(),
                choice.wrong.c_str(), choice.deterministic);
    for (size_t i = 0; i < choice.names.size(); ++i) {
      std::printf(" %s:%s", choice.names[i].c_str(), choice.kinds[i].c_str());
    }
    std::printf("\n");
  }
  const auto* found = gn_twin::op_host::ChoiceOf(second);
  const auto& declared = gn_twin::op_host::DeclaredTemplates().front();
  std::printf("%s %s %s %d\n", declared.op_type.c_str(), found->text.c_str(),
              gn_twin::op_host::Decode(declared.parameters, second).text.c_str(),
              gn_twin::op_host::ChoiceOf(12345) == nullptr);
  for (const auto& line : gn_twin::op_host::Logs()) {
    std::printf("%s %s\n", gn_twin::op_host::NameOf(line.level), line.text.c_str());
  }
}
"""


def test_the_macros_in_host_code(tmp_path: Path) -> None:
    first = 1 | 3 << 8 | 29 << 16 | 10 << 24 | 7 << 32 | 1 << 40
    second = 0 | 3 << 8 | 2 << 16 | 5 << 24
    kinds = " D_T_X:datatype MODE:dtype LAYOUT:format TILES:uint CORES:kernel_type SPLIT:bool"
    no_list = "no ASCENDC_TPL_ARGS_SEL has these values together"
    assert run_program(compile_program(tmp_path, TILING.replace("KEY_HEADER", KEY_HEADER))) == [
        str(first),
        str(second),
        "1",
        f"half, 3, 29, 8, 7, 1;inner::Wide;;;1;{kinds}",
        f"float, 3, 2, 5, 0, 0;;;;0;{kinds}",
        f"float, 3, 2, {2**64 - 1}, 0, 0;;;{no_list};0;{kinds}",
        "Halve float, 3, 2, 5, 0, 0 float, 3, 2, 5, 0, 0 1",
        f"error GET_TPL_TILING_KEY(0, 3, 2, {2**64 - 1}, 0, 0): {no_list}",
    ]


def test_the_kernel_type_of_a_selection(tmp_path: Path) -> None:
    source = r"""
#include <cstdio>
#include "tiling/template_argument.h"
ASCENDC_TPL_ARGS_DECL(Op, ASCENDC_TPL_BOOL_DECL(A, 0, 1));
ASCENDC_TPL_SEL(
  ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_KERNEL_TYPE_SEL(ASCENDC_TPL_MIX_AIC_1_2), ASCENDC_TPL_BOOL_SEL(A, 0)),
  ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_KERNEL_TYPE_SEL(ASCENDC_TPL_AIV_ONLY), ASCENDC_TPL_BOOL_SEL(A, 1)));
int main() {
  GET_TPL_TILING_KEY(1);
  GET_TPL_TILING_KEY(false);
  for (const auto& choice : gn_twin::op_host::Choices()) std::printf("%s\n", choice.kernel_type.c_str());
}
"""
    assert run_program(compile_program(tmp_path, source)) == ["AIV_ONLY", "MIX_AIC_1_2"]


def test_the_same_header_means_nothing_in_a_kernel() -> None:
    kernel = "__global__ __aicore__ void halve(GM_ADDR x) {}\n"
    built = build_kernel(f'{KEY_HEADER}\nextern "C" {kernel}', optimise=False)
    assert [entry.name for entry in built.entries] == ["halve"]


PUBLIC_TEST = public_code("asc", "tests", "api", "utils", "tiling", "test_tpl_tiling_key_debug.cpp")


@needs(PUBLIC_TEST)
def test_the_public_test_of_the_key(tmp_path: Path) -> None:
    """All 19 checks of CANN's own test, compiled unchanged."""
    source = (GTEST / "run_all.cpp").read_text(encoding="utf-8")
    lines = run_program(compile_program(tmp_path, source, PUBLIC_TEST, include=[GTEST], warnings=False))
    assert [line for line in lines if not line.startswith("ok ")] == []
    assert len(lines) == 19
