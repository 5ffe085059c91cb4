"""What the tests of commands share: ``gnt``, through the same ``main`` as the installed command, and a kernel file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import Gnt, Ran

from gn_tutorial.cli import app

MINE = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y, uint32_t n) {
  AscendC::GlobalTensor<int32_t> in, out;
  in.SetGlobalBuffer((__gm__ int32_t*)x, n);
  out.SetGlobalBuffer((__gm__ int32_t*)y, n);
  for (uint32_t i = 0; i < n; ++i) out.SetValue(i, 2 * in.GetValue(i));
  AscendC::printf("n is %u\\n", n);
}
"""


@pytest.fixture
def gnt(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Gnt:
    """Run ``gnt`` with these words."""
    # What an earlier test left: every run below would then make all commands ready, which no process of a learner does.
    vars(app).pop("app", None)

    def run(*words: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["gnt", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            app.main()
        return Ran(caught.value.code or 0, *capfd.readouterr())

    return run


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A learner's file with one kernel, ``twice``, in its line 6."""
    path = tmp_path / "mine.cpp"
    path.write_text(MINE)
    return path
