"""10.4: which mistake does each of five backward passes make?"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from gn_tutorial import reference
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.course.exercises.gradient_mistakes import EXPERIMENTS, experiment, function, suspect

_WORDS = ("right", "constants", "dy summed", "gamma pulled out", "dgamma from dy * gamma")


@functools.cache
def _verdict(letter: str) -> str:
    """Return the word whose function gives the letter's numbers, on data that tell all functions apart."""
    arguments = experiment("general")
    made = suspect(letter)(**arguments)
    words = [word for word in _WORDS if _alike(made, function(word)(**arguments))]
    assert len(words) == 1, words
    return words[0]


def _alike(some: tuple[np.ndarray, ...], others: tuple[np.ndarray, ...]) -> bool:
    return all(np.allclose(one, other, rtol=1e-9, atol=1e-9) for one, other in zip(some, others, strict=True))


def _blind() -> str:
    """The experiment in which A, B and E are all right."""
    found = []
    for name in EXPERIMENTS:
        arguments = experiment(name)
        truth = tuple(reference.group_norm_backward(**arguments))
        if all(_alike(suspect(letter)(**arguments), truth) for letter in "ABE"):
            found.append(name)
    assert len(found) == 1, found
    return found[0]


class _Counted:
    """GroupNorm's loss, which counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> float:
        self.calls += 1
        return float(reference.group_norm(x, gamma, beta, num_groups=2).y.sum())


@functools.cache
def _forward_calls() -> int:
    loss, point = _Counted(), [np.ones((2, 6, 4, 5)), np.ones(6), np.ones(6)]
    for which, array in enumerate(point):
        for place in np.ndindex(array.shape):
            for sign in (1, -1):
                moved = [one.copy() for one in point]
                moved[which][place] += sign * 1e-5
                loss(*moved)
    return loss.calls


_HINTS: Mapping[str, Mapping[str, str]] = {
    "A": {
        "right": "In the first experiment its dx is wrong",
        "constants": "Then dx would be wrong with gammas of 1, too; there it is right",
        "dy summed": "Then G = C would show it, for a channel's own gamma is missing in its means; there A is right",
        "dgamma from dy * gamma": "Its dgamma is right in every experiment; look at dx",
    },
    "B": {
        "right": "In the first experiment its dgamma is wrong",
        "constants": "Its dx is right in every experiment; look at dgamma",
        "dy summed": "Its dx is right in every experiment; look at dgamma",
        "gamma pulled out": "Its dx is right in every experiment; look at dgamma",
    },
    "C": dict.fromkeys(_WORDS[1:], "None of its gradients is wrong in any experiment"),
    "D": {
        "right": "In the first experiment its dx is wrong",
        "dy summed": "With gammas of 1, dy and dy * gamma are the same; D is wrong there, too",
        "gamma pulled out": "With gammas of 1, pulling gamma out changes nothing; D is wrong there, too",
        "dgamma from dy * gamma": "Its dgamma is right in every experiment; look at dx",
    },
    "E": {
        "right": "In the first experiment its dx is wrong",
        "constants": "Then dx would be wrong with gammas of 1, too; there it is right",
        "gamma pulled out": "With one channel per group gamma may be pulled out; but E is wrong there, too",
        "dgamma from dy * gamma": "Its dgamma is right in every experiment; look at dx",
    },
}

_BLIND_SLIPS = {
    "general": "That is the experiment that shows all of them",
    "G = C": "There A is right, and the other two are not",
    "dy 1": "There B is still wrong",
}

CHECK = PredictChecker(
    (
        *(
            Prediction(
                f"{letter.lower()}_mistake",
                f"what backward pass {letter} does wrong",
                functools.partial(_verdict, letter),
                _HINTS[letter],
                choices=_WORDS,
            )
            for letter in "ABCDE"
        ),
        Prediction(
            "blind_experiment",
            "the experiment in which A, B and E all look right",
            _blind,
            _BLIND_SLIPS,
            choices=EXPERIMENTS,
        ),
        Prediction(
            "forward_calls",
            "calls of the forward pass for central differences of x (2, 6, 4, 5), gamma and beta",
            _forward_calls,
            {
                252: "That is one call for each number; a central difference takes two",
                480: "Those are the calls for x; gamma and beta have gradients, too",
                253: "That is a one-sided difference: one call for each number, and one at the point itself",
                492: "gamma and beta have gradients, both of them",
            },
            rule="Count the numbers of x, gamma and beta; each is moved up once and down once",
        ),
    )
)
