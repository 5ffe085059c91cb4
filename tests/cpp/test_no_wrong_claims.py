"""The rules on device code claim nothing about right code, and what is wrong they find in the midst of it.

Texts are drawn from right statements and declarations that look wrong: names that hide others, own functions named like
the library's, namesakes of fields, branches that are discarded, words in comments and literals, code of the host.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gn_tutorial.cpp.portability_rules import OwnText, find
from tests.support.thoroughness import ALL

HEAD = """#define NEW new
using namespace AscendC;
struct Tiling {{ uint32_t x, y, length, rows, end_; }};
struct Pool {{ __aicore__ inline void free(int32_t n) {{ used -= n; }} int32_t used = 4;
  __aicore__ inline void Drop() {{ free(1); this->free(2); }} }};
__aicore__ inline void Give(uint32_t* where) {{ *where = 1024; }}
template <typename T> __aicore__ inline void Put(T&& where) {{ where = 1024; }}
__aicore__ inline void Use(float a) {{}}
__aicore__ inline float Half(float v) {{ return v * 0.5f; }}
__aicore__ inline float Half(int32_t v) {{ return Half(static_cast<float>(v)); }}
namespace host {{ inline float Half(float v) {{ double d = v; int* p = new int[3]; delete[] p; throw 5; return d; }} }}
template <int N> struct Raised {{ __aicore__ static inline float Of(float v) {{ return v * Raised<N - 1>::Of(v); }} }};
template <> struct Raised<0> {{ __aicore__ static inline float Of(float v) {{ return 1.0f; }} }};
template <bool kDebug> __aicore__ inline float Pick(float a) {{
  if constexpr (kDebug) {{ float* p = new float[1]; delete[] p; double wide = 2; throw wide; }}
  return a;
}}
{parts}
extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y, __gm__ uint8_t* rows, uint32_t length, int32_t end_) {{
  Pool pool; pool.Drop(); Use(Half(3) + Raised<2>::Of(1.0f) + Pick<false>(2.0f));
  float room[4]; Tiling tiling{{}};
{statements}
}}
"""
NAMES = ("x", "y", "length", "rows", "end_")
#: {n}: one of NAMES; {f}: a function of a library.
STATEMENTS = (
    "float* {n} = room; float* q = {n}; q = (float*){n}; Use(q[0]);",
    "auto {f} = [](int32_t v) {{ return v; }}; Use({f}(3));",
    "uint32_t {n}; {n} = 4; Use({n});",
    "uint32_t {n}; Give(&{n}); Use({n});",
    "uint32_t {n}; Put({n}); Use({n});",
    "uint32_t {n}; auto set = [&](uint32_t v) {{ {n} = v; }}; set(3); Use({n});",
    "uint32_t {n}; if (room[0] > 3) {{ {n} = 4; }} else {{ {n} = 5; }} Use({n});",
    "float {n}; do {{ {n} = 2.0f; }} while (false); Use({n});",
    "uint32_t {n}; {{ uint32_t {n} = 3; Use({n}); }} {n} = 3; Use({n});",
    "uint32_t {n}; uint32_t& other = {n}; other = 3; Use({n});",
    "uint32_t {n}; Use(sizeof({n}));",
    "uint32_t {n}; for ({n} = 0; {n} < 3; ++{n}) Use({n});",
    "const float {n} = 2; {{ const uint32_t {n} = 3; Use({n}); }} const float part = 1 / {n}; Use(part);",
    "int32_t {n} = 3; while ({n} >= 0) --{n};",
    "if constexpr (false) {{ int* p = new int[3]; delete[] p; static int {n} = 0; }}",
    "if constexpr (sizeof(float) == 8) {{ double {n} = 2; Use(std::sqrt({n})); }}",
    'const char* {n} = "new int; malloc(3); throw 5; double d; static int a;";',
    'const char* {n} = R"(typeid({n}) "std::vector<int>" virtual)";',
    "/* new int[3]; static int {n}; */ Use(1);  // double {n}; std::sqrt(2); delete {n};\n",
    "Use(1.0f / tiling.{n}); Use(tiling.{n});",
    "pool.free(3); pool.Drop();",
    "struct Own {{ int32_t {n} = 3; }}; new (room) Own();",
    "constexpr double {n} = 2.5; constexpr float part = {n}; Use(part);",
    "static constexpr int32_t {n} = 3; Use({n});",
    "auto {n} = [](auto a) {{ return a; }}; Use({n}(2.0f));",
    "using {n} = float; {n} a = 1.0f / 3; Use(a);",
    "auto [{n}, other] = pair; Use({n} + other);",
    "for (auto {n} : all) Use({n});",
    "__gm__ float* {n} = (__gm__ float*)gm; auto q = {n}; Use(*q);",
    "Use(AscendC::Std::sqrt(2.0f) + AscendC::Std::min(1, 2));",
    "switch (int32_t {n} = 3; {n}) {{ case 1: break; default: Use({n}); }}",
)
#: {c}: the name of a class of its own.
PARTS = (
    "class {c} {{ public:\n  __aicore__ inline void Init(uint32_t n) {{ uint32_t {n} = n; this->{n} = {n}; }}\n"
    "  __aicore__ inline void Run() {{ Use({n}); }}\n  uint32_t {n}; }};",
    "class {c} {{ public:\n  __aicore__ inline {c}() : {n}(3) {{}}\n  __aicore__ inline void Init(uint32_t n) {{}}\n"
    "  __aicore__ inline void Run() {{ Use({n}); }}\n  uint32_t {n}; }};",
    "class {c} {{ public:\n  __aicore__ inline {c}(const uint32_t& {n} = 3) : {n}({n}) {{}}\n"
    "  __aicore__ inline void Init(uint32_t n) {{}}\n"
    "  __aicore__ inline void Run() {{ if ASCEND_IS_AIV {{ Use({n}); }} else {{ Use(1); }} }}\n  uint32_t {n}; }};",
    "struct {c} {{ __aicore__ inline void Init(uint32_t {n}) {{ Use({n}); }} uint32_t {n};\n"
    "  __aicore__ inline void Run() {{ Tiling* t = nullptr; Use(t->{n}); {n} = 3; }} }};",
    "template <typename T> class {c}Of {{ public: __aicore__ inline void Init(T n) {{ {n} = n; Step(); }}\n"
    "  __aicore__ inline void Run() {{ Use({n}); }} private: __aicore__ inline void Step(); T {n}; }};\n"
    "template <typename T> __aicore__ inline void {c}Of<T>::Step() {{ Init({n}, 1); }}\n"
    "template <typename T> __aicore__ inline void Init(T a, int32_t b) {{}}\nusing {c} = {c}Of<uint32_t>;",
    "struct {c} {{ struct Inner {{ __aicore__ inline void Run() {{}} }};\n"
    "  __aicore__ inline void Init(uint32_t n) {{}}\n  __aicore__ inline void Run() {{ parts[0].Run(); }}\n"
    "  Inner parts[2]; }};\nstatic const char* const {c}Text = \"int* p = new int\";\n"
    "inline double {c}Host(double {n}) {{ static int {f}s = 0; return {f}s++ + std::sqrt({n}); }}",
    "template <class B> struct {c}Of : B {{ __aicore__ inline void Init(uint32_t n) {{ {f}(n); }}\n"
    "  __aicore__ inline void Run() {{ Use({n}); }} uint32_t {n} = 3; }};\n"
    "struct {c}Base {{ __aicore__ inline void {f}(int32_t n) {{}} }};\nusing {c} = {c}Of<{c}Base>;",
)  # fmt: skip
WRAPPED = (
    "{{ {0} }}", "if (end_ > 3) {{ {0} }}", "for (int32_t i = 0; i < 2; ++i) {{ {0} }}", "[&]() {{ {0} }}();",
    "if (end_ > 3) {{ Use(1); }} else {{ {0} }}", "do {{ {0} }} while (false);",
)  # fmt: skip
#: A wrong statement of each kind, in one line.
WRONG = {
    "heap": "int* planted = new int(3); Use(*planted);",
    "typeid": "Use(typeid(room) == typeid(tiling));",
    "exception": "if (room[0] > 40) throw 5;",
    "global": "static uint32_t planted = 0; Use(++planted);",
    "double": "double planted = room[0]; Use(planted);",
    "stack": "float planted[9000]; Use(planted[3]);",
    "cpp20": "auto planted = []() consteval { return 64; }();",
    "no-gm": "float* planted = reinterpret_cast<float*>(x);",
    "std": "Use(std::min(1, 2));",
    "math": "Use(std::sqrt(room[0]));",
    "division": "const uint32_t planted = 3; Use(1 / planted);",
    "unsigned": "uint32_t planted = 3; while (planted >= 0) --planted;",
    "never-set": "uint32_t planted; Use(planted);",
    "recursion": "Use(Again(3));",
    "not-aicore": "Use(OfHost(3));",
}  # fmt: skip
PLANTED = """__aicore__ inline float Again(int32_t n) { return n > 0 ? Again(n - 1) : 0; }
inline float OfHost(float a) { return a; }
"""
statements = st.builds(
    lambda text, n, f, around: around.format(text.format(n=n, f=f)),
    st.sampled_from(STATEMENTS), st.sampled_from(NAMES), st.sampled_from(("malloc", "free", "exp", "log", "fopen")),
    st.sampled_from(WRAPPED),
)  # fmt: skip
parts = st.tuples(st.sampled_from(PARTS), st.sampled_from(NAMES), st.sampled_from(("malloc", "free", "exp", "log")))
#: Of each of the two tests: 10,000 texts in all with --all.
many = settings(max_examples=5_000 if ALL else 25, deadline=None)


def claims(text: str) -> list[tuple[str, int]]:
    own = OwnText(text, tuple(("k.cpp", line) for line in range(1, text.count("\n") + 2)))
    return [(one.finding.id.removeprefix("language-"), one.line) for one in find(own)]


def kernel(drawn_parts: list[tuple[str, str, str]], lines: list[str]) -> str:
    classes = [f"Op{index}" for index in range(len(drawn_parts))]
    texts = [text.format(c=c, n=n, f=f) for c, (text, n, f) in zip(classes, drawn_parts, strict=True)]
    used = [f"{{ {c} op; op.Init(3); op.Run(); }}" for c in classes]
    return HEAD.format(parts="\n".join(texts), statements="\n".join(lines + used))


@many
@given(st.lists(parts, max_size=3), st.lists(statements, max_size=6))
def test_right_code_is_let_be(drawn_parts: list[tuple[str, str, str]], lines: list[str]) -> None:
    text = kernel(drawn_parts, lines)
    assert claims(text) == [], text


@many
@given(st.lists(parts, max_size=2), st.lists(statements, max_size=4), st.sampled_from(sorted(WRONG)), st.integers(0, 3))
def test_one_wrong_statement_among_right_ones_is_found(
    drawn_parts: list[tuple[str, str, str]], lines: list[str], wrong: str, at: int
) -> None:
    lines.insert(at, f"{{ {WRONG[wrong]} }}")
    text = PLANTED + kernel(drawn_parts, lines)
    line = {"recursion": 1, "not-aicore": 2}.get(wrong) or 1 + text[: text.index(WRONG[wrong])].count("\n")
    assert claims(text) == [(wrong, line)], text


def test_nothing_is_claimed_of_a_variable_that_an_error_names() -> None:
    text = "uint32_t planted; Use(planted);\n  int a = @ (planted = ) @ ;"
    assert claims(HEAD.format(parts="", statements=text)) == []
    assert claims(HEAD.format(parts="", statements=text.partition("\n")[0])) == [("never-set", 22)]
