"""Every refusal of the twin: a right and a wrong program one statement apart, and the line it must name.

``programs/<check>/<name>_ok.cpp`` runs to its end; ``..._bad.cpp`` stops with exactly the diagnostic of its
``// expect: <id>`` comment, on that line. ``// blocks: <n>`` asks for more than one block. All are compiled into one
library, to compile the headers once.
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
from gn_tutorial.errors import KernelFault
from gn_tutorial.launch import LaunchArg, Launched, launch

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


def expected(path: Path) -> list[tuple[str, int]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(found.group(1), number) for number, line in enumerate(lines, 1) if (found := EXPECT.search(line))]


@functools.cache
def library() -> Built:
    # #line keeps each program's own file and line numbers.
    parts = [f'#line 1 "{path}"\n{path.read_text(encoding="utf-8")}' for path in SOURCES.values()]
    return build_kernel("\n".join(parts), optimise=False)


def run(name: str) -> Launched:
    x = np.arange(1024, dtype=np.float32)
    args = [
        LaunchArg("x", Kind.TENSOR, Role.IN, x),
        LaunchArg("y", Kind.TENSOR, Role.INOUT, np.zeros(1024, np.float32)),
    ]
    blocks = BLOCKS.search(SOURCES[name].read_text(encoding="utf-8"))
    return launch(
        library().library, name.replace("/", "_"), args, blocks=int(blocks.group(1)) if blocks else 1, isolated=False
    )


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


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith("_ok")])
def test_right_program_runs(name: str) -> None:
    assert expected(SOURCES[name]) == []
    run(name)


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith("_bad")])
def test_wrong_program_stops_where_it_goes_wrong(name: str) -> None:
    path = SOURCES[name]
    ((wanted, line),) = expected(path)
    with pytest.raises(KernelFault) as caught:
        run(name)
    assert [(found.id, Path(found.file), found.line) for found in caught.value.diagnostics] == [(wanted, path, line)]
    (found,) = caught.value.diagnostics
    for text in (found.what, found.why, found.fix):
        assert text, f"diagnostics.toml is incomplete for {found.id}"
        assert "{" not in text
        assert "?" not in text  # a fact that the sentence needs and the twin did not give
    assert path.name in str(caught.value)
