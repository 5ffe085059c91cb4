"""Run a kernel in a process of its own, where it can end but not harm the caller.

The process is a native launcher (twin/launcher): the start of a Python process alone takes longer than most kernels.
Job and arrays are in shared memory (job_file.py), and what the kernel prints comes through a pipe. What the launcher
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
reads past an array            guard page after at most 543 bytes  guard page after at most 543 bytes
outlives a killed Python       killed at once (PDEATHSIG)          killed by its alarm, 5 s after four times
                                                                   the limit
=============================  ==================================  =====================================

On a Linux without seccomp (some container runtimes), macOS's entries hold in the rows with seccomp. All this protects
against mistakes, and against mischief by people who may use the machine anyway. It does not stop an attacker, because
reading files is allowed.
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
#: Seconds in which a stopped kernel can report its place, before it is killed.
_LAST_WORDS = 0.25
#: Seconds between two checks of a process that closed its output: short at first, because most end at once.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0002, 0.02
#: Seconds between two checks while the pipe is open and silent, because a child process may hold it open.
_LOOK_EVERY = 0.1
#: If Python dies, the kernel ends by itself this many seconds after LONGEST times its limit.
_ORPHAN_SECONDS = 5
#: The longest limit, three months: four times that, a year, still fits the 32-bit seconds of the job file.
_LONGEST_SECONDS = 90 * 24 * 3600
#: The largest memory limit: no processor addresses more, and the launcher's sums stay within 64 bits.
_LARGEST_MEMORY = 1 << 60


def run(launcher: Path, library: Path, request: LaunchRequest) -> LaunchResult:
    """Run one launch with the program ``launcher``. The result has new arrays, and no argument is written to.

    Raises KernelFault, KernelCrash, KernelTimeout, KernelMemoryLimit, KernelOutputLimit; ArgumentError if the arguments
    do not fit; KernelError if the library cannot be loaded, or the system gives no process or shared memory;
    FileNotFoundError if there is no launcher.
    """
    seconds = LONGEST * math.ceil(min(request.limits.seconds, _LONGEST_SECONDS))
    with JobFile(
        library,
        request,
        memory_bytes=min(request.limits.memory_bytes, _LARGEST_MEMORY),
        # The processor time of all threads is added up, so one second of wall time may be several.
        cpu_seconds=min((seconds + _ORPHAN_SECONDS) * (os.cpu_count() or 1), _LONGEST_SECONDS),
        wall_seconds=seconds + _ORPHAN_SECONDS,
    ) as job:
        return conclude(job, _supervise(launcher, job, request.limits, request.start or request.folder), request)


def _supervise(launcher: Path, job: JobFile, limits: Limits, start: Path | None) -> Ending:
    """Start the launcher, collect its output, and make sure that its whole process group is gone at the end."""
    deadline = Deadline(limits.seconds)
    # In its own session the kernel does not get Ctrl-C. Python does, and stops the kernel below.
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
    pause, left = _FIRST_PAUSE, deadline.seconds
    while left > 0:
        if output.open:
            output.read(min(left, _LOOK_EVERY))
            if output.too_long:
                return Stopped.OUTPUT
        if not output.open:
            _wait_for_end(process, min(left, pause))
            pause = min(2 * pause, _LONGEST_PAUSE)
        if not (output.open and output.fresh) and process.poll() is not None:
            return Stopped.NOT
        left = deadline.left(process.pid)
    return Stopped.TIMEOUT


def _wait_for_end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait for the end of the process, at most ``seconds``; without pidfd, wait the full time.

    Linux before 5.3 and macOS have no pidfd.
    """
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
    """Send SIGTERM: the launcher's handler records the twin's place and ends the process."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_LAST_WORDS)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    # The number still means this group: Linux reuses it only when it has used all process ids.
    # macOS raises PermissionError when only the finished process itself is left in the group.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Output:
    """The kernel's output, read from a pipe and kept up to a limit."""

    def __init__(self, descriptor: int, limit: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor, self._limit = descriptor, limit
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._data = bytearray()
        self.open = True
        self.fresh = False  # whether the last read returned data, or the end

    @property
    def too_long(self) -> bool:
        return len(self._data) > self._limit

    def read(self, seconds: float) -> None:
        """Read the available output; wait at most ``seconds`` for it."""
        self.fresh = bool(self._poll.poll(math.ceil(seconds * 1000)))
        if self.fresh:
            self._take()

    def read_rest(self) -> None:
        """Read what is left in the pipe, after the process has ended."""
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
