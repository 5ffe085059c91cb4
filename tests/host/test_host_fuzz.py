"""Random calls of the host API: no crash, no call accepted that is not allowed, nothing written beside the outputs.

The API is built with AddressSanitizer where the compiler has it, and called in a process of its own:
``host_fuzz_child`` makes the calls, ``host_cases`` have the models that judge them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gn_tutorial import host
from gn_tutorial.compiler.toolchain import compiler_environment, find_compiler, host_flags
from gn_tutorial.host.c_library import operators

CHILD = Path(__file__).parents[1] / "support" / "host_fuzz_child.py"


def build(folder: Path, *flags: str, text: str | None = None) -> Path:
    """The host API compiled apart from the cache. -O0: it is compiled here at every run of the tests."""
    compiler = find_compiler()
    source, made = folder / "host.cpp", folder / "host.so"
    source.write_text(host.source_text() if text is None else text)
    own = [
        flag for flag in host_flags(compiler) if flag not in ("-O3", "-Og", "-Wl,-z,defs") and "-static-lib" not in flag
    ]
    search = [word for one in host.include_folders() for word in ("-I", str(one))]
    command = [*compiler.argv, str(source), "-o", str(made), *own, "-O0", "-g", *search, *flags]
    done = subprocess.run(command, capture_output=True, text=True, env=compiler_environment(), timeout=590, check=False)
    assert done.returncode == 0, done.stderr
    return made


def sanitizer() -> Path | None:
    """The run-time library of AddressSanitizer, which must come first in a Python that was built without it."""
    compiler = find_compiler()
    if compiler.name != "g++":
        return None
    asked = subprocess.run([*compiler.argv, "-print-file-name=libasan.so"], capture_output=True, text=True, check=False)
    path = Path(asked.stdout.strip())
    return path if path.is_absolute() else None


def fuzz(library: Path, count: int, seed: int, preload: Path | None) -> subprocess.CompletedProcess[str]:
    # Python itself gives memory back only in part; that is not looked for.
    extra = {"LD_PRELOAD": str(preload), "ASAN_OPTIONS": "detect_leaks=0"} if preload else {}
    command = [sys.executable, str(CHILD), str(library), str(count), str(seed)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **extra}, timeout=590, check=False
    )


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path | None]:
    """The host API with the sanitizer, and what to load before it."""
    host.build_kernels(observed=False)  # not under the sanitizer, where a compiler runs for minutes
    preload = sanitizer()
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"] if preload else []
    return build(tmp_path_factory.mktemp("host"), *flags), preload


# The API under the sanitizer takes a minute to build, and each seed another.
@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_calls(checked: tuple[Path, Path | None], seed: int) -> None:
    done = fuzz(checked[0], 500, seed, checked[1])
    assert done.returncode == 0, done.stderr[-4000:]
    came_to = json.loads(done.stdout)
    assert set(came_to) == set(operators())
    for name, counts in came_to.items():
        assert counts["compared"] > 80, name
        assert counts["PARAM_INVALID"] > 120, name
        assert counts["no descriptor"] > 40, name
        assert counts["PARAM_NULLPTR"] > 1, name
