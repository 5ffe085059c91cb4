"""Tiling headers that misbehave, in the function and before it: the limits of a kernel hold, and nothing is left."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gn_tutorial.abi.options import Limits
from gn_tutorial.course.exercises.check_tiling import TilingCase, TilingChecker
from gn_tutorial.course.exercises.verdict import Verdict
from gn_tutorial.errors import KernelCrash, KernelError, KernelTimeout
from gn_tutorial.operators.spec import TilingSpec
from gn_tutorial.operators.tiling import TilingFunction, load_tiling

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces this: see docs/platforms.md")

HEADER = """\
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
struct Demo { int64_t n; };
inline const char* MakeDemo(int64_t what, Demo* demo) {
  switch (what) {
    case 0: for (;;) __asm__ volatile("");
    case 1: demo->n = *reinterpret_cast<volatile int64_t*>(what - 1); break;
    case 2: demo->n = open("tiling_was_here", O_WRONLY | O_CREAT, 0600); break;
    case 3: demo->n = system("touch tiling_was_here"); break;
    case 4: demo->n = setpriority(PRIO_PROCESS, static_cast<id_t>(getppid()), 0); break;
    case 5: exit(0);
    case 6: demo->n = fork(); break;
    default: demo->n = 7;
  }
  return nullptr;
}
"""
STATIC = """\
#pragma once
#include <cstdint>
#include <cstdio>
struct Demo { int64_t n; };
inline bool wrote = std::fopen("tiling_was_here", "w") != nullptr;
inline const char* MakeDemo(int64_t what, Demo* demo) {
  demo->n = 7;
  return nullptr;
}
"""


def spec(folder: Path, text: str) -> TilingSpec:
    (folder / "demo.h").write_text(text)
    return TilingSpec(folder / "demo.h", "Demo", "MakeDemo", ("what",), "n")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> TilingFunction:
    return load_tiling(spec(tmp_path_factory.mktemp("tiling"), HEADER))


@pytest.fixture(autouse=True)
def nothing_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("what", "kind", "said"),
    [
        (0, KernelTimeout, "'MakeDemo' ran longer than 0.3 s"),
        (1, KernelCrash, "the tiling function used a null pointer"),
        pytest.param(2, KernelCrash, r"the tiling function opened a file for writing \(open", marks=linux),
        pytest.param(3, KernelCrash, "the tiling function started a process", marks=linux),
        pytest.param(4, KernelCrash, "the tiling function changed the priority of a process", marks=linux),
        (5, KernelCrash, r"the tiling function ended its process with exit\(0\)"),
        pytest.param(6, KernelCrash, "the tiling function started a process", marks=linux),
    ],
)
def test_a_function_has_the_limits_of_a_kernel(
    demo: TilingFunction, tmp_path: Path, what: int, kind: type[KernelError], said: str
) -> None:
    with pytest.raises(kind, match=said) as caught:
        demo({"what": what}, Limits(seconds=0.3 if what == 0 else 20))
    assert "MakeDemo in demo.h" in caught.value.where
    assert list(tmp_path.iterdir()) == []
    assert demo({"what": 9})["n"] == 7


@linux
def test_so_has_what_runs_before_it(tmp_path: Path) -> None:
    with pytest.raises(KernelCrash, match="the tiling function opened a file for writing"):
        load_tiling(spec(tmp_path, STATIC))
    cases = [TilingCase("any", {"what": 1}, {"n": 7})]
    found = TilingChecker("Demo", "MakeDemo", ("what",), lambda _: cases).check(tmp_path / "demo.h", 0)
    assert isinstance(found, Verdict)
    assert "MakeDemo opened a file for writing" in found.message
    assert [one.name for one in tmp_path.iterdir()] == ["demo.h"]
