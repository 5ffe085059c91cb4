"""The folder in which a test runs: a copy of the project, a HOME, and a stand-in for the toolkit."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from gn_tutorial.compiler.build_request import TWIN_INCLUDE
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.memory_check import memory_bytes

#: The stand-ins in the test's PATH: tools that build, tools that need a device, and gn_tutorial's own.
TOOLS = (
    "cmake make ninja gmake g++ c++ gcc cc clang++ clang bisheng ccec msprof npu-smi ascend-dmi"
    " gnt-programs gnt-outputs"
).split()
_SKIPPED = frozenset(".git build build_out node_modules __pycache__ .venv .vscode .idea".split())
_MOST_BYTES, _MOST_FILES = 512 << 20, 20_000
_LEAST_SCRIPT_MEMORY = 4 << 30
#: Libraries that a script looks for before it links. The files are empty, because nothing is linked here.
_LIBRARIES = ("libascendcl.so", "libacl_rt.so", "libnnopbase.so", "libacl_op_compiler.so", "libopapi.so")

_ASK = '''\
"""Passes a command on to the process that runs the test, and prints what it says."""
import json, os, socket, sys
link = socket.socket(socket.AF_UNIX)
os.chdir(os.path.dirname(os.path.abspath(__file__)))
link.connect("../calls/tools")
folder, words = sys.argv[1], sys.argv[2:]
link.sendall(json.dumps({"folder": folder, "words": words, "environment": dict(os.environ)}).encode() + b"\\n")
code = 1
with link.makefile("rb") as answer:
    for line in answer:
        said = json.loads(line)
        for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
            stream.write(said.get(name, ""))
            stream.flush()
        code = said.get("code", code)
sys.exit(code)
'''


class Room:
    """The folder of one run; ``fill`` makes its contents. root: the only folder that scripts may write to.

    copies: the folder of the copied projects. home: the scripts' HOME. toolkit: a stand-in for CANN. tools: the first
    folder of PATH. calls: sockets and pipes.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root).resolve()
        self.home, self.toolkit = self.root / "home", self.root / "toolkit"
        self.tools, self.calls, self.copies = self.root / "bin", self.root / "calls", self.root / "work"
        self._origins: list[tuple[Path, Path]] = []

    def fill(self, headers: Mapping[str, str]) -> None:
        """Make the folders, the tools and the toolkit. headers: file name -> text of the operators' aclnn headers."""
        for folder in (self.home, self.root / "tmp", self.tools, self.calls, self.copies):
            folder.mkdir(parents=True)
        self._make_tools()
        self._make_toolkit(headers)

    def copy(self, source: Path) -> Path:
        """Copy a folder without builds and version control; return the copy.

        Raises ArgumentError if the folder is too large to copy.
        """
        files = list(_files(source))
        total = sum(one.stat().st_size for one in files)
        if total > _MOST_BYTES or len(files) > _MOST_FILES:
            raise ArgumentError(
                f"{source} has {len(files)} files, {total / 1e6:,.0f} MB: too much for a copy",
                hint="name the folder of the operator project, not the one above it",
            )
        target = self.copies / (source.name or "project")
        for one in files:
            place = target / one.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(one, place)
            place.chmod(place.stat().st_mode | 0o200)
        target.mkdir(exist_ok=True)
        for folder, names, _ in os.walk(source):  # scripts rely on empty folders, such as input and output
            names[:] = [one for one in names if one not in _SKIPPED]
            for name in names:
                (target / Path(folder, name).relative_to(source)).mkdir(parents=True, exist_ok=True)
        self._origins.append((target, source))
        return target

    def original(self, path: Path) -> Path:
        """Return the user's folder or file that was copied to ``path``. So errors name the file that the user edits.

        If nothing was copied there, or if the copy of a file was changed, return ``path`` itself.
        """
        for target, source in self._origins:
            if path.is_relative_to(target):
                own = source / path.relative_to(target)
                if own.is_dir() and path.is_dir():
                    return own
                if own.is_file() and own.read_bytes() == path.read_bytes():
                    return own
        return path

    def environment(self) -> dict[str, str]:
        """Return the environment of the test's scripts. Of this process's environment it has only PATH and USER."""
        toolkit = str(self.toolkit)
        path = os.environ.get("PATH", "/usr/bin:/bin")
        made = {
            "PATH": f"{self.tools}{os.pathsep}{path}",
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "USER": os.environ.get("USER", "user"),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "LD_LIBRARY_PATH": "",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "MPLBACKEND": "Agg",
            "ASCEND_OPP_PATH": f"{toolkit}/opp",
            "ASCEND_CUSTOM_OPP_PATH": f"{toolkit}/opp/vendors/customize",
        }
        names = ("ASCEND_HOME_PATH", "ASCEND_INSTALL_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_HOME_DIR", "DDK_PATH")
        made |= dict.fromkeys(names, toolkit)
        return made | {"NPU_HOST_LIB": str(self._architecture / "lib64")}

    def put_program(self, path: Path, name: str) -> None:
        """Write a script at ``path`` in place of program ``name``. The script asks this process to run the program."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._script(path, f"gnt-run {name}")

    @property
    def _architecture(self) -> Path:
        return self.toolkit / f"{platform.machine()}-{platform.system().lower()}"

    def _make_tools(self) -> None:
        (self.tools / "ask.py").write_text(_ASK)
        for name in TOOLS:
            self._script(self.tools / name, name)
        for name in ("python3", "python"):  # a link to Python would leave the virtual environment
            _executable(self.tools / name, f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')

    def _script(self, path: Path, words: str) -> None:
        ask = self.tools / "ask.py"
        _executable(path, f'#!/bin/sh\nexec "{sys.executable}" -I -S "{ask}" "$PWD" {words} "$@"\n')

    def _make_toolkit(self, headers: Mapping[str, str]) -> None:
        package = self.toolkit / "opp" / "vendors" / "customize"
        for folder in (package / "op_api" / "include", package / "op_api" / "lib", package / "bin"):
            folder.mkdir(parents=True)
        for name, text in headers.items():
            (package / "op_api" / "include" / name).write_text(text)
        (package / "op_api" / "lib" / "libcust_opapi.so").touch()
        (package / "bin" / "set_env.bash").write_text("# A stand-in: the operator is run from its sources.\n")
        for place in (self.toolkit / "lib64", self.toolkit / "devlib", self._architecture / "lib64"):
            place.mkdir(parents=True)
            for name in _LIBRARIES:
                (place / name).touch()
        (self._architecture / "devlib").symlink_to("lib64")
        (self._architecture / "include").symlink_to(TWIN_INCLUDE)
        (self.toolkit / "include").symlink_to(TWIN_INCLUDE)
        (self.toolkit / "bin").mkdir()
        for name in ("setenv.bash", "set_env.sh", "set_env.bash", "bin/setenv.bash", "bin/set_env.sh"):
            (self.toolkit / name).write_text("# A stand-in for the toolkit: its variables are set already.\n")
        (self.home / "vendors").mkdir()
        (self.home / "vendors" / "customize").symlink_to(package)
        (self.home / "Ascend" / "ascend-toolkit").mkdir(parents=True)
        (self.home / "Ascend" / "ascend-toolkit" / "latest").symlink_to(self.toolkit)
        (self.home / "ascend" / "log").mkdir(parents=True)


def _executable(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _files(root: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(root):
        names[:] = [one for one in names if one not in _SKIPPED]
        for name in files:
            path = Path(folder, name)
            if path.is_file():
                yield path


def script_memory() -> int:
    """Return the memory limit in bytes of a script, and of each program that it starts.

    The limit is three quarters of the machine's memory, because scripts make large cases in several float64 arrays and
    the last quarter keeps the machine responsive. It is at least 4 GiB, even on a machine with little memory.
    """
    return max(memory_bytes() * 3 // 4, _LEAST_SCRIPT_MEMORY)


def make_usual_folders(work: Path) -> None:
    """Make the folders ``input`` and ``output`` if a test's scripts name them but do not make them.

    Such a folder is missing because git keeps no empty folders. work: the folder of run.sh in the copy.
    """
    scripts = (one for one in (*work.glob("*.sh"), *work.glob("*.py"), *work.glob("scripts/*.py")) if one.is_file())
    text = "\n".join(one.read_text(errors="replace") for one in scripts)
    for name in ("input", "output"):
        named = re.search(rf"""(?<![\w/])(?:\./|\.\./)?{name}/""", text)
        made = re.search(rf"(?:mkdir|makedirs)[^\n]*{name}", text)
        if named and not made:
            (work / name).mkdir(exist_ok=True)
