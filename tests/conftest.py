"""What every test shares: a kernel cache of their own, kept between runs, and a second compiler."""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import filelock
import pytest

from gn_tutorial.compiler import ZIG_REQUIREMENT

pytest_plugins = ["isolated_support"]  # the fixtures of test_isolated.py and test_hostile.py


def pytest_configure(config: pytest.Config) -> None:
    # Tests clear and fill caches; a learner's own must not notice. The folder outlives the run, so that the second run
    # of the suite compiles nothing, and the workers of pytest-xdist share it. An explicit GNT_CACHE_DIR wins: .ci/run
    # starts from nothing.
    if "GNT_CACHE_DIR" in os.environ:
        return
    try:
        folder = str(config.cache.mkdir("gn_tutorial_kernels"))
    except (AttributeError, OSError):  # -p no:cacheprovider, or a clone on a read-only disk
        folder = tempfile.mkdtemp(prefix="gn_tutorial_kernels-")
    os.environ["GNT_CACHE_DIR"] = folder


@pytest.fixture(scope="session")
def zig() -> str:
    """The compiler of the ziglang package, in the suite's cache folder: this environment stays as it is."""
    folder = Path(os.environ["GNT_CACHE_DIR"]) / "ziglang"
    binary = folder / "ziglang" / "zig"
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder / "lock"):
        if not binary.exists():
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), ZIG_REQUIREMENT]
            subprocess.run(command, check=True)
    return shlex.join([str(binary), "c++"])
