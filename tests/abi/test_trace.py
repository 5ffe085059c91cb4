"""Traces: what a launch records, where it says things lie, and what happens when the room ends."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.abi.trace import FIRST_ADDRESS, Access, Event, Kind, Lines, Pipe, Space, Tracing
from gn_tutorial.abi.trace_decode import HARD_EVENTS, decode
from gn_tutorial.errors import ArgumentError, KernelError
from gn_tutorial.operators.result import Result

HEADERS = Path(gnt.__file__).parent / "twin" / "include" / "gn_twin"
TILE = 4096  # of kernels/copy


def copy(n: int, launched: int = 1, *, isolated: bool = True, **tracing: object) -> Result:
    x = np.arange(n, dtype=np.float32)
    found = gnt.kernel("copy/queue")(x, blocks=launched, tracing=Tracing(**tracing), isolated=isolated)
    np.testing.assert_array_equal(found.y, x)
    return found


def enumerators(header: str, name: str) -> list[str]:
    body = re.search(rf"enum class {name}[^{{]*{{(.*?)}}", (HEADERS / header).read_text(), re.DOTALL)[1]
    return re.findall(r"(\w+)(?:\s*=\s*\d+)?\s*(?:,|$)", re.sub(r"//.*", "", body))


def test_enumerations_are_those_of_the_twin() -> None:
    def plain(names: list[str]) -> list[str]:
        return [name.replace("_", "").lower() for name in names]

    assert plain(enumerators("events/event.h", "Kind")) == plain([one.name for one in Kind if one is not Kind.SCALARS])
    assert plain(enumerators("events/event.h", "Pipe")) == plain([one.name for one in Pipe])
    assert plain(enumerators("events/event.h", "Space")) == plain([one.name for one in Space])
    assert plain(enumerators("events/event.h", "Access")) == plain([one.name for one in Access])
    assert enumerators("base/constants.h", "HardEvent") == [*HARD_EVENTS, "MAX"]


@pytest.mark.parametrize("isolated", [True, False])
def test_the_copy_kernel_event_by_event(isolated: bool) -> None:
    trace = copy(TILE + 8, isolated=isolated).trace
    assert (trace.launched, trace.complete, trace.sampled) == (1, True, False)
    kinds = [event.kind.name for event in trace.blocks[0]]
    tile = ["ALLOC", "COPY", "SET_FLAG", "ENQUE", "WAIT_FLAG", "DEQUE", "COPY", "SET_FLAG", "FREE"]
    # At its end the TPipe waits for the flag that the last FreeTensor left, and for all pipes.
    assert kinds == ["INIT_BUFFER", *tile, "WAIT_FLAG", *tile, "WAIT_FLAG", "BARRIER"]
    moved = [event for event in trace.blocks[0] if event.kind is Kind.COPY]
    assert [(event.op, event.pipe, event.lanes) for event in moved] == [
        ("DataCopyPad", Pipe.MTE2, TILE),
        ("DataCopyPad", Pipe.MTE3, TILE),
        ("DataCopyPad", Pipe.MTE2, 8),
        ("DataCopyPad", Pipe.MTE3, 8),
    ]
    source = Path(moved[0].file).read_text().splitlines()
    assert "DataCopyPad(tile, xGm_[at]" in source[moved[0].line - 1]
    flags = [event for event in trace.blocks[0] if event.kind is Kind.SET_FLAG]
    assert [(event.flag, event.pipe.name) for event in flags[:2]] == [("MTE2_MTE3", "MTE2"), ("MTE3_MTE2", "MTE3")]


def test_addresses_are_those_of_the_model() -> None:
    trace = copy(TILE).trace
    load, store = (event for event in trace.blocks[0] if event.kind is Kind.COPY)
    dst, src = load.operands
    assert (dst.space, dst.at, dst.access) == (Space.UB, 0, Access.WRITE)
    assert (src.space, src.at, src.bytes, src.argument) == (Space.GM, FIRST_ADDRESS, TILE * 4, "x")
    assert (src.lines, src.cold, src.cold_blocks) == (32, 32, 512)
    x, y = trace.arguments
    assert (x.name, y.name, store.operands[0].at) == ("x", "y", y.address)
    assert x.address % 512 == y.address % 512 == 0
    assert y.address >= x.address + x.bytes


def test_an_argument_may_start_inside_a_line() -> None:
    trace = copy(TILE, offsets={"x": 32}).trace
    source = next(event for event in trace.blocks[0] if event.kind is Kind.COPY).operands[1]
    assert source.at == FIRST_ADDRESS + 32
    assert source.lines == 33
    with pytest.raises(ArgumentError, match="no tensor 'z'"):
        copy(8, offsets={"z": 32})


def test_the_same_launch_gives_the_same_trace() -> None:
    """Isolated and in process, memory lies elsewhere each time; nothing of it may show."""
    first, second = copy(3 * TILE, 2).trace, copy(3 * TILE, 2, isolated=False).trace
    assert first == second
    x = np.zeros(1024, np.float32)
    elements = gnt.kernel(source=SCALARS)
    runs = [
        elements.run(x[start : start + 256], gnt.out((256,), np.float32), tracing=Tracing(), isolated=False).trace
        for start in (0, 5, 17)
    ]
    assert runs[0] == runs[1] == runs[2]


def test_chosen_blocks_are_recorded_and_all_are_counted() -> None:
    n = 40 * 1024
    some, all_of_them = copy(n, 40, blocks=3).trace, copy(n, 40, blocks=40).trace
    assert sorted(some.blocks) == [0, 19, 39]
    assert some.sampled
    assert some.lines == all_of_them.lines == Lines(320, 320, 0, 320, 320, 640, 0)
    assert some.weights() == {0: 10, 19: 19, 39: 11}
    assert some.blocks[19] == all_of_them.blocks[19]
    assert sorted(copy(n, 40, blocks=[7]).trace.blocks) == [7]
    with pytest.raises(ArgumentError, match="0 to 39"):
        copy(n, 40, blocks=[40])


def test_a_line_that_two_blocks_share_is_cold_once() -> None:
    """Shares of 264 bytes: the second block's first line is the first one's third."""
    trace = copy(132, 2, blocks=2).trace
    first, second = (
        next(event for event in trace.blocks[block] if event.kind is Kind.COPY).operands[1] for block in (0, 1)
    )
    assert (first.lines, first.cold, first.cold_blocks) == (1, 1, 9)
    assert (second.lines, second.cold, second.cold_blocks) == (2, 1, 8)


def test_when_the_room_ends_the_trace_says_so() -> None:
    trace = copy(64 * TILE, bytes=64 * 100).trace
    assert not trace.complete
    assert 0 < len(trace.blocks[0]) < 100
    assert "cut off" in repr(trace)
    assert trace.lines == copy(64 * TILE).trace.lines


SCALARS = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void elements(GM_ADDR x, GM_ADDR y) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1024);
  AscendC::LocalTensor<float> a = buffer.Get<float>();
  AscendC::GlobalTensor<float> in, out;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 256);
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 256);
  for (uint32_t i = 0; i < 256; ++i)
    a.SetValue(i, in.GetValue(i));
  for (uint32_t i = 0; i < 256; ++i)
    out.SetValue(i, a.GetValue(i) +
                 a.GetValue(255 - i));
}
"""


def test_runs_of_scalar_accesses_are_one_event_a_line_and_direction() -> None:
    x = np.arange(256, dtype=np.float32)
    result = gnt.kernel(source=SCALARS).run(x, gnt.out((256,), np.float32), tracing=Tracing())
    runs = [event for event in result.trace.blocks[0] if event.kind is Kind.SCALARS]

    def facts(event: Event) -> tuple:
        (operand,) = event.operands
        return event.line, event.op, operand.space.name, event.lanes, operand.bytes, event.changes

    assert [facts(event) for event in runs] == [
        (11, "GetValue", "GM", 256, 1024, 16),
        (11, "SetValue", "UB", 256, 1024, 16),
        (13, "GetValue", "UB", 256, 1024, 16),
        (14, "GetValue", "UB", 256, 1024, 16),
        (13, "SetValue", "GM", 256, 1024, 16),
    ]
    assert runs[0].operands[0].argument == "x"
    assert (result.trace.lines.read, result.trace.lines.cold) == (2, 2)


def test_a_cache_hint_is_recorded() -> None:
    hinted = SCALARS.replace("for (uint32_t i = 0; i < 256; ++i)\n    a.SetValue(i, in.GetValue(i));",
        "in.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);\n  AscendC::DataCopy(a, in, 256);")  # fmt: skip
    trace = (
        gnt.kernel(source=hinted).run(np.zeros(256, np.float32), gnt.out((256,), np.float32), tracing=Tracing()).trace
    )
    load = next(event for event in trace.blocks[0] if event.kind is Kind.COPY)
    assert not load.operands[1].cached
    assert (trace.lines.bypassed, trace.lines.bypassed_bytes, trace.lines.cold) == (2, 1024, 0)


def test_a_bare_build_cannot_be_traced() -> None:
    with pytest.raises(ArgumentError, match="bare build"):
        gnt.kernel("copy/queue")(np.zeros(8, np.float32), tracing=Tracing(), observed=False)


@pytest.mark.parametrize("wrong", [{"blocks": 0}, {"bytes": 1}, {"offsets": {"x": -1}}])
def test_a_tracing_that_cannot_be_is_refused(wrong: dict) -> None:
    with pytest.raises(ArgumentError):
        Tracing(**wrong)


@pytest.mark.parametrize("slots", [b"\x09" * 64, b"\x01\x63" + bytes(62), b"\x01" * 63])
def test_slots_that_a_kernel_overwrote_are_refused(slots: bytes) -> None:
    with pytest.raises(KernelError, match="overwrote"):
        decode(slots, names=[], launched=1, chosen=[0], complete=True, arguments=(), lines=Lines(*[0] * 7))
