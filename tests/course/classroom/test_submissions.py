"""The folder of a class: what is a submission, what is left aside and why, which folder is no class."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gn_tutorial.course.classroom import submissions
from gn_tutorial.course.classroom.submissions import LARGEST_FILE, read_camp
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.errors import ArgumentError
from tests.course.classroom.conftest import HandIn


def aside(folder: Path) -> dict[str, str]:
    return {one.path: one.why for one in read_camp(folder).aside}


def test_exercises_and_tasks_are_found_wherever_they_lie(camp: Path, hand_in: HandIn, hand_in_task: HandIn) -> None:
    hand_in("ada", "03.2")
    hand_in("bob", "03.2", "another", inside=".")
    hand_in("bob", "01.1", load_course().find("01.1").stub.read_text(), inside="deep/er")
    hand_in_task("ada", "mish", "8.x")
    hand_in_task("eve", "log_cosh", "9.x", inside="x/y")
    (camp / "eve" / "notes.txt").write_text("mine")
    read = read_camp(camp)
    assert read.learners == ["ada", "bob", "eve"]
    found = {(one.learner, one.text.item, one.text.layout) for one in read.submissions}
    assert found == {("ada", "03.2", ""), ("ada", "mish", "8.x"), ("bob", "03.2", ""), ("eve", "log_cosh", "9.x")}
    assert [(one.learner, one.text.item) for one in read.untouched] == [("bob", "01.1")]
    assert read.aside == []


def test_the_same_text_is_one_and_a_byte_makes_another(camp: Path, hand_in: HandIn) -> None:
    hand_in("ada", "01.1")
    hand_in("bob", "01.1")
    path = hand_in("eve", "01.1")
    path.write_bytes(path.read_bytes() + b"# \xff\n")  # no UTF-8: read as it is all the same
    assert len(read_camp(camp).submissions) == 3
    assert len(read_camp(camp).texts()) == 2


def test_the_chip_is_that_of_the_definition(camp: Path, hand_in_task: HandIn) -> None:
    host = hand_in_task("ada", "mish") / "op_host" / "mish.cpp"
    assert read_camp(camp).submissions[0].text.soc == "ascend910b"
    host.write_text(host.read_text().replace('AddConfig("ascend910b"', 'AddConfig("ascend310b"'))
    assert read_camp(camp).submissions[0].text.soc == "ascend310b"
    host.write_text(host.read_text().replace('AddConfig("ascend310b"', 'AddConfig("abacus"'))
    assert read_camp(camp).submissions[0].text.soc == "ascend910b"


def test_links_are_never_followed(camp: Path, hand_in: HandIn, hand_in_task: HandIn, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    hand_in("good", "01.1").rename(secret / "01_1_group_norm.py")
    hand_in("good", "01.1")
    (camp / "eve").mkdir()
    (camp / "eve" / "01_1_group_norm.py").symlink_to(secret / "01_1_group_norm.py")
    (camp / "eve" / "more").symlink_to(secret)
    (camp / "linked").symlink_to(secret)
    (hand_in_task("mal", "mish") / "op_kernel" / "more.h").symlink_to("/etc/passwd")
    assert {one.learner for one in read_camp(camp).submissions} == {"good"}
    assert aside(camp) == {
        "eve/01_1_group_norm.py": "it is a link",
        "eve/more": "it is a link",
        "linked": "it is a link",
        "mal/my_exam/mish/op_kernel/more.h": "it is a link; the task is not judged",
    }


def test_what_cannot_be_judged_is_named(camp: Path, hand_in: HandIn, hand_in_task: HandIn) -> None:
    hand_in("good", "01.1")
    hand_in("large", "01.1", "#" * (LARGEST_FILE + 1))
    os.mkfifo(camp / "good" / "03_2_row_mean.cpp")  # to open it for reading would block for ever
    (camp / "good" / "77_1_of_the_future.cpp").write_text("int x;")
    (camp / "good" / "work.zip").write_bytes(b"PK")
    (camp / "empty").mkdir()
    (hand_in_task("other", "mish") / "op_host" / "mish.cpp").rename(camp / "other/my_exam/mish/op_host/else.cpp")
    (camp / "half" / "mish" / "op_host").mkdir(parents=True)
    (camp / "01_2_limits.py").write_text("")
    found = aside(camp)
    assert found.pop("other/my_exam/mish").startswith("its op_host has no operator of a task of the exam (log_cosh.cpp")
    assert found == {
        "large/my_exercises/01_numpy_group_norm/01_1_group_norm.py": "it has more than 1 MiB",
        "good/03_2_row_mean.cpp": "it is no regular file",
        "good/77_1_of_the_future.cpp": "this version of the course has no exercise of that name",
        "good/work.zip": "it is packed: unpack it",
        "empty": "no exercise and no task in it",
        "half/mish/op_host": "the folder of a task has op_host and op_kernel; here one of them is missing",
        "01_2_limits.py": "it lies in no learner's folder",
    }


def test_a_folder_without_end_is_left(camp: Path, hand_in: HandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in("ada", "01.1")
    (camp / "eve").joinpath(*"abcdefghij").mkdir(parents=True)
    (camp / "mal").mkdir()
    for number in range(30):
        (camp / "mal" / f"{number:02}.txt").touch()
    monkeypatch.setattr(submissions, "MOST_ENTRIES", 20)
    found = aside(camp)
    assert "deeper than 8 folders" in found["eve/a/b/c/d/e/f/g/h/i"]
    assert found["mal"] == "it has more than 20 files; the others were not looked at"


@pytest.mark.parametrize(
    ("folders", "said"),
    [
        ([], "has no folder of a learner"),
        (["ada", "bob"], "has 2 folders and nothing to judge in them"),
        (["03_scalar_kernel"], "is the folder of one learner, not of a class: it has 03_scalar_kernel"),
        (["my_exam", "notes"], "is the folder of one learner, not of a class: it has my_exam"),
        (["op_host", "op_kernel"], "is the folder of one learner, not of a class: it has op_host, op_kernel"),
        (["mish", "log_cosh_2"], "is the folder of one learner, not of a class: it has log_cosh_2, mish"),
    ],
)
def test_another_layout_is_refused_with_the_right_one(camp: Path, folders: list[str], said: str) -> None:
    for name in folders:
        (camp / name).mkdir()
    with pytest.raises(ArgumentError, match=said) as caught:
        read_camp(camp)
    assert "CLASS/ada/my_exercises" in caught.value.hint


def test_no_folder(camp: Path) -> None:
    with pytest.raises(ArgumentError, match="there is no folder"):
        read_camp(camp / "gone")
