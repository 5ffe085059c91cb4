"""``gnt dev prototype``: prints the operators in the format that CANN's project generator reads."""

from __future__ import annotations

from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Many


def prototype(
    operators: Annotated[
        Many,
        typer.Argument(help="Names of operators. Default: GroupNorm, with SiLU, and backward.", show_default=False),
    ] = None,
) -> None:
    """Print the operators' prototype (JSON), from which CANN's msopgen makes a project. We did not run msopgen."""
    from gn_tutorial.operators.prototype import text

    print(text(operators or ("group_norm", "group_norm_silu", "group_norm_backward")), end="")


COMMAND = Command("prototype", prototype, Panel.DEV, 60, old_names=("prototype",))
