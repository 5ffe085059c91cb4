"""The section "Quiz" of every notebook, made from ``exercises/quizzes/NN.toml``: `./gnt lint quizzes --fix`.

A notebook is read where nothing runs, so its quiz is Markdown with answers that open. There is one source of both.
``--check`` writes nothing, names the notebooks that differ, and ends with 1.
"""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gn_tutorial.exercises.quiz import QuizQuestion, quiz  # noqa: E402

_WIDTH = 120
_HEAD = "## Quiz\n\nAnswer in your head before you open the explanation. Pen and paper are allowed.\n"


def section(name: str) -> str:
    """The whole section of one quiz, as Markdown. Raises ArgumentError if there is no such quiz."""
    return "\n".join([_HEAD, *(_asked(n, one) for n, one in enumerate(quiz(name).questions, 1))]).rstrip("\n")


def _asked(number: int, question: QuizQuestion) -> str:
    options = [_wrapped(f"- **{one.letter}** {one.text}", indent="  ") for one in question.options]
    right = [one for one in question.options if one.right]
    wrong = [one for one in question.options if not one.right]
    why = [f"**{one.letter}** is right: {one.why}" for one in right] + [f"**{one.letter}**: {one.why}" for one in wrong]
    lines = [_wrapped(f"**{number}.** {question.text}"), "", *options, "", "<details><summary>Answer</summary>", ""]
    return "\n".join([*lines, _wrapped(" ".join(why)), "</details>", ""])


def _wrapped(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def put(notebook: Path, check: bool) -> bool:
    """Whether the cell ``quiz`` of a notebook is what its quiz gives; without ``check`` it is made so."""
    contents = json.loads(notebook.read_text(encoding="utf-8"))
    (cell,) = (one for one in contents["cells"] if one["id"] == "quiz")
    made = section(notebook.name[:2])
    if "".join(cell["source"]) == made:
        return True
    if not check:
        cell["source"] = made.splitlines(keepends=True)
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
