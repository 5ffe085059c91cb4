"""A sentence says where in each tile wrong elements lie, or where they begin; without an order there is none."""

from __future__ import annotations

import numpy as np
from compare_support import said_by

from gn_tutorial.compare.patterns import periodic
from gn_tutorial.operators.result import Result
from gn_tutorial.runtime.launch_types import LaunchResult, Tally

RANDOM = np.random.default_rng(6)
TRUTH = RANDOM.standard_normal(1935).astype(np.float32)
NOISE = RANDOM.uniform(0.5, 1.5, TRUTH.size).astype(np.float32)
TALLY = Tally(scalar=0, vector=0, mte2=0, mte3=0, bytes_in=0, bytes_out=0, ub_high_water=0)


def hints(wrong: np.ndarray) -> tuple[str, ...]:
    return said_by(periodic.tiles, output=np.where(wrong, TRUTH + NOISE, TRUTH), reference=TRUTH)


def test_the_right_part_of_each_tile_is_named_though_the_last_tile_is_shorter() -> None:
    place = np.arange(TRUTH.size) % 720  # tiles of 16 rows of 45; 43 rows
    (hint,) = hints(place >= 45)
    assert hint.startswith("of every 720 elements the first 45 are right, the others wrong")
    (hint,) = hints(place >= 500)  # the last tile ends before that
    assert hint.startswith("of every 720 elements the first 500 are right")


def test_right_parts_may_begin_later() -> None:
    place = np.arange(TRUTH.size) % 64
    (hint,) = hints((place < 8) | (place >= 40))
    assert hint.startswith("of every 64 elements 32 (the first time from element 8 on) are right")


def test_a_right_beginning_is_named() -> None:
    wrong = np.arange(TRUTH.size) >= 1200
    wrong[1500:1504] = False  # a few that are right by chance
    (hint,) = hints(wrong)
    assert hint.startswith("elements 0 to 1199 are right, nearly all from 1200 on are wrong")


def test_nothing_is_said_of_all_or_of_any_elements() -> None:
    assert hints(np.ones(TRUTH.size, bool)) == ()
    assert hints(np.zeros(TRUTH.size, bool)) == ()
    assert hints(RANDOM.random(TRUTH.size) < 0.1) == ()
    assert said_by(periodic.tiles, output=TRUTH[:8], reference=TRUTH) == ()


def test_a_comparison_says_it() -> None:
    actual = np.where(np.arange(TRUTH.size) % 720 >= 45, TRUTH + NOISE, TRUTH)
    result = Result("k", 2, LaunchResult(arrays={"y": actual}, tally=TALLY, seconds=0.0, printed="", observed=True))
    assert "of every 720 elements the first 45 are right" in str(result.compare(TRUTH, rtol=1e-5, atol=1e-6))
