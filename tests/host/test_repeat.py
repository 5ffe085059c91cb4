"""Executors that are run again with tensors elsewhere, and streams that do their work at once."""

from __future__ import annotations

import threading
from ctypes import byref, c_uint64, c_void_p
from typing import Any

import numpy as np
import pytest
from host_api_support import GONE

from gn_tutorial import host, reference
from gn_tutorial.host import Code, Refused, Stream, Tensor, c_library
from gn_tutorial.host.c_headers import HostFunc

GROUPS = 3
SHAPE = (2, 6, 4, 5)


def data(seed: int, strided: bool = False) -> list[np.ndarray]:
    """x, gamma, beta, y, mean, rstd of a GroupNorm. strided: x has gaps, so that a plan packs it."""
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal((*SHAPE[:3], 10)) * rng.uniform(0.5, 4, (1, 6, 1, 1)) + 3).astype(np.float32)
    x = x[..., ::2] if strided else np.ascontiguousarray(x[..., :5])
    affine = [rng.uniform(0.5, 2, 6).astype(np.float32) for _ in range(2)]
    return [x, *affine, np.full(SHAPE, -77, np.float32), *(np.full((2, GROUPS), -77, np.float32) for _ in range(2))]


class Plan:
    """A repeatable executor of GroupNorm for arrays like these, and one run of it."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        tensors = [Tensor(one) for one in arrays]
        self.handles = [one.handle for one in tensors]
        words = (*self.handles[:3], 2, 6, 20, GROUPS, 1e-5, *self.handles[3:])
        self.executor, self.bytes = c_library.repeatable(c_library.library(), "GroupNorm", words, self.handles)

    def run(self, on: c_void_p, arrays: list[Any], **changed: Any) -> np.ndarray:
        """Raises Refused. Returns the workspace, which must stay."""
        memory = np.full(self.bytes + 7, 0xA5, np.uint8)
        addresses = [one.ctypes.data if isinstance(one, np.ndarray) else one for one in arrays]
        words: dict[str, Any] = {
            "executor": self.executor,
            "addresses": (c_void_p * len(addresses))(*addresses),
            "count": len(addresses),
            "workspace": memory.ctypes.data + 7,
            "bytes": self.bytes,
            "stream": on,
        }
        c_library.check(c_library.library().GnRunExecutor(*{**words, **changed}.values()))
        return memory


def expect(arrays: list[np.ndarray]) -> None:
    expected = reference.group_norm(*arrays[:3], num_groups=GROUPS)
    np.testing.assert_allclose(arrays[3], expected.y, rtol=1e-5, atol=2e-5)
    np.testing.assert_allclose(arrays[4], expected.mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(arrays[5], expected.rstd, rtol=1e-5)


@pytest.mark.parametrize("strided", [False, True])
def test_one_plan_serves_tensors_elsewhere(strided: bool) -> None:
    plan = Plan(data(1, strided))
    runs = [data(seed, strided) for seed in (2, 3, 4)]
    with Stream() as stream:
        kept = [plan.run(stream.ready("GroupNorm"), arrays) for arrays in runs]  # addresses are read at once
        stream.synchronize()
    assert len(kept) == 3
    for arrays in runs:
        expect(arrays)
    assert c_library.library().GnDestroyExecutor(plan.executor) == 0
    with pytest.raises(Refused, match="executor was used or destroyed before"):
        plan.run(c_void_p(0x10), runs[0])


def test_the_second_call_leaves_a_repeatable_executor() -> None:
    arrays = data(5)
    plan = Plan(arrays)
    with Stream() as stream:
        memory = np.empty(plan.bytes, np.uint8)
        for _ in range(2):
            arrays[3][:] = -77
            words = (memory.ctypes.data, plan.bytes, plan.executor, stream.ready("GroupNorm"))
            c_library.check(c_library.library().GroupNorm(*words))
            stream.synchronize()
            expect(arrays)


def test_threads_share_a_plan() -> None:
    plan, failed = Plan(data(6)), []

    def work(seed: int) -> None:
        try:
            with Stream(direct=True) as stream:
                for more in range(20):
                    arrays = data(100 * seed + more)
                    plan.run(stream.ready("GroupNorm"), arrays)
                    expect(arrays)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2, 3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failed


def test_what_depends_on_addresses_is_refused_in_each_run() -> None:
    arrays = data(7)
    plan, x = Plan(arrays), arrays[0]
    rows = [
        ({}, {3: None}, Code.PARAM_NULLPTR, r"tensorData\[3\] is null, and the tensor has elements"),
        ({}, {0: x.ctypes.data + 2}, Code.PARAM_INVALID, r"tensorData\[0\] is not a multiple of 4"),
        ({}, {3: x}, Code.PARAM_INVALID, r"tensorData\[3\] shares memory with tensorData\[0\], and is written"),
        ({}, {5: arrays[4]}, Code.PARAM_INVALID, r"tensorData\[5\] shares memory with tensorData\[4\]"),
        ({"workspace": x.ctypes.data}, {}, Code.PARAM_INVALID, "workspace shares memory with a tensor"),
        ({"workspace": None}, {}, Code.PARAM_NULLPTR, "workspace is null"),
        ({"bytes": plan.bytes - 1}, {}, Code.PARAM_INVALID, "workspaceSize is"),
        ({"count": 5}, {}, Code.PARAM_INVALID, "count is 5; it must be 6"),
        ({"addresses": None}, {}, Code.PARAM_NULLPTR, "tensorData is null"),
        ({"executor": None}, {}, Code.PARAM_NULLPTR, "executor is null"),
        ({"executor": GONE}, {}, Code.PARAM_INVALID, "executor was used or destroyed before"),
        ({"stream": None}, {}, Code.PARAM_NULLPTR, "stream is null"),
        ({"stream": GONE}, {}, Code.PARAM_INVALID, "stream was destroyed"),
    ]
    with Stream(direct=True) as stream:
        for changed, moved, code, text in rows:
            moved_arrays = [moved.get(at, one) for at, one in enumerate(arrays)]
            with pytest.raises(Refused, match=text) as caught:
                plan.run(stream.ready("GroupNorm"), moved_arrays, **changed)
            assert caught.value.code == code
            assert (arrays[3] == -77).all()
        plan.run(stream.ready("GroupNorm"), arrays)
    expect(arrays)


def test_only_a_repeatable_executor_runs_again() -> None:
    loaded, arrays = c_library.library(), data(8)
    plan = Plan(arrays)
    handles = (c_void_p * 6)(*plan.handles)
    with pytest.raises(Refused, match="executor is repeatable already"):
        c_library.check(loaded.GnSetExecutorRepeatable(plan.executor, handles, 6))
    tensors = [Tensor(one) for one in arrays]
    words = (*[one.handle for one in tensors[:3]], 2, 6, 20, GROUPS, 1e-5, *[one.handle for one in tensors[3:]])
    size, executor = c_uint64(), c_void_p()
    c_library.check(loaded.GroupNormGetWorkspaceSize(*words, byref(size), byref(executor)))
    with Stream(direct=True) as stream, pytest.raises(Refused, match="executor is not repeatable"):
        plan.run(stream.ready("GroupNorm"), arrays, executor=executor)
    for tensors_of, text in (
        (handles, "a tensor of the first call is not among the tensors"),
        (None, "tensors is null"),
    ):
        with pytest.raises(Refused, match=text):
            c_library.check(loaded.GnSetExecutorRepeatable(executor, tensors_of, 6))
    assert loaded.GnDestroyExecutor(executor) == 0


def test_a_direct_stream_has_done_its_work_when_a_call_returns() -> None:
    x, out = data(9)[0], np.full(SHAPE, -77, np.float32)
    with Stream(direct=True) as stream:
        host.group_norm(x, num_groups=GROUPS, stream=stream, out=out)
        np.testing.assert_allclose(out, reference.group_norm(x, num_groups=GROUPS).y, rtol=1e-5, atol=2e-5)
        with pytest.raises(Refused, match="this stream has no thread to call a host function on"):
            c_library.check(c_library.library().GnLaunchHostFunc(stream.handle, HostFunc(lambda _: None), None))
        stream.synchronize()
    with pytest.raises(Refused, match="stream was destroyed"):
        host.group_norm(x, num_groups=GROUPS, stream=stream)
