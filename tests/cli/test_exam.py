"""``gnt exam theory`` through its own main."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import Gnt

from gn_tutorial.course.exam.bank import load_bank


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The learner's folder."""
    monkeypatch.setenv("GNT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def types(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_begun_left_gone_on_with_handed_in_and_reviewed(gnt: Gnt, monkeypatch: pytest.MonkeyPatch) -> None:
    types(monkeypatch, "", "a")
    ran = gnt("exam", "theory", "--count", 4, "--seed", 11, "--topic", "tiling")
    assert ran.code == 0
    assert "theory paper 11: 4 questions, 6 minutes; the clock does not stop when you leave" in ran.out
    assert "left with 1 of 4 answered; its time is over at " in ran.err
    seen = gnt("exam", "theory", "--json").json
    assert (seen["seed"], seen["finished"], seen["result"]) == (11, False, None)
    assert not any({"right", "source"} & one.keys() for one in seen["questions"])
    assert not any("right" in option or "why" in option for one in seen["questions"] for option in one["options"])
    refused = gnt("exam", "theory", "--count", 5)
    assert (refused.code, refused.out) == (2, "")
    assert "a paper is open: 1 of 4 answered" in refused.err
    assert "the paper is open" in gnt("exam", "theory", "--review").err

    types(monkeypatch, "!", "!")
    ran = gnt("exam", "theory")
    assert "; 1 answered" in ran.out
    assert "of 4 right, in 0 min (limit 6 min)" in ran.out
    assert "3 left open: they count as not right" in ran.out
    assert "to read:" in ran.out
    review = gnt("exam", "theory", "--review").out
    assert review.count("source: ") == 4
    done = gnt("exam", "theory", "--json").json
    assert done["finished"]
    assert done["result"]["asked"] == 4
    assert all(one["right"] and one["options"][0]["why"] for one in done["questions"])


def test_a_terminal_that_is_killed_loses_nothing(data: Path) -> None:
    words = [sys.executable, "-m", "gn_tutorial", "exam", "theory", "--count", "3", "--seed", "1"]
    file = data / "theory_paper.json"
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as running:
        assert running.stdin is not None
        running.stdin.write("\na\nb\n")
        running.stdin.flush()
        until = time.monotonic() + 120
        while not (file.exists() and len(json.loads(file.read_text())["answers"]) == 2):
            assert time.monotonic() < until, "the answers were not kept"
            time.sleep(0.02)
        running.kill()
    assert sorted(json.loads(file.read_text())["answers"].values()) == ["a", "b"]


def test_new_hands_in_what_is_open(gnt: Gnt, monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    types(monkeypatch, "")
    gnt("exam", "theory", "--count", 2, "--untimed", "--seed", 1)
    types(monkeypatch, "", "!", "!")
    ran = gnt("exam", "theory", "--new", "--count", 3, "--seed", 2)
    assert ran.out.index("handed in as it stands") < ran.out.index("theory paper 2: 3 questions")
    assert "before: 0 of 2 (" in ran.out
    noted = json.loads((data / "progress.json").read_text())["theory"]
    assert [(one["seed"], one["asked"], one["limit"]) for one in noted] == [(1, 2, None), (2, 3, 4.5)]


def test_a_paper_whose_time_ran_out_alone_is_shown_once(gnt: Gnt, monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    types(monkeypatch, "", "a")
    gnt("exam", "theory", "--count", 2, "--minutes", 5)
    moment = time.time() + 301
    monkeypatch.setattr(time, "time", lambda: moment)
    types(monkeypatch)
    ran = gnt("exam", "theory")
    assert ran.out.startswith("the time of the open paper ended while you were away:")
    assert "in 5 min (limit 5 min)" in ran.out
    ran = gnt("exam", "theory")
    assert "theory paper " in ran.out
    assert "no paper was begun" in ran.err
    assert len(json.loads((data / "progress.json").read_text())["theory"]) == 1


def test_a_damaged_file_is_kept(gnt: Gnt, monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    (data / "theory_paper.json").write_text("[")
    assert gnt("exam", "theory").code == 2
    types(monkeypatch)
    assert "theory_paper.damaged1.json" in gnt("exam", "theory", "--new").out
    assert (data / "theory_paper.damaged1.json").read_text() == "["


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--topic", "cooking"), "there is no topic 'cooking'"),
        (("--minutes", "0"), "a paper cannot last 0 minutes"),
        (("--count", "0"), "a paper cannot have 0 questions"),
        (("--untimed", "--minutes", "5"), "exclude each other"),
        (("--review",), "there is no paper to review"),
        (("--json",), "there is no theory paper yet"),
    ],
)
def test_mistakes_are_named(gnt: Gnt, words: tuple[str, ...], message: str) -> None:
    ran = gnt("exam", "theory", *words)
    assert ran.code == 2
    assert message in ran.err


def test_the_topics_that_there_are_come_with_the_mistake(gnt: Gnt) -> None:
    assert all(topic.name in gnt("exam", "theory", "--topic", "x").err for topic in load_bank().topics)
