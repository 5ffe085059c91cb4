"""09.1: what holds up three launches.

They are kernels/add with one planted fault each (``faulty_launches``). The model gives the right answers: the cause is
the fault whose mending gains most. All times are modelled.
"""

from __future__ import annotations

from collections.abc import Mapping

from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.course.exercises.faulty_launches import FAULTS, launch_profile, launch_text, text_profile
from gn_tutorial.course.exercises.launch_facts import PIPES, limiting_pipe


def _cause(name: str) -> str:
    """Return the cause whose mending makes the launch fastest; mending a fault that it lacks changes nothing."""
    text = launch_text(name)
    times = {cause: text_profile(text.replace(bad, good)).microseconds for cause, (good, bad) in FAULTS.items()}
    return min(times, key=times.__getitem__)


def _line(name: str) -> int:
    """The first line that differs from the sound kernel."""
    pairs = zip(launch_text(name).splitlines(), launch_text("sound").splitlines(), strict=False)
    return next(number for number, (one, other) in enumerate(pairs, 1) if one != other)


def _limit(name: str) -> str:
    return limiting_pipe(launch_profile(name))


def _gain(name: str) -> float:
    return launch_profile(name).microseconds / launch_profile("sound").microseconds


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
    "C": {**{line: _WAITS.format("C") for line in (40, 44, 53)}, **dict.fromkeys((30, 31, 32), _STEPS), 62: _COPY_OUT},
}


def _questions(name: str) -> tuple[Prediction, ...]:
    low = name.lower()
    return (
        Prediction(
            f"{low}_limit",
            f"the pipe that launch {name} is nearest to: {', '.join(PIPES)}",
            lambda: _limit(name),
            _LIMIT_SLIPS[name],
            choices=PIPES,
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


CHECK = PredictChecker(
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
