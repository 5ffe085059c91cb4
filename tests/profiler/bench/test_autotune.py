"""Autotuning: the struct that is passed, the choice, refusals, and the picture's numbers."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

import gn_tutorial as gnt
from gn_tutorial.cli import app
from gn_tutorial.cli.commands.tune import parse_values
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import call_plan, random_inputs
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.plot.tuning import tuning_curve, tuning_curves
from gn_tutorial.profiler.bench.autotune import REFUSED, Tuning, retile, tune
from gn_tutorial.profiler.bench.grid import BenchCase, Grid, Tune, load_grid
from gn_tutorial.profiler.bench.run import OK
from gn_tutorial.timing.machine import load_machine

B2 = load_machine("910B2")
OP, SPEC = find_kernel("group_norm/vectorised")
CASE = BenchCase((2, 8, 30, 31), {"num_groups": 2})


@pytest.fixture(scope="module")
def tuning() -> Tuning:
    return tune(OP, SPEC, CASE, B2, values=[512, 1024, 2048, 8192, 65536])


def test_each_candidate_is_the_profile_of_its_own_struct(tuning: Tuning) -> None:
    assert [one.value for one in tuning.candidates] == [512, 1024, 2048, 3776, 8192, 65536]
    arrays = random_inputs.inputs(OP, CASE.shape)
    host = gnt.kernel(SPEC.id).tiling(*arrays.values(), num_groups=2, blocks=48)
    # 30 * 31 = 930 elements a channel, 936 on blocks of 32 bytes: four channels in 3744, the host's tile is 3776.
    assert (host["tileElements"], host["channelsPerTile"]) == (3776, 4)
    for one in tuning.candidates[:4]:
        assert one.status == OK
        assert one.tile["channelsPerTile"] == one.value // 936
        same = gnt.profile(SPEC.id, *arrays.values(), num_groups=2, blocks=48, machine=B2, tiling=one.tile)
        assert one.modelled_us == same.microseconds
    assert tuning.default.value == 3776
    assert tuning.best.modelled_us == min(one.modelled_us for one in tuning.ran)


def test_what_does_not_fit_is_shown_with_its_reason(tuning: Tuning) -> None:
    refused = {one.value: one for one in tuning.candidates if one.status == REFUSED}
    assert set(refused) == {8192, 65536}
    assert refused[8192].note == "ub-overflow"  # the twin's: six buffers of 32 KiB, and more
    assert "262,144 bytes" in refused[65536].note  # not launched at all


def test_the_same_twice(tuning: Tuning) -> None:
    again = tune(OP, SPEC, CASE, B2, values=[512, 1024, 2048, 8192, 65536])
    assert [one.modelled_us for one in again.candidates] == [one.modelled_us for one in tuning.candidates]


def test_a_series_is_searched_around_its_best() -> None:
    found = tune(OP, SPEC, BenchCase((1, 2, 500), {"num_groups": 2}), B2)
    values = [one.value for one in found.candidates]
    assert {256, 384, 512, 768, 1024} < set(values)
    assert all(value % 64 == 0 for value in values)
    assert max(values) * 4 <= B2.ub_bytes
    # 500 elements: every tile from 512 on is the same launch but for the room it takes; the smallest is chosen.
    assert found.best.value == 512


def test_retile_changes_what_follows_and_nothing_else() -> None:
    knob = load_grid(OP).knob(SPEC.step)
    host = gnt.kernel(SPEC.id).tiling(np.zeros((2, 8, 30, 31), np.float32), num_groups=2)
    made = retile(host, knob, 1024)
    assert {name for name in host if host[name] != made[name]} == {"tileElements", "channelsPerTile"}
    assert made["channelsPerTile"] == 1


@pytest.mark.parametrize(
    ("field", "values", "message"),
    [
        ("", [100], "tileElements cannot be 100"),
        ("", [0], "cannot be 0"),
        ("nothing", [64], "no integer field 'nothing'"),
        ("eps", [64], "no integer field 'eps'"),
    ],
)
def test_what_cannot_be_tuned_is_refused(field: str, values: list[int], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        tune(OP, SPEC, CASE, B2, field=field, values=values)


def test_an_operator_without_a_struct_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no tiling struct"):
        tune(*find_kernel("copy/queue"), BenchCase((4096,)), B2)


def test_a_value_that_the_field_cannot_hold_is_refused() -> None:
    host = gnt.kernel(SPEC.id).tiling(np.zeros((2, 8, 4), np.float32), num_groups=2)
    for given, message in (
        ({"tileElements": -64}, "does not fit"),
        ({"tileElements": 2**40}, "does not fit"),
        ({"tileElements": 64.0}, "cannot be 64.0"),
        ({"no": 1}, "no field 'no'"),
    ):
        with pytest.raises(ArgumentError, match=message):
            host.with_(**given)
    assert host.with_(eps=0.5, tileElements=128).fields == {**host.fields, "eps": 0.5, "tileElements": 128}
    assert host["tileElements"] == 64


def test_a_struct_of_another_operator_is_refused() -> None:
    host = gnt.kernel(SPEC.id).tiling(np.zeros((2, 8, 4), np.float32), num_groups=2)
    with pytest.raises(ArgumentError, match="copy takes none"):
        gnt.kernel("copy/queue")(np.zeros(8, np.float32), tiling=host)


def test_a_workspace_and_the_blocks_follow_another_struct() -> None:
    named = (structs.replace(one, bytes="channels") if one.role == "workspace" else one for one in OP.arguments)
    op = structs.replace(OP, arguments=tuple(named))
    made = call_plan.plan(op, SPEC, [np.zeros((2, 8, 4), np.float32)], {"num_groups": 2})
    other = call_plan.retiled(op, made, made.tiling.with_(channels=256, usedCores=3))
    assert [plan.values["workspace"].size for plan in (made, other)] == [8, 256]
    assert (made.blocks, other.blocks) == (4, 3)
    assert other.values["tiling"] is other.tiling


def test_the_picture_has_the_numbers(tuning: Tuning) -> None:
    picture = tuning_curve(tuning)
    (axis,) = picture.figure.axes
    lines = {line.get_label(): line for line in axis.lines}
    assert list(lines["modelled time"].get_xdata()) == [512, 1024, 2048, 3776]
    assert list(lines["modelled time"].get_ydata()) == [one.modelled_us for one in tuning.ran]
    best, ours = tuning.best, tuning.default
    star = lines[f"fastest: {best.value}, {best.modelled_us:.2f} us"]
    diamond = lines[f"host function: 3776, {ours.modelled_us:.2f} us"]
    assert (list(star.get_xdata()), list(star.get_ydata())) == ([best.value], [best.modelled_us])
    assert (list(diamond.get_xdata()), list(diamond.get_ydata())) == ([3776], [ours.modelled_us])
    assert list(lines["refused by the twin"].get_xdata()) == [8192, 65536]
    assert set(lines["bound of this shape"].get_ydata()) == {tuning.bound_us}
    # Marks that differ in shape, not in colour alone.
    assert len({line.get_marker() for line in lines.values() if line.get_marker() != "None"}) == 4
    assert picture.alt.startswith("Modelled")
    for one in tuning.ran:
        assert f"{one.value} {one.modelled_us:.2f} us" in picture.alt
    assert "Refused by the twin: 8192, 65536" in picture.alt
    assert "modelled" in axis.get_ylabel()


def test_the_picture_of_several_shapes_has_the_numbers_of_each(tuning: Tuning) -> None:
    other = tune(OP, SPEC, BenchCase((1, 2, 500), {"num_groups": 2}), B2, values=[256, 512, 8192])
    picture = tuning_curves([tuning, other])
    (axis,) = picture.figure.axes
    for one, curve in zip((tuning, other), (axis.lines[0], axis.lines[3]), strict=True):
        assert list(curve.get_xdata()) == [candidate.value for candidate in one.ran]
        assert list(curve.get_ydata()) == [candidate.modelled_us for candidate in one.ran]
        assert f"host {one.default.value}, {one.default.modelled_us / one.best.modelled_us:.2f} ×" in curve.get_label()
        assert f"Fastest: {one.best.value} with {one.best.modelled_us:.2f} us" in picture.alt
    assert axis.lines[0].get_marker() != axis.lines[3].get_marker()
    marks = {line.get_marker(): list(line.get_xdata()) for line in axis.lines[1:3]}
    assert marks == {"D": [tuning.default.value], "*": [tuning.best.value]}
    # What no shape can have is grey, from the smallest refused value on.
    assert axis.patches[0].get_x() == 8192


def test_unlike_curves_do_not_share_a_picture(tuning: Tuning) -> None:
    for wrong, message in (
        ([], "0 shapes"),
        ([tuning] * 5, "5 shapes"),
        ([tuning, replace(tuning, kernel="other")], "one kernel"),
        ([replace(tuning, candidates=tuning.candidates[3:])], "two points"),
    ):
        with pytest.raises(ArgumentError, match=message):
            tuning_curves(wrong)


def test_one_point_is_no_curve(tuning: Tuning) -> None:
    alone = Tuning("k", "c", "m", "f", tuning.candidates[:1], 1.0)
    with pytest.raises(ArgumentError, match="two points"):
        tuning_curve(alone)


def test_the_command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: object) -> None:
    words = f"gnt tune {SPEC.id} --shape 2,8,30,31 --groups 2 --values 512,8192 --plot {tmp_path}/t.png"

    def run(more: str = "") -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", [*words.split(), *more.split()])
        with pytest.raises(SystemExit) as caught:
            app.main()
        return caught.value.code or 0, capfd.readouterr().out

    code, text = run()
    assert code == 0
    assert "refused: ub-overflow" in text
    assert "the host function chooses 3776" in text
    code, text = run("--json")
    data = json.loads(text)
    assert (data["field"], data["host"], data["best"]) == ("tileElements", 3776, data["best"])
    assert data["candidates"][0]["tiling"]["tileElements"] == 512


def test_a_field_that_the_kernel_does_not_read_is_said(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    words = "gnt tune group_norm/scalar --shape 2,8,4 --groups 2 --field channelsPerTile --values 1,2,3"
    monkeypatch.setattr(sys, "argv", words.split())
    with pytest.raises(SystemExit):
        app.main()
    assert "channelsPerTile makes no difference to group_norm/scalar" in capfd.readouterr().out


def test_words_that_are_no_values() -> None:
    assert parse_values("512, 1024") == [512, 1024]
    with pytest.raises(ArgumentError, match="512,x"):
        parse_values("512,x")


def test_a_later_knob_takes_over_from_its_step_on() -> None:
    grid = Grid((CASE,), tune=(Tune("late", from_step=5), Tune("early", from_step=2)))
    assert [knob.field if (knob := grid.knob(step)) else "" for step in (1, 2, 4, 5, 8)] == [
        "", "early", "early", "late", "late",
    ]  # fmt: skip


def test_a_field_without_an_entry_is_tuned_in_steps_of_one() -> None:
    host = gnt.kernel(SPEC.id).tiling(np.zeros((2, 8, 4), np.float32), num_groups=2)
    assert retile(host, Tune("channelsPerTile", 1), 1)["channelsPerTile"] == 1


@pytest.mark.parametrize(
    ("kernel", "shape", "groups", "field", "values"),
    [
        ("group_norm/resident", (3, 8, 30, 31), 2, "slotElements", [256, 960, 1984, 4096]),
        ("group_norm/resident", (2, 6, 7, 9), 2, "slotElements", [64, 256]),
        ("group_norm/small", (5, 12, 3, 5), 6, "tileGroups", [1, 4, 6, 7, 12, 18, 30]),
        ("group_norm/small", (40, 12), 4, "tileGroups", [1, 3, 4, 8, 100]),
        ("group_norm/split", (1, 8, 90, 131), 2, "chunkPieces", [1, 2, 3, 5, 40]),
    ],
)
def test_steps_5_to_7_are_right_with_other_values_of_their_fields(
    kernel: str, shape: tuple[int, ...], groups: int, field: str, values: list[int]
) -> None:
    op, spec = find_kernel(kernel)
    found = tune(op, spec, BenchCase(shape, {"num_groups": groups}), B2, values=values)
    assert found.field == field
    assert [one.status for one in found.candidates] == [OK] * len(found.candidates)
    assert {*values, found.default.value} == {one.value for one in found.candidates}
    assert found.matters


def test_what_follows_may_name_the_cores_of_the_machine() -> None:
    op, spec = find_kernel("group_norm/small")
    arrays = random_inputs.inputs(op, (5, 12, 3, 5))
    host = gnt.kernel(spec.id).tiling(*arrays.values(), num_groups=6, blocks=48)
    knob = load_grid(op).knob(spec.step)
    made = retile(host, knob, 1, {"cores": 20})
    assert (made["unitGroups"], made["usedCores"], made["groupsPerCore"], made["extraGroups"]) == (6, 20, 1, 10)
    whole = retile(host, knob, 12, {"cores": 20})  # two samples a tile: tiles count through all 30 groups
    assert (whole["unitGroups"], whole["usedCores"], whole["groupsPerCore"]) == (30, 3, 1)


def test_a_series_ends_at_the_field_s_own_limit() -> None:
    op, spec = find_kernel("group_norm/split")
    found = tune(op, spec, BenchCase((1, 4, 70, 131), {"num_groups": 2}), B2)
    pieces = found.default.tile["groupPieces"]
    assert found.candidates[0].value == 1
    assert max(one.value for one in found.candidates) <= max(pieces, found.default.value)
