"""Structs read from text, beside what g++ says of their fields: offsets, sizes, the size of the whole."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from gn_tutorial.compiler.toolchain import find_compiler
from gn_tutorial.cpp.structs import Struct, constant, fields_read, injected_header, read_struct, struct_members
from gn_tutorial.cpp.syntax import MOST_BYTES

#: The form's name -> its text, and the names of the fields of T as they are printed.
FORMS = {
    "plain": ("struct T { uint32_t a; float b[2]; };", "a b"),
    "alignas": ("struct alignas(8) T { uint32_t a; };", "a"),
    "nested": ("struct In { int32_t u; }; struct T { uint32_t a; In in; };", "a in.u"),
    "inline nested": ("struct T { struct { uint32_t u, v; } in; uint32_t a; };", "in.u in.v a"),
    "template": ("struct T { std::array<uint32_t, 4> a; uint32_t b; };", "a b"),
    "method": ("struct T { uint32_t a; uint32_t Rows() const { return a; } uint32_t b; };", "a b"),
    "static": ("struct T { static constexpr uint32_t kMost = 4; uint32_t a[kMost]; };", "a"),
    "comma init": ("struct T { uint32_t a = 1, b{2}; };", "a b"),
    "slash in string": ('constexpr const char* kUrl = "http://x"; struct T { uint32_t a; };', "a"),
    "attribute": ("struct T { [[maybe_unused]] uint32_t a; };", "a"),
    "derived": ("struct B { uint32_t z; }; struct T : B { uint32_t a; };", "z a"),
    "if": ("#define WIDE 0\nstruct T { uint32_t a;\n#if WIDE\n uint64_t n;\n#else\n uint32_t n;\n#endif\n};", "a n"),
    "enum field": ("enum class M : uint8_t { A, B }; struct T { M mode; uint32_t a; };", "mode a"),
    "using": ("using U = uint32_t; struct T { U a; };", "a"),
    "const expr": ("constexpr int N = 8 / 2; struct T { uint32_t a[N]; };", "a"),
    "sizeof": ("struct T { uint32_t a[sizeof(float)]; };", "a"),
    "shift": ("struct T { uint32_t a[1 << 3]; };", "a"),
    # Forms beyond those that the course met first.
    "dimensions": ("struct T { uint8_t q; int64_t a[2][3]; uint16_t b[2][2][2]; };", "q a b"),
    "array of structs": (
        "struct In { uint8_t u; double v; }; struct T { In in[2]; };",
        "in[0].u in[0].v in[1].u in[1].v",
    ),
    "arrays of std::array": ("struct T { std::array<std::array<int16_t, 3>, 2> a[2]; };", "a"),
    "alignas of fields": ("struct T { uint8_t a; alignas(16) uint32_t b; alignas(double) char c; };", "a b c"),
    "typedef": ("typedef unsigned long long W, V[3]; struct T { uint8_t q; W a; V b; };", "q a b"),
    "struct by typedef": ("typedef struct { uint8_t x; } In; struct T { uint32_t a; In in; };", "a in.x"),
    "alias of an array": ("using V = uint16_t[3]; struct T { V a[2]; uint8_t b; };", "a b"),
    "scopes": (
        "constexpr int N = 1; namespace a { constexpr int N = 2; namespace b { struct T { uint8_t a[N]; }; } }"
        " using a::b::T;",
        "a",
    ),
    "namesake in another scope": (
        "namespace x { struct In { double d; }; } namespace y { struct In { char c; }; struct T { In in; }; }"
        " using y::T;",
        "in.c",
    ),
    "enum without a base": (
        "enum E { A = 1, B }; enum W { C = 1ull << 40 }; struct T { E e; W w; char a[B]; };",
        "e w a",
    ),
    "enumerators": ("enum class M { A, B = 5, C, D = C * 2 }; struct T { char a[static_cast<int>(M::D)]; };", "a"),
    "expressions": (
        "#define ROWS (4 + 2)\n#define TWICE(x) ((x) * 2)\nconst uint32_t kBlock{32};\n"
        "struct T { char a[ROWS / 4 * kBlock"
        " % 7 | 8]; char b[~0u >> 28]; char c[-7 / 2 + 5]; char d[TWICE(ROWS)]; char e[(1 ? 0x1'0 : 010) ^ 1]; };",
        "a b c d e",
    ),
    "alignof": ("struct T { char a[alignof(double) + sizeof(uint32_t[3])]; };", "a"),
    "macro that declares": ("#define COUNTS uint32_t n; uint64_t m;\nstruct T { uint8_t a; COUNTS };", "a n m"),
    "elif": (
        "#define K 3\n#ifndef K\n#error no\n#elif K == 2 || !defined(K)\nstruct T { int z; };\n"
        "#elif K > 2 && defined K\n"
        "struct T { uint8_t y; };\n#else\nstruct T { double x; };\n#endif\n",
        "y",
    ),
    "head behind if": ("struct B { int b; };\n#if 1\nstruct T : B {\n#else\nstruct T {\n#endif\n int a; };", "b a"),
    "guard": ("#ifndef T_H_\n#define T_H_\n#ifdef __cplusplus\nextern \"C\" {\n#endif\nstruct T { int a; };\n"
              "#ifdef __cplusplus\n}\n#endif\n#endif\n", "a"),
    "splice": ("#define LONG \\\n 3\nstruct T { char a[LONG]; // note \\\n int hidden;\n int b; };", "a b"),
    "comments": ("struct T { int a; /* int x; */ char c = '\"'; // int y;\n char d = '{'; int b; };", "a c d b"),
    "pack": ("#pragma pack(push, 1)\nstruct In { char a; int b; };\n#pragma pack(pop)\n"
             "struct T { char z; In in; double d; };",
             "z in.a in.b d"),
    "pack and alignas": ("#pragma pack(push, 8)\nstruct alignas(8) T { uint8_t a; long double_; uint8_t b; };\n"
                         "#pragma pack(pop)", "a double_ b"),
    "members of all kinds": (
        "struct T { public: using X = int; enum { kA, kB = 3 }; static int s; T() = default; explicit T(int); ~T();"
        " T& operator=(const T&) = default; operator bool() const; const uint32_t* Get() const;"
        " template <class U> void f();"
        " struct N { char c; }; static_assert(sizeof(int) == 4); friend struct Q; X a; char b[kB]; N n; mutable int m;"
        " uint32_t (p)[2]; };",
        "a b n.c m p",
    ),
    "bases": ("struct A { int a; }; struct E {}; struct T : public A, E { struct In : A { char c; } in; bool b; };",
              "a in.a in.c b"),
    "empty": ("struct E {}; struct T { E e; int a; };", "a"),
}  # fmt: skip
#: Forms of which nothing is said.
UNSETTLED = {
    "pointer": "struct T { int* a; };",
    "function pointer": "struct T { int (*f)(); };",
    "reference": "struct T { int& a; };",
    "union": "union U { int a; float b; }; struct T { U u; };",
    "anonymous union": "struct T { union { int a; float b; }; };",
    "bit-field": "struct T { uint32_t a : 3; };",
    "virtual": "struct T { virtual void f(); int a; };",
    "virtual base": "struct B { int b; }; struct T : virtual B { int a; };",
    "packed": "struct __attribute__((packed)) T { char a; int b; };",
    "aligned": "struct T { char a; int b __attribute__((aligned(16))); };",
    "no_unique_address": "struct E {}; struct T { [[no_unique_address]] E e; int a; };",
    "padded base": "struct B { int a = 0; char b = 0; }; struct T : B { char c; };",
    "unknown type": "struct T { Elsewhere a; };",
    "unknown number": "struct T { int a[kElsewhere]; };",
    "template": "template <class X> struct T { X a; };",
    "of a template": "template <class X> struct V { X a; }; struct T { V<int> v; };",
    "itself": "struct T { T t; };",
    "in a circle": "struct T; struct U { T t; }; struct T { U u; };",
    "constants in a circle": "extern const int A; const int B = A; const int A = B; struct T { int a[A]; };",
    "alias of itself": "using A = A; struct T { A a; };",
    "macro of itself": "#define N N\nstruct T { int a[N]; };",
    "macro that is missing": "struct T { int a; FIELD(b); };",
    "word that is missing": "struct T { int a; FIELD };",
    "half-typed": "struct T { uint32_t a; uint32_t b[ ; };",
    "open": "struct T { uint32_t a;",
    "no length": "struct T { int a[0]; int b[]; };",
    "division by zero": "struct T { int a[4 / 0]; };",
    "overflow": "struct T { char a[2147483647 + 1]; };",
    "too large": "struct In { char a; int b; }; struct T { In in[1000000000]; };",
    "condition": "struct T { int a;\n#if __has_include(<x>)\n int b;\n#endif\n};",
    "ambiguous name": "namespace a { const int N = 1; } namespace b { const int N = 2; } struct T { int x[N]; };",
    "name of a function": "void f() { const int N = 1; } struct T { int x[N]; };",
    "class of the name": "template <> struct T<int> { int a; };",
    "nul": "struct T { int a; \0 int b; };",
    "macro bomb": "#define A0 0\n" + "".join(f"#define A{n} A{n - 1} + A{n - 1}\n" for n in range(1, 31))
    + "struct T { int a[A30]; };",
    "nested expression": f"struct T {{ int a[{'(' * 10_000}1{')' * 10_000}]; }};",
    "nested structs": "struct T {" * 10_000,
    "long text": "int a;\n" * MOST_BYTES + "struct T { int a; };",
    "long sum": f"struct T {{ int a[{'1 + ' * 10_000}1]; }};",
    "long chain": "".join(f"using A{n} = A{n + 1};" for n in range(10_000)) + "using A10000 = int; struct T { A0 a; };",
    "open comment": "struct T { int a; /* };",
    "open string": 'struct T { int a; }; const char* s = "',
    "open #if": "struct T { int a;\n#if 0\n};",
}  # fmt: skip


def read(text: str) -> Struct | None:
    return read_struct("T", {Path("t.h"): text})


HEAD = """\
#include <array>
#include <cstdint>
#include <cstdio>
#include <type_traits>
template <class X> struct ElementOf { using type = X; };
template <class X, std::size_t N> struct ElementOf<X[N]> : ElementOf<X> {};
template <class X, std::size_t N> struct ElementOf<std::array<X, N>> : ElementOf<X> {};
template <class X> constexpr int Kind() {
  if constexpr (std::is_enum_v<X>) return Kind<std::underlying_type_t<X>>();
  else if constexpr (std::is_floating_point_v<X>) return 2;
  else return std::is_same_v<X, bool> ? 3 : std::is_signed_v<X>;
}
template <class F> void Show(const char* whole, const F& field) {
  using E = typename ElementOf<F>::type;
  std::printf(" %zu,%zu,%zu,%d", reinterpret_cast<const char*>(&field) - whole, sizeof(F), sizeof(E), Kind<E>());
}
"""
#: Macros of the forms, which share a program.
MACROS_OF_FORMS = "K N T_H_ LONG ROWS TWICE WIDE COUNTS".split()


def measured(folder: Path, forms: dict[str, tuple[str, str]]) -> dict[str, list[tuple[int, int, int, int]]]:
    """What g++ says of each form's fields: offset, bytes, bytes of an element, kind; last, of the whole struct."""
    parts = [HEAD]
    for index, (text, names) in enumerate(forms.values()):
        (folder / f"form{index}.h").write_text(text + "\n")
        shown = "".join(f" Show(whole, value.{name});" for name in names.split())
        parts.append(
            f'namespace form{index} {{\n#include "form{index}.h"\n'
            f"void Print() {{ static T& value = *new T; auto whole = reinterpret_cast<const char*>(&value);{shown}"
            f' std::printf(" %zu,%zu,0,0\\n", sizeof(T), sizeof(T)); }}\n}}\n'
        )
        parts += [f"#undef {name}\n" for name in MACROS_OF_FORMS]
    calls = " ".join(f"form{index}::Print();" for index in range(len(forms)))
    (folder / "main.cpp").write_text("".join([*parts, f"int main() {{ {calls} }}\n"]))
    program = folder / "main"
    # "members of all kinds" has a constructor without a body: what is not called is left out.
    command = [*find_compiler().argv, "-std=c++20", "-w", "-ffunction-sections", "-Wl,--gc-sections", "-o", program]
    subprocess.run([*command, folder / "main.cpp"], check=True, capture_output=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    said = [[tuple(map(int, one.split(","))) for one in line.split()] for line in lines]
    return dict(zip(forms, said, strict=True))


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[int, int, int, int]]]:
    return measured(tmp_path_factory.mktemp("forms"), FORMS)


@pytest.mark.parametrize("form", FORMS)
def test_the_layout_is_that_of_the_compiler(form: str, truth: dict) -> None:
    text, names = FORMS[form]
    struct = read(text)
    assert struct is not None
    assert [one.name for one in struct.fields] == names.split()
    kinds = {"u": 0, "i": 1, "f": 2, "b": 3}
    found = [(one.offset, one.nbytes, one.dtype.itemsize, kinds[one.dtype.kind]) for one in struct.fields]
    assert [*found, (struct.nbytes, struct.nbytes, 0, 0)] == truth[form]


@pytest.mark.parametrize("form", FORMS)
def test_the_members_are_the_outermost_names(form: str) -> None:
    text, names = FORMS[form]
    outer = dict.fromkeys(name.partition(".")[0].partition("[")[0] for name in names.split())
    assert [one for one in struct_members("T", [text]) if one != "e"] == [one for one in outer if one != "e"]


@pytest.mark.parametrize("form", UNSETTLED)
def test_what_the_text_does_not_settle_is_not_read(form: str) -> None:
    started = time.process_time()
    found = read(UNSETTLED[form])
    assert found is None or form == "open string"
    assert time.process_time() - started < 30


def test_namespaces_may_be_nested_up_to_the_bound_of_texts() -> None:
    found = read("namespace a {" * 200 + "struct T { int a; };" + "}" * 200)
    assert read("namespace a {" * 10_000 + "struct T { int a; };" + "}" * 10_000) is None
    assert found is not None
    assert found.nbytes == 4


MACROS = """\
#include "register/tilingdata_base.h"
constexpr uint32_t kCores = 4;
namespace optiling {
BEGIN_TILING_DATA_DEF(Part)
  TILING_DATA_FIELD_DEF(uint8_t, few);  // a comment, with a comma
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(PartOp, Part)
BEGIN_TILING_DATA_DEF(Whole)
  TILING_DATA_FIELD_DEF(uint8_t, flag)
  TILING_DATA_FIELD_DEF_ARR(int64_t, kCores * 2, rows);
  TILING_DATA_FIELD_DEF(float, eps);
  TILING_DATA_FIELD_DEF_STRUCT(Part, part);
END_TILING_DATA_DEF;
}
"""


def test_macro_structs_are_aligned_to_eight_bytes() -> None:
    struct = read_struct("Whole", {Path("t.h"): MACROS})
    assert struct is not None
    places = [(one.name, one.dtype.str[1:], one.count, one.offset) for one in struct.fields]
    assert places == [("flag", "u1", 1, 0), ("rows", "i8", 8, 8), ("eps", "f4", 1, 72), ("part.few", "u1", 1, 80)]
    assert struct.nbytes == 88


def test_the_injected_header_has_the_macro_structs_with_numbers_for_names() -> None:
    header = injected_header("Op", "Whole", {Path("t.h"): MACROS})
    assert header is not None
    assert header.index("BEGIN_TILING_DATA_DEF(Part)") < header.index("BEGIN_TILING_DATA_DEF(Whole)")
    assert "TILING_DATA_FIELD_DEF_ARR(int64_t, 8, rows);\nTILING_DATA_FIELD_DEF(float, eps);" in header
    assert header.endswith("REGISTER_TILING_DATA_CLASS(Op, Whole)\n}\n")
    assert injected_header("Op", "Whole", {Path("t.h"): "struct Whole { int a; };"}) is None


def test_names_are_found_in_other_texts_too() -> None:
    texts = {
        Path("op_host/op.cpp"): "namespace optiling { struct T { Row rows[kRows]; char c[BUFFERS]; }; }",
        Path("sizes.h"): "struct Row { float v; };\n#define BUFFERS 2\nconstexpr int kRows = BUFFERS + 1;\n",
    }  # fmt: skip
    struct = read_struct("T", texts)
    assert struct is not None
    assert [one.name for one in struct.fields] == ["rows[0].v", "rows[1].v", "rows[2].v", "c"]
    assert constant("kRows", texts) == 3
    assert constant("BUFFERS", texts) == 2
    assert constant("missing", texts) is None
    assert constant("a;", texts) is None


def test_a_plain_struct_comes_before_one_by_macros() -> None:
    texts = {Path("a.h"): "BEGIN_TILING_DATA_DEF(T)\nTILING_DATA_FIELD_DEF(int, a);\nEND_TILING_DATA_DEF;",
             Path("b.h"): "struct T { char b; };"}  # fmt: skip
    struct = read_struct("T", texts)
    assert struct is not None
    assert [one.name for one in struct.fields] == ["b"]


READS = """using Alias = TilingData;
typedef const Alias Other;
template <typename T> struct Kernel {{
  struct Own {{ int n; }};
  void Run(const T& given, Other& other, __gm__ TilingData* raw, uint32_t plain) {{ {read} }}
  Own own; const TilingData* kept; DataCopyExtParams params;
}};
"""


@pytest.mark.parametrize(
    ("read", "is_field"),
    [
        ("Use(given.n);", True),
        ("Use(other.n);", True),
        ("Use(raw->n); raw->n = 3;", True),
        ("raw->n += 3;", True),
        ("Use(this->kept->n);", True),
        ("auto t = *kept; Use(t.n);", True),
        ("auto t = (const TilingData*)raw; Use(t->n);", True),
        ("auto* t = reinterpret_cast<__gm__ TilingData*>(raw); Use(t->n);", True),
        ("GET_TILING_DATA(t, raw); Use(t.n);", True),
        ("GET_TILING_DATA_MEMBER(TilingData, n, t, raw); Use(t);", True),
        ("Use(Of(raw).n);", True),
        ("raw->n = 3;", False),
        ("Use(own.n); Use(this->own.n);", False),
        ("Use(params.n);", False),
        ("auto p = DataCopyParams{}; Use(p.n);", False),
        ("struct TilingDataV2 t; Use(t.n);", False),
        ("using T = DataCopyParams; T t; Use(t.n);", False),
        ('Use("raw->n"); // raw->n\n /* raw->n */', False),
        ("\n#if 0\nUse(raw->n);\n#endif\n", False),
    ],
)
def test_a_field_is_read_of_the_struct_and_of_no_other_type(read: str, is_field: bool) -> None:
    text = READS.format(read=read)
    assert ("n" in fields_read("TilingData", text, {Path("k.cpp"): text})) == is_field
