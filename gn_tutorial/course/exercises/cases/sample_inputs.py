"""12.4: with the published sample of aclnnGroupNormBackward dx is near 0; which inputs can catch a wrong kernel?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial import reference
from gn_tutorial.course.exercises.cases.mistakes import function, text
from gn_tutorial.course.exercises.check_python import FunctionText, PythonCase, PythonChecker

#: What a test of the sample's kind allows: relative, and absolute.
TOLERANCE = 1e-3

#: Mistake, of ``mistakes`` -> what such a kernel does, and what to ask of inputs that accept it. The first seven pass
#: with the inputs of the sample.
WRONG: Mapping[str, tuple[str, str]] = {
    "zero": ("writes zeros into dx", "how large is dx for them?"),
    "one per cent": (
        "makes dx one per cent too large",
        "a hundredth of dx must be more than the tolerance: how large is dx?",
    ),
    "dy summed": ("takes the means of dx of dy instead of dy * gamma", "which gammas hide that?"),
    "gamma pulled out": (
        "has gamma in front of the means instead of inside",
        "where is gamma the same all over a group?",
    ),
    "whole sample": ("takes the means over the whole sample instead of the group", "how many groups are there?"),
    "dgamma from dy * gamma": ("sums dgamma from dy * gamma", "which gammas hide that?"),
    "dbeta from dy * gamma": ("sums dbeta from dy * gamma", "which gammas hide that?"),
    "constants": ("treats mean and rstd as constants", "for which dy are the means of dy * gamma 0?"),
    "hands dy on": ("returns dy as dx", "when is dx equal to dy?"),
    "first position": (
        "uses the first dy of a channel for all its positions",
        "does dy differ from position to position?",
    ),
    "one sample": ("sums dgamma over the first sample only", "how many samples are there?"),
    "one position": ("sums dbeta over the first position only", "how many positions are there?"),
    "last channel": ("makes the last dgamma two per cent too large", "how large is dgamma?"),
}


def published_sample() -> dict[str, Any]:
    """dy, x, gamma, mean, rstd and num_groups as the sample has them: dy = x = 1 to 24, gamma = 1, one group."""
    x = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
    saved = reference.group_norm(x, num_groups=1)
    return {
        "dy": x.copy(),
        "x": x,
        "gamma": np.ones(3, np.float32),
        "mean": saved.mean.astype(np.float32),
        "rstd": saved.rstd.astype(np.float32),
        "num_groups": 1,
    }


def accepted_with(given: Mapping[str, Any]) -> dict[str, bool]:
    """What a wrong kernel does -> whether a test with these inputs, and ``TOLERANCE``, accepts its gradients."""
    wide = {name: one.astype(float) if isinstance(one, np.ndarray) else one for name, one in given.items()}
    right = function("right")(**wide)
    return {what: _alike(function(name)(**wide), right) for name, (what, _) in WRONG.items()}


def _alike(some: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> bool:
    return all(np.allclose(*pair, rtol=TOLERANCE, atol=TOLERANCE) for pair in zip(some, others, strict=True))


def _cases(rng: np.random.Generator) -> Sequence[PythonCase]:
    probes = (Path(__file__).parent / "sample_inputs_probes.py").read_text(encoding="utf-8")
    seed = int(rng.integers(1 << 30))
    common = {"seed": seed, "tolerance": TOLERANCE, "right": text()}
    return [
        *(_dx_case(rng, label, eps) for label, eps in (("eps = 0.1", 0.1), ("eps = 1e-5", 1e-5))),
        PythonCase("the inputs", "inputs", common, {}, probe=FunctionText(probes, "fits")),
        *(
            PythonCase(
                f"a kernel that {what}",
                "inputs",
                common | {"wrong": text(name), "what": what, "asks": asks},
                {},
                probe=FunctionText(probes, "catches"),
            )
            for name, (what, asks) in WRONG.items()
        ),
    ]


def _dx_case(rng: np.random.Generator, label: str, eps: float) -> PythonCase:
    x = rng.standard_normal(24) * 0.7 + 3
    mean, rstd = x.mean(), 1 / np.sqrt(x.var() + eps)
    given = {"x": x, "mean": float(mean), "rstd": float(rstd), "eps": eps}
    return PythonCase(label, "dx_of_the_sample", given, {"dx": eps * rstd**2 * (x - mean) * rstd})


def _which_dx(case: PythonCase, got: Mapping[str, np.ndarray]) -> str | None:
    if "dx" not in case.expected:
        return None
    want, dx, rstd = case.expected["dx"], got["dx"], case.arguments["rstd"]
    near = {
        "is zero only without eps: the mean of xhat * xhat is not quite 1": 0 * want,
        "lacks one factor rstd: how far is 1 - eps * rstd**2 from 1?": want / rstd,
        "lacks two factors rstd: 1 - var * rstd**2 is not eps": want / rstd**2,
        "has the wrong sign": -want,
    }
    return next((f"dx {words}" for words, one in near.items() if np.allclose(dx, one, rtol=1e-4, atol=0)), None)


SAMPLE_INPUTS = PythonChecker(_cases, rtol=1e-6, atol=1e-13, symptoms=(_which_dx,))
