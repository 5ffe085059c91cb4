"""``gnt list``: every registered kernel, at any width."""

from __future__ import annotations

import pytest
from command_line import Gnt

from gn_tutorial.operators import registry


def test_list_shows_every_kernel(gnt: Gnt) -> None:
    ids = [kernel.id for _, kernel in registry.all_kernels(registry.load_registry())]
    assert [row["kernel"] for row in gnt("list", "--json").json] == ids
    text = gnt("list").out
    assert all(name in text for name in ids)


def test_at_80_columns_every_kernel_is_whole(gnt: Gnt, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [kernel.id for _, kernel in registry.all_kernels(registry.load_registry())]
    monkeypatch.setenv("COLUMNS", "80")
    lines = gnt("list").out.splitlines()
    assert max(map(len, lines)) <= 80
    firsts = [line.split()[0] for line in lines if line[:1].strip()]
    assert [first for first in firsts if "/" in first] == ids
