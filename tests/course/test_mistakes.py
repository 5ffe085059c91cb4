"""The backward passes that gradient tests are tested with: the right one is right, and every other one is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gn_tutorial import reference
from gn_tutorial.course.exercises.checkers import checker_of
from gn_tutorial.course.exercises.gradient_mistakes import (
    _EDITS,
    EXPERIMENTS,
    WRONG,
    accepted_with,
    experiment,
    function,
    published_sample,
    suspect,
)
from gn_tutorial.course.exercises.registry import load_course

EXERCISE = load_course().find("10.3")


def wrong_outputs(name: str, data: str) -> list[str]:
    arguments = experiment(data)
    truth = reference.group_norm_backward(**arguments)._asdict()
    got = function(name)(**arguments)
    return [key for one, (key, want) in zip(got, truth.items(), strict=True) if abs(one - want).max() > 1e-9]


@pytest.mark.parametrize("data", EXPERIMENTS)
def test_the_right_one_is_right_on_any_data(data: str) -> None:
    assert wrong_outputs("right", data) == []


@pytest.mark.parametrize("name", sorted(_EDITS.keys() - {"right"}))
def test_a_mistake_spoils_one_output(name: str) -> None:
    spoilt = next((key for key in ("dgamma", "dbeta") if name.startswith(key)), "dx")
    spoilt = {"one sample": "dgamma", "last channel": "dgamma", "one position": "dbeta"}.get(name, spoilt)
    assert wrong_outputs(name, "general") == [spoilt]


def test_the_suspects_of_the_exercise_differ() -> None:
    made = {letter: suspect(letter)(**experiment("general")) for letter in "ABCDE"}
    for one in "ABCDE":
        for other in "ABCDE":
            alike = all(np.allclose(left, right) for left, right in zip(made[one], made[other], strict=True))
            assert alike == (one == other)


def test_a_gradient_test_may_use_the_complex_step(tmp_path: Path) -> None:
    """A right answer that is not the stored solution."""
    text = EXERCISE.solution.read_text(encoding="utf-8")
    for old, new in (
        ("gradient = np.zeros_like(at)", "gradient = np.zeros(at.shape)"),
        ("step = np.zeros_like(at)", "step = np.zeros(at.shape, complex)"),
        ("step[place] = h", "step[place] = 1j * h"),
        ("(loss(at + step) - loss(at - step)) / (2 * h)", "loss(at + step).imag / h"),
        ("rtol=1e-5, atol=1e-6", "rtol=1e-9, atol=1e-9"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / EXERCISE.solution.name
    path.write_text(text, encoding="utf-8")
    assert checker_of(EXERCISE).check(path, 1) == 17


def test_with_the_published_sample_seven_mistakes_pass_and_with_others_none() -> None:
    sample = published_sample()
    right = reference.group_norm_backward(**sample)
    # eps * rstd**2 * xhat, of rows that reach from -1.6 to 1.6
    assert 1e-6 < abs(right.dx).max() < 2e-6
    passing = [what for what, passes in accepted_with(sample).items() if passes]
    assert passing == [what for what, _ in list(WRONG.values())[:7]]
    assert not any(accepted_with(experiment("general")).values())
    assert any(accepted_with(experiment("gamma 1")).values())
