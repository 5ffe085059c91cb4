"""The causes that the twin knows: the programs of ``cause/``, their words, and the place that is named."""

from __future__ import annotations

import re

import pytest
from program_pairs import CAUSE, SOURCES, findings

import gn_tutorial as gnt
from gn_tutorial.diagnostics.catalogue import causes
from gn_tutorial.diagnostics.findings import Diagnostic

SHOWN = {name.removeprefix("cause/").removesuffix("_bad"): name for name in SOURCES if re.match(r"cause/.*_bad$", name)}


def found(name: str) -> Diagnostic:
    return next(one for one in findings(SHOWN[name]) if "cause" in one.fields)


def test_every_cause_has_a_program() -> None:
    assert {name.replace("_", "-") for name in SHOWN} == set(causes())


@pytest.mark.parametrize("name", SHOWN)
def test_the_cause_is_named_with_its_line_and_leads_to_its_own_fix(name: str) -> None:
    one = found(name)
    assert one.fields["cause"] == name.replace("_", "-")
    assert one.fix != Diagnostic(one.id, one.severity, one.file, one.line, one.block, dict(one.fields, cause="")).fix
    for text in (one.what, one.fix):
        assert "?" not in text
        assert "{" not in text
    lines = SOURCES[SHOWN[name]].read_text(encoding="utf-8").splitlines()
    marked = [number for number, text in enumerate(lines, 1) if text.endswith(CAUSE)]
    assert all(f"line {number}" in one.what for number in marked)


def test_numbers_of_a_gap_are_those_of_the_call() -> None:
    assert "16 repeats" not in found("lanes_left_out").what
    assert "32 of 64 lanes (128 bytes), and its 4 repeats begin 8 blocks of 32 bytes (256 bytes)" in (
        found("lanes_left_out").what
    )
    assert "4 results of 4 bytes, 32 bytes apart" in found("result_stride").what
    assert "256 bytes, which are 64 elements; Adds reads 256" in found("pad_length").what
    assert "Adds in line 21 writes 192 elements of 4 bytes; DataCopy reads 200" in found("short_write").what


def test_two_buffers_of_one_line_keep_their_names() -> None:
    (one,) = findings("memory/two_on_a_line_bad")
    assert one.buffer == "narrow"
    assert "the buffer of 512 bytes" in one.what.replace("narrow, a", "the")
    (place,) = [excerpt for excerpt in one.excerpts() if excerpt.label == "made here"]
    assert place.text[: place.start].count("InitBuffer") == 1


def test_an_atomic_operation_of_another_type_is_named_with_its_line() -> None:
    (one,) = findings("copy/atomic_type_bad")
    assert f"SetAtomicAdd of another element type is on, since line {one.fields['set_line']}" in one.what


def test_a_row_whose_offset_wraps_is_named_though_rows_do_not_end_there() -> None:
    (one,) = findings("global/row_offset_wraps_bad")
    assert "in 8 bits, 320 becomes 64" in one.what


def test_who_left_a_gap_is_named_though_another_one_has_worked_in_place_since() -> None:
    (one,) = findings("memory/never_written_in_place_bad")
    assert one.fields["cause"] == "lanes-left-out"
    assert "Maxs in line 17 leaves them out: its mask has 64 of 128 lanes" in one.what


def test_all_lanes_are_no_number_that_has_gone_below_zero() -> None:
    causes_of = {one.id: one.fields.get("cause") for one in findings("vector/counter_mode_left_on_bad")}
    assert causes_of["ub-out-of-bounds"] == "counter-mode"


STORES_80000_BYTES = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void fill(GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 80000);
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer((__gm__ float*)y, 20000);
  LocalTensor<float> a = queue.AllocTensor<float>();
  Duplicate(a, 1.0f, 20000);
  queue.EnQue(a);
  a = queue.DeQue<float>();
  DataCopyParams one;
  one.blockLen = 20000 * sizeof(float);
  DataCopyPad(yGm, a, one);
  queue.FreeTensor(a);
}
"""


def test_a_store_whose_length_wraps_in_16_bits() -> None:
    (one,) = gnt.kernel(source=STORES_80000_BYTES).run(gnt.out(20000), blocks=1).diagnostics
    assert (one.id, one.fields["cause"]) == ("gm-not-written", "length-wraps")
    assert "DataCopyPad in line 16 copies 14464 bytes of 80000, 65536 too few" in one.what


def test_a_work_buffer_is_as_long_as_the_documentation_asks() -> None:
    one = found("work_buffer_short")
    assert "asks for 72 elements" in one.what
    assert "288 bytes" in one.fix
