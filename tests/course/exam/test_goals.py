"""The objectives: every item has one, each has a lesson, an exercise and a question, mistakes are named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from exam_support import headings

from gn_tutorial.course.exam.bank import load_bank
from gn_tutorial.course.exam.goals import FILE, Goal, load_goals, read_goals
from gn_tutorial.course.exam.items import KINDS, Item, all_items
from gn_tutorial.course.exercises.registry import exercises_root
from gn_tutorial.errors import RegistryError

ROOT = Path(__file__).resolve().parents[3]
ITEMS = all_items()
THEORY = load_bank().topics[0].questions[0]


def test_every_item_serves_an_objective() -> None:
    # What belongs nowhere is refused as the file is read, with the line that takes it in.
    at_home = {(kind, one.name, one.text) for goal in load_goals() for kind in KINDS for one in goal.of(kind)}
    assert at_home == {(one.kind, one.name, one.text) for one in ITEMS}
    assert {kind: sum(one.kind == kind for one in ITEMS) > 5 for kind in KINDS} == dict.fromkeys(KINDS, True)


@pytest.mark.parametrize("goal", load_goals(), ids=lambda goal: goal.id)
def test_no_objective_without_lesson_exercise_and_question(goal: Goal) -> None:
    assert any(page.isdigit() for page, _ in goal.lessons), f"add a section of a notebook to [{goal.id}.lessons]"
    for page, heading in goal.lessons:
        file = next((ROOT / "notebooks").glob(f"{page}_*.ipynb"), None) if page.isdigit() else ROOT / page
        assert file is not None, f"[{goal.id}.lessons] has {page}, and no notebook has that number"
        assert heading in headings(file), f"[{goal.id}.lessons] has '{heading}', which is no heading of {file.name}"
    assert goal.of("exercises"), f"no exercise has a section of [{goal.id}.lessons]: name one in its 'exercises'"
    assert goal.of("quizzes") or goal.of("theory"), f"no question cites a lesson of [{goal.id}]: write or name one"
    assert len(goal.title) <= 36
    assert not goal.you_can.endswith(".")


def test_there_are_as_many_as_can_be_looked_over() -> None:
    goals = load_goals()
    assert 25 <= len(goals) <= 42
    assert len({goal.title for goal in goals}) == len(goals)
    # Half of what is asked may not hang on one objective.
    assert max(len(goal.items) for goal in goals) < len(ITEMS) / 5


def written(folder: Path, before: str = "", after: str = "") -> Path:
    """A copy of the file, with one change."""
    text = (exercises_root() / FILE).read_text(encoding="utf-8")
    assert before in text
    path = folder / FILE
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    return path


def read(path: Path, *more: Item) -> tuple[Goal, ...]:
    return read_goals(path, [*ITEMS, *more], [one.name for one in load_bank().topics])


def question(kind: str, group: str, cites: tuple[tuple[str, str], ...] = (), source: str = "page: new") -> Item:
    """A question that was just written."""
    return Item(kind, f"{group}/{source}", group, "What is new?", cites, THEORY)


@pytest.mark.parametrize(
    ("before", "after", "key", "message"),
    [
        (
            'exercises = ["02.4"]',
            'exercises = ["02.9"]',
            "units",
            "'exercises' names '02.9', and no exercise is called",
        ),
        ('tasks = ["mish", "rel_diff"]', 'tasks = ["misch"]', "rows", "'tasks' names 'misch', and no exam task is"),
        (
            '"architecture/*"',
            '"architektur/*"',
            "units",
            "names 'architektur/*', and no theory question is called that",
        ),
        (
            '"00/Wu and He*"',
            '"00/He and Wu*"',
            "group-norm",
            "names '00/He and Wu*', and no quiz question is",
        ),
        ('topic = "architecture"', 'topic = "cooking"', "units", "'topic' is 'cooking'"),
        ('title = "Units and memories of a core"', "", "units", "'title' is missing"),
        ('topic = "architecture"', 'topic = "architecture"\nquiz = []', "units", "'quiz' is not a key of an objective"),
        ('exercises = ["02.4"]', 'exercises = "02.4"', "units", "'exercises' has a value of the wrong type: '02.4'"),
        ("[units.lessons]\n00", "[units.lessons]\nzero", "units", "'lessons' names 'zero', which is no page"),
        ("[units.lessons]\n", "[units.exams]\n", "units", "'exams' is not a key of an objective"),
        ("[group-norm]\n", "units = 3\n[group-norm]\n", "", "cannot read the objectives"),
        ("[group-norm]\n", "first = 3\n[group-norm]\n", "", "'first' has a value of the wrong type: 3"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path: Path, before: str, after: str, key: str, message: str) -> None:
    path = written(tmp_path, before, after)
    with pytest.raises(RegistryError, match=re.escape(message)) as refused:
        read(path)
    assert refused.value.where == str(path) + (f" [{key}]" if key else "")


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(RegistryError, match="there is no objective"):
        read(tmp_path / FILE)


@pytest.mark.parametrize(
    ("item", "line"),
    [
        (question("quizzes", "13", (("13", "Fuse"),)), 'to the lessons of an objective: 13 = ["Fuse"]'),
        (question("theory", "api", (("docs/new.md", "A"),)), 'to the lessons of an objective: "docs/new.md" = ["A"]'),
        (question("theory", "api"), 'add "api/page: new" to theory of an objective'),
        (Item("exercises", "13.1", "13.1", "Fuse two", (("13", "Fuse"),)), "exercise 13.1: add its section's heading"),
        (question("quizzes", "05", (("05", "What a que"),)), '05 = ["What a que"]'),
    ],
)
def test_what_serves_no_objective_is_refused_with_the_line_that_takes_it_in(
    tmp_path: Path, item: Item, line: str
) -> None:
    path = written(tmp_path)
    with pytest.raises(RegistryError, match="items of the course that belong to no objective: 1") as refused:
        read(path, item)
    assert line in str(refused.value)
    assert str(item) in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_task_that_no_objective_names_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace('tasks = ["*"]\n', ""), encoding="utf-8")
    with pytest.raises(RegistryError, match=r'exam task cosine: add "cosine" to tasks of an objective'):
        read(path, Item("tasks", "cosine", "cosine", "Cosine"))


def test_a_new_question_of_a_taught_section_needs_no_line(tmp_path: Path) -> None:
    new = question("theory", "queues", (("05", "Flags by hand"),))
    short = question("quizzes", "11", (("11", "Step 5"),))
    homes = {goal.id for goal in read(written(tmp_path), new) if new in goal.items}
    assert homes == {"flags"}
    assert {goal.id for goal in read(written(tmp_path), short) if short in goal.items} == {"backward"}


def test_sections_are_read_from_any_source() -> None:
    cited = {one.name: one.cites for one in ITEMS if one.kind == "quizzes"}
    both = next(name for name in cited if "TQue: EnQue" in name)
    assert cited[both] == (("05", "What a queue does"),)
    sanitizer = next(one for one in ITEMS if "docs/sanitizer.md" in one.name)
    assert sanitizer.cites == (("docs/sanitizer.md", "The device's sanitizer and the twin"),)
