"""06.3: how much step 4 of GroupNorm saves."""

from __future__ import annotations

import functools

import numpy as np

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.profiler.profile import Profile, profile

_SHAPE, _GROUPS = (12, 32, 100, 100), 4  # as the exercise's text says


@functools.cache
def _step(name: str) -> Profile:
    x = np.ones(_SHAPE, np.float32)
    return profile(f"group_norm/{name}", x, num_groups=_GROUPS)


def _reductions(name: str) -> int:
    """Return the ReduceSum instructions of one group: every core has one group."""
    return sum(event.op == "ReduceSum" for event in _step(name).trace.blocks[0])


def _copies_of_x(name: str) -> int:
    """Return the copies of x from global memory for one group."""
    copies = (event for event in _step(name).trace.blocks[0] if event.pipe is Pipe.MTE2)
    return sum(any(operand.argument == "x" for operand in event.operands) for event in copies)


_ADDS = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void adds(int32_t n, int32_t at_once) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 2 * 6400 * sizeof(float));
  AscendC::LocalTensor<float> a = buffer.Get<float>(), b = a[6400];
  AscendC::Duplicate(a, 1.5f, 6400);
  for (int32_t i = 0; i < n; i += at_once) AscendC::Adds(b[i], a[i], 1.5f, at_once);
}
"""


@functools.cache
def _adds_cycles(at_once: int) -> float:
    """Return the cycles of V for 6400 floats, with ``at_once`` floats an instruction."""
    found = profile(kernel(source=_ADDS), 6400, at_once, blocks=1)
    return sum(span.cycles for span in found.timeline.of(0, Pipe.V) if span.op == "Adds")


CHECK = PredictChecker(
    (
        Prediction(
            "reductions_step3",
            "reductions of one group in step 3",
            lambda: _reductions("double_buffered"),
            {
                14: "That is one pass; both sums reduce each tile",
                26: "80000 / 6144 is a little more than 13; the tail is a tile too",
                13: "That is one pass, and without the tail",
                27: "Each of the two passes has a tail",
                1344: "That is all 48 groups; one is asked for",
                42: "The third pass writes the result, and reduces nothing",
                16: "Those are the tiles channel by channel, as in the last pass; the sums read the group as a whole",
                32: "The sums read the group as a whole: no tile ends where a channel ends",
                2: "Step 3 reduces each tile, not the group once",
                29: "The root is no reduction: it is an instruction on one number",
            },
            rule="Two sums, and one reduction of each for every tile of the group, the tail included",
        ),
        Prediction(
            "reductions_step4",
            "reductions of one group in step 4",
            lambda: _reductions("vectorised"),
            {
                2: "The two accumulators are; and where does the pivot come from?",
                1: "There are two sums, and the pivot",
                14: "That is one for each tile: step 4 adds tiles to its accumulators",
                28: "That is two for each tile: step 4 adds tiles to its accumulators",
                144: "That is all 48 groups; one is asked for",
                4: "The root is no reduction: it is an instruction on one number",
                15: "Only the first tile is reduced, for the pivot; the others are added to the accumulators",
                16: "Only the first tile is reduced, for the pivot; the others are added to the accumulators",
                30: "Only the first tile is reduced, for the pivot; the others are added to the accumulators",
            },
            rule="One for each accumulator at the end, and those for the pivot; adding a tile takes none",
        ),
        Prediction(
            "bytes_in_step4",
            "bytes that the copies of step 4 bring into the Unified Buffers, all cores together",
            lambda: _step("vectorised").tally.bytes_in,
            {
                30_720_000: "That is x twice. gamma and beta come in too: all channels, once for each core",
                30_720_256: "Each of the 48 cores has a Unified Buffer of its own, and brings gamma and beta into it",
                30_723_072: "A core copies gamma and beta of all 32 channels, not only of its group",
                30_726_144: "There are two of them: gamma and beta",
                15_360_000: "That is x once: for the statistics. And for the result?",
                15_372_288: "That is x once: for the statistics. And for the result?",
                46_080_000: "That is x three times, as in step 3; both sums come from one pass now",
                46_092_288: "That is x three times, as in step 3; both sums come from one pass now",
                7_680_000: "That is in floats; a float has 4 bytes",
                640_000: "That is one group; there are 48",
                320_000: "That is one group, read once; there are 48, and the result needs x again",
                3_840_000: "That is x once, in floats; it comes twice, and a float has 4 bytes",
                11_520_000: "That is x three times, in floats; one pass takes both sums, and a float has 4 bytes",
                61_440_000: "That is x four times; one pass takes both sums, and one writes the result",
            },
            rule="The bytes of x, times the passes; and gamma and beta of all channels, once for each core",
        ),
        Prediction(
            "copies_in_step4",
            "copies of x from global memory into the Unified Buffer in step 4, of one group",
            lambda: _copies_of_x("vectorised"),
            {
                28: "In the last pass a tile never reaches into the next channel, unless it holds whole channels",
                14: "That is the first pass; the last one copies x once more",
                22: "A channel has 10000 elements: it does not fit into a tile",
                44: "Both sums come from one pass",
                16: "That is the last pass; the first one copies x too",
                32: "The first pass reads the group as a whole: there a tile may reach into the next channel",
                31: "The pivot comes from the first tile while it is in the Unified Buffer: it is copied only once",
                29: "80000 / 6144 is a little more than 13; the tail is a tile too",
                1440: "That is all 48 groups; one is asked for",
            },
            rule="The tiles of the group in the first pass, and the tiles of each of its channels in the last one",
        ),
        Prediction(
            "hundred_cycles",
            "modelled cycles of V for 100 Adds instructions on 64 floats each; within 4 % is right",
            lambda: _adds_cycles(64),
            {
                122.0: "That is one instruction on 6400 floats; there are 100, and each pays its fixed cycles",
                100.0: "That is the repeats alone; each instruction has 22 fixed cycles as well",
                2200.0: "That is the fixed cycles alone; each instruction has a repeat as well",
                8600.0: "A repeat takes 64 floats at once, not one",
                12200.0: "That is 100 instructions on 6400 floats each; each has 64",
                23.0: "That is one instruction; there are 100",
            },
            above="A hundred times the fixed cycles and the repeats of one: how many repeats are 64 floats?",
            below="Each of the 100 instructions pays its fixed cycles, and has a repeat",
            within=0.04,
        ),
        Prediction(
            "one_cycles",
            "modelled cycles of V for one Adds on 6400 floats; within 5 % is right",
            lambda: _adds_cycles(6400),
            {
                2300.0: "It is one instruction: its fixed cycles are paid once",
                100.0: "That is the repeats alone; the instruction has 22 fixed cycles as well",
                6422.0: "A repeat takes 64 floats at once",
                23.0: "That is one repeat; 6400 floats are 100",
                22.0: "That is the fixed cycles alone; 6400 floats are 100 repeats",
                6400.0: "A repeat takes 64 floats at once",
            },
            above="One instruction pays its fixed cycles once, and a repeat takes 64 floats",
            below="Fixed cycles once, and a cycle for each of the repeats: how many are 6400 floats?",
            within=0.05,
        ),
    )
)
