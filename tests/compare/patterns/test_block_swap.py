"""Outputs that are right for another block are said to be; others are not."""

from __future__ import annotations

import numpy as np
import pytest
from compare_support import said_by

from gn_tutorial.compare.patterns import block_swap
from gn_tutorial.operators.result import Result
from gn_tutorial.runtime.launch_types import LaunchResult, Tally

RANDOM = np.random.default_rng(7)
TALLY = Tally(scalar=0, vector=0, mte2=0, mte3=0, bytes_in=0, bytes_out=0, ub_high_water=0)
TRUTH = RANDOM.standard_normal((4, 50)).astype(np.float32)  # 4 blocks share 200 elements


def hints(actual: np.ndarray, golden: np.ndarray = TRUTH, blocks: int = 4) -> tuple[str, ...]:
    return said_by(block_swap.blocks, output=actual, reference=golden, blocks=blocks)


def test_a_block_that_reads_another_s_input_is_named() -> None:
    actual = TRUTH.copy()
    actual[3] = TRUTH[2] * (1 + 1e-6)
    (hint,) = hints(actual)
    assert hint.startswith(
        "block 3's part (from element 150) holds what belongs in block 2's: block 3 reads what block 2"
    )


def test_a_shorter_last_part_is_compared_with_the_beginning_of_another() -> None:
    truth = TRUTH.reshape(-1)[:197]
    actual = truth.copy()
    actual[150:] = truth[50:97]
    (hint,) = hints(actual, truth)
    assert hint.startswith("block 3's part (from element 150) holds what belongs in block 1's")


def test_all_blocks_shifted_by_one_are_named_and_counted() -> None:
    truth = RANDOM.standard_normal(800)
    found = hints(np.roll(truth, 100), truth, 8)
    assert len(found) == 4
    assert found[-1] == "and so do 5 blocks more"


def one_element_off() -> np.ndarray:
    actual = TRUTH.copy()
    actual[3] = TRUTH[2]
    actual[3, 49] += 1
    return actual


@pytest.mark.parametrize(
    "actual",
    [TRUTH, TRUTH + 1, TRUTH * np.nan, one_element_off(), np.roll(TRUTH.reshape(-1), 1).reshape(TRUTH.shape)],
    ids=["right", "wrong", "nan", "nearly", "within blocks"],
)
def test_nothing_is_said_of_other_mistakes(actual: np.ndarray) -> None:
    assert hints(actual) == ()


def test_nothing_is_said_of_constants_of_one_block_and_of_short_parts() -> None:
    constants = np.repeat(np.arange(4.0), 50)
    assert hints(np.roll(constants, 50), constants) == ()
    assert hints(np.roll(TRUTH, 1, axis=0), blocks=1) == ()
    assert hints(np.roll(TRUTH, 1, axis=0), blocks=50) == ()
    assert hints(TRUTH[:0], TRUTH[:0]) == ()


def test_a_comparison_prints_it() -> None:
    actual = TRUTH.copy()
    actual[3] = TRUTH[2]
    launched = LaunchResult(arrays={"y": actual}, tally=TALLY, seconds=0.0, printed="", observed=True)
    made = Result(kernel="demo", blocks=4, launched=launched)
    comparison = made.compare(TRUTH, rtol=1e-5)
    assert not comparison.ok
    assert repr(comparison).splitlines()[-1].startswith("y: block 3's part (from element 150) holds what")
    assert "holds what belongs in block 2" in comparison._repr_html_()
    right = Result(kernel="demo", blocks=4, launched=LaunchResult({"y": TRUTH}, TALLY, 0.0, "", True))
    assert right.compare(TRUTH, rtol=1e-5).hints() == []
