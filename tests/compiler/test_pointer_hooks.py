"""Assembly in which the learner's accesses to memory call the twin, and a launch with another compiler than g++."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.compiler import pointer_hooks
from gn_tutorial.errors import KernelFault

TWIN = Path("/twin")
SET = {"x86_64": "\tmovl\t${number}, %{to}", "aarch64": "\tmov\t{to}, {low}\n\tmovk\t{to}, {high}, lsl 16"}
REGISTERS = {"x86_64": ("esi", "edx", "ecx"), "aarch64": ("w1", "w2", "w3")}
CALL = {"x86_64": ("\tcall\t{}@PLT", "\tcall\t{}"), "aarch64": ("\tbl\t{}", "\tbl\t{}")}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_calls_of_the_learners_lines_get_the_line_and_others_go(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pointer_hooks.platform, "machine", lambda: machine)
    before, after = CALL[machine]

    def sets(argument: int, number: int) -> str:
        to = REGISTERS[machine][argument - 1]
        return SET[machine].format(to=to, number=number, low=number & 0xFFFF, high=number >> 16)

    text = [
        '\t.file 1 "/home/k.cpp"',
        '\t.file\t2 "/twin" "tensor.h" md5 0x0123',
        '\t.file 3 "/usr/include/algorithm"',
        "\t.cfi_startproc",
        before.format("__tsan_read4"),  # no line yet
        "\t.loc 1 70000 3 is_stmt 0",
        before.format("__tsan_read4"),
        before.format("__tsan_unaligned_write8"),
        "\t.loc 3 9 1",
        before.format("__tsan_write_range"),
        before.format("memcpy"),
        before.format("other"),
        "\t.loc\t2 5 1",
        before.format("__tsan_read8"),
        before.format("__tsan_memset"),
        before.format("memcpy"),
    ]
    site = 1 << 20 | 70000
    wanted = [
        *text[:4],
        text[5],
        *(sets(1, 4), sets(2, site), after.format("gnt_pointer_load")),
        *(sets(1, 8), sets(2, site), after.format("gnt_pointer_store")),
        text[8],
        *(sets(2, site), after.format("gnt_pointer_store")),
        *(sets(3, site), after.format("gnt_pointer_copy")),
        text[11],
        text[12],
        after.format("memset"),
        after.format("memcpy"),
    ]
    made = pointer_hooks.with_sites("\n".join(text).encode(), lambda path: path == Path("/home/k.cpp"), TWIN).decode()
    head, _, table = made.partition("\t.section\t.data.rel.ro.local")
    assert head.splitlines() == "\n".join(wanted).splitlines()
    assert '.Lgnt_path_0:\n\t.string\t"/home/k.cpp"\n' in table


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("clang++") is None, reason="needs clang++")
@pytest.mark.parametrize("optimise", [True, "little", False])
def test_clang_reports_each_access_of_a_loop(optimise: bool | str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNT_CXX", "clang++")
    source = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void sums(GM_ADDR x, GM_ADDR y, uint32_t n) {
  __gm__ float* out = (__gm__ float*)y;
  out[0] = 0.0f;
  for (uint32_t i = 0; i < n; ++i)
    out[0] += ((__gm__ float*)x)[i];
}
"""
    x = np.arange(100, dtype=np.float32)
    kernel = gnt.kernel(source=source, optimise=optimise)
    done = kernel.run(x, gnt.out(1, np.float32), 100, isolated=False)
    assert done.y[0] == x.sum()
    with pytest.raises(KernelFault) as fault:
        kernel.run(x, gnt.out(1, np.float32), 101)
    assert {(one.id, one.line) for one in fault.value.diagnostics} == {("gm-out-of-bounds", 6)}
