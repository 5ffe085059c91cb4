"""What all wrong elements have in common is said; nothing is said of others."""

from __future__ import annotations

import numpy as np
import pytest

from gn_tutorial.operators.resemblance import resemblance
from gn_tutorial.operators.result import Result
from gn_tutorial.runtime.launch_types import LaunchResult, Tally

RANDOM = np.random.default_rng(5)
TRUTH = RANDOM.standard_normal((6, 50)).astype(np.float32) + 0.1
TALLY = Tally(scalar=0, vector=0, mte2=0, mte3=0, bytes_in=0, bytes_out=0, ub_high_water=0)


def hints(actual: np.ndarray, golden: np.ndarray = TRUTH) -> tuple[str, ...]:
    return resemblance(actual, golden, 1e-5, 1e-6)


def test_a_wrong_sign_is_named_though_some_elements_are_right() -> None:
    actual = -TRUTH
    actual[0] = TRUTH[0]
    (hint,) = hints(actual)
    assert hint.startswith("all 250 wrong elements have the wrong sign: look for operands the wrong way round")


@pytest.mark.parametrize(("factor", "words"), [(50.0, "50 times"), (-2.0, "-2 times"), (0.25, "1/4 of")])
def test_a_factor_is_named(factor: float, words: str) -> None:
    (hint,) = hints((TRUTH * factor).astype(np.float32))
    assert f"all 300 wrong elements are {words} the reference" in hint


def test_a_constant_difference_is_named() -> None:
    floors = np.floor(TRUTH)
    nearest = np.rint(TRUTH)
    wrong = int((nearest != floors).sum())
    (hint,) = hints((TRUTH - nearest).astype(np.float32), (TRUTH - floors).astype(np.float32))
    assert f"all {wrong} wrong elements are 1 less than the reference" in hint
    assert "CAST_FLOOR" in hint


def test_a_difference_that_is_no_whole_number_is_named() -> None:
    (hint,) = hints(TRUTH + np.float32(0.3))
    assert hint.startswith(
        "all 300 wrong elements are 0.3 more than the reference: one number for all of them is wrong"
    )


def test_an_output_of_zeros_is_named_however_few_there_are() -> None:
    (hint,) = hints(np.zeros(3), np.array([1.0, 2.0, 3.0]))
    assert hint.startswith("all 3 wrong elements are 0, and so is all of the output: a factor is 0 (1 / n is 0")


def test_nothing_is_guessed_about_zeros_that_a_finding_explains() -> None:
    zeros, truth = np.zeros(3), np.array([1.0, 2.0, 3.0])
    (hint,) = resemblance(zeros, truth, 1e-5, 1e-5, explained=True)
    assert hint == "all 3 wrong elements are 0, and so is all of the output"


def test_zeros_and_nan_are_counted() -> None:
    zeros, nan = TRUTH.copy(), TRUTH.copy()
    zeros[2:] = 0
    nan[5] = np.nan
    assert hints(zeros) == ("all 200 wrong elements are 0",)
    assert hints(nan) == ("all 50 wrong elements are NaN",)


def test_counts_that_were_added_up_in_half() -> None:
    counts = np.array([[5731.0, 5702.0, 5689.0], [12.0, 5713.0, 5650.0]])
    (hint,) = hints(counts.astype(np.float16).astype(np.float32) + np.where(counts > 2048, 8, 0), counts)
    assert "all 5 wrong elements are whole numbers above 2048" in hint
    assert hints((counts + 0.5).astype(np.float32), counts) == ()


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


def test_lanes_of_a_mask_are_named() -> None:
    truth = RANDOM.standard_normal(300).astype(np.float16)
    wrong = np.where(np.arange(300) % 64 < 32, -truth, truth)
    (hint,) = hints(wrong, truth)
    assert hint.startswith("in each repeat of 128 elements the wrong ones are 0 to 31 and 64 to 95: look at the mask")
    assert "high word" in hint
    (hint,) = hints(np.where(np.arange(300) % 128 < 32, -truth, truth), truth)
    assert hint.endswith("0 to 31: look at the mask")
    wrong[240] = truth[240] + 1
    assert hints(wrong, truth) == ()


def test_a_shift_without_sign_is_named_with_its_power() -> None:
    numbers = np.random.default_rng(3).integers(-9000, 9000, 300).astype(np.int32)
    (hint,) = hints((numbers.view(np.uint32) >> np.uint32(3)).view(np.int32), numbers >> 3)
    assert "2^29 more than the reference, which is below 0 there: a shift by 3" in hint


def test_rows_of_another_place_are_named() -> None:
    (hint,) = hints(TRUTH[[0, 0, 0, 3, 3, 3]])
    assert hint.startswith(
        "row 1 holds row 0, row 2 holds row 0, row 4 holds row 3 and so on (4 rows) of the reference"
    )


@pytest.mark.parametrize(
    "actual",
    [
        TRUTH,
        TRUTH + 3e-5,
        TRUTH * 1.0002,
        np.where(np.arange(50) % 2, TRUTH + 1, TRUTH - 1),
        np.where(np.arange(50) % 2, TRUTH, -2 * TRUTH) * np.where(np.arange(6) % 2, 1, 3)[:, None],
        TRUTH * np.linspace(1, 2, 50),
        np.roll(TRUTH, 1, axis=1),
        np.full_like(TRUTH, np.inf),
        RANDOM.standard_normal(TRUTH.shape),
    ],
    ids=[
        "right",
        "part of one",
        "nearly one",
        "both ways",
        "several",
        "slope",
        "shifted",
        "infinite",
        "random",
    ],
)
def test_nothing_is_said_of_other_mistakes(actual: np.ndarray) -> None:
    assert hints(actual) == ()


def test_a_reference_of_equal_rows_or_of_one_number_says_nothing() -> None:
    assert hints(np.full((6, 50), 3.0), np.full((6, 50), 2.0)) == ()
    assert hints(np.roll(TRUTH, 1, axis=0)[:1], TRUTH[:1]) == ()


def test_a_comparison_has_the_sentence() -> None:
    launched = LaunchResult(arrays={"y": -TRUTH}, tally=TALLY, seconds=0.0, printed="", observed=True)
    made = Result(kernel="demo", blocks=1, launched=launched)
    assert "y: all 300 wrong elements have the wrong sign" in repr(made.compare(TRUTH, rtol=1e-5))


def test_a_factor_that_is_no_whole_number_is_named_where_the_elements_differ_enough() -> None:
    (hint,) = hints((TRUTH * 2.98).astype(np.float32))
    assert hint.startswith("all 300 wrong elements are 2.98 times the reference: one number for all of them")
    alike = np.full(300, 3.0, np.float32)
    assert hints(alike * 1.01, alike) == ()
    assert hints((TRUTH * 1.01).astype(np.float32)) == ()
