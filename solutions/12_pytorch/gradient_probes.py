"""Probes of the gradient in 12.1 and 12.2: its numbers, what is computed and kept, and which results have none.

A probe takes the attempt's names, its operator's name and a seed, and returns a sentence about what is wrong, or
None. Its text runs in the attempt's process, behind that of probe_data.py; no other module is imported there.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from .probe_data import EPS, INPUTS, RESULTS, Calls, Said, data, line_of, numbers


def gradients(attempt: Any, op: str, seed: int) -> Said:
    """Compare all gradients with PyTorch's own derivative of the formula in float64."""
    given = [one.requires_grad_() for one in data(op, seed, torch.float32)]
    try:
        made = getattr(attempt, op)(*given, EPS)
    except (TypeError, RuntimeError) as error:
        return _of_saving(attempt, error)
    grad_y = numbers(made[0].shape, seed + 1) + 0.5
    known = dict(zip((*INPUTS[op], *RESULTS[op]), (*given, *made), strict=True)) | {"grad_y": grad_y}
    with Calls(f"exercise::{op}_backward") as calls:
        try:
            got = torch.autograd.grad(made[0], given, grad_y, allow_unused=True)
        except RuntimeError as error:
            return _out_of_order(op, calls.seen, known) or _of_autograd(error)
    exact = [one.detach().double().requires_grad_() for one in given]
    want = torch.autograd.grad(_formula(op, exact), exact, grad_y.double())
    for name, one, right in zip(INPUTS[op], got, want, strict=True):
        if one is None:
            return f"the gradient of {name} is None, though {name} needs one"
        if not torch.allclose(one.double(), right, rtol=1e-3, atol=1e-4):
            return _out_of_order(op, calls.seen, known) or _which(
                name, one.double(), got, want, grad_y.double(), op, exact
            )
    return None


def mask(attempt: Any, op: str, seed: int) -> Said:
    """Check that only one gradient is asked for if only one input needs its gradient."""
    for wanted, name in enumerate(INPUTS[op]):
        given = data(op, seed, torch.float32)
        given[wanted].requires_grad_()
        with Calls(f"exercise::{op}_backward") as calls:
            y = getattr(attempt, op)(*given, EPS)[0]
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


def statistics(attempt: Any, op: str, seed: int) -> Said:
    """Check that results without a gradient do not pretend to have one."""
    given = [one.requires_grad_() for one in data(op, seed, torch.float32)]
    for name, one in zip(RESULTS[op][1:], getattr(attempt, op)(*given, EPS)[1:], strict=True):
        if one.requires_grad:
            return (
                f"{name} says that it has a gradient, which the backward pass then ignores: code that uses {name} gets "
                "a wrong gradient without a word. Mark it as not differentiable"
            )
    return None


def saved(attempt: Any, op: str, seed: int) -> Said:
    """Check that tensors are kept where autograd knows of them, and only those that are needed."""
    given = [one.requires_grad_() for one in data(op, seed, torch.float32)]
    kept: list[Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda one: kept.append(one) or one, lambda one: one):
        made = getattr(attempt, op)(*given, EPS)
    if not kept:
        return (
            "nothing is kept by ctx.save_for_backward: tensors that hang on ctx itself are not checked for edits, not "
            "offloaded and not freed in time"
        )
    known = dict(zip((*INPUTS[op], *RESULTS[op]), (*given, *made), strict=True))
    needed = _taken(op)[1:]
    names = [next((name for name, one in known.items() if _same(one, other)), "a tensor") for other in kept]
    extra = [name for at, name in enumerate(names) if name not in needed or name in names[:at]]
    if extra:
        again = " again" if extra[0] in needed else ""
        return (
            f"save keeps {extra[0]}{again}, which the backward pass does not read: it fills memory until then. "
            f"{', '.join(needed)} are enough"
        ), line_of(getattr(attempt, "save", None))
    return None


def _taken(op: str) -> Sequence[str]:
    """The tensors that the backward operator takes, in its order."""
    return ("grad_y", "x", *RESULTS[op][1:], "weight")


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.equal(one, other)


def _out_of_order(op: str, calls: Sequence[Sequence[Any]], known: Mapping[str, Tensor]) -> str | None:
    """Recognise a tensor in the place of another one in the call of the backward operator."""
    for place, one in zip(_taken(op), calls[0] if calls else (), strict=False):
        if not isinstance(one, Tensor) or _same(one, known[place]):
            continue
        there = next((name for name, other in known.items() if _same(one, other)), None)
        if there:
            return (
                f"{op}_backward is given {there} in the place of {place}: save keeps the tensors in one order, and "
                "gradients takes them out of ctx.saved_tensors in another, or hands them on in another"
            )
    return None


def _of_saving(attempt: Any, error: Exception) -> Said:
    """Explain an error that PyTorch raises after save, about a call in save: its traceback has no line of save."""
    save = getattr(attempt, "save", None)
    for word in ("save_for_backward", "mark_non_differentiable"):
        if word in str(error) and save is not None:
            lines, first = inspect.getsourcelines(save)
            at = next((number for number, line in enumerate(lines) if f"ctx.{word}" in line), 0)
            return f"save: PyTorch refuses what it did with ctx.{word}: {' '.join(str(error).split())}", first + at
    raise error


def _formula(op: str, given: Sequence[Tensor]) -> Tensor:
    x, weight = given[:2]
    centred = x if op == "rms_norm" else x - x.mean(-1, keepdim=True)
    y = centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + EPS) * weight
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
    """Return the mistake whose numbers the gradient has, or else how wrong the gradient is."""
    if one.shape == grad_y.shape and torch.equal(one, grad_y):
        return f"the gradient of {name} is grad_y, returned unchanged"
    ones = [exact[0], torch.ones_like(exact[1]).requires_grad_(), *exact[2:]]
    if name == "x" and torch.allclose(one, torch.autograd.grad(_formula(op, ones), ones[0], grad_y)[0], 1e-3, 1e-4):
        return "the gradient of x is that of weights of 1: it must depend on weight. opcheck does not notice this"
    for other, right in zip(INPUTS[op], want, strict=True):
        if other != name and one.shape == right.shape and torch.allclose(one, right, 1e-3, 1e-4):
            return f"the gradient of {other} is returned as that of {name}: one for each argument, in their order"
    error = float((one - want[INPUTS[op].index(name)]).abs().max())
    return f"the gradient of {name} is wrong: it differs from the formula's by up to {error:.2g}"


def _of_autograd(error: RuntimeError) -> str:
    text = str(error).splitlines()[0]
    if "incorrect number of gradients" in text:
        # PyTorch's numbers are left out: they count one more argument, which custom_op adds.
        return "the number of gradients is wrong: one for each argument of the operator, None for eps"
    if "invalid gradient" in text:
        return f"{text[text.index('returned') :]}: one for each argument of the operator, in their order"
    if "different than None" in text:
        return "a gradient is returned for eps, which is not a tensor: return None, as PyTorch's error says"
    raise error
