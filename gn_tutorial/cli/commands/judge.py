"""``gnt judge``: judges every submission of a class, each in its own sandbox, on all cores."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json, positive_seconds


def judge(
    folder: Annotated[Path, typer.Argument(help="The class: a folder for each learner (docs/judging.md).")],
    results: Annotated[
        Path | None, typer.Option(help="The folder of the results. Default: FOLDER-judged, beside it.")
    ] = None,
    workers: Annotated[int, typer.Option(min=0, help="Texts judged at once on this machine; 0: its cores.")] = 0,
    scheduler: Annotated[str, typer.Option(help="Judge on a Dask cluster: tcp://host:8786, tls://host:8786.")] = "",
    seconds: Annotated[float, typer.Option(callback=positive_seconds, help="The most that one text may take.")] = 300.0,
    anew: Annotated[bool, typer.Option("--anew", help="Judge again what was judged before.")] = False,
    json: Json = False,
) -> None:
    """Judge every exercise and every task of the exam that a class handed in.

    Results are stored as they come, so a run that was stopped or killed goes on when it is called again. They are a
    table (results.csv), data (results.json) and a page (results.html), with each learner's points, findings and time.
    Equal texts are judged once; texts of different learners that are suspiciously equal are listed. Exit code 1 if a
    text could not be judged. Needs the extra: pip install 'gn_tutorial[judge]'.
    """
    from gn_tutorial.cli.judge_progress import Watcher, print_results
    from gn_tutorial.cli.terminal import emit_json
    from gn_tutorial.course.classroom.judge_class import Where, default_results, judge_class
    from gn_tutorial.errors import ArgumentError

    if scheduler and workers:
        raise ArgumentError("--scheduler and --workers exclude each other", hint="the scheduler has workers of its own")
    into = results or default_results(folder)
    try:
        with Watcher() as watcher:
            found = judge_class(folder, into, Where(workers, scheduler), limit=seconds, anew=anew, tell=watcher.tell)
    except KeyboardInterrupt:
        print("gnt: stopped; the same command goes on where it was", file=sys.stderr)
        raise typer.Exit(130) from None
    if json:
        emit_json(found.record())
    else:
        print_results(found, into)
    if found.count("undecided"):
        raise typer.Exit(1)


COMMAND = Command("judge", judge, Panel.TEACH, 10)
