"""The kernel beside its reference: python test_my_layer_norm.py, or pytest."""

from pathlib import Path

import numpy as np
from reference import my_layer_norm

import gn_tutorial as gnt


def test_it_is_right_with_all_checks() -> None:
    """On shapes with tails, in every dtype that op.toml says."""
    kernel = gnt.kernel(Path(__file__).parent)
    rng = np.random.default_rng(1)
    for dtype in kernel.spec.dtypes:
        for shape in [(1, 1), (3, 7), (50, 33), (37, 300)]:
            x = (3.0 * rng.standard_normal(shape) + 1.0).astype(dtype)
            gamma = rng.uniform(0.5, 2.0, shape[1]).astype(dtype)
            beta = rng.uniform(0.5, 2.0, shape[1]).astype(dtype)
            compared = kernel(x, gamma, beta).compare(
                my_layer_norm(x, gamma, beta), kernel.spec.tolerance
            )
            assert compared.ok, f"{dtype} {shape}\n{compared}"


if __name__ == "__main__":
    test_it_is_right_with_all_checks()
    print("right")
