"""Pages made from data: the front page, the exercises, the Python interface, the names of Ascend C on the twin."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import gn_tutorial as gnt
from gn_tutorial.cli.api_page import page_of
from gn_tutorial.cli.api_table import Api, load_apis
from gn_tutorial.course.exercises.registry import KINDS, Exercise, load_course
from gn_tutorial.timing.machine import Machine, load_machine

#: The pages of docs/ that a learner opens first, in their order in the contents; the others follow by name.
_FIRST = ("install", "GLOSSARY", "exam", "profiling", "sanitizer", "host-api", "pytorch")

#: The order of the pages of docs/teaching/; a new page needs its place here.
_TEACHING = [f"docs/teaching/{name}" for name in ("TEACHING", "before-the-workshop", "hub")]


def counterpart(page: str) -> tuple[str, str]:
    """Return the language of a page of the site, and the name of the same page in the other language."""
    if page.endswith(".zh") or "/zh/" in page:
        return "zh", page.replace("/zh/", "/").removesuffix(".zh")
    folder, slash, name = page.rpartition("/")
    return "en", f"{folder}/zh/{name}" if folder == "notebooks" else f"{folder}{slash}{name}.zh"


def front(pages: Iterable[Path], made: Iterable[str]) -> str:
    """Return README and the contents of the site. ``made``: the pages of this module."""
    pages = [page.with_suffix("").as_posix() for page in pages]
    chinese = [page for page in pages if counterpart(page)[0] == "zh"]
    pages = [page for page in pages if page not in chinese]
    docs = [page for page in pages if page.startswith("docs/") and page.count("/") == 1]
    docs.sort(key=lambda page: (_FIRST.index(name) if (name := page[5:]) in _FIRST else len(_FIRST), page))
    contents = {
        "The course": [page for page in pages if page.startswith("notebooks/")],
        "中文": chinese,
        "Reference": ["docs/diagnostics/README", *made],
        "Documents": docs,
        "Teaching": sorted((page for page in pages if page.startswith("docs/teaching/")), key=_TEACHING.index),
        "The project": ["CONTRIBUTING", "CHANGELOG", "CODE_OF_CONDUCT"],
    }
    return "```{include} README.md\n```\n" + "".join(_toctree(*entry) for entry in contents.items())


def contents_of_findings(pages: Iterable[Path]) -> str:
    """Return the contents of the overview of diagnostics: a page for each id."""
    here = Path("docs/diagnostics")
    return _toctree("", sorted(page.stem for page in pages if page.parent == here and page.stem != "README"))


def _toctree(caption: str, pages: Iterable[str]) -> str:
    lines = "\n".join(pages)
    head = f":caption: {caption}\n" * bool(caption)
    return f"\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n{head}\n{lines}\n```\n"


def exercises() -> str:
    """Return every exercise with its task, and its hints behind a click."""
    head = "# Exercises\n\n`gnt learn` shows the next one, and checks your file of it.\n"
    by_notebook = itertools.groupby(load_course(), lambda one: one.notebook)
    return head + "".join(f"\n## Notebook {number}\n" + "".join(map(_exercise, group)) for number, group in by_notebook)


def _exercise(one: Exercise) -> str:
    hints = "".join(
        f"\n<details><summary>Hint {i}</summary>\n\n{hint}\n\n</details>\n" for i, hint in enumerate(one.hints, 1)
    )
    aims = "; ".join(one.objectives)
    return (
        f"\n### {one.id} {one.title}\n\n{KINDS[one.kind].capitalize()}; {one.difficulty}, about {one.minutes} minutes; "
        f"explained in {one.lesson}. You learn to {aims}.\n\n{one.task}\n{hints}"
    )


def python_interface() -> str:
    """Return a page with the docstring of everything that ``import gn_tutorial`` offers."""
    names = sorted((name for name in gnt.__all__ if not name.startswith("_")), key=str.lower)
    return (
        "# The Python interface\n\n`import gn_tutorial as gnt` is all that a notebook or a program needs.\n"
        + "".join(
            f"\n## gnt.{name}\n\n```{{eval-rst}}\n{directive}\n```\n"
            for name in names
            for directive in [_directive(name)]
        )
    )


def _directive(name: str) -> str:
    # Lazy names are not imported here: torch may be missing, and Sphinx does without it.
    module, _, inside = gnt._LAZY.get(name, "").partition(":")
    if module and not inside:
        return f".. automodule:: gn_tutorial.{module}\n   :members:"
    if module:
        return f".. autofunction:: gn_tutorial.{module}.{inside}"
    value = getattr(gnt, name)
    if isinstance(value, type):
        return f".. autoclass:: gn_tutorial.{name}\n   :members:"
    return f".. auto{'function' if callable(value) else 'module'}:: gn_tutorial.{name}"


def ascend_c() -> str:
    """Return the names of Ascend C: what each does, its forms as the twin declares them, its modelled cost."""
    machine = load_machine()
    apis = sorted(load_apis(), key=lambda api: api.name.lower())
    rest = ", ".join(f"`{api.name}`" for api in apis if not api.supported)
    parts = itertools.chain.from_iterable(_api(api, machine) for api in apis if api.supported)
    return (
        "# Ascend C on the twin\n\n`gnt apis NAME` shows the same in a terminal. Costs are modelled, of one core of "
        f"{machine.name}; docs/ names files of CANN's documentation.\n"
        + "".join(parts)
        + f"\n## Not on the twin yet\n\n{rest}\n"
    )


def _api(api: Api, machine: Machine) -> Iterator[str]:
    page = page_of(api, machine)
    yield f"\n## {api.name}\n\n{api.what}\n"
    rows = [("dtypes", ", ".join(f"`{one}`" for one in api.dtypes)), ("documentation", f"`docs/zh/api/{api.doc}`")]
    yield "\n" + "".join(f"- {name}: {text}\n" for name, text in (*rows, *page.cost) if text)
    if page.forms:
        yield "\n```cpp\n" + "\n".join(page.forms) + "\n```\n"


#: Page of the site -> the function that makes it.
MADE = {"exercises": exercises, "ascend-c": ascend_c, "python": python_interface}
