"""Words after ``gnt`` that are no call, each seen to end in a traceback once: a sentence and exit code 2 now."""

from __future__ import annotations

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
        ("compat . --seconds 0", "seconds cannot be 0.0"),
        (f"run MINE --arg x=int32[{_LARGE}] --out y=int32[8] --arg n=8", "this machine has"),
        (f"run MINE --arg x=int32[{_AXES}] --out y=int32[8] --arg n=8", "70 axes"),
        (f"run MINE --arg x=int32[8] --out y=int32[{_LARGE}] --arg n=8", "this machine has"),
        (f"run MINE --arg x=int32[8] --out y=int32[{_AXES}] --arg n=8", "70 axes"),
        (f"run MINE --arg x=int32[8] --workspace y={_LARGE} --arg n=8", "this machine has"),
        ("run MINE --arg x=@/dev/null --out y=int32[8] --arg n=8", "cannot read the array"),
        ("run MINE --seed -1 --arg x=int32[8] --out y=int32[8] --arg n=8", "a seed is a whole number from 0 on"),
        ("run a\udcff", "no kernel is registered as 'a\\udcff'"),
    ],
)
def test_what_is_no_call_is_named(gnt: Gnt, mine: Path, words: str, said: str) -> None:
    ran = gnt(*(str(mine) if word == "MINE" else word for word in words.split()))
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err
