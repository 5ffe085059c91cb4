"""``gnt.profile``: times of kernels that can be calculated by hand, and the profile's other facts."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from timing_support import event, load, store, trace, trace_of, vector

import gn_tutorial as gnt
from gn_tutorial.abi.trace import Kind, Pipe, Trace, Tracing
from gn_tutorial.errors import ArgumentError, LaunchRefused
from gn_tutorial.profiler.profile import Profile, profile_of
from gn_tutorial.runtime.launch_types import Tally
from gn_tutorial.timing.machine import DEFAULT_MACHINE, load_machine
from gn_tutorial.timing.timeline import make_timeline

B3 = load_machine("910B3")


def profile(made: Trace, **tally: int) -> Profile:
    counts = {"scalar": 0, "vector": 0, "mte2": 0, "mte3": 0, "bytes_in": 0, "bytes_out": 0, "ub_high_water": 0}
    return Profile("by hand", made.launched, make_timeline(made, B3), made, Tally(**{**counts, **tally}))


def test_the_copy_kernel_calculated_by_hand() -> None:
    """Two tiles of 16 KiB on one core: each is read, arrives, and is written before its buffer is free again."""
    x = np.zeros(8192, np.float32)
    found = gnt.profile("copy/queue", x, blocks=1, machine="910B3")
    first = 50 + 6  # AllocTensor, and the issue of the copy
    tile = 16384 / 58 + 241 + 180 + 16384 / 43 + 96
    last = 40  # the TPipe waits for all pipes at its end: the scalar unit hears of it
    assert found.timeline.cycles == pytest.approx(first + 2 * tile + last, abs=1e-9)
    assert found.microseconds == pytest.approx(0.466 + (first + 2 * tile + last) / 1800, abs=1e-12)
    assert found.busy[Pipe.MTE2] == pytest.approx(2 * 16384 / 58 / 1800)
    assert found.tally.bytes_in == found.tally.bytes_out == 32768
    assert found.timeline.traffic.hbm_read == 32768
    # MTE3 waits for both tiles, MTE2 for the first one to have left its buffer.
    waited = {stall.pipe: (stall.cause, stall.times) for stall in found.stalls[:2]}
    assert waited == {Pipe.MTE3: ("MTE2", 2), Pipe.MTE2: ("MTE3", 1)}


def test_a_large_kernel_is_as_far_from_the_memory_as_the_two_numbers_say() -> None:
    found = gnt.profile(
        "add/queue", *np.zeros((2, 1 << 20), np.float32), blocks=40, machine="910B3", tracing=Tracing(blocks=40)
    )
    limits = {limit.name: limit for limit in found.limits}
    assert limits["HBM"].microseconds == pytest.approx(8 * 2**20 / 1490e3)
    assert limits["MTE2"].microseconds == pytest.approx(8 * 2**20 / (58 * 1800 * 40))
    assert found.operations == 1 << 20
    assert found.ub_bytes == 12 << 20
    assert found.distance == found.microseconds / found.binding.microseconds > 1
    assert "recorded blocks" not in repr(found)


def test_a_profile_is_of_all_cores_of_its_machine_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "mine.cpp"
    path.write_text(gnt.kernel("copy").source)
    x = np.zeros(48 * 512, np.float32)
    for target, values in (("copy/queue", (x,)), (path, (x, gnt.out(x.size), x.size))):
        for machine in ("910B2", "910B3"):
            found = gnt.profile(target, *values, machine=machine)
            assert found.blocks == found.machine.cores == load_machine(machine).cores
        assert gnt.profile(target, *values, blocks=2).blocks == 2
        assert gnt.profile(target, *values).machine == load_machine(DEFAULT_MACHINE)
    assert gnt.profile(gnt.kernel(source=path.read_text()), x, gnt.out(x.size), x.size).blocks == 1


def test_a_profile_names_the_blocks_that_were_recorded() -> None:
    found = gnt.profile("copy/queue", np.zeros(40 * 4096, np.float32), blocks=40)
    assert "recorded blocks 0, 5, 11, 16, 22, 27, 33, 39 of 40" in repr(found)


def test_fewer_blocks_are_recorded_where_eight_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    # By its module: gn_tutorial.profiler.profile is the function.
    monkeypatch.setattr(sys.modules[Profile.__module__], "_ROOM", 64 * 200)
    found = gnt.profile("copy/queue", np.zeros(8 * 8 * 4096, np.float32), blocks=8)
    assert found.trace.complete
    assert sorted(found.trace.blocks) == [0]


def test_the_numbers_are_the_same_wherever_the_launch_ran() -> None:
    x = np.random.default_rng(1).random((2, 4, 8, 8), np.float32)
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    both = [
        gnt.profile("group_norm/scalar", x, ones, zeros, num_groups=2, isolated=isolated) for isolated in (True, False)
    ]
    assert repr(both[0]) == repr(both[1])
    assert both[0].timeline.spans == both[1].timeline.spans


def test_every_figure_is_called_modelled_and_has_an_error_band() -> None:
    small = profile(trace(load(512)))
    low, high = small.likely
    assert low < small.microseconds < high <= 2 * low
    for text in (repr(small), small._repr_html_()):
        assert "modelled, not measured" in text
        assert "-41.4 to +17 %" in text
    large = profile(trace(*[vector("Abs", 250, 0, 0)] * 200))
    assert -41.4 < large.error_band.low < 0 < large.error_band.high < 17


def test_another_machine_and_a_warm_cache() -> None:
    x = np.zeros(1 << 18, np.float32)
    result = gnt.kernel("copy/queue")(x, blocks=8, tracing=Tracing(), isolated=False)
    cold, warm = profile_of(result, machine="910B1"), profile_of(result, machine="910B1", warm=True)
    assert warm.microseconds < cold.microseconds
    assert warm.timeline.traffic.hbm_read == 0
    assert "warm" in repr(warm)
    assert profile_of(result, machine="910B4").microseconds > cold.microseconds


def test_a_registered_kernel_a_path_and_a_source() -> None:
    x = np.zeros(4096, np.float32)
    copy = gnt.kernel("copy/queue")
    assert gnt.profile(copy, x).microseconds == gnt.profile("copy/queue", x).microseconds
    by_hand = gnt.profile(copy.path, x, gnt.out(x.shape, x.dtype), 4096)
    assert by_hand.microseconds == gnt.profile(copy, x).microseconds


def test_a_result_without_a_trace_has_no_profile() -> None:
    with pytest.raises(ArgumentError, match="not traced"):
        profile_of(gnt.kernel("copy/queue")(np.zeros(8, np.float32), isolated=False))
    with pytest.raises(ArgumentError, match="nothing was launched"):
        gnt.profile("copy/queue", np.zeros(0, np.float32))


def test_instructions_that_nobody_measured_are_named() -> None:
    found = profile(trace(vector("Tanh", 8, 0, 0), vector("Add", 8, 0, 0, 0x10000)))
    assert found.unmeasured == ("Tanh",)
    assert "Tanh" in repr(found)


def test_a_trace_that_was_cut_off_says_so() -> None:
    cut = replace(trace(load(512)), complete=False)
    assert "some blocks is missing" in repr(profile(cut))


def test_blocks_count_as_the_recorded_one_nearest_to_them() -> None:
    made = trace_of({0: [vector("Abs", 10, 0, 0)], 3: [vector("Abs", 2, 0, 0)]}, launched=4)
    assert profile(made).operations == 2 * 640 + 2 * 128


def test_limits_and_stalls_of_a_launch_by_hand() -> None:
    barrier = event(Kind.BARRIER, Pipe.ALL)
    made = trace(load(5800, line=3), barrier, store(4300, line=4))
    found = profile(made, bytes_in=5800, bytes_out=4300)
    limits = {limit.name: limit.microseconds for limit in found.limits}
    assert limits["MTE2"] == pytest.approx(100 / 1800)
    assert limits["MTE3"] == pytest.approx(100 / 1800)
    assert found.binding == found.limits[0]
    copy = next(found.timeline.of(0, Pipe.MTE2))
    (waited,) = (stall for stall in found.stalls if stall.pipe is Pipe.MTE3)
    assert (waited.cause, waited.line, waited.times) == ("MTE2", 3, 1)
    assert waited.cycles == copy.done + B3.round_trip + B3.issue


def test_lines_of_two_files_with_one_number_are_two_stalls() -> None:
    barrier = event(Kind.BARRIER, Pipe.ALL)
    copies = [load(5800, at=at, line=7)._replace(file=f"/a/{file}") for at, file in ((0, "k.cpp"), (8192, "ring.h"))]
    found = profile(trace(copies[0], barrier, store(4300), copies[1], barrier, store(4300)), bytes_in=11600)
    places = {stall.where: stall.times for stall in found.stalls if stall.pipe is Pipe.MTE3}
    assert places == {"line 7": 1, "ring.h:7": 1}
    assert "ring.h:7" in str(found)


MEET = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void meet(GM_ADDR x) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 16384);
  AscendC::LocalTensor<float> a = buffer.Get<float>();
  AscendC::GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 64 * AscendC::GetBlockNum());
  const int32_t block = static_cast<int32_t>(AscendC::GetBlockIdx());
  a.SetValue(0, 1.0f);
  AscendC::Duplicate(a, 1.0f, 1024 * (block + 1));
  AscendC::SyncAll();
  a.SetValue(0, 2.0f);
  AscendC::DataCopy(out[block * 64], a, 64);
}
"""


def test_blocks_that_meet_on_a_machine_with_fewer_cores() -> None:
    """The launch knows the machine; a trace of a launch for another one is refused when it is modelled."""
    found, x, small = gnt.kernel(source=MEET), gnt.out((4 * 64,), np.float32), load_machine().with_(cores=3)
    with pytest.raises(LaunchRefused, match="the launch has 4 blocks, and the chip has 3 cores"):
        gnt.profile(found, x, machine=small, blocks=4)
    traced = found.run(x, blocks=4, tracing=Tracing(blocks=1))
    with pytest.raises(ArgumentError, match="4 blocks wait for each other"):
        profile_of(traced, machine=small)


def test_blocks_of_a_real_launch_meet() -> None:
    """Blocks take turns on the twin's threads; each one's events, scalar runs too, stay its own and in order."""
    found = gnt.profile(gnt.kernel(source=MEET), gnt.out((4 * 64,), np.float32), blocks=4)
    for block, events in found.trace.blocks.items():
        kinds = [one.kind for one in events]
        assert kinds == [
            Kind.INIT_BUFFER,
            Kind.SCALARS,
            Kind.VECTOR,
            Kind.BARRIER,
            Kind.SYNC_ALL,
            Kind.SCALARS,
            Kind.COPY,
            Kind.BARRIER,
        ]
        assert all(one.block == block for one in events)
    ends = [next(found.timeline.of(block, Pipe.V)).end for block in range(4)]
    assert ends == sorted(ends)
    goes_on = [list(found.timeline.of(block, Pipe.S))[1].start for block in range(4)]
    assert goes_on == [max(ends) + B3.round_trip + B3.meet + B3.round_trip] * 4
    assert next(stall.cause for stall in found.stalls if stall.pipe is Pipe.S) == "blocks"


LARGE = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void large(GM_ADDR x) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 150 * 1024);
  AscendC::LocalTensor<float> a = buffer.Get<float>();
  AscendC::Duplicate(a, 1.0f, 64);
  AscendC::GlobalTensor<float> to;
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 64);
  AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
  AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
  AscendC::DataCopy(to, a, 64);
}
"""


@pytest.mark.thorough
def test_the_unified_buffer_has_the_size_that_the_chip_says(tmp_path: Path) -> None:
    chip = tmp_path / "small.toml"
    chip.write_text(
        'extends = "a2"\nname = "Small"\n'
        + "".join(
            f'[constants.{name}]\nvalue = {value}\nunit = "{unit}"\nsource = "made up"\nconfidence = "low"\n'
            for name, value, unit in (
                ("cores", 4, "vector cores"),
                ("clock_ghz", 1.0, "GHz"),
                ("l2_bytes", 1 << 27, "bytes"),
                ("ub_bytes", 128 * 1024, "bytes"),
            )
        )
    )
    source, x = gnt.kernel(source=LARGE), np.zeros(64, np.float32)
    assert gnt.profile(source, gnt.inout(x)).microseconds > 0
    with pytest.raises(gnt.errors.KernelFault, match=r"131,?072|128"):
        gnt.profile(source, gnt.inout(x), machine=chip)


def test_a_library_is_built_for_the_default_chip() -> None:
    text = (Path(gnt.__file__).parent / "twin/include/gn_twin/base/config.h").read_text()
    factors = re.search(r"#define GNT_UB_BYTES \((\d+) \* (\d+)\)", text)
    assert factors
    assert int(factors[1]) * int(factors[2]) == gnt.load_machine().ub_bytes
