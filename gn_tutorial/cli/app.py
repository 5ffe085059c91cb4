"""The command line, ``gnt``. Each module of ``cli/commands`` is one command, and imports what it needs when it runs.

This makes ``gnt --help`` quick. Exit codes: 0 for success; 1 if a command finds that something is wrong, such as a
kernel or (doctor) this machine; 2 to 6 as in ``gn_tutorial.errors``; 70 for an error of gn_tutorial itself; 130 after
Ctrl-C.
"""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from gn_tutorial.cli import commands
from gn_tutorial.cli.command import Command, assemble, find_command, find_commands
from gn_tutorial.cli.terminal import print_error
from gn_tutorial.errors import ArgumentError, GntError

INTERNAL_ERROR = 70
INTERRUPTED = 130


def make_app(only: Sequence[Command] | None = None) -> typer.Typer:
    """Return the application with every command of ``cli/commands``, or with the commands in ``only``.

    Raises what ``find_commands`` raises.
    """
    made = typer.Typer(
        name="gnt",
        help="Build, run and check Ascend C kernels on this machine, without an NPU.",
        epilog="In a clone of the course, ./gnt also has test, lint and torch, and installs what lab and judge need.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    made.callback()(_options)
    assemble(made, find_commands(commands) if only is None else only)
    return made


def _app_for(words: Sequence[str]) -> typer.Typer:
    """Return the application, if possible with only the called command: to import all takes longer than to run one."""
    if "app" in globals():
        return globals()["app"]
    asked = find_command(commands, words[0]) if words else None
    return make_app(only=[asked]) if asked else make_app()


def main() -> None:
    """Run ``gnt`` with the words of the command line."""
    ending(lambda: _app_for(sys.argv[1:])(prog_name="gnt"))


def ending(run: Callable[[], None]) -> None:
    """Run a program, and turn an exception into a message and an exit code; only an internal error has a traceback.

    If the reader of the output has closed it, the program ends without a message, with exit code 0.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # show a file name that is not valid UTF-8 in escaped form
            stream.reconfigure(errors="backslashreplace")
    try:
        run()
    except GntError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("gnt: stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except MemoryError:
        print("gnt: not enough memory for this call; try a smaller shape", file=sys.stderr)
        sys.exit(ArgumentError.exit_code)
    except BrokenPipeError:  # `gnt show ... | head` closed our output, which is no error
        sys.stderr.close()
        sys.exit(0)
    except Exception:
        traceback.print_exc()
        print(f"\ngnt: this is an error in gn_tutorial, not in your kernel. {_where_to_report()}", file=sys.stderr)
        sys.exit(INTERNAL_ERROR)


def _where_to_report() -> str:
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        urls = metadata("gn_tutorial").get_all("Project-URL") or []
    except PackageNotFoundError:
        urls = []
    tracker = next((url.partition(",")[2].strip() for url in urls if url.lower().startswith("issues")), "")
    place = f"at {tracker}" if tracker else "in the project's issue tracker"
    return f"Please report it {place}, with the lines above and the output of `gnt doctor --json`."


def _show_version(asked: bool) -> None:
    if asked:
        from gn_tutorial import __version__

        print(f"gnt {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def __getattr__(name: str) -> typer.Typer:
    """Return ``app``, the application with all commands, made on first use. Raises AttributeError for other names."""
    if name != "app":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()["app"] = make_app()
    return globals()["app"]
