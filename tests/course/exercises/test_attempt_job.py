"""The job folder: a checker gets the results of a child process, however that ends."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gn_tutorial.course.exercises.attempt_process import JobReport, by_itself, run_job
from gn_tutorial.runtime.deadline import Ran

Ask = Callable[..., JobReport]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Run a text as the child; ``attempt`` is the module with the child's side, ``job`` and ``answers`` are there."""
    child = Path(sys.modules[by_itself.__module__].__file__).with_name("attempt_child.py")
    head = f"""
import os, sys
from pathlib import Path
sys.path.insert(0, {str(child.parent)!r})
import attempt_child as attempt
folder = Path(sys.argv[1])
job, answers = attempt.read_job(folder), attempt.report_of(folder)
"""

    def run(text: str, seconds: float = 20, **job: object) -> JobReport:
        def runner(limit: float, folder: Path) -> Ran:
            return by_itself(limit, folder, (sys.executable, "-P", "-c", head + text))

        return run_job(runner, seconds, tmp_path, job)

    return run


def test_a_job_arrives_and_each_answer_comes_back(ask: Ask) -> None:
    report = ask("for one in job['calls']: attempt.report(answers, {'got': one})", calls=[1, "two"])
    assert report.facts == [{"got": 1}, {"got": "two"}]


def test_what_was_answered_before_an_endless_loop_is_known(ask: Ask) -> None:
    report = ask("attempt.report(answers, {'got': 1})\nwhile True: pass", seconds=2)
    assert report.facts == [{"got": 1}]
    assert report.ended == "ran longer than 2 s and was stopped: look for a loop that never ends"
    assert report.signal == 0


def test_a_line_without_its_end_is_no_answer(ask: Ask) -> None:
    assert ask("answers.write('{}\\n{'); answers.flush(); os._exit(0)").facts == [{}]


@pytest.mark.parametrize("line", ["{", "3"])
def test_a_report_that_cannot_be_read(ask: Ask, line: str) -> None:
    assert ask(f"answers.write({line!r} + '\\n')").facts is None


def test_an_exit_and_the_end_of_what_it_printed(ask: Ask) -> None:
    report = ask("[print(n, flush=True) for n in range(20)]\nos._exit(3)")
    assert (report.ended, report.signal) == ("ended its process (exit code 3)", 0)
    assert report.printed.split() == [str(n) for n in range(12, 20)]


def test_a_signal_has_its_number(ask: Ask) -> None:
    assert ask("os.kill(os.getpid(), 11)").signal == signal.SIGSEGV
