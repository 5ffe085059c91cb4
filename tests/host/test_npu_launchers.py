"""The launchers of kernels/npu: held against the registry, and compiled as CANN before 8.5 would get them.

The .asc files are for CANN's compiler; none of this ran on an NPU.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from npu_support import STAND_IN, needs_cmake

from gn_tutorial.host.c_library import kernels
from gn_tutorial.operators.registry import all_kernels, kernels_root, load_registry
from gn_tutorial.operators.spec import KernelSpec, OpSpec

NPU = kernels_root() / "npu"
ENTRIES = sorted(path.stem for path in NPU.glob("*.asc"))
ASCENDC_CMAKE = """
function(ascendc_library target type)
  file(WRITE "${CMAKE_BINARY_DIR}/kernels.txt" "${ARGN}")
  add_library(${target} INTERFACE)
endfunction()
"""
DECLARED = """#pragma once
#include <cstdint>
#define ACLRT_LAUNCH_KERNEL(kernel) aclrtlaunch_##kernel
extern "C" uint32_t aclrtlaunch_%s(uint32_t blockDim, void* stream%s);
"""


def registered() -> dict[str, tuple[OpSpec, KernelSpec]]:
    return {spec.entry: (op, spec) for op, spec in all_kernels(load_registry())}


def test_every_kernel_of_the_host_api_has_a_launcher() -> None:
    assert {entry for entry, (_, spec) in registered().items() if spec.id in kernels()} == set(ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_launcher_fits_its_kernel(entry: str) -> None:
    op, spec = registered()[entry]
    text = (NPU / f"{entry}.asc").read_text(encoding="utf-8")
    included = re.search(r'#include "(\.\./[^"]+\.cpp)"', text)
    assert included
    assert (NPU / included[1]).resolve() == spec.file.resolve()
    names = [one.name for one in op.arguments]
    # An address goes to the kernel as it is, a number by value.
    taken = r"(?:uint8_t\* const|const uint32_t) (\w+) = (?:static_cast<uint8_t\*>|(GnNumber))\(args\[(\d+)\]\);"
    by_value = ["GnNumber" if one.role == "value" else "" for one in op.arguments]
    found = re.findall(taken, text)
    assert found == [(name, how, str(at)) for at, (name, how) in enumerate(zip(names, by_value, strict=True))]
    assert f"{entry}<<<blocks, 0, stream>>>({', '.join(names)});" in text
    assert len(re.findall(r"args\[", text)) == len(names), "the table of launchers counts them"


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a build with CANN before 8.5, as far as CMake's first step."""
    toolkit, build = tmp_path_factory.mktemp("toolkit"), tmp_path_factory.mktemp("build")
    folder = toolkit / "tools" / "tikcpp" / "ascendc_kernel_cmake"
    folder.mkdir(parents=True)
    (folder / "ascendc.cmake").write_text(ASCENDC_CMAKE)
    environ = {**os.environ, "ASCEND_HOME_PATH": str(toolkit)}
    command = ["cmake", "-S", str(NPU / "cann8"), "-B", str(build)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return build


@needs_cmake
def test_cann_before_8_5_gets_the_same_kernels_and_launchers(older: Path) -> None:
    """Each compiles with a header as that release generates it: another number or kind of argument would not."""
    known = registered()
    given = [Path(one).resolve() for one in (older / "kernels.txt").read_text().split(";")]
    assert sorted(given) == sorted(known[entry][1].file.resolve() for entry in ENTRIES)
    for entry in ENTRIES:
        kinds = {"value": "uint32_t"}
        types = "".join(f", {kinds.get(one.role, 'void*')} {one.name}" for one in known[entry][0].arguments)
        (older / f"aclrtlaunch_{entry}.h").write_text(DECLARED % (entry, types))
        source = older / f"launch_{entry}.cpp"
        assert f"ACLRT_LAUNCH_KERNEL({entry})(blocks, stream, " in source.read_text()
    table = re.findall(r'\{"(\w+)", (\d+), gn_launch_\1\}', (older / "launchables.cpp").read_text())
    assert table == [(entry, str(len(known[entry][0].arguments))) for entry in ENTRIES]
    sources = [str(path) for path in [*older.glob("launch_*.cpp"), older / "launchables.cpp"]]
    folders = [f"-I{one}" for one in (NPU, older, STAND_IN)]
    done = subprocess.run(
        ["g++", "-std=c++20", "-Wall", "-Wextra", "-fsyntax-only", *folders, *sources],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
