"""``torch.func``: gradients under its transforms, for instance one per example; and forward mode, which is refused.

The gradient that ``torch.library`` attaches to an operator does not work under ``torch.func.grad``. An
``autograd.Function`` does, if what it saves is saved apart from its forward pass. So there is one here for each
operator, around it, registered under the dispatcher's key that a call meets first while a transform is active. Calls
outside of transforms never come here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch
from torch.autograd import forward_ad

from gn_tutorial.errors import ArgumentError

_BUILT_IN = "torch.nn.functional.group_norm"


def active() -> bool:
    """Whether the call is inside ``torch.func.grad``, ``torch.vmap`` or another transform."""
    return torch._C._are_functorch_transforms_active()


def around(
    op: torch.library.CustomOpDef,
    save: Callable[..., None],
    gradients: Callable[..., Any],
    batch: Callable[..., Any] | None = None,
) -> Callable[..., tuple[Any, ...]]:
    """``op`` for calls under a transform, with the same save and gradients as ``op`` itself has.

    batch: the rule of ``torch.vmap``: (op, number of examples, where the arguments have the new axis, arguments). With
    it, a plain call of ``op`` under a transform comes here too.
    """

    class Around(torch.autograd.Function):
        generate_vmap_rule = batch is None  # from those that op and gradients have

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

    if batch is None:
        return Around.apply
    Around.vmap = staticmethod(lambda info, places, *inputs: batch(op, info.batch_size, places, *inputs))

    def called(*inputs: Any) -> Any:
        # The dispatcher leaves out arguments that equal the schema's default.
        left_out = op._opoverload._schema.arguments[len(inputs) :]
        return _run(op, Around.apply, (*inputs, *(one.default_value for one in left_out)))

    # In the operator's own library, so that it goes where the operator is defined again.
    op._lib.impl(op._opoverload, called, "FuncTorchDynamicLayerFrontMode")
    return Around.apply


def _run(op: torch.library.CustomOpDef, apply: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
    from torch._C._functorch import TransformType
    from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter

    level = retrieve_current_functorch_interpreter()
    if level.key() != TransformType.Functionalize:
        return apply(*inputs)
    # An autograd.Function has no rule for torch.func.functionalize; the operator writes to none of its arguments.
    from torch._subclasses.functional_tensor import FunctorchFunctionalizeAPI

    values = FunctorchFunctionalizeAPI(level)
    with values.redispatch_to_next():
        made = op(*values.unwrap_tensors(inputs))
    return values.wrap_tensors(made)


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
        hint=f"torch.func.vjp and jacrev give the same derivatives; {_BUILT_IN} has both modes",
    )


def no_second_derivative(*_: Any) -> NoReturn:
    """The gradient of a gradient. Raises ArgumentError: PyTorch would only say that something was not registered."""
    raise ArgumentError(
        "the gradient of GroupNorm has no gradient: second derivatives are not implemented",
        where="torch.ops.gn_tutorial.group_norm_backward",
        hint=f"{_BUILT_IN} has second derivatives; drop create_graph=True if you need none",
    )
