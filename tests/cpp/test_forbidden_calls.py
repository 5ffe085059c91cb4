"""Forbidden names in a kernel: every form of a use is found at its line, and nothing that is none."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gn_tutorial.compiler import preprocess
from gn_tutorial.compiler.preprocess import kernel_texts
from gn_tutorial.course.exam.task import load_tasks
from gn_tutorial.cpp.forbidden_calls import Broken, KernelText, forbidden
from gn_tutorial.cpp.portability_rules import OwnText
from gn_tutorial.errors import ArgumentError, CompilerMissing
from tests.support.thoroughness import ALL, examples

NAMES = ("Cosh", "Tanh", "Log", "Sum")
OWN = "  __aicore__ inline float Cosh(const LocalTensor<float>& x) {\n  }\n"


def found(text: str, names: tuple[str, ...] = NAMES) -> str:
    # A text without a directive is what the preprocessor leaves of it but for comments; with --all it is asked.
    if not ALL and "#" not in text and "\\" not in text:
        places = tuple(("op_kernel/k.cpp", number) for number, _ in enumerate(text.splitlines(), 1))
        return said_of(forbidden(names, [KernelText(OwnText(text, places))]))
    return said_of(forbidden(names, kernel_texts({"op_kernel/k.cpp": text})))


def said_of(broken: Broken | None) -> str:
    return f"{broken.what.partition(' is a ')[0]} {broken.where.rpartition(':')[2]}" if broken else ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/* a\n b */\n  AscendC::Cosh<half>(y, x);\n", "Cosh 3"),
        ("Exp(y, x, n);\nCosh(y, x, n);\n", "Cosh 2"),
        ("void F() { if (n) Exp(y, x, n); else Cosh(y, x, n); }", "Cosh 1"),
        ("AscendC ::\n  Cosh\n  <float>(y, x);", "Cosh 1"),
        ("using AscendC::Cosh;\n", "Cosh 1"),
        ("namespace A = AscendC;\nusing A::Tanh;\n", "Tanh 2"),
        ("namespace A = ::AscendC;\n\nA::Cosh(y, x);\n", "Cosh 3"),
        ("auto f = &Cosh<half, false>;\n", "Cosh 1"),
        ("void (*f)(const LocalTensor<half>&, const LocalTensor<half>&) = Cosh;\n", "Cosh 1"),
        ("void (*f)(const LocalTensor<half>&) = &AscendC::Cosh;\n", "Cosh 1"),
        ("Apply(Cosh, y, x);\n", "Cosh 1"),
        ("void F() { Use (Cosh); }\n", "Cosh 1"),
        ("void F() { int (Cosh(y, x)); }\n", "Cosh 1"),
        ("void F() { int (n) = 1; half (Sum); }\n", "Sum 1"),
        ("void F() { float(Cosh) + 1; }\n", "Cosh 1"),
        ("void F() { int (n) = Cosh; }\n", "Cosh 1"),
        ("void F() { { int (Cosh); } Cosh(y, x); }\n", "Cosh 1"),
        ("return Cosh;\n", "Cosh 1"),
        ("#define GROW Cosh\n\nGROW(y, x);\n", "Cosh 3"),
        ("#define CAT(a, b) a##b\nvoid F() {\n  CAT(Co, sh)(y, x);\n}\n", "Cosh 3"),
        ("void F() {\n  Co\\\nsh(y, x);\n}\n", "Cosh 2"),
        ("#if __CCE_AICORE__ || 1\nvoid F() { Cosh(y, x); }\n#endif\n", "Cosh 2"),
        ("#ifdef GET_TILING_DATA_WITH_STRUCT\nvoid F() { Cosh(y, x); }\n#endif\n", "Cosh 2"),
        ("#ifdef __OPTIMIZE__\nvoid F() { Cosh(y, x); }\n#endif\n", "Cosh 2"),
        ('#define H "adv_api/pad/broadcast.h"\n#include H\n', "adv_api/pad/broadcast.h 2"),
        ("namespace A = AscendC;\nnamespace B = A;\nvoid F() { B::Cosh<half>(y, x); }\n", "Cosh 3"),
        ("namespace m { using namespace AscendC; }\nvoid F() { m::Cosh(y, x); }\n", "Cosh 2"),
        ("namespace m { namespace A = AscendC; }\nvoid F() { m::A::Cosh(y, x); }\n", "Cosh 2"),
        ("namespace AscendC {\nvoid F() { Cosh(y, x); }\n}\n", "Cosh 2"),
        ("using namespace AscendC;\nvoid F() { ::Cosh(y, x); }\n", "Cosh 2"),
        ("void F() { (Cosh)(y, x); }\n", "Cosh 1"),
        ("void F() { Each<Cosh>(y, x); }\n", "Cosh 1"),
        ("void F() { Each g(Cosh); }\n", "Cosh 1"),
        ("void F() { { int Cosh = 1; } Cosh(y, x); }\n", "Cosh 1"),
        ("void F() { Cosh(y, x);\n int Cosh = 1; }\n", "Cosh 1"),
        ("struct { int Cosh; } s;\nvoid F() { Cosh(y, x); }\n", "Cosh 2"),
        ("struct S { void Cosh(int); };\nvoid F() { Cosh(y, x); }\n", "Cosh 2"),
        ("namespace m { void Cosh(int); }\nvoid F() { Cosh(y, x); }\n", "Cosh 2"),
        ("enum class Way { Cosh };\nvoid F() { Cosh(y, x); }\n", "Cosh 2"),
        ("template <int Cosh> void G() {}\nvoid F() { Cosh(y, x); }\n", "Cosh 2"),
        ("void G(int Cosh) {}\nvoid F() { Cosh(y, x); }\n", "Cosh 2"),
        ("void Cosh(int a);\nvoid F() { Cosh<half>(y); }\n", "Cosh 2"),
        ("void Cosh(int a, int b = 1);\nvoid F() { Cosh(y, x, n); }\n", "Cosh 2"),
        ("auto f = [] { Cosh(y, x); };\n", "Cosh 1"),
        ("struct S { S() : Log(3), b_(Tanh(4)) {} int Log, b_; };\n", "Tanh 1"),
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
        "void F() { int (Sum); Use(Sum); }\n",
        "void F() { float (Sum) = 0, *(Log)[2]; Sum += Log[0]; }\n",
        "void F() { uint32_t (*Sum)[3] = &rows, ((Log)) = 1; Use(Sum, Log); }\n",
        "struct Half { Half(); };\nvoid F() { Half (Sum); Use(Sum); }\n",
        "template <class T> void F() { T (Sum) = 1; Use(Sum); }\n",
        "enum Kind { Log, Sum = 3 };\nkind_ = Log;\n",
        "class Sum {\n};\nSum op;\nSum* at = &op;\n",
        "template <typename Log>\nvoid F(Log one);\n",
        "void F(const LocalTensor<float>& Sum, uint32_t n) { Exp(Sum, Sum, n); }\n",
        "#define Log Ln\nLog(y, x, n);\n",
        "#define GROW Cosh\n",
        "#ifdef NEVER\nvoid F() { Cosh(y, x); }\n#endif\n",
        "enum class Way { Cosh, Sum };\nvoid F() { Way w = Way::Cosh; }\n",
        "enum class Way { Cosh };\nvoid F() { using enum Way; int w = (int)Cosh; }\n",
        "struct S { enum Way { Cosh }; };\nvoid F() { int w = S::Cosh; }\n",
        "namespace m { namespace n { void Sum(int a) {} } }\nvoid F() { m::n::Sum(3); }\n",
        "namespace m { void Sum(int a) {} }\nusing m::Sum;\nvoid F() { Sum(3); }\n",
        "namespace m { void Sum(int a) {} }\nusing namespace m;\nvoid F() { Sum(3); }\n",
        "inline namespace v1 { void Sum(int a) {} }\nvoid F() { Sum(3); v1::Sum(3); ::Sum(3); }\n",
        "namespace { void Sum(int a) {} }\nvoid F() { Sum(3); }\n",
        "void F() { goto Sum; Sum: return; }\n",
        "template <bool Sum> void F() { if constexpr (Sum) return; }\n",
        "template <template <class> class Sum, typename... Log> void F(Sum<int> a, Log... b) {}\n",
        "template <int N> int Sum = N;\nvoid F() { int a = Sum<3>; }\n",
        "void F() { auto [Sum, rest] = pair; Use(Sum); }\n",
        "void F() { for (auto Sum : all) Use(Sum); if (int Log = 1; Log) Use(Log); }\n",
        "auto f = [Sum = 3](int Log) { return Sum + Log; };\n",
        "struct S { void F() { Sum(1, 2); } void Sum(int a, int b); };\n",
        "struct B { void Sum(int a); };\nstruct S : B { void F() { Sum(1); } };\n",
        "struct S { void F(); void Sum(int a); };\nvoid S::F() { Sum(1); }\n",
        "template <class T> struct S { void F(); void Sum(T a); };\ntemplate <class T> void S<T>::F() { Sum(1); }\n",
        "template <class T> struct S : T { using T::Sum; void F() { Sum(1); } };\n",
        "struct S { union { int Sum; float Log; }; float F() { return Sum + Log; } };\n",
        "struct S { friend class Sum; ~S(); }; struct Log { ~Log(); Log(); };\n",
        "struct S { int Sum; }; S s = {.Sum = 1};\n",
        "template <class... A> void Sum(A... a) {}\nvoid F() { Sum(1, 2, 3); Sum<int>(1); }\n",
        "void Sum(auto a) {}\nvoid F() { Sum<int>(1); }\n",
        "void Sum(void);\nvoid F() { Sum(); }\n",
        "template <class... A> void F(A... a) { std::Sum(a...); T::Log(a...); }\nvoid Sum(int, int);\n",
        "BlockReduceSum(y, x, 1, 64, 1, 1, 8);\nReduceSum<float>(y, x, work, n);\n",
    ],
)
def test_what_is_no_use_of_the_library_is_let_be(text: str) -> None:
    assert found(text) == ""


def test_a_header_beside_the_kernel_counts_and_knows_what_the_kernel_declares() -> None:
    files = {"op_kernel/a.h": "  Sum(x);\n", "op_kernel/k.cpp": '#include "a.h"\n'}
    broken = forbidden(NAMES, kernel_texts(files))
    assert broken is not None
    assert broken.where == "op_kernel/a.h:1"
    own = "__aicore__ inline float Sum(float x) { return x; }\n"
    assert forbidden(NAMES, kernel_texts(files | {"op_kernel/k.cpp": own + '#include "a.h"\n'})) is None


def test_a_file_outside_the_kernels_folder_counts_if_the_kernel_includes_it(tmp_path: Path) -> None:
    kernel = {"op_kernel/k.cpp": '#include "../op_host/a.h"\n'}
    broken = forbidden(NAMES, kernel_texts(kernel, beside={"op_host/a.h": "\nvoid F() { Sum(x); }\n"}))
    assert broken is not None
    assert broken.where == "op_host/a.h:2"
    (tmp_path / "b.inc").write_text("void F() { Sum(x); }\n", encoding="utf-8")
    broken = forbidden(NAMES, kernel_texts({"k.cpp": '#include "b.inc"\n'}, near=tmp_path))
    assert broken is not None
    assert broken.where.endswith("b.inc:1")


def test_a_branch_for_one_dtype_counts() -> None:
    text = "#if ORIG_DTYPE_X == DT_FLOAT16\nvoid F() { Sum(x); }\n#endif\n"
    builds = [{"x": "float32"}, {"x": "float16"}]
    assert forbidden(NAMES, kernel_texts({"k.cpp": text}, builds=builds[:1])) is None
    assert said_of(forbidden(NAMES, kernel_texts({"k.cpp": text}, builds=builds))) == "Sum 2"


def test_a_header_that_stands_for_the_whole_interface_hides_no_macro() -> None:
    text = '#include "kernel_vec_x_intf.h"\n#define CAT(a, b) a##b\nvoid F() { CAT(Su, m)(x); }\n'
    assert found(text) == "Sum 3"


@pytest.mark.parametrize("why", ["no compiler", "no such header"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("void F() { Cosh(y, x); }\n", "Cosh 1"),
        ("#if 0\nCosh(y, x);\n#else\nvoid F() { Tanh(y, x); }\n#endif\n", "Tanh 4"),
        ("#if 0 // Cosh\nvoid F() { Cosh(y, x); }\n#endif\n", ""),
        ("#if (0)\nvoid F() { Cosh(y, x); }\n#endif\n", ""),
        ("#ifdef A\nvoid F() { Cosh(y, x); }\n#endif\n", "Cosh 2"),
        ("#define GROW Cosh\n", "Cosh 1"),
        ("#define GROW(Cosh) Cosh\n", ""),
        ('#define GROW "Cosh"\n', ""),
        ("#define Log Ln\nvoid F() { Log(y, x, n); }\n", ""),
        ("void F() {\n\n  Co\\\nsh(y, x);\n}\n", "Cosh 3"),
        ("// \\\nCosh(y, x);\nvoid F() {\n  Tanh(y);\n}\n", "Tanh 4"),
        ('#include "lib/math/sinh.h"\n', "lib/math/sinh.h 1"),
        ('#if 0\n#include "lib/math/sinh.h"\n#endif\n', ""),
    ],
)
def test_text_that_cannot_be_preprocessed_is_read_as_it_was_written(
    text: str, said: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "no compiler":
        monkeypatch.setattr(preprocess, "find_compiler", missing)
    else:
        text += '#include "no_such_header.h"\n'
    assert found(text) == said


def missing() -> None:
    raise CompilerMissing("there is no C++ compiler")


def test_files_that_cannot_be_preprocessed_know_what_the_others_declare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preprocess, "find_compiler", missing)
    files = {"a.h": "void F() { Sum(1); }\n", "k.cpp": '__aicore__ inline void Sum(int a) {}\n#include "a.h"\n'}
    assert forbidden(NAMES, kernel_texts(files)) is None
    files["b.h"] = "\nvoid G() { Sum(1, 2); }\n"
    broken = forbidden(NAMES, kernel_texts(files))
    assert broken is not None
    assert broken.where == "b.h:2"


@pytest.mark.parametrize(
    "text",
    [
        "Cosh\0(y, x);\n",
        "(" * 10_000 + "Cosh",
        "{" * 10_000 + " Cosh(y); ",
        "namespace a {" * 10_000 + "void F() { Cosh(y); }",
        "a::" * 10_000 + "Cosh",
        'const char* a = "Cosh(y)\n',
        "/* Cosh(y, x);",
        '#include "' + "Cosh" * 10_000,
        "int Cosh " + "= Cosh" * 400 + ";",
        "#define A0 Cosh(y);\n" + "".join(f"#define A{i + 1} A{i} A{i}\n" for i in range(12)) + "A12\n",
        "Cosh<" * 300,
    ],
    ids=range(11),
)
def test_any_text_ends_in_a_verdict_or_a_sentence(text: str) -> None:
    with contextlib.suppress(ArgumentError):
        found(text)


def test_text_beyond_the_bounds_of_the_parser_is_refused() -> None:
    with pytest.raises(ArgumentError, match="nested more than"):
        found("int Cosh " + "= Cosh" * 10_000 + ";")
    with pytest.raises(ArgumentError, match="is not read"):
        found("int Cosh;\n" * 110_000)
    with pytest.raises(ArgumentError, match="is not read"):
        found("#define A0 int Cosh;\n" + "".join(f"#define A{i + 1} A{i} A{i}\n" for i in range(17)) + "A17\n")


INNOCENT = (
    "(void)Way::Sum;", "mine::Sum(3);", "goto Sum; Sum: return;", "auto [Sum, rest] = pair; Use(Sum);",
    "int Sum = 1; Sum += Sum;", "kernel.Sum(3);", "at->Sum(3);", "Use([](int Sum) { return Sum; });", "Log(3);",
    'Use("Sum(x)");', "for (int Sum : all) Use(Sum);", "struct S { void Sum(); void F() { Sum(); } };",
    "using mine::Sum; Sum(3);", "Mine Sum(x); Use(Sum);",
)  # fmt: skip
GUILTY = (
    "Sum(y, x);", "AscendC::Sum(y, x);", "lib::Sum(y, x);", "Use(Sum);", "Use(&Sum<half>);", "auto f = &Sum<half>;",
    "Sum<half>(y, x);", "using AscendC::Sum;", "CAT(Su, m)(y, x);", "SUM(y, x);", "Log(y, x, n);", "auto Use = Sum;",
    "Each<Sum>(y);", "if (n) Use(n); else Sum(y, x);", "{ int Sum; } Sum(y, x);",
)  # fmt: skip
HEAD = """#include "kernel_operator.h"
#define CAT(a, b) a##b
#define SUM Sum
namespace lib = AscendC;
enum class Way { Sum };
namespace mine { void Sum(int a); }
__aicore__ inline void Log(int a) {}
"""
#: What may surround statements, with a place for them; all of it leaves them in force, and declares no name of theirs.
AROUND = (
    "{{ {} }}", "if (n) {{ {} }}", "for (int i = 0; i < n; ++i) {{ {} }}", "auto f = [&](int a) {{ {} }};",
    "\n#if 1\n{}\n#endif\n", "\n#ifdef NEVER\nint b;\n#else\n{}\n#endif\n", "\n#define BODY {}\nBODY\n#undef BODY\n",
    "/* Sum(y, x); */ {} // Sum(y, x)\n", "\n#if 0\nSum(y, x);\n#endif\n{}\n", 'Use("Sum(y, x)"); {}',
    "struct L {{ template <class T> void G(T a) {{ {} }} }};", "switch (n) {{ default: {{ {} }} }}",
    "try {{ {} }} catch (int) {{}}",
)  # fmt: skip
UNUSED = (
    "\n#if 0\n{}\n#endif\n",
    "/* {} */",
    "\n#ifdef NEVER\n{}\n#endif\n",
    "\n#define NEVER_USED {}\n",
    'Use(R"unused({})unused");',  # a string inside ends with )"
)
OUTSIDE = (
    "__aicore__ inline void P() {{\n{}\n}}\n", "template <typename T> __aicore__ inline void P(T t) {{\n{}\n}}\n",
    "class K {{\n public:\n  __aicore__ inline void P() {{\n{}\n  }}\n  int n;\n}};\n",
    "namespace other {{\n__aicore__ inline void P() {{\n{}\n}}\n}}\n",
    'extern "C" __global__ __aicore__ void k(GM_ADDR x) {{\n{}\n}}\n',
)  # fmt: skip


def one_line(text: str) -> str:
    """A directive's line has no other directive in it, and no comment to the end of the line."""
    return text if "\n" not in text and "//" not in text else ""


def spliced(text: str, seed: int) -> str:
    """The text with some lines continued on the next one, at any place but in a raw string."""
    draw = random.Random(seed)
    if 'R"' in text:
        return text
    return "".join(one + ("\\\n" if one != "\n" and draw.random() < 0.02 else "") for one in text)


@settings(max_examples=examples(200), deadline=None)
@given(data=st.data())
def test_the_verdict_does_not_depend_on_what_surrounds_the_use(data: st.DataObject) -> None:
    guilty = data.draw(st.booleans())
    inner = data.draw(st.sampled_from(GUILTY if guilty else INNOCENT))
    unused = data.draw(st.sampled_from((*UNUSED, ""))) if guilty else ""
    for around in data.draw(st.lists(st.sampled_from(AROUND), max_size=4)):
        if "#define" not in around or one_line(inner):
            inner = around.format(inner)
    if unused and "/*" not in inner and "//" not in inner and ("#define" not in unused or one_line(inner)):
        inner, guilty = unused.format(inner), False
    directive = data.draw(st.sampled_from(("", "using namespace AscendC;\n")))
    text = HEAD + directive + data.draw(st.sampled_from(OUTSIDE)).format(inner)
    text = spliced(text, data.draw(st.integers(0, 1 << 20)))
    assert bool(found(text, ("Sum", "Log"))) == guilty, text


def test_no_solution_of_ours_has_a_forbidden_name_beside_one_in_a_branch_that_is_left_out() -> None:
    for task in load_tasks():
        for path in sorted(task.answers.glob("*/kernel.cpp")):
            text = path.read_text(encoding="utf-8")
            old = f"\n#if 0\n__aicore__ void Old() {{ {task.forbidden[0]}(a, b); }}\n#endif\n"
            assert forbidden(task.forbidden, kernel_texts({path.name: text + old})) is None, path
