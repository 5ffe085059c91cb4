"""Make the operators' gradients work under ``torch.func`` transforms, for instance to get one gradient per example.

The gradient that ``torch.library`` attaches to an operator does not work under ``torch.func.grad``. An
``autograd.Function`` works if it saves its tensors outside its forward pass. So this module wraps each operator in such
a function. The wrapper is registered under the dispatch key that comes first while a transform is active. Calls outside
of transforms never come here. The wrapper applies autocast before it saves tensors, so they have the type that the
kernel gets. Forward mode is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch
from torch.autograd import forward_ad

from gn_tutorial.errors import ArgumentError
from gn_tutorial.torch_ops import autocast


def _around(
    op: torch.library.CustomOpDef,
    save: Callable[..., None],
    gradients: Callable[..., Any],
    batch: Callable[..., Any],
) -> None:
    """Make ``op`` work under transforms, with the given save function, gradients and vmap rule.

    batch: takes (info, index of the new axis of each argument, arguments), as for ``op.register_vmap``.
    """

    class Around(torch.autograd.Function):
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
        def vmap(info: Any, places: tuple[Any, ...], *inputs: Any) -> Any:
            with autocast.off():
                return batch(info, places, *inputs)

        @staticmethod
        def jvp(ctx: Any, *_: Any) -> NoReturn:
            _refuse_forward_mode(op._qualname.rpartition("::")[2])

    def called(*inputs: Any) -> Any:
        # The dispatcher omits arguments that equal the schema's default.
        left_out = op._opoverload._schema.arguments[len(inputs) :]
        given = (*inputs, *(one.default_value for one in left_out))
        return _run(op, Around.apply, tuple(autocast.arguments_under_autocast(op, given)))

    # The function is put into the operator's own library, so that it is removed when the operator is redefined.
    op._lib.impl(op._opoverload, called, "FuncTorchDynamicLayerFrontMode")


def with_gradient(
    op: torch.library.CustomOpDef,
    save: Callable[..., None],
    gradients: Callable[..., Any],
    batch: Callable[..., Any],
) -> None:
    """Give ``op`` a gradient and a rule for vmap, outside of transforms and under them.

    save: takes (ctx, inputs, output). gradients: takes (ctx, gradients of the results). batch: takes (info, index of
    the new axis of each argument, arguments), as for ``op.register_vmap``.
    """
    op.register_autograd(gradients, setup_context=save)
    op.register_vmap(batch)
    _around(op, save, gradients, batch)


def as_gradient_of(of: str, op: torch.library.CustomOpDef, batch: Callable[..., Any]) -> None:
    """Make ``op``, the gradient of operator ``of``, work under vmap, and refuse a second derivative."""
    refuse = no_second_derivative_of(of)
    op.register_autograd(refuse)
    op.register_vmap(batch)
    _around(op, lambda *_: None, refuse, batch)


def _run(op: torch.library.CustomOpDef, apply: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
    from torch._C._functorch import TransformType
    from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter

    level = retrieve_current_functorch_interpreter()
    if level.key() != TransformType.Functionalize:
        return apply(*inputs)
    # An autograd.Function has no rule for torch.func.functionalize. The operator writes to none of its arguments, so it
    # can be called on the unwrapped tensors instead.
    from torch._subclasses.functional_tensor import FunctorchFunctionalizeAPI

    values = FunctorchFunctionalizeAPI(level)
    with values.redispatch_to_next():
        made = op(*values.unwrap_tensors(inputs))
    return values.wrap_tensors(made)


def refuse_forward_mode(op: str) -> None:
    """Raise ArgumentError if ``torch.func.jvp`` or a dual level is active.

    An operator without a rule for forward mode would drop the tangent and give a derivative of 0. Under ``torch.func``
    an operator cannot see whether an argument has a tangent, so all calls are refused.
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
    """Return the name of the PyTorch operator that can replace ours, or "PyTorch's own" if no single one can."""
    name = op.removesuffix("_backward")
    return f"torch.nn.functional.{name}" if hasattr(torch.nn.functional, name) else "PyTorch's own"


def no_second_derivative_of(op: str) -> Callable[..., NoReturn]:
    """Return a function to register as the gradient of ``op``'s gradient. It always raises ArgumentError.

    Without this function PyTorch would only say that no gradient was registered.
    """

    def refuse(*_: Any) -> NoReturn:
        raise ArgumentError(
            f"the gradient of {op} has no gradient: second derivatives are not implemented",
            where=f"torch.ops.gn_tutorial.{op}_backward",
            hint=f"{_built_in(op)} has second derivatives; drop create_graph=True if you need none",
        )

    return refuse
