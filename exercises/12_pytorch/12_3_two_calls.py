"""12.3 Both calls. Write `gradients`: the calls that torch.ops makes for you.

The order of the arguments is that of kernels/host_api/gn_group_norm.h: grad_y, x, mean,
rstd, weight, N, C, HxW, the number of groups, the mask, and the three gradients.
"""

import numpy as np

import gn_tutorial as gnt


def gradients(
    grad_y: np.ndarray,
    x: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    weight: np.ndarray | None,
    num_groups: int,
    mask: list[bool],
    stream: gnt.host.Stream,
) -> tuple[np.ndarray | None, ...]:
    """Return the gradients of x, weight and bias, by "GroupNormBackward" on the stream.

    grad_y, x: float32, shape (N, C, ...) or (N, C). mean, rstd: float32, shape
    (N, num_groups). weight: shape (C,); None means ones. mask: which of the three
    gradients are wanted. For the others make no array, and return None.
    When this function returns, the results are valid.
    Raises ValueError if a call refuses its arguments, with its code and message.
    """
    raise NotImplementedError
