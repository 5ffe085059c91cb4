"""03.4: what limits the scalar kernel.

The numbers are modelled, for the default chip; the tolerances leave room for what a prediction on paper leaves out.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.course.exercises.launch_facts import PIPES, limiting_pipe
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.profiler.profile import Profile, profile


@functools.cache
def _group_norm(spatial: int, blocks: int, chunk: int = 1024) -> Profile:
    """The scalar kernel on one sample of 32 channels in 32 groups, perhaps with another chunk."""
    original = kernel("group_norm/scalar")
    assert "kChunk = 1024" in original.source
    with tempfile.TemporaryDirectory(prefix="gnt-") as name:
        path = Path(name) / original.path.name
        path.write_text(original.source.replace("kChunk = 1024", f"kChunk = {chunk}"), encoding="utf-8")
        beside = [original.path.parent]
        changed = Kernel(original.name, path=path, op=original.op, spec=original.spec, include_dirs=beside)
        x = np.ones((1, 32, spatial), np.float32)
        return profile(changed, x, num_groups=32, blocks=blocks)


def _gain(one: Profile, other: Profile) -> float:
    """How many times as fast the other is."""
    return one.microseconds / other.microseconds


CHECK = PredictChecker(
    (
        Prediction(
            "limit",
            f"the pipe that the launch is nearest to: {', '.join(PIPES)}",
            lambda: limiting_pipe(_group_norm(1024, 32)),
            {
                "MTE2": "It brings the group in three times, 58 bytes in a cycle: 212 cycles. Four accesses for each "
                "of 1024 elements take longer",
                "MTE3": "It takes 4096 bytes out, 43 in a cycle: about 100 cycles",
                "V": "It takes one root",
            },
            choices=PIPES,
        ),
        Prediction(
            "scalar_us",
            "microseconds that S of a block is busy with a group of 1024 elements; 5 % more or less is right",
            lambda: _group_norm(1024, 32).busy[Pipe.S],
            {
                6.45: "That is one access for each element; there are three loops over i, with four accesses",
                19.3: "That is three accesses for each element; Normalise reads one and writes one",
                825.0: "That is all 32 groups; here each has a core of its own",
                46400.0: "These are cycles; a microsecond has 1800",
                46.4: "These are thousands of cycles; a microsecond has 1800",
            },
            within=0.05,
            rule="The accesses for an element, times the elements of a group, times 11.3 cycles; a microsecond "
            "has 1800",
        ),
        Prediction(
            "gain_31_cores",
            "how many times as fast 31 cores are as 16; 3 % more or less is right",
            lambda: _gain(_group_norm(1024, 16), _group_norm(1024, 31)),
            {
                1.94: "That is 31 / 16. Who has how many groups, and who is done last?",
                1.9375: "That is 31 / 16. Who has how many groups, and who is done last?",
                2.0: "So many times as fast is the work of 32 cores: then nobody has two groups",
                1.0: "So it is without the launch: 31 cores take longer to start than 16",
            },
            within=0.03,
            rule="The core with the most groups is done last; add the start of the launch to both times before "
            "you divide",
        ),
        Prediction(
            "gain_32_cores",
            "how many times as fast 32 cores are as 16; 5 % more or less is right",
            lambda: _gain(_group_norm(1024, 16), _group_norm(1024, 32)),
            {
                1.0: "With 32 cores each has one group, and with 16 each has two",
                2.0: "So it is without the launch: 32 cores take longer to start than 16",
            },
            within=0.05,
            rule="The core with the most groups is done last; add the start of the launch to both times before "
            "you divide",
        ),
        Prediction(
            "gain_large_chunk",
            "how many times as fast a kChunk of 4096 is, for groups of 4096 elements; 5 % more or less is right",
            lambda: _gain(_group_norm(4096, 32), _group_norm(4096, 32, 4096)),
            {
                4.0: "There are four times fewer copies. But how much of the time do copies take?",
                2.0: "There are fewer copies. But how much of the time do copies take?",
                0.25: "This is a quarter of the copies, and none of the accesses",
            },
            within=0.05,
            rule="Which part of the time do copies take, and which part accesses, whose number stays?",
        ),
    )
)
