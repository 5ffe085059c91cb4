"""The door, ``import gn_tutorial as gnt``: what it hands out, and that it opens quickly."""

import ast
import inspect
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import gn_tutorial as gnt

ROOT = Path(__file__).resolve().parents[2]
NEEDS_TORCH = {"fuse", "fuse_backend", "nn"}


def python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", gnt.__all__)
def test_every_name_is_there(name: str) -> None:
    if name in NEEDS_TORCH and not find_spec("torch"):
        pytest.skip("needs torch")
    assert name in dir(gnt)
    found = getattr(gnt, name)
    assert name == "__version__" or inspect.getdoc(found), f"{name} has no docstring"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'kernels'"):
        _ = gnt.kernels


def test_it_imports_nothing_heavy() -> None:
    heavy = (
        "matplotlib",
        "torch",
        "typer",
        "IPython",
        "tree_sitter",
        "gn_tutorial.course.exercises",
        "gn_tutorial.plot",
        "gn_tutorial.profiler.bench",
    )
    assert python(f"import sys, gn_tutorial; print([name for name in {heavy} if name in sys.modules])") == "[]"


def test_lessons_without_pictures_and_torch() -> None:
    program = "import sys, gn_tutorial as gnt; gnt.lessons, gnt.check, gnt.quiz, gnt.reference, gnt.bench, gnt.doctor\n"
    assert python(program + "print([name for name in ('matplotlib', 'torch') if name in sys.modules])") == "[]"


def test_a_picture_is_a_function_also_when_its_module_was_imported_first() -> None:
    assert python("import gn_tutorial.plot.gantt, gn_tutorial as gnt; print(callable(gnt.plot.gantt))") == "True"


@pytest.mark.parametrize("folder", ["exercises", "solutions"])
def test_exercises_come_in_by_the_door(folder: str) -> None:
    # Checks and their helpers are no part of an exercise that a learner writes.
    written = [*(ROOT / folder).glob("*/[0-9][0-9]_[0-9]_*.py"), *(ROOT / folder).glob("capstone/**/*.py")]
    assert len(written) > 10
    for path in sorted(written):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").partition(".")[0] != "gn_tutorial", f"{path.name} imports {node.module}"


def test_lines_of_a_source_are_shown_with_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    gnt.lessons.show("a\n  b {\n    c\n  }\nd", "b {")
    assert capsys.readouterr().out == "  2    b {\n  3      c\n  4    }\n"
    with pytest.raises(ValueError, match="no line contains 'x'"):
        gnt.lessons.show("a", "x")
    with pytest.raises(ValueError, match="no line after line 1 is '}'"):
        gnt.lessons.show("a", "a", "}")
