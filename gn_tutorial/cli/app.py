"""The command line, ``gnt``. Commands import what they need when they run, so that ``gnt --help`` is quick.

Exit codes: 0 right; 1 a kernel is wrong, or kernels cannot run here (doctor); 2 to 6 as in ``gn_tutorial.errors``;
70 an error of gn_tutorial itself.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.bench import bench as bench_operator
from gn_tutorial.cli.bench import tune as tune_kernel
from gn_tutorial.cli.cache import cache_app
from gn_tutorial.cli.exercises import ask_quiz, exercise_app, learn_app
from gn_tutorial.cli.options import Json, Many
from gn_tutorial.cli.profile import diff as diff_kernels
from gn_tutorial.cli.profile import profile as profile_kernel
from gn_tutorial.cli.run import debug as debug_kernel
from gn_tutorial.cli.run import run as run_kernel
from gn_tutorial.cli.run import show as show_kernel
from gn_tutorial.cli.terminal import emit_json, print_error, print_table, working
from gn_tutorial.errors import GntError

INTERNAL_ERROR = 70
INTERRUPTED = 130

app = typer.Typer(
    name="gnt",
    help="Build, run and check Ascend C kernels on this machine, without an NPU.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(cache_app, name="cache")
app.add_typer(learn_app, name="learn")
app.add_typer(exercise_app, name="exercise")
app.command("run")(run_kernel)
app.command("debug", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(debug_kernel)
app.command("show")(show_kernel)
app.command("profile")(profile_kernel)
app.command("diff")(diff_kernels)
app.command("bench")(bench_operator)
app.command("tune")(tune_kernel)
app.command("quiz")(ask_quiz)


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
    from gn_tutorial.cli import doctor as checks

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
    from gn_tutorial.operators.registry import all_kernels, load_registry

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


@app.command()
def apis(
    pattern: Annotated[str, typer.Argument(help="Part of a name, or a pattern with * and ?.")] = "",
    json: Json = False,
) -> None:
    """List the Ascend C names that the twin has, and those it rejects as not there yet."""
    from gn_tutorial.cli.apis import load_apis, matching

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
    from gn_tutorial.cli.commands import explain

    explain.run(name, as_json=json)


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
    from gn_tutorial.cli.commands import compat
    from gn_tutorial.cli.compat import Options

    options = Options(seconds, tuple(include or ()), tuple(define or ()), run=not compile_only)
    code = compat.run(folder, options, everything=everything, as_json=json)
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
    from gn_tutorial.cli.commands import calibrate

    if not calibrate.run(series or [], machine, as_json=json):
        raise typer.Exit(1)


@app.command()
def ide(
    folder: Annotated[Path, typer.Argument(help="The folder of your kernels.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
) -> None:
    """Write settings for clangd and VS Code: kernels complete, and the twin's comments show as documentation.

    A file that is there with another text is replaced only after asking, or with --force; else it is kept, exit code 1.
    """
    from gn_tutorial.cli.commands import ide

    def may_replace(path: Path) -> bool:
        return force or (sys.stdin.isatty() and typer.confirm(f"{path} is there already: replace it?"))

    done = ide.write(folder, may_replace)
    print_table(("file", "status"), done)
    if any(status == ide.KEPT for _, status in done):
        raise typer.Exit(1)


@app.command("host-library")
def host_library(
    folder: Annotated[Path, typer.Argument(help="Where to write; it is made if it is not there.")],
    observed: Annotated[
        bool, typer.Option("--observed", help="Kernels with the twin's checks: slower, and a wrong launch is named.")
    ] = False,
    json: Json = False,
) -> None:
    """Write headers, libraries and an example into one folder, for a C program that calls GroupNorm, GELU or Linear."""
    from gn_tutorial.cli.commands import host

    host.run(folder, observed=observed, as_json=json)


@app.command()
def npu(
    folder: Annotated[Path, typer.Argument(help="Where to build.")] = Path("build_npu"),
    build: Annotated[bool, typer.Option("--build", help="Run the commands, too. Needs the CANN toolkit.")] = False,
    json: Json = False,
) -> None:
    """Say what an NPU needs that is not here, and print the commands that build the operators for one."""
    from gn_tutorial.cli.commands import npu

    npu.run(folder, build=build, as_json=json)


@app.command()
def prototype(
    operators: Annotated[
        Many,
        typer.Argument(help="Names of operators. Default: GroupNorm, with SiLU, and backward.", show_default=False),
    ] = None,
) -> None:
    """Print the operators' prototype (JSON), from which CANN's msopgen makes a project. Not run through it here."""
    from gn_tutorial.operators.prototype import text

    print(text(operators or ("group_norm", "group_norm_silu", "group_norm_backward")), end="")


@app.command()
def tour(
    photo: Annotated[Path | None, typer.Argument(help="A photograph; one is supplied.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the picture.")] = None,
    json: Json = False,
) -> None:
    """Normalise a photograph's feature map with every forward kernel, and go back with the last one; check each."""
    from gn_tutorial.cli.commands import tour

    if not tour.run(photo, out, as_json=json):
        raise typer.Exit(1)
