"""Words after ``gnt`` that are no call, each seen to end in a traceback once: a sentence and exit code 2 now."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import Gnt

_AXES = ",".join(["1"] * 70)
_LARGE = "9" * 20


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run copy --seed -1", "a seed is a whole number from 0 on, not -1"),
        ("profile copy --seed -1", "a seed is a whole number from 0 on"),
        ("bench copy --shape 8 --seed -1", "a seed is a whole number from 0 on"),
        ("run copy --shape 1000000000000", "needs 14 TiB; this machine has"),
        (f"run copy --shape {_LARGE}", "this machine has"),
        ("run copy --shape 2000000000,2000000000", "this machine has"),
        (f"run group_norm/scalar --shape 2,8,{_LARGE}", "this machine has"),
        (f"run group_norm/scalar --shape {_AXES}", "70 axes"),
        ("run copy --blocks 0", "'blocks' must be a whole number from 1 to 65535, not 0"),
        ("profile copy --blocks -3", "'blocks' must be a whole number from 1 to 65535, not -3"),
        ("run MINE --seconds -1", "seconds cannot be -1.0"),
        ("project fuzz . --reference numpy.sinh --seconds -1", "seconds cannot be -1.0"),
        ("project test . --seconds nan", "seconds cannot be nan"),
        (f"run MINE --arg x=int32[{_LARGE}] --out y=int32[8] --arg n=8", "this machine has"),
        (f"run MINE --arg x=int32[{_AXES}] --out y=int32[8] --arg n=8", "70 axes"),
        (f"run MINE --arg x=int32[8] --out y=int32[{_LARGE}] --arg n=8", "this machine has"),
        (f"run MINE --arg x=int32[8] --out y=int32[{_AXES}] --arg n=8", "70 axes"),
        (f"run MINE --arg x=int32[8] --workspace y={_LARGE} --arg n=8", "this machine has"),
        ("run MINE --arg x=@/dev/null --out y=int32[8] --arg n=8", "cannot read the array"),
        ("run MINE --seed -1 --arg x=int32[8] --out y=int32[8] --arg n=8", "a seed is a whole number from 0 on"),
        ("run pipe.cpp --arg x=int32[8] --out y=int32[8]", "is no regular file"),
        ("profile pipe.cpp --arg x=int32[8] --out y=int32[8]", "is no regular file"),
        ("profile copy --machine pipe.toml", "it is no regular file"),
        ("profile copy --machine hex.toml", "cores: value cannot be a number of about 6020 digits"),
        ("profile copy --machine brackets.toml", "nested too deeply"),
        ("profile copy --machine digits.toml", "more than 4300 digits"),
        ("run copy --shape -8", "a shape cannot be negative"),
        ("run group_norm/scalar --shape 1,2,8 --set num_groups=-1", "num_groups must be positive"),
        ("run a\udcff", "no kernel is registered as 'a\\udcff'"),
    ],
)
def test_what_is_no_call_is_named(
    gnt: Gnt, mine: Path, odd: Path, monkeypatch: pytest.MonkeyPatch, words: str, said: str
) -> None:
    monkeypatch.chdir(odd)
    ran = gnt(*(str(mine) if word == "MINE" else word for word in words.split()))
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


@pytest.fixture
def odd(tmp_path: Path, mine: Path) -> Path:
    """A folder with files that a reader would wait at, or stumble over."""
    folder = tmp_path / "odd"
    folder.mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.cpp")
        os.mkfifo(folder / "pipe.toml")
    constant = 'unit = "vector cores"\nsource = "mine"\nconfidence = "low"\n'
    (folder / "hex.toml").write_text(f'extends = "910B4"\n[constants.cores]\nvalue = 0x{"f" * 5000}\n{constant}')
    (folder / "digits.toml").write_text(f"x = {'9' * 5000}\n")
    (folder / "brackets.toml").write_text(f"x = {'[' * 5000}\n")
    (folder / "mark.cpp").write_text("\ufeff" + mine.read_text(encoding="utf-8"), encoding="utf-8")
    return folder


def test_a_byte_order_mark_in_a_kernel_is_fine(gnt: Gnt, odd: Path) -> None:
    ran = gnt("run", odd / "mark.cpp", "--arg", "x=int32[8]", "--out", "y=int32[8]", "--arg", "n=8", "--blocks", "1")
    assert (ran.code, "n is 8" in ran.out) == (0, True), ran.err
