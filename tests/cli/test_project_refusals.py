"""What ``gnt project`` and ``gnt.project`` do not take: one clear error each, from every subcommand."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Gnt
from planted_projects import HOST, KERNEL, PROJECTS

import gn_tutorial as gnt_door
from gn_tutorial.errors import ArgumentError, GntError
from gn_tutorial.projects.fuzz import fuzz
from gn_tutorial.projects.test_runner.own_test import run_own_test

SCALE = PROJECTS / "scale_shift"
Spoilt = Callable[[Callable[[Path], None]], Path]
#: The words behind the folder. All of them read the project before anything else of it.
COMMANDS = {
    "show": [],
    "tiling": ["--in", "float32[99]"],
    "run": ["--in", "float32[99]"],
    "fuzz": ["--reference", "numpy.sinh", "--seconds", "0.001", "--examples", "3"],
    "test": ["--test", "test"],
}


def edited(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text()
    assert text.count(old) == 1, old
    (folder / file).write_text(text.replace(old, new))


def no_host_files(folder: Path) -> None:
    shutil.rmtree(folder / "op_host")


def no_op_add(folder: Path) -> None:
    edited(folder, HOST, "OP_ADD(ScaleShift);", "")


def no_definition(folder: Path) -> None:
    edited(folder, HOST, "OP_ADD(ScaleShift);", "IMPL_OP(ScaleShift).Tiling(optiling::TilingFunc);")


def two_operators(folder: Path) -> None:
    shutil.copytree(PROJECTS / "row_max", folder / "row_max")


def matrix(folder: Path) -> None:
    include = '#include "kernel_operator.h"'
    edited(folder, KERNEL, include, f'{include}\n#include "lib/matmul_intf.h"')


def no_kernel(folder: Path) -> None:
    (folder / KERNEL).unlink()


def a_pipe(folder: Path) -> None:
    (folder / HOST).unlink()
    os.mkfifo(folder / HOST)


def a_link_to_nowhere(folder: Path) -> None:
    (folder / "op_kernel" / "more.h").symlink_to(folder / "nothing.h")


#: A mistake, the message, the hint. Two operators are no mistake for a test, because it names the one that it calls.
WRONG = (
    (no_host_files, "is no operator project: no file below it registers an operator", "op_host and op_kernel"),
    (no_op_add, "/project registers an operator", "OP_ADD(YourOp)"),
    (no_definition, "ScaleShift has no definition with inputs or outputs", "OP_ADD behind the class"),
    (two_operators, "has 2 operators: ScaleShift, RowMax", "--op ScaleShift"),
    (matrix, "ScaleShift computes on the matrix cores", "out of its scope"),
    (no_kernel, "no kernel is named 'scale_shift'", "files with kernels: none"),
    (a_pipe, "cannot read a file of the project: it is no regular file", "regular files that you may read"),
    (a_link_to_nowhere, "cannot read a file of the project: No such file", "a link that leads nowhere"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SCALE, tmp_path / "project"))


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Spoilt:
    """The project with one thing wrong, compiled once: a folder for all commands, since none of them writes there."""

    @functools.cache
    def make(spoil: Callable[[Path], None]) -> Path:
        made = Path(shutil.copytree(SCALE, tmp_path_factory.mktemp(spoil.__name__) / "project"))
        spoil(made)
        return made

    return make


# A test of a project compiles it first.
@pytest.mark.parametrize(
    "command", [pytest.param(one, marks=pytest.mark.thorough) if one == "test" else one for one in COMMANDS]
)
@pytest.mark.parametrize(("spoil", "said", "hint"), WRONG, ids=[one[0].__name__ for one in WRONG])
def test_a_project_that_is_none(
    gnt: Gnt, spoilt: Spoilt, command: str, spoil: Callable[[Path], None], said: str, hint: str
) -> None:
    folder = spoilt(spoil)
    words = [str(folder / word) if word == "test" else word for word in COMMANDS[command]]
    ran = gnt("project", command, str(folder), *words)
    if command == "test" and spoil is two_operators:
        assert ran.code == 0, ran.out
        return
    assert ran.code == (1 if command == "test" and spoil is no_kernel else 2), ran.out + ran.err
    # If a test has begun, the report begins with its verdict.
    assert said in ran.out + ran.err
    assert hint in ran.out + ran.err
    assert "Traceback" not in ran.out + ran.err


@pytest.mark.parametrize(("spoil", "said", "hint"), WRONG, ids=[one[0].__name__ for one in WRONG])
def test_the_same_from_python(spoilt: Spoilt, spoil: Callable[[Path], None], said: str, hint: str) -> None:
    folder = spoilt(spoil)
    with pytest.raises(GntError) as caught:
        gnt_door.project(folder).infer(gnt_door.out(3))
    assert said in caught.value.what or spoil is no_kernel
    if spoil is no_kernel:  # inference needs no kernel
        with pytest.raises(ArgumentError, match=said) as caught:
            print(gnt_door.project(folder).kernel_file)
    assert hint in str(caught.value)


def test_a_dtype_that_the_chip_s_table_lacks(gnt: Gnt) -> None:
    for command in ("tiling", "run"):
        for dtype in ("int32", "bfloat16"):
            ran = gnt("project", command, str(SCALE), "--in", f"{dtype}[99]")
            assert ran.code == 2
            assert f"ScaleShift does not support x {dtype} on ascend910b" in ran.err
            assert "x float16 -> y float16; x float32 -> y float32" in ran.err
    ran = gnt("project", "run", str(SCALE), "--in", "float64[99]")
    assert ran.code == 2
    assert "the device has no float64" in ran.err


@pytest.mark.thorough
def test_a_test_that_calls_with_such_a_dtype(folder: Path) -> None:
    edited(folder, "test/case_config.h", "ACL_FLOAT16", "ACL_INT16")
    done = run_own_test(folder, folder / "test")
    assert not done.passed
    assert any("does not support x int16" in note.what for note in done.notes), done.notes


@pytest.mark.thorough
def test_tiling_that_loops(gnt: Gnt, folder: Path) -> None:
    """Stopped after ten seconds, at its line: by each subcommand that tiles. tests/projects has it once in each run."""
    edited(folder, HOST, "  context->SetBlockDim", "  for (volatile int i = 0; i == 0;) {}\n  context->SetBlockDim")
    line = (folder / HOST).read_text().splitlines().index("  for (volatile int i = 0; i == 0;) {}") + 1
    for command in ("tiling", "run"):
        ran = gnt("project", command, str(folder), *COMMANDS[command])
        assert ran.code != 0
        assert "the host functions ran longer than 10 s and were stopped" in ran.err
        assert f"scale_shift.cpp:{line}" in ran.err
        assert "Traceback" not in ran.err
    report = fuzz(folder, "numpy.sinh", seconds=1, examples=1)
    assert [one.kind for one in report.failures] == ["timeout"]
    done = run_own_test(folder, folder / "test", seconds=60)
    assert not done.passed
    assert "ran longer than 10 s" in done.reason


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "JSON"), ("[]", ""), ('[{"op": "X", "input_desc": 3}]', ""), (None, "cannot read")],
)
def test_a_prototype_that_is_none(gnt: Gnt, tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "proto.json"
    if text is not None:
        file.write_text(text)
    ran = gnt("project", "new", str(file), str(tmp_path / "made"))
    assert ran.code == 2, ran.out
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert not (tmp_path / "made").exists()
