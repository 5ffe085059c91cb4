"""Lines that decide where a flagged line reads or writes: found in the text of kernels as learners write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gn_tutorial.diagnostics.catalogue import causes, entries
from gn_tutorial.diagnostics.deciding import deciding, fixed_at, operator_line
from gn_tutorial.diagnostics.excerpt import excerpt

CLASS = """
constexpr int32_t TILE = 256;
class Scale {
 public:
  Scale() : half_(TILE / 2) {}  // half
  void Init(GM_ADDR x, GM_ADDR y, uint32_t n) {
    this->tiles = n / TILE;  // tiles
    xGm.SetGlobalBuffer((__gm__ float*)x, n);  // x begins
    yGm.SetGlobalBuffer((__gm__ float*)y, n);  // y begins
  }
  void Process() {
    for (uint32_t i = 0; i < tiles; i++) {  // loop
      CopyIn(i);
      CopyOut(i * 2, half_);  // twice
    }
  }
 private:
  void CopyIn(uint32_t progress) {
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, xGm[progress * TILE], TILE);  // copy in
  }
  void CopyOut(uint32_t progress, uint32_t count) {
    uint32_t at = progress * TILE;  // at
    DataCopy(yGm[at], b, count);  // copy out
  }
  GlobalTensor<float> xGm, yGm;
  uint32_t tiles, half_;
};
"""
PLAIN = """
extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y, uint32_t n) {
  GlobalTensor<half> from, to;
  const uint32_t share = n / GetBlockNum();  // share
  from.SetGlobalBuffer((__gm__ half*)x + share * GetBlockIdx());  // from begins
  to.SetGlobalBuffer((__gm__ half*)y);
  DataCopyExtParams params{1, static_cast<uint32_t>(n), 0, 0, 0};  // struct
  params.srcStride = n - share;  // stride
  params.blockCount = 4;  // count
  DataCopyPad(a, from, params, pad);  // copy
  for (uint32_t i = 1; i <= 3; ++i) z[i] = x1[i] + y1[i];  // sum
  Adds(a, a, 1.0f, share);  // adds
}
"""


def told(tmp_path: Path, source: str, place: str, finding: str, said: str = "") -> list[tuple[str, str, str]]:
    """For each line that is named: the comment at its end, what is marked, and the label. finding: an id or cause."""
    shown = causes().get(finding) or entries()[finding]
    file = tmp_path / "kernel.cpp"
    file.write_text(source)
    lines = source.splitlines()
    at = next(number for number, text in enumerate(lines, 1) if text.endswith(f"// {place}"))
    return [
        (lines[one.line - 1].partition("// ")[2], one.marked, one.label)
        for one in deciding(shown.decided_by, str(file), at, said, most=shown.deciding_lines)
    ]


def test_an_offset_is_followed_through_a_parameter_to_the_loop_and_its_bound(tmp_path: Path) -> None:
    assert told(tmp_path, CLASS, "copy in", "gm-not-written") == [
        ("loop", "i", "counts here"),
        ("tiles", "tiles", "set here"),
    ]
    assert ("x begins", "SetGlobalBuffer", "begins here") in told(tmp_path, CLASS, "copy in", "stored-over")


def test_a_call_that_computes_the_argument_is_named_itself(tmp_path: Path) -> None:
    assert [one[0] for one in told(tmp_path, CLASS, "copy out", "gm-out-of-bounds")] == [
        "at",
        "half",
        "y begins",
        "twice",
    ]


def test_the_address_of_a_tensor_is_followed_to_its_variables(tmp_path: Path) -> None:
    assert told(tmp_path, PLAIN, "copy", "gm-not-written")[0] == ("struct", "params", "set here")
    assert ("from begins", "SetGlobalBuffer", "begins here") in told(tmp_path, PLAIN, "copy", "gm-misaligned")
    assert ("share", "share", "set here") in told(tmp_path, PLAIN, "copy", "gm-misaligned")


@pytest.mark.parametrize(
    ("said", "field"), [("srcStride and dstStride of a copy", "stride"), ("blockCount is 4", "count")]
)
def test_of_the_struct_of_a_copy_the_field_is_named_that_the_finding_names(
    tmp_path: Path, said: str, field: str
) -> None:
    found = [one[0] for one in told(tmp_path, PLAIN, "copy", "ub-out-of-bounds", said)]
    assert field in found
    assert not {"stride", "count"} - {field} & set(found)


def test_a_length_is_followed_and_tensors_and_constants_are_not(tmp_path: Path) -> None:
    assert told(tmp_path, PLAIN, "adds", "ub-out-of-bounds") == [("share", "share", "set here")]


@pytest.mark.parametrize("finding", ["queue-no-free-buffer", "race-read-after-write", "language-virtual"])
def test_findings_about_other_things_name_none(tmp_path: Path, finding: str) -> None:
    assert told(tmp_path, CLASS, "copy in", finding) == []


def test_of_several_statements_in_a_line_the_one_counts_that_calls_the_operation(tmp_path: Path) -> None:
    file = tmp_path / "kernel.cpp"
    file.write_text("void f() {\n  int a = 1;\n  int b = 2;\n  Add(x, y, a); Muls(x, y, b);\n}\n")
    for calls, lines in ((["Muls", "Add"], [3]), (["Sub", "TBuf::Add"], [2]), (["Sub"], [2, 3])):
        assert [one.line for one in deciding(["length"], str(file), 4, calls=calls)] == lines


def test_the_name_is_marked_where_it_is_declared(tmp_path: Path) -> None:
    file = tmp_path / "kernel.cpp"
    file.write_text("void f() {\n  { int n = 1; } /* 数 */ int n = 2;\n  Add(x, y, n);\n}\n")
    (one,) = deciding(["length"], str(file), 3)
    shown = excerpt(str(file), one.line, one.marked, start=one.start)
    assert (shown.column, shown.text[shown.start :]) == (30, "n = 2;")


def test_the_line_that_a_fix_changes_is_shown_if_there_is_only_one(tmp_path: Path) -> None:
    file = tmp_path / "kernel.cpp"
    file.write_text("TQue<TPosition::VECIN, 1> in, out;\nuint16_t a = 1;\nuint16_t b = 2;\nuint8_t c{3};\n")
    found = fixed_at("queue", str(file), "out", {})
    assert found
    assert (found.line, found.marked, found.label, found.start) == (1, "out", "declared here", 30)
    assert fixed_at("queue", str(file), "", {}) is None
    assert fixed_at("narrow-integer", str(file), "", {"bits": 16}) is None
    assert getattr(fixed_at("narrow-integer", str(file), "", {"bits": 8}), "line", 0) == 4


@pytest.mark.parametrize("file", ["", "/no/such/file.cpp"])
def test_without_a_source_there_is_none(file: str) -> None:
    assert deciding(entries()["gm-not-written"].decided_by, file, 3) == []
    assert operator_line(file, 3, "operator+") == 3


def test_half_a_file_is_no_error(tmp_path: Path) -> None:
    for end in range(0, len(CLASS), 7):
        file = tmp_path / f"half{end}.cpp"
        file.write_text(CLASS[:end] + "\n  DataCopy(yGm[at], b, count")
        last = len(file.read_text().splitlines())
        assert isinstance(deciding(entries()["gm-not-written"].decided_by, str(file), last), list)


def test_the_line_of_an_operator_is_the_next_assignment_with_it(tmp_path: Path) -> None:
    file = tmp_path / "kernel.cpp"
    file.write_text(PLAIN)
    lines = PLAIN.splitlines()
    wanted = next(number for number, text in enumerate(lines, 1) if text.endswith("// sum"))
    assert operator_line(str(file), wanted - 3, "operator+") == wanted
    assert operator_line(str(file), wanted - 3, "operator/") == wanted - 3


def test_functions_that_call_themselves_and_each_other_come_to_an_end(tmp_path: Path) -> None:
    every = range(12)
    calls = "\n".join(f"void F{i}(uint32_t n) {{ {' '.join(f'F{k}(n);' for k in every)} }}" for i in every)
    body = "\nvoid k() {\n  to.SetGlobalBuffer(y);\n}\nvoid G(uint32_t n) {\n  DataCopy(to[n], a, 8);  // here\n}\n"
    source = calls.replace("F5(n);", "G(n); F5(n);") + body
    assert isinstance(told(tmp_path, source, "here", "gm-out-of-bounds"), list)
