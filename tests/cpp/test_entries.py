"""Kernel entries in source text: what is one, what only looks like one, and where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gn_tutorial.abi.structs import ArgKind
from gn_tutorial.cpp.entries import Param, find_entries, require_entries, scan
from gn_tutorial.errors import ArgumentError, CompileError

TENSOR, VALUE = ArgKind.TENSOR, ArgKind.VALUE


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
        ("TYPE_OF(x, 1) p", "TYPE_OF(x, 1)", "p", VALUE),
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


NOISE = st.sampled_from(
    [
        "\n",
        "// __global__ void n() {}\n",
        "/* a\n b */",
        'auto a = "x\\"(";',
        "#define M(a) \\\n  (a)\n",
        "int b = 1'0;",
        "\\\n",
    ]
)


@given(st.lists(NOISE, max_size=8))
def test_noise_before_an_entry_moves_its_line_and_nothing_else(noise: list[str]) -> None:
    before = "".join(noise) + "\n"
    (entry,) = find_entries(before + "__global__ __aicore__ void k(GM_ADDR x, uint32_t n) {}")
    assert entry.line == before.count("\n") + 1
    assert [param.kind for param in entry.params] == [TENSOR, VALUE]
