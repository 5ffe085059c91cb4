"""Waits of the scalar unit: with the compiler's own nothing misses them; notebook 03 and exercise 03.2 do without."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.course.exercises.check_kernel import KernelChecker
from gn_tutorial.course.exercises.checkers import checker_of
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.exercises.verdict import Verdict

EXERCISE = load_course().find("03.2")
ROW_MEAN = checker_of(EXERCISE)
assert isinstance(ROW_MEAN, KernelChecker)
KERNEL = gnt.kernel("group_norm/scalar")
WAITS = list(re.finditer(r"    Sync<AscendC::HardEvent::(\w+)>\(\);\n", KERNEL.source))


def test_a_wait_is_missed_where_none_comes_from_the_compiler_only(tmp_path: Path) -> None:
    path = tmp_path / EXERCISE.solution.name
    text, wait = EXERCISE.solution.read_text(encoding="utf-8"), "    Sync<AscendC::HardEvent::MTE2_S>();\n"
    assert text.count(wait) == 1
    path.write_text(text.replace(wait, ""), encoding="utf-8")
    found = ROW_MEAN.check(path, 1)
    assert isinstance(found, Verdict)
    assert "S has to wait for MTE2" in found.message
    forgiving = replace(ROW_MEAN, options=replace(ROW_MEAN.options, auto_sync="on"))
    assert isinstance(forgiving.check(path, 1), int)


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(len(WAITS)))
def test_each_wait_of_the_scalar_kernel_is_needed_without_the_compiler_s(tmp_path: Path, number: int) -> None:
    """As notebook 03 says of its first one. Two groups on one core: each wait has something to wait for."""
    path, wait = tmp_path / KERNEL.path.name, WAITS[number]
    path.write_text(KERNEL.source[: wait.start()] + KERNEL.source[wait.end() :], encoding="utf-8")
    edited = gnt.Kernel("edited", path=path, op=KERNEL.op, spec=KERNEL.spec, include_dirs=[KERNEL.path.parent])
    x = np.random.default_rng(3).standard_normal((1, 6, 20, 30)).astype(np.float32)
    assert not edited(x, num_groups=2, blocks=1).diagnostics
    with pytest.raises(gnt.errors.KernelFault, match="may still be"):
        edited(x, num_groups=2, blocks=1, options=gnt.TwinOptions(auto_sync="off"))
