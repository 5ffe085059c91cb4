"""Time limits of child processes: what counts, and that a program is stopped and its output kept."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from gn_tutorial.runtime import deadline
from gn_tutorial.runtime.deadline import LONGEST, Deadline, run_until, waited_seconds

LOOP = [sys.executable, "-S", "-c", "print('begun', flush=True)\nwhile True: pass"]


@contextlib.contextmanager
def crowd(size: int) -> Iterator[int]:
    """Endless loops that share one processor. Gives the process number of the last."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        loops = [subprocess.Popen(LOOP, stdout=subprocess.DEVNULL) for _ in range(size)]
    finally:
        os.sched_setaffinity(0, allowed)
    try:
        yield loops[-1].pid
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="only Linux counts the time in the queue")
def test_a_process_that_shares_its_processor_has_waited() -> None:
    with crowd(4) as pid:
        end = time.monotonic() + 60
        while waited_seconds(pid) < 0.2:
            assert time.monotonic() < end, "four loops on one processor, and none waits"
            time.sleep(0.02)


def test_a_process_that_is_gone_has_not_waited() -> None:
    gone = subprocess.Popen([sys.executable, "-S", "-c", ""])
    gone.wait()
    assert waited_seconds(gone.pid) == 0


def test_waiting_for_a_processor_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waited = [100.0], [0.0]
    monkeypatch.setattr(deadline.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(deadline, "waited_seconds", lambda pid: waited[0])
    limit = Deadline(5)
    clock[0], waited[0] = 103.0, 2.5
    assert limit.left(1) == 2
    clock[0] = 106.0
    assert limit.left(1) == 1.5
    clock[0], waited[0] = 107.5, 2.5
    assert limit.left(1) == 0
    clock[0], waited[0] = 100 + LONGEST * 5.0, 1e6
    assert limit.left(1) == 0


def test_a_program_gets_its_text_and_its_output_comes_back() -> None:
    pipe = subprocess.PIPE
    program = "import sys; print(sys.stdin.read()[::-1]); print('no', file=sys.stderr); sys.exit(3)"
    ran = run_until(60, [sys.executable, "-c", program], text="abc", stdin=pipe, stdout=pipe, stderr=pipe)
    assert (ran.code, ran.output, ran.errors, ran.stopped) == (3, "cba\n", "no\n", False)


def test_an_endless_program_is_stopped_and_what_it_said_is_kept() -> None:
    ran = run_until(0.5, LOOP, stdout=subprocess.PIPE)
    assert ran.stopped
    assert ran.code < 0
    assert ran.output == "begun\n"
