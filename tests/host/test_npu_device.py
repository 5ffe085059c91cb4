"""kernels/npu as the device of the host API, over a stand-in for CANN's runtime (tests/npu_stand_in).

The stand-in is a stream that does nothing until it is synchronised and runs the twin's kernels then. The tests check
our part: order, threads, contexts, how long host memory lives, the result of a failure. Nothing here ran on an NPU.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Sequence
from ctypes import byref, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from host_api_support import View, contiguous
from host_cases import CASES
from npu_support import make_toolkit, needs_cmake, toolkit_variables

from gn_tutorial import reference
from gn_tutorial.compiler.build import build_kernel
from gn_tutorial.compiler.dtype_macros import graph_number
from gn_tutorial.errors import KernelError
from gn_tutorial.host import npu as npu_module
from gn_tutorial.host.c_headers import HostFunc
from gn_tutorial.host.c_library import Code, Refused, call, check, describe, kernels, library
from gn_tutorial.host.stream import Stream
from gn_tutorial.operators.registry import all_kernels, load_registry
from gn_tutorial.timing.machine import default_cores

pytestmark = needs_cmake


class Npu:
    """The library, built by ``gnt dev npu``'s own commands with a stand-in toolkit, and what one asks of both."""

    def __init__(self, toolkit: Path, folder: Path) -> None:
        self.runtime = make_toolkit(toolkit)
        self.c = npu_module.declared_library(npu_module.build(folder, toolkit_variables(toolkit)))
        for _, spec in all_kernels(load_registry()):
            if spec.id in kernels():
                kernel = build_kernel(spec.file, observed=False).library
                assert self.runtime.stand_in_kernel(spec.entry.encode(), str(kernel).encode()) == 0

    def seen(self, what: str) -> int:
        return int(self.runtime.stand_in_seen(what.encode()))

    def wrap(self, stream: int) -> c_void_p:
        made = c_void_p()
        check(self.c.GnWrapStream(stream, byref(made)), self.c)
        return made

    def tensor(self, array: np.ndarray | None) -> c_void_p | None:
        if array is None:
            return None
        strides = [step // array.itemsize for step in array.strides]
        return describe(self.c, array.shape, strides, graph_number(array.dtype.name), array.ctypes.data)

    def run(self, name: str, stream: c_void_p, inputs: Sequence[Any], outputs: Sequence[Any], *numbers: Any) -> Any:
        """Both calls of an operator. Returns the memory that must stay."""
        words = (*map(self.tensor, inputs), *numbers, *map(self.tensor, outputs))
        return call(self.c, name, words, stream, memory), inputs, outputs

    def group_norm(
        self, stream: c_void_p, x: np.ndarray, gamma: np.ndarray | None, groups: int
    ) -> tuple[tuple[np.ndarray, ...], Any]:
        """Both calls. Returns y, mean, rstd and the memory that must stay."""
        sizes = (*x.shape[:2], int(np.prod(x.shape[2:])))
        made = (np.full_like(x, -77), *(np.full((x.shape[0], groups), -77, np.float32) for _ in range(2)))
        words = (*map(self.tensor, (x, gamma, None)), *sizes, groups, 1e-5, *map(self.tensor, made))
        return made, (call(self.c, "GroupNorm", words, stream, memory), x, gamma)


def memory(count: int) -> tuple[np.ndarray, int]:
    made = np.full(count, 0xA5, np.uint8)
    return made, made.ctypes.data


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Npu:
    return Npu(tmp_path_factory.mktemp("toolkit"), tmp_path_factory.mktemp("build"))


@pytest.fixture
def npu(built: Npu) -> Iterator[Npu]:
    built.runtime.stand_in_reset(0)
    built.runtime.stand_in_cores(default_cores())
    yield built
    built.runtime.stand_in_reset(0)


def data(shape: Sequence[int], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    channels = (1, shape[1], *[1] * (len(shape) - 2))
    return (rng.standard_normal(shape) * rng.uniform(0.5, 4, channels) + rng.normal(0, 2, channels)).astype(np.float32)


def expect(made: tuple[np.ndarray, ...], x: np.ndarray, gamma: np.ndarray | None, groups: int) -> None:
    golden = reference.group_norm(
        x, np.ones(x.shape[1]) if gamma is None else gamma, np.zeros(x.shape[1]), num_groups=groups
    )
    for got, right in zip(made, golden, strict=True):
        np.testing.assert_allclose(got, right, rtol=2e-5, atol=2e-5)


def test_host_memory_outlives_the_copies_and_nobody_waits(npu: Npu) -> None:
    raw = npu.runtime.stand_in_stream()
    stream = npu.wrap(raw)
    # Many shapes behind each other: a tiling struct or a constant that another call overwrote gives wrong numbers.
    cases = [((2, 6, 4, 3), 3), ((1, 4096 * 2 + 4, 2), 4), ((3, 8, 33), 8), ((4, 4, 1), 2), ((2, 12, 5, 7), 1)]
    asked = []
    for seed, (shape, groups) in enumerate(cases):
        x = data(shape, seed)
        gamma = data((1, shape[1]), seed)[0] if seed % 2 else None
        asked.append((*npu.group_norm(stream, x, gamma, groups), x, gamma, groups))
    assert npu.seen("waits") == 0, "a copy from pageable memory: each operator would wait for the stream"
    assert npu.seen("launches") == len(cases)
    assert all((made[0] == -77).all() for made, *_ in asked), "something ran before the stream was synchronised"
    assert npu.c.GnSynchronizeStream(stream) == 0
    for made, _, x, gamma, groups in asked:
        expect(made, x, gamma, groups)
    assert npu.c.GnDestroyStream(stream) == 0


def test_staging_memory_is_used_again_and_given_back(npu: Npu) -> None:
    stream = npu.wrap(npu.runtime.stand_in_stream())
    x, gamma = data((2, 6, 4, 3), 1), data((1, 6), 2)[0]
    for _ in range(20):
        made, _kept = npu.group_norm(stream, x, gamma, 3)
        assert npu.c.GnSynchronizeStream(stream) == 0
        expect(made, x, gamma, 3)
    assert npu.seen("copies") == 2 * 20  # the tiling struct, and zeros for beta
    assert npu.seen("pinned") == 2
    assert npu.c.GnDestroyStream(stream) == 0
    assert npu.seen("live_pinned") == npu.seen("live_events") == 0


def test_a_captured_graph_can_be_replayed_as_often_as_one_likes(npu: Npu) -> None:
    """Its copies read the host's memory at every replay, long after other calls have used and left theirs."""
    raw = npu.runtime.stand_in_stream()
    stream = npu.wrap(raw)
    x, gamma = data((2, 6, 4, 3), 60), data((1, 6), 61)[0]
    before, _ = npu.group_norm(stream, x, gamma, 3)  # leaves an event behind, which must not be asked for now
    assert npu.runtime.aclmdlRICaptureBegin(raw, 0) == 0
    made, kept = npu.group_norm(stream, x, gamma, 3)
    other, _kept = npu.group_norm(stream, x, None, 2)
    graph = c_void_p()
    assert npu.runtime.aclmdlRICaptureEnd(raw, byref(graph)) == 0
    assert npu.c.GnSynchronizeStream(stream) == 0
    expect(before, x, gamma, 3)
    assert (made[0] == -77).all(), "captured work runs at a replay, not before"
    for seed in range(62, 65):
        unlike = data((3, 8, 33), seed)  # takes any memory that is thought to be free
        between, _free = npu.group_norm(stream, unlike, None, 8)
        x[...] = data(x.shape, seed)  # a graph keeps addresses: new numbers go to the same place
        assert npu.runtime.aclmdlRIExecuteAsync(graph, raw) == 0
        assert npu.c.GnSynchronizeStream(stream) == 0
        expect(made, x, gamma, 3)
        expect(other, x, None, 2)
        expect(between, unlike, None, 8)
    assert npu.seen("waits") == 0
    assert npu.c.GnDestroyStream(stream) == 0
    assert npu.runtime.aclmdlRIExecuteAsync(graph, raw) == 0, "the graph outlives the handle of the stream"
    made[0][...] = -77
    assert npu.runtime.aclrtSynchronizeStream(raw) == 0
    expect(made, x, gamma, 3)
    assert npu.runtime.aclmdlRIDestroy(graph) == 0
    del kept


def test_waiting_for_a_stream_that_is_captured_is_said(npu: Npu) -> None:
    raw = npu.runtime.stand_in_stream()
    stream = npu.wrap(raw)
    assert npu.runtime.aclmdlRICaptureBegin(raw, 0) == 0
    assert npu.c.GnSynchronizeStream(stream) == Code.RUNTIME
    assert b"aclrtSynchronizeStream returned 107041" in npu.c.GnGetRecentErrMsg()
    graph = c_void_p()
    assert npu.runtime.aclmdlRICaptureEnd(raw, byref(graph)) == 107041, "and the graph is spoilt"
    assert npu.runtime.aclmdlRIDestroy(graph) == 0
    assert npu.c.GnDestroyStream(stream) == 0


def test_backward_and_a_tensor_that_is_not_contiguous(npu: Npu) -> None:
    stream = npu.wrap(npu.runtime.stand_in_stream())
    x = data((2, 4, 5, 6), 3).transpose(0, 1, 3, 2)
    dy, gamma = data((2, 6, 5, 4), 4).transpose(0, 3, 1, 2), data((1, 4), 5)[0]
    (y, mean, rstd), kept = npu.group_norm(stream, x, gamma, 2)
    gradients = (np.empty_like(x), np.empty_like(gamma), np.empty_like(gamma))
    words = (*map(npu.tensor, (dy, x, mean, rstd, gamma)), 2, 4, 30, 2, (ctypes.c_uint8 * 3)(1, 1, 1), 3)
    workspace = call(npu.c, "GroupNormBackward", (*words, *map(npu.tensor, gradients)), stream, memory)
    assert npu.c.GnSynchronizeStream(stream) == 0
    assert npu.seen("launches") > 2, "the strided copies are launches of their own"
    expect((y, mean, rstd), x, gamma, 2)
    golden = reference.group_norm_backward(dy, x, mean, rstd, gamma, num_groups=2)
    for got, right in zip(gradients, golden, strict=True):
        np.testing.assert_allclose(got, right, rtol=2e-5, atol=5e-5)
    del workspace, kept
    assert npu.c.GnDestroyStream(stream) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_gelu_takes_its_numbers_by_value_and_needs_no_copy(npu: Npu, dtype: type) -> None:
    stream = npu.wrap(npu.runtime.stand_in_stream())
    asked = []
    for seed, shape in enumerate([(3, 5), (2, 4099, 2), (1, 1, 1), (2, 3, 50)]):
        x, dy = (data((*shape, 4), seed + at).astype(dtype)[..., 0].copy() for at in (0, 40))
        y, dx = np.full_like(x, -77), np.full_like(x, -77)
        kept = (npu.run("Gelu", stream, (x,), (y,)), npu.run("GeluBackward", stream, (dy, x), (dx,)))
        asked.append((x, dy, y, dx, kept))
    assert (npu.seen("launches"), npu.seen("copies"), npu.seen("waits")) == (8, 0, 0)
    assert all((y == -77).all() and (dx == -77).all() for _, _, y, dx, _ in asked)
    assert npu.c.GnSynchronizeStream(stream) == 0
    for x, dy, y, dx, _ in asked:
        wide, grad = x.astype(np.float64), dy.astype(np.float64)
        rtol = 1e-6 if dtype is np.float32 else 5e-4
        np.testing.assert_allclose(y, reference.gelu(wide, "tanh"), rtol=rtol, atol=3e-7)
        np.testing.assert_allclose(dx, reference.gelu_backward(grad, wide, "tanh"), rtol=rtol, atol=3e-6)
    assert npu.c.GnDestroyStream(stream) == 0


def test_linear_and_its_gradients(npu: Npu) -> None:
    stream = npu.wrap(npu.runtime.stand_in_stream())
    x, bias = data((5, 7, 70), 20), data((1, 33), 21)[0]
    weight = data((70, 33), 22).T  # its columns stand one behind the other: packed first
    y, dy = np.full((5, 7, 33), -77, np.float32), data((5, 7, 33), 23)
    dweight, dbias = np.full((33, 70), -77, np.float32), np.full(33, -77, np.float32)
    kept = [npu.run("Linear", stream, (x, weight, bias), (y,))]
    mask = (ctypes.c_uint8 * 3)(0, 1, 1)
    kept.append(npu.run("LinearBackward", stream, (dy, x, weight), (None, dweight, dbias), mask, 3))
    without = np.full_like(y, -77)
    kept.append(npu.run("Linear", stream, (x, weight, None), (without,)))
    assert npu.seen("launches") == 2 * 3, "each with a copy of the weight in front of it"
    assert npu.seen("waits") == 0
    assert npu.c.GnSynchronizeStream(stream) == 0
    wide = [one.astype(np.float64) for one in (x, weight, bias, dy)]
    near = {"rtol": 1e-5, "atol": 2e-4}  # sums of 70 products of numbers up to 20
    np.testing.assert_allclose(y, reference.linear(*wide[:3]), **near)
    np.testing.assert_allclose(without, reference.linear(*wide[:2], np.zeros(33)), **near)
    right = reference.linear_backward(wide[3], *wide[:2])
    np.testing.assert_allclose(dweight, right[1], **near)
    np.testing.assert_allclose(dbias, right[2], **near)
    del kept
    assert npu.c.GnDestroyStream(stream) == 0


@pytest.mark.parametrize("name", CASES)
def test_every_operator_has_the_bits_of_the_twin(npu: Npu, name: str) -> None:
    case, rng = CASES[name], np.random.default_rng(3)
    tensors = {
        key: rng.uniform(0.1, 2, one.dims).astype(np.float32) for key, one in case.call.items() if isinstance(one, View)
    }

    def run(loaded: ctypes.CDLL, stream: c_void_p) -> list[np.ndarray]:
        arrays = {key: np.full_like(one, -77) if key in case.fuzz.outputs else one for key, one in tensors.items()}
        words = [
            describe(loaded, one.shape, contiguous(one.shape), 0, one.ctypes.data)
            if (one := arrays.get(key)) is not None
            else ((ctypes.c_uint8 * len(value))(*value) if key == "outputMask" else value)
            for key, value in case.call.items()
        ]
        kept = call(loaded, name, words, stream, memory)
        check(loaded.GnSynchronizeStream(stream), loaded)
        del kept
        return [arrays[key] for key in case.fuzz.outputs]

    with Stream() as stream:
        on_the_twin = run(library(), stream.ready(name))
    before = npu.seen("launches")
    for one, right in zip(run(npu.c, npu.wrap(npu.runtime.stand_in_stream())), on_the_twin, strict=True):
        assert (right != -77).all()
        np.testing.assert_array_equal(one, right)
    assert npu.seen("launches") > before


def test_pytorch_s_operators_go_the_same_way(npu: Npu, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels under PrivateUse1 are those under CPU, and take another device: here it is this one."""
    torch = pytest.importorskip("torch")
    from contextlib import nullcontext

    from gn_tutorial import torch_ops
    from gn_tutorial.torch_ops import launch

    stream = npu.wrap(npu.runtime.stand_in_stream())

    class Here:
        chosen, library = staticmethod(nullcontext), staticmethod(lambda: npu.c)
        plain = staticmethod(lambda tensors: tensors)
        stream = staticmethod(lambda operator: stream)

    class Waiting(launch._Plan):
        def run(self, *words: Any) -> None:
            # On an NPU nobody waits. Here memory that is given back is gone at once.
            given, empty = [], torch.empty
            monkeypatch.setattr(torch, "empty", lambda *some, **named: given.append(empty(*some, **named)) or given[-1])
            super().run(*words)
            monkeypatch.setattr(torch, "empty", empty)
            check(npu.c.GnSynchronizeStream(stream), npu.c)

    inputs = [torch.from_numpy(one) for one in (data((5, 70), 30), data((33, 70), 31), data((1, 33), 32)[0])]
    grad = torch.from_numpy(data((5, 33), 33))

    def results() -> list[Any]:
        leaves = [one.clone().requires_grad_() for one in inputs]
        y = torch_ops.gelu(torch_ops.linear(*leaves))
        return [y.detach(), *torch.autograd.grad(y, leaves, grad)]

    on_the_twin = results()
    monkeypatch.setattr(launch, "device_of", lambda _: Here)
    monkeypatch.setattr(launch, "_Plan", Waiting)
    assert npu.seen("launches") == 0
    for one, right in zip(results(), on_the_twin, strict=True):
        torch.testing.assert_close(one, right, rtol=0, atol=0)
    assert npu.seen("launches") == 4
    assert npu.c.GnDestroyStream(stream) == 0


def test_cores_are_those_of_the_device(npu: Npu) -> None:
    stream = npu.wrap(npu.runtime.stand_in_stream())
    x, gamma = data((64, 4, 9), 6), data((1, 4), 7)[0]
    blocks = []
    for cores in (40, 24, 48):
        npu.runtime.stand_in_cores(cores)
        assert npu.c.GnVectorCores() == cores
        made, kept = npu.group_norm(stream, x, gamma, 4)
        blocks.append(npu.seen("blocks"))
        assert npu.c.GnSynchronizeStream(stream) == 0
        expect(made, x, gamma, 4)
        del kept
    assert max(blocks) <= 48
    assert blocks[1] <= 24
    npu.runtime.stand_in_cores(0)
    with pytest.raises(Refused, match="cores"):
        npu.group_norm(stream, x, gamma, 4)
    assert npu.c.GnDestroyStream(stream) == 0


def test_work_is_submitted_on_the_caller_s_thread_in_the_stream_s_context(npu: Npu) -> None:
    stream = npu.wrap(npu.runtime.stand_in_stream())
    x, gamma = data((2, 6, 4, 3), 8), data((1, 6), 9)[0]
    found: list[Any] = []

    def other_device() -> None:
        npu.runtime.stand_in_reset(1)  # this thread works on device 1, the stream is device 0's
        found.append(npu.group_norm(stream, x, gamma, 3))
        found.append(npu.seen("on_this_thread"))
        found.append(npu.c.GnSynchronizeStream(stream))
        found.append(npu.seen("device"))

    thread = threading.Thread(target=other_device)
    thread.start()
    thread.join()
    (made, _), here, status, device = found
    assert (here, status, device) == (1, 0, 1)
    expect(made, x, gamma, 3)
    assert npu.c.GnDestroyStream(stream) == 0


def test_failures_are_said_at_once(npu: Npu) -> None:
    raw = npu.runtime.stand_in_stream()
    stream = npu.wrap(raw)
    x, gamma = data((2, 6, 4, 3), 10), data((1, 6), 11)[0]
    npu.runtime.stand_in_fail(0, 507)
    with pytest.raises(KernelError, match=r"group_norm_any returned 507.*told to fail"):
        npu.group_norm(stream, x, gamma, 3)
    npu.runtime.stand_in_fail(207, 0)
    with pytest.raises(KernelError, match="aclrtMemcpyAsync returned 207"):
        npu.group_norm(stream, x, gamma, 3)
    made, _kept = npu.group_norm(stream, x, gamma, 3)  # and the stream goes on
    assert npu.c.GnSynchronizeStream(stream) == 0
    expect(made, x, gamma, 3)
    assert npu.c.GnDestroyStream(stream) == 0


def test_a_thread_without_a_device_is_refused(npu: Npu) -> None:
    raw = npu.runtime.stand_in_stream()
    npu.runtime.stand_in_reset(-1)
    made = c_void_p()
    assert npu.c.GnVectorCores() == 0
    assert npu.c.GnCreateStream(byref(made)) == Code.INNER
    assert b"no NPU as its current device" in npu.c.GnGetRecentErrMsg()
    assert npu.c.GnWrapStream(raw, byref(made)) == Code.RUNTIME
    assert b"aclrtSetDevice" in npu.c.GnGetRecentErrMsg()
    assert npu.c.GnWrapStream(None, byref(made)) == Code.PARAM_NULLPTR


def test_streams_of_our_own_are_destroyed_and_wrapped_ones_are_not(npu: Npu) -> None:
    made = c_void_p()
    assert npu.c.GnCreateStream(byref(made)) == 0
    assert npu.seen("streams") == 1
    assert npu.c.GnDestroyStream(made) == 0
    assert npu.seen("streams") == 0
    raw = npu.runtime.stand_in_stream()
    wrapped = npu.wrap(raw)
    x, gamma = data((2, 6, 4, 3), 12), data((1, 6), 13)[0]
    results, _kept = npu.group_norm(wrapped, x, gamma, 3)
    assert npu.c.GnDestroyStream(wrapped) == 0  # waits, so that staging memory can go
    expect(results, x, gamma, 3)
    assert npu.runtime.stand_in_waiting(raw) == 0
    assert npu.runtime.aclrtSynchronizeStream(raw) == 0, "its maker can go on with it"
    assert npu.c.GnSynchronizeStream(wrapped) == Code.PARAM_INVALID


def test_a_stream_has_one_handle(npu: Npu) -> None:
    first, second = npu.runtime.stand_in_stream(), npu.runtime.stand_in_stream()
    handle = npu_module.stream_of(npu.c, first)
    assert npu_module.stream_of(npu.c, first).value == handle.value != npu_module.stream_of(npu.c, second).value
    x, gamma = data((2, 6, 4, 3), 16), data((1, 6), 17)[0]
    made, _kept = npu.group_norm(handle, x, gamma, 3)
    assert npu.runtime.stand_in_waiting(second) == 0
    assert npu.runtime.aclrtSynchronizeStream(first) == 0, "as PyTorch would: it knows no handle"
    expect(made, x, gamma, 3)
    with pytest.raises(Refused, match="aclrt_stream is null"):
        npu_module.stream_of(npu.c, 0)


def test_a_host_function_takes_its_turn(npu: Npu) -> None:
    stream = npu.wrap(npu.runtime.stand_in_stream())
    x, gamma = data((2, 6, 4, 3), 14), data((1, 6), 15)[0]
    made, _kept = npu.group_norm(stream, x, gamma, 3)
    seen: list[bool] = []
    function = HostFunc(lambda _: seen.append(bool((made[0] == -77).all())))
    assert npu.c.GnLaunchHostFunc(stream, function, None) == 0
    assert seen == []
    assert npu.c.GnSynchronizeStream(stream) == 0
    assert seen == [False], "it ran before the operator in front of it"
    assert npu.c.GnDestroyStream(stream) == 0
