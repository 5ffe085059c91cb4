"""Setup of every pytest run, for tests and notebooks: separate folders for exercises, workers, and a run that ends.

The rest is in tests/conftest.py.
"""

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

# Notebooks that import torch. Tests of the package skip where it is missing; a notebook would fail.
NEED_TORCH = ["notebooks/12_pytorch.ipynb", "notebooks/13_fuse.ipynb"]
collect_ignore = [] if find_spec("torch") else NEED_TORCH
# Translated notebooks have the cells and outputs of the English ones, which a test compares, and their own quiz.
collect_ignore_glob = ["notebooks/??/*"]


# With --dist loadscope a worker takes a whole file, whose tests share a notebook's kernel or a fixture. The tests below
# share nothing, and one worker had them for half of the run.
EACH_BY_ITSELF = "tests/course/exercises/test_author_check.py::test_exercise_is_whole["
# These share a compiler that is installed first and then compiles its C++ library: a second worker would wait for both.
WITH_ZIG = [
    *(f"tests/compiler/test_{name}.py" for name in ("toolchain", "messages", "same_bits")),
    "tests/platforms/test_macos.py",
]
# These describe the same host files, which compile for 8 s in each worker that needs them.
OF_HOST_FILES = [f"tests/projects/test_{name}.py" for name in ("definition", "aclnn", "dtype_columns")]
# These share a server and load the machine: two browsers at a time would only slow each other.
IN_A_BROWSER = "tests/browser/"
# Seconds that each file took when --durations-file last wrote them, with empty caches. The longest files go first,
# since one that starts late leaves the other worker idle; --quick takes the shortest.
DURATIONS = Path(__file__).with_name("tests") / "durations.json"
# Seconds of one worker for --quick: two of them, plus the time for collecting, stay under two minutes.
QUICK_SECONDS = 50.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that choose how much is run."""
    group = parser.getgroup("gn_tutorial")
    group.addoption("--quick", action="store_true", help="the files that are done in two minutes; no notebook")
    group.addoption(
        "--all",
        action="store_true",
        help="also what repeats at length: all wrong solutions and bare kernels, more examples, a second compiler",
    )
    group.addoption("--durations-file", action="store_true", help="write tests/durations.json from this run")


def durations() -> dict[str, float]:
    """Return file of tests -> seconds; a new file is not in it."""
    try:
        return json.loads(DURATIONS.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def quick_files(files: Iterable[str], known: Mapping[str, float]) -> set[str]:
    """Return the new files, and the shortest of the others that fit into QUICK_SECONDS. No notebook."""
    chosen, left = set(), QUICK_SECONDS
    for file in sorted(set(files), key=lambda file: (known.get(file, 0.0), file)):
        left -= known.get(file, 0.0)
        if left >= 0 and not file.endswith(".ipynb"):
            chosen.add(file)
    return chosen


def file_of(nodeid: str) -> str:
    """Return the file of a test, with ``/`` on every system."""
    return nodeid.partition("::")[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that this run leaves out; on workers of pytest-xdist put the longest files first."""
    known = durations()
    left_out = [item for item in items if item.get_closest_marker("thorough") or item.get_closest_marker("zig")]
    if config.getoption("--all"):
        left_out = []
    if config.getoption("--quick"):
        quick = quick_files((file_of(item.nodeid) for item in items), known)
        left_out = [item for item in items if file_of(item.nodeid) not in quick or item in left_out]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
    if hasattr(config, "workerinput"):
        new = max(known.values(), default=0.0)

        def seconds(item: pytest.Item) -> tuple[bool, float]:
            return item.nodeid.startswith(EACH_BY_ITSELF), known.get(file_of(item.nodeid), new)

        items.sort(key=seconds, reverse=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker a whole file, in the order of the workers' lists; some tests run alone, some files together."""
    if config.getoption("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(EACH_BY_ITSELF):
                return nodeid
            # The base class takes the text before the last "::", but a parameter may be C++.
            file = file_of(nodeid)
            if file.startswith(IN_A_BROWSER):
                return "browser"
            if file in OF_HOST_FILES:
                return "host files"
            return "zig" if file in WITH_ZIG and config.getoption("--all") else file

    config.option.loadscopereorder = False
    return Scheduling(config, log)


def pytest_report_header() -> str:
    """Say which tests are left out without torch, so that nobody takes such a run for a complete one."""
    if not collect_ignore:
        return "torch: installed"
    return (
        "torch: not installed, so tests of the PyTorch operators skip, notebooks 12 and 13 are left out; "
        "./gnt torch installs it"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make a folder for this run's attempts and progress, and delete it at the end."""
    # A notebook's stored "not attempted yet" must not depend on the user. This is here and not in tests/, whose
    # conftest is not read by `./gnt test notebooks`: there a learner's solved exercise made the notebook fail.
    learner = tempfile.mkdtemp(prefix="gn_tutorial_learner-")
    # The last part of the folder's name appears in outputs.
    os.environ |= {"GNT_EXERCISES_DIR": os.path.join(learner, "my_exercises"), "GNT_DATA_DIR": learner}
    os.environ["GNT_LANG"] = "en"  # the language of stored outputs, which tests compare
    config.add_cleanup(lambda: shutil.rmtree(learner, ignore_errors=True))
    if config.getoption("--all"):
        os.environ["GNT_TEST_ALL"] = "1"  # read by tests/support/thoroughness.py when the tests are imported
    else:
        # A third of the time for each library that would be compiled with -O3, and none for one that is there with -Og.
        os.environ["GNT_OPTIMISE"] = "little"
    if config.pluginmanager.hasplugin("xdist") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(DeadWorkers())
    if config.getoption("--durations-file") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Stopwatch())


class DeadWorkers:
    """Ends the run when a worker of pytest-xdist has died, and names the tests that were running."""

    # xdist 3.8 gives a dead worker's whole file to a new worker, with the test that killed it, and with --dist
    # loadscope it then waits for ever. faulthandler_timeout (pyproject.toml) ends a test that hangs by killing its
    # worker.
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


class Stopwatch:
    """Adds up what each file took, and writes it at the end of the run."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of one test."""
        self.seconds[file_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the files of this run, and keep those of earlier runs that are still there."""
        root = DURATIONS.parents[1]
        kept = {file: seconds for file, seconds in durations().items() if (root / file).is_file()}
        rows = kept | {file: round(seconds, 1) for file, seconds in self.seconds.items()}
        DURATIONS.write_text(json.dumps(dict(sorted(rows.items())), indent=0) + "\n", encoding="utf-8")
