"""Kernels that misbehave, run by the real launcher: each becomes one exception, and nothing is left behind."""

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from gn_tutorial.abi import Kind, Role
from gn_tutorial.build import build_host_library, build_launcher
from gn_tutorial.errors import (
    ArgumentError,
    KernelCrash,
    KernelError,
    KernelFault,
    KernelMemoryLimit,
    KernelOutputLimit,
    KernelTimeout,
)
from gn_tutorial.isolated import run
from gn_tutorial.launch_args import FLOAT_POISON, POISON_BYTE, LaunchArg, Launched
from gn_tutorial.options import Limits, TwinOptions

ROOT = Path(__file__).resolve().parent.parent
TWIN_INCLUDE = ROOT / "gn_tutorial" / "twin" / "include"
HOSTILE = ROOT / "tests" / "cpp" / "hostile.cpp"
PLACE = "kernel.cpp:12, block 3"

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces this: see the table in isolated.py")

Launch = Callable[..., Launched]


@pytest.fixture(scope="module")
def launcher() -> Path:
    return build_launcher().library


@pytest.fixture(scope="module")
def library() -> Path:
    return build_host_library(HOSTILE.read_text(), include_dirs=(TWIN_INCLUDE,)).library


@pytest.fixture
def launch(launcher: Path, library: Path) -> Launch:
    def call(entry: str, args: list[LaunchArg] | None = None, *, seconds: float = 20.0, **limits: int) -> Launched:
        return run(
            launcher,
            library,
            entry,
            args if args is not None else two_arguments(),
            blocks=1,
            tiling_key=0,
            options=TwinOptions(),
            limits=Limits(seconds=seconds, **limits),
        )

    return call


@pytest.fixture(autouse=True)
def nothing_left_behind(launcher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process, no shared memory or temporary file, no open descriptor, after whatever the test did."""
    monkeypatch.chdir(tmp_path)
    before = leftovers(launcher)
    yield
    after = leftovers(launcher)
    assert after == before
    assert list(tmp_path.glob("kernel_was*")) == []


def leftovers(launcher: Path) -> tuple[object, ...]:
    folders = [Path(tempfile.gettempdir()), Path("/dev/shm")]
    files = {path.name for folder in folders if folder.is_dir() for path in folder.glob("gn_tutorial-*")}
    descriptors = Path("/proc/self/fd" if sys.platform == "linux" else "/dev/fd")
    return processes(launcher), files, len(list(descriptors.iterdir()))


def processes(launcher: Path) -> set[tuple[int, str]]:
    """Children of this test process, unreaped ones too, and orphaned launchers: process id and name."""
    if sys.platform != "linux":
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=True)
        rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
        return {(int(pid), name) for pid, parent, name in rows if parent == str(os.getpid()) and name != "ps"}
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it may end while we look
            name, rest = folder.joinpath("stat").read_text().split("(", 1)[1].rsplit(")", 1)
            parent = int(rest.split()[1])
            if parent == os.getpid() or (parent == 1 and folder.joinpath("exe").readlink() == launcher):
                found.add((int(folder.name), name))
    return found


def tensor(name: str, role: Role, data: np.ndarray | bytes) -> LaunchArg:
    return LaunchArg(name, Kind.TENSOR, role, data)


def two_arguments(size: int = 100) -> list[LaunchArg]:
    x = np.arange(size, dtype=np.float32)
    return [tensor("x", Role.IN, x), tensor("y", Role.OUT, np.empty_like(x))]


# What a right kernel gets and gives.


@pytest.mark.parametrize("size", [0, 1, 128, 1000, 300_001])
def test_arrays_go_in_and_out(launch: Launch, size: int) -> None:
    args = two_arguments(size)
    launched = launch("Copy", args)
    assert set(launched.arrays) == {"y"}
    np.testing.assert_array_equal(launched.arrays["y"], args[0].data)
    assert launched.arrays["y"].flags.owndata or launched.arrays["y"].base.flags.owndata
    assert launched.printed == ""


def test_arguments_arrive_as_they_were_given(launcher: Path, library: Path) -> None:
    args = [
        tensor("x", Role.IN, np.zeros((3, 5), np.float16)),
        tensor("y", Role.OUT, np.empty(7, np.int8)),
        tensor("both", Role.INOUT, np.zeros((2, 2), np.int32)),
        tensor("scratch", Role.WORKSPACE, np.empty(4096, np.uint8)),
        tensor("tiling", Role.TILING, b"12345678"),
        LaunchArg("n", Kind.VALUE, Role.IN, b"\1\0\0\0"),
    ]
    options = TwinOptions(half_overflow="saturate")
    launched = run(launcher, library, "Echo", args, blocks=48, tiling_key=2**40 + 1, options=options, limits=Limits())
    lines = launched.printed.splitlines()
    assert lines[:5] == ["x 0 0 30 0", "y 0 1 7 0", "both 0 2 16 0", "scratch 0 3 4096 0", "tiling 0 4 8 0"]
    assert lines[5].startswith("n 1 0 4 ")
    assert lines[6] == f"blocks 48 key {2**40 + 1} overflow 1"
    shapes = {name: (array.shape, array.dtype.name) for name, array in launched.arrays.items()}
    assert shapes == {"y": ((7,), "int8"), "both": ((2, 2), "int32"), "scratch": ((4096,), "uint8")}


def test_counts_time_and_mode_come_back(launch: Launch) -> None:
    launched = launch("Count")
    assert (launched.tally.vector, launched.tally.bytes_in, launched.tally.mte3) == (7, 64, 0)
    assert launched.seconds == pytest.approx(1.5e-3)
    assert launched.observed


def test_inout_leaves_the_callers_array_alone(launch: Launch) -> None:
    mine = np.arange(10, dtype=np.uint8)
    launched = launch("AddOne", [tensor("x", Role.IN, mine), tensor("y", Role.INOUT, mine)])
    np.testing.assert_array_equal(launched.arrays["y"], np.arange(1, 11))
    np.testing.assert_array_equal(mine, np.arange(10))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("role", [Role.OUT, Role.WORKSPACE])
def test_unwritten_memory_is_poison(launch: Launch, dtype: str, role: Role) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    array = launch("Nothing", [two_arguments()[0], tensor("y", role, np.zeros((3, 5), kind))]).arrays["y"]
    if dtype in FLOAT_POISON:
        assert np.isnan(array.astype(np.float64)).all()
        assert (array.view(f"u{kind.itemsize}") == FLOAT_POISON[dtype]).all()
    else:
        assert (array.view(np.uint8) == POISON_BYTE).all()


def test_what_is_printed_is_collected(launch: Launch) -> None:
    assert launch("Print").printed == "to output\nto error\n"
    assert launch("PrintBinary").printed == "\ufffd\ufffd\n"


def test_a_kernel_may_use_threads_read_files_and_ask_for_limits(launch: Launch) -> None:
    y = tensor("y", Role.OUT, np.empty(2, np.uint8))
    assert launch("Threads", [two_arguments()[0], y]).arrays["y"].tolist() == [1, 2]
    launch("AskLimit")
    if sys.platform == "linux":
        launch("ReadFile")


def test_the_kernel_inherits_no_descriptor(launch: Launch) -> None:
    with open(HOSTILE) as kept_open:
        os.set_inheritable(kept_open.fileno(), True)
        assert launch("OpenDescriptors").printed == ""


# Kernels that do not end.


@pytest.mark.parametrize("entry", ["Loop", "Pause", "CloseAndLoop"])
def test_an_endless_kernel_is_stopped_and_its_place_named(launch: Launch, entry: str) -> None:
    begin = time.monotonic()
    with pytest.raises(KernelTimeout, match=f"'{entry}' ran longer than 0.3 s") as caught:
        launch(entry, seconds=0.3)
    assert 0.3 <= time.monotonic() - begin < 2
    assert PLACE in caught.value.where
    assert "loop that never ends" in caught.value.hint


@pytest.mark.parametrize("entry", ["DeafLoop", "Freeze"])
def test_a_kernel_that_cannot_answer_is_killed(launch: Launch, entry: str) -> None:
    begin = time.monotonic()
    with pytest.raises(KernelTimeout):
        launch(entry, seconds=0.3)
    assert time.monotonic() - begin < 2


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
        from gn_tutorial.isolated import run
        from gn_tutorial.abi import Kind, Role
        from gn_tutorial.launch_args import LaunchArg
        from gn_tutorial.options import Limits, TwinOptions
        x = LaunchArg("x", Kind.TENSOR, Role.IN, np.zeros(4, np.float32))
        run(Path({str(launcher)!r}), Path({str(library)!r}), "Loop", [x], blocks=1, tiling_key=0,
            options=TwinOptions(), limits=Limits())
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


def wait_for(condition: Callable[[], object], seconds: float = 10.0) -> object:
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


@pytest.mark.parametrize(("entry", "what"), [("JustPastEnd", "byte 400 of 400"), ("JustBefore", "1 byte before")])
def test_a_write_beside_an_array_is_found(launch: Launch, entry: str, what: str) -> None:
    # 128 floats fill their 512 bytes: behind them is the guard. 100 leave room, which is checked after the launch.
    with pytest.raises(KernelFault, match=f"outside 'y': {what}") as caught:
        launch(entry)
    assert [one.id for one in caught.value.diagnostics] == ["gm-out-of-bounds"]
    if entry == "JustPastEnd":
        with pytest.raises(KernelCrash, match=r"outside 'y': byte 512 of 512"):
            launch(entry, two_arguments(128))


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
        ("RaiseLimit", "made the system call (setrlimit|prlimit64)"),
    ],
)
def test_a_forbidden_call_is_named(launch: Launch, entry: str, what: str) -> None:
    with pytest.raises(KernelCrash, match=what) as caught:
        launch(entry)
    assert PLACE in caught.value.where


@linux
@pytest.mark.parametrize("entry", ["Spawn", "System"])
def test_a_call_that_blocks_signals_is_stopped_too(launch: Launch, entry: str) -> None:
    with pytest.raises(KernelCrash, match="started a process") as caught:
        launch(entry)
    assert "system()" in caught.value.hint


# Libraries that are none.


def test_unknown_entry_is_the_callers_mistake(launch: Launch) -> None:
    with pytest.raises(ArgumentError, match="Nowhere"):
        launch("Nowhere")


def test_a_stopped_launch_is_a_fault_with_its_diagnostic(launch: Launch) -> None:
    with pytest.raises(KernelFault) as caught:
        launch("Stopped")
    assert [one.id for one in caught.value.diagnostics] == ["call-unknown-entry"]


def library_from(text: str) -> Path:
    return build_host_library(textwrap.dedent(text), include_dirs=(TWIN_INCLUDE,)).library


def run_library(launcher: Path, library: Path, limits: Limits | None = None) -> Launched:
    return run(
        launcher, library, "any", [], blocks=1, tiling_key=0, options=TwinOptions(), limits=limits or Limits(seconds=20)
    )


def test_a_file_that_is_no_kernel_library(launcher: Path, tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="cannot be loaded") as caught:
        run_library(launcher, tmp_path / "missing.so")
    assert "missing.so" in caught.value.detail
    with pytest.raises(KernelError, match="cannot be loaded") as caught:
        run_library(launcher, library_from('extern "C" int unrelated() { return 1; }'))
    assert "gnt_run" in caught.value.detail


def test_a_library_of_another_version_is_refused(launcher: Path) -> None:
    library = library_from("""
        extern "C" unsigned gnt_abi() { return 1; }
        extern "C" int gnt_run(const char*, void*) { return 0; }
    """)
    with pytest.raises(KernelError, match="another version") as caught:
        run_library(launcher, library)
    assert "cache clear" in caught.value.hint


@pytest.mark.parametrize(
    ("constructor", "error", "what"),
    [
        pytest.param("fork();", KernelCrash, "started a process", id="fork"),
        pytest.param("_exit(0);", KernelCrash, "while its library was being loaded", id="exit"),
        pytest.param("for (;;) pause();", KernelTimeout, "loading the kernel's library", id="pause"),
        pytest.param('unlink("x");', KernelCrash, "deleted a file", id="unlink", marks=linux),
    ],
)
def test_static_constructors_are_confined_too(
    launcher: Path, constructor: str, error: type[KernelError], what: str
) -> None:
    library = library_from(f"""
        #include <unistd.h>
        struct Early {{ Early() {{ {constructor} }} }} early;
        extern "C" unsigned gnt_abi() {{ return 1; }}
        extern "C" int gnt_run(const char*, void*) {{ return 0; }}
    """)
    with pytest.raises(error, match=what):
        run_library(launcher, library, Limits(seconds=0.5))


@linux
def test_no_shared_memory_is_an_error_of_its_own(launch: Launch) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        with pytest.raises(KernelError, match="no shared memory for the kernel's arguments"):
            launch("Copy", two_arguments(1 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_launcher_that_may_not_run_is_an_error_of_its_own(library: Path, tmp_path: Path) -> None:
    program = tmp_path / "launcher"
    program.write_text("no program")
    program.chmod(0o600)
    with pytest.raises(KernelError, match="cannot be started") as caught:
        run_library(program, library)
    assert "GNT_CACHE_DIR" in caught.value.hint


def test_limits_of_any_size_fit_the_job_file(launcher: Path, library: Path) -> None:
    limits = Limits(seconds=1e15, memory_bytes=1 << 70, printed_bytes=1 << 60)
    launched = run(
        launcher, library, "Copy", two_arguments(), blocks=1, tiling_key=0, options=TwinOptions(), limits=limits
    )
    assert launched.arrays["y"][99] == 99


def test_a_missing_launcher_is_the_callers_to_handle(library: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run_library(tmp_path / "no-launcher", library)


# Use from a program.


def test_launches_from_several_threads(launch: Launch) -> None:
    results: list[bool] = []

    def work(seed: int) -> None:
        args = two_arguments(1000 + seed)
        results.extend(np.array_equal(launch("Copy", args).arrays["y"], args[0].data) for _ in range(5))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 20
