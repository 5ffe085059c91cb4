"""The strict judge: gaps, right solutions in both layouts, and each named wrong solution with its own message."""

from __future__ import annotations

from pathlib import Path

import pytest

from gn_tutorial.compiler.preprocess import kernel_texts
from gn_tutorial.course.exam.author import complaints, gaps_complaints, judged, right_complaints, wrong_complaints
from gn_tutorial.course.exam.handout import handout, solved
from gn_tutorial.course.exam.judge import judge, place
from gn_tutorial.course.exam.solution_files import FIRST, right_solutions
from gn_tutorial.course.exam.task import Task, find_task, load_tasks
from gn_tutorial.cpp.forbidden_calls import forbidden
from gn_tutorial.errors import ArgumentError

TASKS = load_tasks()
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda one: one.name)


def test_the_gaps_fail_with_help() -> None:
    assert list(gaps_complaints(find_task("log_cosh"), "8.x")) == []


def test_the_first_solution_earns_all_points() -> None:
    assert list(right_complaints(find_task("log_cosh"), "8.x", [FIRST])) == []


def test_wrong_solutions_are_told_their_own_mistake() -> None:
    task = find_task("log_cosh")
    names = ("the high-level Cosh", "cosh in float, which overflows too")
    chosen = [one for one in task.wrong() if one.name in names]
    assert len(chosen) == len(names)
    assert list(wrong_complaints(task, "9.x", chosen)) == []


@pytest.mark.thorough
@each_task
def test_every_solution_in_both_layouts(task: Task) -> None:
    assert list(complaints(task)) == []


@each_task
def test_a_forbidden_name_in_a_branch_that_is_left_out_costs_nothing(task: Task) -> None:
    """The name of the same call in force costs everything, as do a macro that pastes it and a line that continues."""
    files = solved(task, right_solutions(task)[FIRST])
    kernel, name = f"op_kernel/{task.definition.snake_name}.cpp", task.forbidden[0]
    old = f"\n#if 0\n__aicore__ void Old() {{ {name}(a, b); }}\n#endif\n"
    builds = [task.definition.build_dtypes(column) for column in task.definition.columns("ascend910b").columns]

    def found(more: str) -> str:
        broken = forbidden(task.forbidden, kernel_texts({kernel: files[kernel] + more}, beside=files, builds=builds))
        return broken.what.partition(" ")[0] if broken else ""

    assert found(old) == ""
    assert found(old.replace("#if 0", "#if 1")) == name
    assert found(f"\n#define GLUE(a, b) a##b\n{old}void F() {{ GLUE({name[:2]}, {name[2:]})(a, b); }}\n") == name
    assert found(f"\n{old}void F() {{ {name[:2]}\\\n{name[2:]}(a, b); }}\n") == name


def test_points_stay_beside_a_branch_that_is_left_out() -> None:
    task = find_task("log_cosh")
    files = solved(task, right_solutions(task)[FIRST])
    kernel = "op_kernel/log_cosh.cpp"
    old = f"\n#if 0\n__aicore__ void Old() {{ {task.forbidden[0]}(a, b); }}\n#endif\n"
    assert judged(task, files | {kernel: files[kernel] + old}, "9.x").points == 100


def test_what_was_given_counts_as_it_was_given() -> None:
    """A changed definition scores nothing; files that are no sources are put back."""
    task = find_task("log_cosh")
    files = solved(task, right_solutions(task)[FIRST])
    host = files["op_host/log_cosh.cpp"]
    other = host.replace("ge::DT_FLOAT16", "ge::DT_FLOAT")
    assert other != host
    marks = judged(task, files | {"op_host/log_cosh.cpp": other}, "9.x")
    assert (marks.points, marks.accepted) == (0, False)
    assert marks.losses[0].what == "the inputs of the definition are not those that were given"


def test_host_files_that_do_not_compile_are_shown_at_their_line() -> None:
    task = find_task("log_cosh")
    files = handout(task)
    host = files["op_host/log_cosh.cpp"].replace("(void)context;", "context->SetBlocks(8);")
    marks = judged(task, files | {"op_host/log_cosh.cpp": host}, "9.x")
    assert marks.points == 0
    assert "the host files do not compile" in marks.losses[0].what
    assert "SetBlocks" in marks.losses[0].what
    assert marks.losses[0].where.startswith("op_host/log_cosh.cpp:")


def test_a_folder_without_sources_is_no_attempt(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="there is no folder"):
        judge(TASKS[0], tmp_path / "gone")
    with pytest.raises(ArgumentError, match="has no sources in op_host and op_kernel"):
        judge(TASKS[0], tmp_path)


def test_a_place_is_the_candidates_own_wherever_the_copy_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages shorten a path inside the home folder, where the cache usually is."""
    root = tmp_path / "cache" / "task"
    monkeypatch.setenv("HOME", str(tmp_path))
    for written in (str(root), "~/cache/task"):
        assert place(f"{written}/op_host/sum.cpp:3:5", root) == "op_host/sum.cpp:3:5"
