"""The outcome of an isolated launch: its result, or the exception that says what happened to the kernel."""

from __future__ import annotations

from gn_tutorial.abi.job_structs import LaunchOutcome, Phase
from gn_tutorial.abi.structs import Status
from gn_tutorial.diagnostics.findings import (
    Diagnostic,
    Findings,
    kernel_fault,
    parse_with_notes,
    printed_tail,
)
from gn_tutorial.errors import ArgumentError, GntError, KernelError, KernelFault, KernelOutputLimit, KernelTimeout
from gn_tutorial.runtime import post_mortem
from gn_tutorial.runtime.evidence import Ending, Evidence, Stopped, as_size
from gn_tutorial.runtime.job_file import JobFile
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest, LaunchResult, Tally

#: The hint if the library or launcher in the cache is from another version.
REBUILD = "gnt cache clear, then run again"
#: kBadJobFile of launcher.cpp.
LAUNCHER_REFUSED = 98
_SHOWN_LINES, _SHOWN_COLUMNS = 12, 200


def conclude(job: JobFile, ending: Ending, request: LaunchRequest) -> LaunchResult:
    """Return the result of a successful launch; raise the KernelError or ArgumentError of any other."""
    evidence = Evidence(request, job, job.header(), ending)
    if ending.stopped is not Stopped.NOT or evidence.header.outcome != LaunchOutcome.RETURNED:
        raise _failure(evidence)
    job.ended_well()
    diagnostics, notes = parse_with_notes(job.report())
    if evidence.header.status == Status.BAD_CALL:
        raise bad_call(diagnostics)
    if evidence.header.status != Status.OK:
        raise kernel_fault(diagnostics, ending.printed)
    overrun = job.overrun()
    if overrun is not None:
        raise _overrun(*overrun, ending.printed)
    return LaunchResult(
        arrays=job.arrays(),
        tally=Tally.from_abi(evidence.header.tally),
        seconds=evidence.header.nanoseconds * 1e-9,
        printed=ending.printed,
        observed=bool(evidence.header.observed),
        diagnostics=diagnostics,
        trace=job.trace(),
        notes=notes,
    )


def bad_call(diagnostics: Findings) -> GntError:
    """Return the exception for a library that refused the entry or the arguments."""
    if not diagnostics:
        return ArgumentError("the arguments do not fit the kernel")
    refused = next((one for one in diagnostics if one.id.startswith("call-")), diagnostics[0])
    return ArgumentError(refused.what, hint=refused.fix)


def _failure(evidence: Evidence) -> KernelError:
    if evidence.ending.stopped is Stopped.OUTPUT:
        return _output_limit(evidence)
    if evidence.ending.stopped is Stopped.TIMEOUT:
        return _timeout(evidence)
    match evidence.header.outcome:
        case LaunchOutcome.SIGNAL:
            return post_mortem.caught_signal(evidence)
        case LaunchOutcome.FORBIDDEN_CALL:
            return post_mortem.forbidden_call(evidence)
        case LaunchOutcome.NOT_LOADED:
            return KernelError("the kernel library cannot be loaded", detail=evidence.said, hint=REBUILD)
        case LaunchOutcome.WRONG_ABI:
            return KernelError("the kernel library was built for another version of gn_tutorial", hint=REBUILD)
    if evidence.ending.code == LAUNCHER_REFUSED and evidence.header.phase == Phase.STARTING:
        return KernelError("the launcher does not fit this version of gn_tutorial", hint=REBUILD)
    return post_mortem.vanished(evidence)


def _output_limit(evidence: Evidence) -> KernelError:
    printed = evidence.ending.printed
    shown = [f"  {line[:_SHOWN_COLUMNS]}" for line in printed.splitlines()[:_SHOWN_LINES]]
    return KernelOutputLimit(
        f"the kernel printed more than {as_size(evidence.request.limits.printed_bytes)} and was stopped",
        printed=printed,
        where=evidence.place,
        hint="print from one block or one iteration only, or raise the limit: Limits(printed_bytes=...)",
        detail="\n".join(["it began:", *shown]),
    )


def _timeout(evidence: Evidence) -> KernelError:
    running = evidence.header.phase >= Phase.RUNNING
    did = f"'{evidence.request.entry}' ran" if running else "loading the kernel's library took"
    known = (
        "look for a loop that never ends, around this line or after it: no unsigned number is below 0, no uint8_t"
        " above 255, and a step of 0 leads nowhere (GetBlockIdx() is 0 in block 0; blocks that take turns step by"
        " GetBlockNum())"
    )
    look = known if evidence.place else "observed=True tells the line it last passed"
    what = f"{did} longer than {evidence.request.limits.seconds:g} s and was stopped"
    return evidence.error(KernelTimeout, what, f"{look}; a slow kernel needs Limits(seconds=...)")


def _overrun(arg: LaunchArg, offset: int, printed: str) -> KernelFault:
    # Without a line: a bare library does not observe writes. The observed one checks each access and names its line.
    facts = {"op": "a write", "argument": arg.name, "argument_bytes": arg.nbytes, "offset": offset, "bytes": 1}
    return KernelFault(
        f"the kernel wrote outside '{arg.name}': {post_mortem.beside(arg, offset)}",
        diagnostics=Findings([Diagnostic("gm-out-of-bounds", "error", "", 0, 0, facts)]),
        printed=printed,
        hint="run with observed=True: it stops at the access and names its line",
        detail=printed_tail(printed),
    )
