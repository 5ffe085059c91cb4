"""Bank conflicts: the published scenarios, and rules that hold for any operands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing_support import vector

from gn_tutorial.timing.bank_conflicts import AccessStream, data_cycles, streams

LATENCY = 15


def cycles(src0: AccessStream, src1: AccessStream, dst: AccessStream, repeats: int = 64) -> int:
    return data_cycles((src0, src1), (dst,), repeats, LATENCY)


def plain(at: int, blk: int = 1, rep: int = 8) -> AccessStream:
    return AccessStream(at, 8, blk, rep)


@pytest.mark.parametrize(
    ("src0", "src1", "dst", "ticks"),
    [
        (plain(0), plain(0x10100), plain(0x20000), 2390),
        (plain(0), plain(0x4000), plain(0x10000), 4167),
        (plain(0), plain(0x10000), plain(0x14100), 4167),
        (plain(0), plain(0x10100), plain(0x4000), 2389),
        (plain(0), plain(0x10100), plain(0x4020), 3751),
        (plain(0), plain(0x10100), plain(0x10100), 2390),
        (plain(0, 0, 1), plain(0x10100), plain(0x10100), 3584),
        (plain(0, 0, 8), plain(0x10100), plain(0x10100), 2389),
    ],
)
def test_the_eight_published_scenarios(src0: AccessStream, src1: AccessStream, dst: AccessStream, ticks: int) -> None:
    """Ticks of 20 ns for 1000 Adds on a chip of 1.80 GHz; 22 cycles of each Add are not data."""
    modelled = 1000 * (22 + cycles(src0, src1, dst)) / 1.8 / 20
    assert modelled == pytest.approx(ticks, rel=0.02)


def test_sources_of_one_group_are_read_one_after_the_other() -> None:
    assert cycles(plain(0), plain(0x10000), plain(0x20100)) == 128


def test_blocks_of_one_operand_in_one_group_are_read_one_after_the_other() -> None:
    """A block stride of 16 blocks puts all eight blocks of a repeat into one bank group."""
    assert data_cycles((plain(0, 16, 1),), (), 4, LATENCY) == 32


def test_eight_reads_of_the_same_block_are_one() -> None:
    assert data_cycles((plain(0, 0, 0),), (plain(0x10100),), 8, LATENCY) == 8


def test_writes_to_one_group_take_a_cycle_each() -> None:
    assert data_cycles((plain(0x10000),), (plain(0, 16, 1),), 4, LATENCY) == 32


def test_turns_of_reads_and_writes_cost_as_many_cycles_as_there_are_writes_in_the_way() -> None:
    """While the first 15 repeats are read nothing is written yet: 2 R - 15."""
    for repeats in (32, 64, 100):
        assert cycles(plain(0), plain(0x10100), plain(0x4020), repeats) == 2 * repeats - LATENCY


addresses = st.integers(0, 0x2BFFF // 32).map(lambda block: block * 32)
operands = st.builds(AccessStream, addresses, st.integers(1, 8), st.integers(0, 16), st.integers(0, 16))


@given(st.lists(operands, min_size=1, max_size=3), operands, st.integers(1, 40))
def test_between_no_conflict_and_everything_one_after_the_other(
    sources: list[AccessStream], target: AccessStream, repeats: int
) -> None:
    most = repeats * (sum(one.blocks for one in sources) + target.blocks)
    assert repeats <= data_cycles(tuple(sources), (target,), repeats, LATENCY) <= most + LATENCY


@given(operands, operands, operands, st.integers(1, 40))
def test_more_repeats_never_take_less(src0: AccessStream, src1: AccessStream, dst: AccessStream, repeats: int) -> None:
    assert cycles(src0, src1, dst, repeats) <= cycles(src0, src1, dst, repeats + 1)


def test_operands_of_a_conversion_advance_by_their_own_size() -> None:
    """Cast half -> float: a repeat of 64 lanes is 4 blocks of halves and 8 of floats."""
    event = vector("Cast", 4, 0, 0x8000)
    source = event.operands[1]._replace(element_bytes=2, bytes=512)
    sources, targets = streams(event._replace(operands=(event.operands[0], source)))
    assert sources == (AccessStream(0, 4, 1, 4),)  # the row in its bank does not matter
    assert targets == (AccessStream(0, 8, 1, 8),)


@given(st.lists(addresses, min_size=3, max_size=3), st.integers(1, 20))
def test_the_row_in_a_bank_does_not_matter(places: list[int], repeats: int) -> None:
    event = vector("Add", repeats, *places)
    sources, targets = streams(event)
    whole = [AccessStream(at, 8, 1, 8) for at in places]
    assert data_cycles(sources, targets, repeats, LATENCY) == cycles(whole[1], whole[2], whole[0], repeats)


def test_the_single_result_of_a_reduction_meets_nothing() -> None:
    event = vector("WholeReduceSum", 8, 0, 0x8000)
    result = event.operands[0]._replace(bytes=32)
    assert streams(event._replace(operands=(result, event.operands[1])))[1] == ()
