"""Compiles and runs programs of an operator's host code, with the host driver's definition GNT_OP_HOST."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from gn_tutorial.compiler.toolchain import compiler_environment, find_compiler, header_flags

INCLUDE = Path(__file__).resolve().parents[2] / "gn_tutorial" / "twin" / "include"
GTEST = Path(__file__).with_name("gtest_stand_in")


def compile_program(
    folder: Path, source: str, *more: str | Path, include: Sequence[Path] = (), warnings: bool = True
) -> Path:
    """Compile a source text with more files or flags; return the program. AssertionError has the compiler's output."""
    compiler = find_compiler()
    text = folder / "host.cpp"
    text.write_text(source, encoding="utf-8")
    program = folder / "host"
    folders = [f"-I{path}" for path in (*include, INCLUDE)]
    strict = ["-Wall", "-Wextra", "-Werror"] if warnings else ["-w"]
    command = [*compiler.argv, *header_flags(compiler, optimise=False), "-DGNT_OP_HOST", *folders, *strict]
    made = subprocess.run(
        [*command, text, *more, "-o", program], capture_output=True, text=True, check=False, env=compiler_environment()
    )
    assert made.returncode == 0, made.stderr[:4000]
    return program


def run_program(program: Path, text: str = "") -> list[str]:
    """Return its lines of output. Raises AssertionError with its error output if it fails."""
    ran = subprocess.run([program], input=text, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, f"exit {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    return ran.stdout.splitlines()
