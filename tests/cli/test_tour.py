"""The tour with real kernels: right ones pass, and a wrong, a stopped and an uncompilable one are each told apart."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from command_line import Gnt
from PIL import Image
from typer.testing import CliRunner

from gn_tutorial.cli import app, photo_tour
from gn_tutorial.cli.photo_tour import TourReport, TourRow
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import registry
from gn_tutorial.operators.registry import all_kernels, kernels_root, load_registry
from gn_tutorial.operators.spec import OpSpec

# Small enough that a launch takes milliseconds, large enough that 40 blocks have work.
SIDE = 48


def toured(operators: dict[str, OpSpec]) -> list[tuple[str, str]]:
    """Every forward kernel in every dtype, and the last backward kernel of an operator in its first."""
    return [
        (k.id, dtype)
        for op, k in all_kernels(operators)
        if op.in_tour
        for dtype in (k.dtypes if op.direction == "forward" else k.dtypes[: k is op.kernels[-1]])
    ]


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """A copy of the course's kernels that a test may spoil."""
    return Path(shutil.copytree(kernels_root(), tmp_path / "kernels"))


def spoil(path: Path, right: str, wrong: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(right) == 1, f"{path.name} has changed: {right!r} stands there {text.count(right)} times"
    path.write_text(text.replace(right, wrong), encoding="utf-8")


def run_with(kernels: Path, out: Path, *operators: str) -> dict[str, TourRow]:
    """Rows by kernel. Each copy of the kernels is compiled anew, so only the operators in question take part."""
    chosen = {name: op for name, op in load_registry(kernels).items() if name in operators}
    report = photo_tour.run(None, out, longest_side=SIDE, registry=chosen)
    return {row.kernel: row for row in report.rows}


def test_every_registered_kernel_is_right_on_the_photograph(tmp_path: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    report = photo_tour.run(
        None, tmp_path / "new" / "folder", progress=lambda *step: steps.append(step), longest_side=SIDE
    )
    assert report.ok
    assert [(row.kernel, row.dtype) for row in report.rows] == toured(load_registry())
    assert {"copy", "add", "group_norm"} <= {row.kernel.partition("/")[0] for row in report.rows}
    assert report.feature_shape == (1, 16, SIDE - 4, report.photo_shape[1] - 4)
    for row in report.rows:
        assert row.status == "ok"
        assert row.message == ""
        assert row.blocks >= 1
        assert row.seconds is not None
        assert row.seconds > 0
        assert row.max_error is not None
        if row.kernel.startswith("group_norm_backward"):
            assert 0 <= row.max_error < 1e-2  # dbeta reaches thousands
        else:
            assert 0 <= row.max_error < {"float16": 1e-2, "bfloat16": 8e-2}.get(row.dtype, 1e-3)  # y reaches 7
    kernels = {row.kernel for row in report.rows}
    last = len(kernels) + len(report.rows) + 2
    assert [step[1] for step in steps] == list(range(last + 1))
    assert {step[2] for step in steps} == {last}
    words = [what for what, _, _ in steps]
    assert sorted(words[1 : 1 + len(kernels)]) == sorted(f"compiling {name}" for name in kernels)
    assert words[1 + len(kernels) : -2] == [f"{row.kernel} on {row.dtype}" for row in report.rows]


def test_the_picture_is_written_and_described(tmp_path: Path) -> None:
    report = photo_tour.run(None, tmp_path, longest_side=SIDE)
    assert report.picture == tmp_path / "tour.png"
    with Image.open(report.picture) as image:
        image.load()
        assert image.info["Description"] == report.alt
    last = [row.kernel for row in report.rows if row.kernel.startswith("group_norm/")][-1]
    assert last in report.alt
    assert [path.name for path in tmp_path.iterdir()] == ["tour.png"]


@pytest.mark.thorough
def test_the_user_s_own_photograph_is_used(tmp_path: Path) -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "mine.png")
    report = photo_tour.run(tmp_path / "mine.png", tmp_path / "out")
    assert report.ok
    assert (report.photo, report.photo_shape, report.feature_shape) == ("mine.png", (30, 40, 3), (1, 16, 26, 36))


@pytest.mark.thorough
def test_a_black_photograph_has_groups_of_variance_0_and_is_still_right(tmp_path: Path) -> None:
    Image.new("RGB", (20, 12)).save(tmp_path / "black.png")
    assert photo_tour.run(tmp_path / "black.png", tmp_path / "out").ok


def test_the_report_goes_into_json_and_into_a_table(tmp_path: Path) -> None:
    operators = {name: op for name, op in load_registry().items() if name != "group_norm"}
    report = photo_tour.run(None, tmp_path, longest_side=SIDE, registry=operators)
    data = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert data["ok"] is True
    assert data["feature_shape"] == list(report.feature_shape)
    assert [row["kernel"] for row in data["kernels"]] == [row.kernel for row in report.rows]
    assert data["kernels"][0].keys() >= {"kernel", "dtype", "max_error", "allowed", "seconds", "status", "message"}
    for row, cells in zip(report.rows, report.cells(), strict=True):
        assert cells[:2] == (row.kernel, row.dtype)
        assert float(cells[2]) == float(f"{row.max_error:.1e}")
        assert cells[-1] == "ok"


def test_a_wrong_kernel_is_found_and_the_others_still_count(kernels: Path, tmp_path: Path) -> None:
    spoil(kernels / "add" / "add.cpp", "AscendC::Add(z, x, y,", "AscendC::Sub(z, x, y,")
    rows = run_with(kernels, tmp_path / "out", "copy", "add")
    wrong = rows.pop("add/queue")
    assert wrong.status == "wrong"
    assert "z: " in wrong.message
    assert "elements out of tolerance" in wrong.message
    assert wrong.max_error is not None
    assert wrong.max_error > 0.1
    assert {row.status for row in rows.values()} == {"ok"}


def test_one_wrong_element_is_enough(kernels: Path, tmp_path: Path) -> None:
    spoil(kernels / "copy" / "copy.cpp", "? end_ - at : kTile", "? end_ - at - (end_ == yGm_.GetSize()) : kTile")
    row = run_with(kernels, tmp_path / "out", "copy")["copy/queue"]
    assert row.status == "wrong"
    assert row.message.startswith("y: 1 of ")


def test_a_kernel_that_the_twin_stops_is_a_row_with_the_place(kernels: Path, tmp_path: Path) -> None:
    spoil(kernels / "copy" / "copy.cpp", "    queue_.EnQue(tile);\n", "")
    rows = run_with(kernels, tmp_path / "out", "copy", "add")
    stopped = rows.pop("copy/queue")
    assert (stopped.status, stopped.max_error, stopped.seconds) == ("failed", None, None)
    assert "copy.cpp:" in stopped.message
    assert {row.status for row in rows.values()} == {"ok"}


def test_a_kernel_that_does_not_compile_is_a_row(kernels: Path, tmp_path: Path) -> None:
    spoil(kernels / "add" / "add.cpp", "AscendC::Add(z, x, y,", "AscendC::Adt(z, x, y,")
    rows = run_with(kernels, tmp_path / "out", "copy", "add")
    assert rows["add/queue"].status == "failed"
    assert "Adt" in rows["add/queue"].message
    assert rows["copy/queue"].ok


def test_a_kernel_registered_later_takes_part(kernels: Path, tmp_path: Path) -> None:
    toml = kernels / "copy" / "op.toml"
    text = toml.read_text(encoding="utf-8")
    start = text.index("[[kernels]]")
    end = text.index("[example]")
    second = text[start:end].replace('id = "queue"', 'id = "second"').replace("step = 1", "step = 2")
    toml.write_text(text[:end] + second + text[end:], encoding="utf-8")
    assert run_with(kernels, tmp_path / "out", "copy")["copy/second"].ok


def test_the_picture_is_left_out_when_no_group_norm_ran(tmp_path: Path) -> None:
    operators = {name: op for name, op in load_registry().items() if name == "copy"}
    report = photo_tour.run(None, tmp_path / "out", longest_side=SIDE, registry=operators)
    assert report.ok
    assert report.picture is None
    assert list((tmp_path / "out").iterdir()) == []


def test_a_tour_without_kernels_is_not_ok() -> None:
    assert not TourReport("photo.png", (9, 9, 3), (1, 16, 5, 5), 4, (), None).ok


def test_an_error_that_is_no_number_becomes_null_in_json() -> None:
    row = TourRow("copy/queue", "float32", "0", "wrong", max_error=float("nan"), seconds=0.1)
    data = TourReport("photo.png", (9, 9, 3), (1, 16, 5, 5), 4, (row,), None).as_dict()
    assert json.loads(json.dumps(data, allow_nan=False))["kernels"][0]["max_error"] is None


def test_a_photograph_that_cannot_be_used_stops_the_tour_before_any_kernel(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no image")
    Image.new("RGB", (4, 30)).save(tmp_path / "tiny.png")
    for name, words in {"notes.txt": "not an image", "tiny.png": "4 × 30 pixels", "missing.jpg": "no file"}.items():
        steps: list[str] = []
        with pytest.raises(ArgumentError, match=words):
            photo_tour.run(tmp_path / name, tmp_path / "out", progress=lambda what, *_, steps=steps: steps.append(what))
        assert len(steps) == 1


def test_a_folder_that_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ArgumentError, match="cannot be written") as caught:
            photo_tour.run(tmp_path / "missing.jpg", out)
        assert caught.value.where == "argument out"


@pytest.mark.thorough
def test_the_command_line_ends_with_1_when_a_kernel_is_wrong_and_2_for_a_bad_photograph(
    kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.fromarray(np.random.default_rng(4).integers(0, 256, (16, 16, 3), dtype=np.uint8)).save(tmp_path / "p.png")
    arguments = ["tour", str(tmp_path / "p.png"), "--out", str(tmp_path / "out"), "--json"]
    right = CliRunner().invoke(app.app, arguments)
    assert right.exit_code == 0, right.output
    assert json.loads(right.stdout)["ok"] is True

    spoil(kernels / "add" / "add.cpp", "AscendC::Add(z, x, y,", "AscendC::Sub(z, x, y,")
    for operator in kernels.iterdir():  # a copy is compiled anew: the others, right ones, would take a minute
        if operator.is_dir() and operator.name not in ("add", "copy"):
            shutil.rmtree(operator)
    monkeypatch.setattr(registry, "kernels_root", lambda: kernels)
    wrong = CliRunner().invoke(app.app, arguments)
    assert wrong.exit_code == 1
    assert json.loads(wrong.stdout)["ok"] is False

    (tmp_path / "p.png").write_bytes(b"not an image any more")
    monkeypatch.setattr("sys.argv", ["gnt", *arguments])
    with pytest.raises(SystemExit) as stopped:
        app.main()
    assert stopped.value.code == 2


def test_tour_writes_its_picture(gnt: Gnt, tmp_path: Path) -> None:
    ran = gnt("tour", "--out", tmp_path, "--json")
    assert ran.code == 0
    assert ran.json["ok"] is True
    assert (tmp_path / "tour.png").stat().st_size > 10_000


def test_the_report_at_80_columns_names_every_kernel_whole_and_ends_with_the_next_command(
    gnt: Gnt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = toured(load_registry())
    rows = tuple(TourRow(name, dtype, "4e-05 + 1e-05 |ref|", "ok", 1.5e-5, 0.0368) for name, dtype in pairs)
    report = TourReport("photo.png", (9, 9, 3), (1, 16, 252, 214), 4, rows, tmp_path / "tour.png")
    monkeypatch.setattr(photo_tour, "run", lambda *_, **__: report)
    monkeypatch.setenv("COLUMNS", "80")
    said = gnt("tour").out.splitlines()
    assert [line for line in said if len(line) > 80 and not line.startswith("picture: ")] == []
    assert [line.split()[0] for line in said if "/" in line and " ms " in line] == [name for name, _ in pairs]
    assert all("1.5e-5" in line and "4e-5 + 1e-5 |ref|" in line for line in said if " ms " in line)
    # This is a clone. An installed package has no ./gnt beside it.
    assert said[-1].startswith("next: ./gnt lab")
    monkeypatch.setattr("gn_tutorial.cli.commands.tour.PACKAGE", tmp_path / "gn_tutorial")
    assert gnt("tour").out.splitlines()[-1].startswith("next: gnt lab")
    assert gnt("tour", "--json").json["ok"] is True
