"""``torch.func``: gradients under its transforms, for instance one per example; and forward mode, which is refused.

The gradient that ``torch.library`` attaches to an operator does not work under ``torch.func.grad``. An
``autograd.Function`` does, if what it saves is saved apart from its forward pass. So there is one here for each
operator, around it, for calls where a transform is active; everywhere else the operator itself is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch
from torch.autograd import forward_ad

from gn_tutorial.errors import ArgumentError

#: PyTorch's own operator in place of ours; those that are not named are GroupNorm's.
_BUILT_IN = {"gelu": "torch.nn.functional.gelu", "linear": "torch.nn.functional.linear"}


def active() -> bool:
    """Whether the call is inside ``torch.func.grad``, ``torch.vmap`` or another transform."""
    return torch._C._are_functorch_transforms_active()


def around(
    op: Callable[..., Any], save: Callable[..., None], gradients: Callable[..., Any]
) -> Callable[..., tuple[Any, ...]]:
    """``op`` for calls under a transform, with the same save and gradients as ``op`` itself has."""

    class Around(torch.autograd.Function):
        generate_vmap_rule = True  # op and gradients have rules of their own

        @staticmethod
        def forward(*inputs: Any) -> Any:
            return op(*inputs)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            save(ctx, inputs, output)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return gradients(ctx, *grads)

        @staticmethod
        def jvp(ctx: Any, *_: Any) -> NoReturn:
            _refuse_forward_mode(op._qualname.rpartition("::")[2])

    return Around.apply


def refuse_forward_mode(op: str) -> None:
    """Raise ArgumentError where ``torch.func.jvp`` or a dual level is active.

    An operator without a rule for it would drop the tangent, and the result would be a derivative of 0. Whether one of
    the arguments has a tangent cannot be seen from inside an operator under ``torch.func``, so all calls are refused.
    """
    if forward_ad._current_level >= 0:
        _refuse_forward_mode(op)


def _refuse_forward_mode(op: str) -> NoReturn:
    raise ArgumentError(
        "forward-mode derivatives (torch.func.jvp, jacfwd, dual numbers) are not implemented",
        where=f"torch.ops.gn_tutorial.{op}",
        hint=f"torch.func.vjp and jacrev give the same derivatives; {_built_in(op)} has both modes",
    )


def _built_in(op: str) -> str:
    return _BUILT_IN.get(op.removesuffix("_backward"), "torch.nn.functional.group_norm")


def no_second_derivative_of(op: str) -> Callable[..., NoReturn]:
    """The gradient of ``op``'s gradient: it raises ArgumentError. PyTorch would only say that none was registered."""

    def refuse(*_: Any) -> NoReturn:
        raise ArgumentError(
            f"the gradient of {op} has no gradient: second derivatives are not implemented",
            where=f"torch.ops.gn_tutorial.{op}_backward",
            hint=f"{_built_in(op)} has second derivatives; drop create_graph=True if you need none",
        )

    return refuse


no_second_derivative = no_second_derivative_of("group_norm")
