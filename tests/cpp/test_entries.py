"""Kernel entries in source text: what is one, what only looks like one, and where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gn_tutorial.abi.structs import ArgKind
from gn_tutorial.cpp.entries import Note, Param, entries_to_compile, find_entries, macro_lines, require_entries, scan
from gn_tutorial.errors import ArgumentError, CompileError

TENSOR, VALUE = ArgKind.TENSOR, ArgKind.VALUE
K = "__global__ __aicore__ void "


def only(text: str) -> tuple[Param, ...]:
    (entry,) = find_entries(text)
    return entry.params


@pytest.mark.parametrize(
    "head",
    [
        'extern "C" __global__ __aicore__ void',
        "__global__ __vector__ void",
        "__global__ __aicore__ __mix__(1, 2) void",
        '__global__ [[noreturn]] __attribute__((used, section("a(b"))) void',
        "__global__ __aicore__\nvoid",
        "__aicore__ __global__ void",
        "static __global__ inline void",
    ],
)
def test_spellings_of_an_entry(head: str) -> None:
    (entry,) = find_entries(f"{head} k(GM_ADDR x) {{ }}")
    assert (entry.name, [param.name for param in entry.params]) == ("k", ["x"])


@pytest.mark.parametrize(
    ("written", "ctype", "name", "kind"),
    [
        ("GM_ADDR x", "GM_ADDR", "x", TENSOR),
        ("GM_ADDR", "GM_ADDR", "arg0", TENSOR),
        ("__gm__ uint8_t* x", "__gm__ uint8_t*", "x", TENSOR),
        ("__gm__ uint8_t *x", "__gm__ uint8_t*", "x", TENSOR),
        ("const __gm__ DTYPE_X* __restrict__ x", "const __gm__ DTYPE_X* __restrict__", "x", TENSOR),
        ("float x[]", "float*", "x", TENSOR),
        ("float x[8]", "float*", "x", TENSOR),
        ("uint32_t n", "uint32_t", "n", VALUE),
        ("uint32_t n = 5", "uint32_t", "n", VALUE),
        ("unsigned int", "unsigned int", "arg0", VALUE),
        ("std::uint32_t", "std::uint32_t", "arg0", VALUE),
        ("const my::Tiling tiling", "const my::Tiling", "tiling", VALUE),
        ("Pair<int, float> p", "Pair<int, float>", "p", VALUE),
        ("Pair<int*, 3> p", "Pair<int*, 3>", "p", VALUE),
        ("Pair<int*, 3>* p", "Pair<int*, 3>*", "p", TENSOR),
        ("GM_ADDR __restrict x", "GM_ADDR __restrict", "x", TENSOR),
        ("float* const x", "float* const", "x", TENSOR),
        ("float x[2][3]", "float*", "x", TENSOR),
        ("float (*x)[3]", "float(*)[3]", "x", TENSOR),
        ("Args... rest", "Args...", "rest", VALUE),
        ("int n __attribute__((unused))", "int", "n", VALUE),
        ("[[maybe_unused]] float eps", "float", "eps", VALUE),
        ("struct Tiling t", "struct Tiling", "t", VALUE),
        ("uint32_t /* number */ n // of elements\n", "uint32_t", "n", VALUE),
    ],
)
def test_parameters(written: str, ctype: str, name: str, kind: ArgKind) -> None:
    assert only(f"__global__ __aicore__ void k({written}) {{}}") == (Param(ctype, name, kind),)
    second = only(f"__global__ __aicore__ void k(GM_ADDR first, {written}) {{}}")[1]
    assert (second.ctype, second.kind) == (ctype, kind)


@pytest.mark.parametrize("none", ["", "void", " /* nothing */ "])
def test_no_parameters(none: str) -> None:
    assert only(f"__global__ __aicore__ void k({none}) {{}}") == ()


HIDDEN = "__global__ __aicore__ void hidden(GM_ADDR x) {}"


@pytest.mark.parametrize(
    "text",
    [
        f"// {HIDDEN}",
        f"// continued \\\n{HIDDEN}",
        f"/* {HIDDEN} */",
        f'const char* s = "{HIDDEN}";',
        f'const char* s = "\\"{HIDDEN}";',
        f'auto s = R"({HIDDEN})";',
        f'auto s = u8R"x( )" {HIDDEN} )x";',
        f"#define K {HIDDEN}",
        f"#define K \\\n  {HIDDEN}",
        f"  #  define K() \\\n  {HIDDEN}",
        f"#if 0\n{HIDDEN}\n#endif",
        f"#if 0\n#if 1\n#endif\n{HIDDEN}\n#endif",
        f"#if (0) // off\n{HIDDEN}\n#elif X\n#endif",
    ],
)
def test_what_only_looks_like_an_entry(text: str) -> None:
    assert find_entries(text) == ()
    (entry,) = find_entries(f"{text}\n__global__ __aicore__ void real(GM_ADDR x) {{}}")
    assert (entry.name, entry.line) == ("real", text.count("\n") + 2)


def test_the_other_branch_of_if_0_counts() -> None:
    text = "#if 0\nint a;\n#else\n__global__ __aicore__ void k() {}\n#endif\n"
    assert [entry.name for entry in find_entries(text)] == ["k"]


def test_a_block_of_c_linkage_and_an_unnamed_namespace_hold_entries() -> None:
    block = 'extern "C" {\n__global__ __aicore__ void a(GM_ADDR x)\n{ if (x) { } }\n}\n'
    text = block + "namespace {\n__global__ void b() {}\n}"
    assert [(entry.name, entry.line) for entry in find_entries(text)] == [("a", 2), ("b", 6)]


def test_digit_separators_are_not_character_literals() -> None:
    assert only("int n = 1'000'000;\n__global__ __aicore__ void k(uint32_t n) {}")


def test_a_declaration_and_its_definition_are_one_entry() -> None:
    text = "__global__ __aicore__ void k(GM_ADDR x);\n\n__global__ __aicore__ void k(GM_ADDR y) {}"
    (entry,) = find_entries(text)
    assert (entry.line, entry.params[0].name) == (3, "y")


def test_a_declaration_alone_can_be_launched() -> None:
    assert [entry.name for entry in find_entries('__global__ __aicore__ void k(GM_ADDR x);\n#include "k.h"')] == ["k"]


def test_line_of_the_name_behind_continued_lines() -> None:
    text = "#define A \\\n 1\r\n/* two\n lines */ __global__ __aicore__\nvoid\nk(GM_ADDR x) {}"
    (entry,) = find_entries(text)
    assert entry.line == 6


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("template <typename T>\n__global__ __aicore__ void k(GM_ADDR x) {}", "template"),
        ("template <int N = (3 > 2), class... A>\n__global__ __aicore__ void k(GM_ADDR x) {}", "template"),
        ("template\n__global__ __aicore__ void k<float>(GM_ADDR x);", "template"),
    ],
)
def test_what_cannot_be_launched_gets_a_note(text: str, reason: str) -> None:
    found = scan(text + "\n__global__ __aicore__ void good(GM_ADDR x) {}")
    assert [entry.name for entry in found.entries] == ["good"]
    assert [note.line for note in found.notes] == [2]
    assert reason in found.notes[0].text
    with pytest.raises(CompileError, match=reason) as caught:
        require_entries(text, "my.cpp")
    assert caught.value.where == "my.cpp:2"


def test_an_entry_in_a_namespace_has_its_full_name() -> None:
    text = "namespace a::b {\nnamespace {\n__global__ __aicore__ void k(GM_ADDR x) {}\n}\n}"
    assert [entry.name for entry in find_entries(text)] == ["a::b::k"]


@pytest.mark.parametrize(
    ("head", "given", "name", "ctypes"),
    [
        ("typename T, int N", "float, 16", "k<float, 16>", ["GM_ADDR", "float"]),
        ("class T = half, bool B = (3 > 2)", "k<int32_t>", "k<int32_t>", ["GM_ADDR", "int32_t"]),
        (
            "class T, class U",
            "std::pair<int, T>, float",
            "k<std::pair<int, T>, float>",
            ["GM_ADDR", "std::pair<int, T>"],
        ),
    ],
)
def test_a_template_becomes_an_entry_by_its_arguments(head: str, given: str, name: str, ctypes: list[str]) -> None:
    text = f"template <{head}>\n__global__ __aicore__ void k(GM_ADDR x, T value) {{}}"
    (entry,) = require_entries(text, "k.cpp", given)
    assert (entry.name, [param.ctype for param in entry.params], entry.line) == (name, ctypes, 2)


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("__global__ __aicore__ void k(GM_ADDR x) {}", "float", "no kernel template"),
        ("template <class T> __global__ __aicore__ void k(GM_ADDR x) {}", "float, 2", "does not fit k<T>"),
        ("template <class T> __global__ __aicore__ void k(GM_ADDR x) {}", "float>(0); }", "does not fit k<T>"),
        (
            "template <class T> __global__ __aicore__ void k(GM_ADDR x) {}\n"
            "template <class T> __global__ __aicore__ void m(GM_ADDR x) {}",
            "float",
            "several",
        ),
    ],
)
def test_template_arguments_that_fit_nothing(text: str, given: str, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        require_entries(text, "k.cpp", given)


def test_a_template_helper_does_not_make_the_next_entry_a_template() -> None:
    text = "template <class T> T f(T a) { return a < T(1) ? a : T(2); }\ntemplate <class T> struct S;\n"
    assert [entry.name for entry in find_entries(text + "__global__ __aicore__ void k() {}")] == ["k"]


def test_a_file_without_entries_says_what_was_looked_for() -> None:
    with pytest.raises(CompileError, match=r"my\.cpp has no kernel entry") as caught:
        require_entries("void f() {}", "my.cpp")
    assert "__global__ __aicore__ void" in caught.value.hint
    assert caught.value.exit_code == 4


@given(st.text(alphabet="_globalk <>(){}[]\"'/*\\\n#if0R;,:template", max_size=200))
def test_any_text_is_read_to_its_end(text: str) -> None:
    for entry in find_entries(text):
        assert 1 <= entry.line <= text.count("\n") + 1


# --- macros, conditions, aliases -------------------------------------------------------------------------------------

ADDRESS, NUMBER = f"{K}k(GM_ADDR x) {{}}\n", f"{K}k(int n) {{}}\n"


@pytest.mark.parametrize(
    ("condition", "headers", "holds"),
    [
        ("if WIDE", (), False),
        ("if WIDE", ("#define WIDE 1\n",), True),
        ("if WIDE > 2 && defined(WIDE)", ("#define TWICE 2\n", "#define WIDE (TWICE * 2)\n"), True),
        ("ifdef WIDE", ("#ifdef NO\n#define WIDE\n#endif\n",), False),
        ("ifndef WIDE", (macro_lines(["WIDE"]),), False),
        ("if WIDE == 4", (macro_lines(["WIDE=4"]), "#ifndef WIDE\n#define WIDE 8\n#endif\n"), True),
        ("if __NPU_ARCH__ == 2201", (), True),
        ("if ORIG_DTYPE_X == DT_FLOAT", (macro_lines(["ORIG_DTYPE_X=DT_FLOAT16"]),), False),
        ("if __has_include(<x.h>)", (), True),  # nobody knows, and the first branch is the likely one
    ],
)
def test_only_the_active_branch_has_entries(condition: str, headers: tuple[str, ...], holds: bool) -> None:
    (entry,) = find_entries(f"#{condition}\n{ADDRESS}#else\n{NUMBER}#endif\n", headers)
    assert (entry.line, entry.params[0].name) == ((2, "x") if holds else (4, "n"))


def test_an_entry_that_only_an_inactive_branch_has_is_named() -> None:
    text = f"#define K(n) \\\n {K} n\n/*\n*/\n#ifdef NO\n{ADDRESS}#endif\n"
    assert scan(text).notes == (Note(6, "#if hides what is marked __global__"),)
    with pytest.raises(CompileError, match="#if hides") as caught:
        require_entries(text, "my.cpp")
    assert caught.value.where == "my.cpp:6"


@pytest.mark.parametrize(
    ("text", "headers", "line", "name", "params"),
    [
        ("#define ARGS GM_ADDR x, int n\n" + K + "k(ARGS) {}", (), 2, "k", "xn"),
        (K + "k(ARGS) {}", ("#pragma once\n#define ARGS GM_ADDR x\n",), 1, "k", "x"),
        ("KERNEL(\n k,\n GM_ADDR x,\n int n)\n{}", (f"#define KERNEL(a, ...) {K}a(__VA_ARGS__)\n",), 1, "k", "xn"),
        (f"#define F(n) \\\n  {K}n##_k(GM_ADDR x)\nF(add) {{}}", (), 3, "add_k", "x"),
        (f"#define F(n) {K}n(int a) {{}}\n#define G F\nG(k)\n", (), 3, "k", "a"),
        ("#define __kernel__ __global__ __aicore__\n__kernel__ void k(int n) {}", (), 2, "k", "n"),
        ("#define __aicore__ [aicore]\n#define __global__\n" + ADDRESS, (), 3, "k", "x"),
        ("#define k k_1\n" + ADDRESS, (), 2, "k_1", "x"),
    ],
)
def test_macros_are_expanded_on_the_line_where_they_stand(
    text: str, headers: tuple[str, ...], line: int, name: str, params: str
) -> None:
    (entry,) = find_entries(text, headers)
    assert (entry.line, entry.name, "".join(one.name for one in entry.params)) == (line, name, params)


@pytest.mark.parametrize(
    ("declared", "ctype", "kind"),
    [
        ("using A = GM_ADDR;", "A", TENSOR),
        ("using A = B; typedef C B; using C = __gm__ float*;", "A", TENSOR),
        ("typedef __gm__ uint8_t* A;", "const A", TENSOR),
        ("typedef float A[8];", "A", TENSOR),
        ("template <class T> using A = __gm__ T*;", "A<half>", TENSOR),
        ("namespace n { struct S { using A = GM_ADDR; }; }", "n::S::A", TENSOR),
        ("namespace n { using A = GM_ADDR; } using namespace n;", "A", TENSOR),
        ("using A = int;", "A", VALUE),
        ("using A = B; using B = A;", "A", VALUE),
        ("namespace n { using A = GM_ADDR; } using A = int;", "A", VALUE),
        ("struct A { GM_ADDR x; };", "A", VALUE),
        ("", "A", VALUE),
    ],
)
def test_an_alias_of_an_address_is_a_tensor(declared: str, ctype: str, kind: ArgKind) -> None:
    assert only(f"{declared}\n{K}k({ctype} x) {{}}") == (Param(ctype, "x", kind),)
    (entry,) = find_entries(f"{K}k({ctype} x) {{}}", (f"#ifndef H\n#define H\n{declared}\n#endif\n",))
    assert entry.params == (Param(ctype, "x", kind),)


def test_a_parameter_of_a_template_hides_an_alias_of_its_name() -> None:
    (template,) = scan(f"using T = GM_ADDR;\ntemplate <class T> {K}k(T x) {{}}").templates
    assert template.params == (Param("T", "x", VALUE),)


def test_the_names_of_templates_parameters() -> None:
    head = "typename, int, class T, auto V, template <class> class W, Concept C, int... Ns, bool B = (3 > 2)"
    assert scan(f"template <{head}> {K}k() {{}}").templates[0].heads == (
        "typename", "int", "T", "V", "W", "C", "Ns", "B",
    )  # fmt: skip


# --- code that does not parse ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [f"{K}k(GM_ADDR x", f"{K}k(GM_ADDR x) {{ int a = ", f"{K}k(GM_ADDR 5x, int n) {{}}"])
def test_nothing_is_claimed_inside_a_syntax_error(text: str) -> None:
    found = scan(text)
    assert (found.entries, found.broken) == ((), True)
    assert [entry.name for entry in find_entries(f"{K}good() {{}}\n{text}")] in ([], ["good"])
    with pytest.raises(CompileError, match="a syntax error hides"):
        require_entries(text, "my.cpp")
    assert entries_to_compile(text, "my.cpp") == ()


def test_half_typed_code_gives_what_parsed() -> None:
    found = scan(f"{ADDRESS}{K}half(GM_ADDR\n")
    assert ([entry.name for entry in found.entries], found.broken) == (["k"], False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x" * (2 << 20), r"C\+\+ source of 2,097,\d+ bytes is not read: the limit is 1,048,576"),
        ("#define A0 x x\n" + "".join(f"#define A{i + 1} A{i} A{i}\n" for i in range(40)) + "A40\n", "grows beyond"),
        ("#define F(x) x\n" + "F(" * 50_000, "grows beyond"),
    ],
)
def test_text_that_is_too_long_is_refused_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(CompileError, match=f"^my.cpp has no kernel entry that can be launched: .*{said}"):
        require_entries(text + ADDRESS, "my.cpp")


@pytest.mark.parametrize(
    "text",
    ["{" * 20_000 + ADDRESS, "int a = " + "(" * 20_000, "namespace a {" * 5000 + ADDRESS, "\0" + ADDRESS,
     "#if 1\n" * 2000 + ADDRESS, 'auto s = R"x(' + ADDRESS, "/*" + ADDRESS, "__global__ " * 5000,
     "".join(f"using A{i} = A{i + 1};" for i in range(500)) + f"{K}k(A0 x) {{}}"],
)  # fmt: skip
def test_odd_text_ends_soon(text: str) -> None:
    assert len(scan(text).entries) <= 1


# --- drawn texts -----------------------------------------------------------------------------------------------------

NOISE = st.sampled_from(
    [
        "",
        "// __global__ void n() {}",
        "/* a\n b */",
        'auto a = "x\\"(";',
        'auto c = R"x(\n#if 0\n)x";',
        "#define M(a) \\\n  (a)",
        "int b = 1'0; \\\nint d;",
        "int e = M(\n1);",
        f"#if 0\n{HIDDEN}\n#endif",
        f"#ifdef NEVER\n{HIDDEN}\n#elif 1\n#else\n{HIDDEN}\n#endif",
        "template <class T> struct S { T t[3]; };",
        "namespace n { void f(int k) { k(); } }",
        "using B = int*;",
        "#pragma once",
    ]
)


@given(st.lists(NOISE, max_size=8), st.lists(NOISE, max_size=3), st.booleans())
def test_declarations_around_an_entry_move_its_line_and_nothing_else(
    before: list[str], after: list[str], by_macro: bool
) -> None:
    written = "ENTRY(k,\n GM_ADDR x, B n)" if by_macro else K + "\\\nk(GM_ADDR x, B n)"
    head = "using B = unsigned;\n".join(["", "#define ENTRY(name, ...) __global__ void name(__VA_ARGS__)\n"])
    above = "".join(f"{one}\n" for one in [head, *(one for one in before if one != "using B = int*;")])
    (entry,) = find_entries(above + written + " {}\n" + "\n".join(after))
    assert (entry.name, entry.line) == ("k", above.count("\n") + (1 if by_macro else 2))
    assert [param.name for param in entry.params] == ["x", "n"]
    assert entry.params[0].kind is TENSOR
    assert entry.params[1].kind is VALUE or "using B = int*;" in after
