"""``gnt learn``: shows the next exercise, checks it, gives hints, resets it, and shows the solution."""

from __future__ import annotations

from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json, Strict, Waits

learn_app = typer.Typer(help="Work through the exercises.", invoke_without_command=True)

LearnWaits = Annotated[
    Waits,
    typer.Option(
        "--waits",
        help="explicit: the compiler adds no waits, except in an exercise that counts on them: the check then says so.",
    ),
]
ThisOrNext = Annotated[str, typer.Argument(help="An exercise, for example 03.2. Default: the next one.")]


@learn_app.callback()
def learn(
    context: typer.Context,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Check after each save, and continue after a pass; keys give hints and more."),
    ] = False,
    exercise: Annotated[str, typer.Option(help="This exercise instead of the next one.")] = "",
    strict: Strict = False,
    waits: LearnWaits = Waits.COMPILER,
) -> None:
    """Show the next exercise and check your attempt. Its file is copied on first use."""
    if context.invoked_subcommand:
        return
    from gn_tutorial.cli.learn_session import learner
    from gn_tutorial.cli.watched_keys import saves_and_keys

    me = learner(strict=strict, explicit_waits=waits is Waits.EXPLICIT)
    if not exercise and me.next() is None:
        print("every exercise is passed; gnt learn list shows them")
        return
    chosen = me.chosen(exercise)
    if watch:
        me.watch(chosen, saves_and_keys)
        return
    me.present(chosen)
    if me.check(chosen).status == "failed":
        raise typer.Exit(1)


@learn_app.command("check")
def learn_check(exercise: ThisOrNext = "", strict: Strict = False, waits: LearnWaits = Waits.COMPILER) -> None:
    """Check one exercise; exit code 1 unless it is right."""
    from gn_tutorial.cli.learn_session import learner

    me = learner(strict=strict, explicit_waits=waits is Waits.EXPLICIT)
    if not me.check(me.chosen(exercise)).passed:
        raise typer.Exit(1)


@learn_app.command("hint")
def learn_hint(
    exercise: ThisOrNext = "",
    level: Annotated[int | None, typer.Option(min=1, max=3, help="1 to 3. Default: one more than last time.")] = None,
) -> None:
    """Show a hint."""
    from gn_tutorial.cli.learn_session import learner

    me = learner()
    me.hint(me.chosen(exercise), level)


@learn_app.command("reset")
def learn_reset(
    exercise: ThisOrNext = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Start an exercise again; the attempt is kept as a backup."""
    from gn_tutorial.cli.learn_session import learner

    me = learner()
    me.reset(me.chosen(exercise), sure=lambda question: yes or typer.confirm(question))


@learn_app.command("solution")
def learn_solution(
    exercise: Annotated[str, typer.Argument(help="An exercise. Default: the one passed last.")] = "",
    now: Annotated[bool, typer.Option("--now", help="Even if it is not passed yet.")] = False,
) -> None:
    """Show our solution, after a pass."""
    from gn_tutorial.cli.learn_session import learner

    me = learner()
    me.solution(me.shown(exercise), now=now)


@learn_app.command("list")
def learn_list(
    part: Annotated[str, typer.Argument(help="Only these: 03 for the exercises of notebook 03, or one exercise.")] = "",
    json: Json = False,
) -> None:
    """List the exercises and quizzes, and how far you are."""
    from gn_tutorial.cli.learn_session import learner

    learner().table(as_json=json, part=part)


COMMAND = Command("learn", learn_app, Panel.LEARN, 20)
