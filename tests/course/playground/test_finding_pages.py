"""The pages of findings beside the page: every one, with links that lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gn_tutorial.course.playground.finding_pages import finding_pages, with_try_it
from gn_tutorial.course.playground.programs import programs

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return finding_pages(ROOT)


def test_every_finding_has_one_and_no_link_leads_nowhere(pages: dict[str, str]) -> None:
    assert set(pages) == {f"{path.stem}.html" for path in (ROOT / "docs" / "diagnostics").glob("*.md")}
    known = programs(ROOT / "tests" / "programs")
    for name, text in pages.items():
        for target, place in re.findall(r'<a href="([^"#]*)#?([^"]*)"', text):
            if target == "../index.html":
                assert not place or place.removeprefix("start=") in known, name
            else:
                assert f' id="{place}"' in pages[target or name] or not place, f"{name}: {target}#{place}"


def test_wrong_and_right_program_can_be_tried(pages: dict[str, str]) -> None:
    page = pages["queue-empty.html"]
    assert "<h1" in page
    assert re.findall(r'start=(\w+/\w+)">Try it', page) == ["queue/empty_bad", "queue/empty_ok"]
    # One that `gnt run` has no line for.
    assert 'start=global/not_written_bad">Try it' in pages["gm-not-written.html"]
    # Host code does not run in the page, and its compiler does not check memory qualifiers.
    elsewhere = ("host", "call", "language-space")
    shown = [name for name, text in pages.items() if ">Wrong</h2>" in text and not name.startswith(elsewhere)]
    assert [name for name in shown if ">Try it" not in pages[name]] == []


def test_code_is_escaped_and_coloured(pages: dict[str, str]) -> None:
    page = pages["queue-empty.html"]
    assert "TQue&lt;TPosition::VECIN" in page
    assert re.search(r'<span style="color:[^"]*keyword[^"]*">void</span>', page)
    assert "```" not in page


def test_a_program_of_nobody_gets_no_link_and_other_pages_are_words(tmp_path: Path) -> None:
    text = '```cpp\nextern "C" __global__ __aicore__ void mine(GM_ADDR x) {\n}\n```\n'
    assert with_try_it(text, ROOT, "index.html") == text
    (tmp_path / "docs" / "diagnostics").mkdir(parents=True)
    page = tmp_path / "docs" / "diagnostics" / "a.md"
    page.write_text("# a\n\n[b](../exam.md), [c](a.md#a), [d](https://x.org)\n", encoding="utf-8")
    made = finding_pages(tmp_path)["a.html"]
    assert '<span>b</span>, <a href="a.html#a">c</a>, <a href="https://x.org">d</a>' in made
