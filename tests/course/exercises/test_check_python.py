"""What the checker of functions says, with the processes that it starts."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gn_tutorial.compare.elements import mismatch
from gn_tutorial.course.exercises import check_python
from gn_tutorial.course.exercises.check_python import Chunks, FunctionText, PythonCase, PythonChecker
from gn_tutorial.course.exercises.verdict import Verdict


def half_cases(rng: np.random.Generator) -> list[PythonCase]:
    return [
        PythonCase(
            f"{n} numbers", "half", {"x": (x := rng.uniform(1, 2, n))}, {"half": x / 2, "sum": np.asarray(x.sum())}
        )
        for n in (2, 9)
    ]


HALF = PythonChecker(half_cases, 1e-9, 0, forbidden={"sum": "add them up in a loop"}, seconds=60)
SUM = "    total = 0\n    for value in x:\n        total += value\n"


def halved(tmp_path: Path, body: str, head: str = "import numpy as np\n") -> Verdict | int:
    path = tmp_path / "half.py"
    path.write_text(f"{head}\n\ndef half(x):\n{body}")
    # A busy machine decides no test: the limit is short only where something never ends.
    return replace(HALF, seconds=2 if "while True" in body else 60).check(path, 1)


def test_a_right_function_passes(tmp_path: Path) -> None:
    assert halved(tmp_path, f"{SUM}    return x / 2, total\n") == 2
    assert halved(tmp_path, f"{SUM}    print('x' * 100000)\n    return x / 2, total\n") == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    return x / 2, x.sum()\n", "sum is what this exercise asks you to write; add them up in a loop"),
        ("    return x / 2, eval('x.su' + 'm()')\n", "eval(...) is not needed here"),
        ("    return x / 2\n", "returned 1 value; it returns half, sum"),
        ("    return x[1:] / 2, 0\n", "half has shape (1,); (2,) is right"),
        (f"{SUM}    return x / 3, total\n", "half.ravel()[0] is "),
        (f"{SUM}    return x / 2, total + 1\n", "sum is "),
        (f"{SUM}    x /= 2\n    return x, total\n", "changed its argument x"),
        ("    print(x / 2)\n", "half returned None, not half, sum"),
        ("    return 'a', 'b'\n", "half returned str, str"),
        ("    return x / 2, 1 / 0\n", "half raised ZeroDivisionError: division by zero"),
        ("    raise SystemExit(0)\n", "half raised SystemExit"),
        ("    raise NotImplementedError\n", "half is not written yet"),
        ("    while True:\n        pass\n", "half ran longer than 2 s and was stopped"),
        ("    return x / 2, (\n", "Python cannot read the file"),
        ("    return np.full(2, 0.75), 3\n", "every element of half is 0.75: it does not depend on the input"),
    ],
)
def test_a_wrong_function_is_told_why(tmp_path: Path, body: str, message: str) -> None:
    found = halved(tmp_path, body)
    assert isinstance(found, Verdict)
    assert message in found.message


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("import gn_tutorial.reference\n", "gn_tutorial has the finished function"),
        ("from torch.nn import functional\n", "torch has the finished function"),
        ("import subprocess\n", "the exercise needs NumPy only, and this imports subprocess"),
        ("from numpy import sum as add\n", "sum is what this exercise asks you to write"),
        ("raise ValueError('no')\n", "half raised ValueError: no"),
    ],
)
def test_what_stands_above_the_function_is_read_too(tmp_path: Path, head: str, message: str) -> None:
    found = halved(tmp_path, f"{SUM}    return x / 2, total\n", head)
    assert isinstance(found, Verdict)
    assert message in found.message
    assert found.where.startswith("half.py")


def test_a_hidden_import_fails_in_the_process(tmp_path: Path) -> None:
    found = halved(tmp_path, "    return typing.sys.modules['gn_tutorial'].reference, 0\n", "import typing\n")
    assert isinstance(found, Verdict)
    assert "half raised AttributeError: 'NoneType'" in found.message


def test_a_function_that_ends_its_process_is_told_so(tmp_path: Path) -> None:
    found = halved(tmp_path, "    typing.sys.modules['os']._exit(3)\n", "import typing\n")
    assert isinstance(found, Verdict)
    assert "half ended its process (exit code 3)" in found.message


def test_a_loop_that_prints_is_stopped(tmp_path: Path) -> None:
    found = halved(tmp_path, "    while True:\n        print('x' * 1000000)\n")
    assert isinstance(found, Verdict)
    assert (
        "half raised OSError" in found.message or "ended its process" in found.message or "was stopped" in found.message
    )


def test_chunks_are_gone_when_the_next_one_is_taken(tmp_path: Path) -> None:
    arrays = (np.array([1.0, 2.0]), np.array([4.0]))
    path = tmp_path / "total.py"
    for body, right in (("sum(chunk.sum() for chunk in chunks)", True), ("sum(c.sum() for c in list(chunks))", False)):
        path.write_text(f"def total(chunks):\n    return {body}\n")
        case = PythonCase("three numbers", "total", {"chunks": Chunks(arrays)}, {"total": np.asarray(7.0)})
        found = PythonChecker(lambda rng, case=case: [case], 1e-9, 0).check(path, 1)
        assert (found == 1) is right
        if not right:
            assert "total is nan; 7 is right" in found.message


def test_an_argument_can_be_a_function(tmp_path: Path) -> None:
    path = tmp_path / "twice.py"
    twice = FunctionText("import numpy as np\n\ndef other(x):\n    return np.add(x, x)\n", "other")
    for body, right in (("function(x)", True), ("function(x) + 1", False)):
        path.write_text(f"def twice(function, x):\n    return {body}\n")
        arguments = {"function": twice, "x": np.array([1.0, 3.0])}
        case = PythonCase("two numbers", "twice", arguments, {"y": np.array([2.0, 6.0])})
        found = PythonChecker(lambda rng, case=case: [case], 1e-9, 0).check(path, 1)
        assert (found == 1) is right
        if not right:
            assert "y.ravel()[0] is 3; 2 is right" in found.message


def test_a_missing_function_is_named(tmp_path: Path) -> None:
    path = tmp_path / "half.py"
    path.write_text("def third(x):\n    return x / 3\n")
    found = HALF.check(path, 1)
    assert isinstance(found, Verdict)
    assert "there is no function half" in found.message


def test_a_small_number_beside_large_ones_may_have_lost_their_digits() -> None:
    small, lost = np.float64(-4.838454e-4), np.float64(-4.839808e-4)
    assert "other elements are up to 2.9, so look for arithmetic" in mismatch("y[2]", lost, small, 2.9)
    assert mismatch("y[2]", lost, small, 2.9e-3).endswith("is right")
    assert "the first digits agree" in mismatch("y[2]", small * (1 + 1e-7), small)


def test_names_are_found_wherever_they_stand() -> None:
    tree = ast.parse("import a.b as c\nfrom d import e\nf.g(h)\nfor i in j: k = 1\n")
    found = {(name, module) for _, name, module in check_python._names(tree)}
    assert found == {("a", True), ("d", True), ("e", False), ("f", False), ("g", False), ("h", False), ("j", False)}
