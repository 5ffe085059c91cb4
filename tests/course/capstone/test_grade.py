"""The grade: what it is held to, in which order, and what makes the mark."""

from __future__ import annotations

from pathlib import Path

import pytest

import gn_tutorial as gnt
from gn_tutorial.course.capstone.grade import Grade, GradeLoss, GradeRow
from gn_tutorial.course.capstone.grading import DTYPES, TIMED, graded
from gn_tutorial.course.capstone.starter import OPERATORS, new_operator
from gn_tutorial.errors import ArgumentError, CompileError, RegistryError
from tests.support.thoroughness import ALL

CAPSTONES = OPERATORS[:-1]
HELD = CAPSTONES if ALL else CAPSTONES[:1]  # a start and its grade cost a second each


def changed(file: Path, before: str, after: str) -> None:
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


def rows(*shares: float) -> tuple[GradeRow, ...]:
    return tuple(GradeRow(f"({n}) float32", "right", "right", 1.0, share) for n, share in enumerate(shares))


@pytest.mark.parametrize(
    ("shares", "mark"), [((0.4, 0.6), "too slow"), ((0.5, 0.5), "pass"), ((0.98, 0.5), "distinction")]
)
def test_the_mark_is_of_the_geometric_mean(shares: tuple[float, ...], mark: str) -> None:
    made = Grade("mine", "a chip", rows(*shares), ())
    assert made.mark == mark
    assert made.passed == (mark != "too slow")
    assert made.share == pytest.approx((shares[0] * shares[1]) ** 0.5)
    assert made.verdict().startswith(f"mine: {mark}, ")


def test_what_is_not_right_has_no_share() -> None:
    made = Grade("mine", "a chip", rows(0.9), (GradeLoss("y is wrong", "mine.cpp:3", "gnt explain x"),))
    assert (made.share, made.passed, made.mark) == (None, False, "not right")
    assert made.advice() == "y is wrong\n  where: mine.cpp:3\n  next:  gnt explain x"


def test_what_is_too_slow_says_where_to_look() -> None:
    made = Grade("mine", "a chip", (GradeRow("(8,64) float32", "right", "right", 4.0, 1.0), *rows(0.5)), ())
    assert made.advice().endswith("gnt profile mine --shape 8,64 --dtype float32")


@pytest.mark.parametrize("operator", HELD)
def test_the_start_is_told_where_to_write(operator: str, tmp_path: Path) -> None:
    made = gnt.grade(new_operator(tmp_path / "mine", operator))
    assert made.losses[0].where.startswith("mine.cpp:")
    assert made.rows[0].right == "wrong"
    # The large shapes wait until the small ones are right.
    assert [row.right for row in made.rows[-9:]] == ["not run"] * 9


@pytest.mark.parametrize("operator", HELD)
def test_a_capstone_is_held_to_the_course_s_own_files(operator: str, tmp_path: Path) -> None:
    made = new_operator(tmp_path / "mine", operator)
    (made / "reference.py").write_text("def mine(x, *rest, **more):\n    return x\n", encoding="utf-8")
    changed(made / "op.toml", "rtol = ", "rtol = 1")
    (made / "bench.toml").write_text("[[shapes]]\nshape = [1, 1]\n", encoding="utf-8")
    held = graded(str(made))
    assert {case.bench.dtype for case in held.small} == {case.bench.dtype for case in held.grid} == set(DTYPES)
    assert sum(case.timed for case in held.cases) == 5
    assert all(case.bench.dtype == TIMED for case in held.cases if case.timed)
    assert held.spec.tolerance.rtol < 1e-4
    assert not gnt.grade(made).passed  # a copy of x is what this reference calls right


def test_other_arguments_than_the_capstone_s_are_refused(tmp_path: Path) -> None:
    made = new_operator(tmp_path / "mine", "layer_norm")
    changed(made / "op.toml", 'name = "beta"', 'name = "shift"')
    with pytest.raises(ArgumentError, match=r"op\.toml has other arguments than layer_norm") as caught:
        gnt.grade(made)
    assert "in beta" in caught.value.hint
    changed(made / "op.toml", 'capstone = "layer_norm"', 'capstone = "gelu"')
    with pytest.raises(RegistryError, match="there is no capstone 'gelu'"):
        gnt.grade(made)


def test_an_operator_of_one_s_own_is_held_to_its_own_files(tmp_path: Path) -> None:
    made = new_operator(tmp_path / "mine")
    (made / "bench.toml").write_text('[[shapes]]\nshape = [300, 1000]\nkind = "few"\n', encoding="utf-8")
    assert not gnt.grade(made).passed
    changed(made / "mine.cpp", "AscendC::Adds(y, x, 0.0f,", "AscendC::Muls(y, x, 2.0f,")
    right = gnt.grade(made)
    assert not right.losses
    assert [row.label for row in right.rows] == ["(300,1000) float32"]
    assert right.share is not None


def test_what_does_not_compile_is_the_compiler_s_error(tmp_path: Path) -> None:
    made = new_operator(tmp_path / "mine")
    changed(made / "mine.cpp", "AscendC::Adds(y, x, 0.0f,", "AscendC::Addz(y, x, 0.0f,")
    with pytest.raises(CompileError):
        gnt.grade(made)


def test_a_folder_without_an_operator_is_named(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="no operator is registered as") as caught:
        gnt.grade(tmp_path)
    assert "op.toml" in caught.value.hint


def right_in_float32(folder: Path) -> Path:
    """Make an operator of one's own: 2 * x in three instructions, and none waits for the one before."""
    made = new_operator(folder / "mine")
    (made / "bench.toml").write_text('[[shapes]]\nshape = [300, 1000]\nkind = "few"\n', encoding="utf-8")
    call = "    AscendC::{}f, static_cast<int32_t>(n));\n"
    copy, double, same = (call.format(one) for one in ("Adds(y, x, 0.0", "Muls(y, x, 2.0", "Adds(y, y, 0.0"))
    changed(made / "mine.cpp", copy, double + same + same)
    return made


def test_every_pair_without_a_barrier_is_named_at_once(tmp_path: Path) -> None:
    folder = right_in_float32(tmp_path)
    assert [row.strict for row in gnt.grade(folder).rows] == ["right"]
    made = gnt.grade(folder, explicit_waits=True)
    assert [row.strict for row in made.rows] == ["race-same-pipe"]
    assert "with --strict and --waits explicit, " in made.losses[0].what
    text = (tmp_path / "mine" / "mine.cpp").read_text("utf-8").splitlines()
    first = next(at for at, line in enumerate(text, 1) if "AscendC::Muls(" in line)
    assert made.losses[0].where == f"mine.cpp, lines {first} and {first + 1}, {first + 1} and {first + 2}"
    assert f"{first + 1} |     AscendC::Adds(y, y" in str(made.losses[0])


@pytest.mark.parametrize("says", [True, False])
def test_a_float_kernel_that_is_asked_for_halves(says: bool, tmp_path: Path) -> None:
    made = new_operator(tmp_path / "mine", "softmax")
    if says:
        changed(made / "op.toml", 'dtypes = ["float32"]', 'dtypes = ["float32", "float16"]')
    losses = gnt.grade(made).losses
    assert "YOUR TURN" in (made / "mine.cpp").read_text("utf-8")
    assert "(37,300) float32: y[0] is" in losses[0].what
    words = "reads the halves of x as floats" if says else "float16 is asked for too"
    assert words in losses[-1].what
    assert all("float32" in loss.what for loss in losses[:5])


def test_a_named_case_has_its_name_in_the_table(tmp_path: Path) -> None:
    made = gnt.grade(new_operator(tmp_path / "mine", "softmax"))
    assert "(7,129) float32: rows far below zero " in repr(made)
