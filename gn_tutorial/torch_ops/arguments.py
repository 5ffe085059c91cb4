"""Checks of the operators' arguments. The checks are the same on the CPU, on an NPU and while a graph is traced.

Every kernel, also a fake one, first calls a check here. Otherwise a kernel would read a tensor on another device than
x at a meaningless address. While a graph is traced, a size may be known only at run time. A check that depends on such
a size is left to the kernel, which checks again when it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import torch
from torch import Tensor

from gn_tutorial.compiler.dtype_macros import graph_number
from gn_tutorial.errors import ArgumentError
from gn_tutorial.host.operators.gelu import FORMS

#: dtype of x -> its number in CANN's list. mean and rstd are float32 for all of them.
DTYPES = {
    dtype: graph_number(str(dtype).removeprefix("torch.")) for dtype in (torch.float32, torch.float16, torch.bfloat16)
}
LEAST_AXES, MOST_AXES = 2, 8
_LARGEST_EPS = 3.0e38  # near the largest float32; a larger eps may become infinite


def check_forward(op: str, x: Tensor, weight: Tensor | None, bias: Tensor | None, num_groups: int, eps: float) -> None:
    """Raise ArgumentError, which names the argument, unless the GroupNorm operator ``op`` accepts these arguments."""
    _check_data(op, x, num_groups)
    for name, one in (("weight", weight), ("bias", bias)):
        if one is not None:
            check_like(op, name, one, x.device, x.dtype, (x.shape[1],), "one number for each channel")
    check_eps(f"argument eps of torch.ops.gn_tutorial.{op}", eps)


def check_eps(where: str, eps: float) -> None:
    """Raise ArgumentError with the place ``where`` unless eps is positive as float32 and at most ``_LARGEST_EPS``."""
    # The kernel gets eps as float32: 1e-50 is positive, but 0 as float32.
    if not 2.0**-149 <= eps <= _LARGEST_EPS:
        what = f"eps is {eps:g}; it must be positive and finite as float32"
        raise ArgumentError(what, where=where, hint="1e-5 is usual")


def check_optional_eps(where: str, eps: float | None) -> None:
    """Check eps as ``check_eps`` does, unless it is None, which stands for the operator's default."""
    if eps is not None:
        check_eps(where, eps)


def check_approximate(where: str, approximate: str) -> None:
    """Raise ArgumentError with the place ``where`` unless ``approximate`` is one of ``FORMS``."""
    if approximate not in FORMS:
        what = f"approximate is {approximate!r}; it must be {' or '.join(map(repr, FORMS))}"
        raise ArgumentError(what, where=where, hint="'none' is GELU as it is defined, with erf; 'tanh' is that form")


def check_backward(
    op: str,
    grad_y: Tensor,
    x: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    num_groups: int,
    output_mask: Sequence[bool],
    bias: Tensor | None = None,
) -> None:
    """Check the arguments of a GroupNorm backward pass. Raises ArgumentError, which names the argument.

    output_mask: which of the gradients of x, weight and bias to compute.
    """
    _check_data(op, x, num_groups)
    check_like(op, "grad_y", grad_y, x.device, x.dtype, x.shape, "the shape of x")
    for name, one in (("mean", mean), ("rstd", rstd)):
        check_like(op, name, one, x.device, torch.float32, (x.shape[0], num_groups), "(N, num_groups)")
    for name, one in (("weight", weight), ("bias", bias)):
        if one is not None:
            check_like(op, name, one, x.device, x.dtype, (x.shape[1],), "one number for each channel")
    check_mask(op, output_mask)
    if weight is None and output_mask[1]:
        what = "output_mask[1] asks for the gradient of weight, and weight is None"
        refuse(op, "output_mask", what, "pass weight, or False there")


def certainly(condition: bool | torch.SymBool) -> bool:
    """Whether a condition holds for certain. False if it does not hold, or if only the run time will tell."""
    if not isinstance(condition, torch.SymBool):
        return condition
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    return guard_or_false(condition)


def check_elements(op: str, x: Tensor, **like_x: Tensor) -> None:
    """Check the arguments of an element-wise operator. like_x: tensors that must have x's shape, dtype and device.

    Raises ArgumentError, as the other checks do.
    """
    check_dtype(op, x)
    for name, one in like_x.items():
        check_like(op, name, one, x.device, x.dtype, x.shape, "the shape of x")


def check_mask(op: str, output_mask: Sequence[bool]) -> None:
    """Check that a mask of the gradients of x, weight and bias has three entries."""
    if len(output_mask) != 3:
        what = f"output_mask has {len(output_mask)} entries; it must have 3"
        refuse(op, "output_mask", what, "whether the gradients of x, weight and bias are wanted")


def check_dtype(op: str, x: Tensor) -> None:
    """Check that the dtype of x is one of ``DTYPES``."""
    if x.dtype not in DTYPES:
        refuse(op, "x", f"x is {x.dtype}; it must be one of {', '.join(map(str, DTYPES))}", "x.float() is float32")


def _check_data(op: str, x: Tensor, num_groups: int) -> None:
    check_dtype(op, x)
    if not LEAST_AXES <= x.ndim <= MOST_AXES:
        what = f"x has shape {tuple(x.shape)}; it needs {LEAST_AXES} to {MOST_AXES} axes: (N, C, ...)"
        refuse(op, "x", what, "the first axis is the batch, the second the channels")
    if any(map(certainly, (num_groups <= 0, x.shape[1] == 0))) or certainly(x.shape[1] % num_groups != 0):
        what = f"x has {x.shape[1]} channels, which cannot be divided into num_groups = {num_groups}"
        refuse(op, "num_groups", what, "choose a divisor of the channels")
    if any(certainly(length == 0) for length in x.shape[2:]) and certainly(x.shape[0] != 0):
        what = f"x has shape {tuple(x.shape)}: a group without elements has no mean"
        refuse(op, "x", what, "only an empty batch is allowed")


def check_like(
    op: str,
    name: str,
    one: Tensor,
    device: torch.device,
    dtype: torch.dtype,
    shape: Sequence[int],
    why: str,
) -> None:
    """Check that ``one``, argument ``name`` of ``op``, has this device, dtype and shape. why: the shape in words."""
    if one.device != device:
        refuse(op, name, f"{name} is on {one.device}; it must be on {device}, as x", f"{name}.to('{device}')")
    if one.dtype != dtype:
        reason = "whatever x is" if name in ("mean", "rstd") else "as x"
        refuse(op, name, f"{name} is {one.dtype}; it must be {dtype}, {reason}", f"{name}.to({dtype})")
    if one.ndim != len(shape) or any(certainly(own != other) for own, other in zip(one.shape, shape, strict=True)):
        what = f"{name} has shape {tuple(one.shape)}; it must be {tuple(shape)}, {why}"
        refuse(op, name, what, "compare the shapes of all arguments")


def refuse(op: str, argument: str, what: str, hint: str) -> NoReturn:
    """Raise ArgumentError about an argument of ``op``. what: the mistake. hint: how to mend it."""
    raise ArgumentError(what, where=f"argument {argument} of torch.ops.gn_tutorial.{op}", hint=hint)
