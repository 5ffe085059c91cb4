"""10.3: tests a gradient test with right and wrong backward passes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gn_tutorial.course.exercises.check_python import FunctionText, PythonCase, PythonChecker
from gn_tutorial.course.exercises.gradient_mistakes import text

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

#: Mistake -> what it is, and a question about what a test that accepts it lacks. In the order of the cases.
_PLANTED: Mapping[str, tuple[str, str]] = {
    "hands dy on": ("dx is dy, returned unchanged", "what is dx compared with?"),
    "zero": ("dx is 0 everywhere", "which loss has a dx of 0 in any case?"),
    "first position": ("one dy is used for all positions of a channel", "does dy differ from position to position?"),
    # With gammas of 1 both of these look right; with one channel in a group the second still does, so it comes second.
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
    # A test that contains the derived formula, and never calls forward, accepts this.
    cases += [_test_case(_OTHER_FORWARD, _forward(factor=2.0), text(), False)]
    eps, scale = float(rng.uniform(0.05, 0.2)), float(rng.uniform(1.5, 3.0))
    cases += [_test_case("a right backward pass, another eps", _forward(eps), text(), True)]
    # Off in the fifth digit: more than rtol 1e-5 lets pass, and less than rtol 1e-4.
    small = 1 + float(rng.uniform(6e-5, 9e-5))
    return [
        *cases,
        # dx is right for this scaled forward pass, so only the gradients of gamma and beta show the mistake.
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


CHECK = PythonChecker(_test_cases, rtol=0, atol=0, symptoms=(_which_test,), shapes=_test_shapes, seconds=20.0)
