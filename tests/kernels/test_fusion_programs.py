"""kernels/fusion, which docs and notebook 13 measure: what is compared there computes the same, and what it says."""

from __future__ import annotations

import numpy as np
import pytest

from gn_tutorial import reference
from gn_tutorial.operators.arguments import as_dtype, out
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import kernels_root

HORNER = kernel(kernels_root() / "fusion" / "horner.cpp")
SAVING = kernel(kernels_root() / "fusion" / "swiglu_saving.cpp")
#: dtype -> its number in CANN's list, and half a unit in the last place.
DTYPES = {"float32": (0, 0.0), "float16": (1, 2.0**-11), "bfloat16": (27, 2.0**-8)}
STEPS = 30


@pytest.mark.parametrize("dtype", DTYPES)
def test_horners_rule_in_one_launch_and_in_two(dtype: str) -> None:
    """v = v x + 1/2, thirty times from v = x; |x| < 1.3, so that v grows by no more than a factor of some thousand."""
    number, ulp = DTYPES[dtype]
    n = 9001  # several tiles, of which the last is not whole
    x = np.random.default_rng(1).uniform(-1.3, 1.2, n).astype(as_dtype(dtype))
    wide = right = x.astype(np.float64)
    for _ in range(STEPS):
        right = right * wide + 0.5
    made = {}
    for entry in ("own", "shared"):
        result = HORNER.run(x, out(n, dtype), n, number, entry=entry, blocks=3)
        assert result.diagnostics == ()
        made[entry] = result.outputs["y"]
        np.testing.assert_allclose(made[entry].astype(np.float64), right, rtol=ulp + 1e-5, atol=1e-5)
    np.testing.assert_array_equal(made["own"], made["shared"])  # the same instructions on other tensors
    for whole, first, second in (("own", "first", "rest"), ("shared", "shared_first", "shared_rest")):
        value = HORNER.run(x, out(n, dtype), n, number, entry=first, blocks=3).outputs["y"]
        rest = HORNER.run(x, value, out(n, dtype), n, number, entry=second, blocks=3).outputs["y"]
        if dtype == "float32":
            np.testing.assert_array_equal(rest, made[whole])  # nothing is rounded on the way
        else:
            away, fused = (np.abs(one.astype(np.float64) - right).max() for one in (rest, made[whole]))
            assert away > fused


@pytest.mark.parametrize("dtype", DTYPES)
def test_swiglu_that_saves_and_its_gradients(dtype: str) -> None:
    number, ulp = DTYPES[dtype]
    n = 5003
    rng = np.random.default_rng(2)
    gate, up, dz = (rng.normal(mean, 2.0, n).astype(as_dtype(dtype)) for mean in (0.4, -0.3, 0.2))
    forward = SAVING.run(gate, up, out(n, dtype), out(n, dtype), n, number, entry="swiglu_saving", blocks=3)
    assert forward.diagnostics == ()
    near = {"rtol": 1.01 * ulp + 1e-6, "atol": 1e-6}
    s = 1 / (1 + np.exp(-gate.astype(np.float64)))
    np.testing.assert_allclose(forward.outputs["z"].astype(np.float64), reference.swiglu(gate, up), **near)
    np.testing.assert_allclose(forward.outputs["s"].astype(np.float64), s, **near)
    saved = s.astype(as_dtype(dtype))
    grads = (out(n, dtype), out(n, dtype))
    back = SAVING.run(dz, gate, up, saved, *grads, n, number, entry="swiglu_from_saved", blocks=3)
    assert back.diagnostics == ()
    given, g, u, kept = (one.astype(np.float64) for one in (dz, gate, up, saved))
    slope = kept + g * kept * (1 - kept)  # of the rounded s, since only that was saved
    np.testing.assert_allclose(back.outputs["dgate"].astype(np.float64), given * u * slope, **near, err_msg="dgate")
    np.testing.assert_allclose(back.outputs["dup"].astype(np.float64), given * g * kept, **near, err_msg="dup")
    if dtype == "float32":
        right = reference.swiglu_backward(dz, gate, up)
        np.testing.assert_allclose(back.outputs["dgate"], right.dgate, rtol=1e-5, atol=4e-6)
        np.testing.assert_allclose(back.outputs["dup"], right.dup, rtol=1e-5, atol=4e-6)
