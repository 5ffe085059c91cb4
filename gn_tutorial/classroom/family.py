"""A process and all that it started: what is to be ended together."""

from __future__ import annotations

import contextlib

import psutil


def end_children(pid: int) -> None:
    """Kill what the process started, and what that started: compilers are in sessions of their own."""
    with contextlib.suppress(psutil.NoSuchProcess):
        family = psutil.Process(pid).children(recursive=True)
        for one in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()


def end(pid: int) -> None:
    """Kill the process, then what it started: it starts nothing more meanwhile."""
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        parent.suspend()
        end_children(pid)
        parent.kill()
