"""What exercises 11.1 and 11.2 are asked. A probe is given the attempt's names, its operator's name and a seed.

It returns what is wrong in a sentence, or nothing.

The text of this file runs in the attempt's process, which has no other module of the exercises: so it imports PyTorch
only, and is itself never imported there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

_EPS = 0.01  # large enough to be seen in every result
#: Operator -> its results; those of its backward pass. The first result is the one with a gradient.
_RESULTS = {"rms_norm": ("y", "rstd"), "layer_norm": ("y", "mean", "rstd")}
_INPUTS = {"rms_norm": ("x", "weight"), "layer_norm": ("x", "weight", "bias")}


def forward_fake(attempt: Any, op: str, seed: int) -> str | None:
    """Compare what the fake returns with what the operator returns."""
    for dtype, turned in itertools.product((torch.float32, torch.float16), (False, True)):
        given = _data(op, seed, dtype, turned)
        kind = f"x is {_name(dtype)}{' and transposed' if turned else ''}"
        said = _differences(getattr(attempt, op), (*given, _EPS), _RESULTS[op], kind)
        if said:
            return said
    return None


def fake_defaults(attempt: Any, op: str, seed: int) -> str | None:
    """Call the fake without eps, and with the value that eps has by default."""
    given = _data(op, seed, torch.float32)
    default = 1e-6 if op == "rms_norm" else 1e-5
    for more in ((), (default,)):
        try:
            getattr(attempt, op)(*(one.to("meta") for one in given), *more)
        except TypeError as error:
            return (
                f"without eps, or with its default, the fake is called without eps ({error}): PyTorch's dispatcher "
                "leaves out what equals the default, so every function repeats it"
            )
    return None


def backward_fake(attempt: Any, op: str, seed: int) -> str | None:
    """The same as forward_fake for the backward operator, under every mask."""
    names = tuple(f"the gradient of {name}" for name in _INPUTS[op])
    for mask in itertools.product((True, False), repeat=len(names)):
        for dtype, turned in ((torch.float32, True), (torch.float16, False)):
            given = _data(op, seed, dtype, turned)
            saved = getattr(attempt, op)(*given, _EPS)[1:]
            call = (torch.ones_like(given[0]), given[0], *saved, given[1], list(mask))
            said = _differences(getattr(attempt, f"{op}_backward"), call, names, f"the mask is {list(mask)}")
            if said:
                return said
    return None


def gradients(attempt: Any, op: str, seed: int) -> str | None:
    """All gradients against PyTorch's own derivative of the formula, in float64."""
    given = [one.requires_grad_() for one in _data(op, seed, torch.float32)]
    y = getattr(attempt, op)(*given, _EPS)[0]
    grad_y = _numbers(y.shape, seed + 1) + 0.5
    try:
        got = torch.autograd.grad(y, given, grad_y, allow_unused=True)
    except RuntimeError as error:
        return _of_autograd(error)
    exact = [one.detach().double().requires_grad_() for one in given]
    want = torch.autograd.grad(_formula(op, exact), exact, grad_y.double())
    for name, one, right in zip(_INPUTS[op], got, want, strict=True):
        if one is None:
            return f"the gradient of {name} is None, though {name} needs one"
        if not torch.allclose(one.double(), right, rtol=1e-3, atol=1e-4):
            return _which(name, one.double(), got, want, grad_y.double(), op, exact)
    return None


def mask(attempt: Any, op: str, seed: int) -> str | None:
    """Which gradients are computed when one input only needs its gradient."""
    for wanted, name in enumerate(_INPUTS[op]):
        given = _data(op, seed, torch.float32)
        given[wanted].requires_grad_()
        with _Calls(f"exercise::{op}_backward") as calls:
            y = getattr(attempt, op)(*given, _EPS)[0]
            (got,) = torch.autograd.grad(y, [given[wanted]], torch.ones_like(y), allow_unused=True)
        right = [number == wanted for number in range(len(given))]
        if not calls.seen:
            return f"{op}_backward is not called: the backward pass is its work, on a device too"
        if got is None:
            return f"only {name} needs a gradient, and it is None"
        asked = list(calls.seen[0][-1])
        if asked != right:
            what = f"only {name} needs a gradient, and {op}_backward is asked for {asked}"
            return f"{what}: ctx.needs_input_grad says {right}"
    return None


def statistics(attempt: Any, op: str, seed: int) -> str | None:
    """Whether a result without a gradient pretends to have one."""
    given = [one.requires_grad_() for one in _data(op, seed, torch.float32)]
    for name, one in zip(_RESULTS[op][1:], getattr(attempt, op)(*given, _EPS)[1:], strict=True):
        if one.requires_grad:
            return (
                f"{name} says that it has a gradient, which the backward pass then ignores: whoever uses {name} gets a "
                "wrong gradient without a word. Mark it as not differentiable"
            )
    return None


def saved(attempt: Any, op: str, seed: int) -> str | None:
    """Whether tensors are kept where autograd knows of them, and no more of them than are needed."""
    given = [one.requires_grad_() for one in _data(op, seed, torch.float32)]
    kept: list[Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda one: kept.append(one) or one, lambda one: one):
        getattr(attempt, op)(*given, _EPS)
    if not kept:
        return (
            "nothing is kept by ctx.save_for_backward: tensors that hang on ctx itself are not checked for edits, not "
            "offloaded and not freed in time"
        )
    return None


class _Calls(TorchDispatchMode):
    """Notes the arguments of one operator's calls."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.seen: list[Sequence[Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.name().partition(".")[0] == self.name:
            self.seen.append(args)
        return func(*args, **(kwargs or {}))


def _numbers(shape: Sequence[int], seed: int) -> Tensor:
    return torch.randn(tuple(shape), generator=torch.Generator().manual_seed(seed))


def _data(op: str, seed: int, dtype: torch.dtype, turned: bool = False) -> list[Tensor]:
    """Inputs without symmetry; turned: x's memory lies in another order."""
    shape = (3, 4, 6) if op == "rms_norm" else (5, 6)
    x = _numbers(shape, seed) * 2 + torch.linspace(-1, 4, 6)
    if turned:
        x = x.transpose(0, -1).contiguous().transpose(0, -1)
    rest = [_numbers((6,), seed + 2 + number) + 1.5 for number in range(len(_INPUTS[op]) - 1)]
    return [one.to(dtype) for one in (x, *rest)]


def _differences(op: Callable[..., Any], call: Sequence[Any], names: Sequence[str], kind: str) -> str | None:
    """What is different when the same call has no numbers."""
    real = op(*call)
    fake = op(*(one.to("meta") if isinstance(one, Tensor) else one for one in call))
    for name, one, other in zip(names, real, fake, strict=True):
        if (one is None) != (other is None):
            return f"where {kind}, the operator returns {_text(one)} for {name}, and the fake {_text(other)}"
        if one is None:
            continue
        for fact, own, told in (
            ("the shape of", tuple(one.shape), tuple(other.shape)),
            ("the dtype of", _name(one.dtype), _name(other.dtype)),
            ("the strides of", one.stride(), other.stride()),
        ):
            if own != told:
                return f"where {kind}, {fact} {name} is {own}, and the fake says {told}"
        if other.device.type != "meta":
            return f"the fake puts {name} on {other.device}, where its inputs are not: take the device from x"
    return None


def _formula(op: str, given: Sequence[Tensor]) -> Tensor:
    x, weight = given[:2]
    centred = x if op == "rms_norm" else x - x.mean(-1, keepdim=True)
    y = centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + _EPS) * weight
    return y if op == "rms_norm" else y + given[2]


def _which(
    name: str,
    one: Tensor,
    got: Sequence[Tensor],
    want: Sequence[Tensor],
    grad_y: Tensor,
    op: str,
    exact: Sequence[Tensor],
) -> str:
    """A mistake by name, where the numbers are those of one."""
    if one.shape == grad_y.shape and torch.equal(one, grad_y):
        return f"the gradient of {name} is grad_y, handed on unchanged"
    ones = [exact[0], torch.ones_like(exact[1]).requires_grad_(), *exact[2:]]
    if name == "x" and torch.allclose(one, torch.autograd.grad(_formula(op, ones), ones[0], grad_y)[0], 1e-3, 1e-4):
        return "the gradient of x is that of weights of 1: weight has a part in it. opcheck sees no such thing"
    for other, right in zip(_INPUTS[op], want, strict=True):
        if other != name and one.shape == right.shape and torch.allclose(one, right, 1e-3, 1e-4):
            return f"the gradient of {other} stands in the place of {name}: one for each argument, in their order"
    error = float((one - want[_INPUTS[op].index(name)]).abs().max())
    return f"the gradient of {name} is wrong: it differs from the formula's by up to {error:.2g}"


def _of_autograd(error: RuntimeError) -> str:
    text = str(error).splitlines()[0]
    if "incorrect number of gradients" in text:
        # PyTorch's own numbers count one more, an argument that custom_op adds.
        return "the number of gradients is wrong: one for each argument of the operator, None for eps"
    if "invalid gradient" in text:
        return f"{text[text.index('returned') :]}: one for each argument of the operator, in their order"
    if "different than None" in text:
        return "a gradient is returned for eps, which is no tensor: None belongs there, as PyTorch says by an error"
    raise error


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _text(one: Tensor | None) -> str:
    return "None" if one is None else "a tensor"
