"""Bare and observed libraries live side by side in one process and never mix."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.compiler.build import build_kernel
from gn_tutorial.errors import KernelFault

# Reads one element past its tensor: refused when observed, harmless in bare mode, where the next buffer follows.
OVERREAD = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void overread(GM_ADDR x, GM_ADDR y) {
  using namespace AscendC;
  TPipe pipe;
  TBuf<TPosition::VECCALC> first, second;
  pipe.InitBuffer(first, 32);
  pipe.InitBuffer(second, 32);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer((__gm__ float*)x, 8);
  yGm.SetGlobalBuffer((__gm__ float*)y, 8);
  LocalTensor<float> a = first.Get<float>();
  LocalTensor<float> b = second.Get<float>();
  DataCopy(a, xGm, 8);
  SetFlag<HardEvent::MTE2_S>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_S>(EVENT_ID0);
  b.SetValue(0, 7.0f);
  a.SetValue(0, a.GetValue(8));
  SetFlag<HardEvent::S_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);
  DataCopy(yGm, a, 8);
}
"""


def test_each_mode_keeps_its_own_checks_when_calls_alternate() -> None:
    kernel = gnt.kernel(source=OVERREAD)
    x = np.arange(3, 11, dtype=np.float32)
    for _ in range(2):
        bare = kernel.run(x, gnt.out((8,), np.float32), observed=False, isolated=False)
        assert bare.y[0] == 7.0
        assert np.array_equal(bare.y[1:], x[1:])
        assert bare.tally.mte2 == 0
        with pytest.raises(KernelFault) as refused:
            kernel.run(x, gnt.out((8,), np.float32), observed=True, isolated=False)
        assert [one.id for one in refused.value.diagnostics] == ["ub-index"]


def test_many_libraries_of_both_modes_answer_for_themselves() -> None:
    """Same entry name, same twin, other constants: a symbol shared between libraries would make two of them agree."""
    source = Path(gnt.kernel("copy").path).read_text()
    x = np.arange(5, 1005, dtype=np.float32)
    kernels = {tile: gnt.kernel(source=source.replace("kTile = 4096", f"kTile = {tile}")) for tile in (64, 128)}
    for tile, kernel in kernels.items():
        for observed in (True, False):
            result = kernel.run(x, gnt.out(x.shape, np.float32), x.size, isolated=False, observed=observed)
            assert np.array_equal(result.y, x)
            assert result.tally.mte2 == (-(-x.size // tile) if observed else 0)


@pytest.mark.parametrize("observed", [True, False])
def test_a_library_shows_only_its_three_entry_points(observed: bool) -> None:
    library = build_kernel(gnt.kernel("group_norm/scalar").path, observed=observed).library
    listed = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    assert names == {"gnt_run", "gnt_entries", "gnt_abi"}


def test_a_library_names_its_entries_and_its_interface() -> None:
    library = ctypes.CDLL(str(build_kernel(gnt.kernel("add").path).library))
    library.gnt_entries.restype = ctypes.c_char_p
    assert library.gnt_entries() == b"add_kernel\n"
    from gn_tutorial.abi import structs

    assert library.gnt_abi() == structs.ABI_VERSION << 16 | ctypes.sizeof(structs.GntJob)
