"""What the checker of tiling functions says, with the real compiler."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gn_tutorial.course.exercises.check_tiling import TilingCase, TilingChecker
from gn_tutorial.course.exercises.verdict import Verdict

HEADER = """\
#include <cstdint>
struct Share {
  uint32_t each;
  uint32_t rest;
};
inline const char* Divide(int64_t n, int64_t parts, Share* share) {
  if (parts <= 0) return "no parts";
  share->each = n / parts;
  share->rest = n % parts;
  return nullptr;
}
"""


def divided(tmp_path: Path, text: str) -> Verdict | int:
    def cases(rng: np.random.Generator) -> list[TilingCase]:
        n = int(rng.integers(50, 90))
        return [
            TilingCase("7 in 2", {"n": 7, "parts": 2}, {"each": 3, "rest": 1}, "two are enough"),
            TilingCase("no parts", {"n": 7, "parts": 0}, None, "nobody is there"),
            TilingCase("many", {"n": n, "parts": 9}, {"each": n // 9, "rest": n % 9}),
        ]

    path = tmp_path / "share.h"
    path.write_text(text)
    seconds = 3 if "for (;;)" in text else 60
    return TilingChecker("Share", "Divide", ("n", "parts"), cases, seconds=seconds).check(path, 1)


def test_a_right_tiling_function_passes(tmp_path: Path) -> None:
    assert divided(tmp_path, HEADER) == 3
    noisy = HEADER.replace("  if (", '  __builtin_printf("{}\\n");\n  if (', 1)
    assert divided(tmp_path, noisy) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("share->rest = n % parts", "share->rest = 0"), "rest is 0; 1 is right"),
        (('return "no parts"', "return nullptr"), "Divide must refuse this and return a sentence: nobody is there"),
        (('if (parts <= 0) return "no parts";', ""), "Divide divided an integer by zero"),
        (("parts <= 0", "parts <= 2"), "Divide refused (no parts), but this can be divided: two are enough"),
        (("share->each = n / parts;", "for (;;) share->each = n;"), "ran longer than 3 s and was stopped"),
        (("n / parts", "n / part"), "the header does not work"),
        (("struct Share {", "struct Portion {"), "the header does not work: there is no 'struct Share"),
        (("share->each = n / parts;\n  share->rest = n % parts;", ""), "leaves every field at 0"),
    ],
)
def test_a_wrong_tiling_function_is_told_why(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    assert change[0] in HEADER
    found = divided(tmp_path, HEADER.replace(*change))
    assert isinstance(found, Verdict)
    assert message in found.message
