"""The site: what is collected for it, and what ends its build."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import gn_tutorial as gnt
from gn_tutorial.cli.api_table import load_apis
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.playground.starts import program_starts, puzzle_starts
from web.site import pages
from web.site.build import fetched_elsewhere, main
from web.site.stage import ROOT, BrokenLink, Stage


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    made = Stage(tmp_path_factory.mktemp("site"))
    made.fill()
    return made


def test_every_page_and_notebook_is_there(stage: Stage) -> None:
    wanted = {"README.md", "docs/GLOSSARY.md", "docs/diagnostics/ub-out-of-bounds.md", "notebooks/00_start_here.ipynb"}
    assert wanted <= {page.as_posix() for page in stage.pages}
    assert all((stage.folder / page).exists() for page in stage.pages)


def test_a_notebook_keeps_its_code_and_outputs(stage: Stage) -> None:
    name = "notebooks/04_tiling.ipynb"
    ours, theirs = (json.loads((folder / name).read_text()) for folder in (ROOT, stage.folder))
    code = [[cell for cell in one["cells"] if cell["cell_type"] == "code"] for one in (ours, theirs)]
    assert code[0] == code[1]
    assert any(cell["outputs"] for cell in code[0])


def test_a_linked_program_gets_a_page_that_shows_it(stage: Stage) -> None:
    page = stage.folder / "docs" / "diagnostics" / "repeat-range.md"
    assert "](../../files/tests/programs/vector/repeats_bad.cpp.md)" in page.read_text()
    shown = (stage.folder / "files" / "tests" / "programs" / "vector" / "repeats_bad.cpp.md").read_text()
    assert (ROOT / "tests" / "programs" / "vector" / "repeats_bad.cpp").read_text() in shown


def test_links_change_in_prose_only(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    code = "```cpp\nauto f = [](int kernels) {}; f[0](LICENSE);\n```\n"
    text = stage._markdown(Path("docs/made.md"), f"See [the licence](../LICENSE#x), [`add`](exam.md).\n\n{code}End.\n")
    assert text == f"See [the licence](../files/LICENSE.md#x), [`add`](exam.md).\n\n{code}End.\n"


def test_with_the_playground_findings_and_puzzles_can_be_tried(tmp_path: Path) -> None:
    stage = Stage(tmp_path, playground=True)
    stage.fill()
    finding = (tmp_path / "docs" / "diagnostics" / "repeat-range.md").read_text()
    assert '<a href="../../playground/index.html#start=vector/gather_count_bad">Try it in the browser</a>' in finding
    cells = json.loads((tmp_path / "notebooks" / "02_the_machine.ipynb").read_text())["cells"]
    behind = {cell["id"]: cells[i + 1]["source"] for i, cell in enumerate(cells[:-1])}
    assert 'href="../playground/index.html#start=puzzle/02.copy"' in behind["puzzle-copy"]
    known = {start["id"] for start in (*puzzle_starts(), *program_starts(ROOT))}
    for page in tmp_path.rglob("*"):
        if page.suffix in (".md", ".ipynb"):
            assert set(re.findall(r"#start=([\w/.]+)", page.read_text())) <= known, page


def test_a_link_to_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        BrokenLink, match=r"docs/made\.md links to \.\./kernels/none\.cpp, and there is no kernels/none\.cpp"
    ):
        Stage(tmp_path)._markdown(Path("docs/made.md"), "[a](../kernels/none.cpp)")


def test_the_front_lists_every_page(stage: Stage) -> None:
    listed = set(pages.front(stage.pages, pages.MADE).split()) | set(pages.contents_of_findings(stage.pages).split())
    names = {page.with_suffix("").as_posix() for page in stage.pages} - {"README"}
    assert {"README.zh", "notebooks/zh/00_start_here", "docs/GLOSSARY.zh"} <= names
    assert {name.removeprefix("docs/diagnostics/") if name.count("/") > 1 else name for name in names} - listed == {
        "README"
    }


@pytest.mark.thorough  # every exercise, name and object is laid out: a minute
def test_made_pages_have_everything() -> None:
    exercises, names, python = (pages.MADE[name]() for name in ("exercises", "ascend-c", "python"))
    for one in load_course():
        assert f"### {one.id} {one.title}\n" in exercises
        assert all(hint in exercises for hint in one.hints)
    assert all(f"\n## {api.name}\n" in names for api in load_apis() if api.supported)
    assert "template <class T> void DataCopyPad(" in names
    assert all(f"\n## gnt.{name}\n" in python for name in gnt.__all__ if not name.startswith("_"))


def test_what_a_browser_would_fetch_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="https://x.org/">x</a> <script async src="https://cdn.org/a.js"></script>'
        '<img alt="b" src="//c.org/d.png">'
        '<link rel="stylesheet" href="b.css"><img src="c.png">'
    )
    (tmp_path / "b.css").write_text("body { background: url('https://e.org/f.woff') } p { background: url(g.png) }")
    assert fetched_elsewhere(tmp_path) == [
        "a.html: https://cdn.org/a.js", "a.html: //c.org/d.png", "b.css: https://e.org/f.woff",
    ]  # fmt: skip


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(SystemExit, match="holds something else, which would be lost"):
        main(["--out", str(tmp_path)])
    assert (tmp_path / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("page", "language", "other"),
    [
        ("README", "en", "README.zh"),
        ("README.zh", "zh", "README"),
        ("docs/GLOSSARY.zh", "zh", "docs/GLOSSARY"),
        ("notebooks/00_start_here", "en", "notebooks/zh/00_start_here"),
        ("notebooks/zh/00_start_here", "zh", "notebooks/00_start_here"),
    ],
)
def test_a_page_knows_its_name_in_the_other_language(page: str, language: str, other: str) -> None:
    assert pages.counterpart(page) == (language, other)


@pytest.mark.thorough
def test_it_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="./gnt site installs it")
    main(["--out", str(tmp_path / "site")])
    page = (tmp_path / "site" / "notebooks" / "03_scalar_kernel.html").read_text()
    assert "mathjax/tex-chtml.js" in page
    names = ("docs/GLOSSARY.zh.html", "docs/GLOSSARY.html")
    chinese, english = ((tmp_path / "site" / name).read_text() for name in names)
    assert '<a href="GLOSSARY.html" hreflang="en"' in chinese
    assert '<a href="GLOSSARY.zh.html" hreflang="zh"' in english
    assert (tmp_path / "site" / "_static" / "mathjax" / "tex-chtml.js").exists()
