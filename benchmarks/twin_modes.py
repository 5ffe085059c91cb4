"""What the twin costs: bare against a plain loop, observed against bare, launches, compilation.

    python benchmarks/twin_modes.py [--json]

Ratios are of the least times over interleaved runs of one process: a median says how busy the machine is, as a longer
launch is interrupted more often. Instructions and the scalar kernel are measured in processor time, which hardly
depends on what else runs; the cost of one instruction is that of many in a launch, less a launch without any.

The targets are those the twin is designed for: bare at most 1.5 times a plain compiled loop with the same staging (Add
over 4 Mi floats, tiles of 2048); observed at most 1.5 times bare from 1024 elements per instruction on, and at most 100
ns more per instruction below; a kernel of scalar accesses at most 4 times bare. An instruction that a processor does
in 40 ns for 1024 elements (a sum of two tensors) comes closest to the first: looking the call up in the call cache and
rechecking it costs 10 to 20 ns. A copy from or to global memory costs more, 50 to 80 ns with its flags: little where
the memory has to be waited for, as in the staging, but beyond the target where 1024 or 4096 elements are in the
processor's cache already, which takes 60 or 220 ns by itself.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import gn_tutorial as gnt
from gn_tutorial.compiler.build import build_host_library
from gn_tutorial.compiler.cache import Cache

HERE = Path(__file__).parent
ADD_ELEMENTS = 4 << 20
TILES = (256, 1024, 4096)
RUNS = 31
# In the order of instruction_cost.cpp's Operation. For the queue, one instruction is four calls without elements.
INSTRUCTIONS = (
    "Add float",
    "Muls half",
    "ReduceSum float",
    "Cast float to half",
    "Add, mask and repeat",
    "Add, repeats of one",
    "Add, 48 of 64 lanes",
    GAPS := "Add, gaps between blocks",
    "Add, every second lane",
    ROWS := "Muls, rows of a tile",
    "ReduceMax float",
    "Compare float",
    "Select float",
    "Gather float",
    "Brcb float",
    "copy inside the UB",
    COPIES := "copies in and out",
    QUEUE := "queue: four calls",
    SCALARS := "GetValue loop",
)

# A buffer of 32 KiB has room for 4096 elements with a block between each two. Rows are those of 1024 elements.
COUNTS = {QUEUE: (0,), GAPS: (64, 256, 1024), ROWS: (64,)}
INSTRUCTIONS_EACH_TIME = {ROWS: 16, COPIES: 2}
# Floats of global memory: those that stay in the processor's cache, and those of the staging.
ELEMENTS = {COPIES: (8192, ADD_ELEMENTS)}

# The staging of kernels/add without any twin: copy a tile of each input in, add, copy the tile out.
PLAIN_ADD = """
#include <stdint.h>
#include <string.h>
extern "C" __attribute__((visibility("default")))
void plain_add(const float* x, const float* y, float* z, uint64_t n) {
  alignas(64) static float a[2048], b[2048], c[2048];
  for (uint64_t at = 0; at < n; at += 2048) {
    const uint64_t count = n - at < 2048 ? n - at : 2048;
    memcpy(a, x + at, count * sizeof(float));
    memcpy(b, y + at, count * sizeof(float));
    for (uint64_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
    memcpy(z + at, c, count * sizeof(float));
  }
}
"""


def interleaved(*actions) -> list[float]:
    """Return each action's least seconds over RUNS rounds; an action returns its seconds, and runs once in a round."""
    for action in actions:
        action()
    rounds = [[action() for action in actions] for _ in range(RUNS)]
    return [min(column) for column in zip(*rounds, strict=True)]


def timed(function) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def processor_time(function) -> float:
    begin = time.thread_time()
    function()
    return time.thread_time() - begin


def add_staging() -> dict[str, float]:
    """Return seconds of Add over 4 Mi floats: plain loop, bare twin, observed twin."""
    rng = np.random.default_rng(1)
    x, y = (rng.normal(size=ADD_ELEMENTS).astype(np.float32) for _ in range(2))
    z = np.empty_like(x)
    plain = ctypes.CDLL(str(build_host_library(PLAIN_ADD).library)).plain_add
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, y, z)]
    add = gnt.kernel("add")
    run = {
        mode: lambda observed=mode: add(x, y, blocks=1, isolated=False, observed=observed).seconds
        for mode in (False, True)
    }
    seconds = interleaved(lambda: timed(lambda: plain(*pointers, ctypes.c_uint64(ADD_ELEMENTS))), run[False], run[True])
    return dict(zip(("plain", "bare", "observed"), seconds, strict=True))


def tiles() -> list[dict[str, float]]:
    """Return seconds of Add over 4 Mi floats with other tiles. A tile has three copies, an Add, twelve queue calls."""
    text = gnt.kernel("add").path.read_text()
    assert "kTile = 2048" in text
    x = np.random.default_rng(1).normal(size=ADD_ELEMENTS).astype(np.float32)
    y, z = x[::-1].copy(), gnt.out((ADD_ELEMENTS,), np.float32)

    def seconds(add: gnt.Kernel, observed: bool) -> float:
        return add.run(x, y, z, ADD_ELEMENTS, blocks=1, isolated=False, observed=observed).seconds

    rows = []
    for tile in track(TILES, description="tiles", console=Console(stderr=True)):
        add = gnt.kernel(source=text.replace("kTile = 2048", f"kTile = {tile}"))
        bare, observed = interleaved(*(functools.partial(seconds, add, mode) for mode in (False, True)))
        rows.append({"tile": tile, "bare": bare, "observed": observed})
    return rows


def instructions() -> list[dict[str, float | str | int]]:
    """Return nanoseconds per instruction, bare and observed, over the number of elements."""
    kernel = gnt.kernel(HERE / "instruction_cost.cpp")

    def launched(memory: np.ndarray, code: int, count: int, observed: bool, repetitions: int) -> float:
        values = (gnt.inout(memory), memory.size, code, count, repetitions)
        return processor_time(lambda: kernel.run(*values, blocks=1, isolated=False, observed=observed))

    rows = []
    cases = [
        (code, name, elements, count)
        for code, name in enumerate(INSTRUCTIONS)
        for elements in ELEMENTS.get(name, (8,))
        for count in COUNTS.get(name, (64, 256, 1024, 4096))
    ]
    for code, name, elements, count in track(cases, description="instructions", console=Console(stderr=True)):
        at_once = INSTRUCTIONS_EACH_TIME.get(name, 1)
        memory = np.zeros(elements, np.float32)
        many = 8_000_000 // (count + 200) // at_once
        none, bare, watched_none, watched = interleaved(
            *(
                functools.partial(launched, memory, code, count, observed, repetitions)
                for observed in (False, True)
                for repetitions in (0, many)
            )
        )
        per_instruction = 1e9 / many / at_once
        rows.append(
            {
                "instruction": f"{name}, {elements >> 8} KiB" if name in ELEMENTS else name,
                "elements": count,
                "bare_ns": (bare - none) * per_instruction,
                "observed_ns": (watched - watched_none) * per_instruction,
            }
        )
    return rows


def scalar_kernel() -> dict[str, float]:
    """Return seconds of the scalar GroupNorm kernel, bare and observed; it accesses every element by itself."""
    kernel = gnt.kernel("group_norm/scalar")
    x = np.random.default_rng(2).normal(size=(4, 32, 64, 64)).astype(np.float32)
    few = x[:, :, :1, :1].copy()  # what a call costs besides its elements

    def seconds(x: np.ndarray, observed: bool) -> float:
        return processor_time(lambda: kernel(x, num_groups=8, blocks=4, isolated=False, observed=observed))

    actions = (functools.partial(seconds, which, observed) for observed in (False, True) for which in (few, x))
    bare_call, bare, observed_call, observed = interleaved(*actions)
    return {"bare": bare - bare_call, "observed": observed - observed_call}


def launches() -> dict[str, float]:
    """Return wall seconds from Python of one small launch (copy of 4 KiB, one block), and of compiling a kernel."""
    x = np.arange(1024, dtype=np.float32)
    copy = gnt.kernel("copy")
    bare = {"isolated": False, "observed": False}
    isolated, registered, plain = interleaved(
        lambda: timed(lambda: copy(x, blocks=1)),
        lambda: timed(lambda: [copy(x, blocks=1, **bare) for _ in range(100)]) / 100,
        lambda: timed(lambda: [copy.run(x, y=gnt.out(1024), n=1024, blocks=1, **bare) for _ in range(100)]) / 100,
    )
    from gn_tutorial.compiler.build import build_kernel

    path = gnt.kernel("group_norm/scalar").path
    with tempfile.TemporaryDirectory() as folder:
        empty = [Cache(Path(folder) / str(i)) for i in range(3)]
        compiled = [timed(functools.partial(build_kernel, path, cache=cache)) for cache in empty]
    looked_up = statistics.median(timed(lambda: build_kernel(path)) for _ in range(RUNS))
    return {
        "isolated": isolated,
        "in_process_bare_call": registered,
        "in_process_bare_run": plain,
        "compile": statistics.median(compiled),
        "cached_build": looked_up,
    } | prepared()


def prepared() -> dict[str, float]:
    """Return wall seconds of one in-process call whose arguments stay the same (bare, one block, 4 KiB)."""
    from gn_tutorial.abi import structs
    from gn_tutorial.runtime.in_process import Prepared
    from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

    copy = gnt.kernel("copy")
    x = np.arange(1024, dtype=np.float32)
    args = [
        LaunchArg("x", structs.ArgKind.TENSOR, structs.Role.IN, x),
        LaunchArg("y", structs.ArgKind.TENSOR, structs.Role.OUT, np.empty_like(x)),
        LaunchArg("n", structs.ArgKind.VALUE, structs.Role.IN, np.uint32(1024).tobytes()),
    ]
    call = Prepared(copy.build(observed=False).library, LaunchRequest(entry="copy_kernel", args=args))
    (seconds,) = interleaved(lambda: timed(lambda: [call() for _ in range(100)]) / 100)
    return {"prepared_bare_call": seconds}


def within_target(elements: int, bare_ns: float, observed_ns: float, calls: int = 1) -> bool:
    """Whether observing ``calls`` calls of so many elements costs no more than the twin's target."""
    return observed_ns <= 1.5 * bare_ns if elements >= 1024 else observed_ns - bare_ns <= 100 * calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    as_json = parser.parse_args().json
    staging, tiled, cost, scalar, start = add_staging(), tiles(), instructions(), scalar_kernel(), launches()
    if as_json:
        everything = {"add": staging, "tiles": tiled, "instructions": cost, "scalar_kernel": scalar, "launch": start}
        print(json.dumps(everything, indent=2))
        return
    console = Console()
    table = Table("Add, 4 Mi floats", "ms", "ratio", "target")
    table.add_row("plain loop", f"{staging['plain'] * 1e3:.2f}", "", "")
    table.add_row(
        "bare twin", f"{staging['bare'] * 1e3:.2f}", f"{staging['bare'] / staging['plain']:.2f} x plain", "1.5"
    )
    table.add_row(
        "observed twin",
        f"{staging['observed'] * 1e3:.2f}",
        f"{staging['observed'] / staging['bare']:.2f} x bare",
        "1.5",
    )
    console.print(table)
    table = Table("Add, tiles of", "bare ns a tile", "observed ns", "ratio", "more ns", "within target")
    for row in tiled:
        bare, observed = (row[mode] * 1e9 / (ADD_ELEMENTS / row["tile"]) for mode in ("bare", "observed"))
        good = within_target(row["tile"], bare, observed, calls=16)
        cells = (row["tile"], f"{bare:.0f}", f"{observed:.0f}", f"{observed / bare:.2f}", f"{observed - bare:.0f}")
        table.add_row(*map(str, cells), "yes" if good else "NO")
    console.print(table)
    table = Table("instruction", "elements", "bare ns", "observed ns", "ratio", "more ns", "within target")
    for row in cost:
        bare, observed = row["bare_ns"], row["observed_ns"]
        if row["instruction"] == SCALARS:
            good = observed <= 4 * bare
        else:
            good = within_target(row["elements"], bare, observed, calls=4 if row["instruction"] == QUEUE else 1)
        cells = (
            row["instruction"],
            row["elements"],
            f"{bare:.0f}",
            f"{observed:.0f}",
            f"{observed / bare:.2f}",
            f"{observed - bare:.0f}",
        )
        table.add_row(*map(str, cells), "yes" if good else "NO")
    console.print(table)
    table = Table("kernel", "bare ms", "observed ms", "ratio", "target")
    ratio = scalar["observed"] / scalar["bare"]
    table.add_row(
        "group_norm/scalar",
        f"{scalar['bare'] * 1e3:.2f}",
        f"{scalar['observed'] * 1e3:.2f}",
        f"{ratio:.2f} x bare",
        "4",
    )
    console.print(table)
    table = Table("from Python", "ms")
    for name, seconds in start.items():
        table.add_row(name.replace("_", " "), f"{seconds * 1e3:.3f}")
    console.print(table)


if __name__ == "__main__":
    main()
