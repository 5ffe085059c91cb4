"""Machine descriptions: complete, sourced, and changed without building anything."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gn_tutorial.cli.api_table import load_apis
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.profiler.calibration import measurements
from gn_tutorial.timing.machine import DEFAULT_MACHINE, FOLDER, default_cores, load_machine, machines

VARIANTS = {"910B1": (48, 1.85, 192), "910B2": (48, 1.80, 192), "910B3": (40, 1.80, 192), "910B4": (40, 1.50, 96)}


def test_the_variants() -> None:
    found = {name: load_machine(name) for name in machines()}
    assert {name: (one.cores, one.clock_ghz, one.l2_bytes >> 20) for name, one in found.items()} == VARIANTS


def test_all_cores_of_the_default_chip() -> None:
    assert load_machine().name == f"Ascend {DEFAULT_MACHINE}"
    assert default_cores() == VARIANTS[DEFAULT_MACHINE][0]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_constant_says_unit_source_and_confidence(name: str) -> None:
    machine = load_machine(name)
    for constant in (*machine.constants.values(), *machine.instructions.values()):
        assert constant.source
        assert constant.confidence in ("high", "medium", "low")
    assert all(one.unit for one in machine.constants.values())
    assert repr(machine).count("\n") == len(machine.constants) + 1


def test_every_api_of_an_instruction_is_one_of_the_twins_and_has_one_cost() -> None:
    known = {api.name for api in load_apis()}
    named = [api for one in load_machine().instructions.values() for api in one.apis]
    assert len(named) == len(set(named))
    assert set(named) <= known


def test_reads_and_evicted_writes_add_up_to_the_measured_mix() -> None:
    """hbm_write_gbs is defined by 268 MB read and 134 MB evicted at 1.56 TB/s together."""
    machine = load_machine()
    mixed = (268.4 + 134.2) / (268.4 / machine.hbm_read_gbs + 134.2 / machine.hbm_write_gbs)
    assert mixed == pytest.approx(1560, rel=0.005)


def test_a_machine_of_ones_own(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    changed = '[constants.clock_ghz]\nvalue = 2.0\nunit = "GHz"\nsource = "a guess"\nconfidence = "low"\n'
    mine.write_text(f'extends = "a2"\nname = "mine"\n{changed}')
    assert load_machine(mine).clock_ghz == load_machine(str(mine)).clock_ghz == 2.0
    assert load_machine(mine).cores == 48


def test_what_if() -> None:
    machine = load_machine("910B4").with_(hbm_read_gbs=800)
    assert machine.hbm_read_gbs == 800
    assert machine.constants["hbm_read_gbs"].source == "given by the caller"
    with pytest.raises(ArgumentError, match="'hbm' is no constant"):
        machine.with_(hbm=1)
    with pytest.raises(ArgumentError, match="cannot be 0"):
        machine.with_(cores=0)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("name = 3\n[", "cannot read"),
        (
            'extends = "a2"\nname = "x"\n[constants.speed]\nvalue = 1\nunit = "a"\nsource = "b"\nconfidence = "low"',
            "speed",
        ),
        ('extends = "a2"\n', "name"),
        (
            'extends = "a2"\nname = "x"\n[constants.cores]\nvalue = 1\nunit = "a"\nsource = "b"\nconfidence = "sure"',
            "sure",
        ),
        ('extends = "a2"\nname = "x"\nconstants = 3', "has a mistake"),
        (
            'extends = "a2"\nname = "x"\n[instructions.other]\nstartup = "fast"\nslope = 1\napis = []\n'
            'source = "b"\nconfidence = "low"',
            "other: startup cannot be 'fast'",
        ),
    ],
)
def test_a_file_that_is_no_machine_is_refused_with_its_place(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(RegistryError) as caught:
        load_machine(path)
    assert what in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_chip_is_one_file_of_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(FOLDER / "a2.toml", tmp_path)
    small = '[constants.ub_bytes]\nvalue = 131072\nunit = "bytes"\nsource = "a guess"\nconfidence = "low"\n'
    (tmp_path / "lab-chip.toml").write_text(f'extends = "a2"\nname = "Lab chip"\n{small}')
    monkeypatch.setattr("gn_tutorial.timing.machine.FOLDER", tmp_path)
    assert machines() == ("lab-chip",)
    assert (load_machine("lab-chip").name, load_machine("lab-chip").ub_bytes) == ("Lab chip", 131072)
    for name in ("a2", "910B3"):  # a family is no chip, and nothing but the folder says which chips there are
        with pytest.raises(ArgumentError, match=rf"no machine '{name}'[\s\S]*one of lab-chip, or a .toml file"):
            load_machine(name)


def test_the_cost_of_an_instruction_is_in_one_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    cost = 'apis = ["MulAddDst"]\nstartup = 9\nslope = 3\nsource = "a guess"\nconfidence = "low"\n'
    mine.write_text(f'extends = "910B2"\nname = "mine"\n[instructions.fused]\n{cost}')
    assert (load_machine(mine).instruction("MulAddDst").startup, load_machine(mine).name) == (9, "mine")
    assert load_machine(mine).instruction("Add") == load_machine("910B2").instruction("Add")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ArgumentError, match="910B1, 910B2, 910B3, 910B4"):
        load_machine("910C")


def test_error_bands_cover_every_length() -> None:
    machine = load_machine()
    for microseconds in (0.5, 29.9, 30, 1e9):
        assert machine.error_band(microseconds).low < 0 < machine.error_band(microseconds).high
    assert machine.error_band(29.9) is not machine.error_band(30)


def test_every_measurement_has_a_source() -> None:
    assert len(measurements()) > 100
    assert all(one.source and one.metric and one.value for one in measurements())
    assert (FOLDER / "measurements.csv").read_text(encoding="utf-8").isascii()
