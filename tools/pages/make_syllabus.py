"""Minutes and counts of the course, in README and in each notebook's first cell: `./gnt lint notebooks --fix`.

Written by hand: in a notebook's first cell how long it takes to read and run it, and what it needs. Everything else is
counted: minutes of exercises (their files say them), puzzles, quizzes, questions and tasks. ``--check`` writes nothing,
says what differs, and ends with 1 if anything does.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gn_tutorial.course.exercises.registry import load_course  # noqa: E402
from gn_tutorial.course.puzzles.bank import MINUTES  # noqa: E402
from gn_tutorial.course.puzzles.bank import load as load_puzzles  # noqa: E402
from gn_tutorial.toml_file import read_toml  # noqa: E402

BEGIN, END = "<!-- syllabus: ./gnt lint notebooks --fix -->\n", "<!-- end of the syllabus -->\n"
_TITLE = re.compile(r"# (\d\d) · (.+)")
_TIME = re.compile(
    r"^\*\*Time\*\*: about (\d+) minutes(?:,(?: and)? \d+ more for [a-z0-9 ]+)?"
    r"(?:, and (one|two|three|four|five) hours? for (.+))?$",
    re.MULTILINE,
)
_NEEDS = re.compile(r"^\*\*Prerequisites\*\*: (.+?)(?:\.\s|\.?\n\n|\.?\Z)", re.MULTILINE | re.DOTALL)
_COUNTS = re.compile(r"\d+ exercises, \d+ puzzles, \d+ quizzes, \d+ exam questions and \d+ exam tasks")
_HOURS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_NUMBERS = ("", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class Writing(NamedTuple):
    """The work in a notebook: the number of exercises, their minutes, the number of puzzles."""

    exercises: int
    minutes: int
    puzzles: int

    def total(self) -> int:
        """Minutes of all of it."""
        return self.minutes + MINUTES * self.puzzles

    def words(self) -> str:
        """``the four exercises``, ``the puzzle``, ``exercises and puzzles``; empty if there is nothing."""
        if self.exercises and self.puzzles:
            return "exercises and puzzles"
        name, number = ("exercise", self.exercises) if self.exercises else ("puzzle", self.puzzles)
        how_many = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
        return {0: "", 1: f"the {name}"}.get(number, f"the {how_many} {name}s")


class Lesson(NamedTuple):
    """A notebook. minutes: to read and run it. exercises: minutes for all that is written in it."""

    file: str
    number: str
    title: str
    minutes: int
    exercises: int
    needs: str


def writing(number: str) -> Writing:
    """Return the work in a notebook, from the files of exercises and puzzles."""
    mine = [one for one in load_course() if one.notebook == number]
    puzzles = sum(one.notebook == number for one in load_puzzles().values())
    return Writing(len(mine), sum(one.minutes for one in mine), puzzles)


def time_line(first: str, there: Writing) -> tuple[str, int]:
    """Return the line that a first cell should have about the time, and the minutes of exercises and puzzles.

    Raises ValueError if the cell has no such line.
    """
    found = _TIME.search(first)
    if not found:
        raise ValueError("its first cell lacks **Time** in the usual form")
    rest = ""
    if there.words():
        rest = f",{'' if found[2] else ' and'} {there.total()} more for {there.words()}"
    if found[2]:
        rest += f", and {found[2]} hour{'s' * (found[2] != 'one')} for {found[3]}"
    return f"**Time**: about {found[1]} minutes{rest}", there.total() + 60 * _HOURS.get(found[2], 0)


def lesson(notebook: Path) -> Lesson:
    """A notebook, from its first cell and its exercises. Raises ValueError, which names it, if something is missing."""
    first = "".join(json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"])
    title, time, needs = _TITLE.match(first), _TIME.search(first), _NEEDS.search(first)
    if not (title and time and needs):
        raise ValueError(
            f"{notebook.name}: its first cell lacks a title, **Time** or **Prerequisites** in the usual form"
        )
    _, written = time_line(first, writing(title[1]))
    return Lesson(notebook.name, title[1], title[2], int(time[1]), written, " ".join(needs[1].split()))


def put_time(notebook: Path, check: bool) -> bool:
    """Whether a notebook says the time that its exercises and puzzles take; without ``check`` it is made to."""
    contents = json.loads(notebook.read_text(encoding="utf-8"))
    first = "".join(contents["cells"][0]["source"])
    line, _ = time_line(first, writing(notebook.name[:2]))
    made = _TIME.sub(lambda _: line, first, count=1)
    if made != first and not check:
        contents["cells"][0]["source"] = made.splitlines(keepends=True)
        notebook.write_text(json.dumps(contents, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return made == first or not check


def notebooks() -> list[Path]:
    """Return the paths of all notebooks, in order."""
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def lessons() -> list[Lesson]:
    """All notebooks, in order."""
    return [lesson(path) for path in notebooks()]


def table(course: list[Lesson]) -> str:
    """The syllabus as Markdown, with the sums of both kinds of minutes."""
    rows = ["| notebook | minutes | to write | prerequisites |", "|---|---|---|---|"]
    for one in course:
        link = f"[{one.number} {one.title}](notebooks/{one.file})"
        rows.append(f"| {link} | {one.minutes} | {one.exercises or ''} | {one.needs} |")
    reading, writing = (sum(one.minutes for one in course) / 60, sum(one.exercises for one in course) / 60)
    return "\n".join([*rows, f"| altogether | {reading:.0f} hours | {writing:.0f} hours | |"]) + "\n"


def counts() -> str:
    """Return how many exercises, puzzles, quizzes, exam questions and exam tasks there are, as text."""
    files = {name: sorted((ROOT / "exercises" / name).glob("*.toml")) for name in ("quizzes", "theory", "exam")}
    questions = sum(len(read_toml(path, "questions").get("question", ())) for path in files["theory"])
    return (
        f"{len(list(load_course()))} exercises, {len(load_puzzles())} puzzles, {len(files['quizzes'])} quizzes, "
        f"{questions} exam questions and {len(files['exam'])} exam tasks"
    )


def put(page: Path, check: bool) -> bool:
    """Whether the page has the syllabus and the counts of today; without ``check`` it is made so."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    made = before + BEGIN + table(lessons()) + END + rest.partition(END)[2]
    made = _COUNTS.sub(counts(), made)
    if text != made and not check:
        page.write_text(made, encoding="utf-8")
    return text == made or not check


def main() -> None:
    """Write or check README and the first cells."""
    check = "--check" in sys.argv[1:]
    try:
        differ = [path.name for path in notebooks() if not put_time(path, check)]
        differ += [] if put(ROOT / "README.md", check) else ["README.md"]
    except ValueError as error:
        sys.exit(str(error))
    if differ:
        sys.exit(f"minutes or counts of {', '.join(differ)} are not those of today; repair: ./gnt lint notebooks --fix")


if __name__ == "__main__":
    main()
