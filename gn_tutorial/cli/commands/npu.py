"""``gnt npu verify``: runs kernels, operators and projects on an NPU, and writes a report to send to the authors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.errors import ArgumentError

_app = typer.Typer(help="On a machine with an NPU.", no_args_is_help=True)


@_app.callback()
def _group() -> None:
    """On a machine with an NPU."""


@_app.command("verify")
def verify(
    folder: Annotated[Path, typer.Argument(help="The folder for report, builds and logs.")] = Path("gnt_npu_report"),
    device: Annotated[int, typer.Option(help="Number of the NPU.")] = 0,
    rounds: Annotated[int, typer.Option(help="How many launches of each kernel are timed.")] = 50,
    only: Annotated[list[str] | None, typer.Option(help="A step: build, kernels, pytorch or projects.")] = None,
    kernel: Annotated[list[str] | None, typer.Option(help="Only kernels whose names begin with this.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Repeat what an earlier run has passed.")] = False,
) -> None:
    """Build and run every kernel, PyTorch's operators and the operator projects on an NPU; compare with the twin.

    Numbers, bits and times go into report.md and report.json in the folder as they come, so a run that was stopped
    continues where it was. We have not run this on an NPU: please send the report back.
    """
    from gn_tutorial.host.verify import steps
    from gn_tutorial.host.verify.report import JSON, MARKDOWN, VerifyReport

    chosen = list(only or steps.STEPS)
    if unknown := [one for one in chosen if one not in steps.STEPS]:
        raise ArgumentError(f"'{unknown[0]}' is no step", where="--only", hint=", ".join(steps.STEPS))
    if rounds < 1:
        raise ArgumentError(f"--rounds is {rounds}", hint="at least 1")
    steps.require_toolkit()
    report = VerifyReport(folder, steps.state_key(device), fresh=fresh)
    if "kernels" in chosen and "build" not in chosen:
        chosen.insert(0, "build")  # costs little, because CMake compiles only what has changed
    work = steps.VerifyWork(report, device=device, rounds=rounds, kernels=tuple(kernel or ()))

    def tell(step: str, row: dict) -> None:
        result = "passed" if row["passed"] else f"not asked: {row['skipped']}" if "skipped" in row else "FAILED"
        print(f"{step}: {row['name']}: {result}", flush=True)
        if step == "build" and row.get("error"):  # the other steps have many rows, and the report has their errors
            print(row["error"], flush=True)

    steps.run(work, chosen, tell)
    print(f"\nthe report: {folder / MARKDOWN} and {folder / JSON}")
    if wrong := report.failed():
        print(f"{len(wrong)} failed: {', '.join(wrong[:5])}{' ...' if len(wrong) > 5 else ''}")
        sys.exit(1)


COMMAND = Command("npu", _app, Panel.TOOLS, 60)
