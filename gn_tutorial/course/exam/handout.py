"""Makes the folder that a candidate gets: an operator project of a task, complete except for marked gaps."""

from __future__ import annotations

import pprint
import textwrap
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from gn_tutorial.course.exam.solution_files import Pieces
from gn_tutorial.course.exam.task import PARTS, Task
from gn_tutorial.errors import ArgumentError
from gn_tutorial.projects.chips import find_soc
from gn_tutorial.projects.new_project import LAYOUTS, project_files, refuse_existing, write_project
from gn_tutorial.projects.project_texts import example_arguments

_TEMPLATES = Path(__file__).with_name("templates")
_TAKES = (
    "fields, each of which the tiling function sets",
    "right for every size: blocks by data and cores, one block at least, a workspace size",
    "runs for every size, and writes every element",
    "every element within tolerance",
    "no finding of the checkers, no note on the tiling",
    "modelled time beside the lower bound of the data that must be moved; all points from {share:.0%} of it on",
)


class _Text(Template):
    """A template with placeholders ``@{name}``, because ``$`` and plain braces have meanings in Python and Markdown."""

    delimiter = "@"


def handout(task: Task, layout: str = "9.x", soc: str = "ascend910b") -> dict[str, str]:
    """Return path -> text of the folder's files, with gaps. Raises ArgumentError for an unknown layout or chip."""
    if layout not in LAYOUTS:
        raise ArgumentError(f"there is no layout '{layout}'", hint=f"one of {', '.join(LAYOUTS)}")
    config = find_soc(soc).config
    given = {"infer_shape": task.infer_shape or _same_shape(task)}
    files = project_files((task.definition,), [task.prototype], task.op, layout, config, given=given)
    test = "test" if layout == "9.x" else "AclNNInvocation"
    cases = pprint.pformat([dict(one) for one in task.cases], width=80, sort_dicts=False)
    names = {"op": task.op, "cases": cases, "reference": task.reference}
    files[f"{test}/gen_data.py"] = _render("gen_data.py", names)
    files[f"{test}/verify_result.py"] = _render("verify_result.py", names)
    files["README.md"] = _readme(task, layout, config, test)
    return files


def solved(task: Task, pieces: Pieces, layout: str = "9.x", soc: str = "ascend910b") -> dict[str, str]:
    """Return the files of ``handout`` with a solution in the gaps."""
    return pieces.placed(task, layout, handout(task, layout, soc))


def write(files: Mapping[str, str], folder: Path) -> Path:
    """Write the folder and return its path. Raises ArgumentError if ``folder`` exists or cannot be written."""
    refuse_existing(folder, "nothing is overwritten; --folder names another one")
    advice = "--folder names one that you can write to, GNT_EXAM_DIR the folder of all tasks"
    return write_project(files, folder, what="the task's folder", hint=advice)


def _same_shape(task: Task) -> str:
    """Return a body of InferShape that gives every output the shape of the first input."""
    lines = [
        f"  *context->GetOutputShape({index}) = *context->GetInputShape(0);"
        for index in range(len(task.definition.outputs))
    ]
    return "\n".join([*lines, "  return ge::GRAPH_SUCCESS;"])


def _readme(task: Task, layout: str, config: str, test: str) -> str:
    snake, plain = task.definition.snake_name, layout == "9.x"
    rows = [
        f"| {part} | {task.points[part]} | {takes.format(share=task.bound.full_share)} |"
        for part, takes in zip(PARTS, _TAKES, strict=True)
    ]
    tolerances = [
        f"| {dtype} | {one.atol:g} + {one.rtol:g} of the value | {one.reason} |" for dtype, one in task.tolerance.narrow
    ]
    forbidden = (
        "\nThe whole operator is to be written with basic instructions. These names, in the kernel, score nothing: "
    )
    widest = [max(getattr(one, kind) for _, one in task.tolerance.narrow) for kind in ("rtol", "atol")]
    names: dict[str, Any] = {
        "title": task.title,
        "text": task.text,
        "layout": layout,
        "snake": snake,
        "tiling": f"op_kernel/{snake}_tiling.h" if plain else f"op_host/{snake}_tiling.h",
        "test": test,
        "forbidden": forbidden + ", ".join(f"`{one}`" for one in task.forbidden) + "." if task.forbidden else "",
        "points": "\n".join(rows),
        "tolerances": "\n".join(tolerances),
        "example": example_arguments(task.definition),
        "within": "--rtol {:g} --atol {:g}".format(*widest),
        "widest": " The tolerance is the widest of the table." if len(tolerances) > 1 else "",
        "config": config,
        "unit_files": "`CMakeLists.txt`" if plain else "`CMakePresets.json` and `build.sh`",
    }
    return _render("README.md", names)


def _render(template: str, names: Mapping[str, str]) -> str:
    text = (_TEMPLATES / f"{template}.in").read_text(encoding="utf-8")
    return textwrap.dedent(_Text(text).substitute(names))
