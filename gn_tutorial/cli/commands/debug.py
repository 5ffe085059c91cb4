"""``gnt debug``: runs ``gnt run`` under gdb.

The kernel is built with -O0 -g. It runs inside the Python process that gdb starts, because gdb follows one process.
"""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.errors import ArgumentError, GntError


def debug(
    context: typer.Context,
    target: Annotated[
        str, typer.Argument(help="A registered kernel, a .cpp file or a folder of gnt new; its options as for gnt run.")
    ],
    stop: Annotated[
        str, typer.Option("--break", help="Where to stop: my.cpp:12 or a function. Default: the entry.")
    ] = "",
    only_print: Annotated[bool, typer.Option("--print", help="Print the gdb command instead of starting it.")] = False,
) -> None:
    """Run a kernel under gdb. It is compiled without optimisation, and stops where it begins."""
    words = command(target, context.args, stop=stop)
    if only_print:
        print(shlex.join(words))
        return
    if shutil.which("gdb") is None:
        raise GntError("there is no gdb on this machine", hint="Debian, Ubuntu: sudo apt install gdb")
    if not sys.stdin.isatty():
        raise ArgumentError("gdb needs a terminal", hint="gnt debug --print prints the command for another one")
    os.execvp(words[0], words)


def command(target: str, options: Sequence[str], *, stop: str = "") -> list[str]:
    """Return the command that starts gdb on ``gnt run target options`` and stops at ``stop`` or the kernel's entry.

    Raises RegistryError like ``kernel``. Without ``stop``, raises ArgumentError unless --entry names an entry, or the
    source has only one.
    """
    from gn_tutorial.cli.run_arguments import is_file
    from gn_tutorial.operators.kernel import kernel

    found = kernel(Path(target) if is_file(target) else target)
    chosen = dict(itertools.pairwise(options)).get("--entry")
    place = stop or found.entry(chosen).name
    run = [sys.executable, "-m", "gn_tutorial", "run", target, *options, "--in-process", "--unoptimised"]
    # gdb starts long before the kernel's library is loaded, so the breakpoint must be allowed to wait for the library.
    return ["gdb", "-q", "-ex", "set breakpoint pending on", "-ex", f"break {place}", "-ex", "run", "--args", *run]


COMMAND = Command("debug", debug, Panel.TOOLS, 20, rest=True)
