"""Production operators of ops-nn with their own tiling, sources unmodified, beside float64: right, and no false alarm.

They are read from the folder that GNT_PUBLIC_CODE names, as ``nn``; without it these tests skip.
"""

from __future__ import annotations

import numpy as np
import pytest
from public_code import needs, public_code

import gn_tutorial as gnt
from gn_tutorial.operators.arguments import as_dtype

NORM = public_code("nn", "norm")
pytestmark = needs(NORM)

DTYPES = ("float32", "float16", "bfloat16")
MOST = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
# (shape, groups): one group and many, rows shorter and longer than a tile, tails of every kind.
SHAPES = (
    ((1, 8, 1), 4), ((2, 8, 7), 4), ((2, 16, 8, 8), 2), ((3, 32, 5, 5), 8), ((1, 32, 64, 64), 8), ((4, 64, 9), 32),
    ((2, 6, 33), 3), ((1, 4, 4099), 2), ((5, 10, 3), 5), ((8, 32, 16, 16), 32), ((1, 512, 7), 32), ((2, 48, 128), 1),
    ((1, 2, 20000), 1), ((16, 16, 2), 16), ((3, 12, 1000), 4), ((1, 320, 32, 32), 32), ((7, 9, 11), 3),
    ((2, 256, 64), 32), ((1, 64, 100), 64), ((12, 24, 13), 6),
)  # fmt: skip


# True of a kernel that these shapes do not take: a member is multiplied and has no value. What comes of it nobody uses.
SAID_OF_THE_SOURCE = {("language-never-set", "warning", "rms_norm_whole_reduce_sum.h")}
# True of the kernel for short rows, and harmless: it gives the buffer of rstd back some lines before it broadcasts from
# it, and spreads a first row over its own matrix.
SAID_OF_SHORT_ROWS = {
    ("ub-use-of-freed", "warning", "rms_norm_merge_n.h"),
    ("row-onto-itself", "warning", "rms_norm_merge_n.h"),
}


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


@pytest.mark.parametrize(("shape", "groups"), SHAPES)
def test_group_norm_silu_is_right(shape: tuple[int, ...], groups: int) -> None:
    dtype = DTYPES[(shape[0] + shape[1]) % 3]
    rng = np.random.default_rng(11)
    x = (rng.standard_normal(shape) * 1.7 + 0.6).astype(as_dtype(dtype))
    gamma, beta = ((rng.standard_normal(shape[1]) + 0.3).astype(as_dtype(dtype)) for _ in range(2))
    result = gnt.project(NORM / "group_norm_silu")(x, gamma, beta, num_groups=groups)
    split = wide(x).reshape(shape[0], groups, -1)
    mean, rstd = split.mean(-1), 1 / np.sqrt(split.var(-1) + 1e-5)
    normal = ((split - mean[..., None]) * rstd[..., None]).reshape(shape)
    lanes = (1, -1) + (1,) * (len(shape) - 2)
    value = normal * wide(gamma).reshape(lanes) + wide(beta).reshape(lanes)
    np.testing.assert_allclose(wide(result.y), value / (1 + np.exp(-value)), atol=MOST[dtype], rtol=MOST[dtype])
    np.testing.assert_allclose(wide(result.mean), mean, atol=MOST[dtype], rtol=MOST[dtype])
    np.testing.assert_allclose(wide(result.rstd), rstd, atol=MOST[dtype], rtol=MOST[dtype])
    assert not result.diagnostics


@pytest.mark.parametrize("rows", [1, 3, 40, 77])
@pytest.mark.parametrize("inner", [16, 40, 1024, 4099, 12800])
def test_rms_norm_is_right(rows: int, inner: int) -> None:
    dtype = DTYPES[(rows + inner) % 3]
    rng = np.random.default_rng(13)
    x = (rng.standard_normal((rows, inner)) * 1.3 + 0.2).astype(as_dtype(dtype))
    gamma = (rng.standard_normal(inner) + 0.3).astype(as_dtype(dtype))
    result = gnt.project(NORM / "rms_norm", op="RmsNorm")(x, gamma)
    rstd = 1 / np.sqrt((wide(x) ** 2).mean(-1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(wide(result.y), wide(x) * rstd * wide(gamma), atol=MOST[dtype], rtol=MOST[dtype])
    np.testing.assert_allclose(result.rstd.reshape(-1), rstd.reshape(-1), rtol=1e-4)
    found = {(one.id, one.severity, one.file.rsplit("/", 1)[-1]) for one in result.diagnostics}
    assert found >= SAID_OF_THE_SOURCE
    assert found <= SAID_OF_THE_SOURCE | SAID_OF_SHORT_ROWS
    assert bool(found - SAID_OF_THE_SOURCE) == (inner <= 1024)
