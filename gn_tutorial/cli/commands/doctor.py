"""``gnt doctor``: shows what this machine has and lacks; ``--class`` says whether it is ready for a class."""

from __future__ import annotations

from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json, print_table, working


def doctor(
    for_class: Annotated[
        bool, typer.Option("--class", help="Say whether this computer is ready for a class, and compile its kernels.")
    ] = False,
    json: Json = False,
) -> None:
    """Say what this machine has, what it lacks, and what to do about it."""
    from gn_tutorial.cli import class_checks
    from gn_tutorial.cli import machine_report as checks

    what = "checking this machine and compiling " + ("the kernels of a class" if for_class else "a kernel")
    with working(what):
        rows = list(class_checks.run_class_checks() if for_class else checks.run_checks())
    if json:
        emit_json([vars(row) for row in rows])
    else:
        print_table(("check", "status", "found", "what to do"), [(r.name, r.status, r.found, r.advice) for r in rows])
    wrong = class_checks.not_ready(rows) if for_class else [row for row in rows[-1:] if row.status != checks.OK]
    if for_class and not json:
        names = ", ".join(row.name for row in wrong)
        print(f"not ready: {names}. The last column says what to do." if wrong else "ready for the class")
    if wrong:
        raise typer.Exit(1)


COMMAND = Command("doctor", doctor, Panel.LEARN, 80)
