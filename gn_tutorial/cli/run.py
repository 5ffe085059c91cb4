"""``gnt run``, ``gnt debug`` and ``gnt show``. As in ``cli``, commands import what they need when they run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from gn_tutorial.cli.options import (
    Arg,
    Blocks,
    Define,
    Dtype,
    Entry,
    Groups,
    Inout,
    Json,
    Many,
    Out,
    Seed,
    Settings,
    Shape,
    Template,
    Types,
    Workspace,
)
from gn_tutorial.cli.terminal import emit_failure, emit_json, print_table, working
from gn_tutorial.errors import KernelError


def _failure_as_json(command: Callable[..., None]) -> Callable[..., None]:
    """With ``--json`` a launch that fails is JSON on standard output too; its message and exit code stay."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        try:
            command(**given)
        except KernelError as error:
            if given["json"]:
                emit_failure(error)
            raise

    return wrapped


@_failure_as_json
def run(
    target: Annotated[
        str, typer.Argument(help="A registered kernel (group_norm/scalar), a .cpp file, or a whole sample with a main.")
    ],
    words: Annotated[Many, typer.Argument(help="A whole sample's own command line.")] = None,
    shape: Shape = "",
    groups: Groups = None,
    settings: Settings = None,
    dtype: Dtype = "",
    arg: Arg = None,
    out: Out = None,
    inout: Inout = None,
    workspace: Workspace = None,
    entry: Entry = "",
    template: Template = "",
    types: Types = None,
    define: Define = None,
    files: Annotated[
        Path | None, typer.Option(help="Folder where a whole sample runs and may write files; else it writes none.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="Time limit of a whole sample.")] = 60.0,
    blocks: Blocks = None,
    seed: Seed = 0,
    bare: Annotated[bool, typer.Option("--bare", help="Without checks and counts: faster.")] = False,
    in_process: Annotated[bool, typer.Option("--in-process", help="In this process: a crash ends gnt too.")] = False,
    unoptimised: Annotated[bool, typer.Option("--unoptimised", help="Compile with -O0 -g, for a debugger.")] = False,
    json: Json = False,
) -> None:
    """Build and run a kernel, or a whole sample with a main of its own.

    A registered kernel is compared with its NumPy reference; a wrong one gives exit code 1.
    """
    from gn_tutorial.cli.commands import run, sample

    arrays = {"--arg": arg, "--out": out, "--inout": inout, "--workspace": workspace}
    if sample.applies(target) and not any(arrays.values()):
        only_kernels = {"--shape": shape, "--groups": groups, "--set": settings, "--dtype": dtype, "--entry": entry}
        run.refuse(target, {**only_kernels, "--blocks": blocks, "--template": template, "--type": types})
        done = sample.run(
            target,
            words or [],
            files=files,
            defines=define or [],
            seconds=seconds,
            observed=not bare,
            optimise=not unoptimised,
        )
        sample.show(done, as_json=json)
        return
    run.refuse(target, {"a sample's command line": words, "--files": files})
    mode = run.Mode(blocks=blocks, seed=seed, observed=not bare, isolated=not in_process, optimise=not unoptimised)
    if run.is_file(target):
        run.refuse(target, {"--shape": shape, "--groups": groups, "--set": settings, "--dtype": dtype})
        values = run.parse_values(arg or [], out or [], inout or [], workspace or [], seed)
        how = run.How(template=template, dtypes=run.parse_types(types or []), defines=tuple(define or ()))
        outcome = run.run_file(target, values, entry or None, mode, how)
    else:
        only_files = {**arrays, "--entry": entry, "--template": template, "--type": types, "--define": define}
        run.refuse(target, only_files)
        call = run.parse_call(target, shape, groups, settings or [], dtype)
        outcome = run.run_registered(call, mode)
    run.show(outcome, as_json=json)
    if not outcome.ok:
        raise typer.Exit(1)


def debug(
    context: typer.Context,
    target: Annotated[str, typer.Argument(help="A registered kernel or a .cpp file; its options as for gnt run.")],
    stop: Annotated[
        str, typer.Option("--break", help="Where to stop: my.cpp:12 or a function. Default: the entry.")
    ] = "",
    only_print: Annotated[bool, typer.Option("--print", help="Print the gdb command instead of starting it.")] = False,
) -> None:
    """Run a kernel under gdb, compiled without optimisation, stopped where it begins."""
    from gn_tutorial.cli.commands import debug

    debug.run(target, context.args, stop=stop, only_print=only_print)


def show(
    target: Annotated[str, typer.Argument(help="A registered kernel or a .cpp file.")],
    tiling: Annotated[
        bool, typer.Option("--tiling", help="The tiling struct for a shape, instead of the source.")
    ] = False,
    shape: Annotated[str, typer.Option(help="With --tiling: shape of the first input.")] = "",
    groups: Annotated[int | None, typer.Option(help="With --tiling: short for --set num_groups=...")] = None,
    settings: Annotated[Many, typer.Option("--set", help="With --tiling: an attribute, eps=1e-3.")] = None,
    blocks: Annotated[int | None, typer.Option(help="With --tiling: the most blocks to use.")] = None,
    json: Json = False,
) -> None:
    """Print a kernel's source, or how its work is split for a shape."""
    from gn_tutorial.cli.commands import run
    from gn_tutorial.cli.terminal import print_source
    from gn_tutorial.operators.kernel import kernel

    if tiling:
        call = run.parse_call(target, shape, groups, settings or [], "")
        with working("compiling the tiling function"):
            made = kernel(target).tiling(*call.arrays(0).values(), blocks=blocks, **call.attributes)
        if json:
            emit_json({"struct": made.name, "bytes": len(made.bytes), "fields": made.fields})
        else:
            print_table(
                ("field", "type", "offset", "value"), made.rows(), title=f"{made.name}, {len(made.bytes)} bytes"
            )
        return
    found = kernel(target)
    if json:
        entries = [{"name": e.name, "line": e.line, "parameters": [vars(p) for p in e.params]} for e in found.entries]
        emit_json({"kernel": found.name, "file": found.path, "entries": entries, "source": found.source})
    else:
        print_source(found.source, str(found.path))
