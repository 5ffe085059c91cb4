"""The evidence of a post-mortem: what is known about an isolated launch when its process is gone.

Why Python stopped the process, what the launcher wrote into the job file, how the process ended. The kernel could have
written into the job file too, so its values are shown, and never used as an address or a size.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import Enum, auto

from gn_tutorial.abi.job_structs import JobFileHeader
from gn_tutorial.diagnostics.findings import parse_report, printed_tail
from gn_tutorial.errors import KernelError
from gn_tutorial.runtime.job_file import JobFile
from gn_tutorial.runtime.launch_types import LaunchRequest


class Stopped(Enum):
    """Why Python ended the process, if it did."""

    NOT = auto()
    TIMEOUT = auto()
    OUTPUT = auto()


@dataclass(frozen=True)
class Ending:
    """How the process ended. ``code`` is its exit code, or minus the number of the signal that killed it."""

    code: int
    stopped: Stopped
    printed: str


@dataclass(frozen=True)
class Evidence:
    """All that an error about one launch is made of."""

    request: LaunchRequest
    job: JobFile
    header: JobFileHeader
    ending: Ending

    @property
    def place(self) -> str:
        """The last place the twin reported: ``kernel.cpp:12, block 3``; empty if it reported none (a bare library)."""
        if not self.header.observed:
            return ""
        block = f"block {self.header.here_block}"
        if not self.header.here_file:
            return f"{block}, before its first operation of the twin"
        return f"{as_text(self.header.here_file)}:{self.header.here_line}, {block} (the twin's last operation)"

    @property
    def said(self) -> str:
        """The text of the launcher: a loader's message, the name of a system call."""
        return as_text(self.header.text)

    def error(self, kind: type[KernelError], what: str, hint: str) -> KernelError:
        """An exception with what is known besides: the place, what the twin had found, what the kernel printed."""
        printed = self.ending.printed
        found = parse_report(self.job.report()).render()
        before = f"found before:\n\n{found}\n" if found else ""
        detail = "\n".join(part for part in (before, printed_tail(printed)) if part)
        return kind(what, printed=printed, where=self.place, hint=hint, detail=detail)


def as_text(raw: bytes) -> str:
    """Bytes of the job file as text, whatever they are."""
    return raw.decode("utf-8", "replace")


def signal_name(number: int) -> str:
    """``SIGSEGV``, or ``signal 64`` for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def as_size(count: int) -> str:
    """``1 MiB``: a number of bytes in the unit that suits it."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} bytes"
