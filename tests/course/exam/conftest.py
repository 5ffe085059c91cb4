"""What the tests of papers share: the files of one learner, and a paper that was just begun."""

from __future__ import annotations

from pathlib import Path

import pytest
from exam_support import BEGIN, Clock

from gn_tutorial.course.exam.bank import load_bank
from gn_tutorial.course.exam.paper import Paper, draw
from gn_tutorial.course.exam.paper_file import PaperFile
from gn_tutorial.course.progress import ProgressFile


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def file(tmp_path: Path, clock: Clock) -> PaperFile:
    """The files of a learner who has no paper yet."""
    return PaperFile(ProgressFile(tmp_path / "data"), load_bank(), clock)


@pytest.fixture
def drawn(file: PaperFile) -> Paper:
    """Six questions, ten minutes, just begun; the third has several right options."""
    bank = file.bank
    for seed in range(1000):
        paper = draw(bank, seed, BEGIN, count=6, minutes=10.0)
        several = [len(one.right) > 1 for _, one in paper.questions(bank)]
        if several == [False, False, True, False, False, False]:
            return file.write(paper)
    raise AssertionError("no such paper")
