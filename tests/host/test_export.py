"""The folder for C programs: the header is C99, the example compiles without a warning and computes what it should."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gn_tutorial import reference
from gn_tutorial.errors import ArgumentError
from gn_tutorial.host import c_library
from gn_tutorial.host.c_library import kernels
from gn_tutorial.operators.registry import find_kernel, kernels_root

CC = shutil.which("cc") or shutil.which("gcc")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
needs_c = pytest.mark.skipif(CC is None, reason="no C compiler on this machine")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("host") / "for c"
    names = [path.name for path in c_library.export(made)]
    headers = {path.name for path in (kernels_root() / "host_api").glob("gn_*.h")}
    assert {"gn_host_api.h", "gn_group_norm.h"} <= headers
    libraries = {f"{find_kernel(name)[1].entry}.so" for name in kernels()}
    assert names == sorted({"example.c", "gn_host_twin.h", "libgn_host.so"} | headers | libraries)
    assert sorted(path.name for path in made.iterdir()) == names
    return made


def compiled(folder: Path, source: Path, name: str) -> Path:
    made = folder / name
    command = [str(CC), *STRICT, str(source), "-o", str(made), f"-I{folder}", f"-L{folder}", "-lgn_host"]
    done = subprocess.run([*command, "-Wl,-rpath,$ORIGIN", "-pthread"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return made


@needs_c
def test_the_example_compiles_and_computes(folder: Path) -> None:
    done = subprocess.run(
        [compiled(folder, folder / "example.c", "example")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    numbers = {name: np.array(rest.split(), float) for name, _, rest in (line.partition(":") for line in lines[:3])}
    x = np.array([1, 2, 4, 8, 9, 6, -3, 0, 2, 5, 5, 1], float).reshape(1, 4, 3)
    right = reference.group_norm(x, np.array([1, 2, 1, 0.5]), num_groups=2)
    for name, expected in zip(("y", "mean", "rstd"), right, strict=True):
        np.testing.assert_allclose(numbers[name], expected.ravel(), atol=6e-5)
    assert lines[3:] == [
        "refused with 161002: C is 4, which group = 3 does not divide",
        "  where: GroupNormGetWorkspaceSize",
        "  hint:  choose a divisor of C",
    ]


@needs_c
def test_the_printed_command_is_right(folder: Path) -> None:
    command = c_library.compile_command(folder)
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), command
    assert done.stdout.startswith("y: ")


GATED = r"""
#include <pthread.h>
#include <stdio.h>

#include "gn_host_api.h"
#include "gn_host_twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int opened, passed;

static void wait_for_it(void* args) {
  (void)args;
  pthread_mutex_lock(&mutex);
  while (!opened) pthread_cond_wait(&changed, &mutex);
  passed = 1;
  pthread_mutex_unlock(&mutex);
}

int main(int count, char** words) {
  GnStream* stream = NULL;
  if (GnCreateStream(&stream) || GnLaunchHostFunc(stream, wait_for_it, NULL)) return 1;
  pthread_mutex_lock(&mutex);
  printf("%d ", passed);
  opened = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  if (GnSynchronizeStream(stream)) return 2;
  printf("%d ", passed);
  printf("%d\n", (int)GnTwinUseKernel(stream, "group_norm_any", count > 1 ? words[1] : NULL));
  return GnDestroyStream(stream) != GN_SUCCESS || GnDestroyStream(stream) != GN_ERR_PARAM_INVALID;
}
"""


@needs_c
def test_a_c_program_waits_and_names_kernels(folder: Path) -> None:
    source = folder.parent / "gated.c"
    source.write_text(GATED)
    program = compiled(folder, source, "gated")
    for words, last in (
        ([str(folder / "strided_copy.so")], "0"),
        ([str(folder / "absent.so")], "561003"),
        ([str(folder / "libgn_host.so")], "561003"),
        ([], "161001"),
    ):
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, f"0 1 {last}\n")


def test_the_command_writes_the_folder_and_says_what_to_do(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gn_tutorial", "host-library", str(tmp_path / "made"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    # A line says that work goes on where that takes two seconds, which it does on a busy machine.
    assert done.stderr in ("", "gnt: compiling the host API and its kernels ...\n")
    said = json.loads(done.stdout)
    assert {Path(one).name for one in said["files"]} >= {"gn_host_api.h", "libgn_host.so", "group_norm_any.so"}
    assert all(Path(one).is_file() for one in said["files"])
    assert said["compile"].startswith("cd ")


def test_a_folder_that_cannot_be_made_is_an_error_and_not_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArgumentError, match="folder cannot be written"):
        c_library.export(tmp_path / "file" / "inside")
