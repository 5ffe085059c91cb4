"""``torch.autocast``: the rules that convert an operator's arguments to the dtype in which the operator computes.

``torch.library`` applies an operator's rule below the transforms of ``torch.func``. That is too late, because a
transform has already kept the unconverted arguments for the gradient, and their dtype differs from that of y's
gradient. So ``transforms`` converts the arguments first, with the functions here.
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
    """Make ``op`` compute under autocast in the dtype that autocast is set to, on each device.

    For an operator that always computes in one dtype, use ``op.register_autocast``, which supports only that case.
    """
    _register(op, _SET)


def compute_in_the_widest(op: torch.library.CustomOpDef) -> None:
    """Make ``op`` compute under autocast in the dtype to which x + y in PyTorch would promote its tensors.

    Only the tensors that autocast converts count (``_changes``).
    """
    _register(op, _WIDEST)


def _register(op: torch.library.CustomOpDef, rule: str) -> None:
    for device, key in _KEYS.items():

        def kernel(*arguments: Any, device: str = device) -> Any:
            cast = _cast(arguments, device, _dtype(rule, arguments, device))
            with off():
                return op._opoverload(*cast)

        op._autocast_dtype[device] = rule
        # The rule is registered in the operator's own library, so that redefining the operator removes it.
        op._lib.impl(op._name, kernel, key)


def arguments_under_autocast(op: torch.library.CustomOpDef, arguments: Sequence[Any]) -> Sequence[Any]:
    """Return the arguments converted by the rule of ``op``; unchanged if autocast is off or there is no rule.

    PyTorch's own differentiable functions convert them, so each gradient has its argument's original dtype.
    """
    for device, dtype in op._autocast_dtype.items():
        if torch.is_autocast_enabled(device):
            arguments = _cast(arguments, device, _dtype(dtype, arguments, device))
    return arguments


def _dtype(rule: Any, arguments: Sequence[Any], device: str) -> torch.dtype:
    """Return the dtype that a rule chooses for these arguments. rule: _SET, _WIDEST or a dtype."""
    if rule is _SET:
        return torch.get_autocast_dtype(device)
    if rule is not _WIDEST:
        return rule
    types = [one.dtype for one in arguments if _changes(one, device)]
    return functools.reduce(torch.promote_types, types) if types else torch.float32


def off() -> AbstractContextManager[object]:
    """Return a context without autocast, for calls whose arguments are already converted."""
    return torch._C._ExcludeDispatchKeyGuard(_ALL_KEYS)


def _cast(arguments: Sequence[Any], device: str, dtype: torch.dtype) -> list[Any]:
    return [one.to(dtype) if _changes(one, device) else one for one in arguments]


def _changes(one: Any, device: str) -> bool:
    """Whether autocast on ``device`` converts an argument, by PyTorch's own rules."""
    if not isinstance(one, Tensor) or one.device.type != device:
        return False
    return one.is_floating_point() and one.dtype != torch.float64
