"""09.1: what holds up three launches. 09.2: a host function that chooses the tile by shape. All times are modelled.

The three launches of 09.1 are kernels/add with one planted fault each; notebook 09 shows their lines and their
profiles. What is right is asked of the model: the cause is what gains most when it is mended.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.course.exercises.check_tiling import TilingCase, TilingChecker
from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.profiler.bench.autotune import REFUSED, Candidate, Tuning, tune
from gn_tutorial.profiler.bench.grid import BenchCase
from gn_tutorial.profiler.profile import Profile, profile
from gn_tutorial.timing.machine import load_machine

_N, _BLOCKS = 600_000, 8
_PIPES = ("S", "MTE2", "V", "MTE3")
_LIMITS = {"scalar unit": "S", "vector unit": "V"}

#: What the three launches share, as edits of kernels/add.
_SOUND = (("kTile = 2048", "kTile = 8192"), ("Queue_, 1, kTile", "Queue_, 2, kTile"))
#: Cause -> sound text, and the text with the fault.
_FAULTS = {
    "cores": (
        "share = ((n + 7) / 8 + blocks - 1) / blocks * 8;",
        "share = ((n + 65535) / 65536 + blocks - 1) / blocks * 65536;",
    ),
    "tiles": ("kTile = 8192;", "kTile = 512;"),
    "waiting": ("      CopyOut(at, count);\n", "      CopyOut(at, count);\n      AscendC::PipeBarrier<PIPE_ALL>();\n"),
}
_LAUNCHES = {"sound": "", "A": "cores", "B": "tiles", "C": "waiting"}


@functools.cache
def _text(fault: str = "") -> str:
    text = kernel("add/queue").source
    for old, new in (*_SOUND, *([_FAULTS[fault]] if fault else [])):
        assert old in text, old
        text = text.replace(old, new)
    return text


def launch_kernel(name: str) -> Kernel:
    """The kernel of launch "A", "B" or "C", or the sound one: "sound"."""
    return kernel(source=_text(_LAUNCHES[name]))


@functools.cache
def _profile(text: str) -> Profile:
    x = np.ones(_N, np.float32)
    return profile(kernel(source=text), x, x, out(_N), _N, blocks=_BLOCKS)


def launch_profile(name: str) -> Profile:
    """Its profile: two arrays of 600,000 floats on 8 blocks."""
    return _profile(_text(_LAUNCHES[name]))


def _cause(name: str) -> str:
    """The mend after which the launch is fastest. A mend whose fault the launch does not have changes nothing."""
    text = _text(_LAUNCHES[name])
    times = {cause: _profile(text.replace(bad, good)).microseconds for cause, (good, bad) in _FAULTS.items()}
    return min(times, key=times.__getitem__)


def _line(name: str) -> int:
    """The first line that differs from the sound kernel."""
    pairs = zip(_text(_LAUNCHES[name]).splitlines(), _text().splitlines(), strict=False)
    return next(number for number, (one, other) in enumerate(pairs, 1) if one != other)


def _limit(name: str) -> str:
    found = launch_profile(name).binding.name
    return _LIMITS.get(found, found)


def _gain(name: str) -> float:
    return launch_profile(name).microseconds / _profile(_text()).microseconds


_CAUSES = ("tiles", "cores", "waiting")
_CAUSE_SLIPS: Mapping[str, Mapping[str, str]] = {
    "A": {
        "tiles": "Tiles of 8192 are few: S is busy for a fraction of the time, and its limit is low",
        "waiting": "No pipe waits longer than in a sound kernel. Compare the busy time of MTE2 in the slowest core "
        "with its limit, which is an even division",
    },
    "B": {
        "cores": "The busy times of the slowest core are no longer than the limits, which are of an even division",
        "waiting": "S itself is busy for nearly the whole launch: it waits for nobody, and the others wait for it",
    },
    "C": {
        "tiles": "S is busy for a small part of the launch: it has few calls to make",
        "cores": "MTE2 of the slowest core is busy for about as long as its limit: the division is even",
    },
}
_LIMIT_SLIPS: Mapping[str, Mapping[str, str]] = {
    "A": {
        "S": "Its limit is lower than that of the copies in",
        "V": "An Add takes 64 floats in a cycle; its limit is the lowest of the pipes'",
        "MTE3": "It has one array to move, and MTE2 has two",
    },
    "B": {
        "MTE2": "It moves the same bytes as in the other launches; look which limit has grown, beside those of A and C",
        "MTE3": "It moves the same bytes as in the other launches; look which limit has grown, beside those of A and C",
        "V": "Its limit has grown, for each Add has a start; another one is far higher",
    },
    "C": {
        "S": "S waits, and waiting is no work: a limit counts what a pipe is busy with",
        "V": "V waits, and waiting is no work: a limit counts what a pipe is busy with",
        "MTE3": "It has one array to move, and MTE2 has two",
    },
}


_WAITS = "Launch {} waits there, and so does the sound kernel, less long: which line makes it wait longer?"
_COPY_OUT = "That is the copy that S waits for. It has to be done; but who makes S wait for it?"
_LOOP = "The loop has the right steps; ask who decides how long a step is"
_BUFFERS_LINE = "Two buffers in each queue are what it should have; their length comes from another line"
_STEPS = "That step has to be done for each tile; which line keeps it from overlapping with the next tile's?"
_SHARE = "The loop goes through the share of a core; which line decides how large that is?"
_LINE_SLIPS: Mapping[str, Mapping[int, str]] = {
    "A": {**{line: _WAITS.format("A") for line in (39, 43, 52)}, 28: _SHARE},
    "B": {
        **{line: _WAITS.format("B") for line in (39, 43, 52)},
        **dict.fromkeys((22, 23, 24), _BUFFERS_LINE),
        28: _LOOP,
    },
    "C": {
        **{line: _WAITS.format("C") for line in (40, 44, 53)},
        **dict.fromkeys((30, 31, 32), _STEPS),
        62: _COPY_OUT,
    },
}


def _questions(name: str) -> tuple[Prediction, ...]:
    low = name.lower()
    return (
        Prediction(
            f"{low}_limit",
            f"the pipe that launch {name} is nearest to: {', '.join(_PIPES)}",
            lambda: _limit(name),
            _LIMIT_SLIPS[name],
            choices=_PIPES,
        ),
        Prediction(
            f"{low}_cause",
            f"why launch {name} is slow: {', '.join(_CAUSES)}",
            lambda: _cause(name),
            _CAUSE_SLIPS[name],
            choices=_CAUSES,
        ),
        Prediction(
            f"{low}_line",
            f"the number of the line of launch {name} that has to change",
            lambda: _line(name),
            _LINE_SLIPS[name],
            is_line=True,
        ),
    )


DIAGNOSIS = PredictChecker(
    (
        *_questions("A"),
        *_questions("B"),
        *_questions("C"),
        Prediction(
            "a_gain",
            "how many times as fast launch A becomes when its line is mended; 10 % more or less is right",
            lambda: _gain("A"),
            {
                1.75: "So many times less has the busiest core to do. But the launch takes 1.6 us however short it is",
                3.0: "That is the number of idle cores; ask how much the busiest core had, and how much it has then",
                8.0: "All 8 cores work then; ask how much the busiest core had before, and how much it has then",
            },
            within=0.1,
            rule="Add the 1.6 us of the launch to the time of the busiest core, before and after, and then divide",
        ),
    )
)


# 09.2. Two groups are enough: each core works as it would with more, and the check stays short.
_KERNEL, _ROOM = "group_norm/double_buffered", 196_608
_BUFFERS, _OTHER_BYTES, _FLOAT, _STEP = 5, 96, 4, 64
#: How far above the best tile that was tried a choice may be.
_WITHIN = 0.03


def _largest(ub_bytes: int) -> int:
    return (ub_bytes - _OTHER_BYTES) // (_BUFFERS * _FLOAT * _STEP) * _STEP


@functools.cache
def _tuning(channels: int, spatial: int, values: tuple[int, ...]) -> Tuning:
    op, spec = find_kernel(_KERNEL)
    case = BenchCase((1, 2 * channels, spatial), {"num_groups": 2})
    return tune(op, spec, case, load_machine(), field="tileElements", values=values)


@functools.cache
def _best(channels: int, spatial: int) -> Candidate:
    """The fastest of what `gnt tune` would try, and of equal parts of a channel and of a group."""
    largest = _largest(_ROOM)
    fewest = -(-channels * spatial // largest)
    counts = {*range(1, 7), *range(fewest, fewest + 3)}
    parts = {-(-size // part) for size in (spatial, channels * spatial) for part in counts}
    values = {-(-part // _STEP) * _STEP for part in parts} | {512, 1024, 2048, 3072, 4096, 6144, 8192, largest}
    found = _tuning(channels, spatial, tuple(sorted(value for value in values if value <= largest))).best
    assert found is not None
    return found


def _tile_cases(rng: np.random.Generator) -> list[TilingCase]:
    refused = "five buffers of 64 floats and 96 bytes more do not fit"
    cases = [
        _tile_case(1, 900, _BUFFERS * _FLOAT * _STEP * 3 + _OTHER_BYTES),
        # The buffers of 1280 floats would fit, if it were not for the 96 bytes.
        _tile_case(3, 5000, _BUFFERS * _FLOAT * _STEP * 20 + 50),
        _tile_case(2, 7, _ROOM),
        TilingCase("channelsPerGroup = 4, spatial = 100, ubBytes = 1375", _given(4, 100, 1375), None, refused),
    ]
    # The last one: channels that just do not fit, of which equal parts make more pieces than equal parts of the group.
    shapes = [(8, 9216), (6, 2401), (1, 8192), (1, 1000), (1, 20000), (1, int(rng.integers(8300, 9700)))]
    shapes += [(int(rng.integers(5, 8)), int(rng.integers(9800, 10600)))]
    return cases + [_tile_case(channels, spatial, _ROOM) for channels, spatial in shapes]


def _given(channels: int, spatial: int, room: int) -> dict[str, int]:
    return {"channelsPerGroup": channels, "spatial": spatial, "ubBytes": room}


def _tile_case(channels: int, spatial: int, room: int) -> TilingCase:
    label = f"channelsPerGroup = {channels}, spatial = {spatial}, ubBytes = {room}"
    return TilingCase(label, _given(channels, spatial, room), {})


def _fits(case: TilingCase, got: Mapping[str, int]) -> str | None:
    tile, room = got["tileElements"], case.arguments["ubBytes"]
    if tile == 0:
        return "tileElements is 0: a tile has 64 elements or more"
    if tile % _STEP:
        return f"a tile of {tile} elements is not a multiple of 64"
    taken = _BUFFERS * _FLOAT * tile + _OTHER_BYTES
    if taken > room:
        bare = " Without the 96 bytes it would fit." if taken - _OTHER_BYTES <= room else ""
        return f"five buffers of {tile} floats and 96 bytes more take {taken} bytes, and there are {room}.{bare}"
    return None


def _fast(case: TilingCase, got: Mapping[str, int]) -> str | None:
    tile, (channels, spatial, room) = got["tileElements"], case.arguments.values()
    # A Unified Buffer of another size exists on paper only, and nothing of a few elements depends on the tile.
    if room != _ROOM or channels * spatial < _STEP:
        return None
    best = _best(channels, spatial)
    mine = next(one for one in _tuning(channels, spatial, (tile,)).candidates if one.value == tile)
    if mine.status == REFUSED or mine.modelled_us is None or best.modelled_us is None:
        return f"the twin refuses a tile of {tile}: {mine.note}"
    slower = mine.modelled_us / best.modelled_us - 1.0
    if slower <= _WITHIN:
        return None
    said = f"a tile of {tile} takes {mine.modelled_us:.2f} us, modelled, {slower:.0%} more than one of {best.value}"
    return f"{said}: {_why(tile, best.value, channels, spatial)}"


def _pieces(tile: int, channels: int, spatial: int) -> tuple[int, int]:
    """Copies of x for one group: of the two passes over the group, and of the one channel by channel."""
    return 2 * -(-channels * spatial // tile), channels * -(-spatial // tile)


def _why(tile: int, best: int, channels: int, spatial: int) -> str:
    group, largest = channels * spatial, _largest(_ROOM)
    cut, whole = (spatial, "channel") if channels > 1 and spatial > tile else (group, "group")
    pieces = -(-cut // tile)
    if pieces == 1 and group > 4096:
        return f"the group of {group} is one tile, so that nothing overlaps"
    if whole == "channel" and pieces == 2 and spatial <= largest:
        return f"it cuts each channel of {spatial} elements, and a whole one would fit"
    if pieces > 1 and group <= 2048:
        return f"a group of {group} is too small to be cut: a second tile costs more than its overlap gains"
    ours, fewer = _pieces(tile, channels, spatial), _pieces(best, channels, spatial)
    if spatial > largest and sum(ours) > sum(fewer):
        return (
            f"it makes {sum(ours)} pieces, {ours[0]} of the group and {ours[1]} of its channels; {best} makes "
            f"{sum(fewer)}, {fewer[0]} and {fewer[1]}"
        )
    if pieces <= -(-cut // largest) + 1:
        rest = cut - (pieces - 1) * tile
        return f"the last piece of the {whole} has {rest} elements; pieces of equal size overlap better"
    return f"it makes {pieces} pieces of the {whole}, and each one costs its calls and its start"


TILE_CHOICE = TilingChecker(
    struct="TileChoice",
    function="ChooseTile",
    arguments=("channelsPerGroup", "spatial", "ubBytes"),
    cases=_tile_cases,
    demands=(_fits, _fast),
)
