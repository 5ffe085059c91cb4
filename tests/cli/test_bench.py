"""``gnt bench`` on a narrow terminal; what it models is in tests/bench."""

from __future__ import annotations

import pytest
from command_line import Gnt

from gn_tutorial.operators.registry import load_registry


def test_at_80_columns_every_kernel_is_whole(gnt: Gnt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = gnt("bench", "--shape", "2,8,9,7", "--groups", 4)
    table = ran.out.partition("Every time is modelled")[0]
    names = {spec.id.partition("/")[2] for spec in load_registry()["group_norm"].kernels}
    assert names - set(table.split()) == set()
    assert max(map(len, table.splitlines())) <= 80
