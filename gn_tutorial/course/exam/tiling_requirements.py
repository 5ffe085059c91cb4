"""Checks how kernel and tiling function agree on two things that no launch on the twin shows: SyncAll and workspace.

SyncAll needs all blocks to run at once, and SetScheduleMode(1) asks for that. GetUserWorkspace skips the library's
bytes at the start of the workspace, so the tiling function must ask for those bytes too.
Source: the pages of SetScheduleMode (CANN 9), of GetUserWorkspace and of the workspace in asc-devkit.

A module of its own, because the judge compares the results of launches, and this module asks what the kernel calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gn_tutorial.cpp.queries import calls, is_used
from gn_tutorial.projects.tiling_plan import TilingPlan


@dataclass(frozen=True)
class Unmet:
    """One requirement that is not met. rule: its name. in_kernel: the fault is the kernel's, not the tiling function's.

    stops: whether the kernel would use memory that does not exist; then nothing is launched.
    """

    rule: str
    what: str
    stops: bool = False
    in_kernel: bool = False


def unmet(plan: TilingPlan, library: int, kernels: Sequence[str]) -> Iterator[Unmet]:
    """Yield the unmet requirements. library: bytes of workspace that the library keeps.

    kernels: what the compiler reads of the kernel's files, for each build.
    """
    users = _call("GetUserWorkspace", kernels)
    if plan.blocks > 1 and plan.schedule_mode != 1 and _call("SyncAll", kernels):
        what = (
            f"SyncAll waits for all {plan.blocks} blocks, and nothing says that they start together: SetScheduleMode(1)"
        )
        yield Unmet("schedule-mode-unset", what)
    if users and 0 < plan.workspace < library:
        what = (
            f"a workspace of {plan.workspace:,} bytes, of which the library keeps the first {library:,}: "
            "nothing is left where GetUserWorkspace begins; add GetLibApiWorkSpaceSize()"
        )
        yield Unmet("workspace-without-library", what, stops=True)
    if not users and plan.workspace > library and any(is_used("workspace", text) for text in kernels):
        what = (
            f"the kernel uses workspace from its start, but the first {library:,} bytes belong to the library: "
            "GetUserWorkspace(workspace) returns yours"
        )
        yield Unmet("workspace-of-library", what, in_kernel=True)


def _call(name: str, kernels: Sequence[str]) -> bool:
    return any(True for text in kernels for _ in calls(text, name))
