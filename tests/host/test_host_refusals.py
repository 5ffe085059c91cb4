"""Every documented refusal of the host API: its code, what its text says, and that nothing was given out.

The rows of aclnn's own pages come first in each table (docs/host-api.md lists them); the others are ours.
"""

from __future__ import annotations

import ctypes
from ctypes import c_void_p
from typing import Any

import pytest
from host_api_support import (
    BACKWARD,
    BFLOAT16,
    DOUBLE,
    FORWARD,
    GONE,
    HALF,
    INT32,
    NULL,
    SILU,
    Row,
    View,
    first_call,
    refused,
)

from gn_tutorial.host import api
from gn_tutorial.host.api import Code, whole_numbers

NULLPTR, INVALID = Code.PARAM_NULLPTR, Code.PARAM_INVALID
FULL = View((2, 6, 4, 3))

FORWARD_ROWS: list[Row] = [
    ("self-null", {"self": NULL}, NULLPTR, "self is null"),
    ("out-null", {"out": NULL}, NULLPTR, "out is null"),
    ("mean-null", {"meanOut": NULL}, NULLPTR, "meanOut is null"),
    ("rstd-null", {"rstdOut": NULL}, NULLPTR, "rstdOut is null"),
    ("size-null", {"workspaceSize": NULL}, NULLPTR, "workspaceSize is null"),
    ("executor-null", {"executor": NULL}, NULLPTR, "executor is null"),
    ("self-type", {"self": View((2, 6, 4, 3), INT32)}, INVALID, "self is int32"),
    ("self-double", {"self": View((2, 6, 4, 3), DOUBLE)}, INVALID, "self is float64"),
    ("self-unknown-type", {"self": View((2, 6, 4, 3), 99)}, INVALID, "self is type number 99"),
    ("gamma-type", {"gamma": View((6,), HALF)}, INVALID, "gamma is float16; it must be float32"),
    ("beta-type", {"beta": View((6,), BFLOAT16)}, INVALID, "beta is bfloat16; it must be float32"),
    ("out-type", {"out": View((2, 6, 4, 3), HALF)}, INVALID, "out is float16; it must be float32"),
    ("mean-type", {"meanOut": View((2, 3), HALF)}, INVALID, "meanOut is float16; it must be float32"),
    ("rstd-type", {"rstdOut": View((2, 3), BFLOAT16)}, INVALID, "rstdOut is bfloat16; it must be float32"),
    ("one-axis", {"self": View((144,)), "out": View((144,))}, INVALID, "needs 2 to 8 axes"),
    ("group-zero", {"group": 0}, INVALID, "group is 0; it must be positive"),
    ("group-negative", {"group": -3}, INVALID, "group is -3; it must be positive"),
    ("group-no-divisor", {"group": 4}, INVALID, "C is 6, which group = 4 does not divide"),
    ("eps-zero", {"eps": 0.0}, INVALID, "eps is 0; it must be positive"),
    ("eps-negative", {"eps": -1e-5}, INVALID, "eps is -1e-05"),
    ("eps-nan", {"eps": float("nan")}, INVALID, "eps is nan"),
    ("eps-infinite", {"eps": float("inf")}, INVALID, "eps is inf"),
    ("eps-zero-as-float", {"eps": 1e-50}, INVALID, "eps is 1e-50; it must be positive and finite as float32"),
    ("out-shape", {"out": View((2, 6, 3, 4))}, INVALID, "out has shape (2, 6, 3, 4); it must be (2, 6, 4, 3)"),
    ("mean-shape", {"meanOut": View((6,))}, INVALID, "meanOut has shape (6); it must be (2, 3), (N, group)"),
    ("rstd-shape", {"rstdOut": View((3, 2))}, INVALID, "rstdOut has shape (3, 2); it must be (2, 3)"),
    ("N", {"N": 3}, INVALID, "which is not N = 3, C = 6, HxW = 12"),
    ("C", {"C": 3, "group": 3}, INVALID, "which is not N = 2, C = 3, HxW = 12"),
    ("HxW", {"HxW": 11}, INVALID, "which is not N = 2, C = 6, HxW = 11"),
    ("HxW-of-two-axes", {"self": View((2, 6)), "out": View((2, 6))}, INVALID, "1 if there are none"),
    ("gamma-count", {"gamma": View((7,))}, INVALID, "gamma has shape (7); it must be (6)"),
    ("gamma-axes", {"gamma": View((6, 1))}, INVALID, "gamma has shape (6, 1); it must be (6)"),
    ("beta-count", {"beta": View((5,))}, INVALID, "beta has shape (5); it must be (6)"),
    # Ours.
    ("self-gone", {"self": GONE}, INVALID, "self was destroyed, or never made"),
    ("beta-gone", {"beta": GONE}, INVALID, "beta was destroyed, or never made"),
    ("N-negative", {"N": -2}, INVALID, "N is -2; it must not be negative"),
    ("C-negative", {"C": -6}, INVALID, "C is -6; it must not be negative"),
    ("HxW-negative", {"HxW": -12}, INVALID, "HxW is -12; it must not be negative"),
    ("no-channels", {"C": 0}, INVALID, "C is 0"),
    ("no-space", {"HxW": 0}, INVALID, "a group without elements has no mean"),
    ("too-many", {"N": 1 << 40, "C": 6 << 40}, INVALID, "does not fit in 64 bits"),
    ("no-data", {"self": View((2, 6, 4, 3), data=0)}, NULLPTR, "self has elements, but its tensorData is null"),
    ("out-of-one-place", {"out": View((2, 6, 4, 3), strides=(0, 0, 0, 0))}, INVALID, "two elements of out share"),
    ("out-on-itself", {"out": View((2, 6, 4, 3), strides=(72, 12, 2, 1))}, INVALID, "two elements of out share"),
    (
        "large-group",
        {"N": 1, "C": 6, "HxW": 1 << 31, "group": 1, "meanOut": View((1, 1)), "rstdOut": View((1, 1))}
        | {name: View((1, 6, 1 << 31), data=at << 40) for name, at in (("self", 1), ("out", 2))},
        INVALID,
        "more than 2147483647 elements",
    ),
]
# GroupNormSilu refuses what GroupNorm does, but for the sizes: it reads them from self.
OTHER_SIZES = {"N", "C", "HxW"}
SILU_ROWS: list[Row] = [
    *(row for row in FORWARD_ROWS if not OTHER_SIZES & row[1].keys() and row[0] != "HxW-of-two-axes"),
    ("no-axis", {"self": View(()), "out": View(())}, INVALID, "self has shape (); it needs 2 to 8 axes"),
    ("other-channels", {"self": View((2, 9, 4, 3))}, INVALID, "gamma has shape (6); it must be (9)"),
    ("no-channels", {"self": View((2, 0, 4)), "out": View((2, 0, 4))}, INVALID, "C is 0"),
    ("no-space", {"self": View((2, 6, 0)), "out": View((2, 6, 0))}, INVALID, "a group without elements has no mean"),
    (
        "other-batch",
        {"self": View((3, 6, 4, 3)), "out": View((3, 6, 4, 3))},
        INVALID,
        "meanOut has shape (2, 3); it must be (3, 3)",
    ),
    (
        "large-group",
        {"group": 1, "meanOut": View((1, 1)), "rstdOut": View((1, 1))}
        | {name: View((1, 6, 1 << 31), data=at << 40) for name, at in (("self", 1), ("out", 2))},
        INVALID,
        "more than 2147483647 elements",
    ),
]
BACKWARD_ROWS: list[Row] = [
    ("gradOut-null", {"gradOut": NULL}, NULLPTR, "gradOut is null"),
    ("input-null", {"input": NULL}, NULLPTR, "input is null"),
    ("mean-null", {"mean": NULL}, NULLPTR, "mean is null"),
    ("rstd-null", {"rstd": NULL}, NULLPTR, "rstd is null"),
    ("gradInput-null", {"gradInput": NULL}, NULLPTR, "gradInput is null, and outputMask[0] asks for it"),
    ("gradGamma-null", {"gradGammaOut": NULL}, NULLPTR, "gradGammaOut is null, and outputMask[1] asks for it"),
    ("gradBeta-null", {"gradBetaOut": NULL}, NULLPTR, "gradBetaOut is null, and outputMask[2] asks for it"),
    ("size-null", {"workspaceSize": NULL}, NULLPTR, "workspaceSize is null"),
    ("executor-null", {"executor": NULL}, NULLPTR, "executor is null"),
    ("gradOut-type", {"gradOut": View((2, 6, 4, 3), INT32)}, INVALID, "gradOut is int32"),
    ("input-type", {"input": View((2, 6, 4, 3), HALF)}, INVALID, "input is float16; it must be float32"),
    ("gamma-type", {"gamma": View((6,), HALF)}, INVALID, "gamma is float16; it must be float32"),
    ("mean-type", {"mean": View((2, 3), HALF)}, INVALID, "mean is float16; it must be float32"),
    ("rstd-type", {"rstd": View((2, 3), BFLOAT16)}, INVALID, "rstd is bfloat16; it must be float32"),
    ("gradInput-type", {"gradInput": View((2, 6, 4, 3), HALF)}, INVALID, "gradInput is float16"),
    ("gradGamma-type", {"gradGammaOut": View((6,), HALF)}, INVALID, "gradGammaOut is float16"),
    ("gradBeta-type", {"gradBetaOut": View((6,), HALF)}, INVALID, "gradBetaOut is float16"),
    ("mask-length", {"outputMaskSize": 2}, INVALID, "outputMaskSize is 2; it must be 3"),
    (
        "gradInput-shape",
        {"gradInput": View((2, 6, 12))},
        INVALID,
        "gradInput has shape (2, 6, 12); it must be (2, 6, 4",
    ),
    ("gradGamma-shape", {"gradGammaOut": View((6, 1))}, INVALID, "gradGammaOut has shape (6, 1); it must be (6)"),
    ("gradBeta-shape", {"gradBetaOut": View((5,))}, INVALID, "gradBetaOut has shape (5); it must be (6)"),
    ("group-zero", {"group": 0}, INVALID, "group is 0; it must be positive"),
    ("group-no-divisor", {"group": 5}, INVALID, "C is 6, which group = 5 does not divide"),
    ("gradOut-count", {"gradOut": View((2, 6, 4))}, INVALID, "gradOut has 48 elements; it must have 144"),
    ("input-count", {"input": View((2, 6, 4, 4))}, INVALID, "input has 192 elements; it must have 144, N * C * HxW"),
    ("mean-count", {"mean": View((2, 6))}, INVALID, "mean has 12 elements; it must have 6, N * group"),
    ("rstd-count", {"rstd": View((5,))}, INVALID, "rstd has 5 elements; it must have 6, N * group"),
    ("gamma-count", {"gamma": View((7,))}, INVALID, "gamma has 7 elements; it must have 6, C"),
    # Ours.
    ("mask-null", {"outputMask": NULL}, NULLPTR, "outputMask is null"),
    ("gradOut-gone", {"gradOut": GONE}, INVALID, "gradOut was destroyed, or never made"),
    ("N-negative", {"N": -2}, INVALID, "N is -2"),
    ("too-many", {"N": 1 << 40, "C": 6 << 40}, INVALID, "does not fit in 64 bits"),
    ("no-data", {"rstd": View((2, 3), data=0)}, NULLPTR, "rstd has elements, but its tensorData is null"),
    ("gradInput-on-itself", {"gradInput": View((2, 6, 4, 3), strides=(0, 12, 3, 1))}, INVALID, "of gradInput share"),
]


@pytest.mark.parametrize(
    ("changed", "code", "text"), [row[1:] for row in FORWARD_ROWS], ids=[r[0] for r in FORWARD_ROWS]
)
def test_forward_refusals(changed: dict[str, Any], code: Code, text: str) -> None:
    refused("GroupNorm", FORWARD, changed, code, text)


@pytest.mark.parametrize(("changed", "code", "text"), [row[1:] for row in SILU_ROWS], ids=[r[0] for r in SILU_ROWS])
def test_silu_refusals(changed: dict[str, Any], code: Code, text: str) -> None:
    refused("GroupNormSilu", SILU, changed, code, text)


@pytest.mark.parametrize(
    ("changed", "code", "text"), [row[1:] for row in BACKWARD_ROWS], ids=[r[0] for r in BACKWARD_ROWS]
)
def test_backward_refusals(changed: dict[str, Any], code: Code, text: str) -> None:
    refused("GroupNormBackward", BACKWARD, changed, code, text)


@pytest.mark.parametrize(("name", "arguments"), [("GroupNorm", FORWARD), ("GroupNormSilu", SILU)])
def test_the_tables_change_a_call_that_is_right(name: str, arguments: dict[str, Any]) -> None:
    answer = first_call(name, arguments)
    assert answer.status == Code.SUCCESS
    assert answer.text == ""
    assert api.library().GnDestroyExecutor(answer.executor) == Code.SUCCESS


@pytest.mark.parametrize("unwanted", ["gradInput", "gradGammaOut", "gradBetaOut"])
def test_what_the_mask_does_not_ask_for_is_not_looked_at(unwanted: str) -> None:
    mask = tuple(int(name != unwanted) for name in ("gradInput", "gradGammaOut", "gradBetaOut"))
    for value in (NULL, GONE, View((9, 9), INT32)):
        answer = first_call("GroupNormBackward", BACKWARD, outputMask=mask, **{unwanted: value})
        assert answer.status not in (NULLPTR, INVALID), answer


@pytest.mark.parametrize("missing", [{"gamma": NULL}, {"beta": NULL}, {"gamma": NULL, "beta": NULL}], ids=str)
def test_gamma_and_beta_may_be_null(missing: dict[str, Any]) -> None:
    answer = first_call("GroupNorm", FORWARD, **missing)
    assert answer.status == Code.SUCCESS, answer
    assert api.library().GnDestroyExecutor(answer.executor) == Code.SUCCESS


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
    message = api.library().GnGetRecentErrMsg().decode()
    assert (status, text in message, handle.value) == (code, True, None), message
    assert "where: GnCreateTensor" in message


@pytest.mark.parametrize(
    ("missing", "text"), [(0, "viewDims"), (3, "stride"), (5, "storageDims"), (8, "tensor is null")], ids=str
)
def test_null_pointers_of_a_descriptor(missing: int, text: str) -> None:
    one = whole_numbers([1])
    words: list[Any] = [one, 1, 0, one, 0, one, 1, 0x1000, ctypes.byref(c_void_p())]
    words[missing] = None
    assert api.library().GnCreateTensor(*words) == NULLPTR
    assert text in api.library().GnGetRecentErrMsg().decode()


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
    assert status == 0, api.library().GnGetRecentErrMsg()
    assert api.library().GnDestroyTensor(handle) == 0
    assert api.library().GnDestroyTensor(handle) == INVALID
    assert "destroyed before" in api.library().GnGetRecentErrMsg().decode()


@pytest.mark.parametrize("what", ["Tensor", "Stream", "Executor"])
def test_null_and_unknown_handles_are_refused(what: str) -> None:
    destroy = getattr(api.library(), f"GnDestroy{what}")
    assert destroy(None) == NULLPTR
    for number in (1, 8, 0x7777770, 2**64 - 8):
        assert destroy(c_void_p(number)) == INVALID
    assert "never made" in api.library().GnGetRecentErrMsg().decode()


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
        api.library().GnDestroyExecutor(answer.executor)


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
        api.library().GnDestroyExecutor(answer.executor)
        api.library().GnGetRecentErrMsg()


# --- the second call -------------------------------------------------------------------------------------------------


def test_refusals_of_the_second_call() -> None:
    library = api.library()
    answer = first_call("GroupNorm", FORWARD)
    memory = (ctypes.c_uint8 * (answer.workspace + 8))()
    with api.Stream() as stream:
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
    library = api.library()
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
    library, answer = api.library(), first_call("GroupNorm", FORWARD)
    memory = (ctypes.c_uint8 * answer.workspace)()
    with api.Stream() as stream:
        handle = stream.ready("GroupNorm")
        assert library.GroupNormSilu(memory, answer.workspace, answer.executor, handle) == INVALID
        assert "executor was made by GroupNormGetWorkspaceSize" in library.GnGetRecentErrMsg().decode()
        assert library.GroupNorm(memory, answer.workspace, answer.executor, handle) == 0
        stream.synchronize()


def test_an_unused_executor_is_given_back() -> None:
    answer = first_call("GroupNorm", FORWARD)
    library = api.library()
    assert library.GnDestroyExecutor(answer.executor) == 0
    assert library.GnDestroyExecutor(answer.executor) == INVALID
