"""``gnt npu verify`` over the stand-in of CANN's runtime: what is run, what a failure leaves, how a run goes on.

The stand-in runs the twin's kernels, so numbers and bits are right here, unless a test hands it another kernel. Nothing
here ran on an NPU.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from npu_support import make_toolkit_folder, needs_cmake, toolkit_variables

from gn_tutorial.compiler import address_spaces
from gn_tutorial.compiler.address_spaces import SpaceCheck, SpaceFinding
from gn_tutorial.compiler.build import build_kernel
from gn_tutorial.errors import ArgumentError
from gn_tutorial.host.verify import steps
from gn_tutorial.host.verify.report import JSON, MARKDOWN, VerifyReport
from gn_tutorial.host.verify.steps import write_launchers
from gn_tutorial.operators import space_findings
from gn_tutorial.operators.registry import all_kernels, find_kernel, load_registry

ENDS = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void add_kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t n) { __builtin_trap(); }
"""
COPY, ADD, GELU = "copy/queue", "add/queue", "gelu/queue"


def gnt(*words: object, environ: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gn_tutorial", "npu", "verify", *map(str, words)]
    return subprocess.run(command, env=environ, capture_output=True, text=True)


class Machine:
    """A toolkit of stand-ins, and which library it runs for a kernel."""

    def __init__(self, folder: Path) -> None:
        make_toolkit_folder(folder / "toolkit")
        self.list, self.report = folder / "kernels.txt", folder / "report"
        self.environ = {**toolkit_variables(folder / "toolkit"), "STAND_IN_KERNELS": str(self.list)}
        self.libraries = {
            name: build_kernel(find_kernel(name)[1].file, observed=False).library for name in (COPY, ADD, GELU)
        }

    def verify(self, *words: object, **instead: Path) -> subprocess.CompletedProcess[str]:
        """Every dtype of these kernels. instead: entry -> another library."""
        libraries = {find_kernel(name)[1].entry: path for name, path in self.libraries.items()} | instead
        self.list.write_text("".join(f"{entry} {path}\n" for entry, path in libraries.items()))
        chosen = ("--kernel", COPY, "--kernel", ADD, "--kernel", GELU, "--rounds", 2)
        return gnt(self.report, *chosen, *words, environ=self.environ)

    def rows(self, step: str) -> dict[str, dict]:
        return {row["name"]: row for row in json.loads((self.report / JSON).read_text())["rows"][step]}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("npu"))


@pytest.mark.thorough
@needs_cmake
def test_a_failure_is_a_row_nothing_else_is_lost_and_a_later_run_goes_on(machine: Machine, tmp_path: Path) -> None:
    source, (wrong, ends) = find_kernel(COPY)[1].file.read_text(), (tmp_path / "copy.cpp", tmp_path / "ends.cpp")
    assert source.count("xGm_[at]") == 1
    wrong.write_text(source.replace("xGm_[at]", "xGm_[0]"))
    ends.write_text(ENDS)
    broken = {file.stem: build_kernel(file, observed=False).library for file in (wrong, ends)}
    ran = machine.verify("--only", "kernels", copy_kernel=broken["copy"], add_kernel=broken["ends"])
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "kernels: copy/queue float32: FAILED\n" in ran.stdout
    assert "kernels: gelu/queue bfloat16: passed\n" in ran.stdout
    rows = machine.rows("kernels")
    assert rows["copy/queue float32"]["outputs"][0]["outside"] > 0
    assert "exit code -" in rows["add/queue float32"]["error"]
    for dtype in ("float32", "float16", "bfloat16"):
        row = rows[f"gelu/queue {dtype}"]
        assert [(one["outside"], one["not the twin's bits"]) for one in row["outputs"]] == [(0, 0)]
        assert row["modelled_us"] > 0
        assert row["measured_us"].keys() == {"p50", "p90", "p99"}
    text = (machine.report / MARKDOWN).read_text()
    assert "| chip | StandIn |" in text
    assert "| cores | 48 |" in text
    assert "| copy/queue float32 | FAILED |" in text
    again = machine.verify("--only", "kernels")
    assert (again.returncode, again.stderr) == (0, ""), again.stdout
    assert "kernels: copy/queue float32: passed\n" in again.stdout
    assert "kernels: add/queue float32: passed\n" in again.stdout
    assert "gelu" not in again.stdout, "what passed is not done again"
    assert machine.rows("kernels")["gelu/queue float32"]["passed"] is True


def test_without_a_toolkit_it_says_so_and_writes_nothing(tmp_path: Path) -> None:
    ran = gnt(tmp_path / "report", environ={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)})
    assert ran.returncode == 6
    assert "there is no CANN toolkit here, so nothing can be verified" in ran.stderr
    assert "set_env.sh" in ran.stderr
    assert not (tmp_path / "report").exists()
    assert "'kernel' is no step" in gnt(tmp_path, "--only", "kernel").stderr


def test_every_registered_kernel_has_a_launcher_that_reads_all_of_its_parameters(tmp_path: Path) -> None:
    written = write_launchers(all_kernels(load_registry()), tmp_path)
    assert {"copy_kernel", "group_norm_scalar", "elementwise_add"} <= set(written)
    assert "gelu_kernel" not in written  # kernels/npu has it
    for op, spec in all_kernels(load_registry()):
        if spec.entry in written:
            text = (tmp_path / f"{spec.entry}.asc").read_text()
            assert text.count("args[") == len(op.arguments)
            assert f"{spec.entry}<<<blocks, 0, stream>>>(" in text
    assert "const uint32_t n = *static_cast<const uint32_t*>(args[2]);" in (tmp_path / "copy_kernel.asc").read_text()
    assert write_launchers([find_kernel(COPY)], tmp_path) == ["copy_kernel"]
    assert [path.name for path in tmp_path.iterdir()] == ["copy_kernel.asc"]


def test_a_report_of_another_state_is_not_taken_over(tmp_path: Path) -> None:
    report = VerifyReport(tmp_path, "one")
    report.add("build", {"name": "a | b", "passed": True})
    report.add("build", {"name": "c", "passed": False, "error": "it is\nwrong"})
    report.add("pytorch", {"name": "d", "passed": None, "skipped": "not installed"})
    assert report.failed() == ["build: c"]
    assert VerifyReport(tmp_path, "one").passed("build", "a | b")
    assert not VerifyReport(tmp_path, "one").passed("build", "c")
    assert not VerifyReport(tmp_path, "two").passed("build", "a | b")
    assert not VerifyReport(tmp_path, "one", fresh=True).passed("build", "a | b")
    text = (tmp_path / MARKDOWN).read_text()
    assert "1 passed, 1 failed, 1 not asked." in text
    assert "| a \\| b | passed |" in text
    (tmp_path / JSON).write_text("{}")
    with pytest.raises(ArgumentError, match="no report of gnt npu verify"):
        VerifyReport(tmp_path, "one")


def test_a_build_begins_with_the_memory_qualifiers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps.npu, "build", lambda *_: tmp_path / "built")
    monkeypatch.setattr(steps, "environment", lambda _: None)
    work = steps.VerifyWork(VerifyReport(tmp_path, "one"), kernels=(COPY,))
    with monkeypatch.context() as patch:
        patch.setattr(address_spaces, "find_clang", lambda: None)
        first, second = steps.build(work)
    assert (first["name"], first["passed"]) == ("memory qualifiers", None)
    assert first["skipped"].startswith("this machine has no clang++")
    assert second["passed"]
    wrong = SpaceFinding(
        address_spaces.POINTER, str(tmp_path / "k.cpp"), 7, {"memory": "the global memory", "word": "__gm__"}
    )
    monkeypatch.setattr(space_findings, "check_spaces", lambda _: SpaceCheck((wrong,), "clang"))
    told: list[tuple[str, bool]] = []
    steps.run(work, ["build"], lambda _, row: told.append((row["name"], row["passed"])))
    assert told == [("memory qualifiers", False), (second["name"], True)]
    assert "k.cpp:7: A pointer into the global memory" in (tmp_path / MARKDOWN).read_text()


def test_a_step_that_raises_or_takes_too_long_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "environment", lambda _: None)
    monkeypatch.setattr(steps, "_PROJECT_SECONDS", 0.2)
    work = steps.VerifyWork(VerifyReport(tmp_path, "one"))

    def slow(work: steps.VerifyWork) -> Iterator[dict]:
        yield steps._script(work, "it", ["sleep", "60"], tmp_path)

    monkeypatch.setitem(steps.STEPS, "projects", slow)
    told: list[str] = []
    steps.run(work, ["kernels", "projects"], lambda step, row: told.append(f"{step} {row['name']} {row['passed']}"))
    assert told == ["kernels kernels False", "projects it False"]
    assert "was not built" in work.report.rows["kernels"]["kernels"]["error"]
    assert "it was stopped after 0.2 s" in work.report.rows["projects"]["it"]["error"]
