"""Runs a function with Typer's options as a program, ``python -m tools.<name>``, with gnt's errors and exit codes."""

from __future__ import annotations

from collections.abc import Callable

import typer

from gn_tutorial.cli.app import ending


def program(function: Callable[..., None]) -> typer.Typer:
    """Return the Typer application whose only command is this function."""
    made = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    made.command()(function)
    return made


def run(function: Callable[..., None], name: str) -> None:
    """Run the function with the command line's arguments. name: of its module, for the help."""
    ending(lambda: program(function)(prog_name=f"python -m {name}"))
