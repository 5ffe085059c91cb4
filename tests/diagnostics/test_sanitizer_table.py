"""docs/sanitizer.md against the catalogue: it names diagnostics that exist, and lists those that are warnings."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "sanitizer.md").read_text(encoding="utf-8")
CATALOGUE = tomllib.loads((ROOT / "gn_tutorial" / "diagnostics" / "diagnostics.toml").read_text(encoding="utf-8"))
TWIN = ROOT / "gn_tutorial" / "twin" / "include" / "gn_twin"


def test_every_diagnostic_named_exists() -> None:
    named = set(re.findall(r"`([a-z]+(?:-[a-z0-9]+)+)`", PAGE))
    assert len(named) > 40
    assert named - set(CATALOGUE) == set()


def test_every_report_has_a_diagnostic() -> None:
    table = PAGE.split("|---|---|---|---|\n", 1)[1].split("\n\n", 1)[0].splitlines()
    assert len(table) == 10
    for row in table:
        assert re.search(r"`[a-z]+(?:-[a-z0-9]+)+`", row.split("|")[4]), row


def test_the_list_of_warnings_is_complete() -> None:
    listed = set(re.findall(r"`([a-z]+(?:-[a-z0-9]+)+)`", PAGE.split("| only a warning", 1)[1].split("\n\n", 1)[0]))
    headers = "".join(path.read_text(encoding="utf-8") for path in sorted(TWIN.rglob("*.h")))
    found = re.findall(r'\bWarn\(\s*"([a-z0-9-]+)"|\bWrite\(\s*"([a-z0-9-]+)", "warning"', headers)
    assert {one or other for one, other in found} == listed
