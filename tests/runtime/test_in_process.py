"""Trusted kernels inside Python's own process: right results, no copies, cheap calls."""

import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import build_host_library, build_kernel
from gn_tutorial.errors import ArgumentError, KernelError, KernelFault
from gn_tutorial.runtime.in_process import Prepared
from gn_tutorial.runtime.launch_types import FLOAT_POISON, POISON_BYTE, LaunchArg, LaunchRequest

ROOT = Path(__file__).resolve().parents[2]
TWIN_INCLUDE = ROOT / "gn_tutorial" / "twin" / "include"
HOSTILE = ROOT / "tests" / "runtime" / "hostile.cpp"
COPY = ROOT / "kernels" / "copy" / "copy.cpp"


@pytest.fixture(scope="module")
def library() -> Path:
    """Only its harmless entries are run here."""
    return build_host_library(HOSTILE.read_text(), include_dirs=(TWIN_INCLUDE,)).library


def two_arguments(size: int = 1024) -> list[LaunchArg]:
    x = np.arange(size, dtype=np.float32)
    return [
        LaunchArg("x", ArgKind.TENSOR, Role.IN, x),
        LaunchArg("y", ArgKind.TENSOR, Role.OUT, np.zeros_like(x)),
    ]


def copy_arguments(size: int) -> list[LaunchArg]:
    return [*two_arguments(size), LaunchArg("n", ArgKind.VALUE, Role.IN, np.uint32(size).tobytes())]


def test_one_launch_runs_many_times(library: Path) -> None:
    args = two_arguments()
    prepared = Prepared(library, LaunchRequest(entry="Copy", args=args))
    np.testing.assert_array_equal(prepared().arrays["y"], args[0].data)
    args[0].data[:] = 7
    np.testing.assert_array_equal(prepared().arrays["y"], np.full(1024, 7, np.float32))


def test_the_output_is_new_and_poisoned_before_each_run(library: Path) -> None:
    args = two_arguments()
    prepared = Prepared(library, LaunchRequest(entry="Nothing", args=args))
    for _ in range(2):
        y = prepared().arrays["y"]
        assert (y.view(np.uint32) == FLOAT_POISON["float32"]).all()
        y[:] = 0
    assert (args[1].data == 0).all()


def test_inout_is_written_in_place_and_workspace_is_garbage(library: Path) -> None:
    mine = np.arange(8, dtype=np.uint8)
    args = [
        LaunchArg("x", ArgKind.TENSOR, Role.WORKSPACE, np.zeros(4, np.int32)),
        LaunchArg("y", ArgKind.TENSOR, Role.INOUT, mine),
    ]
    arrays = Prepared(library, LaunchRequest(entry="AddOne", args=args))().arrays
    assert arrays["y"] is mine
    assert mine.tolist() == list(range(1, 9))
    assert (arrays["x"].view(np.uint8) == POISON_BYTE).all()


def test_arguments_arrive_as_they_were_given(library: Path, capfd: pytest.CaptureFixture[str]) -> None:
    args = [
        LaunchArg("x", ArgKind.TENSOR, Role.IN, np.zeros((0, 3), np.float16)),
        LaunchArg("tiling", ArgKind.TENSOR, Role.TILING, b"12345678"),
        LaunchArg("n", ArgKind.VALUE, Role.IN, b"\1\0\0\0"),
    ]
    options = TwinOptions(half_overflow="saturate")
    launched = Prepared(
        library, LaunchRequest(entry="Echo", args=args, blocks=48, tiling_key=2**40 + 1, options=options)
    )()
    assert launched.printed == ""
    Prepared(library, LaunchRequest(entry="Print", args=two_arguments()))()  # flushes the library's output
    lines = capfd.readouterr().out.splitlines()
    facts = [line.rsplit(" ", 1)[0] for line in lines[:3]]  # the last number is the alignment
    assert facts == ["x 0 0 0", "tiling 0 4 8", "n 1 0 4"]
    assert lines[3] == f"blocks 48 key {2**40 + 1} overflow 1"


def test_counts_of_one_run_do_not_leak_into_the_next(library: Path) -> None:
    prepared = Prepared(library, LaunchRequest(entry="Count", args=two_arguments()))
    assert prepared().tally.vector == prepared().tally.vector == 7
    assert Prepared(library, LaunchRequest(entry="Nothing", args=two_arguments()))().tally.vector == 0


def test_mistakes_are_raised_and_the_next_run_is_clean(library: Path) -> None:
    with pytest.raises(ArgumentError, match="Nowhere"):
        Prepared(library, LaunchRequest(entry="Nowhere", args=two_arguments()))()
    stopping = Prepared(library, LaunchRequest(entry="Stopped", args=two_arguments()))
    for _ in range(2):
        with pytest.raises(KernelFault) as caught:
            stopping()
        assert len(caught.value.diagnostics) == 1


def test_a_file_that_is_no_kernel_library(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="cannot be loaded") as caught:
        Prepared(tmp_path / "missing.so", LaunchRequest(entry="f", args=[]))
    assert "missing.so" in caught.value.detail
    other = build_host_library('extern "C" int unrelated() { return 1; }', include_dirs=()).library
    with pytest.raises(KernelError, match="cannot be loaded"):
        Prepared(other, LaunchRequest(entry="f", args=[]))


def test_a_library_of_another_version_is_refused() -> None:
    text = """
        extern "C" unsigned gnt_abi() { return 1; }
        extern "C" int gnt_run(const char*, void*) { return 0; }
    """
    with pytest.raises(KernelError, match="another version"):
        Prepared(build_host_library(textwrap.dedent(text)).library, LaunchRequest(entry="f", args=[]))


def test_two_threads_run_the_same_library_at_once() -> None:
    library = build_kernel(COPY).library
    right: list[bool] = []

    def work(size: int) -> None:
        args = copy_arguments(size)
        prepared = Prepared(library, LaunchRequest(entry="copy_kernel", args=args, blocks=4))
        right.extend(np.array_equal(prepared().arrays["y"], args[0].data) for _ in range(20))

    threads = [threading.Thread(target=work, args=(100_000 + i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 80


def test_both_modes_of_a_kernel_live_in_one_process() -> None:
    args = copy_arguments(1000)
    counts = {}
    for observed in (True, False, True):
        library = build_kernel(COPY, observed=observed).library
        launched = Prepared(library, LaunchRequest(entry="copy_kernel", args=args, blocks=2))()
        np.testing.assert_array_equal(launched.arrays["y"], args[0].data)
        assert launched.observed is observed
        counts[observed] = launched.tally.bytes_in
    assert counts == {True: 4000, False: 0}
