"""Queues, buffers, tensors, tiling macros and system calls, as a kernel sees them."""

from __future__ import annotations

import numpy as np
import pytest
from twin_support import (
    BUFFER_BYTES,
    Data,
    ask,
    assert_same,
    bytes_of,
    family,
    launch_family,
    pattern,
    quiet,
    run,
)

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.errors import KernelFault
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

# In the order of enum Op of families/queue.cpp.
OPS = {
    name: op
    for op, name in enumerate(
        "Order Stale Counts WholeBuffer Views Unwritten Reset Operators Bind Blocks Tiling Key EmptyDeque NoEventIds"
        " SecondPipe Globals Scalars Print ReservedIds".split()
    )
}
UNTOUCHED = np.int32(-77)


def notes(name: str, src: np.ndarray | None = None, *, options: TwinOptions | None = None) -> list[int]:
    """The numbers that one op of families/queue.cpp noted down."""
    dst = np.full(BUFFER_BYTES // 4, UNTOUCHED)
    seen = run("queue", dst, src, op=OPS[name], options=options)
    return seen[: np.flatnonzero(seen != UNTOUCHED)[-1] + 1].tolist()


def test_first_enqueued_first_dequeued() -> None:
    assert notes("Order") == [2, 1]


def test_buffers_take_turns_and_keep_what_they_held() -> None:
    assert notes("Stale") == [100, 101]


def test_what_a_queue_says_about_itself() -> None:
    # Tensors in it, any in it, room for one more, a free buffer: empty; both allocated; one, then both enqueued; one
    # freed.
    assert notes("Counts") == [*(0, 0, 1, 1), *(0, 0, 1, 0), *(1, 1, 1, 0), *(2, 1, 0, 0), *(1, 1, 1, 1)]


def test_a_queue_hands_out_whole_buffers() -> None:
    assert notes("WholeBuffer") == [64, 3, 64, 32, 5, 16]


def test_views_of_a_local_tensor() -> None:
    assert notes("Views") == [7 * 0x01010101, 27, 128, 3, 12, -9, 0x0404, 6, 77, 1]


# They read unwritten memory on purpose.
UNWRITTEN = TwinOptions(warnings=("ub-never-written",))


def test_unwritten_local_memory_is_nan() -> None:
    assert notes("Unwritten", options=UNWRITTEN) == [1, 1]


def test_reset_starts_again_at_address_zero_with_a_full_mask() -> None:
    assert notes("Reset", options=UNWRITTEN) == [31, 1]


def test_a_pipe_starts_with_a_full_mask_and_is_the_one_found() -> None:
    assert notes("SecondPipe") == [1, 1]


def test_operators_on_tensors() -> None:
    a, b = Data(1).array(np.float32), Data(2).array(np.float32)
    actual = run("queue", pattern(np.float32), a, b, op=OPS["Operators"])
    with quiet():
        parts = [a[:64] + b[:64], a[:64] - b[:64], a[:64] * b[:64], a[:64] / b[:64]]
    assert_same(actual, np.concatenate([*parts, pattern(np.float32)[256:]]))


def test_queue_between_two_positions_copies_without_the_vector_unit() -> None:
    src = pattern(np.float32, 4)
    launched = launch_family("queue", pattern(np.float32), src, src, ask(op=OPS["Bind"]))
    assert_same(launched.arrays["dst"].view(np.float32), src)
    assert (launched.tally.vector, launched.tally.mte2, launched.tally.mte3) == (0, 4, 4)
    assert (launched.tally.bytes_in, launched.tally.bytes_out, launched.tally.ub_high_water) == (16384, 16384, 8192)


@pytest.mark.parametrize("blocks", [1, 3, 40])
def test_every_block_knows_its_index(blocks: int) -> None:
    dst = np.full(BUFFER_BYTES // 4, UNTOUCHED)
    nothing = np.zeros(BUFFER_BYTES, np.uint8)
    launched = launch_family("queue", dst, nothing, nothing, ask(op=OPS["Blocks"]), blocks=blocks)
    expected = dst.copy()
    expected[: 16 * blocks : 16] = np.arange(blocks)
    expected[1 : 16 * blocks : 16] = blocks
    np.testing.assert_array_equal(launched.arrays["dst"].view(np.int32), expected)


def test_tiling_struct_is_read_with_natural_alignment() -> None:
    layout = np.dtype(
        {
            "names": ["rows", "flag", "scale", "length", "sizes"],
            "formats": [np.uint32, np.uint8, np.float32, np.uint64, (np.uint16, 3)],
            "offsets": [0, 4, 8, 16, 24],
            "itemsize": 32,
        }
    )
    data = np.zeros(1, layout)
    data[0] = (12, 200, 2.5, 7_000_000, (1, 2, 65535))
    src = np.zeros(BUFFER_BYTES, np.uint8)
    src[:32] = data.view(np.uint8)
    assert notes("Tiling", src) == [12, 200, 10, 7_000_000, 65535, 12, 200]


@pytest.mark.parametrize(("key", "expected"), [(1, 1), (10_000_000_000_000_000_001, 2), (0, -77), (2, -77)])
def test_tiling_key(key: int, expected: int) -> None:
    args = [LaunchArg("dst", ArgKind.TENSOR, Role.INOUT, np.full(4096, UNTOUCHED))]
    args += [LaunchArg(f"in{i}", ArgKind.TENSOR, Role.IN, np.zeros(BUFFER_BYTES, np.uint8)) for i in range(2)]
    args += [LaunchArg("ask", ArgKind.TENSOR, Role.IN, bytes_of(ask(op=OPS["Key"])))]
    launched = launch(family("queue").library, LaunchRequest(entry="queue", args=args, tiling_key=key, isolated=False))
    assert launched.arrays["dst"][0] == expected


def test_global_tensors() -> None:
    assert notes("Globals", np.arange(BUFFER_BYTES // 4, dtype=np.int32)) == [100, 100, 15, 3, 4, 0]


def test_scalars() -> None:
    assert notes("Scalars") == [65536, 66560, -3, 2, 2048, 2048, 6, 10]


def test_event_ids_are_reserved_and_released() -> None:
    # Two allocated; Fetch shows the lowest free one twice, without reserving it; a released one is free again; events
    # are separate.
    assert notes("ReservedIds") == [0, 1, 2, 2, 0, 0]


def test_printed_text_comes_back() -> None:
    args = [LaunchArg("dst", ArgKind.TENSOR, Role.INOUT, np.zeros(BUFFER_BYTES, np.uint8))]
    args += [LaunchArg(f"in{i}", ArgKind.TENSOR, Role.IN, np.zeros(BUFFER_BYTES, np.uint8)) for i in range(2)]
    args += [LaunchArg("ask", ArgKind.TENSOR, Role.IN, bytes_of(ask(op=OPS["Print"])))]
    printed = launch(family("queue").library, LaunchRequest(entry="queue", args=args)).printed
    assert printed.startswith("n=-3 x=ff f=0.250000 h=0.500000 text\nu=7\n")
    assert "desc=5" in printed
    assert "1.500000, -2.000000, 1.500000" in printed


# Both settings of what public text does not decide.


@pytest.mark.parametrize("setting", ["stop", "stale"])
def test_option_empty_deque(setting: str) -> None:
    options = TwinOptions(empty_deque=setting)
    if setting == "stale":
        assert notes("EmptyDeque", options=options) == [42, 42]
        return
    with pytest.raises(KernelFault) as caught:
        notes("EmptyDeque", options=options)
    assert [d.id for d in caught.value.diagnostics] == ["queue-empty"]


@pytest.mark.parametrize("setting", ["stop", "none"])
def test_option_event_ids(setting: str) -> None:
    options = TwinOptions(event_ids=setting)
    if setting == "none":
        assert notes("NoEventIds", options=options) == [*range(9), 100]
        return
    with pytest.raises(KernelFault) as caught:
        notes("NoEventIds", options=options)
    assert [d.id for d in caught.value.diagnostics] == ["event-ids-exhausted"]
