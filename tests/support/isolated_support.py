"""Shared by the tests of isolated launches: the real launcher, kernels of every kind, and a check for leftovers."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from gn_tutorial.abi.options import Limits
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import build_host_library, build_launcher
from gn_tutorial.runtime.isolated import run
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest, LaunchResult
from gn_tutorial.runtime.shared_memory import POOL

ROOT = Path(__file__).resolve().parents[2]
TWIN_INCLUDE = ROOT / "gn_tutorial" / "twin" / "include"
HOSTILE = ROOT / "tests" / "runtime" / "hostile.cpp"
PLACE = "kernel.cpp:12, block 3"

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces this: see the table in isolated.py")

Launch = Callable[..., LaunchResult]


@pytest.fixture(scope="module")
def launcher() -> Path:
    return build_launcher().library


@pytest.fixture(scope="module")
def library() -> Path:
    return build_host_library(HOSTILE.read_text(), include_dirs=(TWIN_INCLUDE,)).library


@pytest.fixture
def launch(launcher: Path, library: Path) -> Launch:
    def call(entry: str, args: list[LaunchArg] | None = None, *, seconds: float = 20.0, **limits: int) -> LaunchResult:
        return run(
            launcher,
            library,
            LaunchRequest(
                entry=entry,
                args=args if args is not None else two_arguments(),
                limits=Limits(seconds=seconds, **limits),
            ),
        )

    return call


@pytest.fixture
def nothing_left_behind(launcher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Assert that the test leaves no process, shared memory, temporary file or open descriptor behind."""
    monkeypatch.chdir(tmp_path)
    before = leftovers(launcher)
    yield
    after = leftovers(launcher)
    assert after[:2] == before[:2]
    assert after[2] <= before[2]  # Python may have closed descriptors that earlier tests left open
    assert list(tmp_path.glob("kernel_was*")) == []


def leftovers(launcher: Path) -> tuple[object, ...]:
    folders = [Path(tempfile.gettempdir()), Path("/dev/shm")]
    files = {path.name for folder in folders if folder.is_dir() for path in folder.glob("gn_tutorial-*")}
    POOL.forget()  # it keeps a process for the next launch, which is no leftover of this one
    descriptors = Path("/proc/self/fd" if sys.platform == "linux" else "/dev/fd")
    return processes(launcher), files, len(list(descriptors.iterdir()))


def processes(launcher: Path) -> set[tuple[int, str]]:
    """Return this process's children, unreaped ones too, and orphaned launchers: process id and name."""
    if sys.platform != "linux":
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=True)
        rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
        return {(int(pid), name) for pid, parent, name in rows if parent == str(os.getpid()) and name != "ps"}
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # a process may end before its entry is read
            name, rest = folder.joinpath("stat").read_text().split("(", 1)[1].rsplit(")", 1)
            parent = int(rest.split()[1])
            if parent == os.getpid() or (parent == 1 and folder.joinpath("exe").readlink() == launcher):
                found.add((int(folder.name), name))
    return found


def tensor(name: str, role: Role, data: np.ndarray | bytes) -> LaunchArg:
    return LaunchArg(name, ArgKind.TENSOR, role, data)


def two_arguments(size: int = 100) -> list[LaunchArg]:
    x = np.arange(size, dtype=np.float32)
    return [tensor("x", Role.IN, x), tensor("y", Role.OUT, np.empty_like(x))]
