"""The quiz of every notebook, made from ``exercises/quizzes/NN.toml``: `./gnt lint quizzes --fix`.

It is the cell ``quiz``, a heading, and the cell ``quiz-ask``, which calls ``gnt.quiz``. The output stored there is what
that call shows, so that a change of the bank needs no run of the notebook. ``--check`` writes nothing, names the
notebooks that differ, and ends with 1.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gn_tutorial.exercises.quiz import quiz  # noqa: E402

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


def _lines(text: str) -> list[str]:
    """As a notebook stores a text."""
    return text.splitlines(keepends=True)


def put(notebook: Path, check: bool) -> bool:
    """Whether the two cells of a notebook are what its quiz gives; without ``check`` they are made so."""
    contents = json.loads(notebook.read_text(encoding="utf-8"))
    there = contents["cells"]
    begin = next(place for place, cell in enumerate(there) if cell["id"] == "quiz")
    end = begin + 1 + any(cell["id"] == "quiz-ask" for cell in there)
    count = 1 + sum(cell["cell_type"] == "code" for cell in there[:begin])
    made = cells(notebook.name[:2], count)
    if there[begin:end] == made:
        return True
    if not check:
        there[begin:end] = made
        notebook.write_text(json.dumps(contents, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return not check


def main() -> None:
    """Write or check every notebook."""
    check = "--check" in sys.argv[1:]
    differ = [path.name for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if not put(path, check)]
    if differ:
        sys.exit(f"the quiz of {', '.join(differ)} is not that of exercises/quizzes; repair: ./gnt lint quizzes --fix")


if __name__ == "__main__":
    main()
