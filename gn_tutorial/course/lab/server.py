"""JupyterLab on the learner's folder: starts it, stops it, and shows messages for lines of its log."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from gn_tutorial.course.lab import log_messages
from gn_tutorial.course.lab.folder import CourseFolder
from gn_tutorial.errors import ArgumentError, GntError

#: The folder with our kernel, and with defaults that the user's settings override: Markdown opens as a preview, and
#: JupyterLab does not ask whether to show its news.
_JUPYTER = Path(__file__).resolve().parent / "jupyter"
_URL = re.compile(r"\s(https?://\S+?/)lab(?:/\S*?)?(?:\?token=\S*)?$")
_SECOND_SECONDS = 5.0  # the longest time between two Ctrl-C that stop the server
_STOP_SECONDS = 20.0
_LISTEN_SECONDS = 60.0
_EVENTS = 50  # lines of the log that are kept in memory


def need_jupyterlab() -> None:
    """Raise ArgumentError, with the command to install them, if JupyterLab or its Python kernel is missing."""
    missing = [name for name in ("jupyterlab", "ipykernel") if find_spec(name) is None]
    if missing:
        asked = [one.partition(";")[0].strip() for one in _of_the_extra("lab")] or ["jupyterlab", "ipykernel"]
        quoted = " ".join(f"'{one}'" for one in asked)
        raise ArgumentError(
            f"{' and '.join(missing)} is not installed, and the notebooks need it",
            hint=f"{sys.executable} -m pip install {quoted}",
        )


def _of_the_extra(name: str) -> list[str]:
    with contextlib.suppress(metadata.PackageNotFoundError):
        required = metadata.requires("gn_tutorial") or []
        return [one for one in required if re.search(rf"extra == ['\"]{name}['\"]", one)]
    return []


@dataclass(frozen=True)
class Request:
    """The arguments of one start of the server. opened: the file to open, relative to the root. more: further options.

    linked: whether ``my_exercises`` in the folder is the exercises' folder.
    """

    folder: CourseFolder
    opened: str
    port: int
    more: Sequence[str] = ()
    linked: bool = True

    def command(self) -> list[str]:
        """Return the server's command line."""
        log_messages = [sys.executable, "-m", "jupyterlab", *self.options()]
        log_messages += [
            f"--ServerApp.port={self.port}",
            "--ServerApp.port_retries=0",
            "--ServerApp.open_browser=False",
        ]
        log_messages += [f"--LabApp.default_url=/lab/tree/{self.opened}"]
        if is_root():
            log_messages.append("--allow-root")
        return [*log_messages, *self.more]

    def options(self) -> list[str]:
        """Return the options that a server under JupyterHub needs too: its root folder, and the kernel restarter."""
        restarter = "gn_tutorial.course.lab.restarter.TellingRestarter"
        return [
            f"--ServerApp.root_dir={self.folder.root}",
            f"--AsyncIOLoopKernelManager.restarter_class={restarter}",
        ]

    def environment(self, environ: Mapping[str, str], token: str = "") -> dict[str, str]:
        """Return the server's environment, which kernels and terminals inherit. Its PATH has this Python first."""
        path = os.pathsep.join([str(Path(sys.executable).parent), environ.get("PATH", os.defpath)])
        ours = {"PATH": path, "GNT_COURSE_DIR": str(self.folder.root)}
        if token:
            ours["JUPYTER_TOKEN"] = token
        for name in ("JUPYTER_PATH", "JUPYTER_CONFIG_PATH"):
            ours[name] = os.pathsep.join(filter(None, [str(_JUPYTER), environ.get(name, "")]))
        if self.linked:
            # The path that the notebooks' links use, so that check() links a file below the server's root.
            ours["GNT_EXERCISES_DIR"] = str(self.folder.exercises)
        return {**environ, "PYTHONUNBUFFERED": "1", **ours}


def is_root() -> bool:
    """Whether the user is the superuser, for whom Jupyter starts only with --allow-root."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def serve(request: Request, say: Callable[[str], None], ready: Callable[[str], None]) -> None:
    """Run the server until it is stopped, here or in the browser.

    say: shows a sentence to the learner. ready: gets the address as soon as it can be opened. Raises GntError, with the
    end of the log, if the server does not start or ends by itself with an error; KeyboardInterrupt after Ctrl-C (see
    ``_AskTwice``); SystemExit after SIGTERM or SIGHUP.
    """
    token = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(16)
    log_file = request.folder.state / "lab.log"
    last: deque[str] = deque(maxlen=_EVENTS)
    started = False
    with log_file.open("w", encoding="utf-8") as log, _running(request, token) as process:
        for line in _lines(process):
            log.write(f"{line}\n")
            log.flush()
            last.append(line)
            if not started and (found := _URL.search(line)) and _listens(found[1], process):
                started = True
                ready(f"{found[1]}lab/tree/{request.opened}?token={token}")
            if dead := log_messages.death_in(line):
                dead.note(request.folder.deaths)
            for sentence in dead.lines() if dead else log_messages.in_our_words(line):
                say(sentence)
        code = process.wait()
    if code and started:
        raise GntError("JupyterLab ended by itself", detail=log_messages.ended_early(code, list(last), log_file))
    if not started:
        detail = log_messages.ended_early(code, list(last), log_file)
        raise GntError("JupyterLab did not start", hint="the lines below say why", detail=detail)
    say("JupyterLab was shut down.")


def _lines(process: subprocess.Popen[str]) -> Iterator[str]:
    """Yield the lines of the server's log until it ends."""
    if process.stdout:
        yield from (line.rstrip("\n") for line in iter(process.stdout.readline, ""))


def _listens(url: str, process: subprocess.Popen[str]) -> bool:
    """Wait until the server takes connections, a moment after it has logged its address. False if it ends first.

    True also if it takes none from here within _LISTEN_SECONDS.
    """
    parts = urlsplit(url)
    where = (parts.hostname or "localhost", parts.port or (443 if parts.scheme == "https" else 80))
    end = time.monotonic() + _LISTEN_SECONDS
    while process.poll() is None:
        try:
            socket.create_connection(where, timeout=1).close()
            return True
        except OSError:
            if time.monotonic() > end:  # perhaps only the browser's machine can resolve the name, so give the address
                return True
            time.sleep(0.05)
    return False


@contextlib.contextmanager
def _running(request: Request, token: str) -> Iterator[subprocess.Popen[str]]:
    """Start the server in a new session, so that Ctrl-C reaches only this process; stop the server at the end."""
    ours = {signal.SIGINT: _AskTwice(), signal.SIGTERM: _end, signal.SIGHUP: _end}
    before = {number: signal.signal(number, handler) for number, handler in ours.items()}
    try:
        process = subprocess.Popen(
            request.command(),
            env=request.environment(os.environ, token),
            cwd=request.folder.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        try:
            yield process
        finally:
            for number in ours:  # an impatient third Ctrl-C would leave the server behind
                signal.signal(number, signal.SIG_IGN)
            _stop(process)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _AskTwice:
    """The handler of Ctrl-C. In a terminal only a second Ctrl-C raises KeyboardInterrupt; the first one asks for it."""

    def __init__(self) -> None:
        self._asked = float("-inf")

    def __call__(self, number: int, frame: object) -> None:
        now = time.monotonic()
        if not sys.stdin.isatty() or now - self._asked < _SECOND_SECONDS:
            raise KeyboardInterrupt
        self._asked = now
        # Not print, because the signal may interrupt another print.
        text = f"\nJupyterLab still runs. Ctrl-C once more within {_SECOND_SECONDS:.0f} s stops it and its kernels.\n"
        os.write(1, text.encode())


def _end(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def _stop(process: subprocess.Popen[str]) -> None:
    """End the server, which ends its kernels; kill the server's process group if the server does not end in time."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_STOP_SECONDS)
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
