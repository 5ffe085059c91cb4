"""Functions for the notebooks besides kernels and pictures: lines of a source, inputs, subjects of experiments.

A notebook calls them as ``gnt.lessons.show(kernel, "first line", "last line")``. A helper that two notebooks need is
here, so that no notebook defines it again.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from gn_tutorial.abi.trace import Kind, Pipe
from gn_tutorial.compare.accuracy import STANDARDS, accuracy
from gn_tutorial.course.exercises.faulty_launches import launch_kernel, launch_profile
from gn_tutorial.course.exercises.gradient_mistakes import (
    EXPERIMENTS,
    accepted_with,
    experiment,
    function,
    published_sample,
    suspect,
)
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.sandbox_session import Desk
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.random_inputs import expected, inputs
from gn_tutorial.operators.registry import kernels_root
from gn_tutorial.profiler.profile import Profile

__all__ = [
    "EXPERIMENTS",
    "STANDARDS",
    "Desk",
    "accepted_with",
    "accuracy",
    "count",
    "expected",
    "experiment",
    "function",
    "inputs",
    "kernels_root",
    "launch_kernel",
    "launch_profile",
    "published_sample",
    "show",
    "stub",
    "suspect",
]


def show(source: Kernel | str, start: str, end: str = "  }") -> None:
    """Print numbered lines of a kernel or text, from the first that contains ``start`` to the next that equals ``end``.

    Raises ValueError that names the missing text if there is no line with ``start``, or none equal to ``end`` after it.
    """
    lines = (source.source if isinstance(source, Kernel) else source).splitlines()
    first = next((i for i, line in enumerate(lines) if start in line), None)
    if first is None:
        raise ValueError(f"no line contains {start!r}")
    last = next((i for i in range(first, len(lines)) if lines[i] == end), None)
    if last is None:
        raise ValueError(f"no line after line {first + 1} is {end!r}")
    print("\n".join(f"{i + 1:3}  {lines[i]}" for i in range(first, last + 1)))


def stub(exercise: str) -> str:
    """Return the text that a learner starts from in an exercise. Raises ArgumentError for an unknown id."""
    return load_course().find(exercise).stub.read_text(encoding="utf-8")


def count(profile: Profile, nbytes: int) -> int:
    """Print a launch's modelled time, how often it read x, and what block 0 did.

    For block 0 this is which vector instructions it ran, and how often and how long its pipe S waited for pipe V.
    nbytes: the size of x in bytes. Returns how many of the vector instructions of block 0 are ReduceSum.
    """
    events = [event for event in profile.trace.blocks[0] if event.kind is Kind.VECTOR]
    waits = [span for span in profile.timeline.of(0, Pipe.S) if span.cause == "V"]
    readings = profile.tally.bytes_in / nbytes
    print(f"{profile.kernel}: {profile.microseconds:.2f} us modelled, x is read {readings:.2f} times")
    print(f"  vector instructions of block 0: {dict(Counter(event.op for event in events))}")
    print(f"  S waits for V {len(waits)} times, {sum(span.waited for span in waits):,.0f} cycles in all")
    return sum(event.op == "ReduceSum" for event in events)


def __getattr__(name: str) -> Any:
    if name == "training":  # imported only here, because it imports torch, which one notebook needs
        from gn_tutorial.torch_ops import training

        return training
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
