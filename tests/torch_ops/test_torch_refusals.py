"""What the operators of PyTorch refuse, by the argument's name: eagerly, on meta tensors, and in the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch_support import data, ours, ours_silu  # noqa: E402

from gn_tutorial import torch_ops  # noqa: E402, F401 - registers the operators
from gn_tutorial.errors import ArgumentError  # noqa: E402

OPS = torch.ops.gn_tutorial
SHAPE, GROUPS = (2, 6, 5, 7), 3


def forward() -> dict[str, Any]:
    x, weight, bias, _ = data(SHAPE)
    return {"x": x, "weight": weight, "bias": bias, "num_groups": GROUPS, "eps": 1e-5}


def backward() -> dict[str, Any]:
    x, weight, _, grad = data(SHAPE)
    statistics = torch.ones(2, GROUPS)
    return {
        "grad_y": grad, "x": x, "mean": statistics, "rstd": statistics, "weight": weight, "num_groups": GROUPS,
        "output_mask": [True] * 3,
    }  # fmt: skip


def silu_backward() -> dict[str, Any]:
    rows = list(backward().items())
    return dict([*rows[:5], ("bias", forward()["bias"]), *rows[5:]])


# Name of the argument that is changed, to what, and what the error says.
FORWARD: list[tuple[str, Callable[[Any], Any], str]] = [
    ("x", lambda x: x.double(), "x is torch.float64; it must be one of torch.float32, torch.float16, torch.bfloat16"),
    ("x", lambda x: x.int(), "x is torch.int32"),
    ("x", lambda x: x.to(torch.complex64), "x is torch.complex64"),
    ("x", lambda x: x.flatten(), r"x has shape \(420,\); it needs 2 to 8 axes"),
    ("x", lambda x: x.reshape(2, 6, 5, 7, 1, 1, 1, 1, 1), "it needs 2 to 8 axes"),
    ("x", lambda x: x[:, :0], "x has 0 channels"),
    ("x", lambda x: x[..., :0], "a group without elements has no mean"),
    ("x", lambda x: x[:, :4], "x has 4 channels, which cannot be divided into num_groups = 3"),
    ("weight", lambda w: w.half(), "weight is torch.float16; it must be torch.float32, as x"),
    ("weight", lambda w: w[:5], r"weight has shape \(5,\); it must be \(6,\), one number for each channel"),
    ("weight", lambda w: w[None], r"weight has shape \(1, 6\)"),
    ("bias", lambda b: b.bfloat16(), "bias is torch.bfloat16"),
    ("bias", lambda b: torch.cat([b, b]), r"bias has shape \(12,\)"),
    ("num_groups", lambda _: 0, "cannot be divided into num_groups = 0"),
    ("num_groups", lambda _: -3, "num_groups = -3"),
    ("num_groups", lambda _: 4, "num_groups = 4"),
    ("eps", lambda _: 0.0, "eps is 0; it must be positive"),
    ("eps", lambda _: -1e-5, "eps is -1e-05"),
    ("eps", lambda _: float("nan"), "eps is nan"),
    ("eps", lambda _: float("inf"), "eps is inf"),
    ("eps", lambda _: 1e-50, "eps is 1e-50; it must be positive and finite as float32"),
]
BACKWARD: list[tuple[str, Callable[[Any], Any], str]] = [
    ("grad_y", lambda g: g.half(), "grad_y is torch.float16; it must be torch.float32, as x"),
    ("grad_y", lambda g: g[..., :6], r"grad_y has shape \(2, 6, 5, 6\); it must be \(2, 6, 5, 7\), the shape of x"),
    ("x", lambda x: x.double(), "x is torch.float64"),
    ("mean", lambda m: m.half(), "mean is torch.float16; it must be torch.float32, whatever x is"),
    ("mean", lambda m: m[:, :2], r"mean has shape \(2, 2\); it must be \(2, 3\), \(N, num_groups\)"),
    ("rstd", lambda r: r.flatten(), r"rstd has shape \(6,\)"),
    ("weight", lambda w: w[:5], r"weight has shape \(5,\)"),
    ("weight", lambda _: None, r"output_mask\[1\] asks for the gradient of weight, and weight is None"),
    ("num_groups", lambda _: 4, "num_groups = 4"),
    ("output_mask", lambda _: [True], "output_mask has 1 entries; it must have 3"),
]
ROWS = [
    *((OPS.group_norm, forward, *row) for row in FORWARD),
    *((OPS.group_norm_silu, forward, *row) for row in FORWARD),
    *((OPS.group_norm_backward, backward, *row) for row in BACKWARD),
    *((OPS.group_norm_silu_backward, silu_backward, *row) for row in BACKWARD),
    (OPS.group_norm_silu_backward, silu_backward, "bias", lambda b: b[:5], r"bias has shape \(5,\)"),
]


def on_meta(value: Any) -> Any:
    return value.to("meta") if isinstance(value, torch.Tensor) else value


@pytest.mark.parametrize("place", [lambda value: value, on_meta], ids=["cpu", "meta"])
@pytest.mark.parametrize(
    ("op", "right", "name", "change", "text"), ROWS, ids=[f"{r[0]}-{r[2]}-{r[4][:30]}" for r in ROWS]
)
def test_refusals_name_the_argument(
    op: Callable, right: Callable, name: str, change: Callable, text: str, place: Callable
) -> None:
    arguments = {key: place(value) for key, value in right().items()}
    op(**arguments)  # what is refused is the change
    arguments[name] = change(arguments[name])
    with pytest.raises(ArgumentError, match=text) as caught:
        op(**arguments)
    assert caught.value.where.endswith(f"of torch.ops.{op._qualified_op_name.replace('::', '.')}")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("op", "right", "name"),
    [
        *((op, forward, name) for op in (OPS.group_norm, OPS.group_norm_silu) for name in ("x", "weight", "bias")),
        *((OPS.group_norm_backward, backward, name) for name in ("grad_y", "x", "mean", "rstd", "weight")),
        (OPS.group_norm_silu_backward, silu_backward, "bias"),
    ],
    # An address in a name would differ from process to process, and pytest-xdist would refuse the whole run.
    ids=lambda one: one.__name__ if one in (forward, backward, silu_backward) else str(one),
)
def test_one_tensor_on_another_device_is_refused(op: Callable, right: Callable, name: str) -> None:
    """A C++ prototype returned memory that nobody had written for a weight without memory."""
    arguments = right()
    arguments[name] = arguments[name].to("meta")
    with pytest.raises(ArgumentError, match=r"is on (meta|cpu); it must be on (cpu|meta), as x"):
        op(**arguments)


@pytest.mark.parametrize("layout", [torch.Tensor.to_sparse, torch.Tensor.to_mkldnn])
def test_tensors_that_are_no_plain_memory_are_refused(layout: Callable) -> None:
    with pytest.raises(NotImplementedError, match="gn_tutorial::group_norm"):
        ours(layout(torch.randn(2, 6, 4)), None, None, 3)


@pytest.mark.parametrize("norm", [ours, ours_silu])
def test_second_derivatives_are_refused_and_not_zero(norm: Callable) -> None:
    x, weight, bias, _ = (one.requires_grad_() for one in data(SHAPE))
    first = torch.autograd.grad(norm(x, weight, bias, GROUPS).sin().sum(), (x, weight), create_graph=True)
    for one in first:
        with pytest.raises(ArgumentError, match="second derivatives are not implemented"):
            torch.autograd.grad(one.sum(), x, retain_graph=True)


def test_a_gradient_of_the_wrong_kind_is_refused_in_the_backward_pass() -> None:
    x, weight, bias, grad = (one.requires_grad_() for one in data(SHAPE))
    y = ours(x, weight, bias, GROUPS)
    with pytest.raises((RuntimeError, ArgumentError), match="shape"):
        y.backward(grad[..., :3])


def test_a_refusal_of_the_host_api_comes_through_and_the_next_call_works(monkeypatch: pytest.MonkeyPatch) -> None:
    from gn_tutorial.host import Code, c_library
    from gn_tutorial.torch_ops import launch

    x, weight, bias, _ = data(SHAPE)
    right = ours(x, weight, bias, GROUPS)
    plan = c_library.repeatable

    def refused(loaded: Any, name: str, arguments: tuple, *rest: Any) -> Any:
        return plan(loaded, name, (*arguments[:6], 0, *arguments[7:]), *rest)  # the number of groups

    monkeypatch.setattr(c_library, "repeatable", refused)
    monkeypatch.setattr(launch, "_PLANS", {})
    with pytest.raises(ArgumentError, match="group is 0") as caught:
        ours(x, weight, bias, GROUPS)
    assert caught.value.code == Code.PARAM_INVALID
    monkeypatch.setattr(c_library, "repeatable", plan)
    torch.testing.assert_close(ours(x, weight, bias, GROUPS), right, rtol=0, atol=0)
