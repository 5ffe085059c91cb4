"""`gnt new`: what it writes runs at once, says what is missing, and refuses what it cannot name."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.course.capstone.starter import OPERATORS, new_operator
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators import random_inputs


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_start_runs_without_a_finding_and_copies_x(operator: str, tmp_path: Path) -> None:
    made = new_operator(tmp_path / "mine", operator)
    kernel = gnt.kernel(made)
    x = np.random.default_rng(0).standard_normal((5, 4099)).astype(np.float32)
    result = kernel(x)
    assert not result.diagnostics
    assert np.array_equal(result.y, x)
    assert "// YOUR TURN" in (made / "mine.cpp").read_text("utf-8")


def _odd_files(made: Path, file: str) -> Iterator[tuple[str, str]]:
    """Write the file with a byte-order mark, with a byte that is not UTF-8, and as a pipe; yield each one's error."""
    path, comment = made / file, b"# " if file.endswith(".py") else b"// "
    right = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + right)
    yield "byte-order mark", ""
    path.write_bytes(comment + b"na\xefve\n" + right)
    yield "Latin-1", "is not UTF-8" if file.endswith(".cpp") else ""
    path.unlink()
    os.mkfifo(path)
    yield "pipe", "is no regular file"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
@pytest.mark.parametrize("file", ["mine.cpp", "mine_tiling.h", "reference.py"])
def test_an_odd_file_is_read_or_refused_in_a_sentence(file: str, tmp_path: Path) -> None:
    made = new_operator(tmp_path / "mine")
    x = np.ones((2, 64), np.float32)
    for _, said in _odd_files(made, file):
        with pytest.raises(RegistryError, match=said) if said else contextlib.nullcontext():
            kernel = gnt.kernel(made)
            result = kernel(x)
            random_inputs.expected(kernel.op, {"x": x}, {})
            assert np.array_equal(result.y, x)
        with pytest.raises(RegistryError, match=said) if said else contextlib.nullcontext():
            gnt.grade(made)


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_file_has_the_name_that_was_asked_for(operator: str, tmp_path: Path) -> None:
    made = new_operator(tmp_path / "row_max_2", operator)
    texts = {path.name: path.read_text("utf-8") for path in made.iterdir()}
    assert set(texts) == {
        "row_max_2.cpp", "row_max_2_tiling.h", "op.toml", "reference.py", "bench.toml", "test_row_max_2.py",
    }  # fmt: skip
    assert not any(f"my_{one}" in text for one in (*OPERATORS, "operator") for text in texts.values())
    assert "struct RowMax2TilingData" in texts["row_max_2_tiling.h"]


def test_its_own_test_fails_until_the_kernel_is_written(tmp_path: Path) -> None:
    made = new_operator(tmp_path / "mine", "rms_norm")
    ran = subprocess.run([sys.executable, "test_mine.py"], cwd=made, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "NOT within tolerance" in ran.stderr


@pytest.mark.parametrize("name", ["Softmax", "2x", "my-op", "a__b", "_x", "x_", "float", "new"])
def test_a_name_that_c_does_not_take_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=f"'{name}' is") as caught:
        new_operator(tmp_path / name)
    assert "small letters" in caught.value.hint
    assert not (tmp_path / name).exists()


def test_a_name_of_the_course_and_a_folder_that_is_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="the course has an operator 'rms_norm'"):
        new_operator(tmp_path / "rms_norm")
    (tmp_path / "mine").mkdir()
    with pytest.raises(ArgumentError, match="is there already"):
        new_operator(tmp_path / "mine")
    with pytest.raises(ArgumentError, match="there is no capstone 'gelu'") as caught:
        new_operator(tmp_path / "other", "gelu")
    assert "layer_norm" in caught.value.hint


def test_a_reference_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    made = new_operator(tmp_path / "mine")
    (made / "reference.py").write_text("def other(x):\n    return x\n", encoding="utf-8")
    with pytest.raises(RegistryError, match=r"reference\.py has no 'mine'"):
        gnt.grade(made)
    (made / "reference.py").write_text("def mine(x)\n", encoding="utf-8")
    with pytest.raises(RegistryError, match="the reference cannot be read: SyntaxError"):
        gnt.grade(made)
