"""A process and all that it started, ended together: compilers and launched kernels are in sessions of their own.

As a program, ``python -m gn_tutorial.classroom.family PID FOLDER``, it does so from outside, and removes the folder:
no process can be sure of its own threads while it tidies up.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys

import psutil


def end(pid: int) -> None:
    """Kill the process and what it started, and what that started; it starts nothing more meanwhile."""
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        parent.suspend()
        for one in parent.children(recursive=True):
            if one.pid != os.getpid():
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()
        parent.kill()


if __name__ == "__main__":
    end(int(sys.argv[1]))
    shutil.rmtree(sys.argv[2], ignore_errors=True)
