"""The numbers of a call that a finding about a place or a length prints: units, bytes, and the number that would do."""

from __future__ import annotations

import re

import pytest
from program_pairs import SOURCES, findings

import gn_tutorial as gnt
from gn_tutorial.diagnostics.findings import Diagnostic

#: Program of ``extent/`` -> what its finding says, and the beginning of the rule that its fix ends with, if any.
SAID = {
    "begins_elsewhere": ("goes from element 200 to element 399 of buffer, Add from element 256 to element 455", ""),
    "block_len_unit": ("blockLen 256 (blocks of 32 bytes, 8192 bytes; at most 8)", "blockLen of DataCopyParams counts"),
    "block_repeat_exchanged": ("dstBlkStride 8 (blocks of 32 bytes, 256 bytes), dstRepStride 1.", "Strides of repeats"),
    "block_stride_0": ("dstBlkStride 0 (blocks of 32 bytes; 1 would do)", "Strides of repeats"),
    "buffer_in_elements": ("count 256 (elements, 1024 bytes; at most 64)", ""),
    "buffer_of_smaller_type": ("count 128 (elements, 512 bytes; at most 64)", ""),
    "gap_from_start": ("srcStride 256 (bytes; at most 136)", "A stride of a copy runs from the end"),
    "gap_unit": ("dstStride 64 (blocks of 32 bytes, 2048 bytes; at most 2)", "A stride of a copy runs from the end"),
    "index_behind": ("goes from element 0 to element 7 of scales, GetValue from element 8 to element 8", ""),
    "lanes_left_out": ("mask 32 (elements, 128 bytes; 64 would do)", "A mask counts elements"),
    "length_of_larger_type": ("blockLen 512 (bytes; at most 256)", "blockLen of DataCopyPad counts bytes"),
    "length_wraps": (
        "65792 would do, with DataCopyExtParams: the 16 bits of DataCopyParams make it 256",
        "blockLen of DataCopyPad counts bytes",
    ),
    "length_wraps_to_0": (
        "blockLen 0 (bytes; 65536 would do, with DataCopyExtParams: the 16 bits of DataCopyParams make it 0)",
        "blockLen of DataCopyPad counts bytes",
    ),
    "mostly_not_written": ("Blocks that ran: 1; their stores: 1; elements of the longest store: 128.", ""),
    "pad_length": ("blockLen 256 (bytes; 1024 would do)", "blockLen of DataCopyPad counts bytes"),
    "pad_length_out": ("blockLen 1024 (bytes; 4096 would do)", "blockLen of DataCopyPad counts bytes"),
    "pad_row_length": ("blockCount 4, blockLen 60 (bytes), dstStride 0.", "blockLen of DataCopyPad counts bytes"),
    "repeat_mask_exchanged": ("repeatTime 64 (at most 8), dstRepStride 1.", "dstRepStride of a reduction counts"),
    "repeat_stride_0": ("dstRepStride 0 (blocks of 32 bytes; 8 would do)", "Strides of repeats"),
    "repeats_overlap": ("src1BlkStride 1 (blocks of 32 bytes, 32 bytes; 0 would do)", "Strides of repeats"),
    "result_stride": ("dstRepStride 8 (results, 32 bytes; 1 would do)", "dstRepStride of a reduction counts"),
    "result_stride_out": ("dstRepStride 8 (results, 32 bytes; at most 1)", "dstRepStride of a reduction counts"),
    "right_padding": ("rightPadding 6 (elements, 12 bytes; at most 3)", "leftPadding and rightPadding count elements"),
    "rows_taken_apart": ("blockCount 16 (at most 2), blockLen 4 (bytes), srcStride 0.", "dstRepStride of a reduction"),
    "sorted_pairs": ("elements 64 (pairs, 512 bytes; at most 32)", "Sorting works on pairs"),
    "spread_repeats": ("repeatTime 16 (at most 2)", "repeatTime counts repeats of 256 bytes; with Brcb, 8"),
    "stride_too_long": ("srcRepStride 64 (blocks of 32 bytes, 2048 bytes; at most 8)", "Strides of repeats"),
    "strides_exchanged": ("src1RepStride 8 (blocks of 32 bytes, 256 bytes; 0 would do)", "Strides of repeats"),
    "value_and_index": ("repeatTime 8 (at most 4), dstRepStride 1.", "dstRepStride of a reduction counts"),
}


def test_every_program_is_listed() -> None:
    shown = {name.removeprefix("extent/").removesuffix("_bad") for name in SOURCES if re.match(r"extent/.*_bad$", name)}
    assert shown == set(SAID)


@pytest.mark.parametrize("name", SAID)
def test_the_number_that_is_wrong_stands_beside_one_that_would_do(name: str) -> None:
    one = findings(f"extent/{name}_bad")[0]
    what, rule = SAID[name]
    assert what in one.what
    assert rule in one.fix
    extents = [key for key in one.fields if key.endswith("extent")]
    without = {key: value for key, value in one.fields.items() if key not in extents}
    bare = Diagnostic(one.id, one.severity, one.file, one.line, one.block, without)
    assert one.fix.startswith(bare.fix)
    assert (rule in bare.fix) == (rule == "")
    said = [re.search("(The|call.s) numbers", each.what) is not None for each in (bare, one)]
    assert said == [False, bool(extents)]


def test_numbers_of_two_calls_are_told_apart() -> None:
    (one,) = findings("cause/left_out_bad")
    assert "Adds in line 21: count 192 (elements, 768 bytes; 200 would do)." in one.what
    assert one.what.endswith("The call's numbers: count 200 (elements, 800 bytes; at most 192).")


def test_who_left_a_gap_is_named_though_another_one_has_worked_in_place_since() -> None:
    (one,) = findings("memory/never_written_in_place_bad")
    assert "The numbers of Maxs in line 17: repeatTime 2, mask 64 (elements, 128 bytes; 128 would do)" in one.what


def test_a_finding_about_another_mistake_has_no_numbers() -> None:
    for name in ("cause/own_result_bad", "cause/wrapped_elements_bad", "cause/offset_in_bytes_bad"):
        assert all("extent" not in one.fields for one in findings(name))


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
    assert one.id == "gm-not-written"
    assert "blockLen 14464 (bytes; 80000 would do, with DataCopyExtParams" in one.what
