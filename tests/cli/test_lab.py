"""``gnt lab``: which notebook, what is refused and how; tests/course/lab has the copies and the server."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path

import pytest
from command_line import Gnt

from gn_tutorial.cli import lab_session
from gn_tutorial.course.lab import server, server_address
from gn_tutorial.errors import ArgumentError

NAMES = ["00_start_here.ipynb", "01_numpy.ipynb", "10_derive.ipynb"]


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("", "00_start_here.ipynb"),
        ("1", "01_numpy.ipynb"),
        ("01", "01_numpy.ipynb"),
        ("10", "10_derive.ipynb"),
        ("01_numpy", "01_numpy.ipynb"),
        ("notebooks/10_derive.ipynb", "10_derive.ipynb"),
    ],
)
def test_which_notebook_a_word_means(word: str, name: str) -> None:
    assert lab_session.find_notebook(word, NAMES) == name


def test_a_notebook_that_is_not_there() -> None:
    with pytest.raises(ArgumentError, match="no notebook '7'") as caught:
        lab_session.find_notebook("7", NAMES)
    assert caught.value.hint == "there are 00 to 10"
    with pytest.raises(ArgumentError) as caught:
        lab_session.find_notebook("01_nunpy", NAMES)
    assert caught.value.hint == "did you mean 01_numpy?"


def test_copies_alone(gnt: Gnt, tmp_path: Path) -> None:
    made = gnt("lab", "--copies", "--folder", tmp_path / "mine")
    assert made.code == 0
    assert made.out.startswith("Copied ")
    assert (tmp_path / "mine" / "notebooks" / "00_start_here.ipynb").is_file()
    assert gnt("lab", "--copies", "--folder", tmp_path / "mine").out == ""
    reset = gnt("lab", "00", "--reset", "--copies", "--folder", tmp_path / "mine")
    assert reset.out == "00_start_here.ipynb is the course's again, and you had written nothing in it.\n"


def test_mistakes(gnt: Gnt, tmp_path: Path) -> None:
    assert "--reset needs the notebook's number" in gnt("lab", "--reset", "--folder", tmp_path / "mine").err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    refused = gnt("lab", "--folder", tmp_path / "mine")
    assert (refused.code, refused.out) == (2, "")
    assert "a new or an empty one" in refused.err
    assert gnt("lab", "--port", "0").code == 2
    assert "gnt lab opens one notebook, not 2" in gnt("lab", "01", "--ip", "0.0.0.0").err


def test_without_jupyterlab_the_command_that_installs_it(
    gnt: Gnt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "find_spec", lambda name: None)
    ran = gnt("lab", "--folder", tmp_path / "mine")
    assert ran.code == 2
    assert "jupyterlab and ipykernel is not installed" in ran.err
    assert f"{sys.executable} -m pip install '" in ran.err
    assert "'ipykernel" in ran.err
    assert "'jupyterlab" in ran.err
    assert not (tmp_path / "mine").exists()


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[server.Request]:
    """Instead of a server: what would have been started."""
    started: list[server.Request] = []

    def serve(request: server.Request, say: object, ready: object) -> None:
        started.append(request)
        ready(f"http://localhost:{request.port}/lab/tree/{request.opened}?token=abc")

    monkeypatch.setattr(server, "serve", serve)
    monkeypatch.setattr(server_address, "running_servers", list)
    return started


def test_a_browser_is_opened_at_the_notebook(
    gnt: Gnt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: list[server.Request]
) -> None:
    opened: list[str] = []

    class Browser(webbrowser.BaseBrowser):
        def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
            opened.append(url)
            return True

    monkeypatch.setattr(server_address, "graphical_browser", lambda: Browser("a-browser"))
    ran = gnt("lab", "03", "--folder", tmp_path / "mine", "--ip=0.0.0.0")
    assert ran.code == 0
    (request,) = served
    assert opened == [f"http://localhost:{request.port}/lab/tree/notebooks/03_scalar_kernel.ipynb?token=abc"]
    assert request.command()[-1] == "--ip=0.0.0.0"
    assert ("--allow-root" in request.command()) == server.is_root()
    gnt("lab", "03", "--folder", tmp_path / "mine", "--no-browser")
    assert len(opened) == 1


def test_no_browser_to_open(
    gnt: Gnt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: list[server.Request]
) -> None:
    monkeypatch.setattr(server_address, "graphical_browser", lambda: None)
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 5000 10.0.0.2 22")
    said = gnt("lab", "--folder", tmp_path / "mine").out
    assert "There is no browser here." in said
    assert f"ssh -N -L {served[0].port}:localhost:{served[0].port} " in said


def test_root_is_told_and_served(
    gnt: Gnt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: list[server.Request]
) -> None:
    for root in (True, False):
        monkeypatch.setattr(server, "is_root", lambda root=root: root)
        said = gnt("lab", "--no-browser", "--folder", tmp_path / "mine").out
        assert ("You are root" in said) is root
        assert ("--allow-root" in served[-1].command()) is root


def test_variables_of_the_server(tmp_path: Path) -> None:
    from gn_tutorial.course.lab.folder import CourseFolder

    request = server.Request(CourseFolder(tmp_path), "notebooks/00.ipynb", 8888)
    made = request.environment({"PATH": "/bin", "JUPYTER_PATH": "/theirs", "HOME": "/h"}, "abc")
    assert made["PATH"].endswith(":/bin")
    assert made["JUPYTER_PATH"].endswith(":/theirs")
    assert made["JUPYTER_CONFIG_PATH"].endswith("jupyter"), "none of theirs, and no empty one"
    assert (made["HOME"], made["JUPYTER_TOKEN"]) == ("/h", "abc")
    assert made["GNT_EXERCISES_DIR"] == str(tmp_path / "my_exercises")
    alone = server.Request(CourseFolder(tmp_path), "notebooks/00.ipynb", 8888, linked=False)
    assert "GNT_EXERCISES_DIR" not in alone.environment({}, "abc")
