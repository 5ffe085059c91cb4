"""The exercises of notebook 12: what a checker with a library and probes does, and that the solutions pass opcheck.

Their stubs and wrong solutions are in tests/course/exercises/test_author_check.py.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gn_tutorial.course.exercises import grade
from gn_tutorial.course.exercises.check_python import FunctionText, PythonCase, PythonChecker
from gn_tutorial.course.exercises.checkers import checker_of
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.exercises.verdict import Verdict

COURSE = load_course()
ROOT = Path(__file__).resolve().parents[3]
CHECKERS = {name: checker_of(COURSE.find(name)) for name in ("12.1", "12.2")}
PROBE = """
def largest(attempt, limit):
    made = attempt.numbers()
    return None if max(made) <= limit else f"{max(made)} is more than {limit}"
"""


def probed(tmp_path: Path, text: str, **fields: Any) -> Verdict | int:
    cases = [
        PythonCase(f"up to {limit}", "numbers", {"limit": limit}, {}, probe=FunctionText(PROBE, "largest"))
        for limit in (9, 4)
    ]
    path = tmp_path / "attempt.py"
    path.write_text(text)
    return PythonChecker(lambda _: cases, 0, 0, **fields).check(path, 1)


def test_a_probe_sees_the_attempt_s_names_and_says_what_is_wrong(tmp_path: Path) -> None:
    assert probed(tmp_path, "def numbers():\n    return [1, 4]\n") == 2
    assert probed(tmp_path, "def numbers():\n    return [1, 7]\n") == Verdict("7 is more than 4", "up to 4")


def test_a_probe_may_name_the_line_that_is_to_blame(tmp_path: Path) -> None:
    probe = FunctionText("def f(attempt):\n    return 'no', 7\n", "f")
    cases = [PythonCase("one", "numbers", {}, {}, probe=probe, section="Why")]
    path = tmp_path / "attempt.py"
    path.write_text("def numbers():\n    return 1\n")
    found = PythonChecker(lambda _: cases, 0, 0).check(path, 1)
    assert found == Verdict("no", "one", "attempt.py:7", section="Why")


def test_what_an_attempt_needs_is_made_before_its_time_begins(tmp_path: Path) -> None:
    made: list[str] = []
    assert probed(tmp_path, "def numbers():\n    return [1, 4]\n", before=lambda: made.append("made")) == 2
    assert made == ["made"]
    assert isinstance(probed(tmp_path, "def numbers(:\n", before=lambda: made.append("again")), Verdict)
    assert made == ["made"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def numbers():\n    raise NotImplementedError\n", "numbers is not written yet"),
        ("def helper():\n    return 1 / 0\n\n\ndef numbers():\n    helper()\n", "helper raised ZeroDivisionError"),
        ("x = 1\n", "numbers raised AttributeError"),
        ("import torch\n\n\ndef numbers():\n    return [1]\n", "torch has the finished function"),
    ],
)
def test_a_probe_that_cannot_run_is_told_by_the_function_at_fault(tmp_path: Path, text: str, message: str) -> None:
    found = probed(tmp_path, text)
    assert isinstance(found, Verdict)
    assert message in found.message


def test_without_the_library_the_finding_says_what_installs_it(tmp_path: Path) -> None:
    found = probed(tmp_path, "x = 1\n", libraries=("torch_that_nobody_has",))
    assert isinstance(found, Verdict)
    assert "needs torch_that_nobody_has, which is not installed: ./gnt torch installs it" in found.message


def test_other_packages_stay_closed_to_an_exercise_with_a_library(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = probed(tmp_path, "import pandas\n", libraries=("torch",))
    assert isinstance(found, Verdict)
    assert "pandas has the finished function" in found.message


@pytest.mark.parametrize("name", ["12.1", "12.2"])
def test_the_solution_passes_opcheck_too(name: str) -> None:
    """The checkers run probes of their own, which say more; PyTorch's own check must agree with them."""
    torch = pytest.importorskip("torch")
    names = runpy.run_path(str(COURSE.find(name).solution))
    op, count = (names["rms_norm"], 1) if name == "12.1" else (names["layer_norm"], 2)
    made = torch.Generator().manual_seed(3)
    given = [torch.randn(*shape, generator=made, requires_grad=True) for shape in ((3, 6), *[(6,)] * count)]
    for more in ((), (0.01,)):
        assert set(torch.library.opcheck(op, (*given, *more)).values()) == {"SUCCESS"}


def test_data_of_the_probes_follow_from_the_seed() -> None:
    some, same, others = (CHECKERS["12.1"].cases(np.random.default_rng(seed))[0].arguments for seed in (1, 1, 2))
    assert some == same != others


def first_said(tmp_path: Path, name: str, edits: dict[str, str]) -> tuple[str, int]:
    """What the probes say of a solution with some of its text replaced, and the line; nothing where it passes.

    In this process, because importing PyTorch takes seconds; ``gnt dev exercise check`` runs other edits in processes.
    """
    pytest.importorskip("torch")
    text = COURSE.find(name).solution.read_text()
    for find, replace in edits.items():
        assert text.count(find) == 1, find
        text = text.replace(find, replace)
    path = tmp_path / "attempt.py"
    path.write_text(text)
    names: dict[str, Any] = {"__name__": "attempt"}
    exec(compile(text, str(path), "exec"), names)
    for case in CHECKERS[name].cases(np.random.default_rng(5)):
        assert case.probe
        probe: dict[str, Any] = {"__name__": "probe"}
        exec(compile(case.probe.text, "<probe>", "exec"), probe)
        said = probe[case.probe.name](SimpleNamespace(**names), **case.arguments)
        if said:
            words, line = said if isinstance(said, tuple) else (said, 0)
            return words, text.splitlines()[line - 1] if line else ""
    return "", ""


EMPTY = "rstd = torch.empty(x.shape[:-1], dtype=torch.float32, device=x.device)"
HEAD = "def rms_norm_fake(\n    x: Tensor, weight: Tensor, eps: float = 1e-6\n)"
SAVED = "ctx.save_for_backward(x, rstd, weight)"


@pytest.mark.parametrize(
    ("edits", "message", "line"),
    [
        ({EMPTY: "rstd = x.new_empty(x.shape[:-1], dtype=torch.float32)"}, "", ""),
        ({EMPTY: EMPTY.replace("empty(", "zeros(")}, "", ""),
        (
            {EMPTY: "rstd = torch.empty_like(x[..., 0], dtype=torch.float32, memory_format=torch.contiguous_format)"},
            "",
            "",
        ),
        ({EMPTY: f"assert x.sum().item() < 1; {EMPTY}"}, "asks for the numbers of a tensor", "assert x.sum()"),
        ({EMPTY: f"x.numpy(); {EMPTY}"}, "asks for the numbers of a tensor", "x.numpy()"),
        ({EMPTY: f"{EMPTY}.clone()"}, "it asks for clone", "def rms_norm_fake"),
        ({"    return y, rstd\n": "    return y, 1.0\n"}, "returns float for rstd", "def rms_norm_fake"),
        (
            {HEAD: "def rms_norm_fake(x, weight, eps=1e-5)"},
            "eps = 1e-05 by default, and the operator has eps = 1e-06",
            "def rms_norm_fake",
        ),
        (
            {HEAD: "def rms_norm_fake(x, *rest)"},
            "takes *rest, which fits any call",
            "def rms_norm_fake",
        ),
        (
            {SAVED: SAVED.replace(")", ", 0.5)")},
            "save: PyTorch refuses what it did with ctx.save_for_backward",
            SAVED[:20],
        ),
        ({"mark_non_differentiable(rstd)": "mark_non_differentiable(0.5)"}, "save: PyTorch refuses", "ctx.mark_non"),
        ({SAVED: SAVED.replace("rstd, weight", "weight, rstd")}, "is given weight in the place of rstd", ""),
        (
            {
                SAVED: SAVED.replace(")", ", weight)"),
                "x, rstd, weight = ctx.saved_tensors": "x, rstd, weight, _ = ctx.saved_tensors",
            },
            "save keeps weight again",
            "def save",
        ),
    ],
)
def test_what_the_probes_of_11_1_say(tmp_path: Path, edits: dict[str, str], message: str, line: str) -> None:
    words, blamed = first_said(tmp_path, "12.1", edits)
    assert message in words
    assert bool(message) == bool(words)
    assert line in blamed


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ({}, ""),
        ({"(x, mean, rstd, weight)": "(x, rstd, mean, weight)"}, "is given rstd in the place of mean"),
        (
            {
                "    x, weight, _, _ = inputs": "    x, weight, bias, _ = inputs",
                "save_for_backward(x, mean, rstd, weight)": "save_for_backward(x, mean, rstd, weight, bias)",
                "*ctx.saved_tensors, wanted": "*ctx.saved_tensors[:4], wanted",
            },
            "save keeps bias, which the backward pass does not read",
        ),
    ],
)
def test_what_the_probes_of_11_2_say(tmp_path: Path, edits: dict[str, str], message: str) -> None:
    words, _ = first_said(tmp_path, "12.2", edits)
    assert message in words
    assert bool(message) == bool(words)


@pytest.mark.parametrize("name", CHECKERS)
def test_a_loop_without_end_is_stopped_soon_and_a_finding_names_a_section_that_is_there(name: str) -> None:
    assert CHECKERS[name].seconds <= 60
    headings = re.findall(r'"## (?:\d+\. )?([^"\\]+)', (ROOT / "notebooks" / "12_pytorch.ipynb").read_text("utf-8"))
    sections = {case.section for case in CHECKERS[name].cases(np.random.default_rng(1))}
    assert sections == {"The fake", "The gradient"} <= set(headings)


def test_a_finding_is_read_about_where_it_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise, found = COURSE.find("12.1"), [Verdict("no", section="The fake"), Verdict("no")]
    checker = SimpleNamespace(check=lambda path, seed: found.pop(0))
    monkeypatch.setattr(grade, "checker_of", lambda name: checker)
    assert "read:  notebook 12, section 'The fake'" in repr(grade.grade_text(exercise, "x = 1\n"))
    assert f"read:  {exercise.lesson}" in repr(grade.grade_text(exercise, "x = 1\n"))
