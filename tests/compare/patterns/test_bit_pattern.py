"""Bits that are right for another type."""

from __future__ import annotations

import numpy as np
from compare_support import said_by

from gn_tutorial.compare.patterns import bit_pattern

RANDOM = np.random.default_rng(5)


def hints(output: np.ndarray, reference: np.ndarray) -> tuple[str, ...]:
    return said_by(
        bit_pattern.value_and_index,
        bit_pattern.index_as_float,
        bit_pattern.unsigned_shift,
        output=output,
        reference=reference,
    )


def test_zeros_in_place_of_an_index() -> None:
    (hint,) = hints(np.zeros(9, np.int32), np.arange(1, 10))
    assert "all 9 wrong elements are 0; an index of ReduceMax" in hint


def test_one_zero_in_place_of_an_index() -> None:
    (hint,) = hints(np.zeros(8, np.int32), np.array([930, 0, 0, 0, 0, 0, 0, 0]))
    assert hint.startswith("the wrong element is 0; an index of ReduceMax")
    assert hints(np.zeros(8, np.int32), np.array([-930, 0, 0, 0, 0, 0, 0, 0])) == ()


def test_pairs_of_value_and_index_are_named() -> None:
    scores = np.sort(RANDOM.standard_normal(8).astype(np.float32))[::-1]
    pairs = np.stack([scores, np.array([3, 1, 2, 0, 7, 6, 5, 4], np.uint32).view(np.float32)], axis=1).reshape(-1)
    (hint,) = hints(pairs[:8], scores)
    assert "value k in place 2 * k" in hint
    assert hints(np.where(np.arange(8) % 2, np.float32(0), pairs[:8]), scores) == ()
    assert hints(pairs[:8], scores[::-1].copy()) == ()


def test_a_shift_without_sign_is_named_with_its_power() -> None:
    numbers = np.random.default_rng(3).integers(-9000, 9000, 300).astype(np.int32)
    (hint,) = hints((numbers.view(np.uint32) >> np.uint32(3)).view(np.int32), numbers >> 3)
    assert "2^29 more than the reference, which is below 0 there: a shift by 3" in hint
