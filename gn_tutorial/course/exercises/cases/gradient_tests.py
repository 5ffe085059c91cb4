"""10.3: a gradient test is tested with backward passes, right and wrong. 10.4: which mistake does each of five make?"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from gn_tutorial import reference
from gn_tutorial.course.exercises.cases.mistakes import function, suspect, text
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.course.exercises.check_python import FunctionText, PythonCase, PythonChecker

_FORWARD = """
import numpy as np

def forward(x, gamma, beta, num_groups):
    n, c = x.shape[:2]
    rows = x.reshape(n, num_groups, -1)
    mean = rows.mean(axis=2)
    centred = rows - mean[:, :, None]
    rstd = 1 / np.sqrt((centred * centred).mean(axis=2) + EPS)
    channel = (c,) + (1,) * (x.ndim - 2)
    y = (centred * rstd[:, :, None]).reshape(x.shape) * gamma.reshape(channel) + beta.reshape(channel)
    return FACTOR * y, mean, rstd
"""

#: Mistake -> what it is, and what a test that accepts it lacks. In this order.
_PLANTED: Mapping[str, tuple[str, str]] = {
    "hands dy on": ("dx is dy, returned unchanged", "what is dx compared with?"),
    "zero": ("dx is 0 everywhere", "which loss has a dx of 0 in any case?"),
    "first position": ("one dy is used for all positions of a channel", "does dy differ from position to position?"),
    # With gammas of 1 both of these look right, with one channel in a group the second: the first one comes first.
    "dy summed": ("the means of dx are taken of dy instead of dy * gamma", "which gammas hide that?"),
    "gamma pulled out": (
        "dx has gamma in front of the means instead of inside",
        "where is gamma the same all over a group?",
    ),
    "dgamma from dy * gamma": (
        "dgamma is summed from dy * gamma",
        "which of the three gradients does your test look at?",
    ),
    "dbeta from dy * gamma": (
        "dbeta is summed from dy * gamma",
        "which of the three gradients does your test look at?",
    ),
    "one per cent": ("dx is one per cent too large", "how wrong may a gradient be?"),
    "one sample": ("dgamma contains only the first sample", "how many samples are there?"),
    "whole sample": ("the means go over the whole sample instead of the group", "how many groups are there?"),
    "one position": ("dbeta contains only the first position", "how many positions are there?"),
    "last channel": ("dgamma of the last channel is two per cent too large", "is every element compared?"),
}
_FIFTH_DIGIT = "dx is a few parts in a hundred thousand too large"
_OTHER_FORWARD = "the backward pass is GroupNorm's and the forward pass is another one"


def _forward(eps: float = 1e-5, factor: float = 1.0) -> FunctionText:
    return FunctionText(_FORWARD.replace("EPS", repr(eps)).replace("FACTOR", repr(factor)), "forward")


def _test_case(label: str, forward: FunctionText, backward: str, right: bool) -> PythonCase:
    arguments = {"forward": forward, "backward": FunctionText(backward, "backward")}
    return PythonCase(label, "passes", arguments, {"verdict": np.asarray(right)})


def _test_cases(rng: np.random.Generator) -> list[PythonCase]:
    cases = [_test_case("a right backward pass", _forward(), text(), True)]
    cases += [_test_case(what, _forward(), text(name), False) for name, (what, _) in _PLANTED.items()]
    # A test that has the derived formula inside, and never asks forward, says yes to this.
    cases += [_test_case(_OTHER_FORWARD, _forward(factor=2.0), text(), False)]
    eps, scale = float(rng.uniform(0.05, 0.2)), float(rng.uniform(1.5, 3.0))
    cases += [_test_case("a right backward pass, another eps", _forward(eps), text(), True)]
    # Off in the fifth digit: more than rtol 1e-5 lets pass, and less than rtol 1e-4.
    small = 1 + float(rng.uniform(6e-5, 9e-5))
    return [
        *cases,
        # Not GroupNorm's own forward pass, and right all the same: only dx is scaled, so gamma and beta show it.
        _test_case(
            f"every gradient but dx is {scale:.2f} times too small", _forward(factor=scale), text(factor=scale), False
        ),
        _test_case(_FIFTH_DIGIT, _forward(), text(factor=small), False),
    ]


def _which_test(case: PythonCase, got: Mapping[str, np.ndarray]) -> str | None:
    if case.expected["verdict"]:
        return (
            "a right backward pass is refused: are the numerical gradients exact enough, and is each compared with "
            "its own?"
        )
    for what, asks in _PLANTED.values():
        if case.label == what:
            return f"a wrong backward pass is accepted: {what}; {asks}"
    if case.label == _OTHER_FORWARD:
        return f"a wrong pair is accepted: {_OTHER_FORWARD}; ask forward itself, not a formula for its gradient"
    more = (
        "; the gradients must agree to five digits: how large may rtol and atol be?"
        if case.label == _FIFTH_DIGIT
        else ""
    )
    return f"a wrong backward pass is accepted: {case.label}{more}"


def _test_shapes(case: PythonCase, got: Mapping[str, np.ndarray]) -> str | None:
    del case, got
    return "return one truth value for all three gradients"


GRADIENT_TEST = PythonChecker(_test_cases, rtol=0, atol=0, symptoms=(_which_test,), shapes=_test_shapes, seconds=20.0)


#: Experiment -> gammas, groups and dy: C = 4 channels, and what is not said has no symmetry.
EXPERIMENTS = ("general", "gamma 1", "G = C", "dy 1")


def experiment(name: str) -> dict[str, np.ndarray | int]:
    """The arguments dy, x, gamma, mean, rstd and num_groups of one of ``EXPERIMENTS``; x has the shape (2, 4, 5)."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((2, 4, 5)) + np.arange(4).reshape(4, 1)
    dy = rng.standard_normal(x.shape) + 0.5
    gamma = np.array([0.5, 2.0, -1.0, 3.0])
    groups = 4 if name == "G = C" else 2
    gamma = np.ones(4) if name == "gamma 1" else gamma
    dy = np.ones(x.shape) if name == "dy 1" else dy
    saved = reference.group_norm(x, gamma, num_groups=groups)
    return {"dy": dy, "x": x, "gamma": gamma, "mean": saved.mean, "rstd": saved.rstd, "num_groups": groups}


_WORDS = ("right", "constants", "dy summed", "gamma pulled out", "dgamma from dy * gamma")


@functools.cache
def _verdict(letter: str) -> str:
    """The word whose function gives the numbers of this one, on data that tell all of them apart."""
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

WHICH_MISTAKE = PredictChecker(
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
