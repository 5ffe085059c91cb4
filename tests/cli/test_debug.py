"""``gnt debug``: a real gdb stops in the kernel, at its own lines, with its variables."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gn_tutorial.cli.commands.debug import command
from gn_tutorial.errors import ArgumentError, RegistryError

TWO = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void first(GM_ADDR x, uint32_t n) {
  uint32_t doubled = n + n;
  AscendC::printf("%u", doubled);
}
extern "C" __global__ __aicore__ void second(GM_ADDR x, uint32_t n) {}
"""


def gdb(words: list[str], *then: str) -> str:
    batch = [words[0], "-batch", *words[1 : words.index("--args")]]
    for one in then:
        batch += ["-ex", one]
    done = subprocess.run([*batch, *words[words.index("--args") :]], capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


needs_gdb = pytest.mark.skipif(shutil.which("gdb") is None, reason="no gdb on this machine")


@needs_gdb
def test_gdb_stops_in_a_registered_kernel() -> None:
    told = gdb(command("add", ["--shape", "100", "--blocks", "1"], stop="Add::Compute"), "backtrace 2", "print count")
    assert "Add::Compute" in told
    assert "add.cpp:" in told
    assert "$1 = 100" in told


@needs_gdb
def test_gdb_stops_at_a_line_of_a_learners_file(tmp_path: Path) -> None:
    source = tmp_path / "two.cpp"
    source.write_text(TWO)
    words = command(str(source), ["--entry", "first", "--arg", "x=float32[8]", "--arg", "n=21"], stop="two.cpp:5")
    assert "$1 = 42" in gdb(words, "print doubled")


def test_the_entry_is_where_it_stops_by_itself(tmp_path: Path) -> None:
    assert "break copy_kernel" in command("copy", [])
    source = tmp_path / "two.cpp"
    source.write_text(TWO)
    assert "break second" in command(str(source), ["--entry", "second"])
    with pytest.raises(ArgumentError, match="several kernels"):
        command(str(source), [])
    with pytest.raises(RegistryError, match="no file"):
        command(str(tmp_path / "none.cpp"), [])


def test_without_a_terminal_it_says_so_and_prints_on_request() -> None:
    gnt = [sys.executable, "-m", "gn_tutorial", "debug", "copy", "--shape", "10"]
    refused = subprocess.run(gnt, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "Traceback" not in refused.stderr
    printed = subprocess.run([*gnt, "--print"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert shlex.split(printed.stdout)[0] == "gdb"
    assert "--unoptimised" in printed.stdout
