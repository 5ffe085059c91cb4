"""Ports and browsers: who has a port, which one is next, and what to do where no browser opens."""

from __future__ import annotations

import json
import os
import socket
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import pytest

from gn_tutorial.course.lab import server_address
from gn_tutorial.errors import ArgumentError


@pytest.fixture
def taken() -> Iterator[int]:
    """A port at which this process listens, with a free one behind it."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            if port < 65000 and server_address.is_free(port + 1):
                yield port
                return


def test_a_free_port_is_taken_as_it_is(taken: int) -> None:
    assert server_address.choose_port(taken + 1) == (taken + 1, "")


def test_the_usual_port_is_busy(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_address, "FIRST_PORT", taken)
    port, why = server_address.choose_port(None)
    assert taken < port < taken + server_address._PORTS
    assert why.startswith(f"port {taken} is taken by ")
    assert why.endswith(f"process {os.getpid()}, so this is port {port}")


def test_a_port_that_was_asked_for_is_busy(taken: int) -> None:
    with pytest.raises(ArgumentError, match=f"port {taken} is taken by .*process {os.getpid()}") as caught:
        server_address.choose_port(taken)
    assert caught.value.hint.startswith("gnt lab --port ")
    assert server_address.is_free(int(caught.value.hint.split()[-1]))


def test_a_port_that_an_older_socket_holds_on_the_other_protocol() -> None:
    if not socket.has_ipv6:
        pytest.skip("no IPv6 on this machine")
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 on this machine")
    with server:
        assert not server_address.is_free(server.getsockname()[1])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may listen anywhere")
def test_a_port_of_the_system() -> None:
    with pytest.raises(ArgumentError, match="port 443 is"):
        server_address.choose_port(443)


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> server_address.Server:
    """A Jupyter server of this user, as it says of itself: this process, so that it counts as alive."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    root = tmp_path / "course"
    root.mkdir()
    facts = {"pid": os.getpid(), "port": 9999, "url": "http://localhost:9999/", "root_dir": str(root), "token": "abc"}
    (tmp_path / f"jpserver-{os.getpid()}.json").write_text(json.dumps(facts))
    (tmp_path / "jpserver-1.json").write_text("half")
    return server_address.Server(9999, "http://localhost:9999/", str(root), "abc")


def test_another_jupyterlab_is_named(running: server_address.Server) -> None:
    assert server_address.running_servers() == [running]
    assert server_address.holder(9999) == f"another JupyterLab, for {running.root}"
    assert server_address.holder(1) == "another program"


def test_the_server_of_a_folder_and_its_address(running: server_address.Server, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(running.root)
    assert server_address.server_of(tmp_path / "link") == running
    assert server_address.server_of(tmp_path) is None
    assert running.address("notebooks/03.ipynb") == "http://localhost:9999/lab/tree/notebooks/03.ipynb?token=abc"


def test_a_browser_for_text_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROWSER", raising=False)
    for_text, with_window = webbrowser.GenericBrowser("lynx"), webbrowser.BackgroundBrowser("a-browser")
    monkeypatch.setattr(webbrowser, "get", lambda: for_text)
    assert server_address.graphical_browser() is None
    monkeypatch.setenv("BROWSER", "lynx")
    assert server_address.graphical_browser() is for_text, "the user said so"
    monkeypatch.setattr(webbrowser, "get", lambda: with_window)
    assert server_address.graphical_browser() is with_window

    def none() -> None:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    assert server_address.graphical_browser() is None


def test_what_to_do_without_a_browser() -> None:
    there = server_address.no_browser_lines(8890, {"SSH_CONNECTION": "10.0.0.1 5000 10.0.0.2 22", "USER": "ada"})
    assert "  ssh -N -L 8890:localhost:8890 ada@10.0.0.2" in there
    assert "browser" in server_address.no_browser_lines(8890, {})[0]
