"""``gnt explain``: pages and lists of the catalogue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import Gnt

from gn_tutorial.operators import registry


@pytest.fixture
def in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_program_that_a_page_names_runs_from_any_folder(gnt: Gnt, in_any_folder: Path) -> None:
    (line,) = re.findall(r"^Run it: `gnt (.*)`$", gnt("explain", "ub-overflow").out, re.MULTILINE)
    ran = gnt(*line.split())
    assert ran.code == 6
    assert "InitBuffer asks for 1 x 33 bytes" in ran.err
    # What lies in the folder comes first, and what lies nowhere is named as it was given.
    (in_any_folder / "tests" / "programs" / "memory").mkdir(parents=True)
    (in_any_folder / "tests" / "programs" / "memory" / "overflow_bad.cpp").write_text("no kernel")
    assert "tests/programs/memory/overflow_bad.cpp has no kernel entry" in gnt(*line.split()).err
    absent = gnt("run", "tests/programs/absent.cpp", "--out", "y=float32[8]")
    assert "there is no file tests/programs/absent.cpp" in absent.err


def test_explain(gnt: Gnt) -> None:
    page = gnt("explain", "ub-out-of-bounds")
    assert page.out == (registry.kernels_root().parent / "docs/diagnostics/ub-out-of-bounds.md").read_text()
    facts = gnt("explain", "UB_out_of_bounds", "--json").json
    assert facts["family"] == "Unified Buffer"
    assert facts["page"] == page.out
    assert "Wrong numbers in the tail" in facts["symptoms"]
    listed = gnt("explain").out
    assert "The kernel hangs" in listed
    assert all(row["id"] in listed for row in gnt("explain", "--json").json)
    unknown = gnt("explain", "ub-outofbounds")
    assert (unknown.code, unknown.out) == (2, "")
    assert "did you mean ub-out-of-bounds" in unknown.err
