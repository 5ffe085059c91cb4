"""Refusals that all operators share: descriptors, handles, memory that two tensors share, the second call."""

from __future__ import annotations

import ctypes
from ctypes import c_void_p
from typing import Any

import pytest
from host_api_support import GONE, HALF, View, first_call
from host_cases import CASES

from gn_tutorial import host
from gn_tutorial.host import Code, whole_numbers

NULLPTR, INVALID = Code.PARAM_NULLPTR, Code.PARAM_INVALID
FORWARD, BACKWARD = CASES["GroupNorm"].call, CASES["GroupNormBackward"].call

# --- descriptors -----------------------------------------------------------------------------------------------------


TENSOR_ROWS: list[tuple[str, View, Code, str]] = [
    ("nine-axes", View((1,) * 9), INVALID, "viewDimsNum is 9; a tensor has at most 8 axes"),
    ("nine-storage-axes", View((1,), storage=(1,) * 9), INVALID, "storageDimsNum is 9"),
    ("dim-negative", View((2, -3), storage=(6,)), INVALID, "viewDims[1] is -3; it must not be negative"),
    ("stride-negative", View((2, 3), strides=(3, -1), storage=(6,)), INVALID, "stride[1] is -1"),
    ("offset-negative", View((2, 3), offset=-1, storage=(6,)), INVALID, "offset is -1"),
    ("storage-negative", View((2, 3), storage=(6, -1)), INVALID, "storageDims[1] is -1"),
    ("beyond-storage", View((2, 3), storage=(5,)), INVALID, "last element is number 5, and the storage has 5 elements"),
    ("stride-beyond", View((2, 3), strides=(4, 1), storage=(6,)), INVALID, "last element is number 6"),
    ("offset-beyond", View((2, 3), offset=1, storage=(6,)), INVALID, "last element is number 6"),
    ("no-storage", View((), storage=(0,)), INVALID, "last element is number 0, and the storage has 0"),
    (
        "dims-overflow",
        View((1 << 40, 1 << 40), strides=(0, 0), storage=(1,)),
        INVALID,
        "product of viewDims does not fit",
    ),
    ("storage-overflow", View((1,), storage=(1 << 40, 1 << 40)), INVALID, "product of storageDims does not fit"),
    ("reach-overflow", View((3,), strides=(1 << 62,), storage=(9,)), INVALID, "too far to be counted"),
    ("larger-than-memory", View((1,), storage=(1 << 62,)), INVALID, "larger than memory"),
    ("misaligned", View((1,), data=0x1002), INVALID, "tensorData is not a multiple of 4, the bytes of float32"),
]


@pytest.mark.parametrize(("view", "code", "text"), [row[1:] for row in TENSOR_ROWS], ids=[r[0] for r in TENSOR_ROWS])
def test_descriptors_that_cannot_be(view: View, code: Code, text: str) -> None:
    status, handle = view.create()
    message = host.library().GnGetRecentErrMsg().decode()
    assert (status, text in message, handle.value) == (code, True, None), message
    assert "where: GnCreateTensor" in message


@pytest.mark.parametrize(
    ("missing", "text"), [(0, "viewDims"), (3, "stride"), (5, "storageDims"), (8, "tensor is null")], ids=str
)
def test_null_pointers_of_a_descriptor(missing: int, text: str) -> None:
    one = whole_numbers([1])
    words: list[Any] = [one, 1, 0, one, 0, one, 1, 0x1000, ctypes.byref(c_void_p())]
    words[missing] = None
    assert host.library().GnCreateTensor(*words) == NULLPTR
    assert text in host.library().GnGetRecentErrMsg().decode()


@pytest.mark.parametrize(
    "view",
    [
        View(()),
        View((1,) * 8),
        View((0, 1 << 40, 1 << 40), strides=(1, 1, 1), storage=(0,)),
        View((2, 0), strides=(1 << 62, 1 << 62), storage=(0,), data=0),
        View((3, 4), strides=(0, 0)),
        View((3, 4), strides=(1, 1)),
    ],
    ids=str,
)
def test_descriptors_that_can_be(view: View) -> None:
    status, handle = view.create()
    assert status == 0, host.library().GnGetRecentErrMsg()
    assert host.library().GnDestroyTensor(handle) == 0
    assert host.library().GnDestroyTensor(handle) == INVALID
    assert "destroyed before" in host.library().GnGetRecentErrMsg().decode()


@pytest.mark.parametrize("what", ["Tensor", "Stream", "Executor"])
def test_null_and_unknown_handles_are_refused(what: str) -> None:
    destroy = getattr(host.library(), f"GnDestroy{what}")
    assert destroy(None) == NULLPTR
    for number in (1, 8, 0x7777770, 2**64 - 8):
        assert destroy(c_void_p(number)) == INVALID
    assert "never made" in host.library().GnGetRecentErrMsg().decode()


# --- memory that two tensors share -----------------------------------------------------------------------------------


def pair(first: View, second: View) -> dict[str, View]:
    return {"self": first, "out": second}


@pytest.mark.parametrize(
    ("second", "shared"),
    [
        (View((2, 6, 4, 3), data=0), True),
        (View((2, 6, 4, 3), data=143 * 4), True),
        (View((2, 6, 4, 3), data=144 * 4), False),
        # Channels 6 to 11 of a buffer whose channels 0 to 5 are self.
        (View((2, 6, 4, 3), strides=(144, 12, 3, 1), data=72 * 4), False),
        (View((2, 6, 4, 3), strides=(144, 12, 3, 1), data=71 * 4), True),
    ],
    ids=["in-place", "last-element", "behind", "beside-in-one-buffer", "one-element-of-it"],
)
def test_outputs_share_no_memory_with_inputs(second: View, shared: bool) -> None:
    base = 0x10_0000
    first = (
        View((2, 6, 4, 3), data=base)
        if second.strides is None
        else View((2, 6, 4, 3), strides=(144, 12, 3, 1), data=base)
    )
    second = View(second.dims, strides=second.strides, data=base + (second.data or 0))
    answer = first_call("GroupNorm", FORWARD, **pair(first, second))
    assert (answer.status == INVALID) is shared, answer
    assert ("out shares memory with self" in answer.text) is shared
    if not shared:
        host.library().GnDestroyExecutor(answer.executor)


def test_outputs_share_no_memory_with_each_other() -> None:
    answer = first_call(
        "GroupNorm", FORWARD, meanOut=View((2, 3), data=0x10_0000), rstdOut=View((2, 3), data=0x10_0004)
    )
    assert answer.status == INVALID
    assert "meanOut and rstdOut share memory" in answer.text


@pytest.mark.parametrize(("place", "shared"), [(22, True), (24, False)])
def test_types_of_two_sizes_share_a_part_of_an_element(place: int, shared: bool) -> None:
    data = {
        name: View(BACKWARD[name].dims, HALF) for name in ("gradOut", "input", "gamma", "gradGammaOut", "gradBetaOut")
    }
    mean, grad = View((2, 3), data=0x10_0000), View((2, 6, 4, 3), HALF, data=0x10_0000 + place)
    answer = first_call("GroupNormBackward", BACKWARD, **data, mean=mean, gradInput=grad)
    assert ("gradInput shares memory with mean" in answer.text) is shared, answer


def test_sharing_is_decided_as_by_looking_at_every_element() -> None:
    # A comb of four and another of three between its teeth, for every distance of the two.
    for distance in range(-40, 41):
        first = View((2, 6, 4), strides=(60, 8, 2), data=0x10_0000)
        places = {60 * n + 8 * c + 2 * s for n in range(2) for c in range(6) for s in range(4)}
        second = View((2, 6, 4), strides=(48, 8, 2), data=0x10_0000 + 4 * distance)
        others = {distance + 48 * n + 8 * c + 2 * s for n in range(2) for c in range(6) for s in range(4)}
        answer = first_call("GroupNorm", FORWARD, HxW=4, **pair(first, second))
        assert (answer.status == INVALID) is bool(places & others), (distance, answer)
        host.library().GnDestroyExecutor(answer.executor)
        host.library().GnGetRecentErrMsg()


# --- the second call -------------------------------------------------------------------------------------------------


def test_refusals_of_the_second_call() -> None:
    library = host.library()
    answer = first_call("GroupNorm", FORWARD)
    memory = (ctypes.c_uint8 * (answer.workspace + 8))()
    with host.Stream() as stream:
        handle = stream.ready("GroupNorm")

        def second(workspace: Any, size: int, executor: Any, queue: Any) -> tuple[int, str]:
            status = library.GroupNorm(workspace, size, executor, queue)
            return status, (library.GnGetRecentErrMsg() or b"").decode()

        size, made = answer.workspace, answer.executor
        assert size > 0
        for row, code, text in [
            ((memory, size, None, handle), NULLPTR, "executor is null"),
            ((memory, size, made, None), NULLPTR, "stream is null"),
            ((None, size, made, handle), NULLPTR, f"workspace is null, and {size} bytes are needed"),
            (
                (memory, size - 1, made, handle),
                INVALID,
                f"workspaceSize is {size - 1}, and {size} bytes are needed",
            ),
            ((memory, size, GONE, handle), INVALID, "executor was used or destroyed before, or never made"),
            ((memory, size, made, GONE), INVALID, "stream was destroyed, or never made"),
            ((2**64 - 8, size, made, handle), INVALID, "workspace ends behind the end of memory"),
        ]:
            status, message = second(*row)
            assert (status, text in message) == (code, True), (status, message)
            assert "where: GroupNorm\n" in message
        out = answer.views["made"][3][0].memory.ctypes.data
        status, message = second(out, size, made, handle)
        assert (status, "workspace shares memory with a tensor" in message) == (INVALID, True), message

        assert second(memory, size, made, handle) == (0, ""), "refused calls leave the executor usable"
        status, message = second(memory, size, made, handle)
        assert (status, "executor was used" in message) == (INVALID, True), message
        assert "an executor is used once: call GroupNormGetWorkspaceSize again" in message
        stream.synchronize()


def test_text_of_another_thread_s_failure_is_not_ours() -> None:
    import threading

    first_call("GroupNorm", FORWARD, group=0)  # reads its own text
    library = host.library()
    seen: list[Any] = []

    def fail() -> None:
        library.GnDestroyTensor(None)
        seen.append(library.GnGetRecentErrMsg())

    worker = threading.Thread(target=fail)
    worker.start()
    worker.join()
    assert b"tensor is null" in seen[0]
    assert library.GnGetRecentErrMsg() is None


def test_an_executor_of_another_operator_is_refused() -> None:
    library, answer = host.library(), first_call("GroupNorm", FORWARD)
    memory = (ctypes.c_uint8 * answer.workspace)()
    with host.Stream() as stream:
        handle = stream.ready("GroupNorm")
        assert library.GroupNormSilu(memory, answer.workspace, answer.executor, handle) == INVALID
        assert "executor was made by GroupNormGetWorkspaceSize" in library.GnGetRecentErrMsg().decode()
        assert library.GroupNorm(memory, answer.workspace, answer.executor, handle) == 0
        stream.synchronize()


def test_an_unused_executor_is_given_back() -> None:
    answer = first_call("GroupNorm", FORWARD)
    library = host.library()
    assert library.GnDestroyExecutor(answer.executor) == 0
    assert library.GnDestroyExecutor(answer.executor) == INVALID
