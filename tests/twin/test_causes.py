"""The causes that the twin knows: the programs of ``cause/``, their words, and the place that is named."""

from __future__ import annotations

import re

import pytest
from program_pairs import CAUSE, SOURCES, findings

from gn_tutorial.diagnostics.catalogue import causes
from gn_tutorial.diagnostics.findings import Diagnostic

SHOWN = {name.removeprefix("cause/").removesuffix("_bad"): name for name in SOURCES if re.match(r"cause/.*_bad$", name)}


def found(name: str) -> Diagnostic:
    return next(one for one in findings(SHOWN[name]) if "cause" in one.fields)


def test_every_cause_has_a_program() -> None:
    assert {name.replace("_", "-") for name in SHOWN} == set(causes())


@pytest.mark.parametrize("name", SHOWN)
def test_the_cause_is_named_with_its_line_and_leads_to_its_own_fix(name: str) -> None:
    one = found(name)
    assert one.fields["cause"] == name.replace("_", "-")
    assert one.fix != Diagnostic(one.id, one.severity, one.file, one.line, one.block, dict(one.fields, cause="")).fix
    for text in (one.what, one.fix):
        assert "?" not in text
        assert "{" not in text
    lines = SOURCES[SHOWN[name]].read_text(encoding="utf-8").splitlines()
    marked = [number for number, text in enumerate(lines, 1) if text.endswith(CAUSE)]
    assert all(f"line {number}" in one.what for number in marked)


def test_two_buffers_of_one_line_keep_their_names() -> None:
    (one,) = findings("memory/two_on_a_line_bad")
    assert one.buffer == "narrow"
    assert "the buffer of 512 bytes" in one.what.replace("narrow, a", "the")
    (place,) = [excerpt for excerpt in one.excerpts() if excerpt.label == "made here"]
    assert place.text[: place.start].count("InitBuffer") == 1


def test_an_atomic_operation_of_another_type_is_named_with_its_line() -> None:
    (one,) = findings("copy/atomic_type_bad")
    assert f"SetAtomicAdd of another element type is on, since line {one.fields['set_line']}" in one.what


def test_a_row_whose_offset_wraps_is_named_though_rows_do_not_end_there() -> None:
    (one,) = findings("global/row_offset_wraps_bad")
    assert "in 8 bits, 320 becomes 64" in one.what


def test_all_lanes_are_no_number_that_has_gone_below_zero() -> None:
    causes_of = {one.id: one.fields.get("cause") for one in findings("vector/counter_mode_left_on_bad")}
    assert causes_of["ub-out-of-bounds"] == "counter-mode"


def test_a_work_buffer_is_as_long_as_the_documentation_asks() -> None:
    one = found("work_buffer_short")
    assert "asks for 72 elements" in one.what
    assert "288 bytes" in one.fix
