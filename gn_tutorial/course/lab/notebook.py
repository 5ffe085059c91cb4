"""A notebook of the course as data: its cells, the learner's copy, and the sections that differ between two versions.

This module reads plain JSON, without nbformat, because a kernel imports it before its first cell (``in_kernel``).
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gn_tutorial.course.lab.in_language import in_language
from gn_tutorial.errors import RegistryError

Contents = dict[str, Any]

#: The key in a copy's metadata for the notebook and version it was made from. JupyterLab keeps keys it does not know.
MARK = "gn_tutorial"
#: Prose that asks for a prediction; "Exercise 02.4 lets you predict" and "- predict from the times" do not.
_ASKS = re.compile(r"\bPredict\b|\b[Ff]irst predict\b|\b[Bb]efore you (?:look|run)\b")
_WIDGET = "application/vnd.jupyter.widget-view+json"
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)


def read(path: Path) -> Contents:
    """Return the notebook's contents, unchanged. Raises RegistryError if the file cannot be read or is no notebook."""
    try:
        contents = json.loads(path.read_bytes())
        if not isinstance(contents["cells"], list) or not isinstance(contents["metadata"], dict):
            raise TypeError("its cells are no list")
        _ = [(cell["cell_type"], text_of(cell)) for cell in contents["cells"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RegistryError(f"cannot read the notebook: {error}", where=str(path)) from error
    return contents


def encode(contents: Contents) -> bytes:
    """Return the file's bytes, in Jupyter's layout."""
    return (json.dumps(contents, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def text_of(cell: Mapping[str, Any]) -> str:
    """Return the source of a cell; Jupyter stores it as one text or as its lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def fingerprints(contents: Contents) -> dict[str, str]:
    """Return id -> hash of type and source, for each cell. Outputs do not count, because a run makes them anew."""
    marks = {}
    for number, cell in enumerate(contents["cells"]):
        text = f"{cell['cell_type']}\n{text_of(cell)}"
        marks[cell.get("id", str(number))] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return marks


def digest(marks: Mapping[str, str]) -> str:
    """Return one hash of all fingerprints (``fingerprints``), in the order of the cells; ids do not count."""
    return hashlib.sha256("\n".join(marks.values()).encode()).hexdigest()[:16]


def asks_for_a_prediction(cell: Mapping[str, Any]) -> bool:
    """Whether a cell is prose that asks for a guess before the next cell is run."""
    return cell["cell_type"] == "markdown" and bool(_ASKS.search(text_of(cell)))


def answers(contents: Contents) -> Iterator[Contents]:
    """Yield the code cells whose output answers a prediction: those between prose that asks and the next prose."""
    asked = False
    for cell in contents["cells"]:
        if cell["cell_type"] != "code":
            asked = asks_for_a_prediction(cell)
        elif asked:
            yield cell


def learners_copy(contents: Contents, name: str, version: str) -> Contents:
    """Return the learner's copy: in the learner's language, without stored answers below predictions, with a mark.

    The mark, ``MARK``, says what the copy was made from. contents: the course's notebook in English; its words show
    where predictions are. name: the file's name in the course. version: of the package.
    """
    made = copy.deepcopy(contents)
    for cell in answers(made):
        cell["outputs"], cell["execution_count"] = [], None
    made = in_language(made)
    made["metadata"][MARK] = {"notebook": name, "made_from": digest(fingerprints(made)), "version": version}
    return made


def drop_widgets(contents: Contents) -> bool:
    """Remove widgets from the outputs; return whether there was a widget.

    An output keeps its other data, such as HTML; an output with no such data is removed. A stored widget is only an id
    in the kernel that made it. Without that kernel JupyterLab shows an error instead.
    """
    found = False
    for cell in contents["cells"]:
        kept = []
        for output in cell.get("outputs", ()):
            if output.get("data", {}).pop(_WIDGET, None) is None:
                kept.append(output)
                continue
            found = True
            if set(output["data"]) - {"text/plain"}:  # the text is only the widget's name in Python
                kept.append(output)
        if "outputs" in cell:
            cell["outputs"] = kept
    return found


def news(before: Mapping[str, str], contents: Contents) -> tuple[str, ...]:
    """Return the headings of sections with new, changed or removed cells. before: fingerprints of the older version."""
    now, sections, section = fingerprints(contents), {}, ""
    for name, cell in zip(now, contents["cells"], strict=True):
        if cell["cell_type"] == "markdown" and (found := _SECTION.search(text_of(cell))):
            section = found[1]
        sections[name] = section or "the beginning"
    changed = {sections[name] for name in now if before.get(name) != now[name]}
    section = "the beginning"
    for name in before:  # a removed cell belongs to the section of the cell before it
        section = sections.get(name, section)
        if name not in now:
            changed.add(section)
    return tuple(one for one in dict.fromkeys(sections.values()) if one in changed)
