"""check() and the checkers, with the real compiler, twin and processes. test_exercise_check has the wrong solutions."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gn_tutorial.errors import ArgumentError
from gn_tutorial.exercises import check_kernel, check_python, grade
from gn_tutorial.exercises.cases import checker_of
from gn_tutorial.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.exercises.check_python import Chunks, FunctionText, PythonCase, PythonChecker
from gn_tutorial.exercises.check_tiling import TilingCase, TilingChecker
from gn_tutorial.exercises.course import load_course
from gn_tutorial.exercises.progress import ProgressFile
from gn_tutorial.exercises.verdict import CheckResult, Verdict
from gn_tutorial.exercises.workspace import Workspace
from gn_tutorial.runtime.launch_types import poison_word

COURSE = load_course()

# One int32 at a time; TODO_* are the lines that the tests change.
KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y, uint32_t n) {
  AscendC::GlobalTensor<int32_t> from, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(x), n);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(y), n);
  for (uint32_t i = 0; i < n; ++i) to.SetValue(i, 2 * from.GetValue(i));
}
"""
LOOP = "for (uint32_t i = 0; i < n; ++i) to.SetValue(i, 2 * from.GetValue(i));"


def twice_cases(rng: np.random.Generator) -> list[KernelCase]:
    made = []
    for n in (3, 10):
        x = rng.integers(1, 1000, n).astype(np.int32)
        made.append(KernelCase(f"{n} numbers", {"x": x}, {"n": n}, {"y": 2 * x}))
    return made


def judged(tmp_path: Path, text: str, checker: KernelChecker | None = None) -> Verdict | int:
    path = tmp_path / "twice.cpp"
    path.write_text(text)
    return (checker or KernelChecker(twice_cases, 0, 0, seconds=2 if "i += 0" in text else 60)).check(path, 1)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "mine")


def text_of(page: str) -> str:
    """What a reader of the HTML sees."""
    return unescape(re.sub(r"<[^>]+>", "", page.replace("<br>", "\n")))


@pytest.fixture
def progress(tmp_path: Path) -> ProgressFile:
    return ProgressFile(tmp_path / "data")


def test_an_unattempted_exercise_gets_its_file_and_a_link_to_it(
    workspace: Workspace, progress: ProgressFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise = COURSE.find("03.2")
    (workspace.folder.parent / "notebooks").mkdir()
    monkeypatch.chdir(workspace.folder.parent / "notebooks")
    result = grade.check("03.2", workspace=workspace, progress=progress)
    assert workspace.path(exercise).read_bytes() == exercise.stub.read_bytes()
    assert repr(result) == f"03.2: not attempted yet\n  file:  mine/{exercise.file}"
    link = f'<a href="../mine/{exercise.file}" target="_blank">mine/{exercise.file}</a>'
    assert result._repr_html_() == (f"<p>03.2: not attempted yet; edit {link}, save it, and run this cell again</p>")
    assert repr(grade.check("03.2", workspace=workspace, progress=progress)) == repr(result)
    assert not progress.path.exists()


def test_a_pass_offers_the_next_exercise_and_our_solution(workspace: Workspace, progress: ProgressFile) -> None:
    first, second = COURSE.exercises[:2]
    workspace.prepare(first).write_bytes(first.solution.read_bytes())
    page = grade.check(first.id, workspace=workspace, progress=progress)._repr_html_()
    assert f"next: {second.id} {second.title}" in page
    assert "<summary>our solution</summary>" in page
    assert text_of(page).endswith(first.solution.read_text())


def test_a_failed_check_links_the_file_and_marks_the_place(workspace: Workspace, progress: ProgressFile) -> None:
    exercise = COURSE.find("03.1")
    text = exercise.solution.read_text()
    workspace.prepare(exercise).write_text(text.replace("SetGlobalBuffer(", "SetGlobalBufer(", 1))
    page = grade.check("03.1", workspace=workspace, progress=progress)._repr_html_()
    assert f'target="_blank">mine/{exercise.file}</a>' in page
    marks = re.findall(r'<span style="color:var\(--jp-error-color1,#D55E00\);font-weight:bold">([^<]*)</span>', page)
    assert marks
    assert all("^" in mark for mark in marks)
    assert "white-space:pre;" in page
    line = text[: text.index("SetGlobalBuffer(")].count("\n") + 1
    name = Path(exercise.file).name
    href = Path(os.path.relpath(workspace.path(exercise))).as_posix()
    assert f'<a href="{href}#line={line - 1}" target="_blank">{name}:{line}</a>' in page, "JupyterLab counts from 0"
    assert str(workspace.folder) not in text_of(page)


def test_every_place_of_a_finding_is_shown_and_python_has_its_line(
    workspace: Workspace, progress: ProgressFile
) -> None:
    exercise = COURSE.find("05.1")
    wrong = next(one for one in exercise.wrong if one.name == "EnQue before the copy")
    workspace.prepare(exercise).write_text(wrong.apply(exercise.solution.read_text()))
    page = text_of(grade.check("05.1", workspace=workspace, progress=progress)._repr_html_())
    assert re.search(r"\d+ \| +AscendC::Mul\(.*\n +\| +\^\^\^\n", page)
    assert re.search(r"\d+ \| +AscendC::DataCopyPad\(.*\n +\| +-+ the other one", page)
    exercise = COURSE.find("01.3")
    workspace.prepare(exercise).write_text(exercise.solution.read_text() + "\nx = (1,\n")
    result = grade.check("01.3", workspace=workspace, progress=progress)
    assert result.finding
    assert re.fullmatch(r" +\d+ \| x = \(1,\n +\| \^{7}", result.finding.detail)


def test_check_and_grade_agree_and_a_pass_is_remembered(workspace: Workspace, progress: ProgressFile) -> None:
    exercise = COURSE.find("02.3")
    path = workspace.prepare(exercise)
    path.write_text(path.read_text() + "\n// begun\n")
    failed = grade.check("02.3", workspace=workspace, progress=progress)
    assert failed.status == "failed"
    assert repr(failed) == repr(grade.grade(exercise, path))
    assert progress.read().passed == {}
    path.write_bytes(exercise.solution.read_bytes())
    assert grade.check("02.3", workspace=workspace, progress=progress).passed
    assert list(progress.read().passed) == ["02.3"]


def test_source_of_a_cell_is_checked_like_a_file(workspace: Workspace, progress: ProgressFile) -> None:
    text = COURSE.find("01.3").solution.read_text()
    assert grade.check("01.3", source=text, workspace=workspace, progress=progress).passed
    wrong = grade.check("01.3", source=text.replace("m2_a + m2_b", "m2_a"), workspace=workspace, progress=progress)
    assert wrong.status == "failed"
    assert "is right" in wrong.message


def test_unknown_exercise_is_a_message() -> None:
    with pytest.raises(ArgumentError, match=r"no exercise '03\.9'"):
        grade.check("03.9")


def test_an_empty_file_and_an_unreadable_one(workspace: Workspace, progress: ProgressFile) -> None:
    path = workspace.prepare(COURSE.find("01.1"))
    path.write_text(" \n")
    assert grade.check("01.1", workspace=workspace, progress=progress).message == "the file is empty"
    path.write_bytes(b"x = '\xff'\n")
    assert "Python cannot read the file" in grade.check("01.1", workspace=workspace, progress=progress).message


def test_failure_names_case_hint_and_section_as_text_and_html() -> None:
    finding = Verdict("a < b", "3 numbers", "k.cpp:3", "more <text>")
    result = CheckResult("03.2", "Title", "failed", finding=finding, lesson="notebook 03, section 'S'")
    for part in ("a < b", "3 numbers", "k.cpp:3", "more <text>", "gnt learn hint 03.2", "notebook 03, section 'S'"):
        assert part in repr(result)
    html = result._repr_html_()
    assert "a &lt; b" in html
    assert "more &lt;text&gt;" in html
    assert "gnt learn hint 03.2" in html


def test_a_right_kernel_passes_every_case(tmp_path: Path) -> None:
    assert judged(tmp_path, KERNEL) == 2


@pytest.mark.parametrize(
    ("loop", "message", "case"),
    [
        (";", "y was never written", "3 numbers"),
        (LOOP.replace("i < n", "i < n && i < 5"), "part of y was never written: y[5] to y[9], 5 of 10", "10 numbers"),
        (LOOP.replace("2 * from.GetValue(i)", "7"), "every element of y is 7: it does not depend", "3 numbers"),
        (LOOP.replace("2 *", "3 *"), "y[0] is ", "3 numbers"),
        (LOOP + " from.SetValue(1, 0);", "the kernel changed its input: x[1]", "3 numbers"),
        (LOOP.replace("i < n", "i < n + 1"), "the twin stopped the kernel: ", "3 numbers"),
        (LOOP.replace("++i", "i += 0"), "never ends", "3 numbers"),
        ("*reinterpret_cast<volatile int*>(8) = 1;", "the kernel crashed", "3 numbers"),
    ],
)
def test_a_wrong_kernel_is_told_why(tmp_path: Path, loop: str, message: str, case: str) -> None:
    found = judged(tmp_path, KERNEL.replace(LOOP, loop))
    assert isinstance(found, Verdict)
    assert message in found.message
    assert found.case == case


def test_a_fault_is_shown_at_the_learners_line(tmp_path: Path) -> None:
    found = judged(tmp_path, KERNEL.replace("i < n", "i < n + 1"))
    assert isinstance(found, Verdict)
    assert found.where == "twice.cpp:6, block 0"
    assert "for (uint32_t i" in found.detail


def test_a_kernel_that_does_not_compile_and_one_that_was_renamed(tmp_path: Path) -> None:
    found = judged(tmp_path, KERNEL.replace("SetValue(i,", "SetValu(i,"))
    assert isinstance(found, Verdict)
    assert found.message.startswith("the kernel does not compile: ")
    assert "'SetValu'" in found.message
    assert "SetValu" in found.detail
    assert found.where.startswith("twice.cpp:6")
    found = judged(tmp_path, KERNEL.replace("__global__", ""))
    assert isinstance(found, Verdict)
    assert found.message == "twice.cpp has no kernel entry: no function marked __global__"
    found = judged(tmp_path, KERNEL.replace("uint32_t n)", "uint32_t length)").replace("n)", "length)"))
    assert isinstance(found, Verdict)
    assert "cannot be called" in found.message or "does not compile" in found.message


def test_a_demand_is_asked_when_the_numbers_are_right(tmp_path: Path) -> None:
    checker = KernelChecker(twice_cases, 0, 0, demands=(lambda case, result: "too slow" if result.blocks else None,))
    found = judged(tmp_path, KERNEL, checker)
    assert isinstance(found, Verdict)
    assert found.message == "too slow"


def test_an_output_with_a_golden_is_held_to_the_accuracy_standard(tmp_path: Path) -> None:
    def cases(rng: np.random.Generator) -> list[KernelCase]:
        x = rng.uniform(1, 2, 10).astype(np.float32)
        golden = 2 * x.astype(np.float64)
        return [KernelCase("10 numbers", {"x": x}, {"n": 10}, {"y": golden.astype(np.float32)}, golden={"y": golden})]

    checker = KernelChecker(cases, 0, 0)
    floats = KERNEL.replace("int32_t>", "float>").replace("__gm__ int32_t", "__gm__ float")
    # T of float32 is 1.2e-4: a relative error of 5e-5 is allowed, and one of 5e-4 is not.
    assert judged(tmp_path, floats.replace("2 * from", "2.0001f * from"), checker) == 1
    found = judged(tmp_path, floats.replace("2 * from", "2.001f * from"), checker)
    assert isinstance(found, Verdict)
    assert "y misses the accuracy standard: MERE is 4.1 T and MARE 4.1 T" in found.message


# Each block adds one float of x to the workspace, which block 0 clears, and which block 0 copies to y in the end.
ADDED = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void added(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 32);
  AscendC::LocalTensor<float> one = buffer.Get<float>();
  AscendC::GlobalTensor<float> from, to, sum;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 8);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 1);
  sum.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(workspace), 1);
  AscendC::DataCopyExtParams row{1, sizeof(float), 0, 0, 0};
  AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
  if (AscendC::GetBlockIdx() == 0) {
    AscendC::Duplicate(one, 0.0f, 8);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopyPad(sum, one, row);
  }
  AscendC::SyncAll();
  AscendC::DataCopyPad(one, from[AscendC::GetBlockIdx()], row, pad);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::SetAtomicAdd<float>();
  AscendC::DataCopyPad(sum, one, row);
  AscendC::SetAtomicNone();
  AscendC::SyncAll();
  if (AscendC::GetBlockIdx() != 0) return;
  AscendC::DataCopyPad(one, sum, row, pad);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::DataCopyPad(to, one, row);
}
"""


def added(tmp_path: Path, x: list[float], text: str = ADDED, **checks: Any) -> Verdict | int:
    def cases(rng: np.random.Generator) -> list[KernelCase]:
        values = np.array(x, np.float32)
        right = values.astype(np.float64).sum(keepdims=True).astype(np.float32)
        return [KernelCase("8 numbers", {"x": values}, {}, {"y": right}, blocks=8, workspace={"workspace": 4})]

    return judged(tmp_path, text, KernelChecker(cases, 1e-5, 0, **checks))


def test_bits_that_depend_on_the_order_of_the_blocks_are_found_if_asked_for(tmp_path: Path) -> None:
    whole, broken = [float(n) for n in range(8)], [1.0 + n / 7 for n in range(8)]
    assert added(tmp_path, whole, orders=(1, 2, 3)) == 1
    assert added(tmp_path, broken) == 1
    found = added(tmp_path, broken, orders=(1, 2, 3))
    assert isinstance(found, Verdict)
    assert "y is right, but not the same twice: in another order of the cores y[0] is 1" in found.message


def test_a_fault_may_have_words_for_one_argument(tmp_path: Path) -> None:
    uncleared = ADDED.replace("    AscendC::DataCopyPad(sum, one, row);\n", "")
    assert uncleared != ADDED
    for argument, words in (("workspace", "the sum: "), ("y", "any: ")):
        faults = {"gm-read-before-write": "any", f"gm-read-before-write {argument}": "the sum"}
        found = added(tmp_path, [1.0] * 8, uncleared, faults=faults)
        assert isinstance(found, Verdict)
        assert found.message.startswith(words)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
def test_poison_is_told_from_written_elements(dtype: str) -> None:
    array = np.full(4, poison_word(np.dtype(dtype)), np.uint64).view(dtype)[:4]
    array[1] = 3
    assert check_kernel.unwritten(array).tolist() == [True, False, True, True]
    if array.dtype.kind == "f":
        array[2] = np.nan
        assert check_kernel.unwritten(array).tolist() == [True, False, False, True]


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


def test_names_are_found_wherever_they_stand() -> None:
    import ast

    tree = ast.parse("import a.b as c\nfrom d import e\nf.g(h)\nfor i in j: k = 1\n")
    found = {(name, module) for _, name, module in check_python._names(tree)}
    assert found == {("a", True), ("d", True), ("e", False), ("f", False), ("g", False), ("h", False), ("j", False)}


HEADER = """\
#include <cstdint>
struct Share {
  uint32_t each;
  uint32_t rest;
};
inline const char* Divide(int64_t n, int64_t parts, Share* share) {
  if (parts <= 0) return "no parts";
  share->each = n / parts;
  share->rest = n % parts;
  return nullptr;
}
"""


def divided(tmp_path: Path, text: str) -> Verdict | int:
    def cases(rng: np.random.Generator) -> list[TilingCase]:
        n = int(rng.integers(50, 90))
        return [
            TilingCase("7 in 2", {"n": 7, "parts": 2}, {"each": 3, "rest": 1}, "two are enough"),
            TilingCase("no parts", {"n": 7, "parts": 0}, None, "nobody is there"),
            TilingCase("many", {"n": n, "parts": 9}, {"each": n // 9, "rest": n % 9}),
        ]

    path = tmp_path / "share.h"
    path.write_text(text)
    seconds = 3 if "for (;;)" in text else 60
    return TilingChecker("Share", "Divide", ("n", "parts"), cases, seconds=seconds).check(path, 1)


def test_a_right_tiling_function_passes(tmp_path: Path) -> None:
    assert divided(tmp_path, HEADER) == 3
    noisy = HEADER.replace("  if (", '  __builtin_printf("{}\\n");\n  if (', 1)
    assert divided(tmp_path, noisy) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("share->rest = n % parts", "share->rest = 0"), "rest is 0; 1 is right"),
        (('return "no parts"', "return nullptr"), "Divide must refuse this and return a sentence: nobody is there"),
        (('if (parts <= 0) return "no parts";', ""), "Divide divided an integer by zero"),
        (("parts <= 0", "parts <= 2"), "Divide refused (no parts), but this can be divided: two are enough"),
        (("share->each = n / parts;", "for (;;) share->each = n;"), "ran longer than 3 s and was stopped"),
        (("n / parts", "n / part"), "the header does not work"),
        (("struct Share {", "struct Portion {"), "the header does not work: there is no 'struct Share"),
        (("share->each = n / parts;\n  share->rest = n % parts;", ""), "leaves every field at 0"),
    ],
)
def test_a_wrong_tiling_function_is_told_why(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    assert change[0] in HEADER
    found = divided(tmp_path, HEADER.replace(*change))
    assert isinstance(found, Verdict)
    assert message in found.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = '?'", "b has no prediction yet"),
        ("a = 1", "b is missing: keep the names"),
        ("a = 1\nc = 2", "b is missing, and c is not a name that is asked for"),
        ("a = 1.5\nb = 2", "a is 1.5; a whole number is asked for"),
        ("a = 4\nb = 2", "a: you predicted 4, another number comes out. twice too many"),
        ("a = 2\nb = 1", "b: you predicted 1, another number comes out; you are below it. count all"),
        ("a = = 2", "the file cannot be read"),
    ],
)
def test_predictions(tmp_path: Path, text: str, message: str) -> None:
    twice = Prediction("a", "how many", lambda: 2, {4: "twice too many"})
    questions = (twice, Prediction("b", "how much", lambda: 3, rule="count all"))
    path = tmp_path / "answers.toml"
    path.write_text(text)
    found = PredictChecker(questions).check(path, 0)
    assert isinstance(found, Verdict)
    assert message in found.message
    path.write_text("a = 2\nb = 3")
    assert PredictChecker(questions).check(path, 0) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time = '?'\npipe = 'V'", "time has no prediction yet: replace the question mark by a number"),
        ("time = 100\npipe = '?'", "pipe has no prediction yet: replace the question mark by one of the words"),
        ("time = '100'\npipe = 'V'", "time is '100'; a number is asked for"),
        ("time = true\npipe = 'V'", "time is True; a number is asked for"),
        ("time = 100\npipe = 1", "pipe is 1; one of S, V is asked for, in quotation marks"),
        ("time = nan\npipe = 'V'", "time: you predicted nan, another number comes out"),
        ("time = 111\npipe = 'V'", "another number comes out; you are above it"),
        ("time = 111\npipe = 'V'", "you are above it. what else takes time?"),
        ("time = 48\npipe = 'V'", "another number comes out. half of it"),
        ("time = 54\npipe = 'V'", "another number comes out. and a little more"),
        ("time = 109.5\npipe = 'S'", "pipe: you predicted S, it is another one. no loop"),
    ],
)
def test_predictions_of_what_is_modelled_have_room_and_may_be_words(tmp_path: Path, text: str, message: str) -> None:
    questions = (
        Prediction(
            "time",
            "how long",
            lambda: 100.0,
            {50.0: "half of it", 55.0: "and a little more"},
            within=0.1,
            above="what else takes time?",
        ),
        Prediction("pipe", "which one", lambda: "V", {"S": "no loop"}, choices=("S", "V")),
    )
    path = tmp_path / "answers.toml"
    path.write_text(text)
    found = PredictChecker(questions).check(path, 0)
    assert isinstance(found, Verdict)
    assert message in found.message
    for right in (90, 100, 110.0):
        path.write_text(f"time = {right}\npipe = 'V'")
        assert PredictChecker(questions).check(path, 0) == 2


def test_a_wrong_number_is_always_told_how_the_number_comes_about() -> None:
    """Which side of it one is says little; the last words of a message are about the count itself."""
    bare = []
    for exercise in COURSE:
        checker = checker_of(exercise.checker)
        for question in checker.questions if isinstance(checker, PredictChecker) else ():
            number = not (question.choices or question.is_line)
            if number and not (question.rule or (question.above and question.below)):
                bare.append(f"{exercise.id} {question.name}")
    assert bare == []


def test_data_differ_from_attempt_to_attempt_and_not_from_run_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = []

    class Recorder:
        def check(self, path: Path, seed: int) -> int:
            seeds.append(seed)
            return 1

    monkeypatch.setattr(grade, "checker_of", lambda name: Recorder())
    for text in ("one", "one", "two"):
        assert grade.grade_text(COURSE.find("00.1"), text).passed
    assert seeds[0] == seeds[1] != seeds[2]
