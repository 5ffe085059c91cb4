"""Many texts judged: verdicts are as named though judges are killed, a killed run goes on, a hostile text is one text.

``benchmarks/judge_many.py`` does the same with 2,000 texts, and says how fast that is.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from thoroughness import ALL
from varied_texts import complaints, lay_out, named_exercises, named_tasks, varied

from gn_tutorial.course.classroom import process_tree, scheduler
from gn_tutorial.course.classroom.judge_class import KEPT, PAGE, HowFar, Where, default_results, judge_class
from gn_tutorial.course.classroom.judging_process import JudgingProcess
from gn_tutorial.course.classroom.submissions import EXERCISE, Text
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.errors import ArgumentError
from tests.course.classroom.conftest import HandIn

#: Quick ones of each kind: NumPy, predictions, a tiling function; and two kernels.
QUICK, KERNELS = ("01.2", "02.2", "04.3", "04.2"), ("03.2", "05.3")


def texts(count: int) -> list:
    """Some of each quick exercise and of the kernels, right and wrong, varied."""
    named = named_exercises(QUICK)
    kernels = named_exercises(KERNELS)
    chosen = [*named[:: max(1, len(named) // (count - 4))][: count - 4], *kernels[:2], *kernels[-2:]]
    return list(varied(chosen, count))


@pytest.mark.thorough
def test_verdicts_are_as_named_though_a_judge_is_killed(camp: Path, tmp_path: Path) -> None:
    count = 40 if ALL else 16
    named = lay_out(texts(count), camp)
    lost: list[int] = []

    def tell(progress: HowFar) -> None:
        if progress.done == 6:
            victim = next(one for one in scheduler.running() if one.pid)
            lost.append(victim.pid)
            process_tree.end(victim.pid)

    found = judge_class(camp, tmp_path / "judged", Where(2), tell=tell)
    assert complaints(found.rows, named) == []
    assert len(found.rows) == len(named) == count
    assert lost
    assert not any(psutil.pid_exists(pid) for pid in lost)
    assert scheduler.running() == []


@pytest.mark.thorough
def test_a_killed_run_goes_on_where_it_was(camp: Path, hand_in: HandIn) -> None:
    """SIGKILL, so that nothing is tidied up; what it had judged is not judged again, and its judges are gone."""
    named = lay_out(list(varied(named_exercises(["02.2", "04.3"])[::2], 8)), camp)
    into = default_results(camp)
    command = [sys.executable, "-m", "gn_tutorial", "judge", str(camp), "--workers", "1"]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kept = into / KEPT
    while not (kept.is_file() and kept.read_bytes().count(b"\n") >= 2):
        assert first.poll() is None, "it ended before two texts were judged"
        time.sleep(0.05)
    judges = psutil.Process(first.pid).children(recursive=True)
    folder = Path(psutil.Process(judges[0].pid).cmdline()[-1])
    assert folder.is_dir()
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = kept.read_bytes().splitlines()
    kept.write_bytes(kept.read_bytes() + b'{"digest": "cut o')
    told: list[HowFar] = []
    found = judge_class(camp, into, Where(1), tell=told.append)
    assert told[0].known == len(before)
    assert told[-1].done == 8 - len(before)
    assert kept.read_bytes().splitlines()[: len(before)] == before
    assert complaints(found.rows, named) == []
    assert psutil.wait_procs(judges, timeout=60)[1] == []
    until = time.monotonic() + 60
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not folder.exists()


@pytest.mark.thorough
def test_the_same_text_is_judged_once(camp: Path, hand_in: HandIn) -> None:
    for learner in ("ada", "bob", "eve"):
        hand_in(learner, "02.2")
    hand_in("mal", "02.2", load_course().find("02.2").stub.read_text())
    told: list[HowFar] = []
    into = default_results(camp)
    found = judge_class(camp, into, Where(1), tell=told.append)
    assert [one.texts for one in told] == [1, 1]
    assert [(row.learner, row.status, row.points) for row in found.rows] == [
        ("ada", "right", 1.0), ("bob", "right", 1.0), ("eve", "right", 1.0), ("mal", "untouched", 0.0),
    ]  # fmt: skip
    again: list[HowFar] = []
    assert judge_class(camp, into, Where(1), tell=again.append).rows == found.rows
    assert [(one.known, one.done) for one in again] == [(1, 0)], "no cluster is started for nothing"
    anew: list[HowFar] = []
    judge_class(camp, into, Where(1), anew=True, tell=anew.append)
    assert [(one.known, one.done) for one in anew] == [(0, 0), (0, 1)]
    assert "<!doctype html>" in (into / PAGE).read_text()


def test_no_port_is_opened() -> None:
    """A port would let other users of the machine run code as the user who judges."""
    before = {one.laddr for one in psutil.Process().net_connections() if one.status == psutil.CONN_LISTEN}
    with scheduler.local(2) as client:
        listening = {one.laddr for one in psutil.Process().net_connections() if one.status == psutil.CONN_LISTEN}
        assert client.submit(int, "7").result() == 7
    assert listening - before == set()


def python_text(body: str) -> Text:
    solution = load_course().find("01.1").solution.read_text()
    return Text(EXERCISE, "01.1", {"01_1_group_norm.py": f"{solution}\n\n{body}\n"})


@pytest.mark.thorough
def test_a_text_that_takes_too_long_is_stopped_and_the_next_one_is_judged() -> None:
    process = JudgingProcess()
    try:
        right = process.judge(python_text(""), 300.0)
        assert right.status == "right", right.findings
        first = process.pid
        stopped = process.judge(python_text("while True:\n    pass"), 1.0)
        assert (stopped.status, stopped.points) == ("stopped", 0.0)
        assert stopped.findings[0].what == "it was not judged within 1 s and was stopped"
        assert not psutil.pid_exists(first)
        assert process.judge(python_text("# again"), 300.0).status == "right"
        assert process.pid != first
    finally:
        family_of = psutil.Process(process.pid).children(recursive=True)
        process.close()
    assert psutil.wait_procs(family_of, timeout=30)[1] == []


def test_a_text_over_which_every_judge_is_lost_is_undecided_and_asked_for_again(
    camp: Path, hand_in: HandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hand_in("ada", "02.2")
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\nif 'judging_child' in str(sys.orig_argv): os._exit(9)\n"
    )
    path = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{path}")
    found = judge_class(camp, default_results(camp), Where(1))
    assert found.rows[0].status == "undecided"
    assert "the judge was lost 2 times over this text. It ended with 9" in found.rows[0].first.what
    monkeypatch.setenv("PYTHONPATH", path)
    assert judge_class(camp, default_results(camp), Where(1)).rows[0].status == "right"


def test_results_beside_the_class_one_call_at_a_time(camp: Path, hand_in: HandIn, tmp_path: Path) -> None:
    hand_in("ada", "02.2")
    with pytest.raises(ArgumentError, match="the results would lie in the folder of the class"):
        judge_class(camp, camp / "judged", Where(1))
    refused: list[str] = []

    def tell(progress: HowFar) -> None:
        try:
            judge_class(camp, tmp_path / "judged", Where(1))
        except ArgumentError as error:
            refused.append(error.what)

    judge_class(camp, tmp_path / "judged", Where(1), tell=tell)
    assert refused[0] == "another gnt judge is writing there"


HOSTILE = {
    "01.1": "import os\nos.remove(__file__)",
    "01.2": "while True:\n    pass",
    "01.3": "x = [0] * 10**12",
}
LOOPS = "  __aicore__ inline float Mean(uint32_t row) {\n    while (true) {}\n"
BOMB = "template <int n> struct Deep { Deep<n + 1> next; };\nDeep<0> deep;\n"


@pytest.mark.thorough
def test_hostile_texts_cost_their_limit_and_nothing_else(camp: Path, hand_in: HandIn, tmp_path: Path) -> None:
    course = load_course()
    for item, body in HOSTILE.items():
        hand_in("mal", item, f"{course.find(item).solution.read_text()}\n\n{body}\n")
    solution = course.find("03.2").solution.read_text()
    hand_in("mal", "03.2", solution.replace("  __aicore__ inline float Mean(uint32_t row) {\n", LOOPS))
    hand_in("bomb", "03.2", solution + BOMB)
    named = lay_out(texts(8), camp)
    found = judge_class(camp, tmp_path / "judged", Where(2))
    rows = {(row.learner, row.item): row for row in found.rows}
    assert {row.status for (learner, _), row in rows.items() if learner in ("mal", "bomb")} == {"wrong"}
    assert "never ends" in rows["mal", "03.2"].first.what
    assert "ran longer than 5 s" in rows["mal", "01.2"].first.what
    assert complaints([row for row in found.rows if row.learner not in ("mal", "bomb")], named) == []


@pytest.mark.thorough
def test_a_worker_elsewhere_is_killed_and_nothing_is_lost(camp: Path, tmp_path: Path) -> None:
    """A scheduler and two workers as somebody else starts them; one is killed with a text in its hands."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    file = tmp_path / "scheduler.json"
    started = [
        subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_scheduler", *words], env=environment)
        for words in (["--scheduler-file", str(file), "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],)
    ]
    try:
        while not file.is_file():
            assert started[0].poll() is None
            time.sleep(0.1)
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--no-dashboard"]
        started += [subprocess.Popen([*worker, "--nthreads", "1", "--no-nanny"], env=environment) for _ in range(2)]
        named = lay_out(texts(16), camp)

        def tell(progress: HowFar) -> None:
            if progress.done == 4:
                started[1].send_signal(signal.SIGKILL)

        address = json.loads(file.read_text())["address"]
        time.sleep(5)
        found = judge_class(camp, tmp_path / "judged", Where(scheduler=address), tell=tell)
        assert complaints(found.rows, named) == []
        assert started[1].wait(60) == -signal.SIGKILL
    finally:
        for one in reversed(started):
            one.kill()
            one.wait()


@pytest.mark.thorough
def test_tasks_of_the_exam_are_judged_as_named(camp: Path, tmp_path: Path) -> None:
    tasks = [one for one in named_tasks(tmp_path / "tasks") if one.name.startswith("log_cosh")]
    named = lay_out(list(varied([replace(one) for one in tasks], len(tasks))), camp)
    found = judge_class(camp, tmp_path / "judged", Where(2))
    assert complaints(found.rows, named) == []


def test_nobody_answers(camp: Path, hand_in: HandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in("ada", "02.2")
    monkeypatch.setattr(scheduler, "_CONNECT_SECONDS", 0.5)
    for address, said in (("tcp://127.0.0.1:9", "no scheduler answers"), ("nowhere", "no scheduler answers")):
        with pytest.raises(ArgumentError, match=said):
            judge_class(camp, default_results(camp), Where(scheduler=address))
