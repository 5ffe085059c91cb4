"""Shared memory that launches use again: the next one sees nothing of the last, and what may be in use is not kept."""

from __future__ import annotations

import os

import numpy as np
import pytest
from isolated_support import Launch, linux, tensor, two_arguments

from gn_tutorial.abi.structs import Role
from gn_tutorial.errors import KernelCrash, KernelError, KernelFault
from gn_tutorial.runtime import bulk
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
        SharedMemory(1 << 62)


@pytest.mark.parametrize("cpus", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_large_arrays_are_copied_and_filled_whole(monkeypatch: pytest.MonkeyPatch, cpus: int, dtype: type) -> None:
    monkeypatch.setattr(bulk, "usable_cpus", lambda: cpus)
    monkeypatch.setattr(bulk, "_SHARE", 1000)
    source = np.random.default_rng(cpus).integers(-100, 100, 4567).astype(dtype)
    target = np.zeros_like(source)
    bulk.copy_into(target, source)
    np.testing.assert_array_equal(target, source)
    bulk.poison(target)
    if dtype is np.float32:
        assert np.isnan(target).all()
    else:
        assert (target.view(np.uint8) == 0xA5).all()
