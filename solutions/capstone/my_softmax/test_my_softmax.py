"""The kernel beside its reference: python test_my_softmax.py, or pytest."""

from pathlib import Path

import numpy as np
from reference import my_softmax

import gn_tutorial as gnt


def test_it_is_right_with_all_checks() -> None:
    """On shapes with tails, in every dtype that op.toml says."""
    kernel = gnt.kernel(Path(__file__).parent)
    rng = np.random.default_rng(1)
    for dtype in kernel.spec.dtypes:
        for shape in [(1, 1), (3, 7), (50, 33), (37, 300)]:
            x = (3.0 * rng.standard_normal(shape) + 1.0).astype(dtype)
            compared = kernel(x).compare(my_softmax(x), kernel.spec.tolerance)
            assert compared.ok, f"{dtype} {shape}\n{compared}"


if __name__ == "__main__":
    test_it_is_right_with_all_checks()
    print("right")
