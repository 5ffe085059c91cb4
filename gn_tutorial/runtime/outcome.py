"""The outcome of an isolated launch: a result, or an exception that says how the kernel failed."""

from __future__ import annotations

import re

from gn_tutorial.abi.job_structs import LaunchOutcome, Phase
from gn_tutorial.abi.structs import Status
from gn_tutorial.diagnostics.findings import (
    Diagnostic,
    Findings,
    kernel_fault,
    parse_report,
    parse_with_notes,
    printed_tail,
)
from gn_tutorial.errors import (
    ArgumentError,
    GntError,
    KernelCrash,
    KernelError,
    KernelFault,
    KernelMemoryLimit,
    KernelOutputLimit,
    KernelTimeout,
)
from gn_tutorial.runtime.evidence import Ending, Evidence, Stopped, as_size, signal_name
from gn_tutorial.runtime.job_file import JobFile
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest, LaunchResult, Tally

#: The hint if the library or launcher in the cache is from another version.
REBUILD = "gnt cache clear, then run again"
#: The launcher's exit code for a job file that it cannot use: kBadJobFile of launcher.cpp.
LAUNCHER_REFUSED = 98
_SHOWN_LINES, _SHOWN_COLUMNS = 12, 200


def conclude(job: JobFile, ending: Ending, request: LaunchRequest) -> LaunchResult:
    """Return the result of a successful launch; raise KernelError or ArgumentError for any other."""
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
    arrays, trace = job.arrays(), job.trace()
    return LaunchResult(
        arrays=arrays,
        tally=Tally.from_abi(evidence.header.tally),
        seconds=evidence.header.nanoseconds * 1e-9,
        printed=ending.printed,
        observed=bool(evidence.header.observed),
        diagnostics=diagnostics,
        trace=trace,
        notes=notes,
    )


def bad_call(diagnostics: Findings) -> GntError:
    """Return the exception for a launch whose entry or arguments the library refused, from its diagnostics."""
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
            return caught_signal(evidence)
        case LaunchOutcome.FORBIDDEN_CALL:
            return forbidden_call(evidence)
        case LaunchOutcome.NOT_LOADED:
            return KernelError("the kernel library cannot be loaded", detail=evidence.said, hint=REBUILD)
        case LaunchOutcome.WRONG_ABI:
            return KernelError("the kernel library was built for another version of gn_tutorial", hint=REBUILD)
    if evidence.ending.code == LAUNCHER_REFUSED and evidence.header.phase == Phase.STARTING:
        return KernelError("the launcher does not fit this version of gn_tutorial", hint=REBUILD)
    return vanished(evidence)


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
    # The finding has no line, because no operation of the twin reported the write: a bare library reports none, and an
    # observed one does not see a write through a pointer.
    facts = {"op": "a write", "argument": arg.name, "argument_bytes": arg.nbytes, "offset": offset, "bytes": 1}
    return KernelFault(
        f"the kernel wrote outside '{arg.name}': {beside(arg, offset)}",
        diagnostics=Findings([Diagnostic("gm-out-of-bounds", "error", "", 0, 0, facts)]),
        printed=printed,
        hint="run with observed=True: it stops at the access and names its line",
        detail=printed_tail(printed),
    )


_NULL_PAGES = 64 * 1024  # a fault below this address is the use of a null pointer, perhaps with an index added
_SI_KERNEL = 0x80  # x86: a non-canonical address; the reported address is then meaningless
_ONLY_COMPUTES = "a kernel only computes and prints"
_OBSERVE = "run with observed=True: it stops at the access and names its line"

_SIGNALS = {
    "SIGFPE": ("divided an integer by zero (SIGFPE)", "check the divisor; is the tiling data filled in?"),
    "SIGABRT": ("called abort() (SIGABRT)", "a failed assert, an uncaught C++ exception, or a damaged heap"),
    "SIGILL": ("ran into an illegal instruction (SIGILL)", "a function without return, or a library built elsewhere"),
    "SIGTRAP": ("ran into a trap (SIGTRAP)", "undefined behaviour: a function without return, an impossible branch"),
    "SIGXFSZ": ("wrote to a file (SIGXFSZ)", _ONLY_COMPUTES),
}
_CALLS = {
    "started a process": ("fork", "vfork", "clone"),
    "started another program": ("execve", "execveat"),
    "sent a signal to another process": ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"),
    "changed the priority of a process": (
        "setpriority",
        "ioprio_set",
        "sched_setaffinity",
        "sched_setparam",
        "sched_setscheduler",
        "sched_setattr",
    ),
    "opened a socket": ("socket", "socketpair"),
    "opened a file for writing": ("open", "openat", "creat"),
    "deleted a file": ("unlink", "unlinkat", "rmdir"),
    "renamed a file": ("rename", "renameat", "renameat2"),
}
# The messages of the C++ runtimes about an uncaught exception: libstdc++, and libc++ in two wordings.
_UNCAUGHT = re.compile(
    r"terminate called after throwing an instance of '(?P<gnu>[^\n]*)'(?:\n  what\(\):  (?P<gnu_what>[^\n]*))?"
    r"|terminating (?:due to|with) uncaught exception of type (?P<llvm>[\w:<>, *&]+?)(?:: (?P<llvm_what>[^\n]*))?$",
    re.MULTILINE,
)


def forbidden_call(evidence: Evidence) -> KernelError:
    """Return the exception for a system call that the launcher does not allow."""
    name = evidence.said
    meaning = next((meaning for meaning, names in _CALLS.items() if name in names), "")
    did = f"{meaning} ({name})" if meaning else f"made the system call {name}"
    return evidence.error(KernelCrash, f"the kernel {did}, which no kernel may", _ONLY_COMPUTES)


def caught_signal(evidence: Evidence) -> KernelError:
    """Return the exception for a signal that the launcher's handler saw."""
    header = evidence.header
    name = signal_name(header.signal)
    findings = parse_report(evidence.job.report())
    if any(one.id == "array-index" for one in findings):  # the access took place, and may have damaged the stack
        return kernel_fault(findings, evidence.ending.printed)
    if header.stack_overflow:
        hint = "look for a function that calls itself without end, or a large local array: buffers belong into a TBuf"
        return evidence.error(KernelCrash, "the kernel used up its stack (8 MiB)", hint)
    if name in ("SIGSEGV", "SIGBUS"):
        return _bad_access(evidence, name, findings)
    if name == "SIGXCPU":
        hint = "a slow kernel needs Limits(seconds=...)"
        return evidence.error(KernelTimeout, "the kernel used up its processor time", hint)
    thrown = _UNCAUGHT.search(evidence.ending.printed)
    if name == "SIGABRT" and thrown is not None:
        return _exception(evidence, thrown)
    did, hint = _SIGNALS.get(name, (f"was ended by {name}", ""))
    return evidence.error(KernelCrash, f"the kernel {did}", hint)


def vanished(evidence: Evidence) -> KernelError:
    """Return the exception for a process that ended without a report: ``exit()``, SIGKILL, an unhandled signal."""
    code = evidence.ending.code
    when = "while its library was being loaded" if evidence.header.phase < Phase.RUNNING else "before it returned"
    if code >= 0:
        return evidence.error(KernelCrash, f"the kernel ended its process with exit({code}) {when}", "use return")
    name = signal_name(-code)
    if name == "SIGSYS":
        # posix_spawn and system() first block all signals, so the handler that names the call cannot run.
        what = "the kernel started a process, or made another forbidden system call with signals blocked"
        return evidence.error(KernelCrash, what, f"{_ONLY_COMPUTES}: no system(), no posix_spawn()")
    hint = ""
    if name == "SIGKILL":
        hint = f"it killed itself, or the system ran out of memory (the limit is {_memory(evidence)})"
    elif name in ("SIGSEGV", "SIGBUS"):
        hint = "no handler ran: the stack of a thread overflowed, or the kernel damaged its process"
    return evidence.error(KernelCrash, f"the kernel's process was ended by {name} {when}", hint)


def beside(arg: LaunchArg, offset: int) -> str:
    """Return the place of a byte outside an argument as text: ``byte 400 of 400``, ``1 byte before its start``.

    offset: from the argument's start, in bytes.
    """
    if offset < 0:
        return f"{-offset} byte{'s' if offset < -1 else ''} before its start"
    return f"byte {offset} of {arg.nbytes}"


def _bad_access(evidence: Evidence, name: str, findings: Findings) -> KernelError:
    header = evidence.header
    known = header.signal_code != _SI_KERNEL
    found = evidence.job.argument_at(header.fault_address) if known else None
    hint = "" if header.observed else _OBSERVE
    if found is not None:
        arg, offset = found
        if 0 <= offset < arg.nbytes:
            what = f"the kernel wrote to '{arg.name}', which is an input ({name})"
            hint = (
                f"store to an output; if the kernel is to write {arg.name}, pass it as one:"
                f" {arg.name}=gnt.out(shape, dtype), or gnt.inout(array)"
            )
        else:
            if any(_reports(one, arg, offset) for one in findings):  # by the call before each access of a plain pointer
                return kernel_fault(findings, evidence.ending.printed)
            what = f"the kernel went outside '{arg.name}': {beside(arg, offset)} ({name})"
    elif known and header.fault_address < _NULL_PAGES:
        what = f"the kernel used a null pointer ({name} at address {header.fault_address:#x})"
        limit = f"the memory limit of {_memory(evidence)} was reached"
        hint = f"a pointer that was never set; or malloc returned null, because {limit}"
    else:
        at = f" at address {header.fault_address:#x}" if known else ""
        what = f"the kernel used memory that is not its own ({name}{at})"
    near = "look for a wild pointer or index near this place; also for an index past the end of a local array"
    return evidence.error(KernelCrash, what, hint or near)


def _reports(finding: Diagnostic, arg: LaunchArg, offset: int) -> bool:
    """Whether a finding is about the access to a byte outside an argument. offset: from its start, in bytes."""
    said = finding.fields
    outside = finding.id == "gm-out-of-bounds" and said["argument"] == arg.name
    return outside and said["offset"] <= offset < said["offset"] + said["bytes"]


def _exception(evidence: Evidence, thrown: re.Match[str]) -> KernelError:
    kind, said = thrown["gnu"] or thrown["llvm"], thrown["gnu_what"] or thrown["llvm_what"]
    if "bad_alloc" in kind:
        hint = "check the size of the allocation, or raise the limit: Limits(memory_bytes=...)"
        what = f"the kernel asked for more memory than its limit of {_memory(evidence)}"
        return evidence.error(KernelMemoryLimit, what, hint)
    what = f"a C++ exception of type {kind} left the kernel" + (f": {said}" if said else "")
    return evidence.error(KernelCrash, what, "the device has no exceptions; return instead")


def _memory(evidence: Evidence) -> str:
    return as_size(evidence.request.limits.memory_bytes)
