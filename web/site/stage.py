"""Collects the site's sources in one folder: pages and notebooks of the repository, and pages made from its data.

A page is a copy with one change, so no text is written twice. A link to a file that is no page (a kernel, a
program of a diagnostics page) leads to a page that shows that file.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from gn_tutorial.course.playground.finding_pages import with_try_it

ROOT = Path(__file__).resolve().parents[2]
#: Pages: their place in the repository and on the site.
PAGES = (
    "README*.md", "CONTRIBUTING.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "docs/**/*.md", "notebooks/*.ipynb",
    "notebooks/??/*.ipynb",
)  # fmt: skip
#: The folder of the pages that show linked files.
FILES = "files"
_LANGUAGES = {
    ".py": "python",
    ".cpp": "cpp",
    ".h": "cpp",
    ".asc": "cpp",
    ".toml": "toml",
    ".json": "json",
    ".cff": "yaml",
}
_FENCED = re.compile(r"(^ *(`{3,}|~{3,})[^\n]*\n.*?^ *\2[ \t]*$)", re.DOTALL | re.MULTILINE)
_PUZZLE = re.compile(r"puzzle-(\w+)")
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")


class BrokenLink(Exception):
    """A page links to something that is not in the repository."""


class Stage:
    """The folder that Sphinx reads. playground: whether pages link to the playground for code that it can run."""

    def __init__(self, folder: Path, playground: bool = False) -> None:
        self.folder, self.playground = folder, playground
        self.pages = sorted({path.relative_to(ROOT) for one in PAGES for path in ROOT.glob(one)})
        self._shown: set[str] = set()

    def fill(self) -> None:
        """Write every page into an empty folder. Raises BrokenLink."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for page in self.pages:
            text = (ROOT / page).read_text(encoding="utf-8")
            change = self._notebook if page.suffix == ".ipynb" else self._markdown
            self.write(page.as_posix(), change(page, text))
        shutil.copytree(ROOT / "docs" / "images", self.folder / "docs" / "images")

    def write(self, page: str, text: str) -> None:
        """Write one page; ``page`` is its place on the site."""
        path = self.folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def append(self, page: str, text: str) -> None:
        """Append text to a page."""
        with (self.folder / page).open("a", encoding="utf-8") as file:
            file.write(text)

    def _notebook(self, page: Path, text: str) -> str:
        notebook = json.loads(text)
        cells = []
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = self._markdown(page, "".join(cell["source"]))
            cells.append(cell)
            if self.playground and (puzzle := _PUZZLE.fullmatch(cell["id"])):
                # An HTML link, not Markdown's: the playground is no page of Sphinx.
                address = (
                    f"{'../' * (len(page.parts) - 1)}playground/index.html#start=puzzle/{page.name[:2]}.{puzzle[1]}"
                )
                link = f'<a href="{address}">Try it in the browser</a>'
                cells.append({"cell_type": "markdown", "id": f"try-{puzzle[1]}", "metadata": {}, "source": link})
        return json.dumps(notebook | {"cells": cells}, ensure_ascii=False)

    def _markdown(self, page: Path, text: str) -> str:
        linked = outside_fences(text, lambda part: _LINK.sub(lambda link: self._link(page, link), part))
        if not self.playground or page.parent.name != "diagnostics":
            return linked
        return with_try_it(linked, ROOT, "../../playground/index.html")

    def _link(self, page: Path, link: re.Match[str]) -> str:
        target, _, anchor = link[2].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return link[0]
        place = posixpath.normpath(posixpath.join(page.parent.as_posix(), target))
        if not (ROOT / place).exists():
            raise BrokenLink(f"{page} links to {target}, and there is no {place}")
        if Path(place) in self.pages or place.startswith("docs/images/"):
            return link[0]
        shown = self._show(place)
        return f"{link[1]}{posixpath.relpath(shown, page.parent.as_posix())}{'#' if anchor else ''}{anchor}{link[3]}"

    def _show(self, place: str) -> str:
        """Return the page that shows a file or lists a folder."""
        page = f"{FILES}/{place}.md"
        if place not in self._shown:
            self._shown.add(place)
            path = ROOT / place
            if path.is_dir():
                names = sorted(one.name + "/" * one.is_dir() for one in path.iterdir() if one.name != "__pycache__")
                body = "\n".join(f"- `{name}`" for name in names)
            else:
                body = f"````{_LANGUAGES.get(path.suffix, 'text')}\n{path.read_text(encoding='utf-8')}````"
            self.write(page, f"---\norphan: true\n---\n\n# `{place}`\n\n{body}\n")
        return page


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Change the text outside its blocks of code, which may have brackets that look like links."""
    parts = _FENCED.split(text)
    # The split gives two groups for each block: the block, and its fence.
    return "".join(change(part) if i % 3 == 0 else part for i, part in enumerate(parts) if i % 3 < 2)
