"""``torch.vmap``: functions for the operators' rules. The axis of examples is the axis over which vmap maps.

For GroupNorm, ``batch_forward`` and ``batch_backward`` make one call for all examples. They fold the axis of examples
into N if all examples share weight and bias, because the images of a batch are independent. If they do not, or if a
gradient of weight or bias is computed, the functions fold the axis into C: B examples of C channels in G groups become
B * C channels in B * G groups, and each channel has its own weight. So the gradients of weight and bias, which are sums
over N, stay separate for each example.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

Places = Sequence[int | None]


def in_front(count: int, places: Places, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return every tensor with the axis of examples in front; a shared tensor (place None) is expanded."""
    return [
        one.expand(count, *one.shape) if place is None else one.movedim(place, 0)
        for one, place in zip(tensors, places, strict=True)
    ]


def one_by_one(
    op: Callable[..., Any], count: int, places: Places, arguments: Sequence[Any]
) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
    """Call ``op`` for each of ``count`` examples. Return the stacked results, and the axis of examples in each, 0.

    places: the axis of examples in each argument, or None for a shared argument.
    """
    calls = [
        op(*(one.select(at, number) if isinstance(at, int) else one for one, at in zip(arguments, places, strict=True)))
        for number in range(count)
    ]
    return tuple(torch.stack(ones) for ones in zip(*calls, strict=True)), (0,) * len(calls[0])


def batch_forward(
    op: Callable[..., Any],
    count: int,
    places: Places,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    num_groups: int,
    eps: float = 1e-5,
) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
    """Return y, mean and rstd of ``count`` examples, and the axis of examples in each of the three.

    op: a GroupNorm operator. places: the axis of examples in each argument, or None for a shared argument.
    """
    axis = 0 if places[1] is None and places[2] is None else 1
    x = _folded(x, places[0], count, axis)
    if axis == 1:
        weight, bias = (_folded(one, place, count, 0) for one, place in ((weight, places[1]), (bias, places[2])))
        num_groups = num_groups * count
    made = op(x, weight, bias, num_groups, eps)
    return tuple(one.unflatten(axis, (count, one.shape[axis] // count)) for one in made), (axis,) * 3


def batch_backward(
    op: Callable[..., Any],
    count: int,
    places: Places,
    grad_y: Tensor,
    x: Tensor,
    mean: Tensor,
    rstd: Tensor,
    *more: Any,
) -> tuple[tuple[Tensor | None, ...], tuple[int | None, ...]]:
    """Return the gradients of ``count`` examples, and the axis of examples in each; None for those not in the mask.

    op: a backward operator of GroupNorm. places: the axis of examples in each argument, or None for a shared argument.
    more: weight, bias if ``op`` takes it, num_groups and output_mask.
    """
    *affine, num_groups, output_mask = more
    its_places = places[4 : 4 + len(affine)]
    axis = 0 if all(one is None for one in its_places) and not any(output_mask[1:]) else 1
    data = [_folded(one, place, count, axis) for one, place in zip((grad_y, x, mean, rstd), places[:4], strict=True)]
    if axis == 1:
        affine = [_folded(one, place, count, 0) for one, place in zip(affine, its_places, strict=True)]
        num_groups = num_groups * count
    grads = op(*data, *affine, num_groups, output_mask)
    where = [axis if number == 0 else 0 for number in range(3)]
    split = [
        one if one is None else one.unflatten(at, (count, one.shape[at] // count))
        for one, at in zip(grads, where, strict=True)
    ]
    return tuple(split), tuple(None if one is None else at for one, at in zip(split, where, strict=True))


def _folded(tensor: Tensor | None, place: int | None, count: int, axis: int) -> Tensor | None:
    """Return the tensor with its axis of examples merged into axis ``axis``; a shared tensor is expanded first."""
    if tensor is None:
        return None
    moved = (
        tensor.unsqueeze(axis).expand(*tensor.shape[:axis], count, *tensor.shape[axis:])
        if place is None
        else (tensor.movedim(place, axis))
    )
    return moved.flatten(axis, axis + 1)
