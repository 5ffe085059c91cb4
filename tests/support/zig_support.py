"""A machine without a C++ compiler, on which the package installs the ziglang wheel's, once in each run.

The installation takes half a minute, and zig then compiles its C++ library, once for each folder of an installation,
which takes longer. So all tests that want a second compiler use this one.
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
    """The environment's ``folder``, the ``path`` where it finds programs, and a first launch's exit code and output."""

    folder: Path
    path: Path
    code: int
    out: str
    err: str

    @property
    def compiler(self) -> str:
        """The path of the compiler that the launch found."""
        return self.out.split(maxsplit=2)[2].strip()


@pytest.fixture(scope="session")
def bare_machine() -> BareMachine:
    """Make an environment without g++ and clang++, once a run, and a first launch in it."""
    folder = Path(os.environ["GNT_CACHE_DIR"]).absolute() / "ziglang"
    folder.mkdir(parents=True, exist_ok=True)
    run, told = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex, folder / "told.json"
    with filelock.FileLock(folder / "lock"):  # one worker makes it, the others read its result
        before = json.loads(told.read_text("utf-8")) if told.exists() else {}
        if before.get("run") != run:
            told.unlink(missing_ok=True)
            before = {"run": run, "machine": _first_launch(folder)}
            told.write_text(json.dumps(before), "utf-8")
    return BareMachine(folder / "env", folder / "path", *before["machine"])


@pytest.fixture
def use_zig(bare_machine: BareMachine, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that makes this test use that compiler, with that machine's path.

    The path matters: if zig finds another compiler on it, it searches other folders for headers, and compiles its C++
    library again.
    """
    assert bare_machine.code == 0, bare_machine.err

    def use() -> None:
        monkeypatch.setenv("GNT_CXX", shlex.join([bare_machine.compiler, "c++"]))
        monkeypatch.setenv("PATH", str(bare_machine.path))

    return use


def _first_launch(folder: Path) -> tuple[int, str, str]:
    """Launch in a new environment with nothing on its path; the package's other requirements are linked from here."""
    env, packages, path = (folder / name for name in ("env", "packages", "path"))
    for old in (env, packages, path):
        shutil.rmtree(old, ignore_errors=True)
    venv.create(env, with_pip=True)
    path.mkdir()
    # One folder with all packages of this environment except ziglang, which pip must install.
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
