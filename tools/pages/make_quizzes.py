"""The quiz and the puzzles of every notebook, made from ``exercises``: `./gnt lint quizzes --fix`.

A puzzle is a cell ``puzzle-name``, which its file in ``exercises/puzzles`` makes: its text, and the output of nobody's
lines. The quiz is the cell ``quiz``, a heading, and the cell ``quiz-ask``, which calls ``gnt.quiz``. The output stored
there is what that call shows, so that a change of the bank needs no run of the notebook. ``--check`` writes nothing,
names the notebooks that differ, and ends with 1.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gn_tutorial.course.puzzles.bank import find  # noqa: E402
from gn_tutorial.course.puzzles.check import check as checked  # noqa: E402
from gn_tutorial.course.quizzes.quiz import quiz  # noqa: E402

_HEAD = """## Quiz

Pen and paper are allowed. Run the next cell and choose; your first choice counts, and `gnt learn list` has your score.
`gnt quiz {name}` asks the same in a terminal."""


def cells(name: str, count: int) -> list[dict[str, Any]]:
    """The two cells of one quiz; ``count``: the execution count. Raises ArgumentError if there is no such quiz."""
    asked = quiz(name)
    shown = {"text/html": _lines(asked._repr_html_()), "text/plain": _lines(repr(asked))}
    return [
        {"cell_type": "markdown", "id": "quiz", "metadata": {}, "source": _lines(_HEAD.format(name=name))},
        {
            "cell_type": "code",
            "execution_count": count,
            "id": "quiz-ask",
            "metadata": {},
            "outputs": [{"data": shown, "metadata": {}, "output_type": "display_data"}],
            "source": [f'gnt.quiz("{name}")'],
        },
    ]


def puzzle_cell(name: str, count: int) -> dict[str, Any]:
    """The cell of a puzzle, not attempted. Raises ArgumentError if there is no such puzzle."""
    puzzle = find(name)
    shown = checked(puzzle, puzzle.stub())
    data = {"text/html": _lines(shown._repr_html_()), "text/plain": _lines(repr(shown))}
    output = {"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"}
    return {
        "cell_type": "code",
        "execution_count": count,
        "id": f"puzzle-{name.partition('.')[2]}",
        "metadata": {},
        "outputs": [output],
        "source": _lines(puzzle.cell()),
    }


def with_puzzles(cells: list[dict[str, Any]], number: str) -> list[dict[str, Any]]:
    """Return the cells of notebook ``number``, with those of puzzles made anew."""
    made, count = [], 0
    for cell in cells:
        count += cell["cell_type"] == "code"
        found = cell["id"].startswith("puzzle-") and cell["cell_type"] == "code"
        made.append(puzzle_cell(f"{number}.{cell['id'].removeprefix('puzzle-')}", count) if found else cell)
    return made


def _lines(text: str) -> list[str]:
    """Return a text as a notebook stores it."""
    return text.splitlines(keepends=True)


def put(notebook: Path, check: bool) -> bool:
    """Return whether a notebook's cells of quiz and puzzles agree with their files; without ``check`` update them."""
    contents = json.loads(notebook.read_text(encoding="utf-8"))
    there = contents["cells"]
    begin = next(place for place, cell in enumerate(there) if cell["id"] == "quiz")
    end = begin + 1 + any(cell["id"] == "quiz-ask" for cell in there)
    count = 1 + sum(cell["cell_type"] == "code" for cell in there[:begin])
    made = cells(notebook.name[:2], count)
    wanted = with_puzzles([*there[:begin], *made, *there[end:]], notebook.name[:2])
    if there == wanted:
        return True
    if not check:
        contents["cells"] = wanted
        notebook.write_text(json.dumps(contents, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return not check


def main() -> None:
    """Write or check every notebook."""
    check = "--check" in sys.argv[1:]
    differ = [path.name for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if not put(path, check)]
    if differ:
        named = ", ".join(differ)
        sys.exit(f"the quiz or a puzzle of {named} is not that of exercises; repair: ./gnt lint quizzes --fix")


if __name__ == "__main__":
    main()
