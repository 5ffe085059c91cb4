"""Makes a launch's outcome for the page: findings, numbers, counts, modelled time. Runs in Pyodide, without NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gn_tutorial.abi.structs import ArgKind
from gn_tutorial.abi.trace import Lines, Trace, TracedArgument
from gn_tutorial.abi.trace_decode import decode
from gn_tutorial.course.playground import numbers
from gn_tutorial.diagnostics.findings import parse_report
from gn_tutorial.profiler.timeline_data import timeline_json
from gn_tutorial.timing.machine import Machine, load_machine
from gn_tutorial.timing.timeline import Timeline, make_timeline

#: Name -> the bytes of an array.
Arrays = Mapping[str, "bytes | memoryview"]
#: What is shown beside the counts of a kernel that uses plain pointers (``cpp/plain_pointers``).
UNSEEN = ("pointers", "reads and writes through pointers are not checked in this page: `gnt run` checks them")


@dataclass(frozen=True)
class Modelled:
    """One modelled launch. It has the fields of Profile that ``timeline_data`` reads, because Profile needs NumPy."""

    kernel: str
    blocks: int
    timeline: Timeline
    trace: Trace

    @property
    def machine(self) -> Machine:
        """The machine whose times were modelled."""
        return self.timeline.machine

    @property
    def microseconds(self) -> float:
        """The modelled duration of the launch, in us."""
        return self.timeline.microseconds

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes to show beside the numbers."""
        cut = "the room for the trace ended: the end of some blocks is missing, and the time is too short"
        return ("modelled, not measured on a device", *(() if self.trace.complete else (cut,)))


def trace_of(job: Mapping[str, Any], trace: Mapping[str, Any], slots: bytes | memoryview) -> Trace:
    """Return the trace of a launch. job: from ``starts.job``. trace, slots: from the answer of src/runner.mjs."""
    *counts, bypassed_blocks = trace["lines"]
    own = [arg for arg in job["args"] if arg["kind"] == ArgKind.TENSOR and not arg["same_as"]]
    return decode(
        slots,
        names=[arg["name"] for arg in job["args"]],
        launched=job["blocks"],
        chosen=job["trace"]["chosen"],
        complete=not trace["full"],
        arguments=tuple(TracedArgument(arg["name"], int(arg["address"]), arg["bytes"]) for arg in own),
        lines=Lines(*counts, bypassed_bytes=bypassed_blocks * 32),
    )


def outcome(
    job: Mapping[str, Any],
    answer: Mapping[str, Any],
    arrays: Arrays,
    slots: bytes | memoryview,
    expected: Mapping[str, Any],
    machine: str,
    before: Modelled | None = None,
) -> tuple[dict[str, Any], Modelled | None]:
    """Return the data that the page shows, and the modelled launch, or None if the launch failed or was not traced.

    expected: output -> shape, dtype, values (the reference's float64 bytes), rtol, atol, of_largest. before: another
    launch, whose timeline is drawn above this one's.
    """
    findings = parse_report(answer["report"].encode())
    failed = answer["status"] != 0
    shown: dict[str, Any] = {
        "failed": failed,
        "ended": ended(answer),
        "findings": [one.to_dict() | {"text": one.render()} for one in findings.ordered],
        "numbers": [] if failed else [_compared(name, arrays[name], of) for name, of in expected.items()],
        "tally": _tally(answer["tally"], job["blocks"]),
        "modelled": None,
    }
    modelled = None
    if not failed and answer["trace"]:
        trace = trace_of(job, answer["trace"], slots)
        modelled = Modelled(job["entry"], job["blocks"], make_timeline(trace, load_machine(machine)), trace)
        timelines = timeline_json(*([before] if before else []), modelled)
        shown["modelled"] = {"us": modelled.microseconds, "machine": machine, "timeline": timelines}
    return shown, modelled


def ended(answer: Mapping[str, Any]) -> str:
    """Return a sentence on why a launch could not run or crashed; empty if neither happened."""
    if answer["needs_suspension"]:
        return (
            "Blocks of this kernel wait for one another, which this browser cannot do (it lacks promise integration)."
        )
    if not answer["ended"]:
        return ""
    here = answer["here"]
    return f"The kernel did not end well in line {here['line']}, block {here['block']}: {answer['ended']}."


def _compared(name: str, data: bytes | memoryview, of: Mapping[str, Any]) -> dict[str, Any]:
    got, want = numbers.values(data, of["dtype"]), numbers.values(of["values"], "float64")
    places = numbers.wrong(got, want, of["rtol"], of["atol"], of["of_largest"])
    return {"name": name, "right": not places, "text": numbers.said(name, of["shape"], got, want, places)}


def _tally(tally: list[int], blocks: int) -> list[tuple[str, str]]:
    scalar, vector, mte2, mte3, bytes_in, bytes_out, high_water = tally
    return [
        ("blocks", f"{blocks}"),
        ("instructions", f"{vector:,} vector, {scalar:,} scalar, {mte2:,} copies in, {mte3:,} copies out"),
        ("bytes", f"{bytes_in:,} in, {bytes_out:,} out"),
        ("Unified Buffer", f"{high_water:,} bytes"),
    ]
