"""Shared by the tests of operator projects: compiles host files with the twin's headers, reads their registrations."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path

from gn_tutorial.compiler.build_request import TWIN
from gn_tutorial.compiler.toolchain import find_compiler
from gn_tutorial.projects.definition import OpDefinition, read_definitions

OP_HOST = Path(__file__).parents[1] / "projects" / "op_host"
#: Operators with each kind of parameter, and functions that are registered without a definition.
SOURCES = (OP_HOST / "parameters.cpp", OP_HOST / "functions.cpp")


def compiled(*words: str | Path, standard: str = "c++17") -> subprocess.CompletedProcess[str]:
    """Run the compiler with warnings as errors, except for unused arguments, which public files have."""
    flags = [f"-std={standard}", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", f"-I{TWIN / 'include'}"]
    command = [*find_compiler().argv, *flags, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def _made(*words: str | Path, output: Path, standard: str) -> None:
    done = compiled(*words, "-o", output, standard=standard)
    assert done.returncode == 0, done.stderr


@functools.cache
def _driver(standard: str) -> bytes:
    """Return the object file of the driver, which every program here links."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "driver.o"
        _made("-c", OP_HOST / "driver.cpp", output=made, standard=standard)
        return made.read_bytes()


@functools.lru_cache(maxsize=8)
def _printed(sources: tuple[Path, ...], standard: str) -> tuple[str, str]:
    """Return the driver's output for these files: the description and, if all are in OP_HOST, functions' results."""
    with tempfile.TemporaryDirectory() as folder:
        program, driver = Path(folder) / "described", Path(folder) / "driver.o"
        driver.write_bytes(_driver(standard))
        _made(*sources, driver, output=program, standard=standard)
        call = "calls" if all(source.parent == OP_HOST for source in sources) else "none"
        printed = subprocess.run([program, call], capture_output=True, text=True, timeout=60, check=True).stdout
        description, _, answered = printed.partition("\n")
        return description, answered


def described(*sources: Path) -> dict[str, OpDefinition]:
    """Return operator type -> definition of everything that these files register."""
    return read_definitions(_printed(sources, "c++17")[0])


def answers(*sources: Path, standard: str) -> list[str]:
    """Return each function's result for a null context, of files in OP_HOST: a line an operator, sorted."""
    return sorted(_printed(sources, standard)[1].splitlines())
