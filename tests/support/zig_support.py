"""A machine without a C++ compiler, on which the package installs the one of the ziglang wheel: once in each run.

The installation takes half a minute, and zig compiles its C++ library for longer, once for each folder that it lies
in. So the tests that want a second compiler take this one.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import uuid
import venv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import filelock
import pytest

ROOT = Path(__file__).resolve().parents[2]
RUN_COPY = """
import sys
sys.path[1:1] = [path for path in sys.argv[1].split(":") if path]
import numpy as np
import gn_tutorial as gnt
from gn_tutorial.compiler.toolchain import find_compiler

found = find_compiler()
x = np.arange(10_007, dtype=np.float32)
copied = gnt.kernel("copy")
built = copied.build()
result = copied(x, blocks=3)
assert (result.y == x).all()
print(found.name, built.compiler.name, found.argv[0])
"""


class BareMachine(NamedTuple):
    """``folder``: the new environment, ``path``: where it finds programs; how a first launch ended and what it said."""

    folder: Path
    path: Path
    code: int
    out: str
    err: str

    @property
    def compiler(self) -> str:
        """The path of the compiler that was found."""
        return self.out.split(maxsplit=2)[2].strip()


@pytest.fixture(scope="session")
def bare_machine() -> BareMachine:
    """A first launch without g++ and clang++, in an environment that this run has made."""
    folder = Path(os.environ["GNT_CACHE_DIR"]).absolute() / "ziglang"
    folder.mkdir(parents=True, exist_ok=True)
    run, told = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex, folder / "told.json"
    with filelock.FileLock(folder / "lock"):  # one worker makes it, the others read what it was told
        before = json.loads(told.read_text("utf-8")) if told.exists() else {}
        if before.get("run") != run:
            told.unlink(missing_ok=True)
            before = {"run": run, "machine": _first_launch(folder)}
            told.write_text(json.dumps(before), "utf-8")
    return BareMachine(folder / "env", folder / "path", *before["machine"])


@pytest.fixture
def use_zig(bare_machine: BareMachine, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Called, it makes that compiler the one of this test, on that machine's path.

    The path is part of it: where zig finds another compiler there, it looks for headers in other folders, and makes its
    C++ library once more.
    """
    assert bare_machine.code == 0, bare_machine.err

    def use() -> None:
        monkeypatch.setenv("GNT_CXX", shlex.join([bare_machine.compiler, "c++"]))
        monkeypatch.setenv("PATH", str(bare_machine.path))

    return use


def _first_launch(folder: Path) -> tuple[int, str, str]:
    """In a new environment with nothing on its path; the package's other requirements come from this one."""
    env, packages, path = (folder / name for name in ("env", "packages", "path"))
    for old in (env, packages, path):
        shutil.rmtree(old, ignore_errors=True)
    venv.create(env, with_pip=True)
    path.mkdir()
    # One folder with everything that is installed here but ziglang, which has to come from pip.
    packages.mkdir()
    for installed in (Path(one) for one in sys.path if one.endswith("-packages")):
        for item in installed.iterdir():
            if not item.name.startswith("ziglang") and not (packages / item.name).exists():
                (packages / item.name).symlink_to(item)
    environment = {**os.environ, "PATH": str(path), "PYTHONPATH": "", "VIRTUAL_ENV": str(env)}
    environment.pop("GNT_CXX", None)
    command = [env / "bin" / "python", "-c", RUN_COPY, f"{ROOT}:{packages}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr
