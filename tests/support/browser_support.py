"""JupyterLab in a browser, for tests: its own server, and the front notebook, operated as a reader does."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from lab_support import clean_environment, running_lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

ROOT = Path(__file__).resolve().parents[2]
LOOKS = Path(__file__).with_name("looks.js").read_text(encoding="utf-8")
LAPTOP, NARROW = (1440, 900), (800, 900)
# Seconds; a busy machine starts a server in five. A test whose subject answers at all never waits so long.
PATIENCE = 60.0
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
# JupyterLab's default settings, except those that would use the network or draw over the notebook.
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},  # the page has every cell, so that a test can find it
}


def chromium() -> str | None:
    """Return the path of the machine's Chromium, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def missing() -> str:
    """Return why tests in a browser cannot run here; "" if they can."""
    for package in ("jupyterlab", "playwright"):
        if not find_spec(package):
            return f"{package} is not installed"
    return "" if chromium() else "there is no Chromium (Debian, Ubuntu: sudo apt install chromium)"


@dataclass(frozen=True)
class Lab:
    """A running ``gnt lab``. address: with a slash at its end; home: of a learner who has done nothing yet."""

    address: str
    token: str
    home: Path

    @property
    def course(self) -> Path:
        """The folder that it serves."""
        return self.home / "course"

    @property
    def exercises(self) -> Path:
        """The learner's files."""
        return self.home / "exercises"

    def progress(self) -> Mapping[str, Any]:
        """Return the learner's progress file."""
        return json.loads((self.home / "progress" / "progress.json").read_text(encoding="utf-8"))

    def write_notebook(self, name: str, cells: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]) -> str:
        """Make a notebook of code cells, each a source and its stored outputs; return its path in the course."""
        code = [
            {
                "cell_type": "code",
                "id": f"c{at}",
                "metadata": {},
                "execution_count": 1,
                "source": source,
                "outputs": outputs,
            }
            for at, (source, outputs) in enumerate(cells)
        ]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        contents = {"cells": code, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
        (self.course / name).write_text(json.dumps(contents), encoding="utf-8")
        return name

    def page(self, path: str = "") -> str:
        """Return the address of JupyterLab with a file of the course open."""
        return f"{self.address}lab{path and f'/tree/{path}'}?reset&token={self.token}"


def write_settings(home: Path) -> None:
    """Write settings of JupyterLab that give tests access to its commands and its notebook's model."""
    for name, values in SETTINGS.items():
        path = home / ".jupyter" / "lab" / "user-settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    # The extension manager would ask PyPI for its list.
    options = {"LabApp": {"expose_app_in_browser": True, "extension_manager": "readonly"}}
    (home / ".jupyter" / "jupyter_lab_config.json").write_text(json.dumps(options), encoding="utf-8")


@contextmanager
def lab_of(home: Path) -> Iterator[Lab]:
    """Start ``gnt lab`` for a learner whose home folder this is; stop it and its kernels at the end."""
    write_settings(home)
    environ = clean_environment(
        home,
        GNT_COURSE_DIR=str(home / "course"),
        GNT_EXERCISES_DIR=str(home / "exercises"),
        GNT_DATA_DIR=str(home / "progress"),
        PYTHONPATH=str(ROOT),
        # The tests' own folder, so that no kernel searches the machine's fonts again.
        MPLCONFIGDIR=matplotlib.get_configdir(),
    )
    with running_lab(environ, cwd=home) as server:
        yield Lab(server.base, server.token, home)


# JupyterLab's own error, about once in two runs on a busy machine, if it draws and closes a tab at once: all frames of
# the stack are its own.
_JUPYTERLABS_OWN = re.compile(
    r"exception: NotFoundError: Failed to execute 'removeChild'[^\n]*(?:\n\s+at \S*/static/lab/\S+)+\s*$"
)


@dataclass
class Desk:
    """One page of JupyterLab. errors: its errors since they were last taken."""

    lab: Lab
    page: Page
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        page, errors = self.page, self.errors
        page.set_default_timeout(PATIENCE * 1000)
        page.on("console", lambda said: errors.append(f"console: {said.text}") if said.type == "error" else None)
        page.on("pageerror", lambda error: self._note(f"exception: {error.stack or error}"))
        page.on("response", lambda got: errors.append(f"{got.status} {got.url}") if got.status >= 400 else None)

    def _note(self, error: str) -> None:
        if not _JUPYTERLABS_OWN.match(error):
            self.errors.append(error)

    def take_errors(self) -> list[str]:
        """Return the errors since the last call, and dialogs that no test opened."""
        taken = [*self.errors, *(f"dialog: {text}" for text in self.page.locator(".jp-Dialog").all_inner_texts())]
        self.errors.clear()
        return taken

    def command(self, name: str, **arguments: Any) -> None:
        """Execute a command of JupyterLab, as its menu does."""
        script = "async ([name, values]) => { await window.jupyterapp.commands.execute(name, values); }"
        self.page.evaluate(script, [name, arguments])

    def visit(self, path: str = "") -> None:
        """Load JupyterLab's page again."""
        self.page.goto(self.lab.page(path))
        self.page.wait_for_function("() => window.jupyterapp")
        self.page.evaluate("async () => { await window.jupyterapp.restored; }")

    def open(self, path: str) -> Notebook:
        """Open a notebook of the course, and wait for its kernel."""
        self.command("docmanager:open", path=path)
        return self.notebook(Path(path).name)

    def notebook(self, name: str) -> Notebook:
        """Return the notebook of this name, once it is in front and its kernel is idle."""
        self.page.wait_for_function(
            """(name) => {
                const panel = window.jupyterapp.shell.currentWidget;
                return panel?.content?.widgets && panel.context.path.endsWith(name) && panel.context.isReady
                    && panel.sessionContext.isReady;
            }""",
            arg=name,
        )
        notebook = Notebook(self, self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)"))
        notebook.wait_until_idle()
        return notebook

    def close_all(self) -> None:
        """Close every tab without saving, and end the kernels."""
        # A toolbar fits itself to a new width half a second later, and throws if its notebook has just been closed.
        self.page.wait_for_timeout(600)
        self.page.evaluate(
            """async () => {
                const app = window.jupyterapp;
                for (const widget of [...app.shell.widgets("main")]) {
                    // First the kernel: a notebook that is closed while it answers throws.
                    await widget.sessionContext?.ready;
                    await widget.sessionContext?.shutdown();
                    if (widget.context) widget.context.model.dirty = false;
                    widget.close();
                }
            }"""
        )

    def screen(self, size: tuple[int, int]) -> None:
        """Make the page as large as this screen, in pixels."""
        self.page.set_viewport_size({"width": size[0], "height": size[1]})

    def themes(self) -> Iterator[str]:
        """Choose each theme in turn, first the current one, because a change takes a second."""
        dark = self.page.locator('body[data-jp-theme-light="false"]').count() == 1
        for name in ("Dark", "Light") if dark else ("Light", "Dark"):
            self.theme(name)
            yield name

    def theme(self, name: str) -> None:
        """Choose the theme "Light" or "Dark"."""
        full = f"JupyterLab {name}"
        if self.page.locator(f'body[data-jp-theme-name="{full}"]').count() == 0:
            self.command("apputils:change-theme", theme=full)
            self.page.wait_for_selector(f'body[data-jp-theme-name="{full}"]', state="attached")


@dataclass
class Notebook:
    """A notebook on a page of JupyterLab."""

    desk: Desk
    panel: Locator

    def wait_until_idle(self) -> None:
        """Wait until the kernel is idle."""
        # The sign in the toolbar is no help: a narrow page moves it into a menu.
        self.desk.page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'"
        )

    def contents(self) -> Mapping[str, Any]:
        """Return the notebook's contents as a save would write them now."""
        return self.desk.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.model.toJSON()")

    def cell(self, containing: str) -> int:
        """Return the number of the only code cell whose source has this text."""
        cells = enumerate(self.contents()["cells"])
        numbers = [at for at, cell in cells if cell["cell_type"] == "code" and containing in cell["source"]]
        assert len(numbers) == 1, f"{len(numbers)} cells have {containing!r}"
        return numbers[0]

    def run(self, *cells: int) -> None:
        """Run these cells, one after the other, as Shift+Enter does."""
        for cell in cells:
            self.desk.page.evaluate(
                "(at) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = at; }", cell
            )
            self.desk.command("notebook:run-cell")

    def output(self, cell: int) -> Locator:
        """Return the output area below a cell."""
        return self.panel.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-OutputArea")

    def run_all(self) -> None:
        """Run > Run All Cells, with the mouse; returns when the last cell is done."""
        page = self.desk.page
        page.evaluate(
            """() => {
                window.ran = new Promise((done) => window.jupyterapp.commands.commandExecuted.connect(
                    (_, { id, result }) => { if (id === "notebook:run-all-cells") done(result); }));
            }"""
        )
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.evaluate("async () => { await window.ran; }")
        self.wait_until_idle()

    def trust(self) -> None:
        """Trust the notebook, as a reader's own is trusted: JupyterLab removes styles from untrusted outputs."""
        self.desk.page.evaluate(
            """() => {
                for (const cell of window.jupyterapp.shell.currentWidget.content.widgets) cell.model.trusted = true;
            }"""
        )

    def looks(self) -> Mapping[str, Any]:
        """Return the parts that cannot be read: see looks.js."""
        return self.desk.page.evaluate(LOOKS)


@contextmanager
def chromium_page(browser: Browser, lab: Lab) -> Iterator[Desk]:
    """Yield a page with JupyterLab, on a screen of 1440 by 900."""
    context = browser.new_context(viewport={"width": LAPTOP[0], "height": LAPTOP[1]})
    try:
        desk = Desk(lab, context.new_page())
        desk.visit()
        yield desk
    finally:
        context.close()
