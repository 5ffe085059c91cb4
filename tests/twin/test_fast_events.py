"""Fast events: the checkers find the same mistakes from the few numbers of a copy as from its whole event."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from steps_support import told
from thoroughness import examples
from twin_support import FAMILIES

import gn_tutorial as gnt

# What a step does.
LOAD, STORE, LOAD_ROWS, STORE_ROWS, PAD_IN, PAD_OUT, ATOMIC, GET_GM, PUT_GM, CLEAN, LOAD_BACK, ALL = range(12)
STORE_WAITS, LOAD_WAITS, LOADS_WAIT, MULS, GET, PUT, ALLOC, FREE, LOAD_INTO, STORE_OUT_OF = range(12, 22)
LOAD_ODD, LOAD_DECLARED, LOAD_SHORT, LOAD_WIDE, LOAD_BYTES, MEET, STORE_NONE, PUT_INTO, GET_OUT_OF, EITHER = range(
    22, 32
)

near = st.integers(0, 60).map(lambda block: 8 * block)
far = st.one_of(near, st.integers(0, 1020))
lengths = st.one_of(st.sampled_from([0, 8, 16, 64, 100, 256]), st.integers(0, 40))
steps = st.tuples(st.integers(0, 31), near, far, lengths, st.integers(0, 107))
WAIT, TAKE, GIVE, CLEANED, MET = ((what, 0, 0, 0, 0) for what in (ALL, ALLOC, FREE, CLEAN, MEET))
STORE_WAITED, LOAD_WAITED = (STORE_WAITS, 0, 0, 0, 0), (LOAD_WAITS, 0, 0, 0, 0)
ADDING, NOT_ADDING = (ATOMIC, 0, 0, 0, 0), (ATOMIC, 0, 0, 0, 1)
FILLED = [(LOAD, 0, 0, 512, 0), WAIT]
WRITTEN = [*FILLED, (STORE, 0, 0, 512, 0), (STORE, 0, 512, 512, 0), WAIT]


def rows(count: int, near_gap: int = 0, far_gap: int = 0, side: int = 0) -> int:
    """The last number of a step with rows. Gaps count blocks, or 12 bytes in global memory; a side five elements."""
    return count + 4 * near_gap + 12 * far_gap + 36 * side


@pytest.fixture(scope="module")
def copies() -> gnt.Kernel:
    return gnt.kernel(FAMILIES / "copies.cpp")


def said(kernel: gnt.Kernel, program: list, **how: Any) -> Any:
    return told(kernel, program, y=gnt.out((1024,), np.float32), **how)


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, min_size=1, max_size=10), st.booleans(), st.integers(1, 2), st.sampled_from(["on", "off"]))
@example([(STORE, 0, 0, 64, 0), (LOAD, 32, 0, 64, 0), (STORE, 0, 64, 8, 0)], False, 1, "on")
@example([(STORE, 0, 0, 64, 0), (STORE, 32, 32, 64, 0), (LOAD_BACK, 256, 40, 8, 0)], True, 2, "off")
@example([(PUT_GM, 0, 3, 0, 0), WAIT, (LOAD_BACK, 0, 0, 8, 0), CLEANED, (LOAD_BACK, 0, 0, 8, 0)], True, 1, "on")
@example(
    [(LOAD_ROWS, 0, 0, 16, rows(3, 1, 2)), (LOAD, 512, 0, 8, 0), (STORE_ROWS, 0, 0, 16, rows(2, 0, 1))], True, 2, "on"
)
@example([ADDING, (STORE, 0, 0, 64, 0), NOT_ADDING, (STORE, 0, 32, 64, 0)], False, 2, "on")
@example([TAKE, (LOAD_INTO, 0, 0, 8, 0), GIVE, (STORE_OUT_OF, 0, 0, 8, 0)], False, 1, "on")
@example([MET, (STORE, 0, 0, 64, 0), MET, (LOAD_BACK, 0, 32, 64, 0)], True, 2, "on")
# The scalar unit's accesses come before the copies and buffers that follow them.
@example([*WRITTEN, (GET, 0, 0, 0, 0), (LOAD, 0, 0, 8, 0)], False, 1, "off")
@example([*WRITTEN, (PUT, 0, 0, 0, 0), (STORE, 0, 0, 8, 0)], False, 1, "off")
# Two operations at one line.
@example([*WRITTEN, (EITHER, 0, 0, 0, 0), (EITHER, 8, 0, 0, 1), (MULS, 256, 8, 8, 0)], False, 1, "on")
def test_a_copy_is_checked_alike_however_it_is_told(
    copies: gnt.Kernel, program: list, filled: bool, blocks: int, auto_sync: Any
) -> None:
    """``filled``: local memory and the output hold values when the steps begin."""
    program = [*(WRITTEN if filled else []), *program]
    short, full = (said(copies, program, blocks=blocks, auto_sync=auto_sync, full=full) for full in (False, True))
    assert short == full


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ([(STORE, 0, 0, 64, 0)], "ub-never-written"),
        ([(LOAD, 0, 0, 56, 0), WAIT, (STORE, 0, 0, 64, 0)], "ub-never-written"),
        ([(LOAD, 0, 0, 64, 0), WAIT, (LOAD, 0, 64, 64, 0)], "ub-overwritten-unread"),
        ([*WRITTEN, (LOAD, 0, 0, 64, 0), (STORE, 56, 0, 8, 0)], "race-read-after-write"),
        ([*WRITTEN, (STORE, 0, 0, 64, 0), (LOAD, 56, 0, 8, 0)], "race-write-after-read"),
        ([*WRITTEN, (MULS, 0, 64, 64, 0), (LOAD, 56, 0, 8, 0)], "race-write-after-write"),
        ([*WRITTEN, (MULS, 256, 64, 64, 0), (LOAD, 0, 0, 64, 0), (MULS, 320, 0, 64, 0)], "race-read-after-write"),
        # A flag does not cover the work of a later copy.
        ([*WRITTEN, STORE_WAITED, (LOAD, 0, 0, 8, 0), (STORE, 0, 0, 8, 0)], "race-read-after-write"),
        # Loads that meet, and the same bytes of global memory from two pipes or two stores.
        ([*WRITTEN, (LOAD, 0, 0, 64, 0), (LOAD, 56, 0, 64, 0)], "race-overwrites-unread"),
        ([*WRITTEN, (STORE, 0, 0, 64, 0), (LOAD_BACK, 256, 56, 8, 0)], "race-global"),
        ([*WRITTEN, (LOAD_BACK, 256, 56, 8, 0), (STORE, 0, 0, 64, 0)], "race-global"),
        ([*WRITTEN, (STORE, 0, 0, 64, 0), (STORE, 128, 56, 8, 0)], "race-same-pipe"),
        ([(LOAD_BACK, 0, 0, 8, 0)], "gm-read-before-write"),
        ([*FILLED, (STORE, 0, 0, 512, 0), WAIT, (LOAD_BACK, 0, 508, 8, 0)], "gm-read-before-write"),
        ([*FILLED, ADDING, (STORE, 0, 0, 64, 0)], "gm-read-before-write"),
        ([*FILLED, (STORE, 0, 0, 512, 0)], "gm-not-written"),
        ([*WRITTEN, (PUT_GM, 0, 3, 0, 0), WAIT, (LOAD_BACK, 0, 0, 8, 0)], "cache-not-cleaned"),
        ([*WRITTEN, (PUT_GM, 0, 3, 0, 0), WAIT, (STORE, 0, 8, 8, 0)], "cache-line-shared"),
        ([*FILLED, (STORE, 0, 1000, 32, 0)], "gm-behind-end"),
        ([*FILLED, (STORE, 0, 1001, 32, 0)], "gm-out-of-bounds"),
        ([(LOAD, 0, 1020, 16, 0)], "gm-out-of-bounds"),
        ([(LOAD_ROWS, 0, 1008, 16, rows(2))], "gm-out-of-bounds"),
        ([(LOAD_DECLARED, 0, 60, 8, 0)], "gm-declared-rounded"),
        ([(LOAD_DECLARED, 0, 60, 16, 0)], "gm-beyond-declared-size"),
        ([(LOAD_ODD, 0, 0, 8, 0)], "gm-misaligned"),
        ([(LOAD_SHORT, 0, 0, 64, 56)], "ub-out-of-bounds"),
        ([TAKE, (LOAD_INTO, 0, 0, 8, 0), GIVE, (LOAD_INTO, 0, 0, 8, 0)], "ub-use-of-freed"),
        ([TAKE, (PUT_INTO, 0, 0, 0, 0), GIVE, (GET_OUT_OF, 0, 0, 0, 0)], "ub-use-of-freed"),
        ([TAKE, (PUT_INTO, 0, 0, 0, 0), GIVE, TAKE, (GET_OUT_OF, 0, 0, 0, 0)], "ub-stale"),
        ([(PAD_IN, 0, 0, 3, rows(1, side=1))], "pad-value-unset"),
        ([(PAD_IN, 0, 0, 3, rows(1, side=2))], "pad-too-wide"),
        ([(LOAD_WIDE, 0, 0, 2, 2)], "pad-value-64-bit"),
        ([(LOAD_BYTES, 0, 0, 9, 0)], "pad-row-not-whole"),
        ([*FILLED, (STORE_NONE, 0, 0, 0, 1)], "copy-too-many-rows"),
        ([*FILLED, (STORE_NONE, 0, 0, 0, 0)], "copy-empty"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("full", [False, True])
def test_what_a_copy_does_wrong_is_found(copies: gnt.Kernel, program: list, expected: str, full: bool) -> None:
    assert expected in str(said(copies, program, full=full))


@pytest.mark.parametrize(
    "then",
    [
        # Next to what another pipe works on, here and there.
        [(LOAD, 0, 0, 64, 0), (STORE, 64, 0, 64, 0), (LOAD_BACK, 256, 64, 64, 0)],
        [(LOAD, 0, 0, 64, 0), STORE_WAITED, (STORE, 0, 0, 64, 0)],
        [(STORE, 0, 0, 64, 0), (LOAD_ROWS, 256, 0, 8, rows(2, 0, 1))],
        [(STORE, 0, 0, 64, 0), LOAD_WAITED, (LOAD_BACK, 0, 0, 64, 0), STORE_WAITED,
         (STORE, 0, 0, 8, 0)],
        [(LOAD, 0, 0, 64, 0), (LOADS_WAIT, 0, 0, 0, 0), STORE_WAITED, (STORE, 0, 0, 8, 0)],
        # Rows are one run here and have gaps there, and others may use the gaps.
        [(STORE_ROWS, 0, 0, 8, rows(3, 0, 1)), (LOAD_BACK, 256, 8, 8, 0), (LOAD_BACK, 264, 24, 8, 0)],
        [(PAD_IN, 0, 0, 3, rows(2, 1)), (STORE, 8, 0, 8, 0)],
        # Rows that a copy filled up are whole blocks.
        [(PAD_IN, 256, 0, 3, rows(1)), WAIT, (STORE, 256, 0, 8, 0)],
        # Results that a copy has read.
        [(MULS, 256, 0, 64, 0), WAIT, (STORE, 256, 0, 8, 0), WAIT, (MULS, 256, 64, 64, 0)],
        [(PUT_GM, 0, 3, 0, 0), CLEANED, WAIT, (STORE, 0, 0, 64, 0)],
        # The scalar unit's own stores.
        [(PUT_GM, 0, 3, 0, 0), (STORE, 0, 64, 8, 0), (PUT_GM, 0, 3, 0, 0), (STORE, 8, 72, 8, 0)],
    ],
)  # fmt: skip
@pytest.mark.parametrize("full", [False, True])
def test_what_a_copy_leaves_alone_is_free(copies: gnt.Kernel, then: list, full: bool) -> None:
    found, *_ = said(copies, [*WRITTEN, *then], full=full)
    assert found == []


def test_two_blocks_may_add_to_the_same_bytes(copies: gnt.Kernel) -> None:
    add = [*FILLED, ADDING, (STORE, 0, 0, 64, 0), NOT_ADDING]
    for full in (False, True):
        found, _, result = told(copies, add, blocks=2, full=full)
        assert found == []
        assert np.frombuffer(result, np.float32)[63] == 2 * 63
        assert "race-blocks" in str(told(copies, [*add, (STORE, 0, 60, 8, 0)], blocks=2, full=full))


def test_copies_are_counted_with_their_bytes(copies: gnt.Kernel) -> None:
    steps = [*WRITTEN, (LOAD_ROWS, 0, 0, 16, rows(3, 0, 2)), WAIT, (STORE_ROWS, 0, 0, 8, rows(2, 0, 1)),
             (PAD_OUT, 64, 100, 5, rows(1)), (PAD_IN, 256, 1, 3, rows(2))]  # fmt: skip
    for full in (False, True):
        found, tally, _ = said(copies, steps, full=full)
        assert found == []
        assert tally.bytes_in == 4 * (512 + 3 * 16 + 2 * 3)
        assert tally.bytes_out == 4 * (1024 + 2 * 8 + 5)
