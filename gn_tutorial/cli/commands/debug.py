"""``gnt debug``: gdb on a launch. The kernel runs inside this Python (gdb follows one process), built with -O0 -g."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from gn_tutorial.cli.commands.run import is_file
from gn_tutorial.errors import ArgumentError, GntError
from gn_tutorial.operators.kernel import kernel


def command(target: str, options: Sequence[str], *, stop: str = "") -> list[str]:
    """The words that start gdb on ``gnt run target options``, stopped at ``stop`` or at the kernel's entry.

    Raises ArgumentError if the source has several entries and none is chosen with --entry; RegistryError as ``kernel``.
    """
    found = kernel(Path(target) if is_file(target) else target)
    chosen = dict(itertools.pairwise(options)).get("--entry")
    place = stop or found.entry(chosen).name
    run = [sys.executable, "-m", "gn_tutorial", "run", target, *options, "--in-process", "--unoptimised"]
    # The kernel's library is loaded long after gdb started, so the breakpoint waits for it. Python's own SIGINT stays.
    return ["gdb", "-q", "-ex", "set breakpoint pending on", "-ex", f"break {place}", "-ex", "run", "--args", *run]


def run(target: str, options: Sequence[str], *, stop: str, only_print: bool) -> None:
    """Print the command, or become gdb. Raises GntError if there is no gdb or no terminal to use it from."""
    words = command(target, options, stop=stop)
    if only_print:
        print(shlex.join(words))
        return
    if shutil.which("gdb") is None:
        raise GntError("there is no gdb on this machine", hint="Debian, Ubuntu: sudo apt install gdb")
    if not sys.stdin.isatty():
        raise ArgumentError("gdb needs a terminal", hint="gnt debug --print prints the command for another one")
    os.execvp(words[0], words)
