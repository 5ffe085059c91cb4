"""The model against published measurements; the targets are those of docs/timing-model.md."""

from __future__ import annotations

import json

import pytest

from gn_tutorial.cli.commands import calibrate
from gn_tutorial.errors import ArgumentError
from gn_tutorial.profiler.calibration import measurements, rows_of
from gn_tutorial.timing.machine import load_machine

BANK = [f"bank/{number}" for number in range(1, 9)]
# add/0 and copy/1 are the longest: gnt dev calibrate runs them.
ADD = [f"add/{number}" for number in range(1, 7)]
COPY = [f"copy/{number}" for number in (2, 3, 4, 6)]


@pytest.mark.parametrize("case", BANK + ADD + COPY)
def test_the_targets(case: str) -> None:
    rows = [row for row in rows_of(case) if row.target is not None]
    assert [row.metric for row in rows][:1] == ["1000 Adds" if case in BANK else "Task Duration"]
    assert len(rows) == (2 if case in ADD else 1)
    for row in rows:
        assert abs(row.error) <= row.target, f"{row.metric}: {row.modelled:.2f} for {row.measured:.2f}"
        assert row.verdict == "ok"


def test_scenarios_of_one_address_are_shown_without_a_target() -> None:
    same, rotated = (next(iter(rows_of(f"copy/{number}"))) for number in (7, 8))
    assert same.target is rotated.target is None
    assert same.modelled > rotated.modelled


def test_instruction_fits_are_shown_as_what_they_are() -> None:
    rows = list(rows_of("instructions"))
    assert len(rows) > 40
    assert all(row.used and row.target is None for row in rows)
    assert all(abs(row.error) < 12 for row in rows)


def test_a_missed_target_is_called_missed() -> None:
    slow = load_machine("910B2").with_(vector_fixed=26)
    (row,) = rows_of("bank/1", slow)
    assert row.verdict == "missed"
    assert row.error == pytest.approx(100 * 10 / 86, abs=0.1)


def test_every_case_of_a_published_table_is_run_or_carried() -> None:
    published = {one.case for one in measurements()}
    assert set(BANK) | set(ADD) | set(COPY) <= published


@pytest.mark.parametrize("wrong", ["banks", "bank/9", "instructions/vadd"])
def test_an_unknown_case_is_refused(wrong: str) -> None:
    with pytest.raises(ArgumentError):
        list(rows_of(wrong))


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrate.run(["bank/1", "bank/2"], "", as_json=True)
    rows = json.loads(capsys.readouterr().out)
    assert [(row["case"], row["verdict"]) for row in rows] == [("bank/1", "ok"), ("bank/2", "ok")]
    assert not calibrate.run(["bank/1"], "910B4", as_json=False)
    text = capsys.readouterr().out
    assert "missed" in text
    assert "0 of 1 targets held" in text
