"""Shared by the tests of ./gnt's set-up: a clone that needs nothing from the network, and a way to run ./gnt in it."""

import os
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REAL = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
TOOLS = "cat cksum dirname ls mkdir readlink rm sed sh sleep".split()

# A build backend of the standard library only, so that pip downloads nothing. Its editable wheel holds `gnt`.
BACKEND = """
import os, pathlib, time, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    with open("builds.log", "a") as log:
        log.write("build\\n")
    time.sleep(float(os.environ.get("SLOW_BUILD", "0")))
    name, info = "tiny-1.0-py3-none-any.whl", "tiny-1.0.dist-info"
    members = {
        "tiny.pth": os.getcwd(),
        f"{info}/METADATA": "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\nProvides-Extra: lab\\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        f"{info}/entry_points.txt": "[console_scripts]\\ngnt = tiny:main\\n",
    }
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as wheel:
        for path, text in members.items():
            wheel.writestr(path, text)
        wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\\n" for path in members))
    return name
"""
TINY = """
import os, sys

def main():
    print(os.getcwd(), *sys.argv[1:], sep="|")
    return 7 if "fail" in sys.argv else 0
"""
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "tiny"
version = "1.0"
"""


def start(clone: Path, *arguments: str, path: Path | None = None, **options: object) -> subprocess.Popen[str]:
    ours = ("PIP_", "GNT_", "PYTHON", "UV_", "SSL_")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    variables |= {"PATH": str(path)} if path else {}
    variables |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "GNT_NO_UV": "1", **options.pop("env", {})}
    command = [str(clone / "gnt"), *arguments]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=variables, text=True, **streams, **options)


def gnt(clone: Path, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    with start(clone, *arguments, **options) as process:
        out, err = process.communicate(timeout=120)
    assert "Traceback" not in err
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def fake_python(folder: Path, body: str) -> None:
    wrapper = folder / "python3"
    wrapper.write_text(f'#!/bin/sh\nreal="{sys.executable}"\n{textwrap.dedent(body)}\nexec "$real" "$@"\n')
    wrapper.chmod(0o755)


def builds(clone: Path) -> int:
    log = clone / "builds.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def shelf_with(folder: Path, name: str, version: str) -> Path:
    """Make a package index, a folder, with one package of one module that holds its version."""
    shelf = folder / "index" / name
    shelf.mkdir(parents=True)
    wheel, info = shelf / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    members = {
        f"{name}.py": f"__version__ = '{version}'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in members.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in members))
    (shelf / "index.html").write_text(f'<a href="{wheel.name}">{wheel.name}</a>')
    return shelf.parent
