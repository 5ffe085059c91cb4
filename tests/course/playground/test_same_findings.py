"""The right and wrong programs of ``program_pairs`` have the same findings in WebAssembly as on this machine."""

from __future__ import annotations

from pathlib import PurePosixPath

import program_pairs
import pytest
from playground_support import Page, missing
from program_pairs import SOURCES

from gn_tutorial.course.playground.compiling import Compilation

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

#: One of each kind: stopped at once, found while it goes on, found at its end, between blocks that wait, in the source.
DOZEN = [
    f"{pair}_{which}"
    for pair in (
        "cache/stale",
        "flag/never_awaited",
        "global/out_of_bounds",
        "kernel/assert",
        "language/recursion",
        "memory/use_after_free",
        "placed/overflow",
        "precision/log_of_zero",
        "queue/empty",
        "race/no_meeting",
        "sync/block_wait_deadlock",
        "vector/overlap",
    )
    for which in ("ok", "bad")
]


def hold_beside_this_machine(page: Page, names: list[str]) -> None:
    source = Compilation(PurePosixPath("programs/all.cpp"), program_pairs.together(names))
    assert page.compile("all", source) == ""
    differ = {}
    for name in names:
        found = page.launch("all", program_pairs.request(name))
        here = program_pairs.findings(name)
        if found.ended or tuple(found.findings) != tuple(here):
            differ[name] = (found.ended, found.findings.to_list(), [one.to_dict() for one in here])
    assert differ == {}


def test_a_dozen_pairs_find_the_same(page: Page) -> None:
    hold_beside_this_machine(page, DOZEN)


#: A `throw` does not compile there, a `new` that fails ends the launch, and accesses through pointers are not seen.
NOT_THERE = {"kernel/exception_bad", "kernel/no_memory_bad", "language/exception_bad"}
NOT_THERE |= {"global/pointer_behind_bad", "memory/pointer_outside_bad"}
NOT_THERE |= {"race/pointer_counter_bad", "race/pointer_reads_bad", "race/pointer_store_bad"}
#: What depends on compiler and machine: what holds no value has clang's pattern, which stays one in a float
#: sum, and unwritten bytes of the Unified Buffer look like it; an offset of 4 GiB or more wraps around in 32 bits.
MORE_OR_OTHER_WORDS = {
    "cause/index_behind_bad",
    "cause/no_index_bad",
    "cause/no_value_bad",
    "cause/wrapped_elements_bad",
    "language/never_set_bad",
    "memory/never_written_scalar_bad",
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(MORE_OR_OTHER_WORDS))
def test_other_facts_are_still_findings_of_that_line(page: Page, name: str) -> None:
    assert page.compile("one", Compilation(PurePosixPath("programs/one.cpp"), program_pairs.together([name]))) == ""
    found = {(one.id, one.line) for one in page.launch("one", program_pairs.request(name)).findings}
    assert {(one.id, one.line) for one in program_pairs.findings(name)} <= found


def test_an_exception_is_an_error_at_its_line(page: Page) -> None:
    source = Compilation(PurePosixPath("programs/one.cpp"), program_pairs.together(["kernel/exception_bad"]))
    said = page.compile("one", source)
    assert "exceptions disabled" in said
    (error,) = source.failure(said).errors
    assert "throw" in SOURCES["kernel/exception_bad"].read_text(encoding="utf-8").splitlines()[error.line - 1]


@pytest.mark.thorough
@pytest.mark.parametrize("check", sorted({name.partition("/")[0] for name in SOURCES}))
def test_every_pair_finds_the_same(page: Page, check: str) -> None:
    hold_beside_this_machine(
        page, [name for name in SOURCES if name.startswith(f"{check}/") and name not in NOT_THERE | MORE_OR_OTHER_WORDS]
    )
