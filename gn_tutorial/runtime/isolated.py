"""Run a kernel in a process of its own, where a crash or an endless loop cannot harm the caller.

The process is a native launcher (twin/launcher), because starting a Python process takes longer than most kernels run.
Job and arrays are in shared memory (job_file.py), and the kernel's output comes through a pipe. The platform determines
what the launcher can enforce:

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
reads past an array            trapped after at most 543 bytes     trapped after at most 543 bytes
outlives a killed Python       killed at once (PDEATHSIG)          killed by its alarm, 5 s after four times
                                                                   the limit
=============================  ==================================  =====================================

On a Linux without seccomp (some container runtimes), the macOS column holds for the rows that name seccomp. The process
protects against mistakes, and against mischief by people who may use the machine anyway. It does not stop an attacker,
because reading files is allowed.
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
#: Seconds between two checks of a process that closed its output. The first pause is short, because most end at once.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0002, 0.02
#: Seconds between two checks for the end of a process whose pipe is open and silent. Its child may hold the pipe open.
_LOOK_EVERY = 0.1
#: If Python dies, the kernel ends by itself this many seconds after LONGEST times its limit.
_ORPHAN_SECONDS = 5
#: The longest time limit, three months. LONGEST times as much, a year, still fits the 32-bit seconds of the job file.
_LONGEST_SECONDS = 90 * 24 * 3600
#: The largest memory limit. No processor addresses more, and with it the launcher's sums stay within 64 bits.
_LARGEST_MEMORY = 1 << 60


def run(launcher: Path, library: Path, request: LaunchRequest) -> LaunchResult:
    """Run one launch with the program ``launcher`` and return its result, whose arrays are new; no argument changes.

    Raises KernelFault, KernelCrash, KernelTimeout, KernelMemoryLimit, KernelOutputLimit; ArgumentError if the arguments
    do not fit; KernelError if the library cannot be loaded, or the system gives no process or shared memory;
    FileNotFoundError if the launcher, or the folder where the process is to start, does not exist.
    """
    seconds = LONGEST * math.ceil(min(request.limits.seconds, _LONGEST_SECONDS))
    with JobFile(
        library,
        request,
        memory_bytes=min(request.limits.memory_bytes, _LARGEST_MEMORY),
        # This limit counts the processor time of all threads, which may be several seconds in one second of wall time.
        cpu_seconds=min((seconds + _ORPHAN_SECONDS) * (os.cpu_count() or 1), _LONGEST_SECONDS),
        wall_seconds=seconds + _ORPHAN_SECONDS,
    ) as job:
        return conclude(job, _supervise(launcher, job, request.limits, request.start or request.folder), request)


def _supervise(launcher: Path, job: JobFile, limits: Limits, start: Path | None) -> Ending:
    """Start the launcher, collect its output, and kill its whole process group at the end."""
    deadline = Deadline(limits.seconds)
    # In a session of its own the kernel gets no Ctrl-C. Python gets it, and ends the kernel in the ``finally`` below.
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
    """Wait until the process ends, at most ``seconds``. Without pidfd (Linux before 5.3, macOS), wait the full time."""
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
    """Send SIGTERM, on which the launcher's handler records the twin's last place and ends the process."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_LAST_WORDS)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    # The process id still names this group, because Linux reuses an id only after it has used all others.
    # macOS raises PermissionError if only the finished process itself is left in the group.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Output:
    """The kernel's output, read from the pipe ``descriptor``. ``text`` returns at most ``limit`` bytes of it."""

    def __init__(self, descriptor: int, limit: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor, self._limit = descriptor, limit
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._data = bytearray()
        self.open = True
        self.fresh = False  # whether the last ``read`` found data or the end of the pipe

    @property
    def too_long(self) -> bool:
        return len(self._data) > self._limit

    def read(self, seconds: float) -> None:
        """Read the available output; wait at most ``seconds`` for it."""
        self.fresh = bool(self._poll.poll(math.ceil(seconds * 1000)))
        if self.fresh:
            self._take()

    def read_rest(self) -> None:
        """Read what is left in the pipe, after the process has ended; stop when the output is too long."""
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
