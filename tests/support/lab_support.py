"""Starts ``gnt lab`` for a test: a real JupyterLab at a free port, with requests over HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
GNT = (sys.executable, "-m", "gn_tutorial")
_ADDRESS = re.compile(r"  (https?://\S+?/)lab/tree/(\S+)\?token=(\w+)$")
SECONDS = 180  # a machine with other work starts JupyterLab in a minute


def free_port() -> int:
    """Return a port on which no program listens now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    """Return a learner's variables: a new home, and of ours only the folder and level of what is compiled."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("GNT_", "JUPYTER", "JPY_", "XDG_"))
    }
    of_the_run = {name: os.environ[name] for name in ("GNT_CACHE_DIR", "GNT_OPTIMISE") if name in os.environ}
    return kept | {"HOME": str(home), "BROWSER": ""} | of_the_run | more


class RunningLab:
    """One running ``gnt lab``. said: its lines up to the address; opened: the notebook below the root."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.said = process, []
        assert process.stdout
        for line in process.stdout:
            self.said.append(line.rstrip("\n"))
            if found := _ADDRESS.search(self.said[-1]):
                self.base, self.opened, self.token = found.groups()
            if "Ctrl-C here stops it" in line:
                return
        raise AssertionError("gnt lab ended:\n" + "\n".join(self.said))

    def ask(self, path: str, data: object = None) -> Any:
        """Send GET, or POST with ``data``; return the JSON of the answer."""
        headers = {"Authorization": f"token {self.token}", "Content-Type": "application/json"}
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(self.base + path, data=body, headers=headers)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.loads(answer.read() or "null")

    def names(self, path: str = "") -> set[str]:
        """Return the names in a folder below the root."""
        return {one["name"] for one in self.ask(f"api/contents/{path}")["content"]}

    def heard(self, text: str) -> str:
        """Return the next line of output that has a text."""
        assert self.process.stdout
        for line in self.process.stdout:
            if text in line:
                return line.rstrip("\n")
        raise AssertionError(f"gnt lab ended without saying {text!r}")

    def stop(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Stop it by a signal; return the exit code and its last output."""
        self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out


@contextlib.contextmanager
def running_lab(
    environ: Mapping[str, str],
    *words: str,
    gnt: tuple[str, ...] = GNT,
    cwd: Path,
    stdin: int = subprocess.DEVNULL,
) -> Iterator[RunningLab]:
    """Yield ``gnt lab --no-browser`` at a free port, with these further arguments; stop it at the end."""
    command = [*gnt, "lab", "--no-browser", "--port", str(free_port()), *words]
    process = subprocess.Popen(
        command,
        env=environ,
        cwd=cwd,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=stdin,
    )
    try:
        yield RunningLab(process)
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=SECONDS)


def wait_for(what: Callable[[], Any]) -> Any:
    """Return the first true result of ``what``. Fails after ``SECONDS``."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if answer := what():
            return answer
        time.sleep(0.1)
    raise AssertionError("waited in vain")


#: A program that executes a notebook in its folder, with the kernel that JupyterLab there would start.
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
path, folder = sys.argv[1:]
notebook = nbformat.read(path, as_version=4)
NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
nbformat.write(notebook, path)
"""
