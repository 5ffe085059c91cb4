"""Calls ``gnt`` from a test with its arguments, and returns exit code and output."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import typer
from typer.main import get_command


class Ran(NamedTuple):
    """The exit code and the two output streams of one command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Gnt = Callable[..., Ran]


def visible(app: typer.Typer, *groups: str) -> list[str]:
    """Return the commands that the help of the application, or of a group in it, shows, in its order."""
    group: Any = get_command(app)
    for name in groups:
        group = group.commands[name]
    return [name for name in group.list_commands(None) if not group.commands[name].hidden]
