"""``gnt dev host-library``: writes a folder with headers and libraries for a C program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json, print_table, working


def host_library(
    folder: Annotated[Path, typer.Argument(help="The folder to write; it is created if it does not exist.")],
    observed: Annotated[
        bool,
        typer.Option("--observed", help="Kernels with the twin's checks: slower, but a wrong launch is explained."),
    ] = False,
    json: Json = False,
) -> None:
    """Write headers, libraries and an example into one folder, for a C program that calls GroupNorm, GELU or Linear."""
    from gn_tutorial.host import c_library

    with working("compiling the host API and its kernels"):
        files = c_library.export(folder, observed=observed)
    command = c_library.compile_command(folder)
    if json:
        emit_json({"files": files, "compile": command})
        return
    what = {
        "gn_host_api.h": "the C interface: what all operators share",
        "gn_host_twin.h": "what only the twin has",
        c_library.LIBRARY: "the host API, with the twin as the device",
        c_library.EXAMPLE: "a whole call, in C99",
    }
    rest = {".h": "the C interface of an operator"}
    rows = [(str(file), what.get(file.name, rest.get(file.suffix, "a kernel library"))) for file in files]
    print_table(("file", "what it is"), rows)
    print(f"compile and run the example:\n  {command}")


COMMAND = Command("host-library", host_library, Panel.DEV, 40, old_names=("host-library",))
