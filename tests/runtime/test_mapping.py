"""Mappings that begin where huge pages can; memory on huge pages holds what it held."""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from isolated_support import linux

from gn_tutorial.runtime.mapping import BLOCK, Mapping
from gn_tutorial.runtime.shared_memory import SharedMemory

SIZE = 3 * BLOCK


def address(view: memoryview) -> int:
    return np.frombuffer(view, np.uint8).ctypes.data


def mapped_at(at: int) -> bool:
    return any(line.startswith(f"{at:x}-") for line in Path("/proc/self/maps").read_text().splitlines())


def numbers(size: int) -> np.ndarray:
    return np.random.default_rng(size).integers(1, 256, size).astype(np.uint8)


@linux
@pytest.mark.parametrize("size", [5000, BLOCK, BLOCK + 1])
def test_a_mapping_begins_at_a_block_and_goes_with_its_last_view(size: int) -> None:
    with tempfile.TemporaryFile() as file:
        file.truncate(size)
        mapping = Mapping(file.fileno(), size)
        at, view = address(mapping.memory), np.frombuffer(mapping.memory, np.uint8)[1:]
        assert (at % BLOCK, len(mapping.memory)) == (0, size)
        del mapping
        gc.collect()
        view[:3] = 1, 2, 3
        assert os.pread(file.fileno(), 4, 0) == bytes((0, 1, 2, 3))
        assert mapped_at(at)
        del view
        gc.collect()
        assert not mapped_at(at)


def test_what_is_written_to_a_private_mapping_nobody_else_sees() -> None:
    with tempfile.TemporaryFile() as file:
        file.write(b"abc")
        file.flush()
        mapping = Mapping(file.fileno(), 3, private=True)
        mapping.memory[0] = ord("x")
        assert (bytes(mapping.memory), os.pread(file.fileno(), 3, 0)) == (b"xbc", b"abc")


def test_no_mapping_of_what_is_no_file() -> None:
    with pytest.raises(OSError, match="Bad file descriptor"):
        Mapping(987, 4096)


@linux
def test_huge_pages_hold_what_was_there_and_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = Mapping.use_huge_pages

    def use(self: Mapping, start: int, end: int) -> bool:
        asked.append((start, end))
        real(self, start, end)
        return True  # even if the system has none, so that the requests are the same everywhere

    monkeypatch.setattr(Mapping, "use_huge_pages", use)
    one, expected = SharedMemory(SIZE), numbers(SIZE)
    one.view[:] = expected.tobytes()
    one.use_huge_pages(BLOCK + 5, 2 * BLOCK)
    one.use_huge_pages(5, SIZE)
    one.use_huge_pages(0, SIZE)
    assert asked == [(BLOCK, 2 * BLOCK), (0, BLOCK), (2 * BLOCK, SIZE)]
    np.testing.assert_array_equal(np.frombuffer(one.view, np.uint8), expected)
    one.close()


@linux
def test_where_there_are_none_nobody_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(Mapping, "use_huge_pages", lambda _, start, end: asked.append((start, end)))
    one = SharedMemory(SIZE)
    for _ in range(2):
        one.use_huge_pages(0, SIZE)
    assert asked == [(0, SIZE)]
    one.close()


@linux
@pytest.mark.parametrize("size", [BLOCK + 4096 + 7, 2 * BLOCK])
def test_clearing_a_part_of_huge_pages_keeps_the_rest(size: int) -> None:
    one, expected = SharedMemory(SIZE), numbers(SIZE)
    one.view[:] = expected.tobytes()
    one.use_huge_pages(0, SIZE)
    one.clear(size)
    expected[:size] = 0
    np.testing.assert_array_equal(np.frombuffer(one.view, np.uint8), expected)
    one.use_huge_pages(0, SIZE)
    np.testing.assert_array_equal(np.frombuffer(one.view, np.uint8), expected)
    one.close()
