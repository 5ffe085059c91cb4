"""``gnt bench`` on a narrow terminal, of a file and of a project; what it models is in tests/profiler/bench."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Gnt

from gn_tutorial.cli.bench_report import show
from gn_tutorial.operators.registry import kernels_root, load_registry
from gn_tutorial.profiler.bench.grid import Grid
from gn_tutorial.profiler.bench.run import Bench, BenchRow

PROJECT = Path(__file__).parents[1] / "programs" / "projects" / "scale_shift"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The registered Add as a learner's file."""
    path = tmp_path / "mine.cpp"
    path.write_text((kernels_root() / "add" / "add.cpp").read_text())
    return path


def test_at_80_columns_every_kernel_is_whole(gnt: Gnt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = gnt("bench", "--shape", "2,8,9,7", "--groups", 4)
    table = ran.out.partition("Every time is modelled")[0]
    names = {spec.id.partition("/")[2] for spec in load_registry()["group_norm"].kernels}
    assert names - set(table.split()) == set()
    assert max(map(len, table.splitlines())) <= 80


def test_a_file_over_sizes_is_its_profile_at_each(gnt: Gnt, mine: Path) -> None:
    words = ("--arg", "x=float32[n]", "--arg", "y=float32[n]", "--out", "z=float32[n]", "--arg", "n=n")
    found = gnt("bench", mine, *words, "--over", "n=900,20000", "--json").json
    assert [row["case"] for row in found["rows"]] == ["n=900", "n=20000"]
    for row in found["rows"]:
        fixed = [word.replace("[n]", f"[{row['shape'][0]}]").replace("n=n", f"n={row['shape'][0]}") for word in words]
        made = gnt("profile", mine, *fixed, "--json").json
        assert (row["modelled_us"], row["bound_us"]) == (made["modelled_us"], made["bound_us"])
        assert row["ratio"] == made["of_bound"] > 1


def test_a_project_over_sizes(gnt: Gnt, tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    ran = gnt("bench", PROJECT, "--in", "float16[r,n]", "--over", "r=1,3", "--over", "n=100,2048", "--out", path)
    assert ran.code == 0
    again = gnt("bench", "--read", path, "--json").json
    assert [row["case"] for row in again["rows"]] == ["r=1 n=100", "r=1 n=2048", "r=3 n=100", "r=3 n=2048"]
    assert all(row["status"] == "ok" and row["modelled_us"] > row["bound_us"] for row in again["rows"])


def test_a_file_stands_beside_the_kernel_that_it_is_like(gnt: Gnt, mine: Path) -> None:
    mine.write_text(mine.read_text().replace("kTile = 2048", "kTile = 64"))
    rows = gnt("bench", mine, "--like", "add", "--shape", "200000", "--json").json["rows"]
    assert [row["kernel"] for row in rows] == ["add/queue", "mine"]
    assert rows[1]["modelled_us"] > 1.2 * rows[0]["modelled_us"]
    assert rows[1]["bound_us"] == rows[0]["bound_us"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mine.cpp", "--over", "n"), "--over n=1000,20000"),
        (("mine.cpp", "--shape", "8"), "--shape does not apply"),
        (("mine.cpp", "--like", "add", "--over", "n=8"), "--over does not apply"),
        (("add", "--over", "n=8"), "--over does not apply"),
        (("add", "--out", "a.json", "--out", "b.json"), "only one file can be written"),
        (("missing.cpp", "--over", "n=8"), "there is no file"),
    ],
)
def test_what_cannot_be_benched(
    gnt: Gnt, mine: Path, monkeypatch: pytest.MonkeyPatch, words: tuple, message: str
) -> None:
    monkeypatch.chdir(mine.parent)
    ran = gnt("bench", *words)
    assert ran.code != 0
    assert message in ran.err


def test_a_fused_kernel_stands_beside_the_launches_that_it_replaces(gnt: Gnt) -> None:
    ran = gnt("bench", "add_relu", "--shape", "5000", "--json")
    (row,) = json.loads(ran.out)["rows"]
    assert row["parts_us"] > 1.5 * row["modelled_us"]
    assert "launches replaced us" in gnt("bench", "add_relu", "--shape", "5000").out


def test_a_fusion_that_is_no_faster_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    def row(parts: float) -> BenchRow:
        return BenchRow(
            "a/b", 1, f"({parts:g})", "own", (8,), {}, "float32", "ok", modelled_us=9.0, bound_us=3.0,
            binding="HBM", binding_us=2.0, parts_us=parts,
        )  # fmt: skip

    assert show(Bench("a", "some chip", (row(12.0), row(8.5))), Grid(()), out=None, as_json=False, as_csv=False)
    told = [line for line in capsys.readouterr().out.splitlines() if "does not pay" in line]
    assert told == ["does not pay: a/b on (8.5) takes 9.00 us, its parts 8.50"]
