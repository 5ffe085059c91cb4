"""The doctor's rows, on this machine and on machines made up from folders and variables."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Gnt

from gn_tutorial.cli import machine_report
from gn_tutorial.cli.machine_report import MISSING, OK, PROBLEM
from gn_tutorial.host import npu


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pretend that exactly these packages are installed: the real ones need an NPU's software."""

    def install(**packages: str) -> None:
        monkeypatch.setattr(machine_report, "installed_version", packages.get)

    return install


def test_this_machine_can_build_and_run() -> None:
    rows = {row.name: row for row in machine_report.run_checks()}
    assert list(rows)[-1] == "build and run"
    assert rows["build and run"].status == OK
    assert "ran, right" in rows["build and run"].found
    assert rows["Python"].status == rows["NumPy"].status == rows["cache folder"].status == OK
    assert all(row.advice for row in rows.values() if row.status != OK)


def test_compiler_that_is_not_there_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNT_CXX", "no-such-compiler")
    row = machine_report.check_compiler()
    assert row.status == PROBLEM
    assert "no-such-compiler" in row.found


def test_machine_without_a_compiler_is_told_about_zig(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GNT_CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    row = machine_report.check_compiler()
    # Where the ziglang package is installed, it is the compiler.
    assert (row.status == MISSING and "ziglang" in row.advice) or "zig" in row.found


def test_cache_folder_that_is_a_file_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path / "file"))
    row = machine_report.check_cache()
    assert row.status == PROBLEM
    assert "GNT_CACHE_DIR" in row.advice


def test_small_shared_memory_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(machine_report.shutil, "disk_usage", lambda _: usage(64 << 20, 60 << 20, 4 << 20))
    row = machine_report.check_shared_memory(tmp_path)
    assert row.status == PROBLEM
    assert "--shm-size" in row.advice
    assert machine_report.check_shared_memory(tmp_path / "absent").status == MISSING


def test_torch_npu_without_the_toolkit_is_the_documented_trap(versions: Callable[..., None]) -> None:
    versions(torch="2.13.0+cpu", torch_npu="2.13.0")
    row = machine_report.check_torch_npu({})
    assert row.status == PROBLEM
    assert "`import torch` fails" in row.advice
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD=0" in row.advice


@pytest.mark.parametrize(
    ("torch", "npu", "status"),
    [("2.13.0+cpu", "2.13.0", OK), ("2.13.0", "2.13.0.post2", OK), ("2.12.0", "2.13.0", PROBLEM)],
)
def test_torch_npu_needs_its_own_torch(
    versions: Callable[..., None], tmp_path: Path, torch: str, npu: str, status: str
) -> None:
    versions(torch=torch, torch_npu=npu)
    assert machine_report.check_torch_npu({"ASCEND_HOME_PATH": str(tmp_path)}).status == status


def test_absent_torch_is_fine(versions: Callable[..., None]) -> None:
    versions()
    assert machine_report.check_torch().status == machine_report.check_torch_npu({}).status == MISSING
    assert machine_report.check_torch_operators().status == MISSING


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("version.cfg", "[8.3.RC1]\nversion=8.3.RC1\n"),
        ("compiler/version.info", "Version=8.3.RC1\n"),
        ("aarch64-linux/ascend_toolkit_install.info", "package_name=Ascend-cann-toolkit\nversion=8.3.RC1\n"),
    ],
)
def test_toolkit_version_is_read_from_any_of_its_files(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)
    row = machine_report.check_toolkit({"ASCEND_TOOLKIT_HOME": str(tmp_path)})
    assert (row.status, row.found) == (OK, f"8.3.RC1 at {tmp_path}")


def test_toolkit_variable_that_names_no_folder_is_said(tmp_path: Path) -> None:
    row = machine_report.check_toolkit({"ASCEND_HOME_PATH": str(tmp_path / "gone")})
    assert row.status == MISSING
    assert "is no folder" in row.found


def test_npu_reasons_come_in_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(npu.util, "find_spec", lambda _: None)
    assert npu.npu_available({}, tmp_path) == (False, "torch_npu is not installed")
    monkeypatch.setattr(npu.util, "find_spec", lambda _: object())
    assert "no CANN toolkit" in npu.npu_available({}, tmp_path)[1]
    toolkit = {"ASCEND_HOME_PATH": str(tmp_path)}
    assert "davinci* device" in npu.npu_available(toolkit, tmp_path)[1]
    (tmp_path / "davinci_manager").touch()
    assert "davinci* device" in npu.npu_available(toolkit, tmp_path)[1]
    (tmp_path / "davinci0").touch()
    # The last question starts a real Python, which has no torch_npu here.
    available, reason = npu.npu_available(toolkit, tmp_path)
    assert not available
    assert reason.startswith("import torch_npu fails:")


def test_npu_build_says_what_it_would_use(tmp_path: Path) -> None:
    assert machine_report.check_npu_build({}).status == MISSING
    toolkit = {"ASCEND_HOME_PATH": str(tmp_path), "PATH": str(tmp_path)}
    assert "cmake is not installed" in machine_report.check_npu_build(toolkit).found
    (tmp_path / "cmake").write_text("")
    (tmp_path / "cmake").chmod(0o755)
    row = machine_report.check_npu_build(toolkit)
    assert row.status == OK
    assert "9.x" in row.found


def test_doctor_ends_well_where_kernels_run(gnt: Gnt) -> None:
    ran = gnt("doctor", "--json")
    assert ran.code == 0
    assert ran.json[-1]["name"] == "build and run"
    assert all(row["status"] in ("ok", "missing", "problem") for row in ran.json)


def test_doctor_fails_where_kernels_cannot_be_built(gnt: Gnt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GNT_CXX", "no-such-compiler")
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path))
    ran = gnt("doctor")
    assert ran.code == 1
    assert "no-such-compiler" in ran.out
