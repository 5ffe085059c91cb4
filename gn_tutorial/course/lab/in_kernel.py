"""An extension of IPython that prints hints below a cell, in a notebook's kernel.

The hints say whether the notebook was made from another version of the course than the installed one, and whether
its last kernel died. If a cell lacks a name, as in a new kernel that has run no cell yet, they say which cell above
defines the name. ``gnt lab`` loads the extension before the first cell; ``import gn_tutorial`` loads it in any other
kernel that knows its notebook.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gn_tutorial.course.lab import notebook
from gn_tutorial.course.lab.folder import CourseFolder, notebooks_root
from gn_tutorial.course.lab.in_language import in_language
from gn_tutorial.course.lab.log_messages import take_note
from gn_tutorial.errors import RegistryError

#: The environment variable in which Jupyter's server gives a kernel the path of its notebook.
SESSION = "JPY_SESSION_NAME"
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def attach() -> None:
    """Load the extension, unless it is loaded already or this process does not run IPython."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and __name__ not in shell.extension_manager.loaded:
        shell.extension_manager.load_extension(__name__)


def load_ipython_extension(shell: Any) -> None:
    """Register the hints; IPython calls this function.

    It does nothing if the extension is loaded already, or if the kernel does not know its notebook.
    """
    path = Path(os.environ.get(SESSION, ""))
    if path.suffix == ".ipynb" and __name__ not in shell.extension_manager.loaded:
        shell.events.register("post_run_cell", Companion(path).after)


class Companion:
    """Prints hints after cells of the notebook at ``path``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fresh = True

    def after(self, result: Any) -> None:
        """Print the hints after a cell was run. ``result`` is IPython's ExecutionResult."""
        lines = []
        if self._fresh:
            self._fresh = False
            lines += of_the_one_before(self.path) + of_another_version(self.path)
        error = result.error_in_exec or result.error_before_exec
        if isinstance(error, NameError) and error.name:
            lines += made_above(self.path, error.name, getattr(result.info, "cell_id", None))
        if lines:
            print("\n".join(lines))


def of_the_one_before(path: Path) -> list[str]:
    """Return the lines that ``gnt lab`` stored about the notebook's last kernel, if that kernel died; else none."""
    if "GNT_COURSE_DIR" not in os.environ:
        return []
    said = take_note(CourseFolder(Path(os.environ["GNT_COURSE_DIR"])).deaths, path)
    return [f"{'     ' if number else 'gnt: '}{line}" for number, line in enumerate(said)]


def of_another_version(path: Path) -> list[str]:
    """Return a hint if the notebook is a copy of another version than the installed course's; none for other files.

    Also return a hint if the installed course does not have the notebook any more.
    """
    try:
        mark = notebook.read(path)["metadata"].get(notebook.MARK, {})
        name, made_from = str(mark["notebook"]), str(mark["made_from"])
        today = notebooks_root() / name
        if not today.is_file():
            return [f"gnt: the installed course has no notebook {name} any more; what its cells call may be gone, too."]
        if notebook.digest(notebook.fingerprints(in_language(notebook.read(today)))) == made_from:
            return []
    except (RegistryError, KeyError, TypeError, AttributeError):
        return []
    number = name.partition("_")[0]
    lines = [f"gnt: this notebook was made from another version of the course than the one installed here{_of(mark)}."]
    newer = path.with_name(f"{Path(name).stem}.new.ipynb")
    if newer.is_file() and newer != path:
        lines.append(f"     The new one is beside it, {newer.name}: go on there, or, in a terminal,")
        lines.append(f"     gnt lab {number} --reset puts the new one here, and keeps yours beside it.")
    else:
        lines.append("     In a terminal, gnt lab --copies puts the new one here if you wrote nothing in this one,")
        lines.append("     and beside it otherwise. Then open the notebook again (File > Reload Notebook from Disk).")
    return lines


def _of(mark: dict[str, Any]) -> str:
    from importlib.metadata import version

    then, now = str(mark.get("version", "")), version("gn_tutorial")
    return f" ({then}, and {now})" if then and then != now else ""


def made_above(path: Path, name: str, cell_id: str | None) -> list[str]:
    """Return a hint at the first cell above that defines ``name``, which a cell lacked; none if no cell above does.

    cell_id: of the cell that lacked the name. None: the frontend gives no id, and every cell counts as above.
    """
    try:
        cells = notebook.read(path)["cells"]
    except RegistryError:
        return []
    heading = "the beginning"
    for cell in cells:
        if cell_id is not None and cell.get("id") == cell_id:
            return []
        text = notebook.text_of(cell)
        if cell["cell_type"] == "markdown" and (found := _HEADING.search(text)):
            heading = found[1]
        elif cell["cell_type"] == "code" and name in _names(text):
            return [
                f"gnt: a cell above makes {name}, under '{heading}', and was not run since this Python was started.",
                "     Run > Run All Above Selected Cell runs all that this cell builds on.",
            ]
    return []


def _names(source: str) -> set[str]:
    """Return the names that a cell binds, also inside its functions; none for a cell that is not Python."""
    try:
        return set(_bound(ast.parse(source)))
    except (SyntaxError, ValueError):
        return set()


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
