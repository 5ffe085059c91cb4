"""``gnt cache``: where it is, how large, and how it is emptied."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Gnt


def test_cache_is_shown_and_cleared(gnt: Gnt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mine: Path) -> None:
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path / "cache"))
    assert gnt("cache", "path").out.strip() == str(tmp_path / "cache")
    assert gnt("run", mine, "--arg", "x=int32[1]", "--out", "y=int32[1]", "--arg", "n=1", "--blocks", 1).code == 0
    assert gnt("cache", "info", "--json").json["entries"] > 0
    assert gnt("cache", "clear").code == 0
    assert gnt("cache", "info", "--json").json["entries"] == 0
