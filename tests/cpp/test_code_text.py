"""Code without comments and literals."""

from __future__ import annotations

from gn_tutorial.cpp.code_text import code


def test_lines_stay_in_their_places() -> None:
    text = 'a /* \n\n */ b "x//y" R"(\n")" c // d\ne\n'
    assert [line.split() for line in code(text).splitlines()] == [["a"], [], ["b", '""'], ["c"], ["e"]]
