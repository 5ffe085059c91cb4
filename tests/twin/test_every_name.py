"""The two lists of names in ``apis.toml``: what it promises compiles in a kernel, what the twin lacks says so."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import gn_tutorial
from gn_tutorial.compiler.build import build_kernel
from gn_tutorial.compiler.toolchain import find_compiler, kernel_flags
from gn_tutorial.errors import CompileError

TWIN = Path(gn_tutorial.__file__).parent / "twin"
HEADER = TWIN / "include" / "gn_twin" / "basic_api" / "unsupported.h"
APIS = tomllib.loads((TWIN / "apis.toml").read_text(encoding="utf-8"))
LACKING = APIS.pop("unsupported")
TYPES = list(LACKING["types"])
FUNCTIONS = LACKING["functions"] + LACKING["functions_not_on_a2"]

PROGRAMS = Path(__file__).parents[1] / "programs"
USES = PROGRAMS / "apis" / "all_names.cpp"


def test_every_promised_name_is_in_a_program_that_compiles() -> None:
    marks = re.findall(r"^\s*// use: (.+)$", USES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(marks) <= APIS.keys(), "all_names.cpp uses names that apis.toml does not list"
    assert len(set(marks)) == len(marks)
    # Each program of a family is compiled by the test of that family.
    families = "\n".join(path.read_text(encoding="utf-8") for path in sorted((PROGRAMS / "families").glob("*.cpp")))
    called = set(re.findall(r"\w+", families))
    unused = [name for name in APIS if name not in marks and name.split("::")[-1] not in called]
    assert not unused, "call these names in tests/programs/families, or mark a use in tests/programs/apis/all_names.cpp"


def test_the_names_of_one_program_compile_in_a_kernel(tmp_path: Path) -> None:
    assert errors_of(USES.read_text(encoding="utf-8").splitlines(), tmp_path) == {}


@pytest.mark.thorough  # and have definitions
def test_the_names_of_one_program_are_built() -> None:
    built = build_kernel(USES, optimise=False)
    assert [entry.name for entry in built.entries] == ["all_names"]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("LocalTensor<bfloat16_t> t; Add(t, t, t, 8);", "Add on Atlas A2"),
        ("LocalTensor<int8_t> t; Add(t, t, t, 8);", "Add on Atlas A2"),
        ("LocalTensor<float> t; Muls(t, t, 1.0, 8);", "Muls"),  # a double literal
        ("LocalTensor<int32_t> t; Div(t, t, t, 8);", "Div on Atlas A2"),
        ("LocalTensor<int32_t> t; ReduceSum(t, t, t, 8);", "Atlas A2"),
        ("LocalTensor<int8_t> t; Duplicate(t, static_cast<int8_t>(1), 8);", "Duplicate on Atlas A2"),
        ("LocalTensor<half> h; LocalTensor<bfloat16_t> b; Cast(b, h, RoundMode::CAST_NONE, 8);", "Cast on Atlas A2"),
        ("LocalTensor<float> t; Not(t, t, 8);", "16-bit integers"),
        (
            "LocalTensor<float> t; uint64_t m[2]; And(t.ReinterpretCast<int32_t>(), t.ReinterpretCast<int32_t>(),"
            " t.ReinterpretCast<int32_t>(), m, 1, {1, 1, 1, 8, 8, 8});",
            "And",
        ),
        (
            "LocalTensor<float> t; GlobalTensor<float> g; DataCopyPad(t, g, DataCopyExtParams{1, 4, 0, 0, 0});",
            "DataCopyPad",
        ),
        ("PipeBarrier<PIPE_S>();", "PipeBarrier"),
        ("TQue<TPosition::VECCALC, 1> q; TPipe p; p.InitBuffer(q, 1, 32);", "TQue takes VECIN or VECOUT"),
    ],
)
def test_what_the_device_does_not_have_does_not_compile(statement: str, reason: str) -> None:
    source = f'#include "kernel_operator.h"\nusing namespace AscendC;\nextern "C" __global__ __aicore__ void k(GM_ADDR x) {{\n{statement}\n}}\n'
    with pytest.raises(CompileError) as caught:
        build_kernel(source, optimise=False)
    assert reason in str(caught.value)


def errors_of(lines: list[str], tmp_path: Path) -> dict[int, str]:
    """The compiler's first error of each line."""
    compiler = find_compiler()
    source = tmp_path / "rejected.cpp"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    unlimited = "-ferror-limit=0" if compiler.name != "g++" else "-fmax-errors=0"
    flags = [flag for flag in kernel_flags(compiler, optimise=False) if flag != "-shared"]
    command = [
        *compiler.argv,
        *flags,
        f"-I{TWIN / 'include'}",
        "-DGNT_OBSERVED=1",
        unlimited,
        "-fsyntax-only",
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found: dict[int, str] = {}
    for line in done.stderr.splitlines():
        if match := re.match(r".*rejected\.cpp:(\d+):\d+: error: (.*)", line):
            found.setdefault(int(match.group(1)), match.group(2))
    assert found or done.returncode == 0, done.stderr
    return found


def rejected_by(lines: list[str], names: list[str], tmp_path: Path) -> list[str]:
    """The names whose line (4 lines further on) does not say that the twin lacks them."""
    start = ['#include "kernel_operator.h"', "using namespace AscendC;",
             "void f(LocalTensor<float> t, GlobalTensor<float> g, uint64_t& count) {"]  # fmt: skip
    errors = errors_of([*start, *lines, "}"], tmp_path)
    return [f"{name}: {errors.get(i, 'compiles')}" for i, name in enumerate(names, len(start) + 1)
            if not re.search(rf"not on the twin yet: {name}\b", errors.get(i, ""))]  # fmt: skip


def test_every_rejected_name_says_so(tmp_path: Path) -> None:
    assert len(FUNCTIONS) > 100  # the list shrinks as the twin grows
    assert not rejected_by([f"{name}(t, t, 5);" for name in FUNCTIONS], FUNCTIONS, tmp_path)


def test_every_rejected_type_says_so(tmp_path: Path) -> None:
    arguments = {"TensorDesc": "<float>", "CubeResGroupHandle": "<int>", "NumericLimits": "<float>", "TQueSync": "<PIPE_V, PIPE_S>",
                 "TBufPool": "<TPosition::VECCALC>", "TSCM": "<TPosition::GM, 1>", "GroupBarrier": "<1>",
                 "TensorTrait": "<float>", "Layout": "<int, int>"}  # fmt: skip
    lines = [f"{name}{arguments.get(name, '')} x{i};" for i, name in enumerate(TYPES)]
    assert not rejected_by(lines, TYPES, tmp_path)


@pytest.mark.parametrize(
    "call",
    [
        "{0}();",
        "{{ float v = {0}<float>(); }}",
        "{0}<float>(t, t, 5);",
        "{0}<float, false>(t[8], t, 5);",
        "{0}<float, half, true, 3>(t, t, 5);",
        "{0}<true>(g, t, 5);",
        "{0}<PIPE_V, PIPE_MTE3>(5);",
        "{0}<CMPMODE::LT, float, float>(t, t, 5);",
        "{0}(t, t, {{1, 1, 8, 8}}, count);",
        "AscendC::{0}<float>(t, {{}}, {{1.0f, t}}, &count, nullptr);",
    ],
)
def test_each_way_of_calling_reaches_the_message(call: str, tmp_path: Path) -> None:
    names = ["BatchNorm", "TransData", "FasterGeluV2", "GroupNorm", "Mmad", "Digamma", "Nop"]
    assert not rejected_by([call.format(name) for name in names], names, tmp_path)


def test_a_learners_own_function_of_a_rejected_name_wins(tmp_path: Path) -> None:
    # Helpers called Ceil or Round are common; with `using namespace AscendC` both are visible.
    lines = ['#include "kernel_operator.h"', "using namespace AscendC;", "uint32_t Ceil(uint32_t a, uint32_t b) { return (a + b - 1) / b; }",
             "template <class T> T Round(T a, T b) { return a / b * b; }", "uint32_t f(int n) { return Ceil(n, 8) + Round(n, 8); }"]  # fmt: skip
    assert errors_of(lines, tmp_path) == {}


def test_kernels_get_every_header_of_operations() -> None:
    include, seen, ahead = HEADER.parents[2], set(), ["kernel_operator.h"]
    while ahead:
        name = ahead.pop()
        found = re.findall(r'^#include "([^"]+)"', (include / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
        ahead += [one for one in found if one not in seen]
        seen.update(found)
    operations = {
        path.relative_to(include).as_posix()
        for folder in ("basic_api", "adv_api")
        for path in (include / "gn_twin" / folder).rglob("*.h")
    }
    assert len(operations) > 50
    assert operations <= seen, "kernel_operator.h includes each header of operations, itself or through another"


def test_no_name_is_in_both_lists() -> None:
    assert not {name.split("::")[0] for name in APIS} & set(FUNCTIONS + TYPES)
    assert len(set(FUNCTIONS + TYPES)) == len(FUNCTIONS + TYPES)


def test_rejected_names_are_declared_nowhere_else() -> None:
    # An overload of its own would make the rejecting one lose, or the call ambiguous.
    text = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(HEADER.parent.parent.rglob("*.h")) if path != HEADER
    )
    declared = set(
        re.findall(r"^(?:template .*|inline|constexpr|static)[^;{}()=]*?\b([A-Z]\w+)\(", text, flags=re.MULTILINE)
    )
    assert len(declared) > 50
    assert not declared & set(FUNCTIONS)
