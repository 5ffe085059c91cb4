"""Types of the sources for an NPU, against the headers of the torch_npu package, where that is installed.

The package is found, not imported: that would need CANN.
"""

from __future__ import annotations

import shutil
import subprocess
from importlib import util
from pathlib import Path

import pytest

from gn_tutorial.operators.registry import kernels_root

torch = pytest.importorskip("torch")
FOUND = util.find_spec("torch_npu")
pytestmark = pytest.mark.skipif(FOUND is None or not shutil.which("g++"), reason="needs torch_npu's headers and g++")


def check(path: Path, *folders: Path) -> str:
    """Return the compiler's errors about the file's types; empty if there are none."""
    command = ["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-DGN_TORCH_NPU"]
    command += [f"-I{kernels_root() / name}" for name in ("host_api", "npu", "torch_cpp")]
    command += [f"-isystem{folder}" for folder in folders]
    return subprocess.run([*command, str(path)], capture_output=True, text=True).stderr


def headers() -> tuple[Path, ...]:
    from torch.utils.cpp_extension import include_paths

    include = Path(FOUND.origin).parent / "include"
    third = include / "third_party"
    return (include, third / "acl" / "inc", third / "hccl" / "inc", *map(Path, include_paths()))


#: kernels/torch_cpp/cpu.cpp is in the CPU's library only.
OF_TORCH = [f"torch_cpp/{path.name}" for path in (kernels_root() / "torch_cpp").glob("*.cpp") if path.name != "cpu.cpp"]


@pytest.mark.parametrize("name", ["npu/npu_device.cpp", "npu/staging.cpp", *sorted(OF_TORCH)])
def test_types_fit_the_public_headers(name: str) -> None:
    assert check(kernels_root() / name, *headers()) == ""


def test_a_wrong_type_would_be_found(tmp_path: Path) -> None:
    text = (kernels_root() / "torch_cpp" / "npu.cpp").read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.cpp"
    wrong.write_text(text.replace("RunOpApiV2(name, work)", "RunOpApiV2(work, name)"), encoding="utf-8")
    assert "RunOpApiV2" in check(wrong, *headers())
