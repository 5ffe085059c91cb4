"""Blocks that wait for one another through global memory, and what one can ask or set: shapes, lists, saturation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

import gn_tutorial as gnt
from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import KernelFault, LaunchRefused

HEAD = """
#include "kernel_operator.h"
using namespace AscendC;
"""


def run(body: str, *arrays: np.ndarray, blocks: int = 1, **how: Any) -> gnt.Result:
    """One kernel ``k`` of arrays x and y (in and out)."""
    source = f'{HEAD}extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) {{\n{body}\n}}\n'
    args = [gnt.inout(array) for array in arrays]
    return gnt.kernel(source=source).run(*args, blocks=blocks, isolated=False, **how)


# Back to global memory, and gone from the core's cache: before others read it, and before they write into its lines.
CLEAN = "DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(out);"
LOCAL = """
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  LocalTensor<int32_t> local = buffer.Get<int32_t>();
  GlobalTensor<int32_t> words, out;
  words.SetGlobalBuffer((__gm__ int32_t*)x);
  out.SetGlobalBuffer((__gm__ int32_t*)y);
"""


@pytest.mark.parametrize("blocks", [2, 5])
def test_a_chain_of_events_against_the_order_of_the_blocks(blocks: int) -> None:
    """Block b waits for block b + 1: the twin starts them the other way round, and suspends all but the last."""
    body = (
        LOCAL
        + """
  const int32_t b = GetBlockIdx(), n = GetBlockNum();
  if (b + 1 < n) IBWait(words, local, b + 1, 1);
  out.SetValue(b, b + 1 < n ? 2 * out.GetValue(b + 1) + 1 : 1);
"""
        + CLEAN
        + """
  if (b > 0) IBSet(words, local, b, 1);
"""
    )
    result = run(body, np.zeros(256, np.int32), np.zeros(32, np.int32), blocks=blocks)
    np.testing.assert_array_equal(result.y[:blocks], [2 ** (blocks - b) - 1 for b in range(blocks)])
    assert not result.x.any()  # every event has been taken


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_turns_go_round_in_the_order_of_the_blocks(blocks: int) -> None:
    body = (
        LOCAL
        + """
  InitDetermineComputeWorkspace(words, local);
  for (int i = 0; i < 3; ++i) {
    WaitPreBlock(words, local);
    const int32_t at = out.GetValue(0);
    out.SetValue(0, at + 1);
    out.SetValue(1 + at, GetBlockIdx());
"""
        + CLEAN
        + """
    NotifyNextBlock(words, local);
  }
"""
    )
    result = run(body, np.full(256, 9, np.int32), np.zeros(64, np.int32), blocks=blocks)
    assert result.y[0] == 3 * blocks
    np.testing.assert_array_equal(result.y[1 : 1 + 3 * blocks], list(range(blocks)) * 3)


def test_turns_and_barriers_mix() -> None:
    body = (
        LOCAL
        + """
  InitDetermineComputeWorkspace(words, local);
  WaitPreBlock(words, local);
  out.SetValue(0, out.GetValue(0) * 10 + GetBlockIdx() + 1);
"""
        + CLEAN
        + """
  NotifyNextBlock(words, local);
  SyncAll();
  if (GetBlockIdx() == 0) out.SetValue(1, out.GetValue(0));
"""
    )
    result = run(body, np.zeros(256, np.int32), np.zeros(64, np.int32), blocks=4)
    np.testing.assert_array_equal(result.y[:2], [1234, 1234])


@pytest.mark.parametrize("blocks", [1, 2, 13])
def test_the_order_of_blocks_is_a_permutation_of_the_seed(blocks: int) -> None:
    """Each block writes its number behind those that came before, at the start and after each of two SyncAll."""
    body = (
        LOCAL
        + """
  for (int i = 0; i < 3; ++i) {
    const int32_t at = out.GetValue(0);
    out.SetValue(0, at + 1);
    out.SetValue(1 + at, GetBlockIdx());
    SyncAll();
  }
"""
    )

    def order(seed: int) -> np.ndarray:
        arrays = np.zeros(256, np.int32), np.zeros(64, np.int32)
        options = TwinOptions(block_order=seed)
        # Bare: the checkers would rightly say that nothing orders these accesses.
        return run(body, *arrays, blocks=blocks, options=options, observed=False).y[1 : 1 + 3 * blocks].reshape(3, -1)

    found = [order(seed) for seed in (0, 1, 1, 2, 2**32 - 1)]
    ascending = np.arange(blocks)
    np.testing.assert_array_equal(found[0], [ascending] * 3)
    np.testing.assert_array_equal(found[1], found[2])
    for rounds in found:
        np.testing.assert_array_equal(np.sort(rounds), [ascending] * 3)
    if blocks == 13:
        assert len({rounds.tobytes() for rounds in found}) == 4


# What a block that polls learns from a value the checkers do not follow, so this one runs bare.
@pytest.mark.parametrize(
    "read", ["ReadGmByPassDCache<int32_t>((__gm__ int32_t*)x)", "(Refresh(words), words.GetValue(0))"]
)
def test_a_block_that_reads_in_a_loop_lets_the_others_run(read: str) -> None:
    body = (
        LOCAL
        + f"""
  const auto Refresh = [](GlobalTensor<int32_t>& t) {{
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(t);
  }};
  (void)Refresh;
  if (GetBlockIdx() == 0) {{
    while ({read} != 7) {{
    }}
    out.SetValue(0, 5);
  }} else {{
    WriteGmByPassDCache<int32_t>((__gm__ int32_t*)x, 7);
    DataSyncBarrier<MemDsbT::DDR>();
  }}
"""
    )
    assert run(body, np.zeros(16, np.int32), np.zeros(16, np.int32), blocks=2, observed=False).y[0] == 5


def test_an_event_that_nobody_sets_is_a_named_deadlock() -> None:
    with pytest.raises(KernelFault) as caught:
        run(LOCAL + "  IBWait(words, local, 0, 0);", np.zeros(64, np.int32), np.zeros(16, np.int32), blocks=3)
    assert caught.value.diagnostics[0].id == "block-wait-deadlock"


def test_shapes_belong_to_tensors_and_their_views() -> None:
    body = """
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  GlobalTensor<int32_t> out;
  out.SetGlobalBuffer((__gm__ int32_t*)y);
  LocalTensor<float> a = buffer.Get<float>(), b = a;
  for (uint32_t i = 0; i < 40; ++i) {  // more than the table starts with
    const uint32_t lengths[] = {i + 1, 2, 3};
    a.SetShapeInfo(ShapeInfo(3, lengths, DataFormat::NZ));
  }
  const uint32_t other[] = {7};
  out.SetShapeInfo(ShapeInfo(1, other));
  out.SetValue(0, GetShapeSize(a.GetShapeInfo()));
  out.SetValue(1, a[8].GetShapeInfo().shape[0]);
  out.SetValue(2, b.GetShapeInfo().shapeDim);
  out.SetValue(3, a.GetShapeInfo().dataFormat == DataFormat::NZ);
  out.SetValue(4, out.GetShapeInfo().originalShape[0]);
"""
    result = run(body, np.zeros(16, np.int32), np.zeros(16, np.int32))
    np.testing.assert_array_equal(result.y[:5], [240, 40, 0, 1, 7])


def test_lists_of_tensors_are_read_as_the_host_wrote_them() -> None:
    body = """
  uint64_t lengths[4] = {0};
  GlobalTensor<uint64_t> out;
  out.SetGlobalBuffer((__gm__ uint64_t*)y);
  ListTensorDesc list((__gm__ void*)x, 64, 2);
  TensorDesc<float> desc;
  desc.SetShapeAddr(lengths);
  list.GetDesc(desc, 1);
  out.SetValue(0, list.GetSize());
  out.SetValue(1, desc.GetDim());
  out.SetValue(2, desc.GetIndex());
  out.SetValue(3, desc.GetShape(1));
  out.SetValue(4, reinterpret_cast<uint64_t>(list.GetDataPtr<float>(0)));
  out.SetValue(5, reinterpret_cast<uint64_t>(desc.GetDataPtr()));
"""
    words = np.array([48, 1, 9, 2 | 5 << 32, 11, 12, 1000, 2000], np.uint64)
    result = run(body, words, np.zeros(8, np.uint64))
    np.testing.assert_array_equal(result.y[:6], [2, 2, 5, 12, 1000, 2000])


@pytest.mark.parametrize("option", ["ieee", "saturate"])
@pytest.mark.parametrize("how", ["SetCtrlSpr<48, 48>(1)", "SetSaturationFlag<SaturationMode::FLOAT>(true)", ""])
def test_the_kernel_decides_whether_half_saturates(option: str, how: str) -> None:
    body = f"""
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<half> t = buffer.Get<half>();
  GlobalTensor<half> out;
  out.SetGlobalBuffer((__gm__ half*)y);
  {how};
  Duplicate(t, half(60000.0f), 16);
  Add(t, t, t, 16);
  PipeBarrier<PIPE_ALL>();
  DataCopy(out, t, 16);
  out.SetValue(16, half(static_cast<float>(GetCtrlSpr<48, 48>() + 2 * GetSaturationFlag<SaturationMode::FLOAT>())));
"""
    options = TwinOptions() if option == "ieee" else TwinOptions(half_overflow="saturate")
    result = run(body, np.zeros(16, np.float16), np.zeros(32, np.float16), options=options)
    saturates = {"": option == "saturate", "SetCtrlSpr<48, 48>(1)": False}.get(how, True)
    assert (result.y[:16] == (65504 if saturates else np.inf)).all()
    assert result.y[16] == (2 if saturates else 1)


def test_the_counter_of_time_does_not_go_back() -> None:
    body = """
  GlobalTensor<int64_t> out;
  out.SetGlobalBuffer((__gm__ int64_t*)y);
  const int64_t first = GetSystemCycle();
  for (int i = 0; i < 100; ++i) out.SetValue(1, i);
  out.SetValue(0, GetSystemCycle() - first);
"""
    assert run(body, np.zeros(4, np.int64), np.zeros(4, np.int64)).y[0] >= 0


# Each block plays its commands: store or load a row of shared memory, set or await the event of a pair of blocks.
PLAY = f"""
{HEAD}
struct Command {{
  int32_t block, code, number;
}};
extern "C" __global__ __aicore__ void play(GM_ADDR words, GM_ADDR shelf, GM_ADDR commands, uint32_t count) {{
  TPipe pipe;
  TBuf<TPosition::VECCALC> rowBuf, localBuf;
  pipe.InitBuffer(rowBuf, 64);
  pipe.InitBuffer(localBuf, 32);
  LocalTensor<int32_t> row = rowBuf.Get<int32_t>(), local = localBuf.Get<int32_t>();
  GlobalTensor<int32_t> wordsGm, shelfGm;
  wordsGm.SetGlobalBuffer((__gm__ int32_t*)words);
  shelfGm.SetGlobalBuffer((__gm__ int32_t*)shelf);
  Duplicate(row, 1, 16);
  for (uint32_t i = 0; i < count; ++i) {{
    const __gm__ Command& command = reinterpret_cast<const __gm__ Command*>(commands)[i];
    if (command.block != GetBlockIdx()) continue;
    PipeBarrier<PIPE_ALL>();
    switch (command.code) {{
      case 0: DataCopy(shelfGm[16 * command.number], row, 16); break;
      case 1: DataCopy(row, shelfGm[16 * command.number], 16); break;
      case 2: IBSet(wordsGm, local, command.block, command.number); break;
      case 3: IBWait(wordsGm, local, command.number, command.block); break;
    }}
  }}
}}
"""
STORE, LOAD, SET, WAIT = range(4)
BLOCKS, ROWS = 3, 2


@dataclass
class Knowledge:
    """What each block has seen of each: numbers of accesses, as vector clocks. They arrive in a possible order."""

    seen: np.ndarray = field(default_factory=lambda: np.zeros((BLOCKS, BLOCKS), np.int64))
    left: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)  # at the word of a pair: setter, waiter
    up: set[tuple[int, int]] = field(default_factory=set)  # events that are set and not taken
    done: list[tuple[int, int, int, int]] = field(default_factory=list)  # block, its count, row, code
    races: bool = False

    def play(self, block: int, code: int, number: int) -> bool:
        """Whether the command can be played now; then what follows from it."""
        pair = (block, number) if code == SET else (number, block)
        if code in (SET, WAIT):
            if (pair in self.up) == (code == SET) or pair[0] == pair[1]:
                return False
            self.up ^= {pair}
            self.seen[block] = np.maximum(self.seen[block], self.left.get(pair, 0))
            self.left[pair] = self.seen[block].copy()
            return True
        self.seen[block, block] += 1
        for other, count, row, kind in self.done:
            apart = other != block and row == number and STORE in (kind, code)
            self.races |= bool(apart and self.seen[block, other] < count)
        self.done.append((block, int(self.seen[block, block]), number, code))
        return True


@st.composite
def plays(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    """Block, code, number: events and waits for them a few commands later, so that chains arise, and few accesses."""
    wanted, later = [], []
    block = st.integers(0, BLOCKS - 1)
    for _ in range(draw(st.integers(2, 10))):
        later = [(delay - 1, command) for delay, command in later]
        wanted += [command for delay, command in later if delay < 0]
        later = [(delay, command) for delay, command in later if delay >= 0]
        if draw(st.booleans()):
            setter, waiter = draw(block), draw(block)
            wanted.append((setter, SET, waiter))
            later.append((draw(st.integers(0, 2)), (waiter, WAIT, setter)))
        else:
            wanted.append((draw(block), draw(st.sampled_from([STORE, LOAD])), draw(st.integers(0, ROWS - 1))))
    return wanted + [command for _, command in later]


@settings(max_examples=examples(300), deadline=None)
@given(plays())
def test_events_order_blocks_as_a_model_says(wanted: list[tuple[int, int, int]]) -> None:
    model = Knowledge()
    commands = [command for command in wanted if model.play(*command)]
    if not commands:
        return
    table = np.array(commands, np.int32)
    arrays = gnt.inout(np.zeros(8 * BLOCKS * BLOCKS, np.int32)), gnt.inout(np.zeros(16 * ROWS, np.int32))
    play = gnt.kernel(source=PLAY).run
    try:
        found = play(*arrays, table, len(table), blocks=BLOCKS, isolated=False).diagnostics
    except KernelFault as fault:
        found = fault.diagnostics
    # Rows that are loaded and not used are a warning; stores of what another block has stored there are races, too.
    ids = {one.id.replace("race-equal-bytes", "race-blocks") for one in found} - {"ub-overwritten-unread"}
    assert ids == ({"race-blocks"} if model.races else set())


POLL_NEXT = """
  GlobalTensor<int32_t> word;
  word.SetGlobalBuffer((__gm__ int32_t*)x);
  const int32_t b = GetBlockIdx(), after = b + {step};
  if (after >= 0 && after < GetBlockNum()) {{
    while (word.GetValue(16 * after) == 0)
      DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(word[16 * after]);
  }}
  word.SetValue(16 * b, 1);
  DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(word[16 * b]);
"""


@pytest.mark.parametrize(
    ("body", "op"),
    [
        ("SyncAll();", "SyncAll"),
        (LOCAL + "SyncAll(words, local);", "SyncAll"),
        ("CrossCoreSetFlag<0, PIPE_MTE3>(1);\nCrossCoreWaitFlag(1);", "CrossCoreWaitFlag"),
        (LOCAL + "if (GetBlockIdx() < 2) IBWait(words, local, GetBlockIdx() + 1, 0);", "IBWait"),
        (LOCAL + "InitDetermineComputeWorkspace(words, local);", "InitDetermineComputeWorkspace"),
        (POLL_NEXT.format(step=1), "GetValue"),
    ],
)
def test_more_blocks_than_cores_that_wait_are_refused(body: str, op: str) -> None:
    """Three blocks on two cores: the third starts when one of the others has ended, and both wait for it."""
    with pytest.raises(LaunchRefused, match="the launch has 3 blocks, and the chip has 2 cores") as refused:
        run(body, np.zeros(256, np.int32), np.zeros(32, np.int32), blocks=3, options=TwinOptions(cores=2))
    (found,) = refused.value.diagnostics
    assert (found.id, found.fields["op"], refused.value.exit_code) == ("blocks-beyond-cores", op, 2)
    source = f"{HEAD}\n{body}".splitlines()
    assert op in source[found.line - 1]


def test_as_many_blocks_as_cores_may_wait_for_a_later_one() -> None:
    waits, sets = "if (b < 2) IBWait(words, local, b + 1, 0);", "if (b > 0) IBSet(words, local, b, 0);"
    body = f"{LOCAL} const int32_t b = GetBlockIdx();\n{waits}\n{sets}"
    options = TwinOptions(cores=3)
    assert not run(body, np.zeros(256, np.int32), np.zeros(32, np.int32), blocks=3, options=options).diagnostics


@pytest.mark.parametrize("blocks", [3, 9])
def test_more_blocks_than_cores_may_poll_for_an_earlier_one(blocks: int) -> None:
    """Blocks start in their order, so the one that is waited for has a core or has ended."""
    words, options = np.zeros((blocks, 16), np.int32), TwinOptions(cores=2, races="ignore")
    result = run(POLL_NEXT.format(step=-1), words, np.zeros(32, np.int32), blocks=blocks, options=options)
    assert result.x[:, 0].all()


def test_a_bare_launch_knows_the_cores_too() -> None:
    with pytest.raises(LaunchRefused, match="the chip has 2 cores"):
        run("SyncAll();", *np.zeros((2, 8), np.int32), blocks=3, observed=False, options=TwinOptions(cores=2))


def test_too_many_blocks_as_a_warning() -> None:
    """The launch then goes on as if there were a core for each block."""
    options = TwinOptions(cores=2, warnings=("blocks-beyond-cores",))
    for body in ("SyncAll();", POLL_NEXT.format(step=1)):
        found = run(body, np.zeros(256, np.int32), np.zeros(32, np.int32), blocks=5, options=options).diagnostics
        assert {one.id for one in found} == {"blocks-beyond-cores"}


# Words through which blocks wait for each other. Slot b of the workspace has 32 bytes.
SET_AND_WAIT = "if (b == 0) IBSet(words, local, 0, {event}); else IBWait(words, local, 0, {event});"
B = LOCAL + "const int32_t b = GetBlockIdx();\n"


def found_in(body: str, words: np.ndarray, *, blocks: int = 2) -> tuple[str, str, int]:
    """Id, operation and line in the body of the only finding; it may have several second places."""
    with pytest.raises(KernelFault) as refused:
        run(body, words, np.zeros(256, np.int32), blocks=blocks)
    (found,) = {(one.id, one.fields["op"], one.line - 4) for one in refused.value.diagnostics}
    return found


@pytest.mark.parametrize("event", [0, 3])
def test_an_event_has_32_bytes_in_each_workspace(event: int) -> None:
    body = B + SET_AND_WAIT.format(event=event)
    slots = 2 * event + 1
    assert not run(body, np.zeros(8 * slots, np.int32), np.zeros(8, np.int32), blocks=2).diagnostics
    line = body.count("\n") + 1
    assert found_in(body, np.zeros(8 * slots - 1, np.int32)) == ("gm-out-of-bounds", "IBSet", line)
    short = body.replace("local,", "local[1020],")  # the buffer has 1024 words
    assert found_in(short, np.zeros(8 * slots, np.int32))[:2] == ("ub-out-of-bounds", "IBSet")


@pytest.mark.parametrize(
    "call", ["IBSet(words, local, b, 0);", "IBWait(words, local, b, 0);", "SyncAll(words, local);"]
)
def test_a_workspace_that_nobody_cleared(call: str) -> None:
    words = np.full(16, 77, np.int32)
    assert found_in(B + call, words) == ("sync-all-workspace", call.partition("(")[0], B.count("\n") + 1)


def test_data_in_the_word_of_an_event() -> None:
    """Block 1 clears its place for data, which is the word that block 0 waits for."""
    store = "if (b == 1) DataCopy(words[{at}], local[64], 8);\n"
    clear = "Duplicate(local, 0, 128);\nPipeBarrier<PIPE_ALL>();\n"
    body = B + clear + store + "if (b == 2) IBSet(words, local, 0, 0);\nif (b == 0) IBWait(words, local, 0, 0);"
    assert not run(body.format(at=8), np.zeros(64, np.int32), np.zeros(8, np.int32), blocks=3).diagnostics
    line = body.partition("DataCopy")[0].count("\n") + 1
    assert found_in(body.format(at=0), np.zeros(64, np.int32), blocks=3) == ("race-blocks", "DataCopy", line)


def test_counters_are_read_until_the_last_block_has_seen_them() -> None:
    """The first block that goes on after SyncAll overwrites a counter that another may not have read yet."""
    again = "\nDuplicate(local, 0, 8);\nPipeBarrier<PIPE_ALL>();\nif (b == 1) DataCopy(words[{at}], local, 8);"
    body = B + "SyncAll(words, local);" + again
    assert not run(body.format(at=16), np.zeros(64, np.int32), np.zeros(8, np.int32), blocks=2).diagnostics
    assert found_in(body.format(at=0), np.zeros(64, np.int32))[:2] == ("race-blocks", "DataCopy")
    twice = B + "SyncAll(words, local);\nSyncAll(words, local);"
    assert not run(twice, np.zeros(16, np.int32), np.zeros(8, np.int32), blocks=2).diagnostics


@pytest.mark.parametrize("call", ["SyncAll(words, local);", "InitDetermineComputeWorkspace(words, local);"])
def test_the_workspace_in_local_memory_loses_what_it_held(call: str) -> None:
    body = B + f"local.SetValue(3, 5);\n{call}\nout.SetValue(16 * b, local.GetValue(3));"
    assert run(body, np.zeros(16, np.int32), np.full(32, 9, np.int32), blocks=2).y[0] == 0
