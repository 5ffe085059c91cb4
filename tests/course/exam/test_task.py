"""The tasks of the practical exam as data: what they say, what is drawn from them, what a solution becomes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from exam_support import headings
from hypothesis import given
from hypothesis import strategies as st

from gn_tutorial.course.exam.author import FEWEST_WRONG, RIGHT
from gn_tutorial.course.exam.handout import handout, solved, write
from gn_tutorial.course.exam.marks import Ledger, Loss, Marks
from gn_tutorial.course.exam.solution_files import Pieces, right_solutions
from gn_tutorial.course.exam.task import (
    GRADES,
    PARTS,
    SPEED,
    Length,
    Task,
    bound_call,
    draw,
    find_task,
    load_tasks,
    numbers,
)
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.projects.new_project import LAYOUTS

ROOT = Path(__file__).resolve().parents[3]
TASKS = load_tasks()
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda one: one.name)


def test_there_are_tasks_of_every_grade() -> None:
    assert len(TASKS) >= 6
    assert {one.grade for one in TASKS} == set(GRADES)
    assert [one.grade for one in TASKS] == sorted((one.grade for one in TASKS), key=GRADES.index)


@each_task
def test_a_task_is_complete(task: Task) -> None:
    rights, wrongs = right_solutions(task), task.wrong()
    assert len(rights) >= RIGHT
    assert len({one.kernel for one in rights.values()}) == len(rights)
    assert len(wrongs) >= FEWEST_WRONG
    assert len({one.name for one in wrongs}) == len(wrongs)
    first = next(iter(rights.values()))
    for wrong in wrongs:
        assert first.mistaken(wrong) != first, wrong.name
    assert f"| `{task.name}` | {task.grade} |" in (ROOT / "docs" / "exam.md").read_text(encoding="utf-8")
    assert 7 <= len(task.hidden) <= 9, "docs/exam.md says so"
    assert set(task.read) == set(PARTS)
    cited = [*task.read.values(), *(one.read for one in task.hidden if one.read)]
    for source in cited:
        where = re.fullmatch(r"(?:Notebook (\d\d)|(docs/[\w-]+\.md)), section '(.+)'", source)
        assert where, source
        page = next((ROOT / "notebooks").glob(f"{where[1]}_*.ipynb")) if where[1] else ROOT / where[2]
        assert where[3] in headings(page), source


@each_task
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_folder_marks_its_gaps_and_gives_the_rest(task: Task, layout: str) -> None:
    files, snake = handout(task, layout), task.definition.snake_name
    header = f"op_kernel/{snake}_tiling.h" if layout == "9.x" else f"op_host/{snake}_tiling.h"
    marked = {name for name, text in files.items() if "YOUR TURN" in text and name != "README.md"}
    assert marked == {header, f"op_host/{snake}.cpp", f"op_kernel/{snake}.cpp"}
    test = "test" if layout == "9.x" else "AclNNInvocation"
    ast.parse(files[f"{test}/gen_data.py"])
    ast.parse(files[f"{test}/verify_result.py"])
    assert task.text in files["README.md"]
    assert "@{" not in "".join(files.values())
    for pieces in right_solutions(task).values():
        filled = solved(task, pieces, layout)
        assert filled.keys() == files.keys()
        assert not [name for name, text in filled.items() if "YOUR TURN" in text and name != "README.md"]
        same = files.keys() - marked
        assert {name: filled[name] for name in same} == {name: files[name] for name in same}


@each_task
def test_no_solution_is_quoted_in_what_is_handed_out(task: Task) -> None:
    given_out = {line.strip() for text in handout(task).values() for line in text.splitlines()}
    pieces = next(iter(right_solutions(task).values()))
    body = pieces.tiling.split("GetTilingData")[1]
    lines = {one.strip() for one in body.splitlines() if "tiling->" in one}
    assert lines
    assert not lines & given_out


def test_a_chip_and_a_layout_are_chosen() -> None:
    task = TASKS[0]
    files = handout(task, "8.x", "310b4")
    assert 'AddConfig("ascend310b")' in files[f"op_host/{task.definition.snake_name}.cpp"]
    assert "ascend310b" in files["CMakePresets.json"]
    assert "find_package(ASC" in "".join(handout(task, "9.x").values())
    with pytest.raises(ArgumentError, match=r"there is no layout '7\.x'"):
        handout(task, "7.x")


def test_an_8x_solution_sets_fields_by_their_setters() -> None:
    pieces = Pieces(
        "struct XTilingData {\n  uint32_t length;  // all\n  float eps;\n  uint32_t rest[4];\n};\n",
        "static ge::graphStatus TilingFunc(gert::TilingContext* context) {\n"
        "  auto* tiling = context->GetTilingData<XTilingData>();\n"
        "  tiling->length =\n      7;\n  tiling->eps = tiling->length;\n"
        "  return ge::GRAPH_SUCCESS;\n}\n",
        '#include "kernel_operator.h"\n#include "log_cosh_tiling.h"\n'
        "  REGISTER_TILING_DEFAULT(XTilingData);\n  GET_TILING_DATA_WITH_STRUCT(XTilingData, t, tiling);\n",
    )
    task = find_task("log_cosh")
    files = pieces.placed(task, "8.x", handout(task, "8.x"))
    host, header = files["op_host/log_cosh.cpp"], files["op_host/log_cosh_tiling.h"]
    assert "TILING_DATA_FIELD_DEF(uint32_t, length);  // all" in header
    assert "TILING_DATA_FIELD_DEF_ARR(uint32_t, 4, rest);" in header
    assert "tiling.set_length(7);" in re.sub(r"=\s+", "= ", host)
    assert "tiling.set_eps(tiling.get_length());" in host
    assert "raw->SetDataSize(tiling.GetDataSize());\n  return ge::GRAPH_SUCCESS;" in host
    kernel = files["op_kernel/log_cosh.cpp"]
    assert "GET_TILING_DATA(t, tiling);" in kernel
    assert "_tiling.h" not in kernel


@each_task
def test_hidden_calls_follow_from_the_text_and_fit_the_task(task: Task) -> None:
    calls, again, other = draw(task, 7), draw(task, 7), draw(task, 8)
    assert [str(one) for one in calls] == [str(one) for one in again]
    assert [str(one) for one in calls] != [str(one) for one in other]
    columns = len(task.definition.inputs[0].dtypes)
    assert len({str(one.arrays[task.definition.inputs[0].name].dtype) for one in calls}) == columns
    for call in [*calls, bound_call(task, 7)]:
        assert call.attributes.keys() == {one.name for one in task.definition.attributes}
        inputs = {name: np.asarray(array, np.float64) for name, array in call.arrays.items()}
        assert all(one.size and np.isfinite(one).all() for one in inputs.values()), "the README says so"
        made = task.golden(inputs, call.attributes)
        assert made.keys() == {one.name for one in task.definition.outputs}
        assert all(np.isfinite(np.asarray(one)).all() for one in made.values()), str(call)
        assert max(array.nbytes for array in call.arrays.values()) <= 8 << 20


@given(st.integers(0, 1 << 40), st.integers(2, 40))
def test_lengths_keep_to_what_is_asked(seed: int, unit: int) -> None:
    from gn_tutorial.course.exam.task import _length

    rng = np.random.default_rng(seed)
    assert _length(Length(100, 180, multiple_of=unit), rng) % unit == 0
    tail = _length(Length(100, 180, not_multiple_of=unit), rng)
    assert tail % unit
    assert 100 <= tail <= 180


def test_numbers_of_each_kind() -> None:
    rng = np.random.default_rng(1)
    log = numbers({"kind": "log", "low": 1e-3, "high": 1e3}, (400,), "float32", rng)
    assert {True, False} == set(log > 0)
    assert (np.abs(log) < 1).mean() == pytest.approx(0.5, abs=0.1)
    assert (numbers({"kind": "constant", "value": 2.0}, (3,), "bfloat16", rng) == 2).all()
    with pytest.raises(KeyError, match="no numbers of the kind 'odd'"):
        numbers({"kind": "odd"}, (3,), "float32", rng)


def test_shares_of_a_part_go_once_and_add_up() -> None:
    task = TASKS[0]
    ledger = Ledger(task, 4)
    for number in range(4):
        ledger.lose("one", ("kernel",), number, f"what {number}", case=f"case {number}", read="here")
    ledger.lose("two", ("kernel", "accuracy"), 1, "again", case="case 1", read="there")
    one, two = ledger.losses()
    assert (one.what, one.case, one.cases, dict(one.points)) == ("what 0", "case 0", 4, {"kernel": 20.0})
    assert dict(two.points) == {"accuracy": task.points["accuracy"] / 4}
    marks = Marks(task.name, task.points, (one, two), 4)
    assert marks.points == 100 - 20 - task.points["accuracy"] / 4
    assert not marks.accepted
    assert sum(marks.earned.values()) == marks.points
    assert [Loss(**record) for record in marks.record()["losses"]] == [one, two]
    assert Marks(task.name, task.points, (Loss("slow", {SPEED: 3.0}),), 4).accepted


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('grade = "easy"', 'grade = "simple"', "'grade' is 'simple'"),
        ("kernel = 20\n", "kernel = 30\n", "sum to 100"),
        ("forbidden = [", "banned = [", "'banned' is not a key of a task"),
        ('what = "a tail"\n', 'what = "a tail"\nlength = 3\n', "'length' is not a key of a hidden case"),
        ("full_share = 0.4", "", "'full_share' is missing"),
        ('shapes = { x = ["length"] }', "shapes = {}", "'shapes' of '.+' lacks the input x"),
        ('kernel = "Notebook', 'kernels = "Notebook', "'kernels' is no part; there are tiling struct"),
    ],
)
def test_a_mistake_in_a_task_is_named(tmp_path: Path, before: str, after: str, message: str) -> None:
    text = (ROOT / "exercises" / "exam" / "log_cosh.toml").read_text(encoding="utf-8")
    assert before in text
    (tmp_path / "exam").mkdir()
    (tmp_path / "exam" / "log_cosh.toml").write_text(text.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(RegistryError, match=message):
        load_tasks(tmp_path)


def test_an_unknown_task_suggests_another() -> None:
    with pytest.raises(ArgumentError, match="no task 'log_cos'") as caught:
        find_task("log_cos")
    assert caught.value.hint == "did you mean log_cosh?"


def test_a_folder_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="is there already"):
        write(handout(TASKS[0]), tmp_path)
