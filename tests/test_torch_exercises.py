"""The exercises of notebook 11: what a checker with a library and probes does, and that the solutions pass opcheck.

Their stubs and wrong solutions are in tests/test_exercise_check.py.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gn_tutorial.check_python import Code, PythonCase, PythonChecker
from gn_tutorial.exercise_cases import registering
from gn_tutorial.exercise_result import Finding
from gn_tutorial.exercise_spec import load_course

COURSE = load_course()
PROBE = """
def largest(attempt, limit):
    made = attempt.numbers()
    return None if max(made) <= limit else f"{max(made)} is more than {limit}"
"""


def probed(tmp_path: Path, text: str, **fields: Any) -> Finding | int:
    cases = [
        PythonCase(f"up to {limit}", "numbers", {"limit": limit}, {}, probe=Code(PROBE, "largest")) for limit in (9, 4)
    ]
    path = tmp_path / "attempt.py"
    path.write_text(text)
    return PythonChecker(lambda _: cases, 0, 0, **fields).check(path, 1)


def test_a_probe_sees_the_attempt_s_names_and_says_what_is_wrong(tmp_path: Path) -> None:
    assert probed(tmp_path, "def numbers():\n    return [1, 4]\n") == 2
    assert probed(tmp_path, "def numbers():\n    return [1, 7]\n") == Finding("7 is more than 4", "up to 4")


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
    assert isinstance(found, Finding)
    assert message in found.message


def test_without_the_library_the_finding_says_what_installs_it(tmp_path: Path) -> None:
    found = probed(tmp_path, "x = 1\n", libraries=("torch_that_nobody_has",))
    assert isinstance(found, Finding)
    assert "needs torch_that_nobody_has, which is not installed: ./gnt torch installs it" in found.message


def test_other_packages_stay_closed_to_an_exercise_with_a_library(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = probed(tmp_path, "import pandas\n", libraries=("torch",))
    assert isinstance(found, Finding)
    assert "pandas has the finished function" in found.message


@pytest.mark.parametrize("name", ["11.1", "11.2"])
def test_the_solution_passes_opcheck_too(name: str) -> None:
    """The checkers run probes of their own, which say more; PyTorch's own check must agree with them."""
    torch = pytest.importorskip("torch")
    names = runpy.run_path(str(COURSE.find(name).solution))
    op, count = (names["rms_norm"], 1) if name == "11.1" else (names["layer_norm"], 2)
    made = torch.Generator().manual_seed(3)
    given = [torch.randn(*shape, generator=made, requires_grad=True) for shape in ((3, 6), *[(6,)] * count)]
    for more in ((), (0.01,)):
        assert set(torch.library.opcheck(op, (*given, *more)).values()) == {"SUCCESS"}


def test_data_of_the_probes_follow_from_the_seed() -> None:
    some, same, others = (
        registering.REGISTER_RMS_NORM.cases(np.random.default_rng(seed))[0].arguments for seed in (1, 1, 2)
    )
    assert some == same != others
