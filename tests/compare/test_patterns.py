"""The table of patterns is whole, and nothing in the package compares an output with a reference beside it."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial
from gn_tutorial.compare import patterns
from gn_tutorial.compare.comparison import compare
from gn_tutorial.compare.evidence import KnownLaunch, OutputEvidence
from gn_tutorial.compare.patterns import PATTERNS, Reader, recognised
from gn_tutorial.compare.tolerance import Tolerance

PACKAGE = Path(gn_tutorial.__file__).parent
MODULES = [one.name for one in pkgutil.iter_modules(patterns.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_a_pattern_says_what_it_recognises_and_shows_it(name: str) -> None:
    module = getattr(patterns, name)
    assert re.search(r"\n::\n\n    \S", module.__doc__), "a picture in text: '::' and indented lines"
    asked = [one for table in PATTERNS.values() for one in table if one.__module__ == module.__name__]
    assert all(map(inspect.getdoc, asked))
    assert asked or name == "unread_input", "no row of PATTERNS asks it; unread_input speaks besides the others"


def test_the_first_that_recognises_speaks_and_what_the_launch_did_not_read_is_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def table(*said: tuple[str, ...]) -> tuple[Callable[[OutputEvidence], tuple[str, ...]], ...]:
        return tuple(lambda _, one=one: one for one in said)

    monkeypatch.setitem(PATTERNS, Reader.LAUNCH, table((), ("first", "and more"), ("second",)))
    monkeypatch.setitem(PATTERNS, Reader.REPORT, table((), ("of a report",)))
    monkeypatch.setattr(patterns.unread_input, "unread_input", lambda _: ("of the launch",))
    alike = compare("y", np.ones(4), np.zeros(4), Tolerance(0, 0, "exact")).evidence
    assert recognised(alike, Reader.LAUNCH) == ("first", "and more", "of the launch")
    assert recognised(alike, Reader.REPORT) == ("of a report",)
    other = compare("y", np.ones(4), np.zeros(5), Tolerance(0, 0, "exact")).evidence
    assert recognised(other, Reader.LAUNCH) == ("of the launch",)


def test_a_large_output_is_asked_for_blocks_only() -> None:
    truth = np.arange((1 << 22) + 2, dtype=np.float32)
    swapped = truth.reshape(2, -1)[::-1].reshape(-1)
    row = compare("y", swapped, truth, Tolerance(0, 0, "exact"), KnownLaunch(blocks=2))
    assert [one[:16] for one in row.hints] == ["block 0's part (", "block 1's part ("]
    assert compare("y", -truth, truth, Tolerance(0, 0, "exact"), KnownLaunch(blocks=2)).hints == ()


def test_nothing_else_compares_an_output_with_a_reference() -> None:
    """Exercises hold numbers against what a known mistake gives; the web page's modules run without NumPy."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE)
        if "compare" in inside.parts or (inside.name == "numbers.py" and "playground" in inside.parts):
            continue
        words = r"\brtol \*" if "exercises" in inside.parts else r"\brtol \*|\ballclose\(|\bisclose\("
        found += [f"{inside}: {line}" for line in re.findall(rf".*(?:{words}).*", path.read_text(encoding="utf-8"))]
    assert found == []
