"""08.3 recognises a statistic that was rounded to half, on many data; on some rows rstd alone is near enough."""

from __future__ import annotations

import numpy as np
import pytest

from gn_tutorial.course.exercises.check_kernel import KernelChecker
from gn_tutorial.course.exercises.checkers import checker_of
from gn_tutorial.course.exercises.registry import load_course

CHECK = checker_of(load_course().find("08.3"))
assert isinstance(CHECK, KernelChecker)
half_message = CHECK.symptoms[-1]


class Left(dict[str, np.ndarray]):
    """Outputs of a launch about which the twin had nothing to say."""

    diagnostics = ()


def normalised(case: object, *, of_variance: type, of_result: type = np.float32) -> Left:
    """Return the results of a kernel that rounds the variance, or x less its mean, to another type."""
    x, gamma, beta = (case.inputs[name].astype(np.float32) for name in ("x", "gamma", "beta"))  # type: ignore[attr-defined]
    eps = np.float32(case.numbers["eps"])  # type: ignore[attr-defined]
    mean = x.mean(axis=1, dtype=np.float64).astype(np.float32)
    variance = np.square(x - mean[:, None]).mean(axis=1, dtype=np.float64)
    with np.errstate(over="ignore"):  # a half of the largest rows is infinite, on a device too
        variance = variance.astype(of_variance).astype(np.float32)
    rstd = 1 / np.sqrt(variance + eps)
    centred = (x - mean[:, None]).astype(of_result).astype(np.float32)
    y = centred * (rstd * gamma)[:, None] + beta[:, None]
    return Left(y=y.astype(np.float16), mean=mean, rstd=rstd.astype(np.float32))


def told(seed: int, **kind: type) -> list[str]:
    """Return the first message about a case, in the checker's order; empty if there is none."""
    cases = CHECK.cases(np.random.default_rng(seed))
    said = (half_message(case, normalised(case, **kind)) for case in cases)  # type: ignore[arg-type]
    return [text for text in said if text][:1]


@pytest.mark.parametrize("seed", range(12))
def test_a_variance_that_was_a_half_is_named_on_all_data(seed: int) -> None:
    (words,) = told(seed, of_variance=np.float16)
    assert "the variance was rounded to a half" in words


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_said_of_right_ones_and_other_roundings_are_not_called_so(seed: int) -> None:
    assert told(seed, of_variance=np.float32) == []
    assert not any("variance" in words for words in told(seed, of_variance=np.float32, of_result=np.float16))
