"""The requirements that a kernel with SyncAll or a workspace has on its tiling."""

from __future__ import annotations

import pytest

from gn_tutorial.course.exam.tiling_requirements import unmet
from gn_tutorial.projects.tiling_plan import TilingPlan

LIBRARY = 16 << 20
ENTRY = "void k(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {{ {} }}"
MEETS, OWN, RAW = "op.Init(x); SyncAll();", "op.Init(x, GetUserWorkspace(workspace));", "op.Init(x, workspace);"


def rules(body: str, *, workspace: int = 0, mode: int = 0, blocks: int = 8) -> list[str]:
    plan = TilingPlan("K", "Ascend910B2", blocks, 0, workspace, b"", "", None, (), schedule_mode=mode)
    return [one.rule for one in unmet(plan, LIBRARY, [ENTRY.format(body)])]


@pytest.mark.parametrize(
    ("body", "plan", "said"),
    [
        (MEETS, {}, ["schedule-mode-unset"]),
        (MEETS, {"mode": 1}, []),
        (MEETS, {"blocks": 1}, []),
        ("// SyncAll();\n", {}, []),
        (OWN, {"workspace": 1024}, ["workspace-without-library"]),
        (OWN, {"workspace": LIBRARY + 1024}, []),
        (OWN, {}, []),
        (RAW, {"workspace": LIBRARY + 1024}, ["workspace-of-library"]),
        (RAW, {"workspace": LIBRARY}, []),
        ("(void)workspace;", {"workspace": LIBRARY + 1024}, []),
        ("(void) workspace;", {"workspace": LIBRARY + 1024}, []),
        ('Print("SyncAll(); workspace");', {"workspace": LIBRARY + 1024}, []),
        ("int SyncAll = 1; use(SyncAll);", {}, []),
    ],
)
def test_each_rule(body: str, plan: dict[str, int], said: list[str]) -> None:
    assert rules(body, **plan) == said
