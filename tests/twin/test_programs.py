"""Every refusal of the twin: the right and wrong programs of ``program_pairs``, and the line it must name."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from program_pairs import OTHER, SOURCES, also, expected, findings

import gn_tutorial
from gn_tutorial.compiler.address_spaces import IDS

# Refusals of the launch itself, which no kernel's source can cause: tests/runtime/test_launch.py has them.
NOT_OF_A_PROGRAM = {"call-argument-count", "call-argument-kind", "call-unknown-entry", "call-no-memory"}
NOT_OF_A_PROGRAM |= {"call-delayed-bare"}  # tests/kernels/test_delayed_copies.py
NOT_OF_A_PROGRAM |= set(IDS)  # tests/compiler/test_address_spaces.py
# Needs an operating system that refuses a thread.
NOT_OF_A_PROGRAM |= {"block-no-stack"}


def test_pairs_are_complete() -> None:
    for name in SOURCES:
        other = name.replace("_bad", "_ok") if name.endswith("_bad") else name.replace("_ok", "_bad")
        assert name.endswith(("_ok", "_bad"))
        assert other in SOURCES, f"{name} has no counterpart"


def test_every_diagnostic_has_a_program() -> None:
    catalogue = tomllib.loads(
        (Path(gn_tutorial.__file__).parent / "diagnostics" / "diagnostics.toml").read_text(encoding="utf-8")
    )
    shown = {found for path in SOURCES.values() for found, _ in expected(path)}
    of_host_code = {name for name in catalogue if name.startswith("host-")}  # tests/runtime/test_sample_run.py
    assert shown == set(catalogue) - NOT_OF_A_PROGRAM - of_host_code


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith("_bad")])
def test_right_and_wrong_program_are_one_statement_apart(name: str) -> None:
    wrong, right = (
        SOURCES[name].read_text(encoding="utf-8"),
        SOURCES[name.replace("_bad", "_ok")].read_text(encoding="utf-8"),
    )
    pieces = [
        re.split(
            r"(?<=[;{}])\s*",
            re.sub(r"_bad\b", "_ok", re.sub(r"\s*// (?:expect|also|the cause|the other access).*", "", text)),
        )
        for text in (wrong, right)
    ]
    assert len(pieces[0]) == len(pieces[1])
    assert sum(a != b for a, b in zip(*pieces, strict=True)) == 1


def test_an_overflow_comes_with_a_map_of_who_holds_what() -> None:
    (found,) = findings("memory/overflow_bad")
    assert found.what.endswith(f"Taken: 1 x 196576 (line {found.line - 1}).")


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith("_ok")])
def test_right_program_runs(name: str) -> None:
    assert expected(SOURCES[name]) == []
    assert [found.render() for found in findings(name)] == []


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith("_bad")])
def test_wrong_program_is_told_where_it_goes_wrong(name: str) -> None:
    path = SOURCES[name]
    ((wanted, line),) = expected(path)
    diagnostics = findings(name)
    assert {Path(found.file) for found in diagnostics} == {path}
    assert sorted((found.id, found.line) for found in diagnostics) == sorted([(wanted, line), *also(path)])
    found = next(one for one in diagnostics if one.id == wanted)
    lines = path.read_text(encoding="utf-8").splitlines()
    others = [number for number, text in enumerate(lines, 1) if text.endswith(OTHER)]
    assert [found.fields.get("other_line")] == others or not others
    for text in (found.what, found.why, found.fix):
        assert text, f"diagnostics.toml is incomplete for {found.id}"
        assert "{" not in text
        assert "?" not in text  # a fact that the sentence needs and the twin did not give
