"""Files of a learner that Python or a TOML reader stumbles over: a verdict, never a traceback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gn_tutorial.course.exercises.check_predict import PredictChecker
from gn_tutorial.course.exercises.check_python import PythonCase, PythonChecker
from gn_tutorial.course.exercises.verdict import Verdict

CASE = PythonCase("once", "f", {"x": np.ones(2)}, {"y": np.ones(2)})
CHECKER = PythonChecker(lambda _: [CASE], rtol=0, atol=0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"def f(x):\n    return {'+'.join(['x'] * 60000)}\n", "too long or nested too deeply"),
        (f"def f(x):\n    return {'-' * 100000}x\n", "too long or nested too deeply"),
        (f"def f(x):\n    return {'[' * 5000}\n", "too many nested parentheses"),
        ("def f(x):\n    raise ValueError('\\ud800')\n", "f raised ValueError: \\ud800"),
    ],
)
def test_an_odd_text_is_told(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text, encoding="utf-8")
    verdict = CHECKER.check(path, 0)
    assert isinstance(verdict, Verdict)
    assert said in verdict.message
    verdict.message.encode("utf-8")


def test_a_byte_order_mark_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("\ufeffdef f(x):\n    return x\n", encoding="utf-8")
    assert CHECKER.check(path, 0) == 1
    predictions = tmp_path / "mine.toml"
    predictions.write_text("\ufeffx = 1\n", encoding="utf-8")
    assert PredictChecker(()).check(predictions, 0) == 0


def test_brackets_without_end_are_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("x = " + "[" * 5000)
    verdict = PredictChecker(()).check(path, 0)
    assert isinstance(verdict, Verdict)
    assert "nested too deeply" in verdict.message
