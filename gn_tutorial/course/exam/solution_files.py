"""A solution as three texts, the tiling struct, the tiling function and the kernel, for a project of either layout.

A solution lies in ``solutions/exam/<task>/<name>/`` as ``struct.h``, ``tiling.cpp`` and ``kernel.cpp``, in the form of
CANN 9.x. The texts for an 8.x project are made from these: fields as macros, a tiling function that sets the struct by
its ``set_`` functions and saves it, and a kernel that does not include the struct.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.course.exam.task import Task
from gn_tutorial.course.exercises.registry import WrongSolution
from gn_tutorial.errors import RegistryError

FILES = ("struct.h", "tiling.cpp", "kernel.cpp")
#: The folder of the first solution. Wrong solutions are edits of it; other right ones take from it the files they lack.
FIRST = "solution"
_BETWEEN = "\n//----\n"
_FIELD = re.compile(r"^\s*([\w:]+)\s+(\w+)(?:\[(\w+)\])?;\s*(//.*)?$", re.MULTILINE)
_BODY = re.compile(r"struct\s+(\w+)\s*\{(.*?)\n\};", re.DOTALL)


@dataclass(frozen=True)
class Pieces:
    """The three texts for CANN 9.x. struct: ``struct XTilingData {...};``. tiling: its last function is TilingFunc."""

    struct: str
    tiling: str
    kernel: str

    def mistaken(self, wrong: WrongSolution) -> Pieces:
        """Return the texts with the edits of a wrong solution.

        Raises RegistryError unless the text that an edit replaces is exactly once in the three texts together.
        """
        return Pieces(*wrong.apply(_BETWEEN.join((self.struct, self.tiling, self.kernel))).split(_BETWEEN))

    def placed(self, task: Task, layout: str, project: dict[str, str]) -> dict[str, str]:
        """Return ``project``, path -> text of the task's files, with these texts in its gaps."""
        snake = task.definition.snake_name
        header = f"op_kernel/{snake}_tiling.h" if layout == "9.x" else f"op_host/{snake}_tiling.h"
        host, kernel = f"op_host/{snake}.cpp", f"op_kernel/{snake}.cpp"
        struct, tiling, text = self.struct, self.tiling, self.kernel
        if layout == "9.x":
            shell = re.sub(r"struct \w+ \{.*?\n\};", lambda _: struct.strip(), project[header], flags=re.DOTALL)
        else:
            tiling, text = _with_setters(tiling), _without_struct(text)
            shell = project[header].replace(_gap(project[header]), _macros(struct))
        function = re.compile(r"static ge::graphStatus TilingFunc\(.*?\n\}\n", re.DOTALL)
        return project | {
            header: shell,
            host: function.sub(lambda _: tiling.strip() + "\n", project[host], count=1),
            kernel: text,
        }


def right_solutions(task: Task) -> dict[str, Pieces]:
    """Return name -> solution, FIRST at the front. Raises RegistryError if a file is missing."""
    names = sorted((one.name for one in task.answers.iterdir() if one.is_dir()), key=lambda one: (one != FIRST, one))
    return {name: Pieces(*(_text(task.answers, name, file) for file in FILES)) for name in names}


def _text(answers: Path, name: str, file: str) -> str:
    path = answers / name / file
    path = path if path.is_file() else answers / FIRST / file
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RegistryError(f"a solution's file is missing: {error.strerror}", where=str(path)) from error


def _gap(header: str) -> str:
    found = re.search(r"^// YOUR TURN: the fields.*$", header, re.MULTILINE)
    assert found, "the template of an 8.x header marks its gap"
    return found[0]


def _macros(struct: str) -> str:
    body = _BODY.search(struct)
    if body is None:
        raise RegistryError("there is no tiling struct, 'struct Name { ... };'", where="struct.h")

    def macro(found: re.Match[str]) -> str:
        ctype, name, many, comment = found.groups()
        made = (
            f"TILING_DATA_FIELD_DEF_ARR({ctype}, {many}, {name});"
            if many
            else f"TILING_DATA_FIELD_DEF({ctype}, {name});"
        )
        return f"{made}  {comment}" if comment else made

    return _FIELD.sub(macro, body[2]).strip("\n")


def _with_setters(tiling: str) -> str:
    """Return the tiling function for an 8.x struct: ``S tiling``, ``set_`` and ``get_`` calls, SaveToBuffer."""
    text = re.sub(r"auto\* tiling = context->GetTilingData<(\w+)>\(\);", r"\1 tiling;", tiling)
    text = re.sub(r"\btiling->(\w+) =\s+(.*?);", r"tiling.set_\1(\2);", text, flags=re.DOTALL)
    text = re.sub(r"\btiling->(\w+)", r"tiling.get_\1()", text)
    head, _, end = text.rpartition("  return ge::GRAPH_SUCCESS;")
    saved = (
        "  auto* raw = context->GetRawTilingData();\n"
        "  tiling.SaveToBuffer(raw->GetData(), raw->GetCapacity());\n"
        "  raw->SetDataSize(tiling.GetDataSize());\n"
    )
    return f"{head}{saved}  return ge::GRAPH_SUCCESS;{end}"


def _without_struct(kernel: str) -> str:
    """Return the kernel for an 8.x build, which adds the struct: without the struct's include and registration.

    The kernel reads the struct with GET_TILING_DATA, which takes no struct name.
    """
    text = re.sub(r'^#include "\w+_tiling\.h"\n', "", kernel, flags=re.MULTILINE)
    text = re.sub(r"^  REGISTER_TILING_DEFAULT\(\w+\);\n", "", text, flags=re.MULTILINE)
    return re.sub(r"GET_TILING_DATA_WITH_STRUCT\(\w+, (\w+), (\w+)\)", r"GET_TILING_DATA(\1, \2)", text)
