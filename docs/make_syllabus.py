"""README's syllabus, made from what each notebook says in its first cell: `./gnt lint notebooks --fix`.

``--check`` writes nothing, says whether the table differs, and ends with 1 if it does.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- syllabus: ./gnt lint notebooks --fix -->\n", "<!-- end of the syllabus -->\n"
_TITLE = re.compile(r"# (\d\d) · (.+)")
_TIME = re.compile(
    r"^\*\*Time\*\*: about (\d+) minutes"
    r"(?:, and (?:(\d+) more for the \w+ exercises?|(one|two|three) hours? for .+))?$",
    re.MULTILINE,
)
_NEEDS = re.compile(r"^\*\*Prerequisites\*\*: (.+?)(?:\.\s|\.?\n\n|\.?\Z)", re.MULTILINE | re.DOTALL)
_HOURS = {"one": 1, "two": 2, "three": 3}


class Lesson(NamedTuple):
    """A notebook. minutes: to read and run it. exercises: minutes for them, 0 where it says nothing of any."""

    file: str
    number: str
    title: str
    minutes: int
    exercises: int
    needs: str


def lesson(notebook: Path) -> Lesson:
    """What a notebook's first cell says. Raises ValueError, which names the notebook, if something is missing."""
    first = "".join(json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"])
    title, time, needs = _TITLE.match(first), _TIME.search(first), _NEEDS.search(first)
    if not (title and time and needs):
        raise ValueError(
            f"{notebook.name}: its first cell lacks a title, **Time** or **Prerequisites** in the usual form"
        )
    exercises = int(time[2] or 0) + 60 * _HOURS.get(time[3], 0)
    return Lesson(notebook.name, title[1], title[2], int(time[1]), exercises, " ".join(needs[1].split()))


def lessons() -> list[Lesson]:
    """All notebooks, in order."""
    return [lesson(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]


def table(course: list[Lesson]) -> str:
    """The syllabus as Markdown, with the sums of both kinds of minutes."""
    rows = ["| notebook | minutes | exercises | prerequisites |", "|---|---|---|---|"]
    for one in course:
        link = f"[{one.number} {one.title}](notebooks/{one.file})"
        rows.append(f"| {link} | {one.minutes} | {one.exercises or ''} | {one.needs} |")
    reading, writing = (sum(one.minutes for one in course) / 60, sum(one.exercises for one in course) / 60)
    return "\n".join([*rows, f"| altogether | {reading:.0f} hours | {writing:.0f} hours | |"]) + "\n"


def put(page: Path, check: bool) -> bool:
    """Whether the page has the syllabus of today; without ``check`` it is made so."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    made = before + BEGIN + table(lessons()) + END + rest.partition(END)[2]
    if text != made and not check:
        page.write_text(made, encoding="utf-8")
    return text == made or not check


def main() -> None:
    """Write or check README."""
    try:
        good = put(ROOT / "README.md", "--check" in sys.argv[1:])
    except ValueError as error:
        sys.exit(str(error))
    if not good:
        sys.exit("README's syllabus is not what the notebooks say; repair: ./gnt lint notebooks --fix")


if __name__ == "__main__":
    main()
