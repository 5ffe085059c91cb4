"""How many files a reader passes: what a warm call of the course runs through, from the call to its answer.

    python benchmarks/files_passed.py [--json] [--trail CALL]

It counts the distinct files of gn_tutorial that a call enters, and the moves: how often a function is entered that
lies in another file than the function entered before it. Other packages and the functions that dataclasses generate do
not count. Every call is made twice and the second one is counted, when imports, builds and caches are done.
``--trail`` prints the files of one call in the order in which they are first entered.

"source to comparison" makes a kernel of a source file, runs it and compares its output with a reference. "wrong
output, shown" does the same with a reference that the output misses, and prints the comparison with its sentences and
the steps behind the first wrong element.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import gn_tutorial as gnt
from gn_tutorial.course.exercises.registry import load_course

PACKAGE = str(Path(gnt.__file__).parent) + os.sep


@dataclass
class Passed:
    """files: in the order in which they are first entered. moves: calls that enter another file than the last one."""

    files: list[str] = field(default_factory=list)
    moves: int = 0
    _last: str = ""

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Count one event; ``sys.setprofile`` calls this."""
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(PACKAGE):
            return
        self.moves += self._last not in ("", name)
        self._last = name
        if name not in self.files:
            self.files.append(name)

    def names(self) -> list[str]:
        """Return the files' paths inside the package."""
        return [one.removeprefix(PACKAGE) for one in self.files]


def passed(call: Callable[[], Any]) -> Passed:
    """Return the files that a warm call passes."""
    call()
    found = Passed()
    sys.setprofile(found)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def calls(folder: Path) -> dict[str, Callable[[], Any]]:
    """The measured calls, by name. folder: for the learner's files."""
    x = np.linspace(-4.0, 4.0, 2048, dtype=np.float32).reshape(8, 256)
    source = folder / "copy.cpp"
    source.write_text(COPY, encoding="utf-8")

    def compared(reference: np.ndarray) -> Any:
        return gnt.kernel(source).run(x, gnt.out(x.shape), blocks=1).compare(reference)

    exercise = next(one for one in load_course() if one.id == "03.1")
    attempt = folder / exercise.file
    attempt.parent.mkdir(parents=True)
    attempt.write_text(exercise.solution.read_text(encoding="utf-8"), encoding="utf-8")
    return {
        'gnt.kernel("silu")': lambda: gnt.kernel("silu"),
        'gnt.kernel("silu")(x)': lambda: gnt.kernel("silu")(x),
        "source to comparison": lambda: compared(x),
        "wrong output, shown": lambda: repr(compared(-x)),
        'gnt.check("03.1")': lambda: gnt.check("03.1"),
    }


COPY = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void copy(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 8192);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer((__gm__ float*)x);
  yGm.SetGlobalBuffer((__gm__ float*)y);
  LocalTensor<float> tile = queue.AllocTensor<float>();
  DataCopy(tile, xGm, 2048);
  queue.EnQue(tile);
  tile = queue.DeQue<float>();
  DataCopy(yGm, tile, 2048);
  queue.FreeTensor(tile);
}
"""


def main() -> None:
    """Measure, and print a line for each call."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--trail", default="", help="print the files of this call in order")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gnt-files-passed-") as name:
        os.environ |= {"GNT_EXERCISES_DIR": name, "GNT_DATA_DIR": f"{name}/data"}
        found = {one: passed(call) for one, call in calls(Path(name)).items() if chosen.trail in ("", one)}
    if chosen.json:
        print(json.dumps({one: {"files": len(way.files), "moves": way.moves} for one, way in found.items()}))
        return
    for one, way in found.items():
        print(f"{one:24} {len(way.files):3} files {way.moves:5} moves")
        if chosen.trail:
            print("\n".join(way.names()))


if __name__ == "__main__":
    main()
