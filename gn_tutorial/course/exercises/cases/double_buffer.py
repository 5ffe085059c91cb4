"""05.1: two buffers that are used at the same time. 05.3: flags by hand. 05.2: what a second buffer gains, predicted.

What numbers do not show is read from the timeline of the same launch: which pipes were at work together. Modelled, for
the default chip, which the texts name.
"""

from __future__ import annotations

import functools
from collections import Counter

import numpy as np

from gn_tutorial.abi.trace import Kind, Pipe
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.profiler.profile import Profile, profile, profile_of

_ROW_TILE, _FLAG_TILE = 4096, 2048  # kTile of the two kernels
#: Tiles of a row from which on there is enough to overlap: the first copy of a row has nothing to hide behind.
_MANY = 8
#: The part of MTE2's time that has to lie beside V's work. The order of step 3 has 0.6, turns have 0.
_HIDDEN = 0.4
#: 05.3: the flags of two buffers, one for each direction.
_NEEDED = ("MTE2_V", "V_MTE2", "V_MTE3", "MTE3_V")


def _together(found: Profile, one: Pipe, other: Pipe) -> float:
    """Microseconds in which two pipes of block 0 were both at work."""
    first, second = ([(span.start, span.end) for span in found.timeline.of(0, pipe)] for pipe in (one, other))
    cycles = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in first for b in second)
    return found.machine.microseconds(cycles)


def _barrier(found: Profile) -> bool:
    """Whether the kernel itself makes all pipes wait for all; the end of every kernel does so too."""
    events = found.trace.blocks[0]
    return any(event.kind is Kind.BARRIER and event.pipe is Pipe.ALL and event.op == "PipeBarrier" for event in events)


def _row_cases(rng: np.random.Generator) -> list[KernelCase]:
    shapes = [(1, 100, 1), (1, 4096, 1), (1, 4101, 1), (3, 9001, 2), (2, 10 * _ROW_TILE + 1003, 1)]
    shapes += [(int(rng.integers(2, 7)), int(rng.integers(100, 30000)), int(rng.integers(1, 5))) for _ in range(2)]
    return [_row_case(rng, *shape) for shape in shapes]


def _row_case(rng: np.random.Generator, rows: int, length: int, blocks: int) -> KernelCase:
    scale = rng.uniform(0.5, 2.0, (rows, 1)) * np.linspace(0.5, 1.5, length)
    x = (rng.standard_normal((rows, length)) * scale).astype(np.float32)
    sums = (x.astype(np.float64) ** 2).sum(axis=1).astype(np.float32)
    label = f"{rows} row{'s' * (rows > 1)} of {length} floats on {blocks} block{'s' * (blocks > 1)}"
    return KernelCase(label, {"x": x}, {"rows": rows, "length": length}, {"sums": sums}, blocks)


def _read_once(case: KernelCase, result: Result) -> str | None:
    x, came = case.inputs["x"].nbytes, result.tally.bytes_in
    if came == x:
        return None
    if came < x:
        return f"the sums are right, but only {came} of {x} bytes of x came through the Unified Buffer"
    return f"the sums are right, but {came} bytes came in, and x has only {x}: copy every element in once"


def _overlaps(case: KernelCase, result: Result) -> str | None:
    if case.inputs["x"].shape[1] < _MANY * _ROW_TILE:
        return None
    found = profile_of(result)
    busy, beside = found.busy[Pipe.MTE2], _together(found, Pipe.MTE2, Pipe.V)
    if beside >= _HIDDEN * busy:
        return None
    tile = max(event.lanes for event in found.trace.blocks[0] if event.kind is Kind.VECTOR)
    if tile < _ROW_TILE:
        return (
            f"the sums are right, in tiles of {tile} floats. Their copies are too short to say anything about the "
            f"order of the calls: leave kTile at {_ROW_TILE}"
        )
    turns = f"MTE2 works for {busy:.2f} us (modelled), {beside:.2f} us of them together with V"
    if _barrier(found):
        return f"right, but slow: {turns}; PipeBarrier<PIPE_ALL> makes every pipe wait for all others"
    places = {event.operands[0].at for event in found.trace.blocks[0] if event.kind is Kind.ALLOC}
    if len(places) < 2:
        return f"the sums are right, but the pipes take turns: {turns}. With one buffer the next tile has no place"
    if not beside:
        return (
            f"the sums are right, but the pipes take turns: {turns}. There are {len(places)} buffers, but the copy of "
            "the next tile is sent only after S has waited for the sum of this one"
        )
    return f"the sums are right, but too little overlaps: {turns}; {_HIDDEN:.0%} must overlap"


_ENQUE = (
    "V may use a tile that has not arrived: EnQue sets its flag after what was sent before it, so the copy comes first"
)

ROW_SQUARES = KernelChecker(
    _row_cases,
    rtol=2e-5,
    atol=0.0,
    demands=(_read_once, _overlaps),
    faults={
        "queue-no-free-buffer": "AllocTensor waits for ever: more tensors are in use than there are buffers, or one is "
        "never freed",
        "queue-empty": "DeQue finds no tile: each DeQue needs a CopyIn of its own before it",
        "queue-depth": "two filled tiles would wait in the queue, but TQue<..., 1> has room for one: take the tile "
        "that has arrived, then request the next",
        "race-read-after-write": _ENQUE,
        "race-write-after-write": _ENQUE,
        "ub-use-after-free": "FreeTensor belongs after the last instruction that uses the tile",
        "gm-out-of-bounds": "a copy goes past the end of x: is there a next tile, and how long is it",
        "gm-beyond-declared-size": "a copy goes past the end of x: is there a next tile, and how long is it",
    },
    auto_sync=True,
    traced=True,
)


def _flag_cases(rng: np.random.Generator) -> list[KernelCase]:
    sizes = [5, 2048, 2053, 8 * _FLAG_TILE + 77, int(rng.integers(3000, 20000))]
    return [_flag_case(rng, n) for n in sizes]


def _flag_case(rng: np.random.Generator, n: int) -> KernelCase:
    x = (rng.standard_normal(n) * 2 + 0.5).astype(np.float32)
    return KernelCase(f"{n} floats, tiles of {_FLAG_TILE}", {"x": x}, {"n": n}, {"y": 2 * np.maximum(x, 0)})


def _half(case: KernelCase, result: Result) -> str | None:
    if np.array_equal(result["y"], np.maximum(case.inputs["x"], 0)):
        return "y is max(x, 0), not twice that: Muls is missing, or its result is not copied out"
    return None


def _no_barrier(case: KernelCase, result: Result) -> str | None:
    if case.inputs["x"].size < _MANY * _FLAG_TILE:
        return None
    found = profile_of(result)
    time = f"{found.microseconds:.2f} us modelled"
    if _barrier(found):
        return (
            f"the numbers are right, on a device too, but a barrier stops all pipes ({time}): find the flag that it "
            "replaces"
        )
    if _together(found, Pipe.MTE2, Pipe.MTE3) > 0.0:
        return _needless(found)
    return (
        f"the numbers are right, but MTE2 and MTE3 never work together ({time}): a flag makes them wait for each "
        "other, although they use different buffers"
    )


def _needless(found: Profile) -> str | None:
    """Flags that nobody needs beside the four that order two buffers: each may cost a wait.

    A few more than four for each tile are right: backward flags may be set ahead of the loop.
    """
    events = found.trace.blocks[0]
    tiles = sum(event.kind is Kind.COPY and event.pipe is Pipe.MTE2 for event in events)
    flags = Counter(event.flag for event in events if event.kind is Kind.SET_FLAG)
    if flags.total() <= len(_NEEDED) * (tiles + 1):
        return None
    first = next((name for name in flags if name not in _NEEDED), "")
    which = f"{first} orders two pipes that share no buffer" if first else ""
    twice = next((name for name in _NEEDED if flags[name] > tiles + 1), "")
    which = which or f"{twice} is there twice"
    return f"the numbers are right, with {flags.total() / tiles:.2g} flags for each tile, and four are enough: {which}"


FLAGS = KernelChecker(
    _flag_cases,
    rtol=0.0,
    atol=0.0,
    symptoms=(_half,),
    demands=(_no_barrier,),
    faults={
        "race-read-after-write": "a pipe reads what another one may still be writing, because no flag between the two "
        "lines makes it wait (the first pipe in the name of a flag sets it, the second one waits)",
        "race-write-after-read": "a buffer is filled again while another pipe may still be reading it: a backward flag "
        "is missing, in the wrong place, or the wrong way round",
        "race-same-pipe": "nothing waits for a copy, not even the next copy into the same place",
        "flag-wait-unset": "a pipe waits for ever",
        "flag-never-awaited": "no pipe has waited for the last flag when the block ends",
        "flag-set-twice": "a flag is set again before any pipe has waited for it",
    },
    auto_sync=True,
    traced=True,
)


@functools.cache
def _add(tile: int, buffers: int, work: int, tiles: int) -> Profile:
    """kernels/add on one block, with so many buffers in each queue, and ``work`` Exp behind each Add."""
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


_PIPES = ("S", "MTE2", "V", "MTE3")

BUFFERS = PredictChecker(
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
            f"the pipe that is always busy there: {', '.join(_PIPES)}",
            lambda: max(_PIPES, key=lambda name: _add(8192, 2, 0, 24).busy[Pipe[name]]),
            {
                "S": "Its calls take 0.35 us for each tile; another pipe needs longer",
                "V": "Its Add is the shortest work of all",
                "MTE3": "MTE3 has one array to move, and MTE2 has two",
            },
            choices=_PIPES,
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
