"""The picture of a finding: every word of it, in its place, and nothing of the machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.text import Text

import gn_tutorial.plot as plot
from tests.plot.test_every_picture import FILE, fault


def written(figure: Figure) -> list[str]:
    """The rows of a picture from top to bottom, each as its words."""
    rows: dict[float, list[Text]] = {}
    for one in figure.texts:
        rows.setdefault(round(one.get_position()[1], 6), []).append(one)
    return [
        " ".join(one.get_text() for one in sorted(row, key=lambda one: one.get_position()[0]))
        for _, row in sorted(rows.items(), reverse=True)
    ]


def test_it_has_the_words_of_a_terminal_and_no_folder() -> None:
    found = fault()
    picture = plot.finding(found)
    drawn = " ".join(" ".join(written(picture.figure)).split())
    assert drawn == " ".join(f"error: {found.render().removeprefix('error: ')}".replace(f"{FILE.parent}/", "").split())
    assert picture.alt == found.render().replace(f"{FILE.parent}/", "")
    assert str(FILE.parent) in found.render()


def test_a_mark_stands_below_what_it_marks() -> None:
    texts = plot.finding(fault()).figure.texts
    (mark,) = [one for one in texts if set(one.get_text()) == {"^"}]
    (line,) = [one for one in texts if one.get_text().startswith("Adds(b, a, 1.0f, 64)")]
    assert mark.get_position()[0] == line.get_position()[0]
    assert len(mark.get_text()) == len("Adds")


def test_a_long_line_of_source_is_cut_off_and_a_long_sentence_is_not(tmp_path: Path) -> None:
    long = tmp_path / "long.cpp"
    long.write_text("\n" * 4 + f"  Adds(b, a, 1.0f, 64);  // {'on and on ' * 20}\n")
    found = replace(fault(), file=str(long), line=5, fields={"op": "Adds", "pipe": "PIPE_V " * 40})
    rows = written(plot.finding(found).figure)
    (cut,) = [row for row in rows if row.startswith("5 |")]
    assert cut.endswith("…")
    assert sum(row.count("PIPE_V") for row in rows) >= 40
