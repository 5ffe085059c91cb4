"""Facts about a launch for the checks of several notebooks: the pipe that limits the launch, its vector instructions.

The checks are in ``solutions/``, so no module of the package imports this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gn_tutorial.abi.trace import Event, Kind
from gn_tutorial.course.exercises.check_kernel import KernelCase, by_scalars
from gn_tutorial.operators.result import Result

if TYPE_CHECKING:
    from gn_tutorial.profiler.profile import Profile

#: The pipes that can limit a launch, as predictions name them.
PIPES = ("S", "MTE2", "V", "MTE3")
_LIMITS = {"scalar unit": "S", "vector unit": "V"}


def limiting_pipe(found: Profile) -> str:
    """Return the pipe that limits the launch, as in PIPES; the name of the limit if the limit is no pipe."""
    return _LIMITS.get(found.binding.name, found.binding.name)


def vector_instructions(result: Result) -> list[Event]:
    """Return the vector instructions of the recorded blocks."""
    blocks = result.trace.blocks.values() if result.trace else ()
    return [event for events in blocks for event in events if event.kind is Kind.VECTOR]


def from_basic_instructions(case: KernelCase, result: Result) -> str | None:
    """Return a complaint if a traced launch uses one instruction for the formula, Reciprocal, or a scalar loop."""
    used = {event.op for event in vector_instructions(result)}
    whole = sorted(used & {"Sigmoid", "Silu", "Swish", "Tanh", "SwiGLU", "Gelu", "SoftMax"})
    if whole:
        return f"{whole[0]} does the work of the whole task, which is not accepted: write it with basic instructions"
    if "Reciprocal" in used:
        return (
            "Reciprocal is only approximate on the device: its error exceeds 1/10000 for float. Use Div with an "
            "array of ones"
        )
    return by_scalars(result, case.inputs["x"].size)
