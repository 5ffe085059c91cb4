"""A learner's progress as a file: what is in it, what is not, and every file that is something else."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gn_tutorial.course.classroom.progress_export import default_file, own_export, read_export, write_export
from gn_tutorial.course.exam.attempt import Attempt, AttemptFile
from gn_tutorial.course.progress import default_progress
from gn_tutorial.errors import ArgumentError

SAID = {"points": 80.0, "accepted": False, "cases": 9, "share": None, "parts": {}, "losses": [{"what": "mine"}]}


@pytest.fixture
def learner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of one learner, who passed something and handed in a task."""
    monkeypatch.setenv("GNT_DATA_DIR", str(tmp_path / "data"))
    default_progress().update(lambda known: known.with_pass("03.2").with_hint("03.1", 2).with_puzzle("02.copy"))
    default_progress().update(lambda known: known.with_answers("02", {"key": "ab"}))
    attempt = Attempt("mish", "/srv/ada/secret", "9.x", "ascend910b", 120.0, 1.0, 1.0).submitted(SAID, 60.0)
    AttemptFile(tmp_path / "data", lambda: 60.0).keep(lambda known: known.with_(attempt))
    return tmp_path


def test_what_is_handed_in_comes_back(learner: Path) -> None:
    made = own_export("Ada L.")
    write_export(made, learner / "ada.json")
    read = read_export(learner / "ada.json")
    assert (read.name, read.date, read.course) == (made.name, made.date, made.course)
    assert read.known.progress == made.known.progress
    assert read.known.progress.passed.keys() == {"03.2"}
    best = read.known.attempts.best("mish")
    assert best is not None
    assert best["points"] == 80.0


def test_no_path_and_no_source_is_in_it(learner: Path) -> None:
    write_export(own_export("ada"), learner / "ada.json")
    text = (learner / "ada.json").read_text()
    assert "secret" not in text
    assert "mine" not in text
    assert str(learner) not in text


def test_the_name_is_the_logins_unless_given(learner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "grace")
    assert own_export().name == "grace"
    assert own_export("  Ada \t L. ").name == "Ada L."
    assert default_file("Ada / L.") == Path("progress-Ada_L_.json")
    for name in ("x" * 81, "a\x00b"):
        with pytest.raises(ArgumentError, match="a name has 1 to 80 characters"):
            own_export(name)


def test_an_export_is_replaced_and_another_file_is_not(learner: Path) -> None:
    path = learner / "ada.json"
    write_export(own_export("ada"), path)
    write_export(replace(own_export("ada"), date="2030-01-01T00:00:00+00:00"), path)
    assert read_export(path).date.startswith("2030")
    path.write_text("a letter")
    with pytest.raises(ArgumentError, match="another file with this name exists"):
        write_export(own_export("ada"), path)
    assert path.read_text() == "a letter"


def changed(**other: object) -> str:
    good = {
        "format": "gn_tutorial progress", "version": 1, "name": "ada", "date": "2026-11-27T00:00:00+00:00",
        "course": "1", "progress": {"version": 3, "passed": {}, "hints": {}}, "attempts": [],
    }  # fmt: skip
    return json.dumps(good | other)


def submission(**other: object) -> str:
    said = {"points": 1.0, "accepted": True, "late": False, "at": 1.0} | other
    attempt = {
        "task": "mish", "folder": "", "layout": "9.x", "soc": "x", "minutes": None, "started": 0, "seen": 0,
        "finished": None, "checks": 0, "submissions": [said],
    }  # fmt: skip
    return changed(attempts=[attempt])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is damaged: no JSON"),
        ('{"format": "gn_tut', "it is damaged: no JSON"),
        ("[" * 100_000, "it is damaged: no JSON"),
        ("\udcff\udcfe", "it is damaged: no JSON"),
        ("[]", "it is no export"),
        ('{"nbformat": 4}', "it is no export"),
        ('{"version": 3, "passed": {}, "hints": {}}', "a learner's own file: gnt progress export"),
        (changed(version=2), "another version of the course made it (format 2)"),
        (changed(progress=[]), "it is damaged: AttributeError"),
        (changed(progress={"passed": {}, "hints": {"03.1": "many"}}), "it is damaged: ValueError"),
        (changed(attempts=[{"task": "mish"}]), "it is damaged: ValueError('Object missing required field `folder`"),
        (changed(attempts=None), "it is damaged: ValueError('Expected `array`, got `null`"),
        (changed(date="yesterday"), "it is damaged: ValueError"),
        (changed(name="a\nb"), "its name is empty, too long, or cannot be printed"),
        (submission(points=900), "it is damaged: ValueError"),
        (submission(points="all"), "it is damaged: ValueError"),
        (submission(points=float("nan")), "it is damaged: ValueError"),
        (submission(accepted="yes"), "it is damaged: ValueError"),
    ],
)
def test_another_file_is_named_for_what_it_is(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError) as caught:
        read_export(path)
    assert said in str(caught.value)


def test_good_ones_are_read(tmp_path: Path) -> None:
    for text in (changed(), submission()):
        (tmp_path / "x.json").write_text(text)
        assert read_export(tmp_path / "x.json").name == "ada"


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "target.json").write_text(changed())
    (tmp_path / "link.json").symlink_to(tmp_path / "target.json")
    (tmp_path / "large.json").write_text(" " * (5 << 20))
    for name, said in (("pipe", "no regular file"), ("link", "cannot be read"), ("large", "more than 4 MiB")):
        with pytest.raises(ValueError, match=said):
            read_export(tmp_path / f"{name}.json")
