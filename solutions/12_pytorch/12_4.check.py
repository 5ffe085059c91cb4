"""12.4: with the published sample of aclnnGroupNormBackward dx is near 0; which inputs can catch a wrong kernel?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gn_tutorial.course.exercises.check_python import FunctionText, PythonCase, PythonChecker
from gn_tutorial.course.exercises.gradient_mistakes import TOLERANCE, WRONG, text


def _cases(rng: np.random.Generator) -> Sequence[PythonCase]:
    probes = Path(__file__).with_name("12_4.probes.py").read_text(encoding="utf-8")
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


CHECK = PythonChecker(_cases, rtol=1e-6, atol=1e-13, symptoms=(_which_dx,))
