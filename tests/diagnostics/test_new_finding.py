"""A finding is added in a copy of the package, and a cause: each touches the four files that CONTRIBUTING names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: What the copy needs besides the package: the lint of the catalogue, and the tests of programs and causes.
COPIED = (
    "tools/pages/make_catalogue.py",
    "tests/support/program_pairs.py",
    "tests/twin/test_programs.py",
    "tests/twin/test_causes.py",
)
HEADER = "gn_tutorial/twin/include/gn_twin/basic_api/memory/fill_global.h"
BEFORE = "  const uint64_t staged ="
EMIT = """\
  if (kObserved && size % 8 != 0) {
    const Loc made = ThisCore().buffers[0].made;
    FieldList fields{{"op", op}, {"elements", size}, {"beside_file", made.file}, {"beside_line", made.line}};
    if (size < 8) fields.Add({"cause", "fill-of-few"});
    ThisCore().Fault("fill-part-block", loc, {}, fields);
  }
"""
ENTRY = """
[fill-part-block]
what = "{op} fills {elements} elements."
why = "The last block is not whole."
fix = "Fill whole blocks."
symptoms = ["Wrong numbers in the tail"]
decided_by = ["length"]
labels = { beside = "the first buffer" }
"""
CAUSE = """
[fill-of-few]
what = "They are fewer than a block has."
fix = "Call SetValue."
"""
PROGRAM = """\
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void {folder}_{name}(GM_ADDR x, GM_ADDR y) {{
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y, 64);
  pipe.InitBuffer(buffer, 256);
  uint32_t count = {count};
  InitOutput<float>(out, count, 1.0f);{mark}
}}
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy without pages, translations and programs, but for the pairs that no launch judges."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("gn_tutorial", "tests/compiler/spaces"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "zh"))
    for name in COPIED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def add(copy: Path) -> list[set[str]]:
    """Add both; the files that the finding touches, and those that its cause does."""
    header = copy / HEADER
    header.write_text(header.read_text(encoding="utf-8").replace(BEFORE, EMIT + BEFORE, 1), encoding="utf-8")
    catalogue = "gn_tutorial/diagnostics/diagnostics.toml", "gn_tutorial/diagnostics/causes.toml"
    append(copy / catalogue[0], ENTRY)
    append(copy / catalogue[1], CAUSE)
    touched = []
    for toml, folder, name, count in (
        (catalogue[0], "sync", "fill_part_block", 60),
        (catalogue[1], "cause", "fill_of_few", 6),
    ):
        touched.append({HEADER, toml})
        for ending, number, mark in (("bad", count, "  // expect: fill-part-block"), ("ok", 64, "")):
            path = copy / "tests" / "programs" / folder / f"{name}_{ending}.cpp"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(PROGRAM.format(folder=folder, name=f"{name}_{ending}", count=number, mark=mark))
            touched[-1].add(path.relative_to(copy).as_posix())
    return touched


def run(copy: Path, *command: str) -> str:
    """What a command of Python prints in the copy, whose package it imports."""
    path = os.pathsep.join(str(copy / name) for name in (".", "tests/support"))
    done = subprocess.run(
        [sys.executable, "-P", *command],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": path, "GNT_LANG": "en"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files(copy: Path) -> dict[str, bytes]:
    found = (path for path in copy.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(copy).as_posix(): path.read_bytes() for path in found}


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def own_tests(names: Sequence[str]) -> list[str]:
    paths = [name for name in COPIED if name.startswith("tests/twin/")]
    return ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", *paths, "-k", " or ".join(names)]


@pytest.mark.thorough
def test_a_finding_and_a_cause_are_four_files_each(copy: Path) -> None:
    before = files(copy)
    finding, cause = add(copy)
    assert (len(finding), len(cause)) == (4, 4)
    assert changed(before, files(copy)) == finding | cause

    assert run(copy, "-c", "import gn_tutorial; print(gn_tutorial.__file__)").startswith(str(copy))
    assert "\n7 passed" in run(copy, *own_tests(("fill_part_block", "fill_of_few")))
    assert "docs/diagnostics/fill-part-block.md: written" in run(copy, "tools/pages/make_catalogue.py")
    assert changed(before, files(copy)) - finding - cause == {
        name for name in files(copy) if name.startswith("docs/diagnostics/")
    }
    shown = run(copy, "-m", "gn_tutorial", "explain", "fill-part-block")
    for part in (
        "uint32_t count = 60;",
        "set here",
        "the first buffer",
        "sync/fill_part_block",
        "cause/fill_of_few",
        "Wrong numbers in the tail",
    ):
        assert part in shown
    assert "sync/fill_part_block" in (copy / "docs/diagnostics/fill-part-block.md").read_text()
