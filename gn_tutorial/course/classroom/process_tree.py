"""Ends a process and all that it started.

Compilers and launched kernels have sessions of their own, so a signal to the process's group would not reach them.

As a program, ``python -m gn_tutorial.course.classroom.process_tree PID FOLDER``, it also removes the folder. A process
that has to end itself starts this program, because the process's own threads may go on while it tidies up.

A module of its own, because it runs as a program.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys

import psutil

#: The most seconds to wait until the killed processes are gone.
_GONE = 5.0


def end(pid: int) -> None:
    """Kill the process and all its descendants, except this process; wait at most _GONE seconds for the descendants."""
    with contextlib.suppress(psutil.NoSuchProcess):
        stopped = {pid: psutil.Process(pid)}
        stopped[pid].suspend()
        # Repeat until there is no new process. A compiler may start its assembler while its parent is being stopped.
        while new := [one for one in stopped[pid].children(recursive=True) if one.pid not in {*stopped, os.getpid()}]:
            for one in new:
                stopped[one.pid] = one
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.suspend()
        for one in stopped.values():
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        # Do not wait for ``pid`` itself, because the parent of that process waits for it and gets its exit code.
        psutil.wait_procs([one for one in stopped.values() if one.pid != pid], timeout=_GONE)


if __name__ == "__main__":
    end(int(sys.argv[1]))
    shutil.rmtree(sys.argv[2], ignore_errors=True)
