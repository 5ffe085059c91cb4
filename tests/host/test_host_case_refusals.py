"""Every documented refusal of Gelu, GeluBackward, Linear and LinearBackward, as test_host_refusals has GroupNorm's.

docs/host-api.md lists them.
"""

from __future__ import annotations

from typing import Any

import pytest
from host_api_support import (
    BFLOAT16,
    DOUBLE,
    GELU,
    GELU_BACKWARD,
    GONE,
    HALF,
    INT32,
    LINEAR,
    LINEAR_BACKWARD,
    NULL,
    Row,
    View,
    first_call,
    refused,
)

from gn_tutorial.host import api
from gn_tutorial.host.api import Code

NULLPTR, INVALID = Code.PARAM_NULLPTR, Code.PARAM_INVALID
CALLS = {"Gelu": GELU, "GeluBackward": GELU_BACKWARD, "Linear": LINEAR, "LinearBackward": LINEAR_BACKWARD}
#: Without an element, and with more rows than can be counted.
EMPTY = View((1 << 40, 1 << 40, 0), strides=(1, 1, 1), storage=(0,), data=0)
GRADIENTS = ("gradInput", "gradWeight", "gradBias")


def views(*names: str, dims: tuple[int, ...], at: int = 1 << 40) -> dict[str, View]:
    """Descriptors of large tensors, far from each other, with no memory behind them: a first call reads none."""
    return {name: View(dims, data=at * (number + 1)) for number, name in enumerate(names)}


ROWS: dict[str, list[Row]] = {
    "Gelu": [
        ("self-null", {"self": NULL}, NULLPTR, "self is null"),
        ("out-null", {"out": NULL}, NULLPTR, "out is null"),
        ("self-gone", {"self": GONE}, INVALID, "self was destroyed, or never made"),
        ("no-data", {"self": View((3, 5, 7), data=0)}, NULLPTR, "self has elements, but its tensorData is null"),
        ("self-type", {"self": View((3, 5, 7), INT32)}, INVALID, "self is int32"),
        ("out-type", {"out": View((3, 5, 7), HALF)}, INVALID, "out is float16; it must be float32, the type of self"),
        ("out-shape", {"out": View((3, 7, 5))}, INVALID, "out has shape (3, 7, 5); it must be (3, 5, 7)"),
        ("out-axes", {"out": View((105,))}, INVALID, "out has shape (105); it must be (3, 5, 7), the shape of self"),
        (
            "in-place",
            views("self", dims=(3, 5, 7)) | views("out", dims=(3, 5, 7)),
            INVALID,
            "out shares memory with se",
        ),
        ("out-on-itself", {"out": View((3, 5, 7), strides=(7, 7, 1))}, INVALID, "two elements of out share memory"),
        ("too-many", views("self", "out", dims=(1 << 16, 1 << 15)), INVALID, "more than 2147483647 elements"),
    ],
    "GeluBackward": [
        ("gradOut-null", {"gradOut": NULL}, NULLPTR, "gradOut is null"),
        ("self-null", {"self": NULL}, NULLPTR, "self is null"),
        ("gradInput-null", {"gradInput": NULL}, NULLPTR, "gradInput is null"),
        ("gradInput-gone", {"gradInput": GONE}, INVALID, "gradInput was destroyed, or never made"),
        ("gradOut-type", {"gradOut": View((3, 5, 7), DOUBLE)}, INVALID, "gradOut is float64"),
        ("self-type", {"self": View((3, 5, 7), BFLOAT16)}, INVALID, "self is bfloat16; it must be float32"),
        ("gradInput-type", {"gradInput": View((3, 5, 7), HALF)}, INVALID, "gradInput is float16; it must be float32"),
        (
            "self-shape",
            {"self": View((3, 5))},
            INVALID,
            "self has shape (3, 5); it must be (3, 5, 7), the shape of grad",
        ),
        (
            "gradInput-shape",
            {"gradInput": View((3, 5, 8))},
            INVALID,
            "gradInput has shape (3, 5, 8); it must be (3, 5,",
        ),
        (
            "in-place",
            views("gradOut", dims=(3, 5, 7)) | views("gradInput", dims=(3, 5, 7)),
            INVALID,
            "gradInput shares memory with gradOut",
        ),
        (
            "too-many",
            views("gradOut", "self", "gradInput", dims=(1 << 31,)),
            INVALID,
            "more than 2147483647 elements",
        ),
    ],
    "Linear": [
        ("input-null", {"input": NULL}, NULLPTR, "input is null"),
        ("weight-null", {"weight": NULL}, NULLPTR, "weight is null"),
        ("out-null", {"out": NULL}, NULLPTR, "out is null"),
        ("bias-gone", {"bias": GONE}, INVALID, "bias was destroyed, or never made"),
        ("no-data", {"weight": View((4, 10), data=0)}, NULLPTR, "weight has elements, but its tensorData is null"),
        ("input-type", {"input": View((2, 3, 10), INT32)}, INVALID, "input is int32"),
        ("weight-type", {"weight": View((4, 10), HALF)}, INVALID, "weight is float16; it must be float32"),
        ("bias-type", {"bias": View((4,), BFLOAT16)}, INVALID, "bias is bfloat16; it must be float32"),
        ("out-type", {"out": View((2, 3, 4), HALF)}, INVALID, "out is float16; it must be float32"),
        ("no-axis", {"input": View(())}, INVALID, "input has shape (); it needs 1 to 8 axes"),
        ("weight-one-axis", {"weight": View((10,))}, INVALID, "weight has shape (10); it needs 2 axes: (O, K)"),
        ("weight-three-axes", {"weight": View((4, 10, 1))}, INVALID, "weight has shape (4, 10, 1); it needs 2 axes"),
        ("weight-columns", {"weight": View((4, 9))}, INVALID, "weight has shape (4, 9); it must be (4, 10), a column"),
        ("weight-transposed", {"weight": View((10, 4))}, INVALID, "weight has shape (10, 4); it must be (10, 10)"),
        ("bias-count", {"bias": View((3,))}, INVALID, "bias has shape (3); it must be (4), one number for each row"),
        ("bias-axes", {"bias": View((1, 4))}, INVALID, "bias has shape (1, 4); it must be (4)"),
        ("out-columns", {"out": View((2, 3, 10))}, INVALID, "out has shape (2, 3, 10); it must be (2, 3, 4)"),
        ("out-axes", {"out": View((6, 4))}, INVALID, "out has shape (6, 4); it must be (2, 3, 4)"),
        (
            "in-place",
            views("input", dims=(2, 3, 10)) | views("out", dims=(2, 3, 4)),
            INVALID,
            "out shares memory with ",
        ),
        ("out-on-itself", {"out": View((2, 3, 4), strides=(0, 4, 1))}, INVALID, "two elements of out share memory"),
        (
            "rows-beyond-64-bits",
            {
                "input": EMPTY,
                "weight": View((0, 0)),
                "bias": View((0,)),
                "out": EMPTY,
            },
            INVALID,
            "the product of its axes 0 to 1 does not fit in 64 bits",
        ),
        (
            "too-many-rows",
            {"bias": NULL, "weight": View((1, 1))} | views("input", "out", dims=(1 << 31, 1)),
            INVALID,
            "x has more than 2147483647 rows",
        ),
        (
            "too-wide",
            {"bias": NULL, "out": View((1, 1))} | views("input", "weight", dims=(1, (1 << 29) + 1)),
            INVALID,
            "more than 536870912 features",
        ),
    ],
    "LinearBackward": [
        ("gradOut-null", {"gradOut": NULL}, NULLPTR, "gradOut is null"),
        ("input-null", {"input": NULL}, NULLPTR, "input is null"),
        ("weight-null", {"weight": NULL}, NULLPTR, "weight is null"),
        ("mask-null", {"outputMask": NULL}, NULLPTR, "outputMask is null"),
        ("mask-length", {"outputMaskSize": 4}, INVALID, "outputMaskSize is 4; it must be 3"),
        ("gradInput-null", {"gradInput": NULL}, NULLPTR, "gradInput is null, and outputMask[0] asks for it"),
        ("gradWeight-null", {"gradWeight": NULL}, NULLPTR, "gradWeight is null, and outputMask[1] asks for it"),
        ("gradBias-null", {"gradBias": NULL}, NULLPTR, "gradBias is null, and outputMask[2] asks for it"),
        ("gradBias-gone", {"gradBias": GONE}, INVALID, "gradBias was destroyed, or never made"),
        ("no-data", {"input": View((2, 3, 10), data=0)}, NULLPTR, "input has elements, but its tensorData is null"),
        ("gradOut-type", {"gradOut": View((2, 3, 4), INT32)}, INVALID, "gradOut is int32"),
        ("input-type", {"input": View((2, 3, 10), HALF)}, INVALID, "input is float16; it must be float32"),
        ("weight-type", {"weight": View((4, 10), HALF)}, INVALID, "weight is float16; it must be float32"),
        ("gradWeight-type", {"gradWeight": View((4, 10), BFLOAT16)}, INVALID, "gradWeight is bfloat16"),
        ("gradBias-type", {"gradBias": View((4,), HALF)}, INVALID, "gradBias is float16; it must be float32"),
        ("no-axis", {"input": View(())}, INVALID, "input has shape (); it needs 1 to 8 axes"),
        ("weight-columns", {"weight": View((4, 11))}, INVALID, "weight has shape (4, 11); it must be (4, 10)"),
        ("gradOut-shape", {"gradOut": View((3, 2, 4))}, INVALID, "gradOut has shape (3, 2, 4); it must be (2, 3, 4)"),
        (
            "gradOut-columns",
            {"gradOut": View((2, 3, 10))},
            INVALID,
            "gradOut has shape (2, 3, 10); it must be (2, 3, 4",
        ),
        (
            "gradInput-shape",
            {"gradInput": View((6, 10))},
            INVALID,
            "gradInput has shape (6, 10); it must be (2, 3, 10)",
        ),
        ("gradWeight-shape", {"gradWeight": View((10, 4))}, INVALID, "gradWeight has shape (10, 4); it must be (4, 10"),
        (
            "gradBias-shape",
            {"gradBias": View((10,))},
            INVALID,
            "gradBias has shape (10); it must be (4), one number",
        ),
        ("gradWeight-on-itself", {"gradWeight": View((4, 10), strides=(0, 1))}, INVALID, "two elements of gradWeight"),
        (
            "gradients-together",
            views("gradInput", dims=(2, 3, 10)) | views("gradWeight", dims=(4, 10)),
            INVALID,
            "gradInput and gradWeight share memory",
        ),
        (
            "too-many-rows",
            {"weight": View((1, 1)), "gradWeight": View((1, 1)), "gradBias": View((1,))}
            | views("gradOut", "input", "gradInput", dims=(1 << 31, 1)),
            INVALID,
            "x has more than 2147483647 rows",
        ),
    ],
}


@pytest.mark.parametrize(
    ("name", "changed", "code", "text"),
    [(name, *row[1:]) for name, rows in ROWS.items() for row in rows],
    ids=[f"{name}-{row[0]}" for name, rows in ROWS.items() for row in rows],
)
def test_refusals(name: str, changed: dict[str, Any], code: Code, text: str) -> None:
    refused(name, CALLS[name], changed, code, text)


@pytest.mark.parametrize("end", ["workspaceSize", "executor"])
@pytest.mark.parametrize("name", CALLS)
def test_null_pointers_for_results(name: str, end: str) -> None:
    refused(name, CALLS[name], {end: NULL}, NULLPTR, f"{end} is null")


@pytest.mark.parametrize("name", CALLS)
def test_the_tables_change_a_call_that_is_right(name: str) -> None:
    accepted(name, {})


@pytest.mark.parametrize("missing", GRADIENTS)
def test_what_the_mask_does_not_ask_for_is_not_looked_at(missing: str) -> None:
    mask = tuple(int(name != missing) for name in GRADIENTS)
    for value in (NULL, GONE, View((9, 9), INT32)):
        accepted("LinearBackward", {"outputMask": mask, missing: value})


def test_the_bias_may_be_null() -> None:
    accepted("Linear", {"bias": NULL})


def test_an_executor_is_its_operator_s_own() -> None:
    library, answer = api.library(), first_call("Gelu", GELU)
    with api.Stream() as stream:
        assert library.GeluBackward(None, 0, answer.executor, stream.handle) == INVALID
        assert "executor was made by GeluGetWorkspaceSize" in library.GnGetRecentErrMsg().decode()
    assert library.GnDestroyExecutor(answer.executor) == Code.SUCCESS


def accepted(name: str, changed: dict[str, Any]) -> None:
    answer = first_call(name, CALLS[name], **changed)
    assert (answer.status, answer.text) == (Code.SUCCESS, ""), answer
    assert api.library().GnDestroyExecutor(answer.executor) == Code.SUCCESS
