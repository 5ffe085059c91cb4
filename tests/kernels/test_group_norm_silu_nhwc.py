"""GroupNorm and SiLU of channels-last tensors: group_norm_nhwc, and an epilogue that works in two halves of a piece."""

from __future__ import annotations

import numpy as np
import pytest

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel

OP, SPEC = find_kernel("group_norm_silu_nhwc/rows")
RUN = kernel(SPEC.id)
EPS = 1e-3
GRID = [
    ((1, 5, 4), 4),
    ((3, 100, 99), 9),
    ((1, 70, 261), 9),
    ((50, 16, 31, 4), 1),
    ((49, 3, 2050), 25),
    ((1, 9, 5000), 2),
    ((1, 9001, 3), 1),  # pieces of many rows, in halves
]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("shape", "groups"), GRID, ids=str)
def test_numbers_and_statistics(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=3, dtype=dtype)
    result = RUN(*arrays.values(), num_groups=groups, eps=EPS)
    assert result.diagnostics == ()
    comparison = result.compare(random_inputs.expected(OP, arrays, {"num_groups": groups, "eps": EPS}), SPEC.tolerance)
    assert comparison.ok, comparison
    plain = kernel("group_norm_nhwc/rows")(*arrays.values(), num_groups=groups, eps=EPS)
    np.testing.assert_array_equal(result.mean, plain.mean)
    np.testing.assert_array_equal(result.rstd, plain.rstd)
    late = RUN(*arrays.values(), num_groups=groups, eps=EPS, options=TwinOptions(delayed_dma=True))
    np.testing.assert_array_equal(late.y, result.y)
