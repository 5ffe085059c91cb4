"""``gnt run``: builds and runs a kernel, a learner's file or a whole sample."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import (
    Arg,
    Atol,
    Blocks,
    Define,
    Dtype,
    Entry,
    Error,
    Groups,
    Include,
    Inout,
    Json,
    Many,
    Out,
    Rtol,
    Seed,
    Settings,
    Shape,
    Strict,
    Template,
    Types,
    Waits,
    WaitsOption,
    Warn,
    Workspace,
    positive_seconds,
)
from gn_tutorial.cli.pictures import check_paths, draw_finding
from gn_tutorial.cli.terminal import emit_failure
from gn_tutorial.errors import ArgumentError, KernelError
from gn_tutorial.toml_file import course_file


def _failure_shown(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command, extended for a failed launch: ``--json`` then prints the failure and ``--plot`` draws it.

    The error is raised again, so the message and the exit code stay the same.
    """

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        try:
            command(**given)
        except KernelError as error:
            if given["json"]:
                emit_failure(error)
            if given["plot"] is not None:
                draw_finding(getattr(error, "diagnostics", ()), given["plot"])
            raise

    return wrapped


@_failure_shown
def run(
    target: Annotated[
        str,
        typer.Argument(
            callback=course_file,
            help="A registered kernel (group_norm/scalar), a .cpp file, or a whole sample with a main.",
        ),
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
    include: Include = None,
    files: Annotated[
        Path | None,
        typer.Option(help="Folder where a whole sample runs and may write files. Default: it may write none."),
    ] = None,
    seconds: Annotated[float, typer.Option(callback=positive_seconds, help="Time limit of a whole sample.")] = 60.0,
    blocks: Blocks = None,
    seed: Seed = 0,
    reference: Annotated[
        str,
        typer.Option(
            help="Compare a file's outputs with a function's: file.py:function. It gets --arg and --inout by name, and "
            "returns an array, a tuple in the order of --out, or a dict."
        ),
    ] = "",
    rtol: Rtol = None,
    atol: Atol = None,
    bare: Annotated[bool, typer.Option("--bare", help="Without checks and counts: faster.")] = False,
    in_process: Annotated[bool, typer.Option("--in-process", help="In this process: a crash ends gnt too.")] = False,
    unoptimised: Annotated[bool, typer.Option("--unoptimised", help="Compile with -O0 -g, for a debugger.")] = False,
    warn: Warn = None,
    error: Error = None,
    strict: Strict = False,
    waits: WaitsOption = Waits.COMPILER,
    plot: Annotated[Path | None, typer.Option(help="Write the first finding as a picture (PNG).")] = None,
    origin: Annotated[
        str, typer.Option(help="Show where an element of an output comes from, line by line: 'y[0, 37]'.")
    ] = "",
    json: Json = False,
) -> None:
    """Build and run a kernel, or a whole sample with a main of its own.

    A registered kernel is compared with its NumPy reference, a file with the function that --reference names. If the
    kernel is wrong, the exit code is 1, and the lines that the first wrong element comes from are shown.
    """
    from gn_tutorial.abi.options import TwinOptions
    from gn_tutorial.cli import sample_program
    from gn_tutorial.cli.run_arguments import is_file, parse_call, parse_element, parse_types, parse_values, refuse
    from gn_tutorial.cli.run_launch import How, Mode, run_file, run_registered, show_origin, user_reference
    from gn_tutorial.cli.run_launch import show as show_outcome

    check_paths(plot)
    element = parse_element(origin) if origin else None
    if element and (bare or json):
        raise ArgumentError(f"--origin does not go with {'--bare' if bare else '--json'}", hint="leave one of them out")
    options = TwinOptions(
        warnings=tuple(warn or ()), errors=tuple(error or ()), auto_sync="off" if waits is Waits.EXPLICIT else "on"
    )
    if bare and (strict or waits is Waits.EXPLICIT):
        asked = "--strict" if strict else "--waits explicit"
        raise ArgumentError(f"{asked} needs the checks that --bare leaves out", hint="choose one of the two")
    options = options.strict() if strict else options
    if not reference and (rtol is not None or atol is not None):
        raise ArgumentError("--rtol and --atol are of a comparison", hint="--reference file.py:function")
    arrays = {"--arg": arg, "--out": out, "--inout": inout, "--workspace": workspace}
    if sample_program.applies(target) and not any(arrays.values()):
        only_kernels = {"--shape": shape, "--groups": groups, "--set": settings, "--dtype": dtype, "--entry": entry}
        refuse(
            target,
            {
                **only_kernels,
                "--blocks": blocks,
                "--template": template,
                "--type": types,
                "--include": include,
                "--origin": origin,
                "--reference": reference,
            },
        )
        done = sample_program.run(
            target,
            words or [],
            files=files,
            defines=define or [],
            seconds=seconds,
            observed=not bare,
            optimise=not unoptimised,
            options=options,
        )
        sample_program.show(done, as_json=json)
        if plot is not None:
            draw_finding(done.launched.diagnostics, plot)
        return
    refuse(target, {"a sample's command line": words, "--files": files})
    mode = Mode(blocks, seed, not bare, not in_process, False if unoptimised else None, options)
    if is_file(target):
        refuse(target, {"--shape": shape, "--groups": groups, "--set": settings, "--dtype": dtype})
        values = parse_values(arg or [], out or [], inout or [], workspace or [], seed)
        how = How(template, parse_types(types or []), tuple(define or ()), tuple(include or ()))
        theirs = user_reference(reference, rtol, atol) if reference else None
        outcome = run_file(target, values, entry or None, mode, how, theirs)
    else:
        only_files = {**arrays, "--entry": entry, "--template": template, "--type": types, "--define": define,
                      "--reference": reference}  # fmt: skip
        refuse(target, {**only_files, "--include": include})
        call = parse_call(target, shape, groups, settings or [], dtype)
        outcome = run_registered(call, mode)
    show_outcome(outcome, as_json=json)
    if element:
        show_origin(outcome.result.origin(element[0], *element[1]))
    if plot is not None:
        draw_finding(outcome.result.diagnostics, plot)
    if not outcome.ok:
        raise typer.Exit(1)


COMMAND = Command("run", run, Panel.LEARN, 40)
