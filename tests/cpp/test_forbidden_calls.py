"""Forbidden names in a kernel: every form of a use is found at its line, and nothing that is none."""

from __future__ import annotations

import pytest

from gn_tutorial.course.exam.task import load_tasks
from gn_tutorial.cpp.code_text import code
from gn_tutorial.cpp.forbidden_calls import forbidden

NAMES = ("Cosh", "Tanh", "Log", "Sum")
OWN = "  __aicore__ inline float Cosh(const LocalTensor<float>& x) {\n  }\n"


def found(text: str, names: tuple[str, ...] = NAMES) -> str:
    broken = forbidden(names, {"op_kernel/k.cpp": text})
    return f"{broken.what.partition(' is a ')[0]} {broken.where.rpartition(':')[2]}" if broken else ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/* a\n b */\n  AscendC::Cosh<half>(y, x);\n", "Cosh 3"),
        ("Exp(y, x, n);\nCosh(y, x, n);\n", "Cosh 2"),
        ("else Cosh(y, x, n);", "Cosh 1"),
        ("AscendC ::\n  Cosh\n  <float>(y, x);", "Cosh 1"),
        ("using AscendC::Cosh;\n", "Cosh 1"),
        ("namespace A = AscendC;\nusing A::Tanh;\n", "Tanh 2"),
        ("namespace A = ::AscendC;\n\nA::Cosh(y, x);\n", "Cosh 3"),
        ("auto f = &Cosh<half, false>;\n", "Cosh 1"),
        ("void (*f)(const LocalTensor<half>&, const LocalTensor<half>&) = Cosh;\n", "Cosh 1"),
        ("void (*f)(const LocalTensor<half>&) = &AscendC::Cosh;\n", "Cosh 1"),
        ("Apply(Cosh, y, x);\n", "Cosh 1"),
        ("return Cosh;\n", "Cosh 1"),
        ("#define GROW Cosh\n", "Cosh 1"),
        ('const char* a = "/*";\nCosh(y, x);\nconst char* b = "*/";\n', "Cosh 2"),
        ("const uint32_t n = 1'000; Cosh(y, x); const uint32_t m = 1'000;\n", "Cosh 1"),
        ('#include "lib/math/sinh.h"\n', "lib/math/sinh.h 1"),
        ("#include <adv_api/math/sinh.h>\n", "adv_api/math/sinh.h 1"),
        (OWN + "AscendC::Cosh(x, y);\n", "Cosh 3"),
        ("int Cosh;\nAscendC::Cosh(x, y);\n", "Cosh 2"),
    ],
)
def test_a_use_is_found_at_its_line(text: str, said: str) -> None:
    assert found(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "// Cosh(y, x)\n/* Tanh(\n y) */ Exp(y, x, n);\nkernel.Cosh(x);\nMyCosh(x);\n",
        "int Cosh;\n",
        "// using AscendC::Cosh;\n",
        'printf("Cosh(%d) of AscendC::Tanh\\n \\" Log(", 1);\n',
        'const char* text = R"x(Cosh(y, ")")x";\n',
        "char mark = '\"'; Exp(y, x, n); char other = '\"';\n",
        '// #include "lib/math/sinh.h"\n',
        OWN + "  Cosh(x);\n",
        "auto Sum = [](float a, float b) { return a + b; };\nfloat c = Sum(1, 2);\n",
        "float Sum = 0;\nSum += 1;\nSet(Sum, tiling.Log, it->Log);\n",
        "enum Kind { Log, Sum = 3 };\nkind_ = Log;\n",
        "class Sum {\n};\nSum op;\nSum* at = &op;\n",
        "template <typename Log>\nvoid F(Log one);\n",
        "void F(const LocalTensor<float>& Sum, uint32_t n) { Exp(Sum, Sum, n); }\n",
        "#define Log Ln\nLog(y, x, n);\n",
        "BlockReduceSum(y, x, 1, 64, 1, 1, 8);\nReduceSum<float>(y, x, work, n);\n",
    ],
)
def test_what_is_no_use_of_the_library_is_let_be(text: str) -> None:
    assert found(text) == ""


def test_a_header_beside_the_kernel_counts_and_knows_what_the_kernel_declares() -> None:
    files = {"op_kernel/a.h": "  Sum(x);\n", "op_kernel/k.cpp": '#include "a.h"\n'}
    broken = forbidden(NAMES, files)
    assert broken is not None
    assert broken.where == "op_kernel/a.h:1"
    own = "__aicore__ inline float Sum(float x) { return x; }\n"
    assert forbidden(NAMES, files | {"op_kernel/k.cpp": own + '#include "a.h"\n'}) is None


def test_lines_stay_in_their_places() -> None:
    text = 'a /* \n\n */ b "x//y" R"(\n")" c // d\ne\n'
    assert [line.split() for line in code(text).splitlines()] == [["a"], [], ["b", '""'], ["c"], ["e"]]


def test_no_solution_of_ours_has_a_forbidden_name() -> None:
    for task in load_tasks():
        for path in sorted(task.answers.glob("*/kernel.cpp")):
            assert forbidden(task.forbidden, {path.name: path.read_text(encoding="utf-8")}) is None, path
