"""Step 8 of the forward ladder in float32, float16 and bfloat16: accuracy, copies, cores, numbers near the limits."""

from __future__ import annotations

import numpy as np
import pytest

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.accuracy import STANDARDS, accuracy
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.operators.tiling import load_tiling
from tests.kernels.test_group_norm_kernels import GRID

OP, SPEC = find_kernel("group_norm/any")
EPS = 1e-3
NARROW = ("float16", "bfloat16")
#: Small groups; groups in pieces of many short channels, of a few long ones, of parts of one; groups that cores share.
SOME = [GRID[2], GRID[5], GRID[6], GRID[10], GRID[12], GRID[15], GRID[16]]


def plain(arrays: dict[str, np.ndarray], groups: int, eps: float = EPS) -> np.ndarray:
    """y by NumPy in float32, rounded once: what any implementation of this precision may be expected to reach."""
    x = arrays["x"].astype(np.float32)
    parts = x.reshape(x.shape[0], groups, -1)
    mean = parts.mean(-1, keepdims=True, dtype=np.float32)
    variance = np.square(parts - mean).mean(-1, keepdims=True, dtype=np.float32)
    y = ((parts - mean) / np.sqrt(variance + np.float32(eps))).reshape(x.shape)
    gamma, beta = (arrays[name].astype(np.float32).reshape(-1, *[1] * (x.ndim - 2)) for name in ("gamma", "beta"))
    return (y * gamma + beta).astype(arrays["x"].dtype)


@pytest.mark.parametrize("dtype", STANDARDS)
@pytest.mark.parametrize(("shape", "groups"), GRID, ids=str)
def test_the_accuracy_standard(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=3, dtype=dtype)
    truth = random_inputs.expected(OP, arrays, {"num_groups": groups, "eps": EPS})
    result = kernel(SPEC.id)(*arrays.values(), num_groups=groups, eps=EPS)
    assert result.diagnostics == ()
    assert result.y.dtype == as_dtype(dtype)
    assert result.mean.dtype == result.rstd.dtype == np.float32
    comparison = result.compare(truth, SPEC.tolerance)
    assert comparison.ok, comparison
    # If beta and the normalised x cancel, float32 itself misses the standard's 10 T: hence the baseline.
    other = plain(arrays, groups)
    assert accuracy(result.y, truth["y"], other).mere < STANDARDS[dtype].unit
    judged = ~cancelled(result.y, truth["y"], arrays["beta"]) if dtype == "float32" else np.ones(shape, bool)
    found = accuracy(result.y[judged], truth["y"][judged], other[judged])
    assert found.ok, found
    if dtype != "float32":
        assert found.mare < 10 * found.standard.unit
    for name in ("mean", "rstd"):
        assert accuracy(result[name], truth[name]).strict


def cancelled(y: np.ndarray, truth: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Which elements are as near as the last addition allows.

    The scale, x times it, and the shift that is added are rounded when they are as large as the largest result of their
    channel, or beta: half a unit in the last place each.
    """
    axes = tuple(range(2, y.ndim))
    terms = np.abs(truth).max(axis=axes, keepdims=True, initial=0.0) + np.abs(beta).reshape(-1, *[1] * len(axes))
    return np.abs(y - truth) <= 3 * 2.0**-24 * terms


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(("shape", "groups"), SOME, ids=str)
def test_neither_late_copies_nor_fewer_cores_change_a_bit(shape: tuple[int, ...], groups: int, dtype: str) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=3, dtype=dtype)
    usual = kernel(SPEC.id)(*arrays.values(), num_groups=groups)
    for changed in ({"options": TwinOptions(delayed_dma=True)}, {"blocks": 1}, {"blocks": 3}):
        other = kernel(SPEC.id)(*arrays.values(), num_groups=groups, **changed)
        assert other.diagnostics == ()
        for name, array in usual.outputs.items():
            np.testing.assert_array_equal(other.outputs[name], array)


@pytest.mark.parametrize("dtype", NARROW)
def test_the_result_is_that_of_the_widened_input_rounded_once(dtype: str) -> None:
    """Where both dtypes have the same pieces and every sum is taken in the same order: rows of whole blocks of both."""
    arrays = random_inputs.inputs(OP, (2, 8, 32, 64), seed=3, dtype=dtype)
    narrow = kernel(SPEC.id)(*arrays.values(), num_groups=2)
    wide = kernel(SPEC.id)(*(array.astype(np.float32) for array in arrays.values()), num_groups=2)
    np.testing.assert_array_equal(narrow.y, wide.y.astype(as_dtype(dtype)))
    np.testing.assert_array_equal(narrow.mean, wide.mean)
    np.testing.assert_array_equal(narrow.rstd, wide.rstd)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("shape", [(2, 6, 10, 7), (2, 6, 70, 71)], ids=str)
@pytest.mark.parametrize("dtype", NARROW)
def test_what_is_not_a_number_stays_in_its_group(dtype: str, shape: tuple[int, ...], bad: float) -> None:
    arrays = random_inputs.inputs(OP, shape, seed=8, dtype=dtype)
    clean = kernel(SPEC.id)(*arrays.values(), num_groups=3, blocks=2)
    arrays["x"][1, 2, 4, 3] = bad  # sample 1, group 1
    dirty = kernel(SPEC.id)(*arrays.values(), num_groups=3, blocks=2)
    assert np.isnan(dirty.y[1, 2:4].astype(np.float32)).all()
    kept = np.ones(shape, bool)
    kept[1, 2:4] = False
    np.testing.assert_array_equal(dirty.y[kept], clean.y[kept])


@pytest.mark.parametrize(("shape", "groups"), SOME, ids=str)
def test_halves_near_their_limit_do_not_overflow_inside(shape: tuple[int, ...], groups: int) -> None:
    """A square of 6e4 is no half, and neither is a sum of two of them."""
    rng = np.random.default_rng(2)
    x = rng.uniform(5.5e4, 6.5e4, shape).astype(np.float16)
    x[0] *= rng.choice([-1, 1], shape[1:]).astype(np.float16)  # one sample with a spread of the same size
    result = kernel(SPEC.id)(x, num_groups=groups)
    truth = random_inputs.expected(OP, {"x": x}, {"num_groups": groups})
    comparison = result.compare({"y": truth["y"]}, SPEC.tolerance)
    assert comparison.ok, comparison
    np.testing.assert_allclose(result.mean, truth["mean"], rtol=1e-6, atol=2e-3)
    np.testing.assert_allclose(result.rstd, truth["rstd"], rtol=1e-5)
    assert result.diagnostics == ()


@pytest.mark.parametrize(("limit", "largest"), [("infinity", np.inf), ("saturate", 65504.0)])
def test_a_result_above_the_largest_half_is_what_the_cast_makes_of_it(limit: str, largest: float) -> None:
    x = random_inputs.inputs(OP, (1, 4, 70, 71), seed=2, dtype="float16")["x"]
    gamma = np.full(4, 6e4, np.float16)
    result = kernel(SPEC.id)(x, gamma, num_groups=2, options=TwinOptions(half_overflow=limit))
    truth = random_inputs.expected(OP, {"x": x, "gamma": gamma}, {"num_groups": 2})["y"]
    above = np.abs(truth) > 65520  # what rounds to more than 65504
    assert above.any()
    np.testing.assert_array_equal(result.y[above], np.copysign(largest, truth[above]))
    assert np.isfinite(result.y[~above & (np.abs(truth) < 65500)]).all()
    assert {one.id for one in result.diagnostics} <= {"half-overflow"}


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("value", [0.0, 3.7, -5e4])
def test_a_constant_group_is_shifted_only(value: float, dtype: str) -> None:
    x = np.full((1, 6, 35, 3), value, as_dtype(dtype))
    beta = np.linspace(-1, 1, 6).astype(as_dtype(dtype))
    result = kernel(SPEC.id)(x, beta=beta, num_groups=2, eps=1e-5)
    np.testing.assert_array_equal(result.y, np.broadcast_to(beta.reshape(1, 6, 1, 1), x.shape))


@pytest.mark.parametrize("dtype", NARROW)
def test_every_channel_a_group_of_one_element(dtype: str) -> None:
    x, gamma, beta = random_inputs.inputs(OP, (2, 65536), seed=4, dtype=dtype).values()
    result = kernel(SPEC.id)(x, gamma, beta, num_groups=65536, eps=EPS)
    np.testing.assert_array_equal(result.y, np.broadcast_to(beta, x.shape))
    np.testing.assert_array_equal(result.mean, x.astype(np.float32))
    assert result.diagnostics == ()


@pytest.mark.parametrize("dtype", NARROW)
def test_gamma_and_beta_may_be_left_out(dtype: str) -> None:
    x = random_inputs.inputs(OP, (2, 6, 10, 7), seed=8, dtype=dtype)["x"]
    ones, zeros = np.ones(6, x.dtype), np.zeros(6, x.dtype)
    given = kernel(SPEC.id)(x, ones, zeros, num_groups=3)
    np.testing.assert_array_equal(kernel(SPEC.id)(x, num_groups=3).y, given.y)
    np.testing.assert_array_equal(kernel(SPEC.id)(x, beta=zeros, num_groups=3).y, given.y)


def test_other_dtypes_are_refused_before_anything_runs() -> None:
    x = np.zeros((2, 4, 5), np.int32)
    with pytest.raises(ArgumentError, match="'x' is int32; group_norm/any has float32, float16, bfloat16") as caught:
        kernel(SPEC.id)(x, num_groups=2)
    assert "argument 'x'" in caught.value.where
    halves = x.astype(np.float16)
    with pytest.raises(ArgumentError, match="'gamma' is float32, but 'x' is float16"):
        kernel(SPEC.id)(halves, np.ones(4, np.float32), num_groups=2)
    function = load_tiling(OP.tiling_of(SPEC))
    with pytest.raises(ArgumentError, match="x must be float32, float16 or bfloat16"):
        function({"N": 2, "C": 4, "S": 5, "G": 2, "eps": EPS, "cores": 40, "dtype": 3})


@pytest.mark.parametrize(("dtype", "number"), [("float32", 0), ("float16", 1), ("bfloat16", 27)])
def test_the_key_says_the_way_and_the_dtype(dtype: str, number: int) -> None:
    for (shape, groups), way in ((GRID[5], 100), (GRID[6], 200)):
        arrays = random_inputs.inputs(OP, shape, seed=3, dtype=dtype)
        assert kernel(SPEC.id).tiling(*arrays.values(), num_groups=groups)["tilingKey"] == way + number


def hard(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Data of shape (2, 8, 41, 37) on which a careless computation loses digits."""
    noise = rng.standard_normal((2, 8, 41, 37)) ** 2
    return {
        "mean 100": noise + 100,
        "mean 10,000": noise + 1e4,
        "up to 60,000": noise / noise.max() * 6e4,
        "between 55,000 and 65,000": 6e4 + 5e3 * np.tanh(noise - 1),
        "tiny": 1e-4 * noise,
        "constant": 0 * noise + 3.7,
    }[kind]


@pytest.mark.parametrize("dtype", STANDARDS)
@pytest.mark.parametrize(
    "kind", ["mean 100", "mean 10,000", "up to 60,000", "between 55,000 and 65,000", "tiny", "constant"]
)
def test_the_accuracy_standard_on_hard_data(kind: str, dtype: str) -> None:
    rng = np.random.default_rng(7)
    x = hard(kind, rng).astype(as_dtype(dtype))
    gamma, beta = (rng.uniform(low, high, 8).astype(x.dtype) for low, high in ((0.5, 2), (-1, 1)))
    # eps far below every variance but that of the constant, whose rounding errors it would make large.
    arrays = {"x": x, "gamma": gamma, "beta": beta}
    result = kernel(SPEC.id)(*arrays.values(), num_groups=4, eps=1e-10)
    truth = random_inputs.expected(OP, arrays, {"num_groups": 4, "eps": 1e-10})
    assert accuracy(result.y, truth["y"], plain(arrays, 4, 1e-10)).ok
    # A baseline that is bad on these data allows much. So once more without it: in float32 the last bit decides where
    # beta cancels, and there the absolute error is asked for.
    near = np.abs(truth["y"]) < 0.01 if dtype == "float32" else np.zeros(x.shape, bool)
    found = accuracy(result.y[~near], truth["y"][~near])
    assert found.ok, found
    assert np.abs(result.y.astype(np.float64) - truth["y"])[near].max(initial=0.0) < 1e-6
    for name in ("mean", "rstd"):
        assert accuracy(result[name], truth[name]).strict
    assert result.diagnostics == ()
