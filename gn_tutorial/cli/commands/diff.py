"""``gnt diff``: shows the modelled times of two kernels side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import (
    Arg,
    Blocks,
    Define,
    Dtype,
    Groups,
    Html,
    In,
    Include,
    Inout,
    Json,
    Like,
    MachineName,
    Out,
    Record,
    Seed,
    Settings,
    Shape,
    Target,
    Template,
    Types,
    Warm,
    Workspace,
)
from gn_tutorial.cli.pictures import check_paths, say_page, write_page
from gn_tutorial.cli.terminal import emit_json, print_table, working
from gn_tutorial.timing.machine import DEFAULT_MACHINE

if TYPE_CHECKING:
    from gn_tutorial.cli.profile_arguments import Answer, ProfileRequest
    from gn_tutorial.profiler.diff import Difference


def diff(
    first: Target,
    second: Target,
    shape: Shape = "",
    groups: Groups = None,
    settings: Settings = None,
    inputs: In = None,
    dtype: Dtype = "",
    arg: Arg = None,
    out: Out = None,
    inout: Inout = None,
    workspace: Workspace = None,
    template: Template = "",
    types: Types = None,
    define: Define = None,
    include: Include = None,
    like: Like = "",
    blocks: Blocks = None,
    seed: Seed = 0,
    machine: MachineName = DEFAULT_MACHINE,
    warm: Warm = False,
    record: Record = "",
    plot: Annotated[Path | None, typer.Option(help="Write a picture of both times: FILE.png.")] = None,
    html: Html = None,
    json: Json = False,
) -> None:
    """Compare two kernels on the same input: modelled time, busy pipes, bytes, instructions, binding limit.

    A ratio is the second kernel's figure divided by the first's. A file that is compared with a registered kernel takes
    that kernel's arguments. Exit code 1 if a kernel computes wrong results.
    """

    from gn_tutorial.cli.profile_arguments import ProfileRequest, arrays_of, warn_if_wrong
    from gn_tutorial.profiler.diff import diff as compare

    question = ProfileRequest(
        shape, groups, settings or (), dtype, arrays_of(arg, out, inout, workspace), "", template, types or (),
        define or (), like, blocks, seed, machine, warm, record, inputs or (), include or (),
    )  # fmt: skip
    check_paths(plot, html=html)
    answers = _ask_both(first, second, question)
    found = compare(answers[0].profile, answers[1].profile)
    if plot is not None:
        from gn_tutorial.plot.ladder import ladder

        with working(f"drawing {plot}"):
            ladder([found.first, found.second]).save(plot)
    if html is not None:
        write_page(html, found.first, found.second)
    if json:
        emit_json({**_diff_dict(found), "right": [answer.right for answer in answers], "plot": plot, "html": html})
        right = [answer.right is not False for answer in answers]
    else:
        print_table(found.headers, found.cells(), title=found.verdict())
        for note in found.notes:
            print(f"note: {note}")
        if plot is not None:
            print(f"picture: {plot}")
        if html is not None:
            say_page(html)
        # A list, not a generator: the second kernel is checked even if the first is wrong.
        right = [warn_if_wrong(target, answer) for target, answer in zip((first, second), answers, strict=True)]
    if not all(right):
        raise typer.Exit(1)


def _ask_both(first: str, second: str, question: ProfileRequest) -> list[Answer]:
    """Run and model both kernels on the same arguments; return an answer for each."""
    from gn_tutorial.cli.profile_arguments import ask
    from gn_tutorial.cli.run_arguments import is_file

    if is_file(second) and not is_file(first) and not question.like:
        # A learner's file takes the arguments of the registered kernel that it is compared with.
        return [ask(first, question), ask(second, replace(question, like=first))]
    if question.like:
        return [ask(each, question if is_file(each) else replace(question, like="")) for each in (first, second)]
    return [ask(each, question) for each in (first, second)]


def _diff_dict(found: Difference) -> dict[str, Any]:
    return {
        "first": found.first.kernel,
        "second": found.second.kernel,
        "machine": found.second.machine.name,
        "rows": [{**row._asdict(), "ratio": row.ratio} for row in found.rows],
        "binding": found.limits,
        "notes": found.notes,
    }


COMMAND = Command("diff", diff, Panel.LEARN, 60)
