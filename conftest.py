"""What tests and notebooks share: exercises of their own, none attempted. The rest is in tests/conftest.py."""

import os
import shutil
import tempfile

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Give this run a folder of its own for attempts and progress, and delete it at the end."""
    # A notebook's stored "not attempted yet" must not depend on who runs the tests. Here and not in tests/, whose
    # conftest is not read by `./gnt test notebooks`: there a learner's solved exercise made the notebook fail.
    learner = tempfile.mkdtemp(prefix="gn_tutorial_learner-")
    os.environ["GNT_EXERCISES_DIR"] = os.environ["GNT_DATA_DIR"] = learner
    config.add_cleanup(lambda: shutil.rmtree(learner, ignore_errors=True))
