"""``gnt project pack``: a package of the course as a folder of its own, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Gnt

from gn_tutorial.projects.own_package import course_packages
from gn_tutorial.projects.packing import packed_files

(GROUP_NORM,) = course_packages()


@pytest.mark.parametrize("words", [(), ("group_norm",), (GROUP_NORM.root,)], ids=["none", "name", "folder"])
def test_the_whole_folder_is_written(gnt: Gnt, tmp_path: Path, words: tuple[object, ...]) -> None:
    ran = gnt("project", "pack", *words, "--out", tmp_path / "made")
    assert (ran.code, ran.err) == (0, "")
    assert f"gnt project show {tmp_path / 'made'}" in ran.out
    found = {path.relative_to(tmp_path / "made").as_posix(): path for path in (tmp_path / "made").rglob("*.*")}
    assert {name: path.read_text() for name, path in found.items()} == packed_files(GROUP_NORM)
    assert found["build.sh"].stat().st_mode & 0o111


def test_the_layout_of_8_x_and_another_chip(gnt: Gnt, tmp_path: Path) -> None:
    ran = gnt("project", "pack", "--out", tmp_path / "made", "--layout", "8.x", "--soc", "Ascend310B4")
    assert ran.code == 0, ran.err
    assert (tmp_path / "made" / "CMakePresets.json").is_file()
    hosts = list((tmp_path / "made" / "op_host").glob("*.cpp"))
    assert len(hosts) == 2
    assert all('AddConfig("ascend310b")' in host.read_text() for host in hosts)


def test_wrong_words(gnt: Gnt, tmp_path: Path) -> None:
    for words, said in (
        (("gelu", "--out", tmp_path / "made"), "there is no package 'gelu' in the course"),
        (("--out", tmp_path), "is there already"),
        (("--out", tmp_path / "made", "--layout", "7.x"), "there is no layout '7.x'"),
        ((), "Missing option '--out'"),
    ):
        ran = gnt("project", "pack", *words)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err
    assert not (tmp_path / "made").exists()
