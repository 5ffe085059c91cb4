"""Suspiciously equal texts: copies under other names, in another order, with other comments; and what is none."""

from __future__ import annotations

import random

from varied_texts import Named, named_exercises, variation

from gn_tutorial.course.classroom.similarity import Alike, alike, normal_form
from gn_tutorial.course.classroom.submissions import EXERCISE, Submission, Text
from gn_tutorial.course.exercises.registry import load_course

#: Three ways to the mean of a row, none of them the course's.
LONG = """
  __aicore__ inline float Mean(uint32_t row) {
    float lanes[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    uint32_t at = 0;
    while (at < length_) {
      uint32_t count = kChunk;
      if (count > length_ - at) count = length_ - at;
      Load(row, at, count);
      for (uint32_t i = 0; i < count; ++i) lanes[i % 4] = lanes[i % 4] + in_.GetValue(i);
      at = at + count;
    }
    const float whole = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    return whole / static_cast<float>(length_);
  }
"""
OTHER = """
  __aicore__ inline float Mean(uint32_t row) {
    uint32_t left = length_, at = 0;
    double sum = 0;
    do {
      const uint32_t now = left > kChunk ? kChunk : left;
      Load(row, at, now);
      uint32_t i = now;
      while (i > 0) {
        --i;
        sum += static_cast<double>(in_.GetValue(i));
      }
      left -= now;
      at += now;
    } while (left > 0);
    sum *= 1.0 / length_;
    return static_cast<float>(sum);
  }
"""


def kernel(mean: str) -> str:
    solution = load_course().find("03.2").solution.read_text()
    begin, end = solution.index("  __aicore__ inline float Mean"), solution.index("  // Brings")
    return solution[:begin] + mean.lstrip("\n") + "\n" + solution[end:]


def text(content: str, file: str = "03_2_row_mean.cpp", item: str = "03.2") -> Text:
    return Text(EXERCISE, item, {file: content})


def found(*contents: str | Text) -> list[Alike]:
    texts = [one if isinstance(one, Text) else text(one) for one in contents]
    return alike([Submission(f"learner{n}", f"learner{n}/x", one) for n, one in enumerate(texts)])


def varied(content: str, seed: int) -> str:
    return variation(Named("copy", text(content), ""), random.Random(seed)).files["03_2_row_mean.cpp"]


def test_a_renamed_and_commented_copy_is_found() -> None:
    copy = varied(kernel(LONG), 3)
    assert copy != kernel(LONG)
    (one,) = found(kernel(LONG), kernel(OTHER), copy)
    assert [learner for learner, _ in one.handed_in] == ["learner0", "learner2"]
    assert one.how == "the same but for names, comments and layout" or one.share > 0.7


def test_another_layout_and_namespace_changes_nothing() -> None:
    plain = kernel(LONG)
    other = "using namespace AscendC;\n" + plain.replace("AscendC::", "").replace("\n    ", "\n  ")
    forms = normal_form(text(plain)), normal_form(text(other))
    assert set(forms[0]) <= set(forms[1])
    (one,) = found(plain, other)
    assert one.share > 0.9


def test_the_same_text_is_called_that() -> None:
    (one,) = found(kernel(LONG), kernel(LONG))
    assert (one.how, one.share) == ("the same text", 1.0)


FIRST = """

def helper_one(data):
    total = sum(x[0] * y[1] - 2 for x in data if x > 3)
    total += sum(x[4] * y[5] - 6 for x in data if x > 7)
    for row in data.rows:
        if row.first < row.last or not row.inner:
            total -= row.first * row.last + len(row.inner)
        else:
            total = total * row.inner.scale(0.5, total)
    return total / 8
"""
SECOND = """

def helper_two(values, scale):
    while values:
        scale = scale * 7 + values.pop()
        if scale > 99:
            scale -= 99
        elif scale == 0 and values:
            values = [value for value in values if value != scale]
        scale = min(scale, sum(values) + 1)
    left, right = values[:3], values[3:]
    return {"scale": scale, "left": left, "right": max(right, default=0)}
"""


def test_another_order_of_functions_hides_nothing() -> None:
    solution = load_course().find("01.3").solution.read_text()
    orders = (solution + FIRST + SECOND, solution + SECOND + FIRST)
    (one,) = found(*(text(order, "01_3_chunk_statistics.py", "01.3") for order in orders))
    assert one.how == "nearly the same"


def test_two_ways_of_their_own_are_not_alike() -> None:
    assert found(kernel(LONG), kernel(OTHER)) == []


def test_our_solution_and_the_stub_are_nobodys() -> None:
    exercise = load_course().find("03.2")
    assert found(exercise.solution.read_text(), varied(exercise.solution.read_text(), 1)) == []
    assert found(exercise.stub.read_text(), exercise.stub.read_text() + "// mine\n") == []


def test_who_tries_twice_copies_nobody() -> None:
    one = text(kernel(LONG))
    other = text(varied(kernel(LONG), 3))
    assert alike([Submission("ada", "ada/one", one), Submission("ada", "ada/two", other)]) == []


def test_right_predictions_are_all_the_same() -> None:
    solution = load_course().find("02.2").solution.read_text()
    assert found(*[text(f"{solution}# {n}\n", "02_2_ub_budget.toml", "02.2") for n in range(3)]) == []


def test_named_wrong_solutions_are_no_copies_of_one_another() -> None:
    """They differ from ours in a line each: too little of their own."""
    named = [one for one in named_exercises(["03.2", "05.1", "01.1"]) if not one.right]
    assert alike([Submission(f"l{n}", f"l{n}/x", one.text) for n, one in enumerate(named)]) == []


def test_hostile_texts_cost_little() -> None:
    for content in ("/*" * 50_000, '"' + "\\" * 99_999, "a" * 200_000, "\ud800\x00" * 1000, 'R"' + "(" * 10_000):
        normal_form(text(content))
        normal_form(text(content, "01_1_group_norm.py", "01.1"))
