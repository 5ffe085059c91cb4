"""Shared memory that launches use again: the next one sees nothing of the last, and what may be in use is not kept."""

from __future__ import annotations

import os

import numpy as np
import pytest
from isolated_support import Launch, linux, tensor, two_arguments

from gn_tutorial.abi.structs import Role
from gn_tutorial.errors import KernelCrash, KernelError, KernelFault
from gn_tutorial.runtime import job_file
from gn_tutorial.runtime.launch_types import LaunchArg
from gn_tutorial.runtime.shared_memory import POOL, MemoryPool, SharedMemory

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    POOL.forget()


@linux
def test_the_next_launch_uses_the_memory_of_the_last(launch: Launch) -> None:
    launch("Copy")
    kept = POOL.bytes
    assert kept > 0
    (held,) = POOL._free
    launch("Copy")
    assert POOL.bytes == kept
    assert POOL._free == [held]


@linux
@pytest.mark.parametrize("size", [100, 700_001])
def test_nothing_of_an_earlier_launch_is_seen(launch: Launch, size: int) -> None:
    x = np.arange(1, size + 1, dtype=np.float32)
    first = launch("Copy", [tensor("x", Role.IN, x), tensor("y", Role.OUT, np.empty_like(x))])
    # Nothing: this entry writes no argument, so y is what the launch found there.
    second = launch("Nothing", [tensor("x", Role.IN, -x), tensor("y", Role.OUT, np.empty_like(x))])
    np.testing.assert_array_equal(first.arrays["y"], x)
    assert np.isnan(second.arrays["y"]).all()
    assert (second.printed, list(second.diagnostics)) == ("", [])


@linux
def test_the_report_of_an_earlier_launch_is_not_read_again(launch: Launch) -> None:
    with pytest.raises(KernelFault):
        launch("Stopped")
    assert POOL.bytes > 0
    assert list(launch("Nothing", two_arguments()).diagnostics) == []


@linux
def test_the_memory_of_a_crash_is_not_kept(launch: Launch) -> None:
    with pytest.raises(KernelCrash):
        launch("Abort")
    assert POOL.bytes == 0


LARGE = 700_001


def large_arguments(sign: float = 1.0) -> list[LaunchArg]:
    x = sign * np.arange(1, LARGE + 1, dtype=np.float32)
    return [tensor("x", Role.IN, x), tensor("y", Role.OUT, np.empty_like(x))]


@linux
def test_a_large_result_is_no_copy_and_nobody_elses(launch: Launch) -> None:
    args = large_arguments()
    first = launch("Copy", args).arrays["y"]
    assert len(POOL._lent) == 1
    first[0] = 77
    second = launch("Copy", large_arguments(-1.0)).arrays["y"]
    np.testing.assert_array_equal(second, -args[0].data)
    np.testing.assert_array_equal(first[1:], args[0].data[1:])
    assert (first[0], len(POOL._lent)) == (77, 2)


@linux
def test_the_memory_of_a_result_comes_back_when_its_last_view_is_gone(launch: Launch) -> None:
    y = launch("Copy", large_arguments()).arrays["y"]
    (held,) = POOL._lent
    view = y[5:7].reshape(2, 1)
    del y
    assert POOL._lent == [held]
    np.testing.assert_array_equal(view, [[6], [7]])
    del view
    assert POOL._lent == []
    assert held in POOL._free
    assert np.isnan(launch("Nothing", large_arguments()).arrays["y"]).all()
    assert held in POOL._free


@linux
def test_a_forked_child_has_results_of_its_own(launch: Launch) -> None:
    y = launch("Copy", large_arguments()).arrays["y"]
    (held,) = POOL._lent
    child = os.fork()
    if child == 0:
        seen, y[0] = y[0], 5
        del y  # must not become this process's to use again
        os._exit(0 if seen == 1 and not POOL._free and not POOL._lent else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    np.testing.assert_array_equal(y[:2], [1, 2])
    assert POOL._lent == [held]


@linux
def test_many_results_at_once_are_copies_in_part(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gn_tutorial.runtime.shared_memory._MOST_LENT", 2)
    results = [launch("Copy", large_arguments(sign)).arrays["y"] for sign in (1.0, 2.0, 3.0)]
    assert len(POOL._lent) == 2
    for sign, y in zip((1.0, 2.0, 3.0), results, strict=True):
        np.testing.assert_array_equal(y, large_arguments(sign)[0].data)


@linux
def test_beyond_all_memory_of_this_and_of_earlier_launches_an_access_belongs_to_its_array(launch: Launch) -> None:
    launch("Copy", large_arguments())
    with pytest.raises(KernelCrash, match="went outside 'x': byte 51539607952 of 400"):
        launch("FarPastEnd")
    with pytest.raises(KernelCrash, match="went outside 'x'"):
        launch("FarPastEnd", large_arguments())


@linux
def test_large_arrays_in_place_and_too_far_are_as_small_ones(launch: Launch) -> None:
    mine = np.arange(3 << 20, dtype=np.uint8)
    launched = launch("AddOne", [tensor("x", Role.IN, mine), tensor("y", Role.INOUT, mine)])
    np.testing.assert_array_equal(launched.arrays["y"], mine + 1)
    del launched
    with pytest.raises(KernelFault, match="wrote outside 'y': byte"):
        launch("JustPastEnd", large_arguments())
    with pytest.raises(KernelCrash, match="went outside 'y'"):
        launch("PastEnd", large_arguments())
    assert POOL._lent == []


@linux
def test_a_forked_child_leaves_the_memory_to_its_parent(launch: Launch) -> None:
    launch("Copy")
    kept = POOL.bytes
    child = os.fork()
    if child == 0:
        os._exit(0 if POOL.bytes == 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert POOL.bytes == kept


def test_a_pool_keeps_what_was_used_last_up_to_its_limit() -> None:
    pool = MemoryPool(3 * MIB)
    first, second, third = (SharedMemory(size) for size in (MIB, MIB, 2 * MIB))
    for one in (first, second, third):
        pool.give(one)
    assert pool.bytes == 3 * MIB
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(first.descriptor)
    assert pool.take(MIB) is second
    assert pool.take(2 * MIB - 5) is third
    assert pool.bytes == 0
    second.close()
    third.close()


def test_memory_that_is_much_too_large_is_left_to_others() -> None:
    pool = MemoryPool(100 * MIB)
    large = SharedMemory(50 * MIB)
    pool.give(large)
    small = pool.take(3 * MIB)
    assert small is not large
    small.close()
    pool.forget()


@pytest.mark.parametrize("size", [1, 4096, 5000, 3 * MIB + 77])
def test_cleared_memory_is_zero_and_the_rest_as_it_was(size: int) -> None:
    one = SharedMemory(4 * MIB)
    one.view[:] = b"\xa7" * one.size
    one.clear(size)
    assert one.view[:size] == bytes(size)
    assert one.view[size:] == b"\xa7" * (one.size - size)
    one.close()


def test_more_than_there_is_is_an_error() -> None:
    with pytest.raises(KernelError, match="no shared memory"):
        SharedMemory(1 << 70)
    with pytest.raises(KernelError, match="no shared memory"):
        SharedMemory(1 << 62)


@pytest.mark.parametrize("cpus", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_large_arrays_are_copied_whole(monkeypatch: pytest.MonkeyPatch, cpus: int, dtype: type) -> None:
    monkeypatch.setattr(job_file, "usable_cpus", lambda: cpus)
    monkeypatch.setattr(job_file, "_SHARE", 1000)
    source = np.random.default_rng(cpus).integers(-100, 100, 4567).astype(dtype)
    target = np.zeros_like(source)
    job_file.copy_into(target, source)
    np.testing.assert_array_equal(target, source)
