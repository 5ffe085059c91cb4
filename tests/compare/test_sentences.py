"""The sentences of each part of the course about wrong numbers, their order, and which ones exclude others.

``sentences.json`` has the sentences for every case of ``planted``. A change there is a change for users:
``python -m tests.compare.test_sentences`` writes the file again, and the diff is what to look at.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compare.accuracy import STANDARDS
from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.course.capstone.grade import GradeLoss
from gn_tutorial.course.capstone.grading import _Grading
from gn_tutorial.course.exam.judge import _Judging
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.course.exercises.check_python import PythonCase, PythonChecker
from gn_tutorial.course.puzzles import check as puzzles
from gn_tutorial.diagnostics.findings import Diagnostic, Findings
from gn_tutorial.operators.result import Result
from gn_tutorial.projects.fuzz_verdict import Judge
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchResult, Tally
from tests.compare.planted import Planted, planted

FILE = Path(__file__).with_name("sentences.json")
RTOL, ATOL = 1e-5, 1e-6
NARROW = tuple((name, Tolerance(4e-3, 4e-3, "of its digits")) for name in ("float16", "bfloat16"))


def tolerance(case: Planted) -> Tolerance:
    return Tolerance(RTOL, ATOL, "planted", narrow=NARROW, of_largest=case.of_largest)


def result(case: Planted) -> Result:
    warning = Diagnostic("race-blocks", "warning", "k.cpp", 1, 0)
    args = [LaunchArg(name, ArgKind.TENSOR, Role.IN, np.ascontiguousarray(one)) for name, one in case.inputs.items()]
    launched = LaunchResult(
        dict(case.output),
        Tally(0, 0, 0, 0, 0, 0, 0),
        0.0,
        "",
        True,
        Findings([warning] * case.warned),
        notes=case.notes,
    )
    return Result("demo", case.blocks, launched, args=args)


def by_result(case: Planted) -> list[str]:
    """``result.compare``: of ``gnt run``, the tour, ``gnt project run`` and notebooks."""
    return repr(result(case).compare(case.reference, tolerance(case))).splitlines()


def by_fuzz(case: Planted) -> list[str]:
    judge = Judge(SimpleNamespace(), lambda: None, tolerance(case))  # type: ignore[arg-type]
    outcome = judge._compared(SimpleNamespace(plain=True), None, result(case), list(case.reference.values()))  # type: ignore[arg-type]
    return [outcome.status, outcome.group, outcome.what]


def by_exam(case: Planted) -> list[str]:
    said: list[str] = []
    drawn = SimpleNamespace(case=SimpleNamespace(means="a short row", what="short", read=""))
    judging = SimpleNamespace(
        task=SimpleNamespace(tolerance=tolerance(case)),
        _lose=lambda *told, **_: said.extend(map(str, (*told[:2], told[4]))),
    )
    _Judging._compare(judging, 0, drawn, result(case), list(case.reference.values()))  # type: ignore[arg-type]
    return said


def by_capstone(case: Planted) -> list[str]:
    said: list[str] = []

    def lose(loss: GradeLoss) -> str:
        said.append(loss.what)
        return "wrong"

    spec = SimpleNamespace(tolerance=tolerance(case), file=Path("no_such_file.cpp"))
    grading = SimpleNamespace(held=SimpleNamespace(spec=spec), _lose=lose)
    graded = SimpleNamespace(read="")
    word = _Grading._compared(grading, graded, result(case), dict(case.reference), GradeLoss("(8, 64)"))  # type: ignore[arg-type]
    return [word, *said]


def by_kernel_exercise(case: Planted) -> list[str]:
    expected = {name: want.astype(case.output[name].dtype) for name, want in case.reference.items()}
    checker = KernelChecker(lambda _: [], RTOL, ATOL)
    verdict = checker._judge(KernelCase("n = 1", {}, {}, expected), result(case))
    return [verdict.message, verdict.detail] if verdict else []


def by_accuracy_standard(case: Planted) -> list[str]:
    """The same for an output that is held to the accuracy standard."""
    expected = {name: want.astype(case.output[name].dtype) for name, want in case.reference.items()}
    golden = {name: np.asarray(want, np.float64) for name, want in case.reference.items()}
    verdict = KernelChecker(lambda _: [], RTOL, ATOL)._judge(
        KernelCase("n = 1", {}, {}, expected, golden=golden), result(case)
    )
    return [verdict.message] if verdict else []


def by_python_exercise(case: Planted) -> list[str]:
    called = PythonCase("n = 1", "made", {}, case.reference)
    verdict = PythonChecker(lambda _: [], RTOL, ATOL)._compare(called, case.output)
    return [verdict.message] if verdict else []


def by_puzzle(case: Planted) -> list[str]:
    expected = {name: want.astype(case.output[name].dtype) for name, want in case.reference.items()}
    chosen = SimpleNamespace(frame="global", rtol=RTOL, picture="lanes")
    attempt = SimpleNamespace(data=SimpleNamespace(want=expected), chosen=chosen)
    lanes = puzzles._Attempt._lanes(attempt, result(case))  # type: ignore[arg-type]
    return [puzzles._said(one) for one in lanes if one.wrong.any()]


ENTRIES: dict[str, Callable[[Planted], list[str]]] = {
    "result.compare": by_result,
    "gnt project fuzz": by_fuzz,
    "exam": by_exam,
    "capstone": by_capstone,
    "kernel exercise": by_kernel_exercise,
    "accuracy standard": by_accuracy_standard,
    "Python exercise": by_python_exercise,
    "puzzle": by_puzzle,
}
CASES = {case.name: case for case in planted()}


def sentences(case: Planted) -> dict[str, list[str]]:
    """Return the sentences of each entry; none from one that cannot take the case, because of its shapes or dtypes."""
    said = {}
    for name, entry in ENTRIES.items():
        same = all(case.output[one].shape == want.shape for one, want in case.reference.items())
        floats = all(one.ndim and one.dtype.name in STANDARDS for one in case.output.values())
        if (same or name in ("result.compare", "gnt project fuzz", "Python exercise")) and (
            floats or name != "accuracy standard"
        ):
            said[name] = entry(case)
    return said


@pytest.mark.parametrize("name", CASES)
def test_sentences_are_those_of_the_table(name: str) -> None:
    stored: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    assert sentences(CASES[name]) == stored[name]


def test_the_table_has_every_case_once() -> None:
    assert list(json.loads(FILE.read_text(encoding="utf-8"))) == list(CASES) == [case.name for case in planted()]


if __name__ == "__main__":
    made = []
    for name, case in CASES.items():
        entries = ",\n".join(f"  {json.dumps(entry)}: {json.dumps(said)}" for entry, said in sentences(case).items())
        made.append(f"{json.dumps(name)}: {{\n{entries}\n}}")
    FILE.write_text("{\n" + ",\n".join(made) + "\n}\n", encoding="utf-8")
