"""An exercise from its cell to "passed", without leaving the browser."""

import re

from browser_support import ROOT, Desk, Notebook

FILE = "02_the_machine/02_1_shared_buffer.cpp"
NAME = FILE.rpartition("/")[2]


def save_in_editor(desk: Desk, text: str) -> None:
    """Put this text into the file's editor, which is in front, and save it with Ctrl+S."""
    page = desk.page
    editor = page.locator(".jp-FileEditor:visible .cm-content")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    page.keyboard.press("Control+s")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")


def to_tab(desk: Desk, name: str) -> None:
    desk.page.locator(".lm-TabBar-tab:visible", has_text=name).first.click()


def looks_in_both_themes(desk: Desk, notebook: Notebook) -> list[str]:
    return [line for _ in desk.themes() for line in notebook.looks()["complaints"]]


def test_exercise_is_opened_edited_and_solved(desk: Desk) -> None:
    page, mine = desk.page, desk.lab.exercises / FILE
    stub = (ROOT / "exercises" / FILE).read_text(encoding="utf-8")
    notebook = desk.open("notebooks/02_the_machine.ipynb")
    cell = notebook.cell('gnt.check("02.1")')
    output = notebook.output(cell)
    mine.unlink(missing_ok=True)  # with --all, notebook 02 was run whole before
    notebook.run(notebook.cell("import gn_tutorial as gnt"), cell)
    assert mine.read_text(encoding="utf-8") == stub
    assert "02.1: not attempted yet" in output.inner_text()

    # The link opens the file beside the notebook. A change that mends nothing is not right yet.
    output.get_by_role("link", name=NAME).click()
    page.locator(".jp-FileEditor:visible").wait_for()
    save_in_editor(desk, f"{stub}// mine\n")
    assert mine.read_text(encoding="utf-8").rstrip() == f"{stub}// mine"
    to_tab(desk, "02_the_machine")
    notebook.run(cell)
    assert "02.1: not right yet" in output.inner_text()
    assert looks_in_both_themes(desk, notebook) == []

    # file:line opens the editor at the line.
    place = output.get_by_role("link", name=re.compile(rf"{re.escape(NAME)}:\d+")).first
    line = int(re.findall(r":(\d+)", place.inner_text())[0])
    place.click()
    page.wait_for_function(
        """(line) => window.jupyterapp.shell.currentWidget.content.editor?.getCursorPosition().line === line - 1""",
        arg=line,
    )
    save_in_editor(desk, (ROOT / "solutions" / FILE).read_text(encoding="utf-8"))
    to_tab(desk, "02_the_machine")
    notebook.run(cell)
    assert re.search(r"02\.1: passed \(.*; next: 02\.2", output.inner_text())
    output.get_by_text("our solution").click()
    assert looks_in_both_themes(desk, notebook) == []
    assert list(desk.lab.progress()["passed"]) == ["02.1"]
