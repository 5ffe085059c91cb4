"""How findings read: text, coloured parts, HTML."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from gn_tutorial.diagnostics.excerpt import Excerpt
from gn_tutorial.diagnostics.rendering import FindingView, html_of, lines_of, plain, source_lines

MAIN = Excerpt("/d/k.cpp", 12, 3, "  Adds(t, t, 1.0f, 65);", 2, 4, primary=True)
MADE = Excerpt("/d/k.cpp", 9, 8, "  pipe.InitBuffer(b, 256);", 7, 10, label="made here")
VIEW = FindingView(
    id="ub-out-of-bounds",
    severity="error",
    what="Adds touches 260 bytes.",
    where="/d/k.cpp:12:3, block 0",
    folder="/d/",
    why="There are no walls.",
    fix="Process fewer.",
    more="gnt explain ub-out-of-bounds",
    link="docs/diagnostics/ub-out-of-bounds.md",
    excerpts=(MAIN, MADE),
)


def test_a_finding_as_text() -> None:
    assert plain(lines_of(VIEW)).splitlines() == [
        "error: Adds touches 260 bytes.",
        "  where: /d/k.cpp:12:3, block 0",
        "    12 |   Adds(t, t, 1.0f, 65);",
        "       |   ^^^^",
        "     9 |   pipe.InitBuffer(b, 256);",
        "       |        ---------- made here",
        "  why:   There are no walls.",
        "  fix:   Process fewer.",
        "  more:  gnt explain ub-out-of-bounds",
    ]


def test_severity_and_reasons_can_be_left_out() -> None:
    lines = plain(lines_of(VIEW, named=False, reasons=False)).splitlines()
    assert lines[0] == "Adds touches 260 bytes."
    assert lines[-1].endswith("made here")


def test_another_file_is_named_and_one_that_cannot_be_read_too() -> None:
    away = replace(MADE, file="/d/other.h")
    assert "  in:    /d/other.h" in plain(source_lines([MAIN, away])).splitlines()
    gone = Excerpt("/d/gone.h", 4, label="freed here")
    assert plain(source_lines([MAIN, gone])).splitlines()[-1] == "  freed here: /d/gone.h:4"
    assert source_lines([Excerpt("/d/gone.h", 4, primary=True)]) == []


def test_colours_are_roles_and_text_has_none() -> None:
    lines = lines_of(VIEW)
    assert lines[0][0] == ("error: ", "error")
    assert {"mark", "second", "gutter", "label", "place"} <= {span.style for line in lines for span in line}
    assert "\x1b" not in plain(lines)


def test_html_is_well_formed_escaped_and_names_no_folder() -> None:
    odd = replace(
        VIEW,
        what='<script>"&',
        excerpts=(replace(MAIN, text="  Cast<half>(a && b);"), replace(MADE, file="/d/<x>.h")),
    )
    html = html_of(odd)
    assert "<script" not in html
    assert "&lt;script&gt;&quot;&amp;" in html
    assert "Cast&lt;half&gt;(a &amp;&amp; b);" in html
    assert "/d/" not in html
    assert "&lt;x&gt;.h" in html
    open_tags: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    Reader().feed(html)
    assert open_tags == []


@pytest.mark.parametrize("severity", ["error", "warning"])
def test_html_keeps_the_marks_below_what_they_mark(severity: str) -> None:
    source = re.search(r"<pre[^>]*>(.*)</pre>", html_of(replace(VIEW, severity=severity)), re.DOTALL)
    assert source
    text = re.sub(r"<[^>]*>", "", source[1]).splitlines()
    assert text[1].index("^^^^") == text[0].index("Adds")
    assert text[3].index("-----") == text[2].index("InitBuffer")
