"""``gnt dev playground``: writes the course as a web page, into a folder for any file server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel


def playground(
    folder: Annotated[Path, typer.Argument(help="Where the page goes: a new or empty folder.")] = Path(
        "playground_page"
    ),
) -> None:
    """Assemble the playground, a page that compiles and checks kernels in the browser (docs/playground.md).

    It needs the packages of web/playground/package.json: cd web/playground && npm ci.
    """
    from gn_tutorial.course.playground.assemble import assemble

    for what, size in assemble(folder).items():
        print(f"{what}: {size / 1e6:.1f} MB")
    print(f"python -m http.server --directory {folder}")


COMMAND = Command("playground", playground, Panel.DEV, 90)
