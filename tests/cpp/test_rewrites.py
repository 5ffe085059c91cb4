"""Sources of operator projects in another form. The exam's tests compile what these functions make."""

from __future__ import annotations

from gn_tutorial.cpp.rewrites import (
    macro_fields,
    with_function,
    with_setters,
    with_struct,
    without_calls,
    without_struct,
)


def test_calls_are_left_out_with_their_lines() -> None:
    text = "void f() {\n  c->Set(1);  // why\n  Set(\n    2);\n  Reset(3);\n}\n"
    assert without_calls(text, "Set") == "void f() {\n  Reset(3);\n}\n"


def test_a_definition_takes_the_place_of_another() -> None:
    assert with_struct("#pragma once\nstruct A {\n  int b;\n};\n", "struct A { int c; };\n") == (
        "#pragma once\nstruct A { int c; };\n"
    )
    text = "// F\nstatic int F(int a) {\n  return a;\n}\nint G() { return F(1); }\n"
    assert with_function(text, "F", "int F(int) { return 2; }\n") == (
        "// F\nint F(int) { return 2; }\nint G() { return F(1); }\n"
    )


def test_fields_as_macros() -> None:
    struct = "struct A {\n  uint32_t n;  // how many\n  float scale[kMost];\n  // none\n};\n"
    assert macro_fields(struct) == (
        "TILING_DATA_FIELD_DEF(uint32_t, n);  // how many\nTILING_DATA_FIELD_DEF_ARR(float, kMost, scale);\n  // none"
    )
    assert macro_fields("int a;") is None


def test_a_tiling_function_with_setters() -> None:
    text = """ge::graphStatus TilingFunc(C* context) {
  auto* tiling = context->GetTilingData<A>();
  tiling->n = 3;
  tiling->tile =
      tiling->n + (tiling->n ? 1 : 2);
  return ge::GRAPH_SUCCESS;
}
"""
    assert (
        with_setters(text)
        == """ge::graphStatus TilingFunc(C* context) {
  A tiling;
  tiling.set_n(3);
  tiling.set_tile(tiling.get_n() + (tiling.get_n() ? 1 : 2));
  auto* raw = context->GetRawTilingData();
  tiling.SaveToBuffer(raw->GetData(), raw->GetCapacity());
  raw->SetDataSize(tiling.GetDataSize());
  return ge::GRAPH_SUCCESS;
}
"""
    )


def test_a_kernel_without_its_struct() -> None:
    text = '#include "kernel_operator.h"\n#include "op_tiling.h"\nvoid k() {\n  REGISTER_TILING_DEFAULT(A);\n'
    text += "  GET_TILING_DATA_WITH_STRUCT(A, data, tiling);\n}\n"
    assert without_struct(text) == '#include "kernel_operator.h"\nvoid k() {\n  GET_TILING_DATA(data, tiling);\n}\n'
