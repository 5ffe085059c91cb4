"""03.3: how many scalar accesses there are."""

from __future__ import annotations

import functools

import numpy as np

from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.runtime.launch_types import Tally

_SHAPE, _GROUPS = (2, 12, 30, 40), 4  # as the exercise's text says


@functools.cache
def _tally() -> Tally:
    return kernel("group_norm/scalar")(np.ones(_SHAPE, np.float32), num_groups=_GROUPS).tally


CHECK = PredictChecker(
    (
        Prediction(
            "scalar_accesses",
            "GetValue and SetValue of the whole launch",
            lambda: _tally().scalar,
            {
                28800: "Look at the loops over i: that is one for each element",
                86400: "The result of each element is written too: that is without SetValue",
                115200: "That is what the elements need; each group has some of its own, and each channel",
                115232: "gamma and beta are read too, of each channel, once in each sample",
                115248: "That is without the groups: a root and two statistics each",
                115256: "gamma and beta are counted for one sample; each sample reads gamma and beta again",
            },
            rule="Add three products: the accesses for an element, for a group, and for a channel of a sample, "
            "times the number of each",
        ),
        Prediction(
            "copies_in",
            "copies from global memory into the Unified Buffer",
            lambda: _tally().mte2,
            {
                32: "The kernel reads each group three times: that is one pass",
                72: "A group of 3600 elements is no multiple of kChunk; the tail of a group is a chunk too",
                12: "That is one group; there are 8",
                48: "That is one sample; there are two",
                144: "Each channel by itself would take 2 * 12 * 2 * 3; a chunk goes across the channels of "
                "its group. Or did you add the copies out?",
                87: "That is all groups in one piece; each group has a tail of its own",
            },
            rule="Groups, times the chunks of a group, times the passes over it",
        ),
        Prediction(
            "copies_out",
            "copies from the Unified Buffer to global memory",
            lambda: _tally().mte3,
            {
                32: "That is y; mean and rstd go back as well",
                96: "Only the last pass writes",
                40: "mean and rstd are two copies for each group",
            },
            rule="The chunks of y, and for each group its mean and its rstd",
        ),
        Prediction(
            "bytes_in",
            "bytes that the copies bring into the Unified Buffer",
            lambda: _tally().bytes_in,
            {
                115200: "The kernel goes over each group three times: that is x once",
                86400: "That is in floats; a float has 4 bytes",
                28800: "That is the number of elements; a float has 4 bytes, and there are three passes",
            },
            rule="The bytes of x, times the passes over it",
        ),
    )
)
