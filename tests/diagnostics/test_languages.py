"""What the twin says of a mistake, in every language: the same facts at the same line."""

from __future__ import annotations

import re
from collections.abc import Iterator

import program_pairs as programs
import pytest

from gn_tutorial.diagnostics import catalogue
from gn_tutorial.diagnostics.extents import rules
from gn_tutorial.diagnostics.findings import Diagnostic, Findings
from gn_tutorial.errors import KernelFault
from gn_tutorial.translation.choice import languages, speaking
from gn_tutorial.translation.texts import translated

OTHERS = languages()[1:]
NAMES = re.compile(r"\{(\w+)\}")
NUMBERS = re.compile(r"\d+")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
# One of a kind: a buffer and a place of its own, a race, a cause, words among the facts, a warning, blocks, C++.
SAMPLE = [
    "memory/overflow_bad",
    "race/barrier_of_another_pipe_bad",
    "extent/gap_from_start_bad",
    "extent/length_wraps_bad",
    "cause/not_dequeued_bad",
    "cause/exp_overflow_bad",
    "cache/stale_bad",
]


def templates() -> Iterator[tuple[str, str]]:
    """Every template of a finding, with its name."""
    for entry in catalogue.entries().values():
        yield from ((f"{entry.id}.{part}", getattr(entry, part)) for part in ("what", "why", "fix"))
    for name, cause in catalogue.causes().items():
        yield from ((f"{name}.{part}", getattr(cause, part)) for part in ("what", "fix"))
    yield from catalogue.labels()
    yield from rules().items()


@pytest.mark.parametrize("language", OTHERS)
def test_every_template_has_the_same_names_in_braces(language: str) -> None:
    with speaking(language):
        for where, english in templates():
            assert set(NAMES.findall(translated(english))) == set(NAMES.findall(english)), where


def test_names_that_differ_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"{op} reads {role}.": "{op} 读取。"}
    monkeypatch.setattr(f"{__name__}.templates", lambda: [("one", "{op} reads {role}.")])
    monkeypatch.setattr(f"{__name__}.translated", lambda text: wrong[text])
    with pytest.raises(AssertionError, match="one"):
        test_every_template_has_the_same_names_in_braces("zh")


def found_in(program: str) -> Findings:
    try:
        return programs.run(program).diagnostics
    except KernelFault as fault:
        return Findings(fault.diagnostics)


def said(one: Diagnostic, language: str) -> dict[str, str]:
    with speaking(language):
        parts = {"what": one.what, "why": one.why, "fix": one.fix, "where": one.where}
        labels = "\n".join(excerpt.label for excerpt in one.excerpts())
        return parts | {"labels": labels, "text": one.render(), "html": one._repr_html_()}


@pytest.mark.parametrize("program", SAMPLE)
def test_a_finding_reads_in_chinese_with_the_same_line_and_numbers(program: str) -> None:
    for one in found_in(program):
        english, chinese = said(one, "en"), said(one, "zh")
        assert english["where"] == chinese["where"]
        for part in ("what", "why", "fix", "text", "html"):
            assert CHINESE.search(chinese[part]), (part, chinese[part])
            assert not CHINESE.search(english[part])
        for part in ("what", "fix"):
            assert set(NUMBERS.findall(english[part])) == set(NUMBERS.findall(chinese[part])), chinese[part]
        # The lines of the source and the marks below them are not text.
        assert [line for line in english["text"].splitlines() if re.match(r" *\d+ \| ", line)] == [
            line for line in chinese["text"].splitlines() if re.match(r" *\d+ \| ", line)
        ]
        assert not re.search(r"[-^]+ [a-z]+ here|the other one", chinese["text"])


def test_a_fault_reads_in_chinese_where_it_is_raised_in_chinese() -> None:
    with speaking("zh"), pytest.raises(KernelFault) as caught:
        programs.run("memory/overflow_bad")
    assert "原因:" in str(caught.value)
    assert "位置:" in str(caught.value)


@pytest.mark.parametrize("name", ["race-read-after-write", "call-argument-count", "ub-overflow"])
def test_a_page_reads_in_chinese_but_for_code_and_what_was_printed(name: str) -> None:
    entry = catalogue.find(name)
    with speaking("zh"):
        page = catalogue.read_page(entry)
    outside = re.sub(r"```.*?```|<!--.*?-->", "", page, flags=re.DOTALL)
    for line in outside.splitlines():
        words = re.sub(r"`[^`]*`|\*[^*]*\*|\]\([^)]*\)", "", line)
        assert not re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", words), line
    with speaking("en"):
        english = catalogue.read_page(entry)
    assert re.findall(r"```.*?```", page, flags=re.DOTALL) == re.findall(r"```.*?```", english, flags=re.DOTALL)


def test_every_word_of_a_fact_has_a_translation() -> None:
    with speaking("zh"):
        for field, listed in catalogue.words().items():
            assert [one for one in listed if translated(one) == one] == [], field
