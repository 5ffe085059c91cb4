"""Published launches of production operators: the table shows the stored times, and a run gives the same times."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from public_code import needs, public_code

from gn_tutorial.errors import ArgumentError
from gn_tutorial.timing.machine import load_machine
from tools.published_launches.error_band import Launch, published_launches
from tools.published_launches.launches import modelled_us, rows_of

NN = public_code("nn")


def test_what_is_stored_is_shown_and_says_so() -> None:
    rows = list(rows_of())
    assert len(rows) == len(published_launches()) >= 30
    assert all("stored, not run" in row.note and "error band" in row.note for row in rows)
    assert [row.case for row in rows if row.used] == ["swi_glu/20"]
    (one,) = rows_of("rms_norm/8")
    assert (one.measured, one.unit) == (132.02, "us")
    assert {row.case.split("/")[0] for row in rows_of("swi_glu")} == {"swi_glu"}


def test_a_launch_outside_the_band_is_called_so() -> None:
    (one,) = rows_of("swi_glu/8")
    assert "outside the error band" in one.note


def test_what_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="no published launch 'gelu'"):
        list(rows_of("gelu"))
    with pytest.raises(ArgumentError, match="stored figures are of the 910B2"):
        list(rows_of(machine=load_machine("910B4")))
    with pytest.raises(ArgumentError, match="has no norm/rms_norm"):
        list(rows_of("rms_norm/10", sources=tmp_path))


#: One of each operator; the others show the same again.
QUICK = {("group_norm", "4"), ("rms_norm", "10"), ("dynamic_quant", "12"), ("swi_glu", "14")}


def launches() -> list[ParameterSet]:
    return [
        pytest.param(one, id=f"{one.op}/{one.case}", marks=() if (one.op, one.case) in QUICK else pytest.mark.thorough)
        for one in published_launches()
    ]


@needs(NN)
@pytest.mark.parametrize("launch", launches())
def test_a_launch_that_is_run_takes_what_is_stored(launch: Launch) -> None:
    assert modelled_us(launch, load_machine("910B2"), NN) == pytest.approx(launch.modelled_us, abs=0.006)
