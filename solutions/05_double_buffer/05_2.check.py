"""05.2: what a second buffer gains, predicted."""

from __future__ import annotations

import functools

import numpy as np

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.course.exercises.launch_facts import PIPES
from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.profiler.profile import Profile, profile


@functools.cache
def _add(tile: int, buffers: int, work: int, tiles: int) -> Profile:
    """The profile of kernels/add on one block, with ``buffers`` in each queue, and ``work`` Exp after each Add."""
    text = kernel("add/queue").source
    add = "    AscendC::Add(z, x, y, static_cast<int32_t>(count));\n"
    more = "    AscendC::Exp(z, z, static_cast<int32_t>(count));\n" * work
    for old, new in (
        ("kTile = 2048", f"kTile = {tile}"),
        ("Queue_, 1, kTile", f"Queue_, {buffers}, kTile"),
        (add, add + more),
    ):
        assert old in text, old
        text = text.replace(old, new)
    x = np.zeros(tiles * tile, np.float32)
    return profile(kernel(source=text), x, x, out(x.size), x.size, blocks=1)


def _period(tile: int, buffers: int, work: int = 0) -> float:
    """Microseconds from one tile to the next, without the beginning and the end of the launch."""
    return (_add(tile, buffers, work, 24).microseconds - _add(tile, buffers, work, 12).microseconds) / 12


def _gain_of_one_tile() -> float:
    x = np.ones((4, 8, 24, 24), np.float32)
    slow, fast = (profile(kernel(f"group_norm/{step}"), x, num_groups=8) for step in ("tiled", "double_buffered"))
    return slow.microseconds / fast.microseconds


CHECK = PredictChecker(
    (
        Prediction(
            "one_light",
            "us from one tile to the next: tiles of 8192, one buffer, light; within 3 % is right",
            lambda: _period(8192, 1),
            {
                1.49: "MTE3 copies out while the next tile comes in: c is not part of the round of x",
                0.78: "The data are in transit for w before V can begin",
                0.63: "That is MTE2 alone, as if it never waited for V; with one buffer it does",
                1.26: "That is everything but w, one after the other; which round is the longest?",
                0.86: "That is without V; with one buffer the next copies wait until V has read x and y",
                1.84: "That is everything in a row; S makes its calls, and MTE3 copies out, while others work",
                1.36: "S makes its calls while the others work; they are no part of the round of x",
            },
            above="It is the longest of the rounds and of the single pipes, not the sum of all of them",
            below="It is the longest of the rounds and of the single pipes: which one is longer than your number?",
            within=0.03,
        ),
        Prediction(
            "two_light",
            "us from one tile to the next: tiles of 8192, two buffers, light; within 3 % is right",
            lambda: _period(8192, 2),
            {
                0.51: "That is half of the round, but MTE2 alone needs longer",
                0.505: "That is half of the round, but MTE2 alone needs longer",
                0.48: "That is MTE3; one of the other pipes needs longer",
                1.01: "That is the round of one buffer; with two buffers, two rounds overlap",
                0.86: "While the data are in transit MTE2 is already free, and can fill a second buffer",
                0.78: "That is MTE2 and then V; with two buffers they overlap",
                0.35: "That is S; MTE2 needs longer",
                0.315: "Two buffers make no pipe faster: MTE2 must still make all of its copies",
            },
            above="Half of the round, or the busiest pipe alone: the larger of the two",
            below="Half of the round, or the busiest pipe alone: the larger of the two. No pipe gets faster",
            within=0.03,
        ),
        Prediction(
            "limit_two_light",
            f"the pipe that is always busy there: {', '.join(PIPES)}",
            lambda: max(PIPES, key=lambda name: _add(8192, 2, 0, 24).busy[Pipe[name]]),
            {
                "S": "Its calls take 0.35 us for each tile; another pipe needs longer",
                "V": "Its Add is the shortest work of all",
                "MTE3": "MTE3 has one array to move, and MTE2 has two",
            },
            choices=PIPES,
        ),
        Prediction(
            "two_heavy",
            "us from one tile to the next: tiles of 8192, two buffers, heavy; within 3 % is right",
            lambda: _period(8192, 2, 5),
            {
                0.9: "That is half of the round, but V alone needs longer",
                0.63: "That is MTE2, as before; V has more to do now",
                1.8: "That is the round of one buffer",
                0.71: "That is half of b and c; V alone needs longer",
                0.47: "Two buffers make no pipe faster: V must still do all of its work",
                1.57: "That is MTE2 and then V; with two buffers they overlap",
                1.17: "The data of the next tile have already arrived when V has finished with this one",
                1.42: "That is V and then MTE3; with two buffers they overlap",
                1.14: "That is half of everything in a row; c is not part of the round of x",
            },
            above="Half of the round, or the busiest pipe alone: the larger of the two",
            below="Half of the round, or the busiest pipe alone: the larger of the two. No pipe gets faster",
            within=0.03,
        ),
        Prediction(
            "third_gains",
            "how many times as fast three buffers are as two: tiles of 2048, light; within 3 % is right",
            lambda: _period(2048, 2) / _period(2048, 3),
            {
                1.5: "That would be so if the round of x were the limit; what does S need for its calls?",
                3.0: "That is three buffers against none; look for the part that more buffers do not shorten",
                1.33: "That is half of the round against a third of it; but S needs longer than either",
                2.0: "Two buffers can be that much faster than one if nothing else is the limit; here S is",
                0.67: "That would be slower; a third buffer takes memory, but no time",
            },
            above="What is the largest part of the rule with two buffers, and does it change with a third one?",
            below="A third buffer takes memory, but no time: it cannot be slower",
            within=0.03,
        ),
        Prediction(
            "one_tile_gains",
            "how many times as fast group_norm/double_buffered is as group_norm/tiled, for groups of one tile; within "
            "3 % is right",
            _gain_of_one_tile,
            {
                2.0: "Two buffers never halve everything. How many next tiles does a pass over one tile have?",
                1.39: "That is a group of eight tiles. How many next tiles does a pass over one tile have?",
                1.54: "That is a group of eleven tiles. How many next tiles does a pass over one tile have?",
            },
            above="A second buffer is for the next tile. How many next tiles does a pass over one tile have?",
            below="The calls and the copies are the same: nothing makes it slower",
            within=0.03,
        ),
    )
)
