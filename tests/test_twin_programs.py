"""Every refusal of the twin: a right and a wrong program one statement apart, and the line it must name.

``programs/<check>/<name>_ok.cpp`` runs to its end without a diagnostic; ``..._bad.cpp`` has exactly the diagnostic of
its ``// expect: <id>`` comment on that line, an error or a warning. ``// blocks: <n>`` asks for more than one block,
``// roles: in out`` for other roles of x and y than in and inout, ``// options: <field>=<choice>`` for a choice of
TwinOptions. All are compiled into one library, to compile the headers once.
"""

from __future__ import annotations

import functools
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial
from gn_tutorial.abi import Kind, Role
from gn_tutorial.build import Built, build_kernel
from gn_tutorial.diagnostics import Diagnostic
from gn_tutorial.errors import KernelFault
from gn_tutorial.launch import LaunchArg, TwinOptions, launch

PROGRAMS = Path(__file__).parent / "programs"
SOURCES = {
    f"{path.parent.name}/{path.stem}": path
    for path in sorted(PROGRAMS.glob("*/*.cpp"))
    if path.parent.name not in ("families", "apis")
}
EXPECT = re.compile(r"// expect: ([\w-]+)$")
# Refusals of the launch itself, which no kernel's source can cause: tests/test_launch.py has them.
NOT_OF_A_PROGRAM = {"call-argument-count", "call-argument-kind", "call-unknown-entry", "call-no-memory"}
# Needs an operating system that refuses a thread.
NOT_OF_A_PROGRAM |= {"sync-all-no-thread"}
BLOCKS = re.compile(r"^// blocks: (\d+)$", flags=re.MULTILINE)
ROLES = re.compile(r"^// roles: (\w+) (\w+)$", flags=re.MULTILINE)
OPTIONS = re.compile(r"^// options: (\w+)=(\w+)$", flags=re.MULTILINE)


def expected(path: Path) -> list[tuple[str, int]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(found.group(1), number) for number, line in enumerate(lines, 1) if (found := EXPECT.search(line))]


@functools.cache
def library() -> Built:
    # #line keeps each program's own file and line numbers.
    parts = [f'#line 1 "{path}"\n{path.read_text(encoding="utf-8")}' for path in SOURCES.values()]
    return build_kernel("\n".join(parts), optimise=False)


def run(name: str) -> tuple[Diagnostic, ...]:
    """What the twin has to say about one program, whether or not the launch failed for it."""
    text = SOURCES[name].read_text(encoding="utf-8")
    roles = ROLES.search(text)
    of_x, of_y = (Role[one.upper()] for one in roles.groups()) if roles else (Role.IN, Role.INOUT)
    args = [
        LaunchArg("x", Kind.TENSOR, of_x, np.arange(1024, dtype=np.float32)),
        LaunchArg("y", Kind.TENSOR, of_y, np.zeros(1024, np.float32)),
    ]
    blocks, option = BLOCKS.search(text), OPTIONS.search(text)
    try:
        done = launch(
            library().library,
            name.replace("/", "_"),
            args,
            blocks=int(blocks.group(1)) if blocks else 1,
            options=TwinOptions(**{option.group(1): option.group(2)}) if option else None,
            isolated=False,
        )
    except KernelFault as fault:
        failed, diagnostics, told = True, fault.diagnostics, str(fault)
    else:
        failed, diagnostics, told = False, done.diagnostics, ""
    assert failed == any(found.severity == "error" for found in diagnostics)
    assert failed == (SOURCES[name].name in told)
    return diagnostics


def test_pairs_are_complete() -> None:
    for name in SOURCES:
        other = name.replace("_bad", "_ok") if name.endswith("_bad") else name.replace("_ok", "_bad")
        assert name.endswith(("_ok", "_bad"))
        assert other in SOURCES, f"{name} has no counterpart"


def test_every_diagnostic_has_a_program() -> None:
    catalogue = tomllib.loads((Path(gn_tutorial.__file__).parent / "diagnostics.toml").read_text(encoding="utf-8"))
    shown = {found for path in SOURCES.values() for found, _ in expected(path)}
    of_host_code = {name for name in catalogue if name.startswith("host-")}  # tests/test_sample_run.py
    assert shown == set(catalogue) - NOT_OF_A_PROGRAM - of_host_code


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith("_bad")])
def test_right_and_wrong_program_are_one_statement_apart(name: str) -> None:
    wrong, right = (
        SOURCES[name].read_text(encoding="utf-8"),
        SOURCES[name.replace("_bad", "_ok")].read_text(encoding="utf-8"),
    )
    pieces = [
        re.split(r"(?<=[;{}])\s*", re.sub(r"\s*// expect.*", "", text).replace("_bad(", "_ok("))
        for text in (wrong, right)
    ]
    assert len(pieces[0]) == len(pieces[1])
    assert sum(a != b for a, b in zip(*pieces, strict=True)) == 1


def test_an_overflow_comes_with_a_map_of_who_holds_what() -> None:
    (found,) = run("memory/overflow_bad")
    assert found.what.endswith(f"Taken: 1 x 196576 (line {found.line - 1}).")


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith("_ok")])
def test_right_program_runs(name: str) -> None:
    assert expected(SOURCES[name]) == []
    assert [found.render() for found in run(name)] == []


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith("_bad")])
def test_wrong_program_is_told_where_it_goes_wrong(name: str) -> None:
    path = SOURCES[name]
    ((wanted, line),) = expected(path)
    diagnostics = run(name)
    assert [(found.id, Path(found.file), found.line) for found in diagnostics] == [(wanted, path, line)]
    (found,) = diagnostics
    for text in (found.what, found.why, found.fix):
        assert text, f"diagnostics.toml is incomplete for {found.id}"
        assert "{" not in text
        assert "?" not in text  # a fact that the sentence needs and the twin did not give
