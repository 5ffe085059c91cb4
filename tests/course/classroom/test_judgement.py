"""The file of judgements: it survives a killed run, the next call uses it, and another file is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gn_tutorial.course.classroom.judgement import Finding, Judgement, JudgementFile
from gn_tutorial.errors import ArgumentError

ONE = Judgement("ab", "wrong", 0.0, 1.0, (Finding("it is off", "x.py:3"),), 0.5, 300.0, "1")


def test_a_line_that_was_cut_off_is_written_anew(tmp_path: Path) -> None:
    file = JudgementFile(tmp_path / "judgements.jsonl")
    with file.open() as writer:
        writer.write([ONE, replace(ONE, digest="cd")])
    whole = file.path.read_bytes()
    file.path.write_bytes(whole[:-9])
    assert file.read("1", 300.0) == {"ab": ONE}
    with file.open() as writer:
        writer.write([replace(ONE, digest="cd")])
    assert file.path.read_bytes() == whole


def test_the_last_judgement_on_a_text_counts(tmp_path: Path) -> None:
    file = JudgementFile(tmp_path / "judgements.jsonl")
    with file.open() as writer:
        writer.write([replace(ONE, status="undecided"), ONE])
    assert file.read("1", 300.0) == {"ab": ONE}


@pytest.mark.parametrize(
    ("status", "version", "limit", "stands"),
    [
        ("right", "1", 300.0, True),
        ("wrong", "1", 900.0, True),
        ("right", "2", 300.0, False),
        ("undecided", "1", 300.0, False),
        ("stopped", "1", 300.0, True),
        ("stopped", "1", 301.0, False),
    ],
)
def test_what_is_judged_again(status: str, version: str, limit: float, stands: bool) -> None:
    assert replace(ONE, status=status).stands(version, limit) == stands


@pytest.mark.parametrize("line", ['{"digest": "ab"}', "[]", "no JSON", '{"status": "odd"}'])
def test_another_file_is_not_overwritten(tmp_path: Path, line: str) -> None:
    file = JudgementFile(tmp_path / "judgements.jsonl")
    file.path.write_text(f"{line}\n")
    with pytest.raises(ArgumentError, match="line 1 is no judgement"):
        file.read("1", 300.0)


def test_none_yet(tmp_path: Path) -> None:
    assert JudgementFile(tmp_path / "judgements.jsonl").read("1", 300.0) == {}
