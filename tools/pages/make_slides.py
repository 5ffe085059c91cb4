"""Slides of a plan: one notebook's cell a slide, with its stored outputs, as a page of reveal.js for a browser.

    python tools/pages/make_slides.py "Two hours" --out slides

Cells with a picture are shown without their code. The page loads reveal.js, MathJax and two small libraries from the
network. For a room without one: ``npm install --prefix slides reveal.js@4 requirejs jquery@2 mathjax@2``, and
``--local`` here. For paper: open the page with ``?print-pdf`` and print.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from make_teaching import PAUSES, clock, load, notebook_file

_NO_CODE = "picture"
#: nbconvert's setting for a library -> the library's place after npm install, seen from the slides.
_LOCAL = {
    "reveal_url_prefix": "node_modules/reveal.js",
    "require_js_url": "node_modules/requirejs/require.js",
    "jquery_url": "node_modules/jquery/dist/jquery.min.js",
    "mathjax_url": "node_modules/mathjax/MathJax.js",
    "mermaid_js_url": "",
}


def slides(plan: dict[str, Any], parts: dict[str, Any]) -> Any:
    """Return a notebook whose cells are the slides of a plan. Raises ValueError if a notebook lacks a named cell."""
    import nbformat

    made = nbformat.v4.new_notebook()
    began = 0
    for name, minutes in plan["rows"]:
        title = PAUSES.get(name) or parts[name]["title"]
        ask = "" if name in PAUSES else f"\n\n{parts[name]['ask']}"
        made.cells.append(_slide(nbformat.v4.new_markdown_cell(f"# {title}\n\n{clock(began)}, {minutes} minutes{ask}")))
        made.cells += [] if name in PAUSES else map(_slide, _cells(parts[name]))
        began += minutes
    for number, cell in enumerate(made.cells):
        cell["id"] = f"slide-{number}"  # a notebook's cell may be in two parts
    return made


def _cells(part: dict[str, Any]) -> Iterator[Any]:
    import nbformat

    file = notebook_file(part["notebook"])
    cells = {cell["id"]: cell for cell in nbformat.read(file, as_version=4).cells}
    for name in part["show"]:
        if name not in cells:
            raise ValueError(f"plans.toml shows the cell {name!r}, and {file.name} has none of that name")
        yield cells[name]


def _slide(cell: Any) -> Any:
    pictures = any("image/png" in output.get("data", {}) for output in cell.get("outputs", ()))
    cell.metadata = {"slideshow": {"slide_type": "slide"}, "tags": [_NO_CODE] if pictures else []}
    return cell


def write(made: Any, folder: Path, local: bool) -> Path:
    """Write the page into a folder, and return its path. local: the libraries are in its ``node_modules``."""
    from nbconvert import SlidesExporter
    from traitlets.config import Config

    settings = Config()
    settings.SlidesExporter.reveal_scroll = True
    if local:
        settings.SlidesExporter.update(_LOCAL)
    settings.TagRemovePreprocessor.enabled = True
    settings.TagRemovePreprocessor.remove_input_tags = {_NO_CODE}
    settings.SlidesExporter.preprocessors = ["nbconvert.preprocessors.TagRemovePreprocessor"]
    text, _ = SlidesExporter(config=settings).from_notebook_node(made)
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    page.write_text(text, encoding="utf-8")
    return page


def main(words: list[str] | None = None) -> None:
    """The command. words: those of the command line, if None."""
    contents = load()
    plans = {plan["name"]: plan for plan in contents["plans"]}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", choices=plans, help="a plan of TEACHING.md")
    parser.add_argument("--out", type=Path, default=Path("slides"), help="the folder to write (default: slides)")
    parser.add_argument("--local", action="store_true", help="load libraries from node_modules in that folder")
    given = parser.parse_args(words)
    made = slides(plans[given.plan], contents["parts"])
    page = write(made, given.out, given.local)
    print(f"{page}: {len(made.cells)} slides")


if __name__ == "__main__":
    main()
