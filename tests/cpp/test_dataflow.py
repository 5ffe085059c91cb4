"""What decides a statement: variables are followed by their declarations, and nothing is said of half-typed code."""

from __future__ import annotations

import time

import pytest

from gn_tutorial.cpp.dataflow import Deciding, SourceFlow

#: One kernel, in which ``{}`` are a block before the loop, a class behind the kernel, and what parts the statements.
TILED = """class K {{
  void Init(GM_ADDR x) {{ xg.SetGlobalBuffer(x, 1024); }}
  void Step(int32_t at) {{  // step
    LocalTensor<float> a = in.AllocTensor<float>();{2}DataCopy(a, xg[at], 256);{2}in.EnQue(a);  // end
  }}
  void Process() {{
    {0}
    for (int32_t i = 0; i < 5; ++i)  // loop
      Step(i * 256);  // call
  }}
  GlobalTensor<float> xg;
}};
{1}
"""
SHADOW = "{ int32_t at = 5; (void)at; }  // other at"
UNRELATED = """struct Unrelated {
  void Step(int32_t at) {}
  void Go() { Step(99999 * 3); }  // other Step
};"""


def said(text: str, found: list[Deciding]) -> list[str]:
    """Return the comment at the end of each line, nearest lines first, each once."""
    lines = text.split("\n")
    ordered = sorted(found, key=lambda one: one.steps)
    for one in ordered:
        assert lines[one.line - 1][one.start :].startswith(one.marked)
    return list(dict.fromkeys(lines[one.line - 1].partition("// ")[2] or lines[one.line - 1] for one in ordered))


def decided(text: str, call: str = "DataCopy", *, at: str = "", kind: str = "global") -> list[str]:
    """Return what ``said`` does of the first line with ``at`` or a call. kind: of what the lines decide."""
    line = next(number for number, one in enumerate(text.split("\n"), 1) if (at or f"{call}(") in one)
    flow, found = SourceFlow(text), list[Deciding]()
    for statement in flow.statements(line, [call]):
        found += {
            "global": lambda one: flow.global_places(one, always=False),
            "length": flow.lengths,
            "struct": lambda one: flow.layouts(one, ""),
            "tensor": flow.tensors,
        }[kind](statement)
    return said(text, found)


def function(body: str, before: str = "") -> str:
    return f"{before}\nGlobalTensor<float> xg;\nvoid f(LocalTensor<float> a, uint32_t n) {{\n{body}\n}}\n"


@pytest.mark.parametrize("shadow", ["", SHADOW])
@pytest.mark.parametrize("unrelated", ["", UNRELATED])
@pytest.mark.parametrize("parted", ["\n    ", " "])
def test_a_parameter_is_followed_to_the_calls_of_its_own_function(shadow: str, unrelated: str, parted: str) -> None:
    assert decided(TILED.format(shadow, unrelated, parted)) == ["call", "loop"]


def test_a_variable_of_an_inner_block_is_another_one() -> None:
    text = function("""  int32_t at = n;  // outer
  { int32_t at = 0; }
  if (at > 0) {
    { int32_t at = 1; at = 2; }
    DataCopy(a, xg[at], 8);
    at = 3;
  }""")
    assert decided(text) == ["outer"]


def test_a_variable_of_another_function_is_another_one() -> None:
    other = "void g() { int32_t at = 7; at = 8; }"
    body = "  int32_t at = n * 2;  // own\n  DataCopy(a, xg[at], 8);"
    assert decided(function(body, other)) == ["own"]
    assert decided(function("  DataCopy(a, xg[at], 8);", other)) == []


def test_of_nested_loops_with_one_name_the_inner_one_counts_inside_it() -> None:
    text = function("""  for (uint32_t i = 0; i < n; ++i) {  // outer
    for (uint32_t i = 0; i < 4; ++i) DataCopy(a, xg[i], 8);  // inner
    Add(xg[i], a, a);
  }""")
    assert decided(text) == ["inner"]
    assert decided(text, "Add") == ["outer"]


@pytest.mark.parametrize(("named", "wanted"), [("at", "local"), ("this->at", "member"), ("K::at", "")])
def test_a_local_variable_hides_a_member(named: str, wanted: str) -> None:
    text = f"""struct K {{
  void Init(uint32_t n) {{ at = n; }}  // member
  void Go() {{
    uint32_t at = 4;  // local
    DataCopy(a, xg[{named}], 8);
  }}
  uint32_t at = 0;  // default
  GlobalTensor<float> xg;
}};"""
    assert decided(text) == ([wanted] if wanted else [])


def test_members_are_those_of_the_class_and_its_bases_also_from_outside() -> None:
    text = """struct Base { void Init(uint32_t n) { at = n; }  // set
  uint32_t at; GlobalTensor<float> xg; };
struct Other { void Init() { at = 1; } uint32_t at; };
template <typename T> struct K : Base { void Go(); };
template <typename T> void K<T>::Go() {
  DataCopy(a, this->xg[this->at], 8);
}"""
    assert decided(text) == ["set"]


def test_functions_of_a_class_that_the_file_does_not_declare_share_its_members() -> None:
    text = """void K::Init(uint32_t n) { at_ = n; }  // set
void L::Init(uint32_t n) { at_ = 2 * n; }
void K::Go() { xg_.SetGlobalBuffer(x + at_); DataCopy(a, xg_[at_], 8); }  // go
void K::Go2() { DataCopy(a, xg_[at_], 8); }"""
    assert decided(text, at="Go2") == ["set", "go"]


def test_a_field_is_that_of_its_struct() -> None:
    text = function(
        """  Shape s, t;
  s.at = n;  // own
  t.at = 5;
  DataCopy(a, xg[s.at], 8);
  Add(xg[p->at], a, a);""",
        "struct Shape { uint32_t at; };\nvoid g(Shape* p) { p->at = 6; }",
    )
    assert decided(text) == ["own"]
    assert decided(text, "Add") == []


def test_a_field_is_followed_through_parameters_and_results() -> None:
    text = """struct Piece { uint32_t at; };
struct K {
  Piece Next(uint32_t n) {
    Piece piece;
    piece.at = n;  // at
    return piece;
  }
  void Copy(const Piece& one) { DataCopy(a, xg[one.at], 8); }
  void Go() { Piece other; other.at = 9; const Piece next = Next(4); Copy(next); }
  GlobalTensor<float> xg;
};"""
    assert decided(text) == ["at"]


def test_a_lambda_has_its_own_parameters_and_captures() -> None:
    text = function("""  uint32_t at = n;  // outer
  auto copy = [&, from = at * 2](uint32_t at) {  // captured
    DataCopy(a, xg[at], 8);
    Add(xg[from], a, a);
  };
  copy(n + 1);  // call
  Other(n + 2);""")
    assert decided(text) == ["call"]
    assert decided(text, "Add") == ["captured", "outer"]


def test_of_overloads_the_one_that_fits_is_called() -> None:
    text = """struct K {
  void Step(uint32_t at) { DataCopy(a, xg[at], 8); }
  void Step(uint32_t at, uint32_t n) {}
  void Go() {
    Step(1 + 2, 3);
    Step(3 + 4);  // call
    other.Step(5 + 6);
  }
  Unknown<Step> other; GlobalTensor<float> xg;
};
struct L { void Step(uint32_t at) {} };
void Run(L l, K k) {
  l.Step(7 + 8);
  k.Step(8 + 9);  // from outside
}"""
    assert decided(text)[:1] == ["call"]
    assert {"from outside"} < set(decided(text))
    assert "  l.Step(7 + 8);" not in decided(text)


def test_the_struct_of_a_copy_in_every_form() -> None:
    for made in ("{1, n}", "(rows, n)", " = {1, n}", "(1, n)"):
        text = function(f"  uint32_t rows = 2;\n  DataCopyParams p{made};  // made\n  DataCopy(a, xg, p);")
        assert decided(text, kind="struct")[0] == "made", made
    text = function("  DataCopyParams p;\n  p.blockLen = n;  // field\n  q.blockLen = 3;\n  DataCopy(a, xg, p);")
    assert decided(text, kind="struct") == ["field"]


def test_a_tensor_is_followed_to_the_queue() -> None:
    text = """struct K {
  LocalTensor<float> Take() { LocalTensor<float> x = in.template DeQue<float>(); return x; }  // taken
  void Sum(LocalTensor<float> x) { Muls(x, x, 2.0f, 8); }
  void Other() { LocalTensor<float> x = in.AllocTensor<float>(); }
  void Go() { LocalTensor<float> y = Take(); Sum(y); }
};"""
    assert decided(text, "Muls", kind="tensor") == ["taken"]


def test_an_array_of_tensors_of_global_memory_is_one_name() -> None:
    text = """struct K {
  void Init(GM_ADDR x, uint32_t n) { for (uint32_t i = 0; i < 2; ++i) in[i].SetGlobalBuffer(x + n); }  // begins
  void Go(uint32_t at) { DataCopy(a, in[0][at], 8); }
  GlobalTensor<float> in[2];
};"""
    assert decided(text) == ["begins"]


def test_code_that_does_not_count_is_not_read() -> None:
    text = function("""  uint32_t at = n;  // set
#if 0
  at = 1;
#else
  at = n + 1;  // set again
#endif
  // at = 2;
  DataCopy(a, xg[at], 8);""")
    assert decided(text) == ["set again"]


def test_nothing_is_said_of_half_typed_code() -> None:
    text = function("  uint32_t at = n;  // set\n  DataCopy(a, xg[at], 8);")
    for end in range(len(text)):
        flow = SourceFlow(text[:end] + "\n @")
        for line in range(1, text.count("\n") + 2):
            for statement in flow.statements(line):
                assert said(text, list(flow.global_places(statement, always=True))) in ([], ["set"])


def test_deep_nesting_and_long_chains_come_to_an_end() -> None:
    started = time.process_time()
    for inner in ("{" * 5000 + "DataCopy(a, xg[n], 8);", f"DataCopy(a, xg[{'n+' * 200}1], 8);", "f(" * 5000):
        decided(function(inner), at=inner[:20])
    calls = "\n".join(f"void F{i}(uint32_t n) {{ F{i + 1}(n); }}" for i in range(500))
    decided(f"{calls}\nvoid F500(uint32_t n) {{ xg.SetGlobalBuffer(x); DataCopy(a, xg[n], 8); }}")
    assert time.process_time() - started < 60


def test_declarations_that_a_fix_changes() -> None:
    text = """struct K { TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> tiles, rest[2]; };  // queue
uint32_t f(uint16_t n) {
  std::uint16_t m{3}; uint16_t k;  // narrow
  return x[n * sizeof(float)] + sizeof(n);  // size
}"""
    flow = SourceFlow(text)
    assert said(text, list(flow.queues("rest"))) == ["queue"]
    assert said(text, list(flow.narrow_integers(16))) == ["narrow"]
    assert said(text, list(flow.sizes_in_indices())) == ["size"]
