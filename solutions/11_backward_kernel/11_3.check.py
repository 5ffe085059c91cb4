"""11.3: how often steps 2 to 4 of the backward kernel read, what they keep, and how many numbers one sum can be."""

from __future__ import annotations

import functools

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.operators.arguments import out, workspace
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.result import Result

from .channel_sums import FLOAT, matrix

_SHAPE, _GROUPS = (6, 40, 20, 20), 8  # as the exercise's text says


def _arguments(shape: tuple[int, ...], groups: int) -> list[np.ndarray]:
    """dy, x, mean, rstd and gamma of a backward launch, without symmetry."""
    rng = np.random.default_rng(10)
    x, dy = (matrix(rng, shape[0], int(np.prod(shape[1:]))).reshape(shape) for _ in range(2))
    rows = x.reshape(shape[0], groups, -1).astype(np.float64)
    mean, rstd = rows.mean(axis=2), 1.0 / np.sqrt(rows.var(axis=2) + 1e-5)
    return [dy, x, mean.astype(np.float32), rstd.astype(np.float32), np.linspace(0.5, 2, shape[1], dtype=np.float32)]


@functools.cache
def _launch(step: str) -> Result:
    arrays = _arguments(_SHAPE, _GROUPS)
    return kernel(f"group_norm_backward/{step}")(*arrays, num_groups=_GROUPS)


def _bytes_of_x() -> int:
    return int(np.prod(_SHAPE)) * FLOAT


def _readings(step: str) -> int:
    """Return how often dy and x are read each; shares in the workspace are far fewer bytes than one reading."""
    return round(_launch(step).tally.bytes_in / _bytes_of_x() / 2)


@functools.cache
def _patterns(samples: int) -> int:
    """Return how many different float32 numbers one dbeta has, at most, if cores add atomically in many orders."""
    arrays, step = _arguments((samples, 64, 9), 8), kernel("group_norm_backward/atomic")
    runs = [
        step(*arrays, num_groups=8, isolated=False, observed=False, options=TwinOptions(block_order=order)).dbeta
        for order in range(60)
    ]
    return max(len(set(column)) for column in np.stack(runs).T.tolist())


@functools.cache
def _rows_of_cores() -> str:
    """Return "yes" if exercise 11.1, with a row for each core, gives the same bits on three and on four cores."""
    found = kernel(load_course().find("11.1").solution, optimise="little")
    rng = np.random.default_rng(10)
    dy, xhat = matrix(rng, 30, 64), matrix(rng, 30, 64)
    bits = {
        found.run(
            dy=dy,
            xhat=xhat,
            dgamma=out(64),
            dbeta=out(64),
            workspace=workspace(2 * cores * 64 * FLOAT),
            samples=30,
            channels=64,
            blocks=cores,
        ).dbeta.tobytes()
        for cores in (3, 4)
    }
    return "yes" if len(bits) == 1 else "no"


CHECK = PredictChecker(
    (
        Prediction(
            "workspace_floats",
            "floats in the workspace of step 3",
            lambda: _launch("two_stages").tiling["workspaceBytes"] // FLOAT,
            {
                240: "That is the shares of dgamma; dbeta has as many",
                80: "That is one sample; each of the six has shares of its own",
                96: "That is two for each group; a share belongs to a row, one channel of one sample",
                3840: "That is a row for each core, as in exercise 11.1; step 3 has a place for each row of x",
                1920: "That is in bytes; a float has 4",
            },
            rule="A row is one channel of one sample; each has a share of dgamma and one of dbeta",
        ),
        Prediction(
            "readings_step2",
            "how often each of dy and x is read in step 2",
            lambda: _readings("vectorised"),
            {
                2: "For the means and for dx; and what does the third pass read?",
                6: "That counts dy and x; it is asked for each",
                1: "The means need the whole group before the first dx",
            },
            rule="Count the passes over x: for the means, for dx, for dgamma and dbeta",
        ),
        Prediction(
            "readings_step3",
            "how often each of dy and x is read in step 3",
            lambda: _readings("two_stages"),
            {
                3: "The first pass has the sums of every row; the third one is gone",
                4: "That counts dy and x; it is asked for each",
                1: "Step 3 keeps nothing between the pass for the means and the pass for dx",
            },
            rule="Count the passes over x: the first one keeps the sums of the rows for dgamma and dbeta",
        ),
        Prediction(
            "second_stage_bytes",
            "bytes that the second stage of step 3 brings in, all cores together",
            lambda: _launch("two_stages").tally.bytes_in - 4 * _bytes_of_x(),
            {
                480: "That is in floats; a float has 4 bytes",
                15_360: "DataCopyPad brings the 4 bytes that are asked for; what fills the block is not read",
                960: "That is dgamma; dbeta has as many shares",
                92_160: "That is all of the workspace for each core; a core reads the shares of its own channels",
                0: "The shares are in the workspace, and that is global memory",
            },
            rule="Every share of the workspace is read once; a share is a float",
        ),
        Prediction(
            "bits_of_two",
            "how many different numbers one dbeta can be in step 4, if there are two samples",
            lambda: _patterns(2),
            {2: "a + b and b + a are rounded alike", 4: "There are two orders; and are a + b and b + a two numbers?"},
            rule="Write down the orders of the additions, and strike out those that round alike",
        ),
        Prediction(
            "bits_of_three",
            "how many different numbers one dbeta can be in step 4, at most, if there are three samples",
            lambda: _patterns(3),
            {
                6: "There are six orders, but (a + b) + c and (b + a) + c are the same",
                2: "Any of the three may come last",
                1: "(a + b) + c and (a + c) + b are rounded at other places",
            },
            rule="Write down the orders of the additions, and strike out those that round alike",
        ),
        Prediction(
            "rows_of_cores",
            "whether exercise 11.1 gives the same bits on three cores as on four: yes or no",
            _rows_of_cores,
            {"yes": "With another number of cores a core has other samples, and so other shares"},
            choices=("yes", "no"),
        ),
    )
)
