"""``gnt profile`` and ``gnt diff`` as a user meets them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import Gnt
from PIL import Image

import gn_tutorial as gnt_package
from gn_tutorial.cli.pictures import PICTURES, parse_window
from gn_tutorial.cli.profile_arguments import parse_record
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs, registry
from gn_tutorial.timing.lower_bound import TWO_READS, Work, lower_bound
from gn_tutorial.timing.machine import DEFAULT_MACHINE, load_machine
from tests.profiler.test_chrome_trace import check_format


@pytest.fixture
def add_file(tmp_path: Path) -> Path:
    """The registered Add as a learner's file."""
    path = tmp_path / "mine.cpp"
    path.write_text((registry.kernels_root() / "add" / "add.cpp").read_text())
    return path


def test_the_table_is_that_of_the_profile(gnt: Gnt) -> None:
    ran = gnt("profile", "add", "--shape", "20000", "--blocks", 2, "--machine", "910B2")
    op, _ = registry.find_kernel("add/queue")
    profile = gnt_package.profile("add/queue", *random_inputs.inputs(op, (20000,)).values(), blocks=2, machine="910B2")
    assert ran.code == 0
    assert f"modelled time             {profile.microseconds:.2f} us" in ran.out
    assert "Ascend 910B2, 2 of 48 cores" in ran.out
    assert "note                      modelled, not measured on a device" in ran.out


def test_json_has_the_numbers_and_says_their_units(gnt: Gnt) -> None:
    cold = gnt("profile", "add", "--shape", "20000", "--json").json
    warm = gnt("profile", "add", "--shape", "20000", "--warm", "--json").json
    assert cold["modelled_us"] > warm["modelled_us"] > cold["launch_us"] == pytest.approx(0.31 + 48 * 0.156)
    assert set(cold["busy_us"]) == {"S", "MTE2", "V", "MTE3"}
    assert cold["binding"] == cold["limits"][0]["name"]
    assert cold["tally"]["bytes_in"] == 2 * 80000
    assert (cold["right"], cold["shape"], cold["dtype"]) == (True, [20000], "float32")
    assert "modelled, not measured on a device" in cold["notes"]
    assert warm["traffic_bytes"]["hbm_read"] == 0 < cold["traffic_bytes"]["hbm_read"]


@pytest.mark.parametrize("picture", PICTURES)
def test_every_picture_is_a_png_that_describes_itself(gnt: Gnt, tmp_path: Path, picture: str) -> None:
    path = tmp_path / "p.png"
    ran = gnt("profile", "add", "--plot", path, "--picture", picture)
    assert ran.code == 0
    assert f"picture: {path}" in ran.out
    with Image.open(path) as image:
        assert image.info["Description"].startswith("Modelled")
        assert "add/queue" in image.info["Description"]


def test_a_picture_without_a_name_gets_one_and_says_it(
    gnt: Gnt, add_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(add_file.parent)
    assert "picture: add_queue_limits.png" in gnt("profile", "add/queue", "--picture", "limits").out
    assert "picture: mine_pipes.png" in gnt("profile", "mine.cpp", "--like", "add", "--window", "0.1,1").out
    for name, what in (("add_queue_limits", "add/queue"), ("mine_pipes", "mine")):
        with Image.open(f"{name}.png") as image:
            assert what in image.info["Description"]


def test_the_bound_is_that_of_the_arrays_and_the_launch_lies_above(gnt: Gnt, add_file: Path) -> None:
    made = gnt("profile", "add", "--shape", "200000", "--json").json
    least = lower_bound(Work(2 * 800_000, 800_000), load_machine(), split=True).microseconds
    assert made["bound_us"] == least
    assert made["of_bound"] == made["modelled_us"] / least > 1
    arrays = ("--arg", "x=float32[9]", "--inout", "y=float32[9]", "--out", "z=float32[9]", "--arg", "n=9")
    small = gnt("profile", add_file, *arrays, "--json").json
    assert small["bound_us"] == lower_bound(Work(72, 72), load_machine(), split=True).microseconds
    grouped = gnt("profile", "group_norm/vectorised", "--shape", "2,2,99,999", "--groups", "1", "--json").json
    assert grouped["bound"][0] == TWO_READS
    shown = gnt("profile", "add", "--shape", "200000").out
    assert f"lower bound               {least:.2f} us to move the arrays (one read; " in shown


def test_block_and_window_reach_the_picture(gnt: Gnt, tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    words = ("profile", "add", "--shape", "20000", "--blocks", 3, "--plot", path)
    assert gnt(*words, "--block", 2, "--window", "0.5,1").code == 0
    with Image.open(path) as image:
        assert "block 2" in image.info["Description"]
        assert "Shown are 0.5 to 1 us" in image.info["Description"]
    assert "block 7 was not recorded" in gnt(*words, "--block", 7).err


def test_the_trace_opens_in_perfetto(gnt: Gnt, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    ran = gnt("profile", "add", "--shape", "20000", "--blocks", 4, "--record", "1,3", "--trace", path)
    assert f"trace: {path}" in ran.out
    data = check_format(path.read_text(encoding="utf-8"))
    assert {event["pid"] for event in data["traceEvents"]} == {2, 4}
    assert "recorded blocks 1, 3 of 4" in " ".join(data["otherData"]["notes"])


def test_a_file_with_its_arguments_or_like_a_registered_kernel(gnt: Gnt, add_file: Path) -> None:
    arrays = ("--arg", "x=float32[20000]", "--arg", "y=float32[20000]", "--out", "z=float32[20000]", "--arg", "n=20000")
    alone = gnt("profile", add_file, *arrays, "--blocks", 2, "--json").json
    like = gnt("profile", add_file, "--like", "add", "--shape", "20000", "--blocks", 2, "--json").json
    assert alone["modelled_us"] == like["modelled_us"]
    assert (alone["right"], like["right"]) == (None, True)
    assert alone["kernel"] == like["kernel"] == "mine"


def test_all_cores_of_the_chip_are_used_unless_told(gnt: Gnt, add_file: Path) -> None:
    arrays = ("--arg", "x=float32[20000]", "--arg", "y=float32[20000]", "--out", "z=float32[20000]", "--arg", "n=20000")
    for words in ((add_file, *arrays), (add_file, "--like", "add", "--shape", "20000"), ("add", "--shape", "20000")):
        for machine in (DEFAULT_MACHINE, "910B3"):
            facts = gnt("profile", *words, "--machine", machine, "--json").json
            assert facts["blocks"] == load_machine(machine).cores
        assert gnt("profile", *words, "--json").json["machine"] == load_machine().name


def test_diff_of_a_kernel_and_a_slower_copy_of_it(gnt: Gnt, add_file: Path) -> None:
    text = add_file.read_text()
    assert "constexpr uint32_t kTile = 2048" in text
    add_file.write_text(text.replace("kTile = 2048", "kTile = 256"))
    ran = gnt("diff", "add", add_file, "--shape", "20000", "--blocks", 1, "--json")
    rows = {row["name"]: row for row in ran.json["rows"]}
    assert ran.code == 0
    assert rows["modelled time"]["ratio"] > 1
    assert rows["bytes in"]["ratio"] == 1
    # Two inputs in tiles of 2048 and of 256 elements.
    assert rows["copies in"]["first"] == 2 * 10
    assert rows["copies in"]["second"] == 2 * 79
    assert rows["copies in"]["ratio"] == 7.9
    shown = gnt("diff", "add", add_file, "--shape", "20000", "--plot", add_file.with_suffix(".png"))
    assert "add/queue is" in shown.out
    assert "times as fast as mine" in shown.out
    assert add_file.with_suffix(".png").exists()


def test_what_computes_wrong_numbers_gets_exit_code_1(gnt: Gnt, add_file: Path) -> None:
    add_file.write_text(add_file.read_text().replace("AscendC::Add(", "AscendC::Sub("))
    ran = gnt("profile", add_file, "--like", "add")
    assert ran.code == 1
    assert "is wrong, so its time says little" in ran.out
    assert gnt("diff", "add", add_file).code == 1
    assert gnt("diff", "add", add_file, "--json").json["right"] == [True, False]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("profile", "ad"), "add/queue"),
        (("profile", "add", "--machine", "910C"), "910B3"),
        (("profile", "add", "--plot", "p.jpg"), "the name of a picture must end in .png"),
        (("profile", "add", "--plot", "missing/p.png"), "there is no folder missing"),
        (("profile", "add", "--trace", "missing/t.json"), "there is no folder missing"),
        (("profile", "add", "--plot", "p.png", "--picture", "pie"), "one of pipes, cores, ub, gm, limits, roofline"),
        (("profile", "add", "--plot", "p.png", "--window", "now"), "from,to in us"),
        (("profile", "add", "--blocks", "0"), "'blocks' must be a whole number from 1"),
        (("profile", "add", "--record", "all"), "--record all: no blocks"),
        (("profile", "add", "--record", "0"), "blocks cannot be 0"),
        (("profile", "add", "--record", "99,"), "99"),
        (("profile", "add", "--arg", "x=1"), "--arg does not apply"),
        (("profile", "add", "--like", "copy"), "belongs to a file"),
        (("profile", "mine.cpp", "--shape", "4"), "--shape does not apply"),
        (("profile", "copy", "--plot", "p.png", "--picture", "roofline"), "executes no vector instruction"),
        (("profile", "copy", "--plot", "p.png", "--picture", "gm", "--block", "0"), "is not of one block"),
        (("profile", "copy", "--plot", "p.png", "--picture", "limits", "--window", "0,1"), "has no time axis"),
        (("profile", "copy", "--shape", "0"), "nothing was launched"),
        (("diff", "add", "xyzzy"), "add/queue"),
    ],
)
def test_a_user_s_mistake_is_a_message(
    gnt: Gnt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = gnt(*words)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert list(tmp_path.iterdir()) == []


def test_words_for_blocks_and_times() -> None:
    found = [parse_record(text) for text in ("12", "0,5", "5,")]
    assert [one.blocks for one in found if one] == [12, [0, 5], [5]]
    assert parse_record("") is None
    assert parse_window("0.5,2") == (0.5, 2.0)
    assert parse_window("") is None
    with pytest.raises(ArgumentError, match="two numbers"):
        parse_window("1")


def test_help_lists_every_picture(gnt: Gnt) -> None:
    helped = " ".join(gnt("profile", "--help").out.split())
    for name in PICTURES:
        assert name in helped
    assert "All times are modelled, not measured" in helped


def test_the_interactive_timeline_is_written_and_said(gnt: Gnt, tmp_path: Path) -> None:
    path = tmp_path / "t.html"
    words = ("add", "--shape", "20000", "--blocks", 2, "--html", path)
    ran = gnt("profile", *words)
    assert ran.code == 0
    assert f"timeline: {path} (open it in a browser: {path.as_uri()})" in ran.out
    one = held(path)
    assert [launch["kernel"] for launch in one["launches"]] == ["add/queue"]
    assert any(place[1] == "add.cpp" and "AscendC::Add(" in place[3] for place in one["launches"][0]["places"])
    assert gnt("profile", *words, "--json").json["html"] == str(path)


def test_diff_writes_both_launches_one_above_the_other(gnt: Gnt, add_file: Path) -> None:
    path = add_file.with_suffix(".html")
    ran = gnt("diff", "add", add_file, "--shape", "20000", "--blocks", 2, "--html", path)
    assert f"timeline: {path}" in ran.out
    assert [launch["kernel"] for launch in held(path)["launches"]] == ["add/queue", "mine"]


@pytest.mark.parametrize(
    ("name", "what"), [("t.png", "the name of a page must end in .html"), ("no/t.html", "there is no folder")]
)
def test_a_page_that_cannot_be_is_refused_before_anything_runs(gnt: Gnt, tmp_path: Path, name: str, what: str) -> None:
    for command in (("profile", "add"), ("diff", "add", "add")):
        ran = gnt(*command, "--html", tmp_path / name)
        assert ran.code != 0
        assert what in ran.err


def held(page: Path) -> dict[str, Any]:
    """The data inside a page of --html."""
    found = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found
    return json.loads(found[1])
