"""A solution as three texts, the tiling struct, the tiling function and the kernel, for a project of either layout.

A solution lies in ``solutions/exam/<task>/<name>/`` as ``struct.h``, ``tiling.cpp`` and ``kernel.cpp``, in the form of
CANN 9.x. The texts for an 8.x project are made from these: fields as macros, a tiling function that sets the struct by
its ``set_`` functions and saves it, and a kernel that does not include the struct.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.course.exam.task import Task
from gn_tutorial.course.exercises.registry import WrongSolution
from gn_tutorial.cpp.rewrites import macro_fields, with_function, with_setters, with_struct, without_struct
from gn_tutorial.errors import RegistryError
from gn_tutorial.projects.new_project import FIELDS_GAP

FILES = ("struct.h", "tiling.cpp", "kernel.cpp")
#: The folder of the first solution. Wrong solutions are edits of it; other right ones take from it the files they lack.
FIRST = "solution"
_BETWEEN = "\n//----\n"


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
            shell = with_struct(project[header], struct)
        else:
            tiling, text = with_setters(tiling), without_struct(text)
            fields = macro_fields(struct)
            if fields is None:
                raise RegistryError("there is no tiling struct, 'struct Name { ... };'", where="struct.h")
            assert FIELDS_GAP in project[header], "the template of an 8.x header marks its gap"
            shell = project[header].replace(FIELDS_GAP, fields)
        return project | {header: shell, host: with_function(project[host], "TilingFunc", tiling), kernel: text}


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
