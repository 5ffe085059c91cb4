"""The timeline against calculations by hand, and what must hold for any program."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing_support import elements, event, load, set_flag, store, trace, trace_of, vector, wait_flag

from gn_tutorial.abi.trace import Access, Event, Kind, Lines, Pipe, Trace
from gn_tutorial.errors import ArgumentError
from gn_tutorial.timing.machine import load_machine
from gn_tutorial.timing.span import Span
from gn_tutorial.timing.timeline import Timeline, make_timeline

B3 = load_machine("910B3")
ISSUE, FLAG, LATENCY, HBM = B3.issue, B3.flag, B3.l2_read_latency, B3.hbm_latency


def spans(timeline: Timeline, pipe: Pipe, block: int = 0) -> list[Span]:
    return list(timeline.of(block, pipe))


def only(made: Trace, pipe: Pipe, **options: bool) -> Span:
    (found,) = spans(make_timeline(made, B3, **options), pipe)
    return found


# One instruction.


def test_an_add_takes_its_start_up_and_one_cycle_a_repeat() -> None:
    span = only(trace(vector("Add", 64, 0x20000, 0, 0x10100)), Pipe.V)
    assert (span.start, span.end, span.conflict) == (ISSUE, ISSUE + 6 + 16 + 64, 1.0)


def test_sources_in_one_bank_group_double_the_data_and_not_the_start_up() -> None:
    span = only(trace(vector("Add", 64, 0x20000, 0, 0x4000)), Pipe.V)
    assert (span.cycles, span.conflict) == (6 + 16 + 128, 2.0)


def test_slow_instructions_take_several_cycles_a_repeat_and_more_for_halves() -> None:
    assert only(trace(vector("Exp", 10, 0x10000, 0)), Pipe.V).cycles == 12 + 16 + 20
    assert only(trace(vector("Exp", 10, 0x10000, 0, element_bytes=2)), Pipe.V).cycles == 12 + 16 + 40


def test_an_instruction_without_repeats_still_starts_up() -> None:
    assert only(trace(vector("Muls", 0, 0, 0)), Pipe.V).cycles == 7 + 16


def test_a_cold_transfer_of_one_core_is_bound_by_its_port_and_waits_for_the_memory() -> None:
    span = only(trace(load(8192)), Pipe.MTE2)
    assert span.cycles == 8192 / 58
    assert span.done == span.start + 8192 / 58 + 241 + 180


def in_a_row(one: Event, times: int = 200) -> float:
    """Cycles of a transfer when each of 40 cores has done nothing else for long: the mean of the later half."""
    found = spans(make_timeline(trace(*[one] * times, launched=40), B3), Pipe.MTE2)[times // 2 :]
    return (found[-1].end - found[0].start) / len(found)


SHARE = 1490 / (1.8 * 40)


def test_cold_transfers_of_all_cores_share_the_memory() -> None:
    assert in_a_row(load(8192)) == pytest.approx(8192 / SHARE, rel=0.02)


def test_cores_that_read_now_and_then_do_not_wait_for_each_other() -> None:
    """40 cores that start one after another, and have much work between their transfers, read at their own rate."""
    loads = [load(8192, at=8192 * tile) for tile in range(8)]
    work = [vector("Abs", 250, 0, 0)] * 20
    ordered = [set_flag("V_MTE2"), wait_flag("V_MTE2")]
    apart = [event for one in loads for event in (one, *work, *ordered)]
    found = spans(make_timeline(trace(*apart, launched=40), B3), Pipe.MTE2)
    assert len(found) == 8
    for span in found:
        assert span.cycles == pytest.approx(8192 / 58, rel=0.001)


def test_a_warm_transfer_comes_from_the_l2_cache() -> None:
    for made, warm in ((trace(load(8192, cold=False), launched=40), False), (trace(load(8192), launched=40), True)):
        span = only(made, Pipe.MTE2, warm=warm)
        assert span.cycles == 8192 / 58
        assert span.done == span.end + 241


def test_a_warm_start_does_not_help_what_does_not_fit() -> None:
    huge = Lines(read=16, cold=16, bypassed=0, written=0, dirty=0, held=B3.l2_bytes // 512 + 1, bypassed_bytes=0)
    assert only(trace(load(8192), lines=huge), Pipe.MTE2, warm=True).done > LATENCY + HBM


def test_a_cache_hint_sends_every_read_to_the_memory() -> None:
    made = trace(load(8192, cold=False, cached=False), launched=40)
    assert only(made, Pipe.MTE2).done == only(trace(load(8192), launched=40), Pipe.MTE2).done
    assert in_a_row(load(8192, cold=False, cached=False)) == pytest.approx(8192 / SHARE, rel=0.02)


def test_what_was_read_long_ago_is_read_from_the_memory_again() -> None:
    """40 cores share 192 MiB: a core may move 9830 lines of 512 bytes until its own are dropped."""
    near, far = (load(8192, cold=False, reuse_lines=lines) for lines in (9830, 9831))
    assert in_a_row(near) == pytest.approx(8192 / 58)
    assert in_a_row(far) == pytest.approx(8192 / SHARE, rel=0.02)
    assert only(trace(far, launched=40), Pipe.MTE2).done == only(trace(near, launched=40), Pipe.MTE2).done + 180


def test_a_burst_that_starts_inside_a_line_fetches_one_line_more() -> None:
    aligned = only(trace(load(2048, at=512), launched=40), Pipe.MTE2).cycles
    shifted = only(trace(load(2048, at=514), launched=40), Pipe.MTE2).cycles
    assert shifted / aligned == pytest.approx((2048 + 512) / 2048)


def test_short_rows_cost_whole_lines() -> None:
    """64 rows of 128 bytes, each in a line of its own."""
    one = load(64 * 128, cold=False)
    far = one.operands[1]._replace(rows=64, row_bytes=128, row_pitch=24576, lines=64)
    span = only(trace(one._replace(operands=(one.operands[0], far))), Pipe.MTE2)
    assert span.cycles == 64 * 512 / 58
    assert span.bytes == 64 * 128


def test_a_store_of_short_rows_costs_whole_lines_too() -> None:
    one = store(64 * 128)
    far = one.operands[0]._replace(rows=64, row_bytes=128, row_pitch=24576, lines=64)
    assert only(trace(one._replace(operands=(far, one.operands[1]))), Pipe.MTE3).cycles == 64 * 512 / 58 + 96


@pytest.mark.parametrize(
    ("row_bytes", "pitch", "at", "slow"),
    [
        (192, 400, 0, 32),  # every second one begins inside a block of 32 bytes
        (192, 384, 0, 0),
        (192, 384, 4, 64),
        (200, 384, 0, 64),  # all end inside one
        (200, 200, 0, 0),  # the next row goes on where one ends
    ],
)
def test_strided_rows_with_parts_of_blocks_cost_more(row_bytes: int, pitch: int, at: int, slow: int) -> None:
    one = load(64 * row_bytes, cold=False)
    far = one.operands[1]._replace(at=(1 << 24) + at, rows=64, row_bytes=row_bytes, row_pitch=pitch, lines=64)
    span = only(trace(one._replace(operands=(one.operands[0], far))), Pipe.MTE2)
    assert span.cycles == pytest.approx(max(64 * 512 / 58, slow * B3.partial_row))


def test_small_transfers_are_issued_no_faster_than_the_dma_unit_takes_them() -> None:
    found = spans(make_timeline(trace(*[load(32, at=512 * i) for i in range(5)]), B3), Pipe.MTE2)
    assert [b.start - a.start for a, b in pairwise(found)] == pytest.approx([20.6] * 4)


def test_a_store_holds_its_queue_until_it_has_arrived() -> None:
    assert only(trace(store(8192)), Pipe.MTE3).cycles == 8192 / 43 + 96


def test_same_addresses_in_the_same_order_slow_every_core_down() -> None:
    same = trace_of({0: [load(8192)], 1: [load(8192, cold=False)]}, launched=2)
    other = trace_of({0: [load(8192)], 1: [load(8192, at=8192, cold=False)]}, launched=2)
    times = [spans(make_timeline(made, B3), Pipe.MTE2, 1)[0].cycles for made in (same, other)]
    assert times[0] / times[1] == pytest.approx(1.54)


def test_a_run_of_scalar_accesses() -> None:
    assert only(trace(elements(100)), Pipe.S).cycles == pytest.approx(100 * B3.scalar_access)


# What orders them.


def test_a_flag_makes_the_vector_unit_wait_for_the_data_and_says_so() -> None:
    made = trace(load(8192, line=41), set_flag("MTE2_V"), wait_flag("MTE2_V"), vector("Abs", 8, 0, 0, line=43))
    timeline = make_timeline(made, B3)
    (copy,), (add,) = spans(timeline, Pipe.MTE2), spans(timeline, Pipe.V)
    assert add.start == copy.done
    assert (add.cause, add.cause_line, add.waited) == ("MTE2", 41, copy.done)
    assert add.reason == f"V waited {copy.done:.0f} cycles for MTE2 (line 41)"


@pytest.mark.parametrize(("file", "said"), [("/a/k.cpp", "line 41"), ("/a/ring.h", "ring.h:41"), ("", "line 41")])
def test_a_wait_names_the_file_where_it_is_not_the_kernels_own(file: str, said: str) -> None:
    copy = load(8192, line=41)._replace(file=file)
    timeline = make_timeline(trace(copy, set_flag("MTE2_V"), wait_flag("MTE2_V"), vector("Abs", 8, 0, 0)), B3)
    (add,) = spans(timeline, Pipe.V)
    assert (add.cause_file, add.cause_line) == (file, 41)
    assert add.reason.endswith(f" for MTE2 ({said})")


def test_without_a_flag_nobody_waits() -> None:
    timeline = make_timeline(trace(load(8192), vector("Abs", 8, 0, 0)), B3)
    (add,) = spans(timeline, Pipe.V)
    assert (add.start, add.cause) == (2 * ISSUE, "S")


def test_a_pipe_waits_for_the_loop_that_the_scalar_unit_is_in_and_not_for_the_copy_at_its_end() -> None:
    pass_over = [load(4096, line=3), set_flag("MTE2_S"), wait_flag("MTE2_S")]

    def cause(*between: Event) -> tuple[str, int]:
        second = spans(make_timeline(trace(*pass_over, *between, *pass_over), B3), Pipe.MTE2)[1]
        return second.cause, second.cause_line

    assert cause(elements(1000, at=1 << 14, line=5)) == ("S", 5)
    assert cause() == ("MTE2", 3)  # nothing but the copy itself held the scalar unit


def test_two_buffers_hide_the_latency_that_one_does_not() -> None:
    def program(buffers: int) -> list[Event]:
        made = [set_flag("V_MTE2", i) for i in range(buffers)]
        for tile in range(16):
            i = tile % buffers
            made += [wait_flag("V_MTE2", i), load(8192, at=8192 * tile), set_flag("MTE2_V", i), wait_flag("MTE2_V", i)]
            made += [vector("Abs", 32, 0x8000 * i, 0x8000 * i), set_flag("V_MTE2", i)]
        return made

    one, two = (make_timeline(trace(*program(buffers)), B3).core_cycles for buffers in (1, 2))
    vectors = 4 + 16 + 32
    flags = 2 * FLAG + ISSUE  # issued while the vector unit still works: none of them shows
    assert one == pytest.approx(16 * (8192 / 58 + 421 + vectors), abs=8 * flags)
    assert two == pytest.approx(8 * (8192 / 58 + 421 + vectors) + 8192 / 58, rel=0.02)


def test_a_barrier_of_the_vector_unit_costs_two_cycles() -> None:
    barrier = event(Kind.BARRIER, Pipe.V, op="PipeBarrier")
    first, second = spans(make_timeline(trace(vector("Abs", 8, 0, 0), barrier, vector("Abs", 8, 0, 0)), B3), Pipe.V)
    assert second.start - first.end == B3.vector_barrier


def test_a_barrier_of_all_pipes_waits_for_data_on_their_way() -> None:
    barrier = event(Kind.BARRIER, Pipe.ALL, op="PipeBarrier")
    timeline = make_timeline(trace(load(8192), barrier, vector("Abs", 8, 0, 0)), B3)
    (copy,), (add,) = spans(timeline, Pipe.MTE2), spans(timeline, Pipe.V)
    assert add.start == copy.done + B3.round_trip + ISSUE


def test_the_scalar_unit_waits_for_what_it_reads_and_only_for_that() -> None:
    result = vector("Abs", 64, 0, 0)
    waits = make_timeline(trace(result, elements(1)), B3)
    assert spans(waits, Pipe.S)[0].start == spans(waits, Pipe.V)[0].end + B3.round_trip
    assert spans(waits, Pipe.S)[0].cause == "V"
    free = make_timeline(trace(result, elements(1, at=0x10000)), B3)
    assert spans(free, Pipe.S)[0].start == ISSUE


def test_cleaning_the_data_cache_takes_as_long_as_a_write_to_the_l2_cache() -> None:
    assert only(trace(event(Kind.CLEAN_CACHE, Pipe.S, op="dcci")), Pipe.S).cycles == 96


def test_queue_operations_cost_scalar_time() -> None:
    timeline = make_timeline(trace(event(Kind.ALLOC, Pipe.S, op="AllocTensor"), load(512)), B3)
    assert spans(timeline, Pipe.MTE2)[0].start == B3.queue_operation + ISSUE
    assert timeline.busy[0][Pipe.S] == B3.queue_operation + ISSUE


# Several cores.

MEET = event(Kind.SYNC_ALL, Pipe.ALL, op="SyncAll", line=7)


def test_blocks_that_meet_go_on_together() -> None:
    blocks = {0: [vector("Abs", 8, 0, 0), MEET, vector("Abs", 8, 0, 0)]}
    blocks[1] = [vector("Abs", 128, 0, 0), MEET, vector("Abs", 8, 0, 0)]
    timeline = make_timeline(trace_of(blocks), B3)
    starts = {block: spans(timeline, Pipe.V, block)[1].start for block in (0, 1)}
    arrived = spans(timeline, Pipe.V, 1)[0].end
    assert starts == dict.fromkeys((0, 1), arrived + B3.meet + B3.round_trip + ISSUE)
    assert spans(timeline, Pipe.V, 0)[1].cause == "blocks"
    assert spans(timeline, Pipe.V, 1)[1].cause_line == 7


def test_blocks_that_meet_must_all_fit_on_the_machine() -> None:
    with pytest.raises(ArgumentError, match="41 blocks wait for each other"):
        make_timeline(trace_of({0: [MEET], 40: [MEET]}, launched=41), B3)


def test_more_blocks_than_cores_run_one_after_the_other() -> None:
    once = make_timeline(trace(vector("Abs", 64, 0, 0), launched=40), B3)
    twice = make_timeline(trace_of({0: [vector("Abs", 64, 0, 0)], 79: [vector("Abs", 64, 0, 0)]}, launched=80), B3)
    assert twice.core_cycles == 2 * once.core_cycles
    assert spans(twice, Pipe.V, 79)[0].start == once.core_cycles + ISSUE


def test_the_memory_bounds_the_launch() -> None:
    """80 MB read once: 53.7 us at 1490 GB/s, whatever the recorded block did."""
    lines = Lines(read=156250, cold=156250, bypassed=0, written=0, dirty=0, held=156250, bypassed_bytes=0)
    timeline = make_timeline(trace(load(512), launched=40, lines=lines), B3)
    assert timeline.microseconds == pytest.approx(0.31 + 40 * 0.156 + 80e6 / 1490e3)


def test_writes_reach_the_memory_only_where_the_cache_runs_out_of_room() -> None:
    def traffic(dirty: int, held: int) -> float:
        lines = Lines(read=0, cold=0, bypassed=0, written=dirty, dirty=dirty, held=held, bypassed_bytes=0)
        return make_timeline(trace(store(512), lines=lines), B3).traffic.hbm_written

    room = B3.l2_bytes // 512
    assert traffic(1000, room) == 0
    assert traffic(1000, room + 10) == 10 * 512
    assert traffic(1000, room + 5000) == 1000 * 512


# Any program.

_TILES = st.lists(
    st.tuples(
        st.integers(1, 64),  # repeats
        st.integers(1, 16384),  # bytes
        st.sampled_from(["Add", "Exp", "WholeReduceSum", "Muls"]),
        st.booleans(),  # cold
        st.integers(0, 3),  # scalar accesses
        st.sampled_from([None, Pipe.V, Pipe.MTE2, Pipe.ALL]),  # a barrier
    ),
    min_size=1,
    max_size=12,
)


def program(tiles: list[tuple], times: int = 1) -> list[Event]:
    """Tiles through one buffer, ordered by flags as a right kernel does it. times: bytes of each transfer."""
    made = [set_flag("V_MTE2"), set_flag("MTE3_V")]
    for index, (repeats, size, op, cold, accesses, barrier) in enumerate(tiles):
        made += [wait_flag("V_MTE2"), load(size * times, at=1 << 22, cold=cold, line=10 + index)]
        made += [set_flag("MTE2_V"), wait_flag("MTE2_V"), wait_flag("MTE3_V")]
        made += [vector(op, repeats, 0x10000, 0, 0x4000, line=40 + index), set_flag("V_MTE2"), set_flag("V_MTE3")]
        if accesses:
            made.append(elements(accesses, at=0x10000, access=Access.READ))
        if barrier is not None:
            made.append(event(Kind.BARRIER, barrier, op="PipeBarrier"))
        made += [wait_flag("V_MTE3"), store(size * times, ub=0x10000, line=70 + index), set_flag("MTE3_V")]
    return made


@given(_TILES)
def test_spans_of_one_pipe_never_overlap(tiles: list[tuple]) -> None:
    timeline = make_timeline(trace(*program(tiles)), B3)
    for pipe in (Pipe.S, Pipe.MTE2, Pipe.V, Pipe.MTE3):
        found = spans(timeline, pipe)
        assert all(one.start < one.end <= one.done for one in found)
        assert all(a.end <= b.start for a, b in pairwise(found))


@given(_TILES)
def test_flags_are_respected(tiles: list[tuple]) -> None:
    timeline = make_timeline(trace(*program(tiles)), B3)
    loads, vectors, stores = (spans(timeline, pipe) for pipe in (Pipe.MTE2, Pipe.V, Pipe.MTE3))
    for index in range(len(tiles)):
        assert vectors[index].start >= loads[index].done
        assert stores[index].start >= vectors[index].done
        if index:
            assert loads[index].start >= vectors[index - 1].done
            assert vectors[index].start >= stores[index - 1].done


@given(_TILES, st.integers(2, 5))
def test_more_bytes_never_take_less_time(tiles: list[tuple], times: int) -> None:
    less, more = (make_timeline(trace(*program(tiles, factor)), B3) for factor in (1, times))
    assert more.microseconds >= less.microseconds


@given(_TILES)
def test_the_same_trace_gives_the_same_digits(tiles: list[tuple]) -> None:
    made = trace(*program(tiles))
    assert make_timeline(made, B3).spans == make_timeline(made, load_machine("910B3")).spans


@given(_TILES)
def test_a_slower_clock_never_makes_a_launch_faster(tiles: list[tuple]) -> None:
    made = trace(*program(tiles))
    slow = B3.with_(clock_ghz=1.0)
    assert make_timeline(made, slow).microseconds >= make_timeline(made, B3).microseconds


@given(_TILES)
def test_idle_and_busy_time_add_up(tiles: list[tuple]) -> None:
    timeline = make_timeline(trace(*program(tiles)), B3)
    for pipe in (Pipe.MTE2, Pipe.V, Pipe.MTE3):
        found = spans(timeline, pipe)
        assert sum(one.waited + one.cycles for one in found) == pytest.approx(found[-1].end)
        assert timeline.busy[0][pipe] == pytest.approx(sum(one.cycles for one in found))
