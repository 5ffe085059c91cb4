"""The command line, ``gnt``. Commands import what they need when they run, so that ``gnt --help`` is quick.

Exit codes: 0 right; 1 a kernel is wrong, or kernels cannot run here (doctor); 2 to 6 as in ``gn_tutorial.errors``;
70 an error of gn_tutorial itself.
"""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from gn_tutorial.cli_bench import bench as bench_operator
from gn_tutorial.cli_bench import tune as tune_kernel
from gn_tutorial.cli_exercises import ask_quiz, exercise_app, learn_app
from gn_tutorial.cli_profile import diff as diff_kernels
from gn_tutorial.cli_profile import profile as profile_kernel
from gn_tutorial.errors import GntError, KernelError
from gn_tutorial.terminal import emit_failure, emit_json, print_error, print_table, working

INTERNAL_ERROR = 70
INTERRUPTED = 130

app = typer.Typer(
    name="gnt",
    help="Build, run and check Ascend C kernels on this machine, without an NPU.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
cache_app = typer.Typer(help="The folder of compiled kernels.", no_args_is_help=True)
app.add_typer(cache_app, name="cache")
app.add_typer(learn_app, name="learn")
app.add_typer(exercise_app, name="exercise")
app.command("profile")(profile_kernel)
app.command("diff")(diff_kernels)
app.command("bench")(bench_operator)
app.command("tune")(tune_kernel)
app.command("quiz")(ask_quiz)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Many = list[str] | None


def main() -> None:
    """Run ``gnt``; a mistake in the use becomes its message and its exit code, without a traceback."""
    try:
        app(prog_name="gnt")
    except GntError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("gnt: stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # `gnt show ... | head` closed our output: not an error
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


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def doctor(json: Json = False) -> None:
    """Say what this machine has, what it lacks, and what to do about it."""
    from gn_tutorial import doctor as checks

    with working("checking this machine and compiling a kernel"):
        rows = list(checks.run_checks())
    if json:
        emit_json([vars(row) for row in rows])
    else:
        print_table(("check", "status", "found", "what to do"), [(r.name, r.status, r.found, r.advice) for r in rows])
    if rows[-1].status != checks.OK:
        raise typer.Exit(1)


@app.command("list")
def list_kernels(json: Json = False) -> None:
    """List the registered kernels."""
    from gn_tutorial.spec import all_kernels, load_registry

    pairs = all_kernels(load_registry())
    if json:
        emit_json(
            [
                {
                    "kernel": spec.id,
                    "title": spec.title,
                    "operator": op.title,
                    "direction": op.direction,
                    "step": spec.step,
                    "dtypes": spec.dtypes,
                    "file": spec.file,
                    "tolerance": vars(spec.tolerance) | {"narrow": dict(spec.tolerance.narrow)},
                }
                for op, spec in pairs
            ]
        )
        return
    rows = [(s.id, f"{op.title}: {s.title}", ", ".join(s.dtypes), s.file.name) for op, s in pairs]
    print_table(("kernel", "what it is", "dtypes", "file"), rows)


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


@app.command()
@_failure_as_json
def run(
    target: Annotated[
        str, typer.Argument(help="A registered kernel (group_norm/scalar), a .cpp file, or a whole sample with a main.")
    ],
    words: Annotated[Many, typer.Argument(help="A whole sample's own command line.")] = None,
    shape: Annotated[str, typer.Option(help="Shape of the first input, for example 2,8,16,16.")] = "",
    groups: Annotated[int | None, typer.Option(help="Short for --set num_groups=...")] = None,
    settings: Annotated[Many, typer.Option("--set", help="An attribute of the operator: eps=1e-3.")] = None,
    dtype: Annotated[str, typer.Option(help="dtype of the data inputs.")] = "",
    arg: Annotated[
        Many, typer.Option(help="A .cpp file's input: x=float32[4096], x=@file.npy, or a number n=4096.")
    ] = None,
    out: Annotated[Many, typer.Option(help="A .cpp file's output: y=float32[4096].")] = None,
    inout: Annotated[Many, typer.Option(help="An array that the kernel reads and writes: a=float32[4096].")] = None,
    workspace: Annotated[Many, typer.Option(help="Scratch memory in bytes: w=65536.")] = None,
    entry: Annotated[str, typer.Option(help="Which kernel, where the file has several.")] = "",
    template: Annotated[str, typer.Option(help="Arguments of a file's kernel template: 'float, 16'.")] = "",
    types: Annotated[Many, typer.Option("--type", help="Define DTYPE_X and its kin: x=float16.")] = None,
    define: Annotated[Many, typer.Option("--define", "-D", help="Define a macro for a file: NAME=VALUE.")] = None,
    files: Annotated[
        Path | None, typer.Option(help="Folder where a whole sample runs and may write files; else it writes none.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="Time limit of a whole sample.")] = 60.0,
    blocks: Annotated[int | None, typer.Option(help="How many blocks (cores) to run on.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random input.")] = 0,
    bare: Annotated[bool, typer.Option("--bare", help="Without checks and counts: faster.")] = False,
    in_process: Annotated[bool, typer.Option("--in-process", help="In this process: a crash ends gnt too.")] = False,
    unoptimised: Annotated[bool, typer.Option("--unoptimised", help="Compile with -O0 -g, for a debugger.")] = False,
    json: Json = False,
) -> None:
    """Build and run a kernel, or a whole sample with a main of its own.

    A registered kernel is compared with its NumPy reference; a wrong one gives exit code 1.
    """
    from gn_tutorial import command_run, command_sample

    arrays = {"--arg": arg, "--out": out, "--inout": inout, "--workspace": workspace}
    if command_sample.applies(target) and not any(arrays.values()):
        only_kernels = {"--shape": shape, "--groups": groups, "--set": settings, "--dtype": dtype, "--entry": entry}
        command_run.refuse(target, {**only_kernels, "--blocks": blocks, "--template": template, "--type": types})
        done = command_sample.run(
            target,
            words or [],
            files=files,
            defines=define or [],
            seconds=seconds,
            observed=not bare,
            optimise=not unoptimised,
        )
        command_sample.show(done, as_json=json)
        return
    command_run.refuse(target, {"a sample's command line": words, "--files": files})
    mode = command_run.Mode(
        blocks=blocks, seed=seed, observed=not bare, isolated=not in_process, optimise=not unoptimised
    )
    if command_run.is_file(target):
        command_run.refuse(target, {"--shape": shape, "--groups": groups, "--set": settings, "--dtype": dtype})
        values = command_run.parse_values(arg or [], out or [], inout or [], workspace or [], seed)
        how = command_run.How(
            template=template, dtypes=command_run.parse_types(types or []), defines=tuple(define or ())
        )
        outcome = command_run.run_file(target, values, entry or None, mode, how)
    else:
        only_files = {**arrays, "--entry": entry, "--template": template, "--type": types, "--define": define}
        command_run.refuse(target, only_files)
        call = command_run.parse_call(target, shape, groups, settings or [], dtype)
        outcome = command_run.run_registered(call, mode)
    command_run.show(outcome, as_json=json)
    if not outcome.ok:
        raise typer.Exit(1)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def debug(
    context: typer.Context,
    target: Annotated[str, typer.Argument(help="A registered kernel or a .cpp file; its options as for gnt run.")],
    stop: Annotated[
        str, typer.Option("--break", help="Where to stop: my.cpp:12 or a function. Default: the entry.")
    ] = "",
    only_print: Annotated[bool, typer.Option("--print", help="Print the gdb command instead of starting it.")] = False,
) -> None:
    """Run a kernel under gdb, compiled without optimisation, stopped where it begins."""
    from gn_tutorial import command_debug

    command_debug.run(target, context.args, stop=stop, only_print=only_print)


@app.command()
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
    from gn_tutorial import command_run
    from gn_tutorial.kernel import kernel
    from gn_tutorial.terminal import print_source

    if tiling:
        call = command_run.parse_call(target, shape, groups, settings or [], "")
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


@app.command()
def apis(
    pattern: Annotated[str, typer.Argument(help="Part of a name, or a pattern with * and ?.")] = "",
    json: Json = False,
) -> None:
    """List the Ascend C names that the twin has, and those it rejects as not there yet."""
    from gn_tutorial.apis import load_apis, matching

    found = matching(load_apis(), pattern)
    if json:
        emit_json([vars(api) for api in found])
        return
    have = [(a.name, ", ".join(a.dtypes), " | ".join(a.forms)) for a in found if a.supported]
    lack = [a.name for a in found if not a.supported]
    if have:
        print_table(("name", "dtypes", "forms"), have, title=f"{len(have)} on the twin")
    if lack:
        print_table((), [(", ".join(lack),)], title=f"{len(lack)} known and not on the twin yet")
    if not found:
        from gn_tutorial.errors import ArgumentError

        raise ArgumentError(f"no Ascend C name matches '{pattern}'", hint="gnt apis lists them all")


@app.command()
def explain(
    name: Annotated[str, typer.Argument(help="The id of a diagnostic; none: the guide by symptom and the list.")] = "",
    json: Json = False,
) -> None:
    """Explain a diagnostic of the twin: what it means, why a device minds, wrong and right code."""
    from gn_tutorial import command_explain

    command_explain.run(name, as_json=json)


@app.command()
def compat(
    folder: Annotated[Path, typer.Argument(help="The folder to search for kernels.")],
    seconds: Annotated[float, typer.Option(help="Time limit of each compilation and each run.")] = 30.0,
    include: Annotated[
        list[Path] | None, typer.Option("--include", "-I", help="A folder to search for headers.")
    ] = None,
    define: Annotated[Many, typer.Option("--define", "-D", help="Define a macro: NAME=VALUE.")] = None,
    compile_only: Annotated[bool, typer.Option("--compile-only", help="Run nothing.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="List every file, not only the reasons.")] = False,
    json: Json = False,
) -> None:
    """Try every kernel under a folder on the twin: what compiles, what runs, and why the others do not.

    Exit code 0: every kernel for the vector cores of Atlas A2 compiled and ran; 1: some did not; 2: there is none.
    """
    from gn_tutorial import command_compat
    from gn_tutorial.compat import Options

    options = Options(seconds, tuple(include or ()), tuple(define or ()), run=not compile_only)
    code = command_compat.run(folder, options, everything=everything, as_json=json)
    if code:
        raise typer.Exit(code)


@app.command()
def calibrate(
    series: Annotated[
        Many,
        typer.Argument(help="bank, add, copy, instructions, or a case such as add/3; everything if none is named."),
    ] = None,
    machine: Annotated[str, typer.Option(help="Another machine than the measured one: 910B3, or a .toml file.")] = "",
    json: Json = False,
) -> None:
    """Hold the timing model against published measurements: our own kernels for the published cases.

    Exit code 1 if a target was missed.
    """
    from gn_tutorial import command_calibrate

    if not command_calibrate.run(series or [], machine, as_json=json):
        raise typer.Exit(1)


@app.command()
def ide(
    folder: Annotated[Path, typer.Argument(help="The folder of your kernels.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
) -> None:
    """Write settings for clangd and VS Code: kernels complete, and the twin's comments show as documentation.

    A file that is there with another text is replaced only after asking, or with --force; else it is kept, exit code 1.
    """
    from gn_tutorial import command_ide

    def may_replace(path: Path) -> bool:
        return force or (sys.stdin.isatty() and typer.confirm(f"{path} is there already: replace it?"))

    done = command_ide.write(folder, may_replace)
    print_table(("file", "status"), done)
    if any(status == command_ide.KEPT for _, status in done):
        raise typer.Exit(1)


@app.command("host-library")
def host_library(
    folder: Annotated[Path, typer.Argument(help="Where to write; it is made if it is not there.")],
    observed: Annotated[
        bool, typer.Option("--observed", help="Kernels with the twin's checks: slower, and a wrong launch is named.")
    ] = False,
    json: Json = False,
) -> None:
    """Write headers, libraries and an example into one folder, for a C program that calls GroupNorm."""
    from gn_tutorial import command_host

    command_host.run(folder, observed=observed, as_json=json)


@app.command()
def npu(
    folder: Annotated[Path, typer.Argument(help="Where to build.")] = Path("build_npu"),
    build: Annotated[bool, typer.Option("--build", help="Run the commands, too. Needs the CANN toolkit.")] = False,
    json: Json = False,
) -> None:
    """Say what an NPU needs that is not here, and print the commands that build the operators for one."""
    from gn_tutorial import command_npu

    command_npu.run(folder, build=build, as_json=json)


@app.command()
def prototype(
    operators: Annotated[
        Many, typer.Argument(help="Names of operators; all that PyTorch gets if there is none.", show_default=False)
    ] = None,
) -> None:
    """Print the operators' prototype (JSON), from which CANN's msopgen makes a project. Not run through it here."""
    from gn_tutorial.prototype import text

    print(text(operators or ("group_norm", "group_norm_silu", "group_norm_backward")), end="")


@app.command()
def tour(
    photo: Annotated[Path | None, typer.Argument(help="A photograph; one is supplied.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the picture.")] = None,
    json: Json = False,
) -> None:
    """Normalise a photograph's feature map with every forward kernel, and check each one."""
    from gn_tutorial import command_tour

    if not command_tour.run(photo, out, as_json=json):
        raise typer.Exit(1)


@cache_app.command("info")
def cache_info(json: Json = False) -> None:
    """Say where the cache is and how large."""
    from gn_tutorial.cache import default_cache

    info = default_cache().info()
    if json:
        emit_json({"path": info.root, "entries": info.entries, "bytes": info.bytes, "limit_bytes": info.limit_bytes})
        return
    size = f"{info.bytes / 2**20:.1f} of {info.limit_bytes / 2**20:.0f} MiB"
    print_table((), [("folder", info.root), ("entries", info.entries), ("size", size)])


@cache_app.command("clear")
def cache_clear(json: Json = False) -> None:
    """Remove every compiled kernel; the next run compiles again."""
    from gn_tutorial.cache import default_cache

    cache = default_cache()
    freed = cache.clear()
    if json:
        emit_json({"path": cache.root, "freed_bytes": freed})
    else:
        print(f"cleared {cache.root}: {freed / 2**20:.1f} MiB freed")


@cache_app.command("path")
def cache_path() -> None:
    """Print the cache folder."""
    from gn_tutorial.cache import default_cache

    print(default_cache().root)
