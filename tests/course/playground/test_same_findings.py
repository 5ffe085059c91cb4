"""The right and wrong programs of ``program_pairs`` have the same findings in WebAssembly as on this machine."""

from __future__ import annotations

from pathlib import PurePosixPath

import numpy as np
import program_pairs
import pytest
from playground_support import Page, missing
from program_pairs import SOURCES

from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.course.playground.compiling import Compilation
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

#: One of each kind: stopped at once, found while it goes on, found at its end, between blocks that wait, in the source.
DOZEN = [
    f"{pair}_{which}"
    for pair in (
        "cache/stale",
        "flag/never_awaited",
        "global/out_of_bounds",
        "kernel/assert",
        "language/recursion",
        "memory/use_after_free",
        "placed/overflow",
        "precision/log_of_zero",
        "queue/empty",
        "race/no_meeting",
        "sync/block_wait_deadlock",
        "vector/overlap",
    )
    for which in ("ok", "bad")
]


def hold_beside_this_machine(page: Page, names: list[str]) -> None:
    source = Compilation(PurePosixPath("programs/all.cpp"), program_pairs.together(names))
    assert page.compile("all", source) == ""
    differ = {}
    for name in names:
        found = page.launch("all", program_pairs.request(name))
        here = program_pairs.findings(name)
        if found.ended or tuple(found.findings) != tuple(here):
            differ[name] = (found.ended, found.findings.to_list(), [one.to_dict() for one in here])
    assert differ == {}


def test_a_dozen_pairs_find_the_same(page: Page) -> None:
    hold_beside_this_machine(page, DOZEN)


#: A `throw` does not compile there, a `new` that fails ends the launch, and accesses through pointers are not seen.
#: WebAssembly has no flags of invalid operations, which show that the scalar unit made NaN.
NOT_THERE = {"kernel/exception_bad", "kernel/no_memory_bad", "language/exception_bad", "cause/nan_of_scalar_bad"}
NOT_THERE |= {"global/pointer_behind_bad", "memory/array_index_bad", "memory/pointer_outside_bad"}
NOT_THERE |= {"race/pointer_counter_bad", "race/pointer_reads_bad", "race/pointer_store_bad"}
#: What depends on compiler and machine: what holds no value has clang's pattern, which stays one in a float
#: sum, and unwritten bytes of the Unified Buffer look like it; an offset of 4 GiB or more wraps around in 32 bits;
#: stores through pointers are not counted.
MORE_OR_OTHER_WORDS = {
    "cause/no_index_bad",
    "cause/no_value_bad",
    "cause/wrapped_elements_bad",
    "extent/index_behind_bad",
    "global/pointer_write_bad",
    "language/never_set_bad",
    "memory/never_written_scalar_bad",
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(MORE_OR_OTHER_WORDS))
def test_other_facts_are_still_findings_of_that_line(page: Page, name: str) -> None:
    assert page.compile("one", Compilation(PurePosixPath("programs/one.cpp"), program_pairs.together([name]))) == ""
    found = {(one.id, one.line) for one in page.launch("one", program_pairs.request(name)).findings}
    assert {(one.id, one.line) for one in program_pairs.findings(name)} <= found


def test_an_exception_is_an_error_at_its_line(page: Page) -> None:
    source = Compilation(PurePosixPath("programs/one.cpp"), program_pairs.together(["kernel/exception_bad"]))
    said = page.compile("one", source)
    assert "exceptions disabled" in said
    (error,) = source.failure(said).errors
    assert "throw" in SOURCES["kernel/exception_bad"].read_text(encoding="utf-8").splitlines()[error.line - 1]


def test_an_offset_in_bytes_is_blamed_on_its_own_array(page: Page) -> None:
    """It leads 4 MiB behind the end of an array of 4 KiB, or before its start."""
    source = """#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void far(GM_ADDR a, GM_ADDR b, GM_ADDR y, uint32_t first) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  GlobalTensor<float> g;
  g.SetGlobalBuffer((__gm__ float*)a + first);
  DataCopy(buffer.Get<float>(), g, 64);
}
"""
    assert page.compile("far", Compilation(PurePosixPath("programs/far.cpp"), source)) == ""
    zeros = np.zeros(1024, np.float32)
    args = [LaunchArg(name, ArgKind.TENSOR, Role.IN if name != "y" else Role.INOUT, zeros) for name in "aby"]
    for first, found in ((960, []), (1 << 20, ["a"]), (-64 % 2**32, ["a"])):
        number = LaunchArg("first", ArgKind.VALUE, Role.IN, np.uint32(first).tobytes())
        launched = page.launch("far", LaunchRequest(entry="far", args=[*args, number]))
        assert [one.fields["argument"] for one in launched.findings if one.id == "gm-out-of-bounds"] == found


@pytest.mark.thorough
@pytest.mark.parametrize("check", sorted({name.partition("/")[0] for name in SOURCES}))
def test_every_pair_finds_the_same(page: Page, check: str) -> None:
    hold_beside_this_machine(
        page, [name for name in SOURCES if name.startswith(f"{check}/") and name not in NOT_THERE | MORE_OR_OTHER_WORDS]
    )
