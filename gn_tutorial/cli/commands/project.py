"""``gnt project``: shows, tiles, runs, fuzzes, tests and makes operator projects (folders op_host and op_kernel)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Atol, In, Json, Many, Rtol, Seed, positive_seconds
from gn_tutorial.cli.terminal import emit_json, print_table, working

if TYPE_CHECKING:
    from gn_tutorial.projects.call import OpCall
    from gn_tutorial.projects.project import Project
    from gn_tutorial.projects.tiling_plan import TilingPlan

project_app = typer.Typer(
    help="Run an operator project, the folder that msopgen made, unchanged.", no_args_is_help=True
)

Folder = Annotated[Path, typer.Argument(help="The folder with op_host and op_kernel.")]
Op = Annotated[str, typer.Option(help="Which operator, if the folder has several.")]
SocName = Annotated[
    str, typer.Option(help="The chip for the tiling function: Ascend910B2, 910b4, 310b4. Default: from AddConfig.")
]
Attr = Annotated[Many, typer.Option("--attr", help="An attribute: eps=1e-5, axes=0,2.")]
OutWords = Annotated[
    Many, typer.Option("--out", help="An output that InferShape does not give: float32[8]; mean=none omits one.")
]


@project_app.command("show")
def project_show(folder: Folder, op: Op = "", soc: SocName = "", json: Json = False) -> None:
    """Show what the project defines: inputs, outputs, attributes, dtypes by chip, functions, kernel, files."""
    found = _project(folder, op, soc)
    with working("compiling the host files"):
        one = found.definition
    columns = one.columns(found.soc.config)
    if json:
        emit_json({"definition": one, "columns": [str(column) for column in columns.columns], "note": columns.note})
        return
    print_table((), found.rows(), title=f"project {found.name}")
    rows = [(str(index), str(column)) for index, column in enumerate(columns.columns)]
    print_table(("column", f"dtypes on {columns.entry or columns.chip}"), rows)


@project_app.command("tiling")
def project_tiling(
    folder: Folder,
    inputs: In = None,
    attributes: Attr = None,
    outputs: OutWords = None,
    op: Op = "",
    soc: SocName = "",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Show what the project's own tiling function decides for a call: blocks, key, workspace, the struct by field."""
    from gn_tutorial.projects.tiling_plan import HEADERS

    found = _project(folder, op, soc)
    plan = _planned(found, inputs, attributes, outputs, seed)[1]
    if json:
        emit_json({**dict(plan.facts()), "fields": plan.fields, "data": plan.data.hex(), "notes": plan.notes})
    else:
        print_table((), plan.facts(), title=f"tiling of {found.name}")
        print_table(HEADERS, plan.rows())
        for note in plan.notes:
            print(note)
    if any(note.severity == "error" for note in plan.notes):
        raise typer.Exit(1)


@project_app.command("run")
def project_run(
    folder: Folder,
    inputs: In = None,
    attributes: Attr = None,
    outputs: OutWords = None,
    reference: Annotated[str, typer.Option(help="Compare with file.py:function, numpy.sinh or torch.histc.")] = "",
    rtol: Rtol = None,
    atol: Atol = None,
    op: Op = "",
    soc: SocName = "",
    blocks: Annotated[int | None, typer.Option(help="Blocks to launch instead of the tiling's.")] = None,
    seed: Seed = 0,
    bare: Annotated[bool, typer.Option("--bare", help="Without checks and counts: faster.")] = False,
    json: Json = False,
) -> None:
    """Tile with the project's own function, build its kernel, run it with all checks; compare with a reference."""
    from gn_tutorial.cli.run_launch import RunOutcome, show
    from gn_tutorial.projects.references import expected, load_reference, tolerance

    function = load_reference(reference) if reference else None
    found = _project(folder, op, soc)
    call, plan = _planned(found, inputs, attributes, outputs, seed)
    found.require(plan)
    with working(f"compiling the kernel of {found.name}"):
        found.kernel(call, plan).build(not bare)
    with working(f"running {found.name}"):
        result = found.launch(call, plan, blocks=blocks, observed=not bare)
    comparison = None
    if function is not None:
        comparison = result.compare(expected(function, call), tolerance(rtol, atol))
    facts = {"project": found.layout.named, "chip": plan.soc, "tiling key": plan.key, "workspace": plan.workspace}
    outcome = RunOutcome(result, comparison, {**facts, "seed": seed}, reference)
    show(outcome, as_json=json)
    for note in () if json else plan.notes:
        print(note)
    if not outcome.ok:
        raise typer.Exit(1)


@project_app.command("fuzz")
def project_fuzz(
    folder: Folder,
    reference: Annotated[str, typer.Option(help="What is right: file.py:function, numpy.sinh or torch.histc.")],
    seconds: Annotated[
        float,
        typer.Option(
            callback=positive_seconds,
            help="Time limit without compiling, after one case at least; shrinking may take half as long again.",
        ),
    ] = 60.0,
    examples: Annotated[int | None, typer.Option(help="How many cases at most.")] = None,
    failures: Annotated[int | None, typer.Option(help="Stop after so many kinds of failures.")] = None,
    max_elements: Annotated[int | None, typer.Option(help="Of an input, at most.")] = None,
    dtypes: Annotated[str, typer.Option(help="Of inputs: float32,bfloat16. Default: all of the definition.")] = "",
    values: Annotated[str, typer.Option(help="Kinds of numbers: ordinary,zeros,large,nan. Default: all.")] = "",
    shapes: Annotated[str, typer.Option(help="Of further inputs: same,last,broadcast. Default: learnt.")] = "",
    rtol: Rtol = None,
    atol: Atol = None,
    op: Op = "",
    soc: SocName = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Of the draws. Default: that of the last run, or 0.")] = None,
    restart: Annotated[bool, typer.Option("--restart", help="Forget earlier runs.")] = False,
    json: Json = False,
) -> None:
    """Draw calls like a judge's hidden ones, compare with a reference, and reduce a failure to the smallest call."""
    from gn_tutorial.cli.fuzz_files import FuzzFolder, FuzzProgress, run_line, show
    from gn_tutorial.projects.fuzz import MAX_ELEMENTS, fuzz
    from gn_tutorial.projects.fuzz_cases import RELATIONS
    from gn_tutorial.projects.fuzz_values import VALUES
    from gn_tutorial.projects.fuzz_verdict import Judge
    from gn_tutorial.projects.references import load_reference, tolerance

    file, colon, name = reference.rpartition(":")
    if colon and Path(file).is_file():
        # The path is made absolute, so that the printed commands work in every folder.
        reference = f"{Path(file).absolute()}:{name}"
    judge = Judge(_project(folder, op, soc), load_reference(reference), tolerance(rtol, atol))
    with working("compiling the host files"):
        judge.project.definition  # noqa: B018
    kept, progress = FuzzFolder(judge.project, reference), FuzzProgress()
    state = kept.read(seed, restart=restart)
    try:
        report = fuzz(
            judge.project,
            reference,
            seconds=seconds,
            examples=examples,
            failures=failures,
            max_elements=max_elements or MAX_ELEMENTS,
            dtypes=dtypes.split(",") if dtypes else (),
            values=values.split(",") if values else VALUES,
            relations=shapes.split(",") if shapes else RELATIONS,
            rtol=rtol,
            atol=atol,
            state=state,
            progress=progress,
        )
    finally:
        progress.clear()
        kept.write(state)
    given = {"--reference": reference, "--rtol": rtol, "--atol": atol, "--op": op, "--soc": soc}
    rest = [(option, str(value)) for option, value in given.items() if value not in (None, "")]
    show(report, lambda one: run_line(judge.project, one.case, kept, judge, rest), kept, as_json=json)
    if not report.ok:
        raise typer.Exit(1)


@project_app.command("test")
def project_test(
    folder: Folder,
    test: Annotated[
        Path | None, typer.Option(help="The test's folder, if there are several or it is elsewhere.")
    ] = None,
    soc: SocName = "",
    seconds: Annotated[
        float, typer.Option(callback=positive_seconds, help="Time limit of the whole test, builds included.")
    ] = 300.0,
    bare: Annotated[bool, typer.Option("--bare", help="Without checks and counts: faster.")] = False,
    any_size: Annotated[
        bool, typer.Option("--any-size", help="Run launches of any size, also beyond 256 MiB.")
    ] = False,
    json: Json = False,
) -> None:
    """Run the project's own test unchanged (run.sh, gen_data.py, main.cpp, verify_result.py), on a copy."""
    from gn_tutorial.projects.test_runner.own_test import run_own_test

    room = {"most_bytes": 0} if any_size else {}
    found = run_own_test(folder, test, soc=soc, seconds=seconds, observed=not bare, **room)
    if json:
        emit_json(found.to_dict())
    else:
        print(found)
    if not found.passed:
        raise typer.Exit(1)


@project_app.command("new")
def project_new(
    prototype: Annotated[Path, typer.Argument(help="A prototype as msopgen reads it: a JSON file.")],
    folder: Annotated[Path, typer.Argument(help="The folder to make.")],
    layout: Annotated[str, typer.Option(help="8.x (macro structs) or 9.x (plain structs).")] = "9.x",
    soc: Annotated[str, typer.Option(help="The chip of AddConfig.")] = "ascend910b",
    filled: Annotated[
        bool, typer.Option("--filled", help="Nothing left to write: for this course's own operators only.")
    ] = False,
) -> None:
    """Make a project from msopgen's prototype, with gaps to fill in as an exam has them."""
    from gn_tutorial.projects.new_project import new_project

    made = new_project(prototype, folder, layout, soc, filled=filled)
    print(f"made {made}: README.md says what to write; gnt project show {made}")


@project_app.command("pack")
def project_pack(
    out: Annotated[Path, typer.Option("--out", help="The folder to make.")],
    package: Annotated[str, typer.Argument(help="Its name or its folder. Default: group_norm.")] = "",
    layout: Annotated[str, typer.Option(help="8.x (macro structs) or 9.x (plain structs).")] = "9.x",
    soc: Annotated[str, typer.Option(help="The chip of AddConfig.")] = "ascend910b",
) -> None:
    """Write an operator package of the course as a folder that builds wherever it is copied."""
    from gn_tutorial.projects.packing import pack

    made = pack(package, out, layout, soc)
    print(f"made {made}: README.md says how to build it; gnt project show {made}")


def _project(folder: Path, op: str, soc: str) -> Project:
    from gn_tutorial.projects.project import Project

    return Project(folder, op, soc)


def _planned(found: Project, inputs: Many, attributes: Many, outputs: Many, seed: int) -> tuple[OpCall, TilingPlan]:
    from gn_tutorial.cli.project_arguments import attributes_of, inputs_of, outputs_of
    from gn_tutorial.projects.outputs import chosen_outputs

    with working("compiling the host files"):
        one = found.definition
    call = found.call(**inputs_of(one, inputs or (), seed), **attributes_of(one, attributes or ()))
    call, given = chosen_outputs(call, outputs_of(one, outputs or ()))
    return call, found.host.plan(call, given)


COMMAND = Command("project", project_app, Panel.LEARN, 45)
