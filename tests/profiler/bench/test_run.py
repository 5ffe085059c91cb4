"""Running a grid: rows are the profile's and the bound's, the same digits twice; files; the command."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from bench_support import bench as hand_made
from bench_support import row
from timing_support import load, trace_of

import gn_tutorial as gnt
from gn_tutorial.abi.trace import FIRST_ADDRESS, Pipe, TracedArgument
from gn_tutorial.cli import app
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.registry import kernels_root, load_registry
from gn_tutorial.plot.ladder import ladder_of
from gn_tutorial.profiler.bench import files
from gn_tutorial.profiler.bench.grid import BenchCase, Grid
from gn_tutorial.profiler.bench.run import OK, SKIPPED, UNSUPPORTED, WRONG, plan_jobs, run_grid, works_by_element
from gn_tutorial.profiler.operator_bound import shares_groups
from gn_tutorial.timing.lower_bound import Work, lower_bound
from gn_tutorial.timing.machine import load_machine

B2 = load_machine("910B2")
OP = load_registry()["group_norm"]
SMALL = Grid(
    (
        BenchCase((2, 8, 9, 7), {"num_groups": 4}),
        BenchCase((3, 4, 5), {"num_groups": 2}, "float64", measured_us=5.0, source="s"),
    )
)
FLOATS = [spec for spec in OP.kernels if "float32" in spec.dtypes]


def test_rows_are_the_profile_and_the_bound() -> None:
    found = run_grid(OP, SMALL, B2, kernels=FLOATS[:2])
    first = found.rows[0]
    arrays = random_inputs.inputs(OP, (2, 8, 9, 7))
    made = gnt.profile(first.kernel, *arrays.values(), num_groups=4, blocks=48, machine=B2)
    assert (first.status, first.case, first.blocks) == (OK, "(2,8,9,7) G4 float32", made.blocks)
    assert first.modelled_us == made.microseconds
    assert (first.binding, first.binding_us) == (made.binding.name, made.binding.microseconds)
    # 1008 floats in and out, 8 floats of gamma and of beta, 8 of mean and of rstd; 8 groups of 126 floats.
    work = Work(4 * 1024, 4 * 1024, 8, 4 * 126)
    assert first.bound_us == lower_bound(work, B2, split=False).microseconds
    assert first.ratio == made.microseconds / first.bound_us > 1
    assert made.binding.name == "scalar unit"
    stall = next(one for one in made.stalls if one.pipe is Pipe.S)
    assert first.waits.startswith(f"S waits for {stall.cause} (line {stall.line}), ")


def test_a_dtype_that_no_kernel_takes_is_said_and_float32_is_run_instead() -> None:
    found = [one for one in run_grid(OP, SMALL, B2, kernels=FLOATS[:2]).rows if one.shape == (3, 4, 5)]
    assert [one.status for one in found] == [UNSUPPORTED, UNSUPPORTED, OK, OK]
    assert [one.dtype for one in found] == ["float64", "float64", "float32", "float32"]
    assert [one.instead_of for one in found] == ["", "", "float64", "float64"]
    # What was measured in another dtype does not stand beside a float32 time.
    assert [one.measured_us for one in found] == [5.0, 5.0, None, None]


def test_the_same_digits_twice() -> None:
    first, second = (run_grid(OP, SMALL, B2) for _ in range(2))
    assert files.as_json(first) == files.as_json(second)
    assert files.as_csv(first) == files.as_csv(second)


def test_kernels_come_from_the_registry_and_slow_ones_are_left_out() -> None:
    grid = replace(SMALL, cases=SMALL.cases[:1], scalar_elements=500)
    slow = {spec.id for spec in OP.kernels if works_by_element(OP, spec)}
    assert "group_norm/scalar" in slow
    assert "group_norm/vectorised" not in slow
    jobs = {job.spec.id: job for job in plan_jobs(OP, grid, OP.kernels) if job.case.dtype == "float32"}
    assert set(jobs) == {spec.id for spec in FLOATS}
    for spec in FLOATS:
        assert jobs[spec.id].status == (SKIPPED if spec.id in slow else OK)
    assert all(job.status != SKIPPED for job in plan_jobs(OP, grid, OP.kernels, everything=True))


def test_a_wrong_kernel_and_one_that_fails_are_rows(tmp_path: Path) -> None:
    shutil.copytree(kernels_root() / "copy", tmp_path / "copy")
    source = tmp_path / "copy" / "copy.cpp"
    text = source.read_text()
    kernels = load_registry(tmp_path)["copy"]
    grid = Grid((BenchCase((40_000,)),))
    assert run_grid(kernels, grid, B2).rows[0].status == OK
    source.write_text(text.replace("end_ = begin_ + share < n ? begin_ + share : n;", "end_ = begin_ + share / 2;"))
    (wrong,) = run_grid(kernels, grid, B2).rows
    assert (wrong.status, wrong.note) == (WRONG, "its numbers are out of tolerance")
    source.write_text(text.replace("pipe_->InitBuffer(queue_, 1, ", "pipe_->InitBuffer(queue_, 100, "))
    (failed,) = run_grid(kernels, replace(grid, scalar_elements=1000), B2).rows
    assert (failed.status, failed.modelled_us, failed.ratio) == ("failed", None, None)
    assert failed.note == "ub-overflow"


def test_a_trace_without_room_makes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["gn_tutorial.profiler.profile"], "_ROOM", 640)
    (found,) = run_grid(load_registry()["add"], Grid((BenchCase((500_000,)),)), B2).rows
    assert (found.status, found.recorded) == (WRONG, 1)
    assert "the time is too short" in found.note


@pytest.mark.parametrize("name", ["copy", "add"])
def test_other_operators_are_benched_too(name: str) -> None:
    op = load_registry()[name]
    (found,) = run_grid(op, Grid((BenchCase((100_000,)),)), B2).rows
    size = 400_000
    expected = lower_bound(Work(size * len(op.inputs), size), B2, split=True)
    assert (found.status, found.bound_us, found.blocks) == (OK, expected.microseconds, 48)
    assert found.ratio >= 1


def test_a_block_that_reads_a_part_of_a_group_shares_it() -> None:
    def made(*reads: tuple[int, int], complete: bool = True) -> bool:
        events = [load(size, at=FIRST_ADDRESS + at, argument="x") for at, size in reads]
        trace = replace(trace_of({0: events}), arguments=(TracedArgument("x", FIRST_ADDRESS, 8192),))
        return shares_groups(replace(trace, complete=complete), "x", 2048)

    assert not made((0, 1024), (1024, 1024), (0, 2048), (4096, 2048))
    assert made((0, 1024))
    assert made((2048, 2048), (4096, 1024))
    assert not made((0, 1024), complete=False)
    assert not shares_groups(None, "x", 2048)


def test_files_give_the_bench_back(tmp_path: Path) -> None:
    made = run_grid(OP, SMALL, B2, kernels=FLOATS[:2])
    path, table = files.save(made, tmp_path / "b.json")
    assert files.load(path) == made
    lines = list(csv.DictReader(io.StringIO(table.read_text())))
    assert [(line["kernel"], line["shape"], line["status"]) for line in lines] == [
        (one.kernel, "x".join(map(str, one.shape)), one.status) for one in made.rows
    ]
    assert float(lines[0]["modelled_us"]) == made.rows[0].modelled_us
    assert lines[2]["modelled_us"] == ""
    data = json.loads(path.read_text())
    assert (data["machine"], data["constants"]["hbm_read_gbs"]) == ("Ascend 910B2", 1490)
    assert set(data["versions"]) == {"gn_tutorial", "numpy"}


def test_a_date_is_part_of_the_name_only_if_asked(tmp_path: Path) -> None:
    assert files.check_path(tmp_path / "b.json") == tmp_path / "b.json"
    name = files.check_path(tmp_path / "b-{date}.json").name
    assert len(name) == len("b-2000-01-01.json")
    assert "{" not in name
    with pytest.raises(ArgumentError, match=r"must end in \.json"):
        files.check_path(tmp_path / "b.txt")
    with pytest.raises(ArgumentError, match="there is no folder"):
        files.check_path(tmp_path / "none" / "b.json")


@pytest.mark.parametrize("text", ["", "{}", '{"format": 99}', '{"format": 1, "rows": [{}]}'])
def test_a_file_that_is_no_bench_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(ArgumentError, match="no result of gnt bench"):
        files.load(path)


def test_the_ladder_is_drawn_from_rows_alone() -> None:
    rows = row("op/a", "s", 100.0), row("op/b", "s", 20.0, 10.0, step=2), row("op/a", "t", 9.0), row("op/c", "s", None)
    picture = ladder_of(hand_made(*rows), "s")
    (axis,) = picture.figure.axes
    (bar,) = [one for one in axis.patches if str(one.get_gid()).startswith("step")]
    assert (bar.get_x(), bar.get_x() + bar.get_width()) == pytest.approx((20.0, 100.0))
    assert "op/a 100.00 us" in picture.alt
    assert "op/b 20.00 us, 5.00 × faster, limit HBM (5.00 us)" in picture.alt
    assert "s" in axis.get_title(loc="left")
    with pytest.raises(ArgumentError, match="no shape 'u'"):
        ladder_of(hand_made(*rows), "u")
    with pytest.raises(ArgumentError, match="two steps"):
        ladder_of(hand_made(*rows), "t")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def command(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gnt", "bench", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            app.main()
        out, err = capfd.readouterr()
        return caught.value.code or 0, out, err

    return command


OWN = ("group_norm", "--shape", "2,8,9,7", "--groups", 4)


def test_the_command_writes_files_and_shows_them_again(run: Callable[..., tuple], tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    code, out, _ = run(*OWN, "--out", path, "--plot", tmp_path / "l.png")
    assert code == 0
    found = files.load(path)
    for one in found.rows:
        if one.modelled_us is not None:
            assert f"{one.modelled_us:.2f}" in out
    assert "Every time is modelled" in out
    assert (tmp_path / "b.csv").is_file()
    assert (tmp_path / "l.png").is_file()
    code, again, _ = run("group_norm", "--read", path)
    assert (code, again.splitlines()[:6]) == (0, out.splitlines()[:6])


def test_json_and_csv_are_those_of_the_files(run: Callable[..., tuple], tmp_path: Path) -> None:
    words = (*OWN, "--kernel", "tiled")
    data = json.loads(run(*words, "--json", "--out", tmp_path / "b.json")[1])
    saved = json.loads((tmp_path / "b.json").read_text())
    assert {key: data[key] for key in saved} == saved
    assert run(*words, "--csv")[1] == (tmp_path / "b.csv").read_text()


def test_check_is_an_exit_code(run: Callable[..., tuple], tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    run(*OWN, "--kernel", "vectorised", "--out", path)
    assert run("group_norm", "--read", path, "--check")[0] == 0
    data = json.loads(path.read_text())
    data["rows"][0]["status"] = WRONG
    path.write_text(json.dumps(data))
    assert run("group_norm", "--read", path)[0] == 0
    assert run("group_norm", "--read", path, "--check")[0] == 1
    data["rows"][0]["status"] = OK
    data["rows"][0]["modelled_us"] = data["rows"][0]["bound_us"] / 2
    path.write_text(json.dumps(data))
    code, out, _ = run("group_norm", "--read", path, "--check")
    assert (code, "modelled below its bound" in out) == (1, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing",), "no operator is registered as 'nothing'"),
        (("group_norm", "--kind", "odd"), "no shape of the grid has the kind 'odd'"),
        (("group_norm", "--groups", 4), "belong to a --shape"),
        (("group_norm", "--kernel", "copy/queue"), "no kernel of group_norm"),
        ((*OWN, "--kind", "uneven"), "--kind chooses among the grid's shapes"),
        ((*OWN, "--json", "--csv"), "one of them"),
        ((*OWN, "--plot", "a.txt"), "must end in .png"),
        ((*OWN, "--plot-shape", "s"), "belongs to a picture"),
        ((*OWN, "--read", "b.json"), "shows a file as it is"),
        ((*OWN, "--machine", "910C"), "no machine '910C'"),
    ],
)
def test_words_that_cannot_be_meant_are_refused(run: Callable[..., tuple], words: tuple, message: str) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err
