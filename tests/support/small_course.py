"""A course of a few small notebooks, written by a test, and the copies of it."""

from __future__ import annotations

import json
from pathlib import Path

from gn_tutorial.course.lab import notebook
from gn_tutorial.course.lab.update import Copies


def cells(*sources: str) -> notebook.Contents:
    """Return a notebook. Sources that begin with # are prose, the others are code with a stored output."""
    made = []
    for number, source in enumerate(sources):
        cell: notebook.Contents = {"id": f"cell-{number}", "metadata": {}, "source": source}
        if source.startswith("#"):
            cell["cell_type"] = "markdown"
        else:
            output = {"output_type": "stream", "name": "stdout", "text": f"stored {number}"}
            cell |= {"cell_type": "code", "outputs": [output], "execution_count": 1}
        made.append(cell)
    return {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


class SmallCourse:
    """A course and its copies. ``write`` makes or changes a notebook; ``type_in`` is a learner's edit of a copy."""

    def __init__(self, folder: Path) -> None:
        self.course, self.folder = folder / "course", folder / "mine"
        self.course.mkdir()

    def write(self, name: str, *sources: str) -> None:
        (self.course / name).write_bytes(notebook.encode(cells(*sources)))

    def copies(self) -> Copies:
        return Copies(self.folder, self.course, self.folder / ".gnt" / "manifest.json", "1.0")

    def sources(self, name: str) -> list[str]:
        return [notebook.text_of(cell) for cell in notebook.read(self.folder / name)["cells"]]

    def type_in(self, name: str, number: int, source: str) -> None:
        contents = notebook.read(self.folder / name)
        contents["cells"][number]["source"] = source
        self.save(name, contents)

    def run(self, name: str) -> None:
        """Change a notebook as Run All does: other outputs, counts and metadata, the same sources."""
        contents = notebook.read(self.folder / name)
        for count, cell in enumerate(contents["cells"], 1):
            if cell["cell_type"] == "code":
                cell |= {"outputs": [], "execution_count": count}
        contents["metadata"]["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        self.save(name, contents)

    def save(self, name: str, contents: notebook.Contents) -> None:
        (self.folder / name).write_text(json.dumps(contents), encoding="utf-8")

    def files(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.ipynb"))
