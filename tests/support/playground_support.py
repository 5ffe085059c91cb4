"""Runs the page's compiler, Python and runner in node (web/playground/src/serve.mjs): WebAssembly on this machine.

They need the packages of ``web/playground/package.json``; without them, tests skip and name the command.
"""

from __future__ import annotations

import base64
import functools
import http.server
import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.compiler.cache import default_cache
from gn_tutorial.course.playground.assemble import python_files
from gn_tutorial.course.playground.compiling import Compilation
from gn_tutorial.course.playground.files import NODE, PLAYGROUND, course_files, objects
from gn_tutorial.course.playground.outcome import trace_of
from gn_tutorial.course.playground.starts import decoded, job
from gn_tutorial.diagnostics.findings import Findings, parse_report
from gn_tutorial.runtime.launch_types import LaunchRequest

ROOT = Path(__file__).parents[2]


def missing() -> str:
    """Return what these tests need and do not find; empty if they can run."""
    return "" if NODE.is_file() else "the playground's packages are not here: cd web/playground && npm ci"


class Page:
    """One node process that has loaded the compiler. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        files, modules, made = folder / "files.json", folder / "modules.json", folder / "objects"
        course = course_files(ROOT / "kernels")
        files.write_text(json.dumps(course), encoding="utf-8")
        modules.write_text(json.dumps(python_files()), encoding="utf-8")
        made.mkdir()
        for name, path in objects(course, default_cache()).items():
            (made / name).symlink_to(path)
        self._process = subprocess.Popen(
            [str(NODE), "src/serve.mjs", str(files), str(modules), str(made)],
            cwd=PLAYGROUND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self._source: dict[str, list[dict[str, Any]]] = {}  # by the name of a compilation
        self.started = self.ask(do="start")

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.__exit__(None, None, None)

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return one answer of serve.mjs."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        answer = json.loads(stdout.readline())
        assert "failed" not in answer, answer["failed"]
        return answer

    def compile(self, name: str, compilation: Compilation) -> str:
        """Compile; return the compiler's text if it fails. ``name``: for later launches."""
        preprocessed = self.ask(do="preprocess", request=compilation.preprocessing())["text"]
        self._source[name] = compilation.source_findings(preprocessed)
        return self.ask(do="compile", name=name, request=compilation.compiling())["error"]

    def python(self, name: str, *given: Any) -> Any:
        """Return what a method of PageSession returns in Pyodide."""
        return self.ask(do="python", name=name, given=given)["found"]

    def rows(self, text: bytes) -> bytes:
        """Return the rows of a text's tree by the page's parser (src/tree.mjs)."""
        return base64.b64decode(self.ask(do="tree", text=base64.b64encode(text).decode())["rows"])

    def launch(self, name: str, request: LaunchRequest) -> Launched:
        """Run the compilation of this name."""
        return Launched(self.launch_job(name, job(request)), request)

    def launch_job(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return the answer of src/runner.mjs, with bytes in base64."""
        return self.ask(do="run", name=name, job={**given, "source": self._source[name]})


class Launched:
    """The result of a launch in WebAssembly."""

    def __init__(self, answer: dict[str, Any], request: LaunchRequest) -> None:
        self.trace = None
        if answer["trace"]:
            self.trace = trace_of(job(request), answer["trace"], base64.b64decode(answer["trace"]["slots"]))
        self.ended: str | None = answer["ended"]
        self.failed = answer["status"] != 0
        self.printed: str = answer["printed"]
        self.findings: Findings = parse_report(answer["report"].encode())
        like = {arg.name: arg.data for arg in request.args if isinstance(arg.data, np.ndarray)}
        self.arrays = {name: decoded(text, like[name]) for name, text in answer["arrays"].items()}


class Server:
    """A plain file server, and the requests it got."""

    def __init__(self, folder: Path) -> None:
        asked = self.asked = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                asked.append(self.path)

        handler = functools.partial(Handler, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/"

    def close(self) -> None:
        """Stop the server: the address answers no more."""
        self._server.shutdown()
        self._server.server_close()
