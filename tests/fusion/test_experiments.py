"""The kernels of kernels/fusion compute what they are compared with: the same numbers by other launches."""

from __future__ import annotations

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.operators.registry import kernels_root

FOLDER = kernels_root() / "fusion"
N = 6007  # several tiles of `own`, and a tail


def test_horners_rule_has_the_same_bits_however_it_is_cut() -> None:
    kernel = gnt.kernel(FOLDER / "horner.cpp")
    x = np.random.default_rng(7).uniform(-0.9, 0.9, N).astype(np.float32)

    def launch(entry: str, *arrays: np.ndarray) -> np.ndarray:
        return kernel.run(*arrays, gnt.out(N), N, 0, entry=entry, blocks=2)["y"]

    value = x.copy()
    for _ in range(30):
        value = value * x + np.float32(0.5)
    for one, first, rest in (("own", "first", "rest"), ("shared", "shared_first", "shared_rest")):
        np.testing.assert_array_equal(launch(one, x), value)
        np.testing.assert_array_equal(launch(rest, x, launch(first, x)), value)


@pytest.mark.parametrize(("dtype", "code", "near"), [("float32", 0, 2e-6), ("float16", 1, 2e-3)])
def test_a_saved_sigma_gives_the_gradients_that_computing_it_again_gives(dtype: str, code: int, near: float) -> None:
    kernel = gnt.kernel(FOLDER / "swiglu_saving.cpp")
    rng = np.random.default_rng(8)
    gate, up, dz = (rng.normal(0.3, 1.5, N).astype(dtype) for _ in range(3))
    made = [gnt.out(N, dtype), gnt.out(N, dtype)]
    forward = kernel.run(gate, up, *made, N, code, entry="swiglu_saving", blocks=2)
    backward = kernel.run(dz, gate, up, forward["s"], *made, N, code, entry="swiglu_from_saved", blocks=2)

    g, u, d = (one.astype(np.float64) for one in (gate, up, dz))
    sigma = 1 / (1 + np.exp(-g))
    right = {"z": g * sigma * u, "dgate": d * u * (sigma + g * sigma * (1 - sigma)), "dup": d * g * sigma}
    for name, array in {"z": forward["z"], "dgate": backward["dgate"], "dup": backward["dup"]}.items():
        np.testing.assert_allclose(array.astype(np.float64), right[name], rtol=near, atol=near * abs(right[name]).max())
