"""``torch.autocast``: what an operator computes in, and its arguments in that type.

The rule that ``torch.library`` attaches to an operator runs below the transforms of ``torch.func``. That is too late: a
transform keeps the arguments for the gradient as it was given them, and the gradient of y has y's type. So
``transforms`` asks here first.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

from gn_tutorial.torch_ops.devices import NPU

_KEYS = {device: f"Autocast{torch._C._dispatch_key_for_device(device)}" for device in ("cpu", NPU)}
_ALL_KEYS = functools.reduce(
    operator.or_, (torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key)) for key in _KEYS.values())
)
_SET = "in the type that autocast is set to"
_WIDEST = "in the widest type of the arguments"


def compute_as_set(op: torch.library.CustomOpDef) -> None:
    """Under autocast ``op`` computes in the type that autocast is set to, on each device.

    One that always computes in the same type says so with ``op.register_autocast``, which knows no other way.
    """
    _register(op, _SET)


def compute_in_the_widest(op: torch.library.CustomOpDef) -> None:
    """Under autocast ``op`` computes in the type that holds those of all its tensors, as x + y of PyTorch does."""
    _register(op, _WIDEST)


def _register(op: torch.library.CustomOpDef, rule: str) -> None:
    for device, key in _KEYS.items():

        def kernel(*arguments: Any, device: str = device) -> Any:
            cast = _cast(arguments, device, _dtype(rule, arguments, device))
            with off():
                return op._opoverload(*cast)

        op._autocast_dtype[device] = rule
        # In the operator's own library, so that it goes where the operator is defined again.
        op._lib.impl(op._name, kernel, key)


def arguments_under_autocast(op: torch.library.CustomOpDef, arguments: Sequence[Any]) -> Sequence[Any]:
    """The arguments as the rule of ``op`` gives them to it: themselves where autocast is off, or there is no rule.

    Conversions are PyTorch's own, so that a gradient comes back in the type that the argument had.
    """
    for device, dtype in op._autocast_dtype.items():
        if torch.is_autocast_enabled(device):
            arguments = _cast(arguments, device, _dtype(dtype, arguments, device))
    return arguments


def _dtype(rule: Any, arguments: Sequence[Any], device: str) -> torch.dtype:
    """The type that a rule means for these arguments."""
    if rule is _SET:
        return torch.get_autocast_dtype(device)
    if rule is not _WIDEST:
        return rule
    types = [one.dtype for one in arguments if _changes(one, device)]
    return functools.reduce(torch.promote_types, types) if types else torch.float32


def off() -> AbstractContextManager[object]:
    """A block in which nothing is converted: the arguments of what runs in it have been."""
    return torch._C._ExcludeDispatchKeyGuard(_ALL_KEYS)


def _cast(arguments: Sequence[Any], device: str, dtype: torch.dtype) -> list[Any]:
    return [one.to(dtype) if _changes(one, device) else one for one in arguments]


def _changes(one: Any, device: str) -> bool:
    """Whether autocast converts an argument: as PyTorch's own rules."""
    if not isinstance(one, Tensor) or one.device.type != device:
        return False
    return one.is_floating_point() and one.dtype != torch.float64
