"""Tiling functions called from Python: layout confirmed by the compiler, refusals passed on, values right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gn_tutorial.errors import ArgumentError, CompileError, RegistryError
from gn_tutorial.operators.registry import load_registry
from gn_tutorial.operators.spec import TilingSpec
from gn_tutorial.operators.tiling import Tiling, field_names, load_tiling
from gn_tutorial.timing.machine import default_cores

HEADER = """\
#pragma once
#include <cstdint>
// struct Demo { int wrong; };
struct Demo {
  uint8_t flag;  // then three bytes of padding
  uint32_t rows, columns = 7;
  int64_t big;
  float scale;
  uint16_t tails[3];
};
inline const char* MakeDemo(int64_t rows, int32_t cores, float scale, Demo* tiling) {
  if (rows < 0) return "rows is negative";
  tiling->flag = 1;
  tiling->rows = static_cast<uint32_t>(rows);
  tiling->big = -rows;
  tiling->scale = scale;
  for (int i = 0; i < 3; ++i) tiling->tails[i] = static_cast<uint16_t>(cores + i);
  return nullptr;
}
"""


def demo(folder: Path, header: str = HEADER) -> TilingSpec:
    path = folder / "demo_tiling.h"
    path.write_text(header)
    return TilingSpec(path, "Demo", "MakeDemo", ("rows", "cores", "scale"), "flag")


def test_fields_are_read_at_the_compilers_offsets(tmp_path: Path) -> None:
    tiling = load_tiling(demo(tmp_path))({"rows": 5, "cores": 40, "scale": 0.5})
    assert tiling.fields == {"flag": 1, "rows": 5, "columns": 7, "big": -5, "scale": 0.5, "tails": [40, 41, 42]}
    assert {name: place[1] for name, place in tiling.dtype.fields.items()} == {
        "flag": 0,
        "rows": 4,
        "columns": 8,
        "big": 16,
        "scale": 24,
        "tails": 28,
    }
    assert len(tiling.bytes) == tiling.dtype.itemsize == 40
    assert tiling["rows"] == 5


def test_a_header_that_it_includes_may_change(tmp_path: Path) -> None:
    more = tmp_path / "demo_small_tiling.h"
    text = HEADER.replace("#include <cstdint>", '#include <cstdint>\n#include "demo_small_tiling.h"')
    spec = demo(tmp_path, text.replace("= -rows;", "= kMany;"))
    for many in (3, 4):
        more.write_text(f"#pragma once\nconstexpr int kMany = {many};\n")
        assert load_tiling(spec)({"rows": 5, "cores": 1, "scale": 0.5})["big"] == many


def test_refusal_is_the_sentence_of_the_function(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError) as caught:
        load_tiling(demo(tmp_path))({"rows": -1, "cores": 1, "scale": 1.0})
    assert caught.value.what == "rows is negative"
    assert caught.value.where == "MakeDemo in demo_tiling.h"


@pytest.mark.parametrize("cores", [2**31, -(2**31) - 1, 2**70])
def test_number_that_does_not_fit_its_parameter_is_refused(tmp_path: Path, cores: int) -> None:
    with pytest.raises(ArgumentError, match="cores"):
        load_tiling(demo(tmp_path))({"rows": 1, "cores": cores, "scale": 1.0})


def test_field_that_the_parser_misses_does_not_compile(tmp_path: Path) -> None:
    # The parser does not know what the compiler defines, and takes it for undefined. The compiler counts, and refuses.
    hidden = HEADER.replace("  float scale;\n", "  float scale;\n#ifdef __GNUC__\n  uint32_t hidden;\n#endif\n")
    with pytest.raises(CompileError):
        load_tiling(demo(tmp_path, hidden))


def test_fields_behind_what_the_header_itself_says_are_read(tmp_path: Path) -> None:
    fields = """\
  HIDDEN
  static constexpr int kRows = 1 << 1;
  Mode mode = Mode::kFast;
  std::array<uint16_t, kRows> pair{3, 4};
#if WIDE > 1
  uint64_t wide = 5;
#else
  uint32_t narrow = 6;
#endif
  bool Fast() const { return mode == Mode::kFast; }
"""
    above = """\
#include <array>
#include "demo_modes.h"
#define HIDDEN uint32_t hidden = 2;
#define WIDE 2
struct Demo : Base {
"""
    (tmp_path / "demo_modes.h").write_text(
        "#pragma once\nstruct Base {\n  int base = 1;\n};\nenum class Mode : uint8_t { kSlow, kFast };\n"
    )
    text = HEADER.replace("struct Demo {\n", above).replace("  float scale;\n", f"  float scale;\n{fields}")
    tiling = load_tiling(demo(tmp_path, text))({"rows": 5, "cores": 1, "scale": 0.5})
    added = {"base": 1, "hidden": 2, "mode": 1, "pair": [3, 4], "wide": 5}
    assert {name: tiling[name] for name in added} == added
    assert list(tiling)[-1] == "tails"


def test_field_that_is_no_number_does_not_compile(tmp_path: Path) -> None:
    nested = HEADER.replace("struct Demo {\n", "struct Pair {\n  int a, b;\n};\nstruct Demo {\n")
    nested = nested.replace("int64_t big;", "Pair big;")
    with pytest.raises(CompileError) as caught:
        load_tiling(demo(tmp_path, nested.replace("tiling->big = -rows;", "")))
    assert "a field of a tiling struct is a number" in str(caught.value)


def test_edited_header_is_compiled_again(tmp_path: Path) -> None:
    call = {"rows": 5, "cores": 1, "scale": 1.0}
    assert load_tiling(demo(tmp_path))(call)["columns"] == 7
    assert load_tiling(demo(tmp_path, HEADER.replace("columns = 7", "columns = 9")))(call)["columns"] == 9


def test_same_header_is_loaded_once(tmp_path: Path) -> None:
    assert load_tiling(demo(tmp_path)) is load_tiling(demo(tmp_path))


def test_a_library_that_the_cache_let_go_of_is_compiled_again(tmp_path: Path) -> None:
    function = load_tiling(demo(tmp_path))
    assert function({"rows": 5, "cores": 1, "scale": 1.0})["rows"] == 5
    function._library.path().unlink()
    assert function({"rows": 6, "cores": 1, "scale": 1.0})["rows"] == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("struct Other { int a; };", "there is no 'struct Demo"),
        ("struct Demo {};", "has no fields"),
        ("struct Demo { int (*f)(); };", "cannot read the field"),
    ],
)
def test_struct_that_cannot_be_read_is_named(text: str, message: str) -> None:
    with pytest.raises(RegistryError) as caught:
        field_names(text, "Demo", where="demo.h")
    assert message in caught.value.what
    assert caught.value.where == "demo.h"


def test_missing_header_is_named(tmp_path: Path) -> None:
    with pytest.raises(RegistryError) as caught:
        load_tiling(TilingSpec(tmp_path / "absent.h", "A", "B", (), ""))
    assert "absent.h" in caught.value.where


def test_repr_is_a_table_of_fields() -> None:
    dtype = np.dtype({"names": ["n", "eps"], "formats": ["u4", "f4"], "offsets": [0, 4], "itemsize": 8})
    tiling = Tiling("Demo", np.array((3, 0.5), dtype).tobytes(), dtype)
    assert repr(tiling).splitlines() == [
        "Demo, 8 bytes",
        "  field  type     offset  value",
        "  n      uint32   0       3",
        "  eps    float32  4       0.5",
    ]
    assert "<td" in tiling._repr_html_()
    assert "float32" in tiling._repr_html_()


def group_norm(**symbols: float) -> Tiling:
    spec = load_registry()["group_norm"].tiling
    assert spec is not None
    return load_tiling(spec)({"N": 2, "C": 8, "S": 256, "G": 4, "eps": 1e-5, "cores": default_cores(), **symbols})


def test_group_norm_splits_its_groups_over_the_cores() -> None:
    assert 1 <= group_norm()["usedCores"] <= 8
    assert group_norm(cores=1)["usedCores"] == 1
    assert group_norm(N=100, cores=7)["usedCores"] == 7


@pytest.mark.parametrize(
    ("symbols", "word"),
    [
        ({"G": 3}, "C"),
        ({"G": 0}, "num_groups"),
        ({"G": -4}, "num_groups"),
        ({"eps": 0.0}, "eps"),
        ({"eps": -1.0}, "eps"),
        ({"eps": float("nan")}, "eps"),
        ({"S": 0}, "length 0"),
        ({"C": 2**40, "S": 2**40, "G": 1}, ""),
        ({"C": 1, "S": 2**31, "G": 1}, "2147483647"),
    ],
)
def test_group_norm_refuses_with_a_sentence(symbols: dict[str, float], word: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        group_norm(**symbols)
    assert word in caught.value.what
    assert len(caught.value.what.split()) > 3
