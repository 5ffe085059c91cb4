"""The learner's source in HTML: nothing of the text is lost, code is in colour, and only its own lines are links."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from gn_tutorial.course.exercises.registry import Exercise, load_course
from gn_tutorial.course.source_html import coloured, excerpt_html, linked

EXERCISES = load_course().exercises


def bare(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html.replace("<br>", "\n")))


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda one: one.id)
def test_a_solution_in_colour_is_the_solution(exercise: Exercise) -> None:
    text = exercise.solution.read_text()
    assert bare(coloured(text, exercise.solution.name)) == text


def test_kinds_of_words_have_colours_of_the_theme() -> None:
    html = coloured('#include "a.h"\nreturn x + 12;  // why <', "k.cpp")
    editor = "mirror-editor-{}-color".format
    kinds = {"#": editor("def"), "return": editor("keyword"), "12": editor("number")}
    for word, colour in (kinds | {"// why &lt;": "content-font-color2"}).items():
        assert re.search(rf'<span style="color:var\(--jp-{colour},#\w+\)">{word}', html), word
    assert re.search(r"</span> x [+] <span", html), "what is no kind of word has none"
    assert "content-font-color2" in coloured("x = 1  # why", "k.py")
    assert "content-font-color2" not in coloured("x = 1  # why", "k.cpp")


def test_only_lines_of_the_file_are_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "my exercises" / "k.cpp"
    html = linked("k.cpp:12, in <b>, then other_k.cpp:3 and k.cpp:4:2, k.cpp", file)
    assert re.findall(r'<a href="([^"]+)" target="_blank">([^<]+)</a>', html) == [
        ("my%20exercises/k.cpp#line=11", "k.cpp:12"),
        ("my%20exercises/k.cpp#line=3", "k.cpp:4"),
    ]
    assert bare(html) == "k.cpp:12, in <b>, then other_k.cpp:3 and k.cpp:4:2, k.cpp"
    assert linked("k.cpp:12 <", None) == "k.cpp:12 &lt;"


def test_marks_stand_out_and_code_below_a_mark_is_no_mark(tmp_path: Path) -> None:
    text = "     9 | x = y - 1;\n       |     ^ here\n     8 | --x;\n       | --- made here\n  then: k.cpp:7: words"
    html = excerpt_html(text, tmp_path / "k.cpp")
    assert bare(html) == text
    marks = re.findall(r'<span style="color:var\(--jp-error-color1,#D55E00\);font-weight:bold">([^<]*)</span>', html)
    assert marks == ["     ^ here", " --- made here"]
    assert 'target="_blank">k.cpp:7</a>' in html
    assert html.startswith('<pre style="white-space:pre;overflow-x:auto')
