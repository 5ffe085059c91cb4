"""The reference of the backward pass against derivatives that were not derived: complex step and central differences.

A derivative by the complex step is exact to the last digits: Im L(x + ih) / h has no difference that could cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.errors import ArgumentError
from gn_tutorial.reference import group_norm, group_norm_backward

EPS = 1e-3
# A few hundred roundings of 2**-53 each, on gradients of size 10 at most.
CLOSE = {"rtol": 1e-11, "atol": 1e-12}
SHAPES = [(3, 6), (2, 6, 1), (2, 6, 5), (2, 6, 4, 3), (2, 6, 2, 3, 2)]

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def asymmetric(shape: Sequence[int], seed: int = 5) -> Arrays:
    """x, gamma, beta and dy, in which no two channels, samples or elements are alike, and no mean is near 0."""
    rng = np.random.default_rng(seed)
    per_channel = (1, -1) + (1,) * (len(shape) - 2)
    channels = np.linspace(0.5, 3.0, shape[1]).reshape(per_channel)
    x = rng.gamma(2.0, 1.5, shape) * channels + np.arange(shape[0]).reshape((-1, 1) + (1,) * (len(shape) - 2))
    gamma = np.linspace(-1.5, 2.0, shape[1]) * rng.uniform(0.5, 1.5, shape[1])
    return x, gamma, rng.uniform(1.0, 3.0, shape[1]), rng.gamma(1.0, 1.0, shape) - 0.3 * channels


def backward(x: np.ndarray, gamma: np.ndarray | None, dy: np.ndarray, groups: int, **options: Any) -> Any:
    """The function under test, on the statistics that the forward reference gives."""
    saved = group_norm(x, gamma, num_groups=groups, eps=EPS)
    return group_norm_backward(dy, x, saved.mean, saved.rstd, gamma, num_groups=groups, **options)


def complex_loss(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, dy: np.ndarray, groups: int) -> complex:
    """L = sum(dy * y), of complex numbers, by slices of channels: no reshape that the reference could share."""
    size, loss = x.shape[1] // groups, 0j
    for n in range(x.shape[0]):
        for g in range(groups):
            part = slice(g * size, (g + 1) * size)
            group = x[n, part]
            centred = group - group.sum() / group.size
            normal = centred / np.sqrt((centred * centred).sum() / group.size + EPS)
            for c in range(size):
                loss += ((normal[c] * gamma[part][c] + beta[part][c]) * dy[n, part][c]).sum()
    return loss


def by_complex_step(loss: Callable[..., complex], at: np.ndarray, h: float = 1e-60) -> np.ndarray:
    """dL/d``at``, one element after the other."""
    gradient = np.empty(at.shape)
    for place in np.ndindex(at.shape):
        moved = at.astype(complex)
        moved[place] += 1j * h
        gradient[place] = loss(moved).imag / h
    return gradient


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_agree_with_the_complex_step(shape: tuple[int, ...], groups: int) -> None:
    x, gamma, beta, dy = asymmetric(shape)
    got = backward(x, gamma, dy, groups)
    np.testing.assert_allclose(got.dx, by_complex_step(lambda z: complex_loss(z, gamma, beta, dy, groups), x), **CLOSE)
    np.testing.assert_allclose(
        got.dgamma, by_complex_step(lambda z: complex_loss(x, z, beta, dy, groups), gamma), **CLOSE
    )
    np.testing.assert_allclose(
        got.dbeta, by_complex_step(lambda z: complex_loss(x, gamma, z, dy, groups), beta), **CLOSE
    )
    assert [array.shape for array in got] == [x.shape, gamma.shape, beta.shape]
    assert {array.dtype for array in got} == {np.dtype(np.float64)}


@given(
    st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.lists(st.integers(1, 3), max_size=3), st.integers(0, 99)
)
@settings(max_examples=examples(40), deadline=None)
def test_gradients_agree_with_central_differences_of_the_forward_reference(
    batch: int, groups: int, size: int, spatial: list[int], seed: int
) -> None:
    x, gamma, beta, dy = asymmetric((batch, groups * size, *spatial), seed)
    got = backward(x, gamma, dy, groups)

    def loss(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> float:
        return float((dy * group_norm(x, gamma, beta, num_groups=groups, eps=EPS).y).sum())

    point = [x, gamma, beta]
    rng = np.random.default_rng(seed)
    for which, gradient in enumerate(got):
        # Along one random direction: the slope of L there is the gradient's share of it.
        direction = rng.standard_normal(gradient.shape)
        h = 1e-5
        sides = [
            loss(*[one + sign * h * direction if index == which else one for index, one in enumerate(point)])
            for sign in (1, -1)
        ]
        slope = float((gradient * direction).sum())
        # Rounding is 1e-16 / h. Truncation is h**2 times a third derivative, rstd**3 or so: 3e4 where values are close.
        assert (sides[0] - sides[1]) / (2 * h) == pytest.approx(slope, rel=1e-4, abs=1e-5)


def test_the_gradients_computed_by_hand() -> None:
    # The group holds 1 3 5 7: mean 4, variance 5, with eps = 4 rstd is 1/3, and xhat = -1 -1/3 1/3 1.
    # gamma is 3 and 6, dy = 1 0 0 2, so a = 3 0 0 12: E[a] = 15/4, E[a xhat] = (-3 + 12) / 4 = 9/4.
    x, dy = np.array([[[1, 3], [5, 7]]]), np.array([[[1, 0], [0, 2]]])
    got = group_norm_backward(dy, x, [[4]], [[1 / 3]], [3, 6], num_groups=1)
    want = np.array([3 - 15 / 4 + 9 / 4, -15 / 4 + 3 / 4, -15 / 4 - 3 / 4, 12 - 15 / 4 - 9 / 4]) / 3
    np.testing.assert_allclose(got.dx, want.reshape(x.shape), **CLOSE)
    np.testing.assert_allclose(got.dgamma, [-1, 2], **CLOSE)
    np.testing.assert_allclose(got.dbeta, [1, 2], **CLOSE)


@given(st.floats(-1000.0, 1000.0), st.floats(0.1, 10.0))
@settings(max_examples=examples(30), deadline=None)
def test_dx_has_no_part_along_what_the_forward_pass_takes_away(shift: float, scale: float) -> None:
    x, gamma, _, dy = asymmetric((2, 6, 4, 3))
    x = x * scale + shift
    saved = group_norm(x, num_groups=2, eps=1e-12)
    dx = group_norm_backward(dy, x, saved.mean, saved.rstd, gamma, num_groups=2).dx.reshape(2, 2, -1)
    # With no eps, adding a constant to a group or scaling it about its mean does not change y.
    np.testing.assert_allclose(dx.sum(axis=2), 0.0, atol=1e-9)
    np.testing.assert_allclose((dx * saved.y.reshape(dx.shape)).sum(axis=2), 0.0, atol=1e-7)


def test_no_gamma_is_a_gamma_of_ones() -> None:
    x, _, _, dy = asymmetric((2, 6, 5))
    for got, want in zip(backward(x, None, dy, 2), backward(x, np.ones(6), dy, 2), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("mask", [(a, b, c) for a in (True, False) for b in (True, False) for c in (True, False)])
def test_only_what_the_mask_asks_for_comes_back(mask: tuple[bool, bool, bool]) -> None:
    x, gamma, _, dy = asymmetric((2, 6, 5))
    whole, some = backward(x, gamma, dy, 3), backward(x, gamma, dy, 3, output_mask=mask)
    for asked, got, want in zip(mask, some, whole, strict=True):
        if asked:
            np.testing.assert_array_equal(got, want)
        else:
            assert got is None


@pytest.mark.parametrize("shape", [(0, 4), (0, 4, 3, 2)], ids=str)
def test_an_empty_batch_has_gradients_of_zero(shape: tuple[int, ...]) -> None:
    got = group_norm_backward(
        np.empty(shape), np.empty(shape), np.empty((0, 2)), np.empty((0, 2)), np.arange(4.0), num_groups=2
    )
    assert got.dx.shape == shape
    assert got.dgamma.tolist() == got.dbeta.tolist() == [0.0] * 4


def test_a_group_of_one_element_or_of_equal_elements() -> None:
    alone = backward(np.array([[3.0, -4.0]]), np.array([2.0, 5.0]), np.array([[0.5, 0.25]]), 2)
    assert alone.dx.tolist() == [[0.0, 0.0]]
    assert alone.dgamma.tolist() == [0.0, 0.0]
    assert alone.dbeta.tolist() == [0.5, 0.25]
    # xhat is 0 there, and rstd is 1 / sqrt(eps), so dx is a - E[a], much enlarged.
    flat = backward(np.full((1, 2, 2), 7.25), np.array([1.0, 3.0]), np.array([[[1.0, 2.0], [3.0, 4.0]]]), 1)
    np.testing.assert_allclose(flat.dx, (np.array([[[1, 2], [9, 12]]]) - 6) / np.sqrt(EPS), **CLOSE)


def test_the_saved_statistics_are_used_as_they_are() -> None:
    x, gamma, _, dy = asymmetric((1, 4, 5))
    mean, rstd = np.array([[0.5, -1.0]]), np.array([[2.0, 3.0]])
    got = group_norm_backward(dy, x, mean, rstd, gamma, num_groups=2)
    xhat = (x - np.array([0.5, 0.5, -1, -1]).reshape(1, 4, 1)) * np.array([2.0, 2, 3, 3]).reshape(1, 4, 1)
    np.testing.assert_allclose(got.dgamma, (dy * xhat).sum(axis=(0, 2)), **CLOSE)
    a = (dy * gamma.reshape(4, 1))[0, 2:]
    want = 3 * (a - a.mean() - xhat[0, 2:] * (a * xhat[0, 2:]).mean())
    np.testing.assert_allclose(got.dx[0, 2:], want, **CLOSE)


def test_not_a_number_stays_inside_its_group_and_its_channel() -> None:
    x, gamma, _, dy = asymmetric((2, 4, 3))
    dy[1, 2, 0] = np.nan
    got = backward(x, gamma, dy, 2)
    assert np.isnan(got.dx[1, 2:]).all()
    assert np.isfinite(got.dx[1, :2]).all()
    assert np.isfinite(got.dx[0]).all()
    assert np.isnan(got.dgamma).tolist() == np.isnan(got.dbeta).tolist() == [False, False, True, False]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16], ids=str)
def test_any_real_dtype_is_computed_in_float64(dtype: type) -> None:
    rounded = [array.astype(dtype) for array in asymmetric((2, 4, 5))]
    x, gamma, _, dy = rounded
    exact = [array.astype(np.float64) for array in rounded]
    for got, want in zip(backward(x, gamma, dy, 2), backward(exact[0], exact[1], exact[3], 2), strict=True):
        assert got.dtype == np.float64
        np.testing.assert_array_equal(got, want)


def test_results_come_in_the_dtype_asked_for() -> None:
    x, gamma, _, dy = asymmetric((2, 4, 5))
    narrow = backward(x, gamma, dy, 2, dtype=np.float32)
    for got, want in zip(narrow, backward(x, gamma, dy, 2), strict=True):
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, want.astype(np.float32))


def test_inputs_are_left_alone_and_need_not_be_contiguous() -> None:
    whole, gamma, _, dy_whole = asymmetric((2, 8, 6))
    x, dy = whole[:, ::2, ::-1], dy_whole[:, ::2, ::-1]
    before = whole.copy(), dy_whole.copy(), gamma.copy()
    for got, want in zip(
        backward(x, gamma[::2], dy, 2), backward(x.copy(), gamma[::2].copy(), dy.copy(), 2), strict=True
    ):
        np.testing.assert_array_equal(got, want)
        assert not any(np.shares_memory(got, one) for one in (whole, dy_whole, gamma))
    for now, then in zip((whole, dy_whole, gamma), before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_groups": 4}, "use a divisor of 6: 1, 2, 3, 6"),
        ({"num_groups": 2.0}, "a whole number is needed"),
        ({"dy": np.ones((2, 6))}, r"dy has shape \(2, 6\); \(2, 6, 3\) is needed, the shape of x"),
        ({"mean": np.ones(4)}, r"mean has shape \(4,\); \(2, 2\) is needed"),
        ({"rstd": np.ones((2, 6))}, r"rstd has shape \(2, 6\); \(2, 2\) is needed"),
        ({"gamma": np.ones(5)}, r"gamma has shape \(5,\); \(6,\) is needed"),
        ({"dy": np.ones((2, 6, 3), complex)}, "dy has dtype complex128"),
        ({"x": np.ones((2, 6, 0))}, "hold no elements"),
        ({"x": np.ones(6)}, "at least two axes"),
        ({"output_mask": (True, True)}, r"output_mask is \(True, True\); three booleans are needed"),
        ({"output_mask": (1, 1, 1)}, "three booleans"),
        ({"output_mask": True}, "output_mask is True"),
        ({"output_mask": "yes"}, "whether dx, dgamma and dbeta"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], words: str) -> None:
    arguments = {
        "dy": np.ones((2, 6, 3)),
        "x": np.ones((2, 6, 3)),
        "mean": np.ones((2, 2)),
        "rstd": np.ones((2, 2)),
        "num_groups": 2,
    } | change
    with pytest.raises(ArgumentError, match=words):
        group_norm_backward(**arguments)


@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_agree_with_torch_autograd_in_float64(shape: tuple[int, ...], groups: int) -> None:
    torch = pytest.importorskip("torch", reason="a second opinion, where PyTorch is installed")
    x, gamma, beta, dy = asymmetric(shape)
    leaves = [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in (x, gamma, beta)]
    torch.nn.functional.group_norm(leaves[0], groups, *leaves[1:], eps=EPS).backward(torch.from_numpy(dy))
    for got, leaf in zip(backward(x, gamma, dy, groups), leaves, strict=True):
        np.testing.assert_allclose(got, leaf.grad.numpy(), **CLOSE)
