"""What tests and notebooks share: exercises of their own, none attempted, and a run that ends.

The rest is in tests/conftest.py.
"""

import os
import shutil
import tempfile
from collections import Counter
from importlib.util import find_spec
from typing import Any

import pytest

# Notebooks that import torch. Tests of the package skip where it is missing; a notebook would fail.
NEED_TORCH = ["notebooks/12_pytorch.ipynb"]
collect_ignore = [] if find_spec("torch") else NEED_TORCH


# With --dist loadscope a worker takes a whole file, whose tests share a notebook's kernel or a fixture. These share
# nothing, and one worker had them for half of the run.
EACH_BY_ITSELF = "tests/exercises/test_author_check.py::test_exercise_is_whole["
# These share a compiler that is installed first and then makes its C++ library: a second worker would wait for both.
WITH_ZIG = ["tests/compiler/test_toolchain.py", "tests/compiler/test_messages.py", "tests/compiler/test_same_bits.py"]
# The files that take half a minute and more, the longest first, as `--durations=0` told last. Only the order of the run
# hangs on it: a long file that is started late leaves the other worker with nothing to do.
LONGEST = [
    *WITH_ZIG,
    "tests/operators/test_kernel.py",
    "tests/twin/test_elementwise.py",
    "notebooks/06_vectorise_well.ipynb",
    "tests/kernels/test_delayed_copies.py",
    "tests/twin/test_cast.py",
    "tests/kernels/test_group_norm_kernels.py",
    "tests/torch_ops/test_cpp_extension.py",
    "tests/cli/test_tour.py",
    "tests/repository/test_bootstrap.py",
    "tests/exercises/test_grade.py",
    "notebooks/03_scalar_kernel.ipynb",
    "notebooks/04_tiling.ipynb",
    "tests/cli/test_compat.py",
    "tests/kernels/test_group_norm_silu.py",
    "notebooks/05_double_buffer.ipynb",
    "tests/compiler/test_precompiled_header.py",
    "notebooks/00_start_here.ipynb",
    "tests/twin/test_data_copy.py",
    "tests/compiler/test_build.py",
    "tests/compiler/test_dtype_macros.py",
    "tests/torch_ops/test_torch_cases.py",
    "tests/runtime/test_sample_run.py",
    "tests/host/test_host_fuzz.py",
]


def file_of(nodeid: str) -> str:
    """The file of a test, with ``/`` on every system."""
    return nodeid.partition("::")[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On workers of pytest-xdist: the longest tests first, then the files with most tests, so that all end together."""
    if not hasattr(config, "workerinput"):
        return
    tests, place = Counter(file_of(item.nodeid) for item in items), {name: i for i, name in enumerate(LONGEST)}

    def order(item: pytest.Item) -> tuple[bool, int, int]:
        file = file_of(item.nodeid)
        return not item.nodeid.startswith(EACH_BY_ITSELF), place.get(file, len(place)), -tests[file]

    items.sort(key=order)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file to a worker, in the order of the workers' lists; some tests by themselves, some files together."""
    if config.getoption("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(EACH_BY_ITSELF):
                return nodeid
            # Not the text before the last "::", as there: a parameter may be C++.
            file = file_of(nodeid)
            return "zig" if file in WITH_ZIG else file

    config.option.loadscopereorder = False
    return Scheduling(config, log)


def pytest_report_header() -> str:
    """Say what is left out, so that a green run without torch is not taken for the whole."""
    if not collect_ignore:
        return "torch: installed"
    return (
        "torch: not installed, so tests of the PyTorch operators skip, notebook 12 is left out; ./gnt torch installs it"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Give this run a folder of its own for attempts and progress, and delete it at the end."""
    # A notebook's stored "not attempted yet" must not depend on who runs the tests. Here and not in tests/, whose
    # conftest is not read by `./gnt test notebooks`: there a learner's solved exercise made the notebook fail.
    learner = tempfile.mkdtemp(prefix="gn_tutorial_learner-")
    os.environ["GNT_EXERCISES_DIR"] = os.environ["GNT_DATA_DIR"] = learner
    config.add_cleanup(lambda: shutil.rmtree(learner, ignore_errors=True))
    if config.pluginmanager.hasplugin("xdist") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(DeadWorkers())


class DeadWorkers:
    """Ends the run when a worker of pytest-xdist has died, and names the tests that were running."""

    # xdist 3.8 gives the dead worker's whole file to a new worker, the deadly test included, and with --dist loadscope
    # then waits for ever. A test that hangs is ended by faulthandler_timeout (pyproject.toml), which kills its worker.
    def __init__(self) -> None:
        self.running: list[str] = []

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note a test that begins."""
        self.running.append(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Forget a test that has ended."""
        if nodeid in self.running:
            self.running.remove(nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Stop if the worker did not end by itself."""
        if error:
            pytest.exit(f"worker {node.gateway.id} died in one of: {' '.join(self.running)}", returncode=1)
