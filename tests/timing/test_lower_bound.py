"""The bound against numbers worked out by hand, on more bytes, and against the model on real launches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gn_tutorial as gnt
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.profiler.operator_bound import bound_of
from gn_tutorial.profiler.profile import profile_of, run_traced
from gn_tutorial.timing.lower_bound import ONE_READ, TWO_READS, TWO_READS_SPLIT, Work, lower_bound
from gn_tutorial.timing.machine import load_machine

B2 = load_machine("910B2")
UB = 192 * 1024
MIB = 1024 * 1024


def launch(cores: int) -> float:
    return 0.31 + 0.156 * cores


def test_large_copy_is_hbm_on_as_few_cores_as_keep_it_busy() -> None:
    # 1,490,000,000 bytes at 1490 GB/s are 1 ms. 14 cores read at most 14 * 58 * 1.8 = 1462 bytes a ns, 15 of them 1566.
    # 100 MB written fit into the L2 cache.
    found = lower_bound(Work(1_490_000_000, 100_000_000), B2, split=True)
    assert (found.kind, found.limit) == (ONE_READ, "HBM")
    assert found.microseconds == pytest.approx(launch(15) + 1000, abs=1e-9)


def test_what_the_l2_cache_cannot_hold_is_written_to_memory() -> None:
    # 201,326,592 bytes stay, 172,000,000 go at 1720 GB/s: 100 us. The 14.9 MB read take 10 us. 44 cores write all of it
    # in 109.8 us, 43 would take longer than the memory.
    found = lower_bound(Work(14_900_000, 201_326_592 + 172_000_000), B2, split=True)
    assert found.limit == "HBM"
    assert found.microseconds == pytest.approx(launch(44) + 10 + 100, abs=1e-9)


def test_few_bytes_read_and_many_written_are_bound_by_mte3() -> None:
    # 48 * 43,000 bytes: 48,000 cycles of writing, and 337 for one read and one write. A 14th core would save 264 of
    # 48,000 / 13 cycles, 0.147 us, and take 0.156 us to start.
    found = lower_bound(Work(48, 48 * 43_000), B2, split=True)
    assert found.limit == "writing"
    assert found.microseconds == pytest.approx(launch(13) + (48_000 / 13 + 337) / 1800, abs=1e-9)


def test_nothing_costs_the_launch_and_the_latencies() -> None:
    assert lower_bound(Work(0, 0), B2, split=False).microseconds == pytest.approx(launch(1) + 337 / 1800, abs=1e-12)


def test_one_group_larger_than_the_ub_is_read_twice_by_its_core() -> None:
    # One core reads 58 bytes a cycle (HBM would give it 827): 10 * 196,608 bytes once, 9 * 196,608 of them again.
    size = 10 * UB
    found = lower_bound(Work(size, 4, 1, size), B2, split=False)
    assert (found.kind, found.limit) == (TWO_READS, "whole groups")
    assert found.microseconds == pytest.approx(launch(1) + (19 * 196_608 / 58 + 337) / 1800, abs=1e-9)
    shared = lower_bound(Work(size, 4, 1, size), B2, split=True)
    # Shared by 11, the first number of cores whose UBs hold it.
    assert (shared.kind, shared.limit) == (ONE_READ, "reading")
    assert shared.microseconds == pytest.approx(launch(11) + (1_966_080 / 11 / 58 + 337) / 1800, abs=1e-9)


def test_49_large_groups_go_to_the_number_of_cores_that_suits_them() -> None:
    # Two groups for the busiest core on 25 to 48 cores, which take it 2 * (393,216 + 196,608) / 58 + 337 cycles, 11.5
    # us; the memory takes longer, 12.9 us. On 24 cores one has three groups.
    found = lower_bound(Work(49 * 2 * UB, 4, 49, 2 * UB), B2, split=False)
    assert found.limit == "HBM"
    assert found.microseconds == pytest.approx(launch(25) + 49 * 393_216 / 1_490_000, abs=1e-9)


def test_a_group_larger_than_all_ubs_is_read_again_as_far_as_it_exceeds_them() -> None:
    # On 28 cores: 64 MiB - 28 * 192 KiB = 61,603,840 bytes again, all of it in 28 parts at 58 bytes a cycle: 44.2 us,
    # just less than the memory needs for the first 64 MiB.
    found = lower_bound(Work(64 * MIB, 4, 1, 64 * MIB), B2, split=True)
    assert found.kind == TWO_READS_SPLIT
    assert found.microseconds == pytest.approx(launch(28) + 67_108_864 / 1_490_000, abs=1e-9)


def test_a_group_that_just_fits_is_read_once() -> None:
    assert lower_bound(Work(UB, UB, 1, UB), B2, split=False).kind == ONE_READ
    assert lower_bound(Work(UB + 4, UB, 1, UB + 4), B2, split=False).kind == TWO_READS


def test_work_that_cannot_be_is_refused() -> None:
    with pytest.raises(ArgumentError, match="these sizes are impossible"):
        Work(-1, 0)
    with pytest.raises(ArgumentError, match="these sizes are impossible"):
        Work(100, 0, 2, 100)


SIZES = st.integers(0, 1 << 30)


@given(SIZES, SIZES, SIZES, SIZES, st.booleans())
def test_more_bytes_never_lower_the_bound(read: int, written: int, more: int, out: int, split: bool) -> None:
    before = lower_bound(Work(read, written), B2, split=split).microseconds
    assert lower_bound(Work(read + more, written + out), B2, split=split).microseconds >= before


@given(st.integers(1, 200), st.integers(1, 1 << 23), st.integers(0, 1 << 20), st.integers(0, 50), st.booleans())
def test_larger_and_more_groups_never_lower_the_bound(
    units: int, size: int, larger: int, more: int, split: bool
) -> None:
    def of(count: int, each: int) -> float:
        return lower_bound(Work(count * each, count * each, count, each), B2, split=split).microseconds

    assert of(units + more, size + larger) >= of(units, size)


@given(st.integers(1, 200), st.integers(1, 1 << 23))
def test_sharing_a_group_never_costs(units: int, size: int) -> None:
    work = Work(units * size, units * size, units, size)
    assert lower_bound(work, B2, split=True).microseconds <= lower_bound(work, B2, split=False).microseconds


@pytest.mark.parametrize(
    ("kernel", "shape"), [("copy/queue", (40,)), ("copy/queue", (1 << 20,)), ("add/queue", (300_001,))]
)
def test_no_launch_is_modelled_below_its_bound(kernel: str, shape: tuple[int, ...]) -> None:
    op, _ = find_kernel(kernel)
    arrays = random_inputs.inputs(op, shape)
    made = gnt.profile(kernel, *arrays.values(), machine=B2, blocks=B2.cores)
    size = sum(array.nbytes for array in arrays.values())
    found = lower_bound(Work(size, arrays["x"].nbytes), B2, split=True)
    assert found.microseconds <= made.microseconds
    assert found.microseconds > B2.launch_us


def test_a_group_of_a_backward_pass_is_read_from_two_tensors() -> None:
    """30000 elements: 120 kB of x would stay in a Unified Buffer, dy and x together do not."""
    op, _ = find_kernel("group_norm_backward/any")
    arrays = random_inputs.inputs(op, (96, 2, 15_000), attributes={"num_groups": 1})
    result = run_traced(gnt.kernel("group_norm_backward/any"), *arrays.values(), num_groups=1, blocks=B2.cores)
    found = bound_of(result, arrays, "groupElements", B2)
    assert found.kind == TWO_READS
    assert found.microseconds <= profile_of(result, machine=B2).microseconds
    assert bound_of(result, {"x": arrays["x"]}, "groupElements", B2).kind == ONE_READ


@pytest.mark.parametrize(
    ("shape", "groups"), [((2, 8, 16, 16), 4), ((48, 4, 1024), 4), ((1, 2, 70_000), 1), ((50, 3, 20_011), 1)]
)
def test_group_norm_is_not_modelled_below_its_bound(shape: tuple[int, ...], groups: int) -> None:
    op, _ = find_kernel("group_norm/vectorised")
    arrays = random_inputs.inputs(op, shape)
    made = gnt.profile("group_norm/vectorised", *arrays.values(), num_groups=groups, machine=B2, blocks=B2.cores)
    x = arrays["x"]
    units = shape[0] * groups
    work = Work(sum(one.nbytes for one in arrays.values()), x.nbytes + 8 * units, units, x.nbytes // units)
    assert lower_bound(work, B2, split=False).microseconds <= made.microseconds
