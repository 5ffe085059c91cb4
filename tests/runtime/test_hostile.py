"""Kernels that misbehave, run by the real launcher: each becomes one exception, and nothing is left behind."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from isolated_support import PLACE, ROOT, Launch, linux, two_arguments

from gn_tutorial.errors import (
    KernelCrash,
    KernelError,
    KernelFault,
    KernelMemoryLimit,
    KernelOutputLimit,
    KernelTimeout,
)

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


# Kernels that do not end.


@pytest.mark.parametrize("entry", ["Loop", "Pause", "CloseAndLoop"])
def test_an_endless_kernel_is_stopped_and_its_place_named(launch: Launch, entry: str) -> None:
    begin = time.monotonic()
    with pytest.raises(KernelTimeout, match=f"'{entry}' ran longer than 0.3 s") as caught:
        launch(entry, seconds=0.3)
    assert 0.3 <= time.monotonic() - begin < 60
    assert PLACE in caught.value.where
    assert "loop that never ends" in caught.value.hint


@pytest.mark.parametrize("entry", ["DeafLoop", "Freeze"])
def test_a_kernel_that_cannot_answer_is_killed(launch: Launch, entry: str) -> None:
    begin = time.monotonic()
    with pytest.raises(KernelTimeout):
        launch(entry, seconds=0.3)
    assert time.monotonic() - begin < 60


def test_an_interrupt_stops_the_kernel(launch: Launch) -> None:
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        launch("Loop")
    timer.join()


@linux
def test_a_kernel_does_not_outlive_a_killed_python(launcher: Path, library: Path) -> None:
    script = f"""
        import numpy as np
        from pathlib import Path
        from gn_tutorial.runtime.isolated import run
        from gn_tutorial.abi.structs import ArgKind, Role
        from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest
        x = LaunchArg("x", ArgKind.TENSOR, Role.IN, np.zeros(4, np.float32))
        run(Path({str(launcher)!r}), Path({str(library)!r}), LaunchRequest(entry="Loop", args=[x]))
    """
    python = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], cwd=ROOT)
    kernel = wait_for(lambda: child_of(python.pid))
    # The launcher asks to die with Python before it loads the library; only then is there something to test.
    wait_for(lambda: str(library) in Path(f"/proc/{kernel}/maps").read_text())
    python.kill()
    python.wait()
    wait_for(lambda: not Path(f"/proc/{kernel}").exists() or " Z " in Path(f"/proc/{kernel}/stat").read_text())


def child_of(parent: int) -> int | None:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rsplit(")", 1)[1].split()[1]) == parent:
                return int(stat.parent.name)
    return None


def wait_for(condition: Callable[[], object], seconds: float = 60.0) -> object:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError("it did not happen in time")


# Kernels that die.


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ("Null", r"used a null pointer \(SIGSEGV at address 0x0\)"),
        ("Wild", r"memory that is not its own \((SIGSEGV|SIGBUS) at address 0x123456780\)"),
        ("NoAddress", r"memory that is not its own \((SIGSEGV|SIGBUS)"),
        ("WriteInput", r"wrote to 'x', which is an input"),
        ("PastEnd", r"went outside 'y': byte 1000 of 400"),
        ("TilePastEnd", r"went outside 'y': byte 197008 of 400"),
        ("StackOverflow", r"used up its stack"),
        ("Abort", r"called abort\(\)"),
        ("ThreadAbort", r"called abort\(\)"),
        ("Throw", r"a C\+\+ exception of type std::runtime_error left the kernel: tile too large"),
        ("ThrowInt", r"a C\+\+ exception of type int left the kernel"),
        ("ThreadThrow", r"a C\+\+ exception of type std::runtime_error left the kernel: tile too large"),
    ],
)
def test_a_crash_is_told(launch: Launch, entry: str, what: str) -> None:
    with pytest.raises(KernelCrash, match=what) as caught:
        launch(entry)
    assert PLACE in caught.value.where
    assert caught.value.hint


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="other processors give 0 for a division by zero")
def test_a_division_by_zero_is_told(launch: Launch) -> None:
    with pytest.raises(KernelCrash, match="divided an integer by zero"):
        launch("Divide")


def test_a_dead_thread_ends_the_launch(launch: Launch) -> None:
    with pytest.raises(KernelCrash, match=r"SIGSEGV|SIGBUS|memory that is not its own"):
        launch("ThreadStackOverflow")


def test_what_was_printed_before_a_crash_is_kept(launch: Launch) -> None:
    with pytest.raises(KernelCrash) as caught:
        launch("PrintThenCrash")
    assert caught.value.printed == "reached tile 4\n"
    assert "reached tile 4" in str(caught.value)


@pytest.mark.parametrize(("entry", "code"), [("Exit0", 0), ("Exit3", 3), ("UnderscoreExit", 0)])
def test_exit_is_no_result(launch: Launch, entry: str, code: int) -> None:
    with pytest.raises(KernelCrash, match=re.escape(f"exit({code}) before it returned")):
        launch(entry)


def test_a_process_killed_from_outside_is_told(launch: Launch) -> None:
    with pytest.raises(KernelCrash, match="ended by SIGKILL") as caught:
        launch("KillSelf")
    assert "ran out of memory" in caught.value.hint


def test_a_damaged_job_file_harms_nobody(launch: Launch) -> None:
    with pytest.raises(KernelError):
        launch("ScribbleJob")


@pytest.mark.parametrize(("entry", "what"), [("JustPastEnd", "byte 448 of 400"), ("JustBefore", "1 byte before")])
def test_a_write_beside_an_array_is_found(launch: Launch, entry: str, what: str) -> None:
    # Writes of a bare library behind an array are found after the launch, except in the bytes that aclrtMalloc adds.
    with pytest.raises(KernelFault, match=f"outside 'y': {what}") as caught:
        launch(entry)
    assert [one.id for one in caught.value.diagnostics] == ["gm-out-of-bounds"]


def test_a_write_behind_the_room_of_an_array_meets_its_guard(launch: Launch) -> None:
    # 120 floats and those bytes fill 512: behind them begins the guard.
    with pytest.raises(KernelCrash, match=r"outside 'y': byte 512 of 480"):
        launch("JustPastEnd", two_arguments(120))


# Limits.


@linux
@pytest.mark.parametrize("entry", ["New100GB", "NewInSteps"])
def test_too_much_memory_from_new(launch: Launch, entry: str) -> None:
    with pytest.raises(KernelMemoryLimit, match="limit of 256 MiB") as caught:
        launch(entry, memory_bytes=256 << 20)
    assert PLACE in caught.value.where


@linux
def test_too_much_memory_from_malloc(launch: Launch) -> None:
    with pytest.raises(KernelCrash, match="null pointer") as caught:
        launch("Malloc100GB")
    assert "memory limit of 4 GiB" in caught.value.hint


def test_a_printing_loop_is_stopped(launch: Launch) -> None:
    with pytest.raises(KernelOutputLimit, match="more than 1 MiB") as caught:
        launch("PrintForever")
    assert "again and again" in str(caught.value)
    assert len(str(caught.value)) < 4000
    assert len(caught.value.printed) == 1 << 20


def test_output_up_to_the_limit_is_fine(launch: Launch) -> None:
    assert launch("Print", printed_bytes=19).printed == "to output\nto error\n"
    with pytest.raises(KernelOutputLimit):
        launch("Print", printed_bytes=18)


def test_closed_descriptors_do_not_matter(launch: Launch) -> None:
    launch("Close")


# System calls.


def test_fork_is_told(launch: Launch) -> None:
    with pytest.raises(KernelCrash, match=r"started a process \(fork\)"):
        launch("Fork")


@linux
@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ("RawFork", "started a process"),
        ("Exec", r"started another program \(execve\)"),
        ("Socket", r"opened a socket \(socket\)"),
        ("KillParent", r"sent a signal to another process \(kill\)"),
        ("KillGroup", r"sent a signal to another process \(kill\)"),
        ("KillAll", r"sent a signal to another process \(kill\)"),
        ("OpenForWriting", r"opened a file for writing \(open"),
        ("FileStream", r"opened a file for writing \(open"),
        ("Unlink", "deleted a file"),
        ("Rename", "renamed a file"),
        ("MakeFolder", "made the system call mkdir"),
        ("ShrinkFiles", "made the system call ftruncate"),
        ("Reprioritise", r"changed the priority of a process \(setpriority\)"),
        ("ReprioritiseAll", r"changed the priority of a process \(setpriority\)"),
        ("MoveToCore", r"changed the priority of a process \(sched_setaffinity\)"),
        ("Reschedule", r"changed the priority of a process \(sched_setscheduler\)"),
        ("Reparameter", r"changed the priority of a process \(sched_setparam\)"),
        ("Reattribute", r"changed the priority of a process \(sched_setattr\)"),
        ("StarveDisk", r"changed the priority of a process \(ioprio_set\)"),
        ("RemoveShared", "made the system call shmctl"),
        ("RaiseLimit", "made the system call (setrlimit|prlimit64)"),
    ],
)
def test_a_forbidden_call_is_named(launch: Launch, entry: str, what: str) -> None:
    with pytest.raises(KernelCrash, match=what) as caught:
        launch(entry)
    assert PLACE in caught.value.where


@linux
def test_a_kernel_may_choose_its_own_cores(launch: Launch) -> None:
    launch("OwnCores")


@linux
@pytest.mark.parametrize("entry", ["Spawn", "System"])
def test_a_call_that_blocks_signals_is_stopped_too(launch: Launch, entry: str) -> None:
    with pytest.raises(KernelCrash, match="started a process") as caught:
        launch(entry)
    assert "system()" in caught.value.hint
