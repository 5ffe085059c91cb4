"""The race checker against a model of happens-before, on random programs of copies, instructions, flags and barriers.

One kernel interprets a program given as numbers. The model knows nothing of clocks or stamps: it draws one edge for
each rule of the documentation, closes the relation, and asks of every two accesses to common bytes whether one comes
first.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from program_pairs import SOURCES, expected
from program_pairs import run as run_program
from thoroughness import examples

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import Built, build_kernel
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import KernelFault
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

LOAD, STORE, READ_BACK, ADD, SET, WAIT, BARRIER, GET, PUT, MEET, ATOMIC, GET_GLOBAL, PUT_GLOBAL = range(13)
S, V, MTE2, MTE3, ALL = range(5)
PIPES = {LOAD: MTE2, STORE: MTE3, READ_BACK: MTE2, ADD: V, GET: S, PUT: S, ATOMIC: MTE3, GET_GLOBAL: S, PUT_GLOBAL: S}
FLAGS = [(a, b) for a, b in itertools.product((S, V, MTE2, MTE3), repeat=2) if a != b]
FIELDS = 5
UNIT = 8  # floats: 32 bytes

INTERPRETER = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void interpret(GM_ADDR program, GM_ADDR x, GM_ADDR y, uint32_t length) {
  constexpr pipe_t kPipes[] = {PIPE_S, PIPE_V, PIPE_MTE2, PIPE_MTE3, PIPE_ALL};
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1024);
  LocalTensor<float> t = buffer.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer((__gm__ float*)x);
  yGm.SetGlobalBuffer((__gm__ float*)y);
  Duplicate(t, 0.5f, 256);
  PipeBarrier<PIPE_ALL>();
  const int32_t* word = (__gm__ int32_t*)program + GetBlockIdx() * length * 5;
  for (uint32_t i = 0; i < length; ++i, word += 5) {
    const uint32_t a = word[1], b = word[2], n = word[3];
    switch (word[0]) {
      case 0: DataCopy(t[a], xGm[b], n); break;
      case 1: DataCopy(yGm[b], t[a], n); break;
      case 2: DataCopy(t[a], yGm[b], n); break;
      case 3: Adds(t[a], t[b], 1.0f, n); break;
      case 4: set_flag(kPipes[a], kPipes[b], n); break;
      case 5: wait_flag(kPipes[a], kPipes[b], n); break;
      case 6: pipe_barrier(kPipes[a]); break;
      case 7: if (t.GetValue(a) == 12345.0f) return; break;
      case 8: t.SetValue(a, 2.0f); break;
      case 9: SyncAll(); break;
      case 10: SetAtomicAdd<float>(); DataCopy(yGm[b], t[a], n); SetAtomicNone(); break;
      case 11: if (yGm.GetValue(b) == 12345.0f) return; break;
      case 12: yGm.SetValue(b, 2.0f); break;
    }
  }
}
"""


@dataclass(frozen=True)
class Command:
    """A command of the interpreter; ``a``, ``b``, ``n`` as in its source: floats, or pipes and an event id."""

    code: int
    a: int = 0
    b: int = 0
    n: int = 0

    @property
    def pipe(self) -> int:
        return PIPES.get(self.code, -1)

    def touches(self) -> list[tuple[str, int, int, str]]:
        """(memory, first float, last float + 1, "read", "write" or "atomic") of each operand."""
        local, other, n = self.a, self.b, self.n
        return {
            LOAD: [("ub", local, local + n, "write")],
            STORE: [("ub", local, local + n, "read"), ("y", other, other + n, "write")],
            READ_BACK: [("ub", local, local + n, "write"), ("y", other, other + n, "read")],
            ADD: [("ub", local, local + n, "write"), ("ub", other, other + n, "read")],
            GET: [("ub", local, local + 1, "read")],
            PUT: [("ub", local, local + 1, "write")],
            ATOMIC: [("ub", local, local + n, "read"), ("y", other, other + n, "atomic")],
            GET_GLOBAL: [("y", other, other + 1, "read")],
            PUT_GLOBAL: [("y", other, other + 1, "write")],
        }.get(self.code, [])


def collide(one: Command, two: Command, memory: str = "") -> bool:
    for place, begin, end, use in one.touches():
        for other, start, stop, other_use in two.touches():
            if place != other or begin >= stop or start >= end or memory not in ("", place):
                continue
            if {use, other_use} not in ({"read"}, {"atomic"}):
                return True
    return False


def races(program: list[Command], auto_sync: bool) -> set[tuple[int, int]]:
    """The pairs of commands, earlier one first, that touch common bytes in no order.

    Each command has two nodes, its start and its end; ``before`` holds all that comes before a node.
    """
    before: dict[int, set[int]] = {}

    def node(after: int, *sources: int) -> None:
        known = before.setdefault(after, set())
        for source in sources:
            known |= {source} | before.get(source, set())

    start, end = (lambda i: 2 * i), (lambda i: 2 * i + 1)
    found: set[tuple[int, int]] = set()
    raised: dict[tuple[int, int, int], int] = {}
    for i, command in enumerate(program):
        earlier = range(i)
        waits_of_s = [j for j in earlier if program[j].code == WAIT and program[j].b == S]
        waits_of_s += [j for j in earlier if program[j].code == BARRIER and program[j].a == ALL]
        waits_of_s += [
            j for j in earlier if program[j].pipe == S
        ]  # what they waited for; their own end is another node
        pipe = {SET: command.a, WAIT: command.b, BARRIER: command.a}.get(command.code, command.pipe)
        node(start(i), *(start(j) for j in waits_of_s))
        for j in earlier:  # what holds up this pipe
            if (program[j].code == WAIT and program[j].b == pipe) or (
                program[j].code == BARRIER and program[j].a in (pipe, ALL)
            ):
                node(start(i), start(j))
        mine = [j for j in earlier if program[j].pipe == pipe or (pipe == ALL and program[j].pipe >= 0)]
        if command.code in (SET, BARRIER) or (pipe == V and auto_sync):
            node(start(i), *(end(j) for j in mine))
        if command.code == SET:
            raised[command.a, command.b, command.n] = i
        if command.code == WAIT:
            node(start(i), start(raised[command.a, command.b, command.n]))
        if command.pipe == S and auto_sync and command.code != PUT_GLOBAL:
            for other in (V, MTE2, MTE3):
                theirs = [j for j in earlier if program[j].pipe == other]
                if any(collide(program[j], command) and end(j) not in before[start(i)] for j in theirs):
                    node(start(i), *(end(j) for j in theirs))
        if command.pipe >= 0:
            for j in earlier:
                by_compiler = auto_sync and PUT_GLOBAL not in (command.code, program[j].code)
                if not collide(program[j], command) or end(j) in before[start(i)]:
                    continue
                if command.pipe == S and program[j].pipe == S:
                    continue
                if not (by_compiler and S in (command.pipe, program[j].pipe)):
                    found.add((j, i))
        node(end(i), start(i))
    return found


@functools.cache
def interpreter() -> Built:
    return build_kernel(INTERPRETER, optimise="little")


def run(programs: list[list[Command]], **options: Any) -> tuple[bytes, list[Diagnostic]]:
    """What is left in y, and the findings of the race checker."""
    length = max(map(len, programs))
    numbers = np.full((len(programs), length, FIELDS), -1, np.int32)
    for block, program in enumerate(programs):
        for i, command in enumerate(program):
            numbers[block, i, :4] = command.code, command.a, command.b, command.n
    x = np.arange(1, 257, dtype=np.float32)
    y = np.zeros(256, np.float32)
    args = [
        LaunchArg("program", ArgKind.TENSOR, Role.IN, numbers),
        LaunchArg("x", ArgKind.TENSOR, Role.IN, x),
        LaunchArg("y", ArgKind.TENSOR, Role.INOUT, y),
        LaunchArg("length", ArgKind.VALUE, Role.IN, np.uint32(length).tobytes()),
    ]
    try:
        found = launch(
            interpreter().library,
            LaunchRequest(
                entry="interpret", args=args, blocks=len(programs), isolated=False, options=TwinOptions(**options)
            ),
        ).diagnostics
    except KernelFault as fault:
        found = fault.diagnostics
    return y.tobytes(), [one for one in found if one.id.startswith("race-")]


CODES = (LOAD, STORE, READ_BACK, ADD, SET, SET, WAIT, WAIT, BARRIER, GET, PUT, ATOMIC, GET_GLOBAL, PUT_GLOBAL)


@st.composite
def of_one_core(draw: st.DrawFn) -> list[Command]:
    """Copies among eight units of local and global memory, with flags that are set and waited for in turn."""
    program: list[Command] = []
    raised: list[tuple[int, int, int]] = []
    unit = st.integers(0, 5).map(lambda i: i * UNIT)
    for _ in range(draw(st.integers(2, 14))):
        a, b, n = draw(unit), draw(unit), draw(st.sampled_from((UNIT, 2 * UNIT)))
        code = draw(st.sampled_from(CODES))
        if code == ADD and abs(a - b) < n:
            b = a  # operands of an instruction are equal or apart
        if code == SET:
            flag = (*draw(st.sampled_from(FLAGS)), draw(st.integers(0, 1)))
            if flag in raised:
                continue
            raised.append(flag)
            a, b, n = flag
        if code == WAIT:
            if not raised:
                continue
            a, b, n = raised.pop(draw(st.integers(0, len(raised) - 1)))
        if code == BARRIER:
            a = draw(st.sampled_from((V, MTE2, MTE3, MTE2, MTE3, ALL)))
        if code in (GET, PUT):
            a += draw(st.integers(0, UNIT - 1))
        if code in (GET_GLOBAL, PUT_GLOBAL):
            b += draw(st.integers(0, UNIT - 1))
        program.append(Command(code, a, b, n))
    return program


def line_of(code: int) -> int:
    before = INTERPRETER.split(f"      case {code}:")[0]
    return before.count("\n") + 1


@pytest.mark.parametrize("auto_sync", ["on", "off"])
def test_one_core_against_the_model(auto_sync: str) -> None:
    @settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))
    @given(of_one_core())
    def check(program: list[Command]) -> None:
        pairs = races(program, auto_sync == "on") if program else set()
        before, found = run([program or [Command(BARRIER, ALL)]], auto_sync=auto_sync)
        lines = {(line_of(program[j].code), line_of(program[i].code)) for j, i in pairs}
        told = {(one.fields["other_line"], one.line) for one in found}
        assert told <= lines, "a race that the model does not know"
        assert bool(told) == bool(lines), "no finding for a race of the model"
        if not pairs:
            after, _ = run([program or [Command(BARRIER, ALL)]], auto_sync=auto_sync, delayed_dma=True)
            assert before == after, "delayed copies change a program without a race"

    check()


@st.composite
def of_blocks(draw: st.DrawFn) -> list[list[list[Command]]]:
    """Per block, per interval between two SyncAll: accesses to y."""
    blocks, stretches = draw(st.integers(2, 3)), draw(st.integers(1, 3))

    def access() -> Command:
        code = draw(st.sampled_from((STORE, READ_BACK, ATOMIC, GET_GLOBAL, PUT_GLOBAL)))
        whole = code in (STORE, READ_BACK, ATOMIC)
        return Command(code, 0, draw(st.integers(0, 40)), UNIT if whole else 1)

    return [[[access() for _ in range(draw(st.integers(0, 3)))] for _ in range(stretches)] for _ in range(blocks)]


def test_blocks_against_the_model() -> None:
    everything = Command(BARRIER, ALL)

    @settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))
    @given(of_blocks())
    def check(blocks: list[list[list[Command]]]) -> None:
        lines = set()
        for stretch in range(len(blocks[0])):
            for one, two in itertools.combinations(blocks, 2):
                for a, b in itertools.product(one[stretch], two[stretch]):
                    if collide(a, b, "y"):
                        lines.add(frozenset((line_of(a.code), line_of(b.code))))
        programs = [
            [word for stretch in block for word in (*(w for c in stretch for w in (c, everything)), Command(MEET))]
            for block in blocks
        ]
        _, found = run(programs)
        assert {one.id for one in found} <= {"race-blocks", "race-equal-bytes"}
        assert {frozenset((one.fields["other_line"], one.line)) for one in found} == lines

    check()


def test_a_store_begins_where_it_begins_though_its_last_bytes_change_nothing() -> None:
    store = Command(STORE, 0, 0, UNIT)
    programs = [[store], [Command(PUT_GLOBAL, 0, 0, 1), Command(BARRIER, ALL), store]]
    _, found = run([[*program, Command(MEET)] for program in programs])
    stores = [one.fields for one in found if one.line == one.fields["other_line"]]
    assert [said["offset"] for said in stores] != []
    assert not any("second_begins" in said for said in stores)  # both begin at 0


def test_races_may_be_ignored() -> None:
    """The programs that are wrong for a race, and for nothing else, run to their end."""
    racy = [name for name, path in SOURCES.items() if name.startswith("race/") and name.endswith("_bad")]
    assert len(racy) > 20
    quiet = [name for name in racy if expected(SOURCES[name])[0][0].startswith("race-")]
    for name in quiet:
        assert not run_program(name, races="ignore").diagnostics, name
