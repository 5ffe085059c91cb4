"""Operators that do the work of two: the second reference applied to what the first one gives, in float64."""

from __future__ import annotations

from numpy.typing import ArrayLike

from gn_tutorial.reference.elementwise import silu
from gn_tutorial.reference.group_norm import GroupNormOutputs, group_norm, group_norm_nhwc


def group_norm_silu(
    x: ArrayLike,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
) -> GroupNormOutputs:
    """SiLU of ``group_norm``'s y, and its mean and rstd, which are those of x. Arguments, errors: as there."""
    found = group_norm(x, gamma, beta, num_groups=num_groups, eps=eps)
    return found._replace(y=silu(found.y))


def group_norm_silu_nhwc(
    x: ArrayLike,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
) -> GroupNormOutputs:
    """``group_norm_silu`` of x in the layout (N, *spatial, C); y has that layout, too."""
    found = group_norm_nhwc(x, gamma, beta, num_groups=num_groups, eps=eps)
    return found._replace(y=silu(found.y))
