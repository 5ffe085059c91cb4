"""The evidence about an isolated launch after its process is gone.

The evidence consists of the reason why Python stopped the process, the launcher's entries in the job file, and the exit
code. The kernel could have written to the job file too, so these entries are shown, but never used as address or size.
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
    """The end of the process. code: its exit code, or minus the number of the signal that killed it."""

    code: int
    stopped: Stopped
    printed: str


@dataclass(frozen=True)
class Evidence:
    """Everything that an error about one launch needs."""

    request: LaunchRequest
    job: JobFile
    header: JobFileHeader
    ending: Ending

    @property
    def place(self) -> str:
        """The last place that the twin reported: ``kernel.cpp:12, block 3 (...)``.

        Only the block is named if it has not reached an operation of the twin. Empty for a bare library.
        """
        if not self.header.observed:
            return ""
        block = f"block {self.header.here_block}"
        if not self.header.here_file:
            return f"{block}, before its first operation of the twin"
        return f"{as_text(self.header.here_file)}:{self.header.here_line}, {block} (the twin's last operation)"

    @property
    def said(self) -> str:
        """The launcher's text: a message of the loader, or the name of a system call; empty if there is none."""
        return as_text(self.header.text)

    def error(self, kind: type[KernelError], what: str, hint: str) -> KernelError:
        """Return an exception of type ``kind`` with the place, the twin's earlier findings and the kernel's output."""
        printed = self.ending.printed
        found = parse_report(self.job.report()).render()
        before = f"found before:\n\n{found}\n" if found else ""
        detail = "\n".join(part for part in (before, printed_tail(printed)) if part)
        return kind(what, printed=printed, where=self.place, hint=hint, detail=detail)


def as_text(raw: bytes) -> str:
    """Return bytes of the job file as text; invalid UTF-8 is replaced."""
    return raw.decode("utf-8", "replace")


def signal_name(number: int) -> str:
    """Return a signal's name: ``SIGSEGV``, or ``signal 64`` if it has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def as_size(count: int) -> str:
    """Return a number of bytes as text with a suitable unit: ``1 MiB``."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} bytes"
