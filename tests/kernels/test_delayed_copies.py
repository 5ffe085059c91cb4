"""Copies that take effect when waited for: right kernels give the same bits, a forgotten wait gives wrong numbers."""

from __future__ import annotations

import numpy as np
import pytest
from odd_calls import odd_call
from program_pairs import SOURCES, run

import gn_tutorial as gnt
from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import ArgumentError, KernelFault
from gn_tutorial.operators.registry import load_registry
from gn_tutorial.operators.result import Result
from gn_tutorial.operators.spec import KernelSpec, OpSpec

DELAYED = TwinOptions(delayed_dma=True)
WRONG = [
    name
    for name, path in SOURCES.items()
    if name.startswith("race/") and name.endswith("_bad") and "\n// delayed: wrong numbers\n" in path.read_text()
]


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith("_ok")])
def test_right_programs_give_the_same_bits(name: str) -> None:
    late, plain = (run(name, delayed_dma=delayed).arrays["y"] for delayed in (True, False))
    assert late.tobytes() == plain.tobytes()


@pytest.mark.parametrize("name", WRONG)
def test_a_forgotten_wait_gives_wrong_numbers(name: str) -> None:
    seen = {}
    for late in (False, True):
        seen[late] = np.zeros(1024, np.float32)
        with pytest.raises(KernelFault):
            run(name, seen[late], delayed_dma=late)
    right = run(name.replace("_bad", "_ok")).arrays["y"]
    assert seen[True].tobytes() != right.tobytes()
    # In program order the statement that differs is often one that changes no number.
    assert seen[False].tobytes() != seen[True].tobytes()


def test_most_hazards_of_copies_show() -> None:
    assert len(WRONG) >= 12


KERNELS = [(op, spec) for op in load_registry().values() for spec in op.kernels]
# They count on the compiler for the order of vector instructions, as kernels that are launched directly may.
IMPLICIT = {
    "group_norm_silu/fused",
    "group_norm_silu_backward/fused",
    "rms_norm_backward/chunks",
    "add_rms_norm_backward/chunks",
} | {
    spec.id
    for op, spec in KERNELS
    if op.name.endswith("_nhwc") or (op.name in ("group_norm", "group_norm_backward") and spec.step > 1)
}


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("auto_sync", ["on", "off"])
@pytest.mark.parametrize(("op", "spec"), KERNELS, ids=lambda one: getattr(one, "id", ""))
def test_registered_kernels_do_not_notice(op: OpSpec, spec: KernelSpec, blocks: int, auto_sync: str) -> None:
    arrays, more = odd_call(op, spec)

    def launch(delayed: bool) -> Result:
        options = TwinOptions(auto_sync=auto_sync, delayed_dma=delayed)
        return gnt.kernel(spec.id)(
            *arrays.values(), blocks=blocks, isolated=False, observed=True, options=options, **more
        )

    if auto_sync == "off" and spec.id in IMPLICIT:
        with pytest.raises(KernelFault) as caught:
            launch(True)
        assert {one.id.partition("-")[0] for one in caught.value.diagnostics} == {"race"}
        return
    plain, late = launch(False), launch(True)
    assert plain.diagnostics == late.diagnostics == ()
    for output, array in plain.outputs.items():
        assert array.tobytes() == late.outputs[output].tobytes()


def test_an_isolated_launch_delays_too() -> None:
    x = np.arange(4096, dtype=np.float32)
    assert np.array_equal(gnt.kernel("copy")(x, blocks=2, options=DELAYED).y, x)


def test_a_bare_library_refuses_the_option() -> None:
    x = np.arange(64, dtype=np.float32)
    with pytest.raises(ArgumentError, match="delayed_dma"):
        gnt.kernel("copy")(x, blocks=1, isolated=False, observed=False, options=DELAYED)


PADDED = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void padded(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> t = buffer.Get<float>();
  DataCopyPad(t, xGm, DataCopyExtParams{2, 12, 4, 1, 0}, DataCopyPadExtParams<float>{true, 1, 2, 7.0f});
  SetPadValue(9.0f);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  SetAtomicAdd<float>();
  DataCopyPad(yGm, t, DataCopyExtParams{2, 24, 1, 8, 0});
  SetAtomicNone();
}
"""


def test_a_copy_keeps_the_settings_it_was_issued_with() -> None:
    """The padding value and the atomic operation change before the copies take effect."""
    x = np.arange(1, 33, dtype=np.float32)
    results = []
    for options in (TwinOptions(), DELAYED):
        given = gnt.inout(np.full(32, 100, np.float32))
        results.append(gnt.kernel(source=PADDED).run(x, given, isolated=False, options=options).y)
    assert np.array_equal(results[0][:14], [107, 101, 102, 103, 107, 107, 100, 100, 107, 105, 106, 107, 107, 107])
    assert results[0].tobytes() == results[1].tobytes()
