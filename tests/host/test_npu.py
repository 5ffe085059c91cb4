"""What the package says and does about an NPU, on a machine that has none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gn_tutorial.errors import CompileError, KernelError
from gn_tutorial.host import npu
from gn_tutorial.operators.registry import kernels_root

ASC = "compiler/tikcpp/ascendc_kernel_cmake"


def gnt(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gn_tutorial", *words], capture_output=True, text=True)


@pytest.fixture
def no_npu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npu.util, "find_spec", lambda _: None)
    npu.why_not.cache_clear()


@pytest.mark.usefixtures("no_npu")
def test_the_reason_is_said_and_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert npu.why_not() == "torch_npu is not installed"
    monkeypatch.setattr(npu, "npu_available", lambda: pytest.fail("asked again"))
    assert npu.why_not() == "torch_npu is not installed"
    with pytest.raises(KernelError, match="torch_npu is not installed"):
        npu.stream_of_torch()


@pytest.mark.parametrize(
    ("files", "folder"),
    [
        (("asc-config.cmake", "ascendc.cmake"), "npu"),
        (("ASCConfig.cmake", "ascendc.cmake"), "npu"),
        (("ascendc.cmake",), "npu/cann8"),
        ((), "npu"),
    ],
)
def test_the_toolkit_decides_how_it_is_built(tmp_path: Path, files: tuple[str, ...], folder: str) -> None:
    (tmp_path / ASC).mkdir(parents=True)
    for name in files:
        (tmp_path / ASC / name).touch()
    first, second = npu.build_commands(
        tmp_path / "out", {"ASCEND_HOME_PATH": str(tmp_path), "GNT_NPU_CMAKE": "-DA='b c'"}
    )
    assert first[:5] == ["cmake", "-S", str(kernels_root() / folder), "-B", str(tmp_path / "out")]
    assert first[-1] == "-DA=b c"
    assert second[:3] == ["cmake", "--build", str(tmp_path / "out")]
    assert (Path(first[2]) / "CMakeLists.txt").is_file()


def test_a_build_without_the_toolkit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="no CANN toolkit"):
        npu.build(tmp_path, {})


def test_a_build_that_fails_shows_what_the_tool_said(tmp_path: Path) -> None:
    tool = tmp_path / "cmake"
    tool.write_text("#!/bin/sh\necho something is wrong with the toolkit >&2\nexit 3\n")
    tool.chmod(0o755)
    environ = {"ASCEND_HOME_PATH": str(tmp_path), "PATH": f"{tmp_path}:/usr/bin:/bin"}
    with pytest.raises(CompileError, match="something is wrong with the toolkit") as caught:
        npu.build(tmp_path / "out", environ)
    assert str(kernels_root() / "npu") in caught.value.where


def test_command_prints_the_reason_the_commands_and_that_it_was_not_run(tmp_path: Path) -> None:
    ran = gnt("dev", "npu", str(tmp_path / "out"))
    assert ran.returncode == 0
    assert "no NPU: " in ran.stdout
    assert f"cmake -S {kernels_root() / 'npu'} -B {tmp_path / 'out'}" in ran.stdout
    assert "not run on an NPU here" in ran.stdout
    assert "libgn_host_npu.so has these operators: AddRelu, AddReluBackward, " in ran.stdout
    assert not (tmp_path / "out").exists()
    as_json = json.loads(gnt("dev", "npu", "--json").stdout)
    assert as_json["npu"] is False
    assert as_json["library"] is None
    assert {"GroupNorm", "Gelu", "GeluBackward", "Linear", "LinearBackward"} <= set(as_json["operators"])


def test_command_without_a_toolkit_does_not_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        monkeypatch.delenv(name, raising=False)
    ran = gnt("dev", "npu", str(tmp_path / "out"), "--build")
    assert ran.returncode == CompileError.exit_code
    assert "no CANN toolkit" in ran.stderr
    assert "Traceback" not in ran.stderr
