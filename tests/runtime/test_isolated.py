"""Launches in a process of their own: inputs and results pass unchanged, for any kernel, launcher and library."""

import os
import resource
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from isolated_support import HOSTILE, TWIN_INCLUDE, Launch, linux, tensor, two_arguments

from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import build_host_library
from gn_tutorial.errors import (
    ArgumentError,
    KernelCrash,
    KernelError,
    KernelFault,
    KernelTimeout,
)
from gn_tutorial.runtime.isolated import run
from gn_tutorial.runtime.launch_types import FLOAT_POISON, POISON_BYTE, LaunchArg, LaunchRequest, LaunchResult

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


# What a right kernel gets and gives.


@pytest.mark.parametrize("size", [0, 1, 128, 1000, 300_001])
def test_arrays_go_in_and_out(launch: Launch, size: int) -> None:
    args = two_arguments(size)
    launched = launch("Copy", args)
    assert set(launched.arrays) == {"y"}
    np.testing.assert_array_equal(launched.arrays["y"], args[0].data)
    assert launched.arrays["y"].flags.writeable
    assert launched.printed == ""


def test_arguments_arrive_as_they_were_given(launcher: Path, library: Path) -> None:
    args = [
        tensor("x", Role.IN, np.zeros((3, 5), np.float16)),
        tensor("y", Role.OUT, np.empty(7, np.int8)),
        tensor("both", Role.INOUT, np.zeros((2, 2), np.int32)),
        tensor("scratch", Role.WORKSPACE, np.empty(4096, np.uint8)),
        tensor("tiling", Role.TILING, b"12345678"),
        LaunchArg("n", ArgKind.VALUE, Role.IN, b"\1\0\0\0"),
    ]
    options = TwinOptions(half_overflow="saturate")
    launched = run(
        launcher, library, LaunchRequest(entry="Echo", args=args, blocks=48, tiling_key=2**40 + 1, options=options)
    )
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


@pytest.mark.parametrize("size", [100, 600_000])  # the larger output has memory of its own
def test_the_kernel_inherits_no_descriptor(launch: Launch, size: int) -> None:
    with open(HOSTILE) as kept_open:
        os.set_inheritable(kept_open.fileno(), True)
        assert launch("OpenDescriptors", two_arguments(size)).printed == ""


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


def run_library(launcher: Path, library: Path, limits: Limits | None = None) -> LaunchResult:
    return run(launcher, library, LaunchRequest(entry="any", args=[], limits=limits or Limits(seconds=60)))


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
    launched = run(launcher, library, LaunchRequest(entry="Copy", args=two_arguments(), limits=limits))
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
