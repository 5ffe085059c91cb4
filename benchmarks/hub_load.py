"""Simulated learners on a real JupyterHub: errors, the wait for a check, memory.

    sudo python benchmarks/hub_load.py --learners 40 --python /opt/gnt/bin/python --base /srv/gnt_cache

Runs deploy/jupyterhub/jupyterhub_config.py with as many Unix users as learners, who are made here and removed again:
so it needs root. Each learner starts a server by the hub's API, opens notebooks 02 and 03, runs their cells with a
human's pauses (--pause: seconds, on average), checks every exercise once as it is given and once solved, and leaves.
``--python`` has the course and jupyterhub installed; ``--base`` is a warm cache of kernels (see the configuration).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pwd
import random
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / "deploy" / "jupyterhub" / "jupyterhub_config.py"
NOTEBOOKS = ("02_the_machine", "03_scalar_kernel")
#: Seconds that a learner waits for a cell; a longer wait is an error.
PATIENCE = 300
_CHECK = re.compile(r'gnt\.check\("(\d\d\.\d)"\)')


@dataclass
class Seen:
    """What all learners experienced. Times are in seconds."""

    started: list[float] = field(default_factory=list)
    checks: list[float] = field(default_factory=list)
    cells: list[float] = field(default_factory=list)
    passed: int = 0
    processor: float = 0
    wall: float = 0
    errors: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)


def users(number: int) -> list[str]:
    """Return the names of the Unix users."""
    return [f"gntload{i:03}" for i in range(number)]


@contextmanager
def unix_users(names: list[str]) -> Iterator[None]:
    """Make the Unix accounts, and remove them at the end."""
    for name in names:
        subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", name], check=True)
    try:
        yield
    finally:
        for name in names:
            subprocess.run(["pkill", "-KILL", "-u", name])
        time.sleep(1)
        for name in names:
            subprocess.run(["userdel", "--remove", name], stderr=subprocess.DEVNULL)


@contextmanager
def hub(given: argparse.Namespace, names: list[str], token: str, folder: Path) -> Iterator[str]:
    """Start the hub, yield its address, and stop it at the end."""
    port = given.port
    config = folder / "config.py"
    config.write_text(
        CONFIG.read_text()
        + f"\nc.Authenticator.allowed_users = set({names!r})\n"
        + f"c.JupyterHub.bind_url = 'http://127.0.0.1:{port}'\nc.JupyterHub.hub_port = {port + 1}\n"
        + f"c.ConfigurableHTTPProxy.api_url = 'http://127.0.0.1:{port + 2}'\n"
        + f"c.ConfigurableHTTPProxy.command = [{given.proxy!r}]\n"
        + (f"c.Spawner.environment = {{'GNT_CACHE_BASE': {given.base!r}}}\n" if given.base else "")
        + f"c.JupyterHub.services.append({{'name': 'load', 'api_token': {token!r}}})\n"
        + "c.JupyterHub.load_roles.append({'name': 'load', 'services': ['load'], 'scopes': "
        + "['admin:users', 'admin:servers', 'access:servers']})\n"
    )
    log = (folder / "hub.log").open("w")
    command = [str(Path(given.python).parent / "jupyterhub"), "-f", str(config)]
    process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)
        if given.log:
            Path(given.log).write_text((folder / "hub.log").read_text())


class Learner:
    """One learner, from the first click to the last."""

    def __init__(self, address: str, token: str, name: str, seen: Seen, pause: float) -> None:
        self.address, self.name, self.seen, self.pause = address, name, seen, pause
        self.headers = {"Authorization": f"token {token}"}
        self.random = random.Random(name)

    async def live(self) -> None:
        """Make the whole visit, and note every error."""
        try:
            await self._pause()
            await self._start()
            for notebook in NOTEBOOKS:
                await self._go_through(notebook)
            await self._call("DELETE", f"/hub/api/users/{self.name}/server")
        except Exception as error:  # one learner's trouble must not stop the others
            self.seen.errors.append(f"{self.name}: {type(error).__name__}: {error}")

    async def _pause(self) -> None:
        await asyncio.sleep(self.random.expovariate(1 / self.pause) if self.pause else 0)

    async def _call(self, method: str, path: str, body: object = None, missing: bool = False) -> dict:
        text = None if body is None else json.dumps(body)
        request = HTTPRequest(
            self.address + path, method, self.headers, text, request_timeout=PATIENCE, allow_nonstandard_methods=True
        )
        try:
            answer = await AsyncHTTPClient().fetch(request)
        except HTTPClientError as error:
            if missing and error.code in (404, 503):
                return {}
            raise RuntimeError(f"{method} {path}: {error.code} {error.message}") from None
        return json.loads(answer.body) if answer.body else {}

    async def _start(self) -> None:
        began = time.monotonic()
        await self._call("POST", f"/hub/api/users/{self.name}/server", {})
        while time.monotonic() - began < PATIENCE:
            model = await self._call("GET", f"/hub/api/users/{self.name}")
            if model.get("servers", {}).get("", {}).get("ready"):
                self.seen.started.append(time.monotonic() - began)
                return
            await asyncio.sleep(0.5)
        raise RuntimeError("the server did not start")

    async def _go_through(self, notebook: str) -> None:
        home = f"/user/{self.name}"
        path = f"notebooks/{notebook}.ipynb"
        contents = (await self._call("GET", f"{home}/api/contents/{path}"))["content"]
        body = {"path": path, "name": notebook, "type": "notebook", "kernel": {"name": "python3"}}
        session = await self._call("POST", f"{home}/api/sessions", body)
        kernel = session["kernel"]["id"]
        url = self.address.replace("http", "ws") + f"{home}/api/kernels/{kernel}/channels"
        # Read at once, as a browser does: an unread message keeps Tornado from answering pings, and after 90 seconds
        # the server hung up on a learner who thought for that long.
        heard: asyncio.Queue[str | None] = asyncio.Queue()
        socket = await websocket_connect(
            HTTPRequest(url, headers=self.headers), on_message_callback=heard.put_nowait, max_message_size=1 << 28
        )
        for cell in contents["cells"]:
            source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            if cell["cell_type"] != "code":
                continue
            await self._pause()
            exercise = _CHECK.search(source)
            if exercise is None:
                await self._run(socket, heard, cell["id"], source, self.seen.cells)
                continue
            await self._run(socket, heard, cell["id"], source, self.seen.checks)
            await self._pause()
            await self._solve(home, exercise[1])
            said = await self._run(socket, heard, cell["id"], source, self.seen.checks)
            if "passed" in said:
                self.seen.passed += 1
            else:
                self.seen.errors.append(f"{self.name}: {exercise[1]} solved, and not passed: {said[:300]}")
        socket.close()
        await self._call("DELETE", f"{home}/api/sessions/{session['id']}")

    async def _solve(self, home: str, exercise: str) -> None:
        number, _, count = exercise.partition(".")
        (solution,) = [
            path
            for path in (ROOT / "solutions").glob(f"{number}_*/{number}_{count}_*")
            if ".exercise." not in path.name
        ]
        file = f"my_exercises/{solution.relative_to(ROOT / 'solutions').as_posix()}"
        body = {"type": "file", "format": "text", "content": solution.read_text()}
        await self._call("PUT", f"{home}/api/contents/{file}", body)

    async def _run(
        self,
        socket: WebSocketClientConnection,
        heard: asyncio.Queue[str | None],
        name: str,
        source: str,
        times: list[float],
    ) -> str:
        """Run one cell, note how long it took, and return its outputs as text. A cell that raises is an error."""
        ask = uuid.uuid4().hex
        header = {"msg_id": ask, "msg_type": "execute_request", "session": ask, "username": "", "version": "5.3"}
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": False}
        asked = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        began, said = time.monotonic(), ""
        await socket.write_message(json.dumps(asked))
        while True:
            message = await asyncio.wait_for(heard.get(), PATIENCE)
            if message is None:
                raise RuntimeError("the server hung up")
            answer = json.loads(message)
            if answer["parent_header"].get("msg_id") != ask:
                continue
            kind, content = answer["msg_type"], answer["content"]
            if kind == "stream":
                said += content["text"]
            elif kind in ("display_data", "execute_result"):
                said += content["data"].get("text/plain", "")
            elif kind == "error":
                self.seen.errors.append(f"{self.name}: cell {name}: {content['ename']}: {content['evalue'][:200]}")
            elif kind == "status" and content["execution_state"] == "idle":
                times.append(time.monotonic() - began)
                return said


def memory_of(names: list[str]) -> int:
    """Return the bytes of all processes of these users; shared pages count once (PSS)."""
    ids = {pwd.getpwnam(name).pw_uid for name in names}
    total = 0
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and process.stat().st_uid in ids:
                text = (process / "smaps_rollup").read_text()
                total += int(re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)[1]) << 10
        except (OSError, TypeError):
            continue  # it has ended
    return total


def processor_time() -> float:
    """Return the seconds that all cores have worked since the machine started, for any program, so run no other."""
    user, nice, system, _, _, irq, softirq, *_ = (int(one) for one in Path("/proc/stat").read_text().split()[1:11])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


async def visit(given: argparse.Namespace, address: str, token: str, names: list[str]) -> Seen:
    """Let all learners visit at the same time."""
    seen = Seen()
    AsyncHTTPClient.configure(None, max_clients=4 * len(names))
    for _ in range(120):
        try:
            await AsyncHTTPClient().fetch(f"{address}/hub/api/")
            break
        except (OSError, HTTPClientError):
            await asyncio.sleep(0.5)
    learners = [asyncio.create_task(Learner(address, token, name, seen, given.pause).live()) for name in names]
    began, before = time.monotonic(), processor_time()
    while not all(one.done() for one in learners):
        seen.memory.append(memory_of(names))
        print(
            f"\r{time.monotonic() - began:.0f} s: {len(seen.started)} servers, {len(seen.cells)} cells, "
            f"{len(seen.checks)} checks, {len(seen.errors)} errors, {seen.memory[-1] / 2**30:.1f} GiB ",
            end="", file=sys.stderr, flush=True,
        )  # fmt: skip
        await asyncio.sleep(5)
    print(file=sys.stderr)
    seen.wall, seen.processor = time.monotonic() - began, processor_time() - before
    return seen


def row(name: str, times: list[float]) -> str:
    """Return a line with median, 95th percentile and maximum."""
    if len(times) < 2:
        return f"{name:24} {len(times):5}"
    middle, high = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    return f"{name:24} {len(times):5}   median {middle:6.2f} s   95 % {high:6.2f} s   most {max(times):6.2f} s"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", type=int, default=40)
    parser.add_argument("--pause", type=float, default=8.0, help="seconds before a cell, on average (default: 8)")
    parser.add_argument("--python", default=sys.executable, help="of the environment with the course and jupyterhub")
    parser.add_argument("--proxy", default="configurable-http-proxy")
    parser.add_argument("--base", default="", help="folder of a warm cache of kernels (GNT_CACHE_BASE)")
    parser.add_argument("--port", type=int, default=18000, help="and the two after it (default: 18000)")
    parser.add_argument("--log", default="", help="file for what the hub logs")
    given = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("hub_load.py makes Unix users and runs servers as them: it needs root")
    names, token = users(given.learners), secrets.token_hex(16)
    with tempfile.TemporaryDirectory() as folder, unix_users(names), hub(given, names, token, Path(folder)) as address:
        seen = asyncio.run(visit(given, address, token, names))
    print(f"{given.learners} learners, a pause of {given.pause:g} s before a cell, {os.cpu_count()} cores")
    for title, times in (("start of a server", seen.started), ("a cell", seen.cells), ("a check", seen.checks)):
        print(row(title, times))
    print(f"{'exercises passed':24} {seen.passed:5}")
    busy = seen.processor / seen.wall / (os.cpu_count() or 1)
    print(f"processor: {seen.processor / given.learners:.0f} s a learner, cores busy {busy:.0%} of {seen.wall:.0f} s")
    most = max(seen.memory, default=0)
    print(f"memory: {most / 2**30:.2f} GiB at most, {most / 2**20 / given.learners:.0f} MiB a learner")
    print(f"errors: {len(seen.errors)}")
    for error in seen.errors[:20]:
        print(f"  {error}")
    raise SystemExit(bool(seen.errors))


if __name__ == "__main__":
    main()
