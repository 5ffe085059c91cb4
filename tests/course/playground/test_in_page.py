"""What the page asks of Python, here: errors at the learner's lines, findings, numbers, a modelled time."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

import numpy as np
import pytest

from gn_tutorial.abi.trace import Tracing
from gn_tutorial.course.playground import compiling
from gn_tutorial.course.playground.assemble import python_files
from gn_tutorial.course.playground.compiling import Compilation
from gn_tutorial.course.playground.files import course_files
from gn_tutorial.course.playground.outcome import outcome
from gn_tutorial.course.playground.starts import job, request_of
from gn_tutorial.errors import CompileError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.registry import find_kernel, kernels_root

TEXT = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void mine(GM_ADDR x) {
  AscendC::TPipe pipe;
}
"""
PATH = PurePosixPath("kernels/mine/mine.cpp")


def test_the_modules_of_the_page_need_no_numpy() -> None:
    files = python_files()
    assert "gn_tutorial/course/playground/in_page.py" in files
    assert "gn_tutorial/diagnostics/diagnostics.toml" in files
    assert sum(map(len, files.values())) < 1_000_000


def test_a_source_is_read_for_what_device_code_may_not_have() -> None:
    wrong = TEXT.replace("TPipe pipe;", "TPipe pipe;\n  auto made = new int;")
    source = Compilation(PATH, wrong)
    asked = source.preprocessing()
    assert asked["own"] == {str(PATH): wrong}
    assert "GNT_ENTRY(mine)" in asked["shim"]
    lines = [f'# {number} "{compiling.COURSE / PATH}"\n{line}' for number, line in enumerate(wrong.splitlines()[1:], 2)]
    words = "\nGNT_WORDS_LEFT __aicore__ __gm__ GM_ADDR\n"
    (found,) = source.source_findings("\n".join(lines) + words)
    assert (found["entry"], found["id"], found["line"], found["error"]) == ("mine", "language-heap", 4, True)
    assert source.source_findings("") == []


def test_a_text_without_a_kernel_and_the_compilers_words_are_errors_with_hints() -> None:
    with pytest.raises(CompileError, match="no kernel"):
        Compilation(PATH, "int x;").preprocessing()
    said = f"{compiling.COURSE / PATH}:3:12: error: no type named 'TPip' in namespace 'AscendC'\n"
    error = Compilation(PATH, TEXT).failure(said)
    assert [one.line for one in error.errors] == [3]
    assert "TPip" in error.errors[0].message


def test_an_outcome_has_numbers_counts_and_the_modelled_time_of_a_profile() -> None:
    op, spec = find_kernel("copy/queue")
    x = np.arange(100, dtype=np.float32)
    request = request_of(op, spec, {"x": x}, {}, blocks=2, tracing=Tracing())
    result = Kernel.registered(op, spec)(x, blocks=2)
    of = {"shape": [100], "dtype": "float32", "rtol": 0.0, "atol": 0.0, "of_largest": 0.0}
    expected = {"y": {**of, "values": random_inputs.expected(op, {"x": x}, {})["y"].astype(np.float64).tobytes()}}
    answer = {
        "status": 0,
        "ended": None,
        "needs_suspension": False,
        "report": "",
        "tally": [1, 2, 3, 4, 5, 6, 7],
        "trace": None,
    }
    wrong = result.y.copy()
    wrong[41] = -1
    for array, text in (
        (result.y, "y: all 100 right"),
        (wrong, "y: 1 of 100 wrong; first y[41] is -1, the reference 41"),
    ):
        shown, modelled = outcome(job(request), answer, {"y": array.tobytes()}, b"", expected, "910B2")
        assert [one["text"] for one in shown["numbers"]] == [text]
        assert shown["tally"][2] == ("bytes", "5 in, 6 out")
        assert modelled is None  # without a trace
    json.dumps(shown)


def test_a_launch_that_did_not_end_well_says_why() -> None:
    here = {"file": "", "line": 12, "block": 3}
    base = {"status": 1, "report": "", "tally": [0] * 7, "trace": None, "here": here}
    trap, _ = outcome({"blocks": 1}, {**base, "ended": "unreachable", "needs_suspension": False}, {}, b"", {}, "910B2")
    assert "line 12, block 3: unreachable" in trap["ended"]
    suspending = {**base, "ended": "cannot suspend", "needs_suspension": True}
    waits, _ = outcome({"blocks": 1}, suspending, {}, b"", {}, "910B2")
    assert "this browser cannot" in waits["ended"]


def test_the_compiler_sees_the_twin_the_kernels_and_what_they_share() -> None:
    files = course_files(kernels_root())
    needed = {"include/kernel_operator.h", "watchers/watchers.cpp", "page/entry.cpp", "names/kernel_operator.h"}
    assert needed | {"kernels/add_relu/common/common_dtype.h", "kernels/copy/copy.cpp"} <= set(files)
    # The one header of names that has text includes the twin's, by its place in the page.
    assert f'"{compiling.COURSE}/include/' in files["names/gn_twin/base/data_type_macros.h"]
