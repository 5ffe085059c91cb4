"""Findings by name: TwinOptions makes each a warning or an error, but for those that end the launch."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from program_pairs import SOURCES, expected, run

import gn_tutorial
from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import ArgumentError, KernelFault

PACKAGE = Path(gn_tutorial.__file__).parent
CATALOGUE = tomllib.loads((PACKAGE / "diagnostics" / "diagnostics.toml").read_text(encoding="utf-8"))
ENDING = {name for name, table in CATALOGUE.items() if table.get("ends", False)}
WRONG = [name for name in SOURCES if name.endswith("_bad")]
#: What is wrong after it where the launch goes on.
FAILS_STILL = {
    "cause/alloc_for_deque_bad": {"queue-never-dequeued"},
    "extent/length_of_larger_type_bad": {"ub-never-written"},
    "cause/not_dequeued_bad": {"queue-wrong-state"},
    "cause/reinterpreted_bad": {"operands-overlap"},
    "extent/repeat_mask_exchanged_bad": {"ub-never-written"},
    "extent/stride_too_long_bad": {"ub-never-written"},
    "extent/strides_exchanged_bad": {"operands-overlap", "ub-never-written"},
    "cause/view_in_elements_bad": {"operands-overlap"},
    "copy/pad_row_too_long_bad": {"ub-out-of-bounds"},
    "flag/set_twice_bad": {"flag-never-awaited"},
    "memory/misaligned_bad": {"operands-overlap"},
    "memory/view_bad": {"operands-overlap"},
    "queue/pipe_gone_bad": {"queue-no-free-buffer"},
    "queue/freed_twice_bad": {"queue-wrong-state"},
    "extent/block_len_unit_bad": {"gm-out-of-bounds"},
    "sync/without_pipe_bad": {"pipe-gone"},
}

#: Touch bytes behind the Unified Buffer itself, which no choice of severity makes memory.
BEHIND_THE_MEMORY = {"cause/counter_mode_bad", "vector/counter_mode_left_on_bad"}


def found_in(name: str, **options: tuple[str, ...]) -> tuple[bool, tuple[Diagnostic, ...]]:
    """Whether the program ran to its end, and its findings."""
    try:
        return True, run(name, np.zeros(1024, np.float32), **options).diagnostics
    except KernelFault as fault:
        return False, fault.diagnostics


def test_the_catalogue_says_which_findings_end_a_launch() -> None:
    text = "".join(
        path.read_text(encoding="utf-8") for path in (PACKAGE / "twin").rglob("*") if path.suffix in (".h", ".cpp")
    )
    called = re.findall(r'\b(?:(?:Stop|Write|BadCall|Threw)\(\s*(?:\*?job_?,\s*)?|thrown = )"(\w+(?:-\w+)+)"', text)
    assert set(called) - {"host-not-synchronised"} == ENDING


@pytest.mark.parametrize("name", WRONG)
def test_each_finding_of_a_program_as_a_warning(name: str) -> None:
    ((wanted, _),) = expected(SOURCES[name])
    if wanted in ENDING:
        with pytest.raises(ArgumentError, match="cannot be a warning: the launch ends there"):
            TwinOptions(warnings=(wanted,))
        return
    ended, diagnostics = found_in(name, warnings=(wanted,))
    severities = {one.severity for one in diagnostics if one.id == wanted}
    if name in BEHIND_THE_MEMORY:
        assert (ended, severities) == (False, {"error"})
        return
    assert severities == {"warning"}
    assert {one.id for one in diagnostics if one.severity == "error"} == FAILS_STILL.get(name, set())


@pytest.mark.parametrize("name", WRONG)
def test_each_finding_of_a_program_as_an_error(name: str) -> None:
    ((wanted, _),) = expected(SOURCES[name])
    ended, diagnostics = found_in(name, errors=(wanted,))
    assert (ended, {one.severity for one in diagnostics if one.id == wanted}) == (False, {"error"})


def test_a_name_in_both_is_an_error() -> None:
    both = {"warnings": ("race-blocks",), "errors": ("race-blocks",)}
    assert not found_in("race/tail_overlap_bad", **both)[0]


def test_names_are_whole() -> None:
    """race-global is no prefix of another name, nor is another one of it."""
    assert not found_in("race/tail_overlap_bad", warnings=("race-global",))[0]
    assert found_in("race/tail_overlap_bad", warnings=("race-global", "race-blocks"))[0]


def test_an_unknown_name_is_refused_with_the_list() -> None:
    with pytest.raises(ArgumentError) as refused:
        TwinOptions(warnings=("ub-stail",))
    assert "no finding has that name" in str(refused.value)
    assert "did you mean ub-stale" in refused.value.hint
    assert all(name in refused.value.detail for name in CATALOGUE)
    with pytest.raises(ArgumentError, match="a tuple of names"):
        TwinOptions(errors="ub-stale")
