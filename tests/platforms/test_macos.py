"""macOS, as far as it can be seen from here: the launcher, the watchers and kernels cross-compile and link for it.

Nothing of it is run: docs/platforms.md says so. zig has the system's headers and the symbols of its libraries.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from pathlib import Path

import pytest

from gn_tutorial.compiler import toolchain
from gn_tutorial.compiler.build import Built, build_kernel, build_launcher
from gn_tutorial.compiler.cache import Cache

KERNELS = Path(__file__).resolve().parents[2] / "kernels"

#: Numbers of mach-o/loader.h and mach/machine.h: the mark of a 64-bit file, its kinds, and the processors.
MAGIC, EXECUTABLE, LIBRARY = 0xFEEDFACF, 2, 6
CPU_TYPES = {"aarch64": 0x0100000C, "x86_64": 0x01000007}


def header(built: Built) -> tuple[int, int, int]:
    """Magic number, processor and type of a Mach-O file."""
    words = [int.from_bytes(built.library.read_bytes()[at : at + 4], "little") for at in (0, 4, 12)]
    return words[0], words[1], words[2]


@pytest.mark.zig
@pytest.mark.parametrize(("processor", "name"), [("aarch64", "arm64"), ("x86_64", "x86_64")])
def test_launcher_and_kernels_are_made_for_macos(
    use_zig: Callable[[], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, processor: str, name: str
) -> None:
    """With the flags that the package uses there, but for -mcpu=native, which means the processor of this machine."""
    use_zig()
    monkeypatch.setenv("GNT_CXX", f"{os.environ['GNT_CXX']} -target {processor}-macos")
    monkeypatch.setattr(toolchain, "ELF", False)
    monkeypatch.setattr(platform, "machine", lambda: name)
    monkeypatch.setattr(toolchain, "cpu_flag", lambda _: "-g0")
    cache = Cache(tmp_path)
    assert header(build_launcher(cache=cache)) == (MAGIC, CPU_TYPES[processor], EXECUTABLE)
    for source in ("copy/copy.cpp", "group_norm/group_norm_8_any.cpp"):
        for observed in (True, False):
            built = build_kernel(KERNELS / source, observed=observed, cache=cache)
            assert header(built) == (MAGIC, CPU_TYPES[processor], LIBRARY)
            assert b"_gnt_run" in built.library.read_bytes()
