"""Run a kernel in a process of its own, where it can end but not harm the caller.

A native launcher (twin/launcher) is started instead of a Python process, whose start alone takes longer than most
kernels. Job and arrays are shared memory (job_file.py), what the kernel prints comes through a pipe. What the launcher
can enforce depends on the platform:

=============================  ==================================  =====================================
the kernel                     Linux (x86-64, aarch64)             macOS
=============================  ==================================  =====================================
loops for ever                 stopped, place named                stopped, place named
crashes, overflows its stack   caught, place named                 caught, place named
calls exit, closes its files   noticed                             noticed
prints without end             stopped at the limit                stopped at the limit
allocates too much             refused at the limit (RLIMIT_AS)    not limited: RLIMIT_AS has no effect
fork, vfork, posix_spawn       trapped (seccomp)                   fork caught (pthread_atfork); any other
                                                                   child is killed with the launch
execve                         trapped (seccomp)                   the new program meets the other limits
opens a socket                 trapped (seccomp)                   not prevented
writes, deletes, renames       trapped (seccomp)                   writing stopped (RLIMIT_FSIZE);
files                                                              deleting, renaming not prevented
the same, with a folder given  may create and write files and      may write files anywhere
                               folders there, up to 1 GiB a file,
                               and delete them; else trapped
signals another process        trapped (seccomp)                   not prevented
reads past an array            guard page after at most 511 bytes  guard page after at most 511 bytes
outlives a killed Python       killed at once (PDEATHSIG)          killed by its alarm, 5 s after four times
                                                                   the limit
=============================  ==================================  =====================================

Where Linux has no seccomp (some container runtimes), the rows with seccomp read as those of macOS. All this is meant
for mistakes, and for mischief of somebody who may use the machine anyway: reading files is allowed, and it is no wall
against an attacker.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import subprocess
import time
from pathlib import Path

from gn_tutorial.abi.options import Limits
from gn_tutorial.errors import KernelError
from gn_tutorial.runtime.deadline import LONGEST, Deadline
from gn_tutorial.runtime.evidence import Ending, Stopped
from gn_tutorial.runtime.job_file import JobFile
from gn_tutorial.runtime.launch_types import LaunchRequest, LaunchResult
from gn_tutorial.runtime.outcome import conclude

_CHUNK = 64 * 1024
#: Seconds that a stopped kernel has to say where it was, before it is killed.
_LAST_WORDS = 0.25
#: Between two looks at a process that closed its output without ending: from short, since most end at once, to long.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0002, 0.02
#: A process is looked at this often although its pipe is open and silent: a child of it may hold the pipe.
_LOOK_EVERY = 0.1
#: Seconds after the latest end of the limit at which a kernel whose Python died ends by itself.
_ORPHAN_SECONDS = 5
#: Three months, four times of which are a year: the job file holds seconds in 32 bits.
_LONGEST_SECONDS = 90 * 24 * 3600
#: No processor addresses more, and the launcher adds to it in 64 bits.
_LARGEST_MEMORY = 1 << 60


def run(launcher: Path, library: Path, request: LaunchRequest) -> LaunchResult:
    """Run one launch through the program ``launcher``. Its arrays are nobody else's, and no argument is written to.

    Raises KernelFault, KernelCrash, KernelTimeout, KernelMemoryLimit, KernelOutputLimit; ArgumentError if the arguments
    do not fit; KernelError if the library cannot be loaded or no process or shared memory is to be had;
    FileNotFoundError if there is no launcher.
    """
    seconds = LONGEST * math.ceil(min(request.limits.seconds, _LONGEST_SECONDS))
    with JobFile(
        library,
        request,
        memory_bytes=min(request.limits.memory_bytes, _LARGEST_MEMORY),
        # Processor time adds up over threads, so one second of wall time may be many.
        cpu_seconds=min((seconds + _ORPHAN_SECONDS) * (os.cpu_count() or 1), _LONGEST_SECONDS),
        wall_seconds=seconds + _ORPHAN_SECONDS,
    ) as job:
        return conclude(job, _supervise(launcher, job, request.limits, request.start or request.folder), request)


def _supervise(launcher: Path, job: JobFile, limits: Limits, start: Path | None) -> Ending:
    """Start the launcher, collect what it prints, and see that its whole process group is gone at the end."""
    deadline = Deadline(limits.seconds)
    # A session of its own keeps Ctrl-C away from the kernel: Python gets it and stops the kernel below.
    try:
        process = subprocess.Popen(
            [launcher],
            stdin=job.descriptor,
            pass_fds=job.descriptors,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            bufsize=0,
            cwd=start,
        )
    except FileNotFoundError:
        raise
    except OSError as error:
        raise KernelError(
            f"the launcher cannot be started: {error.strerror}",
            where=str(launcher),
            hint="GNT_CACHE_DIR must name a folder on a disk that may hold programs",
        ) from error
    with process.stdout as pipe:
        output = _Output(pipe.fileno(), limits.printed_bytes)
        try:
            stopped = _wait(process, output, deadline)
            if stopped is Stopped.TIMEOUT:
                _ask_where(process)
        finally:
            _end_group(process)
        output.read_rest()
    return Ending(process.returncode, stopped, output.text())


def _wait(process: subprocess.Popen[bytes], output: _Output, deadline: Deadline) -> Stopped:
    pause = _FIRST_PAUSE
    while (left := deadline.left(process.pid)) > 0:
        if output.open:
            output.read(min(left, _LOOK_EVERY))
            if output.too_long:
                return Stopped.OUTPUT
            if output.fresh:
                continue
        else:
            _wait_for_end(process, min(left, pause))
            pause = min(2 * pause, _LONGEST_PAUSE)
        if process.poll() is not None:
            return Stopped.NOT
    return Stopped.TIMEOUT


def _wait_for_end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """At most so long; where the system cannot tell of an end (Linux before 5.3, macOS), just as long."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        time.sleep(seconds)
        return
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll(math.ceil(seconds * 1000))
    finally:
        os.close(descriptor)


def _ask_where(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM: the launcher's handler writes down where the twin was and ends the process."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_LAST_WORDS)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    # The number of a finished group is not given out again before the kernel has gone through all process ids.
    # PermissionError: macOS, when only the finished process itself is left in the group.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Output:
    """The reading end of the kernel's output, kept up to a limit."""

    def __init__(self, descriptor: int, limit: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor, self._limit = descriptor, limit
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._data = bytearray()
        self.open = True
        self.fresh = False  # the last read brought something, or the end

    @property
    def too_long(self) -> bool:
        return len(self._data) > self._limit

    def read(self, seconds: float) -> None:
        """Read what there is, waiting for it at most ``seconds``."""
        self.fresh = bool(self._poll.poll(math.ceil(seconds * 1000)))
        if self.fresh:
            self._take()

    def read_rest(self) -> None:
        """Read what a process that has ended left in the pipe."""
        while self.open and not self.too_long and self._take():
            pass

    def text(self) -> str:
        return self._data[: self._limit].decode("utf-8", "replace")

    def _take(self) -> bool:
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        self._data += chunk
        self.open = bool(chunk)
        return self.open
