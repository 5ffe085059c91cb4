"""``gnt dev npu``: says what this machine lacks to use an NPU, and prints commands that build the host API for one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json, working


def build_for_npu(
    folder: Annotated[Path, typer.Argument(help="Where to build.")] = Path("build_npu"),
    build: Annotated[bool, typer.Option("--build", help="Run the commands, too. Needs the CANN toolkit.")] = False,
    json: Json = False,
) -> None:
    """Say what is missing here to use an NPU, and print the commands that build the operators for one.

    With --build, clang first reads the kernels for memory qualifiers (__gm__, __ubuf__) that the device needs.
    """
    from gn_tutorial.host import npu
    from gn_tutorial.host.c_library import operators
    from gn_tutorial.operators.space_findings import in_files

    available, reason = npu.npu_available()
    commands = npu.build_commands(folder)
    library = None
    spaces: dict[str, object] = {}
    if build and npu.toolkit_path():
        with working("reading the kernels' memory qualifiers"):
            found, check = in_files(npu.launched_kernels())
        spaces = {"address_spaces": str(check), "findings": found}
        if not json:
            print("\n".join([str(check), *found]), flush=True)
    if build:
        with working("building the host API for the NPU"):
            library = npu.build(folder)
    if json:
        emit_json(
            {
                "npu": available, "reason": reason, "commands": commands, "operators": list(operators()),
                "library": library, "tested": npu.NOT_RUN, **spaces,
            }
        )  # fmt: skip
        return
    print(f"NPU: {reason}" if available else f"no NPU: {reason}")
    if library is not None:
        print(f"built: {library}")
    else:
        print("build the host API for one, after `source <CANN>/set_env.sh`:")
        for command in commands:
            print(f"  {shlex.join(command)}")
    print(f"{npu.LIBRARY} has these operators: {', '.join(operators())}")
    print(f"This part of the course was {npu.NOT_RUN}.")


COMMAND = Command("npu", build_for_npu, Panel.DEV, 50)
