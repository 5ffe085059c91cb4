"""``gnt doctor``: what this machine has and lacks, as a table or JSON."""

from __future__ import annotations

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json, print_table, working


def doctor(json: Json = False) -> None:
    """Say what this machine has, what it lacks, and what to do about it."""
    from gn_tutorial.cli import doctor as checks

    with working("checking this machine and compiling a kernel"):
        rows = list(checks.run_checks())
    if json:
        emit_json([vars(row) for row in rows])
    else:
        print_table(("check", "status", "found", "what to do"), [(r.name, r.status, r.found, r.advice) for r in rows])
    if rows[-1].status != checks.OK:
        raise typer.Exit(1)


COMMAND = Command("doctor", doctor, Panel.LEARN, 80)
