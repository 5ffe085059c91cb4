"""C++ that CANN does not take, found in a source's text: what counts as device code, each rule, and what is no finding.

The pairs of ``tests/programs/language`` hold each rule in a launch.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import build_kernel
from gn_tutorial.cpp.portability_rules import OwnText, find, own_text
from gn_tutorial.errors import CompileError, KernelFault
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

ENTRY = 'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) {'


def found(text: str, entry: str = "k") -> list[tuple[str, int]]:
    own = OwnText(text, tuple(("k.cpp", line) for line in range(1, text.count("\n") + 2)))
    return [(one.finding.id.removeprefix("language-"), one.line) for one in find(own) if one.entry == entry]


def test_host_code_of_the_same_file_is_free() -> None:
    host = """
#include <vector>
struct Golden { std::vector<float> values; virtual ~Golden() {} };
static int launches = 0;
double Mean(const std::vector<float>& all) { return all.empty() ? 0.0 : all[0] + ++launches; }
int32_t main(int argc, char* argv[]) {
  try { Golden* one = new Golden; delete one; } catch (...) { throw; }
  return Mean({1.0f}) > std::max(1, 2) ? main(argc, argv) : 0;
}
"""
    assert found(f"{host}{ENTRY} Duplicate(values, 1.0f, 8); }}\n") == []


@pytest.mark.parametrize("head", ["virtual __aicore__ inline void", "__aicore__ inline virtual void"])
def test_a_virtual_member_of_a_class_of_the_file(head: str) -> None:
    text = f"""class Step {{
 public:
  {head} Apply(int* x) {{ *x += 1; }}
}};
class Op {{
 public:
  __aicore__ inline void Process() {{ int x = 0; step_.Apply(&x); }}
 private:
  Step step_;
}};
{ENTRY} Op op; op.Process(); }}
"""
    assert found(text) == [("virtual", 3)]


def test_what_an_entry_reaches_is_found_with_it_alone() -> None:
    text = """__aicore__ inline void One() { int* p = new int[3]; }
template <typename T> class Kernel {
 public:
  __aicore__ inline Kernel() {}
  __aicore__ inline void Init();
 private:
  __aicore__ inline void Step() { One(); }
};
template <typename T> __aicore__ inline void Kernel<T>::Init() { this->Step(); throw 1; }
extern "C" __global__ __aicore__ void k(GM_ADDR x) { Kernel<float> op; op.Init(); }
extern "C" __global__ __aicore__ void other(GM_ADDR x) { One(); }
extern "C" __global__ __aicore__ void third(GM_ADDR x) { int Step = 3; }
"""
    assert found(text) == [("heap", 1), ("exception", 9)]
    assert found(text, "other") == [("heap", 1)]
    assert found(text, "third") == []


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("int F(int n) { return n > 0 ? F(n - 1) : 0; }", ["recursion"]),
        ("int G(int n);\n__aicore__ int F(int n) { return G(n); }\n__aicore__ int G(int n) { return F(n); }",
         ["recursion", "recursion"]),
        # Another function of the name: an overload, a base's, another object's, a template's next instance, a pack.
        ("float F(float a) { return a; }\n__aicore__ float F(half a) { return F((float)a); }", []),
        ("template <int N> __aicore__ int F() { if constexpr (N > 0) return F<N - 1>(); return 0; }", []),
        ("int F() { return 0; }\ntemplate <class A, class... B> __aicore__ int F(A a, B... b) { return F(b...); }", []),
        ("struct A { __aicore__ void F() {} };\nstruct B : A { A a; __aicore__ void F() { a.F(); A::F(); } };", []),
    ],
)  # fmt: skip
def test_recursion(code: str, wanted: list[str]) -> None:
    assert [name for name, _ in found(f"__aicore__ {code}\n{ENTRY} B b; b.F(); F(3); }}")] == wanted


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("std::vector<int> v;", "std"),
        ("auto n = std::min(1, 2);", "std"),
        ("std::swap(first, second);", "std"),
        ("auto n = std::get<0>(std::make_tuple(1, 2));", "std"),
        ("constexpr bool same = std::is_same_v<float, double>; auto n = std::numeric_limits<int32_t>::max();", ""),
        ("auto n = AscendC::Std::min(1, 2); auto m = lib::std::min(1, 2);", ""),
        ("int* p = (int*)malloc(8);", "heap"),
        ("new (place) Thing(); alloc.free(p);", ""),
        ("if (typeid(a) == typeid(b)) return;", "typeid"),
        ("static int calls = 0;", "global"),
        ("static constexpr int kMost = 4; const static int least = 1; constexpr static float half_one = 0.5f;", ""),
        ("float r = std::sqrt(2.0f);", "math"),
        ("float r = expf(n);", "math"),
        ("float r = sqrt(2.0f) + AscendC::Std::sqrt(2.0f);", ""),
        ("auto log = [](float v) { return v; }; float r = log(2.0f);", ""),
        ("double sum = 0;", "double"),
        ("float sum = (double)n;", "double"),
        ("constexpr double kPi = 3.14; float pi = kPi;", ""),
        ("float rows[2][64 * 64]; rows[0][0] = 1;", ""),
        ("__ubuf__ float row[9000]; __cbuf__ half tile[20000]; static float all[9000];", "global"),
        ("float rows[2][4097];", "stack"),
        ("float one[5000]; half other[8000];", "stack"),
        ("int n = 3; __ubuf__ float rows[9000]; __cbuf__ half more[2][9000];", ""),
        ("auto f = []() consteval { return 1; };", "cpp20"),
        ("auto n = std::bit_cast<int32_t>(1.0f);", "cpp20"),
        ("Params p{.a = 1}; if (p.a) [[likely]] return;", ""),  # clang takes both in C++17
        ("float* p = (float*)x;", "no-gm"),
        ("auto p = reinterpret_cast<float*>(x + 4);", "no-gm"),
        ("uint8_t* p = x;", "no-gm"),
        ("g.SetGlobalBuffer((float*)x + 4);", "no-gm"),
        ("__gm__ uint8_t* p = x;", ""),
        ("g.SetGlobalBuffer((__gm__ float*)x); auto at = (uint64_t)x; auto q = x; GM_ADDR z = x;", ""),
        ("int n = 0; memcpy(&n, x, 4);", "host-copy"),
        ("int n = 0; memcpy(&n, (__gm__ void*)x, sizeof(n));", "host-copy"),
        ("std::memset(reinterpret_cast<__gm__ float*>(y) + 4, 0, 4);", "host-copy"),
        ("auto t = (__gm__ Tiling*)x; int n = 0; memcpy(&n, &(t->n), 4);", ""),  # `auto` says no memory
        ("__gm__ Tiling* t = (__gm__ Tiling*)x; int n = 0; memcpy(&n, &(t->n), 4);", "host-copy"),
        ("__gm__ int* t = (__gm__ int*)x; int n[4]; memset(n, t[0], t[1]); memset(n, *t, 4);", ""),
        ("int n = 0, m = 1; memcpy(&n, &m, 4); float x[2]; { memset(x, 0, 8); }", ""),
        ("auto memcpy = [](GM_ADDR from) {}; memcpy(x);", ""),
        ("__ubuf__ float* p = (__ubuf__ float*)t.GetPhyAddr(); auto q = reinterpret_cast<__gm__ T*>(x);", ""),
    ],
)
def test_statements(statement: str, wanted: str) -> None:
    assert [name for name, _ in found(f"{ENTRY} {statement} }}")] == ([wanted] if wanted else [])


@pytest.mark.parametrize(
    "code",
    [
        # A variable that hides the parameter, or that only has its name.
        f"{ENTRY} float room[4]; {{ float* y = room; float* p = y; }} }}",
        f"{ENTRY} auto f = [](float* x) {{ float* p = x; }}; }}",
        f"{ENTRY} auto malloc = [](int n) {{ return n; }}; malloc(3); }}",
        f"struct P {{ __aicore__ void free(int n) {{}} __aicore__ void F() {{ free(1); }} }};\n{ENTRY} P p; p.F(); }}",
        f"template <class B> struct P : B {{ __aicore__ void Drop() {{ free(1); }} }};\n{ENTRY} P<A> p; p.Drop(); }}",
        "template <bool D> __aicore__ void F() { if constexpr (D) { int* p = new int; } }\n" + ENTRY + " F<false>(); }",
        "__aicore__ void G() { throw 1; }\n" + ENTRY + " if constexpr (false) { G(); } else { H(); } }",
        "namespace host { inline void G() { throw 1; } }\n__aicore__ void G() {}\n" + ENTRY + " G(); }",
        f"struct S {{ float n; int rows; }};\n{ENTRY} int n = 2; S s{{2, 1}}; float f = 1 / s.n; }}",
    ],
)
def test_names_mean_what_is_declared(code: str) -> None:
    assert found(code) == []


def test_a_discarded_branch_leaves_the_other_one() -> None:
    text = f"constexpr int kRows = 2;\n{ENTRY}\n if constexpr (kRows > 3) {{ new int; }} else {{\n new int; }} }}"
    assert found(text) == [("heap", 4)]


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("vector<float> v(3);", "std"),
        ("auto v = map<int, vector<float>>();", "std"),
        ("string name;", "std"),
        ("cout << 1;", "std"),
        ("sort(q, q + 3);", "std"),
        ("auto n = min(1, 2);", ""),  # the device has one
        ("int count = 3; if (count < 4 && 5 > count) return;", ""),
        ("TQue<TPosition::VECIN, 1> queue; queue.AllocTensor<float>(); auto find = [](int) {}; find(3);", ""),
        ("AscendC::fill(t, 3); op.count(3); array<int> own; distance(3);", ""),
    ],
)
def test_names_that_a_using_directive_opens(statement: str, wanted: str) -> None:
    own = "template <class T> struct array {};\n__aicore__ void distance(int n) {}\n"
    text = f"{own}{ENTRY} {statement} }}"
    assert [name for name, _ in found(f"using namespace std;\n{text}")] == ([wanted] if wanted else [])
    assert found(text) == []


def test_a_name_that_a_using_declaration_opens() -> None:
    text = f"using std::vector;\nusing std::numeric_limits;\n{ENTRY} auto n = numeric_limits<int>::max(); USE }}"
    assert found(text.replace("USE", "vector<float> v;")) == [("std", 1)]
    assert found(text.replace("USE", "")) == []


def test_globals() -> None:
    text = (
        """int counter = 0;
__gm__ uint32_t flags[16] = {0};
constexpr int kRows = 3;
struct Shared { static int calls; };
struct Later;
int unused;
"""
        + ENTRY
        + " counter++; flags[0] = kRows; Shared::calls++; Later* p; }"
    )
    assert found(text) == [("global", 1), ("global", 4)]


@pytest.mark.parametrize(("condition", "wanted"), [("IS_ON(1)", []), ("(kOn)", [("global", 10)])])
def test_fields_are_no_globals_where_the_parser_lost_a_brace(condition: str, wanted: list[tuple[str, int]]) -> None:
    text = f"""struct Op {{
  __aicore__ void Rows() {{ rows = 3; }}
  __aicore__ void Run() {{
    if constexpr (kWay == 1) {{
      if {condition} {{ Use(1); }} else {{ Use(2); }}
    }} else if constexpr (kWay == 2) {{ if {condition} {{ Use(rows); }} else {{ Use(2); }} }}
  }}
  uint32_t rows;
}};
uint32_t calls;
{ENTRY} Op op; op.Rows(); op.Run(); calls++; }}
"""
    assert found(text) == wanted


def test_a_macro_before_a_function_declares_no_variable() -> None:
    head = "template <class T>\n__simt_vf__ __aicore__ BOUND(kThreads) inline void Fill(T* y) {}\n"
    assert found(f"constexpr int kThreads = 64;\n{head}{ENTRY} Fill<int>(kThreads); }}") == []


@pytest.mark.parametrize("condition", ["ASCEND_IS_AIC", "constexpr (true)"])
def test_a_condition_that_is_a_macro_hides_nothing(condition: str) -> None:
    text = f"""template <int kWay> struct Op {{
  __aicore__ inline void Run() {{
    if constexpr (kWay == 1) {{ if {condition} {{ Use(1); }} else {{ Use(2); }} }}
    else if constexpr (kWay == 2) {{ if {condition} {{ Use(3); }} else {{ Use(4); }} }}
    if {condition} {{ int* p = new int; }}
  }}
  uint32_t rows, count;
}};
{ENTRY} Op<1> op; op.Run(); }}
"""
    assert found(text) == [("heap", 5)]


def test_what_only_the_host_s_constructor_calls_is_free() -> None:
    text = f"""class Room {{
 public:
  explicit Room(int n) {{ Say(n); }}
  void Say(int n) {{ std::cerr << n; }}
  int rows;
}};
{ENTRY} auto* room = (__gm__ Room*)x; Use(room->rows); }}
"""
    assert found(text) == []


def test_what_a_class_declares_for_the_host_is_free() -> None:
    text = f"""class Map {{
 public:
  struct Bucket {{ int key; }};
  void CopyTo(std::vector<Bucket>& all) const;
}};
{ENTRY} Map::Bucket bucket; Use(bucket.key); }}
"""
    assert found(text) == []


@pytest.mark.parametrize(("words", "wanted"), [("__aicore__", [("math", 1)]), ("__simt_callee__ __aicore__", [])])
def test_functions_of_threads_have_those_of_c(words: str, wanted: list[tuple[str, int]]) -> None:
    text = f"{words} inline float Root(float v) {{ return sqrtf(logf(v)); }}\n{ENTRY} Use(Root(2.0f)); }}"
    assert found(text) == wanted


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("__global__", []), ("__global__ __launch_bounds__(64)", []), ("__global__ __aicore__", [1, 2]),
     ("__global__ __vector__", [1, 2]), ("__global__ __mix__(1, 2)", [1, 2]), ("__global__ [aicore]", [1, 2])],
)  # fmt: skip
def test_threads_run_an_entry_without_a_core_s_word_and_what_it_calls(words: str, wanted: list[int]) -> None:
    text = "__aicore__ inline float Root(float v) { return sqrtf(v); }\n"
    text += f"{words} void t(GM_ADDR x) {{ Use(fmodf(Root(2.0f), 3.0f)); }}\n"
    assert found(text, "t") == [("math", line) for line in wanted]
    # An entry of a core in the same text calls the same function, which has what cores lack.
    assert ("math", 1) in found(f"{text}{ENTRY} Use(Root(2.0f)); }}\n")


def test_a_circle_of_many_functions_and_a_long_chain() -> None:
    chain = "".join(f"__aicore__ void f{at}(int n) {{ f{at - 1}(n); }}\n" for at in range(1, 500))
    circle = f"__aicore__ void f499(int n);\n__aicore__ void f0(int n) {{ f499(n); }}\n{chain}{ENTRY} f499(1); }}\n"
    assert found(circle) == [("recursion", line) for line in range(2, 18)]  # an entry has room for 16
    assert found(circle.replace("f499(n)", "Use(n)")) == []


def test_functions_of_the_host_that_the_device_calls() -> None:
    text = (
        """#define DEVICE __aicore__ inline
constexpr int Blocks(int n) { return n / 8; }
inline int Half(int n) { return n / 2; }
inline [host, aicore] int Both(int n) { return n / 2; }
__aicore__ inline int Declared(int n);
inline int Declared(int n) { return n; }
struct Op {
  int Up(int n) { return n + 1; }
  __aicore__ int Down(int n) { return n - 1; }
};
"""
        + ENTRY
        + " Op op; int n = Half(Blocks(8)) + Both(1) + Declared(2); op.Up(3); Cast(t, 1, n);"
        + " auto f = [](int) {}; f(1); }"
    )
    # A member called through an object may be another class's, so it is not reported.
    assert found(text) == [("not-aicore", 3)]


def test_no_kernel_of_the_registry_breaks_a_rule() -> None:
    """All headers of its folder as one text, the longest there is. benchmarks/rules_cost.py says what that costs."""
    kernels = Path(__file__).parents[2] / "kernels"
    files = [*(kernels / "common").glob("*.h"), *(kernels / "group_norm").glob("*.h")]
    text = "\n".join(path.read_text("utf-8") for path in [*sorted(files), kernels / "group_norm/group_norm_8_any.cpp"])
    assert text.count("\n") > 3000
    assert found(text, "group_norm_any") == []


def test_text_that_is_no_program_gives_nothing() -> None:
    for text in (
        "",
        "}}}}",
        "template <",
        "class {",
        "__global__",
        "__global__ void k(",
        "(" * 5000,
        "struct A {" * 50,
        f"{ENTRY} new int; }} // {'é' * 600_000}",
    ):
        assert found(text) == []


def test_lines_of_other_files_are_left_out() -> None:
    preprocessed = '# 1 "/usr/include/a.h" 1 3\nint a;\n# 7 "/own/k.cpp" 2\nint b;\nint c;\n# 1 "<built-in>"\nint d;\n'
    own = own_text(preprocessed, lambda path: path.is_relative_to("/own"))
    assert own == OwnText("int b;\nint c;", (("/own/k.cpp", 7), ("/own/k.cpp", 8)))


HEADER = """#pragma once
#ifndef __aicore__  // for hosts
#define __aicore__
#define __gm__
#endif
#ifdef __CCE_AICORE__
#define HELPER(name) __aicore__ inline int name##Rows(int n)
#else
inline int* Left() { return new int; }
#endif
HELPER(Tile) { static int calls = 0; return n + ++calls; }
#ifdef ASCENDC_CPU_DEBUG  // no device has it
HELPER(Debug) { static int runs = 0; return n + ++runs; }
#else
HELPER(Debug) { return n; }
#endif
"""


def test_a_launch_reports_what_its_headers_have_and_takes_names_of_findings(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text(HEADER)
    kernel = tmp_path / "k.cpp"
    kernel.write_text(
        '#include <vector>\n#include "kernel_operator.h"\n#include "own.h"\n'
        f"{ENTRY}\n  int* rows = new int(TileRows(DebugRows(3)));\n}}\n"
        "int Host() { return std::vector<int>(3).size(); }\n"
    )
    built = build_kernel(kernel, optimise=False)
    args = [LaunchArg(name, ArgKind.TENSOR, Role.INOUT, np.zeros(8, np.float32)) for name in "xy"]

    def run(**more: tuple[str, ...]) -> list[tuple[str, str, str, int]]:
        request = LaunchRequest(entry="k", args=args, isolated=False, options=TwinOptions(**more))
        try:
            diagnostics = launch(built.library, request).diagnostics
        except KernelFault as fault:
            diagnostics = fault.diagnostics
        return [(one.id, one.severity, Path(one.file).name, one.line) for one in diagnostics]

    heap, shared = ("language-heap", "error", "k.cpp", 5), ("language-global", "warning", "own.h", 11)
    assert run() == [heap, shared]
    assert run(warnings=("language-heap",))[0][1] == "warning"
    assert run(errors=("language-global",))[1][1] == "error"
    # It is read when it is compiled: the library in the cache says the same.
    assert build_kernel(kernel, optimise=False).cached
    # A bare library checks nothing.
    built = build_kernel(kernel, observed=False, optimise=False)
    assert run() == []


def test_a_number_that_may_not_fit_is_refused_in_braces() -> None:
    taken = "uint32_t n = *(__gm__ uint32_t*)x;\n  AscendC::DataCopyExtParams p{n, 32, 0, 0, 0};"
    source = f'#include "kernel_operator.h"\n{ENTRY}\n  {taken}\n}}\n'
    with pytest.raises(CompileError, match="narrow") as refused:
        build_kernel(source, optimise=False)
    assert refused.value.errors[0].line == 4
    assert "static_cast<uint16_t>(...)" in str(refused.value)
    assert build_kernel(source.replace("{n,", "{static_cast<uint16_t>(n),"), optimise=False).entries


def test_a_header_whose_name_a_macro_makes_is_read_over(tmp_path: Path) -> None:
    """Only headers that a text names have a stand-in at first; the findings must not get lost with another one.

    Nor with a header that only CANN's build makes.
    """
    source = tmp_path / "k.cpp"
    source.write_text(
        "#define TEXT(x) #x\n#define PART(x) TEXT(lib/math/kernel_operator_##x##_intf.h)\n"
        "#ifndef ASCENDC_CPU_DEBUG\n#include <aclrtlaunch_k.h>\n#endif\n"
        f'#include "kernel_operator.h"\n#include PART(sin)\n{ENTRY}\n  int* p = new int[3];\n  delete[] p;\n}}\n'
    )
    built = build_kernel(source, optimise=False)
    args = [LaunchArg(name, ArgKind.TENSOR, Role.INOUT, np.zeros(8, np.float32)) for name in "xy"]
    with pytest.raises(KernelFault) as caught:
        launch(built.library, LaunchRequest(entry="k", args=args))
    assert [(one.id, one.line) for one in caught.value.diagnostics] == [("language-heap", 9), ("language-heap", 10)]


def test_a_quotient_of_whole_numbers_is_named_and_other_quotients_are_not() -> None:
    head = "struct T { uint32_t length; float eps; };\n" + ENTRY
    line = "__gm__ T* t = (__gm__ T*)y; const uint32_t n = 3; float f = 2.0f;"
    for text in ("float s = 1 / n;", "Muls(a, a, 1 / t->length, 8);", "return 1 / t->length;"):
        assert found(f"{head} {line}\n{text} }}\n") == [("division", 3)]
    for text in ("float s = 1 / f;", "float s = 2 * 1 / n;", "float s = 1.0f / n;", "float s = 1 / t->eps;"):
        assert found(f"{head} {line}\n{text} }}\n") == []
    assert found(f"{head} {line}\nfloat s = 1 / F(n) + 1 / q;\n{{ float n = 2; s = 1 / n; }} }}\n") == []


HIDES = """struct Tiling {{ uint32_t end; }};
class Kernel {{
 public:
  __aicore__ inline void Init(uint32_t n) {{
    {init}
  }}
  __aicore__ inline void Process() {{ {process} }}
  uint32_t end = 0;
}};
extern "C" __global__ __aicore__ void k(GM_ADDR x) {{ Kernel op; op.Init(8); op.Process(); }}
"""


def test_a_variable_that_hides_a_member_is_named_where_nothing_else_writes_it() -> None:
    read = "Duplicate(t, 1.0f, end);"
    assert found(HIDES.format(init="uint32_t end = n;", process=read)) == [("hidden", 5)]
    assert found(HIDES.format(init="const auto end = n; (void)end;", process=read)) == [("hidden", 5)]
    for init, process in (
        ("end = n;", read),
        ("uint32_t end = n;", "end = 3; " + read),
        ("uint32_t end = n;", "return;"),
        ("uint32_t last = n; end = last;", read),
        ("uint32_t end = n; this->end = end;", read),
        ("uint32_t end = n; Use(end);", "Tiling* t = nullptr; Use(t->end);"),
    ):
        assert found(HIDES.format(init=init, process=process)) == []
