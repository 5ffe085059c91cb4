"""What the recorded blocks of a launch did, for checkers that ask which instructions ran."""

from __future__ import annotations

from gn_tutorial.abi.trace import Event, Kind
from gn_tutorial.operators.result import Result


def vector_instructions(result: Result) -> list[Event]:
    """The vector instructions of the recorded blocks."""
    blocks = result.trace.blocks.values() if result.trace else ()
    return [event for events in blocks for event in events if event.kind is Kind.VECTOR]
