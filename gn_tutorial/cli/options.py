"""The options that several commands of ``gnt`` share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.timing.machine import machines
from gn_tutorial.toml_file import course_file


def _blocks(value: int | None) -> int | None:
    if value is not None:
        from gn_tutorial.runtime.launch_types import check_blocks

        check_blocks(value)  # before the compiler runs
    return value


def positive_seconds(value: float) -> float:
    """Return a time limit unchanged; a callback for options. Raises ArgumentError unless it is positive and finite."""
    from gn_tutorial.abi.options import Limits

    Limits(seconds=value)
    return value


class Waits(StrEnum):
    """Whose waits the twin takes into account: also those that the compiler adds, or only those in the source."""

    COMPILER = "compiler"
    EXPLICIT = "explicit"


Many = list[str] | None
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Target = Annotated[
    str,
    typer.Argument(
        callback=course_file,
        help="A registered kernel (group_norm/scalar), a .cpp file, an operator project's folder, or one of gnt new.",
    ),
]
Shape = Annotated[str, typer.Option(help="Shape of the first input, for example 2,8,16,16.")]
Groups = Annotated[int | None, typer.Option(help="Short for --set num_groups=...")]
Settings = Annotated[Many, typer.Option("--set", help="An attribute of the operator: eps=1e-3.")]
Dtype = Annotated[str, typer.Option(help="dtype of the data inputs.")]
In = Annotated[
    Many, typer.Option("--in", help="A project's input: float16[8,2048], x=float32[3], x=@file.npy, x=none.")
]
Arg = Annotated[Many, typer.Option(help="A .cpp file's input: x=float32[4096], x=@file.npy, or a number n=4096.")]
Out = Annotated[Many, typer.Option(help="A .cpp file's output: y=float32[4096].")]
Inout = Annotated[Many, typer.Option(help="An array that a file's kernel reads and writes: a=float32[4096].")]
Workspace = Annotated[Many, typer.Option(help="Scratch memory of a file's kernel, in bytes: w=65536.")]
Entry = Annotated[str, typer.Option(help="Which kernel, if the file has several.")]
Template = Annotated[str, typer.Option(help="Arguments of a file's kernel template: 'float, 16'.")]
Types = Annotated[Many, typer.Option("--type", help="Define DTYPE_X and related names: x=float16.")]
Include = Annotated[
    Many, typer.Option("--include", help="A file that is read before a kernel's file, as a project's build reads it.")
]
Define = Annotated[Many, typer.Option("--define", "-D", help="Define a macro for a file: NAME=VALUE.")]
Blocks = Annotated[
    int | None, typer.Option(callback=_blocks, help="How many blocks (cores) to run on. Default: all of the chip.")
]
Warn = Annotated[Many, typer.Option(help="A finding that is a warning in this run, by name: ub-use-after-free.")]
Error = Annotated[Many, typer.Option(help="A finding that fails this run, by name: gm-not-written.")]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Poisoned padding, approximate reciprocals, copies that arrive late, forms that CANN 9 refuses.",
    ),
]
WaitsOption = Annotated[
    Waits,
    typer.Option("--waits", help="explicit: the compiler adds no waits, as in builds of some operator libraries."),
]
Rtol = Annotated[float | None, typer.Option(help="Relative tolerance of the comparison, for all dtypes.")]
Atol = Annotated[float | None, typer.Option(help="Absolute tolerance of the comparison, for all dtypes.")]
Seed = Annotated[int, typer.Option(help="Seed of the random input.")]
Like = Annotated[str, typer.Option(help="A file takes the arguments of this registered kernel: --shape then applies.")]
MachineName = Annotated[str, typer.Option(help=f"{', '.join(machines())}, or a .toml file of your own.")]
Warm = Annotated[bool, typer.Option("--warm", help="Data that fit into the L2 cache are there before the launch.")]
Record = Annotated[
    str, typer.Option(help="Blocks to record: 8 (evenly spread), or which: 0,5. Default: 8, fewer if large.")
]
Html = Annotated[
    Path | None,
    typer.Option("--html", help="Write an interactive timeline for a browser: FILE.html (zoom, point at a box)."),
]
GridGroups = Annotated[int | None, typer.Option(help="Short for --set num_groups=..., with --shape.")]
GridSettings = Annotated[Many, typer.Option("--set", help="An attribute of the operator, with --shape: eps=1e-3.")]
GridDtype = Annotated[str, typer.Option(help="dtype of the data inputs, with --shape.")]
