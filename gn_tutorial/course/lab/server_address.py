"""Chooses JupyterLab's port, and finds the servers that run already and the browser of this machine."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import webbrowser
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gn_tutorial.errors import ArgumentError

FIRST_PORT = 8888
_PORTS = 50  # how many following ports to try


@dataclass(frozen=True)
class Server:
    """A running Jupyter server of this user."""

    port: int
    url: str
    root: str
    token: str

    def address(self, path: str) -> str:
        """Return the address to open in a browser for a file below the server's root."""
        return f"{self.url.rstrip('/')}/lab/tree/{path}" + (f"?token={self.token}" if self.token else "")


def running_servers() -> list[Server]:
    """Return this user's running Jupyter servers, from Jupyter's list of them.

    The result is empty if Jupyter's server is not installed, or if its list cannot be read.
    """
    try:
        from jupyter_server.serverapp import list_running_servers
    except ImportError:
        return []
    found: list[dict[str, Any]] = []
    with contextlib.suppress(OSError, ValueError):
        found = list(list_running_servers())
    return [Server(one["port"], one["url"], one["root_dir"], one.get("token", "")) for one in found]


def server_of(root: Path) -> Server | None:
    """Return the running server whose root is this folder, or None."""
    return next((one for one in running_servers() if os.path.realpath(one.root) == os.path.realpath(root)), None)


def is_free(port: int) -> bool:
    """Whether no program listens on the port and this user may open it.

    Both protocols that "localhost" may mean, IPv4 and IPv6, are tried.
    """
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as probe:
            if probe.connect_ex((host, port)) == 0:
                return False
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def holder(port: int) -> str:
    """Return, in words, the program that listens on a port; "another program" if this user may not know it."""
    for one in running_servers():
        if one.port == port:
            return f"another JupyterLab, for {one.root}"
    with contextlib.suppress(Exception):  # psutil comes with ipykernel; a system may forbid this call
        import psutil

        for found in psutil.net_connections("tcp"):
            if found.status == psutil.CONN_LISTEN and found.laddr.port == port and found.pid:
                return f"{psutil.Process(found.pid).name()}, process {found.pid}"
    return "another program"


def choose_port(asked: int | None) -> tuple[int, str]:
    """Return a free port, and a sentence if the usual port is taken (else "").

    asked: the user's port; None: the usual port, or a later one if it is taken. Raises ArgumentError if the asked port
    is taken or reserved, or if none of these ports is free. The error on a taken port names the program that has it,
    and a free port.
    """
    first = FIRST_PORT if asked is None else asked
    if is_free(first):
        return first, ""
    free = next((port for port in _following(first) if is_free(port)), None)
    if asked is None and free:
        return free, f"port {first} is taken by {holder(first)}, so this is port {free}"
    if asked is not None and asked < 1024 and getattr(os, "geteuid", lambda: 0)() != 0:
        raise ArgumentError(f"port {asked} is for the system's programs", hint="a port from 1024 on is for everybody")
    raise ArgumentError(
        f"port {first} is taken by {holder(first)}",
        hint=f"gnt lab --port {free}" if free else "gnt lab --port N, with a free port",
    )


def _following(port: int) -> Iterator[int]:
    yield from range(port + 1, min(port + _PORTS, 65535) + 1)


def graphical_browser() -> webbrowser.BaseBrowser | None:
    """Return a browser with a window, or the one that $BROWSER names; None if there is none.

    A text browser would occupy the terminal, and cannot show JupyterLab.
    """
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return None
    for_text = isinstance(found, webbrowser.GenericBrowser) and not isinstance(found, webbrowser.BackgroundBrowser)
    return None if for_text and not os.environ.get("BROWSER") else found


def no_browser_lines(port: int, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return lines on what to do without a browser here; over ssh, how to forward the port to another machine."""
    if "SSH_CONNECTION" in environ:
        there = environ["SSH_CONNECTION"].split()[2:3] or ["this-machine"]
        user = environ.get("USER", "me")
        return [
            "There is no browser here. On the machine in front of you, in a second terminal:",
            f"  ssh -N -L {port}:localhost:{port} {user}@{there[0]}",
            "and then open the address there.",
        ]
    if sys.platform.startswith("linux") and Path("/.dockerenv").exists():
        return [
            f"There is no browser here. In a container: start it with -p 127.0.0.1:{port}:{port}, and add --ip=0.0.0.0",
            "to gnt lab; then open the address outside.",
        ]
    return ["There is no browser here that gnt could open: copy the address into one."]
