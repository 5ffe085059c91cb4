"""Blocks of a bare launch on several threads: the bits, the text and the words of one, and two at a time."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.errors import ArgumentError, KernelCrash, KernelFault

# Above 4 MiB: below, a launch is not worth a thread.
ELEMENTS = 3 << 19
HEAD = """
#include <stdio.h>
#include <stdexcept>
#include "kernel_operator.h"
using namespace AscendC;
// Some work that takes longer in the first blocks, so that on several threads the others would come first.
inline void Work(int block) {
  volatile uint64_t sum = 0;
  for (int i = 0; i < 400000 / (block + 1); ++i) sum = sum + static_cast<uint64_t>(i);
}
"""
LOCAL = """
  const int b = GetBlockIdx(), n = GetBlockNum();
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 8192);
  LocalTensor<float> local = buffer.Get<float>();
  LocalTensor<int32_t> words = buffer.Get<int32_t>();
  GlobalTensor<float> in, out;
  GlobalTensor<int32_t> flags;
  in.SetGlobalBuffer((__gm__ float*)x);
  out.SetGlobalBuffer((__gm__ float*)y);
  flags.SetGlobalBuffer((__gm__ int32_t*)f);
"""


ATOMIC = """
  Work(b);
  DataCopy(local, in[b * 512], 512);
  SetAtomicAdd<float>();
  DataCopy(out, local, 512);
  SetAtomicNone();
"""
# Each block sums what all of them wrote before the barrier, twice.
BARRIERS = """
  for (int round = 0; round < 2; ++round) {
    Work(b);
    DataCopy(local, in[(round * n + b) * 512], 512);
    if (round == 1) { DataCopy(local[512], out[(b + 1) % n * 512], 512); Add(local, local, local[512], 512); }
    SyncAll();
    DataCopy(out[b * 512], local, 512);
    SyncAll();
  }
"""
# From the last block to the first, and then in turn.
CHAIN = """
  Work(b);
  if (b + 1 < n) IBWait(flags, words, b + 1, 0);
  out.SetValue(b, b + 1 < n ? 2 * out.GetValue(b + 1) + 1 : 1);
  if (b > 0) IBSet(flags, words, b, 0);
"""
COUNT = """
  Work(b);
  InitDetermineComputeWorkspace(flags, words);
  WaitPreBlock(flags, words);
  const int at = static_cast<int>(out.GetValue(0));
  out.SetValue(0, at + 1);
  out.SetValue(1 + at, b);
  NotifyNextBlock(flags, words);
"""
# The last block waits for an earlier one that stores atomically: by reading global memory again and again.
POLL = """
  Work(b);
  if (b + 1 < n) {
    Duplicate(words, 1, 8);
    SetAtomicAdd<int32_t>();
    DataCopy(flags, words, 8);
    SetAtomicNone();
  } else {
    do { DataCopy(words, flags, 8); } while (words.GetValue(0) != n - 1);
    out.SetValue(0, 77);
  }
"""


BOTH = """
  volatile int32_t* mine = reinterpret_cast<volatile int32_t*>(f) + 16 * b;
  __atomic_store_n(mine, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(reinterpret_cast<volatile int32_t*>(f) + 16 * (1 - b), __ATOMIC_SEQ_CST) == 0) {}
  out.SetValue(b, b + 1);
"""
PRINT = """
  Work(b);
  AscendC::printf("block %d begins\\n", b);
  Work(b);
  AscendC::printf("block %d ends\\n", b);
"""
FREED = """
  struct Told { ~Told() { fputs("freed\\n", stdout); fflush(stdout); } };
  Told told;
  if (b == 7) assert(false);
  SyncAll();
"""
DEEP = """
  struct Deep {
    static int Down(int n) {
      volatile char room[4096];
      room[n % 4096] = 1;
      return n < 0 ? 0 : Down(n + 1) + room[7];
    }
  };
  if (b == 5) out.SetValue(0, Deep::Down(0));
  Work(0);
"""
# How many elements of y are not poison when the block begins.
POISON = """
  const float* const all = reinterpret_cast<const float*>(y);
  int others = 0;
  for (int i = 0; i < (3 << 19); ++i) others += all[i] == all[i] ? 1 : 0;
  flags.SetValue(16 * b, others + 1);
"""
BODIES = {
    "poison": POISON,
    "atomic": ATOMIC,
    "barriers": BARRIERS,
    "chain": CHAIN,
    "turns": COUNT,
    "poll": POLL,
    "both": BOTH,
    "print": PRINT,
    "freed": FREED,
    "deep": DEEP,
    "sync-all-deadlock": "Work(b); if (b != 3) SyncAll();",
    "block-wait-deadlock": "Work(b); if (b == 2) IBWait(flags, words, 5, 0);",
    "assert-failed": "Work(b); if (b > 2) assert(b < 2);",
    "kernel-exception": 'Work(b); if (b > 4) throw std::runtime_error("five");',
    "cross-core-wait": "Work(b); if (b > 1) CrossCoreWaitFlag(static_cast<uint16_t>(b));",
}


@functools.cache
def kernel() -> gnt.Kernel:
    """One kernel of all bodies: compiled once."""
    parts = "".join(f"  if (part == {part}) {{{body}}}\n" for part, body in enumerate(BODIES.values()))
    head = 'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y, GM_ADDR f, uint32_t part) {'
    return gnt.kernel(source=f"{HEAD}{head}{LOCAL}{parts}}}\n", optimise="little")


def run(part: str, threads: int, *, blocks: int = 8, isolated: bool = False, **how: Any) -> gnt.Result:
    x = (np.random.default_rng(3).standard_normal(ELEMENTS) * 1000).astype(np.float32)
    y, flags = gnt.inout(np.zeros(4096, np.float32)), gnt.inout(np.zeros(4096, np.int32))
    return kernel().run(
        x, y, flags, np.uint32(list(BODIES).index(part)),
        blocks=blocks, observed=False, isolated=isolated, options=TwinOptions(threads=threads), **how,
    )  # fmt: skip


@pytest.mark.parametrize("isolated", [True, False], ids=["isolated", "in-process"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_no_block_begins_before_the_outputs_are_poisoned(threads: int, isolated: bool) -> None:
    y, flags = gnt.out((ELEMENTS,), np.float32), gnt.inout(np.zeros(4096, np.int32))
    how = {"blocks": 8, "observed": False, "isolated": isolated, "options": TwinOptions(threads=threads)}
    for _ in range(3):  # in memory that the launch before used
        result = kernel().run(np.zeros(8, np.float32), y, flags, list(BODIES).index("poison"), **how)
        assert result.f[: 8 * 16 : 16].tolist() == [1] * 8
        assert np.isnan(result.y).all()
        result.y[:] = 3


@pytest.mark.parametrize("part", ["atomic", "barriers", "chain", "turns", "poll"])
def test_blocks_give_the_bits_of_one_thread(part: str) -> None:
    expected = run(part, 1)
    assert expected.y.any()
    for threads in (2, 3, 8):
        for _ in range(3):
            found = run(part, threads)
            assert found.y.tobytes() == expected.y.tobytes()
            assert found.f.tobytes() == expected.f.tobytes()


def test_the_order_of_float_sums_matters_to_the_test_above() -> None:
    x = (np.random.default_rng(3).standard_normal(ELEMENTS) * 1000).astype(np.float32)[: 8 * 512].reshape(8, 512)
    up, down = np.zeros(512, np.float32), np.zeros(512, np.float32)
    for row in x:
        up += row
    for row in x[::-1]:
        down += row
    assert (up != down).any()
    np.testing.assert_array_equal(run("atomic", 4).y[:512], up)


@pytest.mark.parametrize("name", ["split", pytest.param("any", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("shape", [(4, 32, 64, 129), (1, 8, 1024, 200)])
def test_group_norm_gives_the_bits_of_one_thread(name: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    x = (rng.standard_normal(shape) + 3).astype(np.float32)
    gamma, beta = (rng.standard_normal(shape[1]).astype(np.float32) for _ in range(2))
    step = gnt.kernel(f"group_norm/{name}")
    one, two = (
        step(x, gamma, beta, num_groups=4, observed=False, isolated=False, options=TwinOptions(threads=threads))
        for threads in (1, 4)
    )
    for output in ("y", "mean", "rstd"):
        assert getattr(one, output).tobytes() == getattr(two, output).tobytes()


def test_two_blocks_run_at_the_same_time() -> None:
    """Each waits for the other, in a way that the twin does not see: on one thread that would never end."""
    result = run("both", 2, blocks=2, isolated=True, limits=Limits(seconds=20))
    np.testing.assert_array_equal(result.y[:2], [1, 2])


def test_text_is_printed_in_the_order_of_the_blocks() -> None:
    printed = run("print", 4, isolated=True).printed
    assert printed.splitlines() == [f"block {b} {does}" for b in range(8) for does in ("begins", "ends")]


@pytest.mark.parametrize("part", list(BODIES)[-5:])
def test_a_mistake_is_told_as_on_one_thread(part: str) -> None:
    told = []
    for threads in (1, 2, 5):
        with pytest.raises(KernelFault) as caught:
            run(part, threads)
        told.append([(one.id, one.line, one.block, one.fields) for one in caught.value.diagnostics])
    assert [one[0] for one in told[0]] == [part]
    assert told[1:] == told[:1] * 2


def test_blocks_that_wait_end_their_scopes_when_another_one_stops() -> None:
    with pytest.raises(KernelFault, match="assert") as caught:
        run("freed", 3, isolated=True)
    assert caught.value.printed.count("freed") == 8


def test_a_stack_that_is_used_up_is_told_on_every_thread() -> None:
    with pytest.raises(KernelCrash, match="stack"):
        run("deep", 4, isolated=True)


def test_more_threads_than_there_is_room_for_are_refused() -> None:
    with pytest.raises(ArgumentError, match="threads cannot be 17"):
        TwinOptions(threads=17)
