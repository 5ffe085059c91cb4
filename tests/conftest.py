"""Setup of the tests: a kernel cache of their own, kept between runs; a terminal's width and signals do not matter."""

import os
import signal
import tempfile

import pytest

# The fixtures of runtime/test_isolated.py and runtime/test_hostile.py; a second compiler.
pytest_plugins = ["isolated_support", "zig_support"]


def pytest_configure(config: pytest.Config) -> None:
    # A worker of pytest-xdist has COLUMNS, and tables would be folded to that width.
    os.environ.pop("COLUMNS", None)
    # A shell script's background job begins with SIGINT ignored, and so does all that it starts: a suite run like that
    # waited for interrupts that never came.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
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
