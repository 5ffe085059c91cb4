"""The two calls one at a time: codes instead of errors, a plan that is used once, numbers, and wrong arguments."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from gn_tutorial import reference
from gn_tutorial.errors import ArgumentError
from gn_tutorial.host import Code, FirstCall, Stream, first_call, second_call

RNG = np.random.default_rng(5)
X = (RNG.standard_normal((2, 6, 5)) + np.arange(6).reshape(6, 1)).astype(np.float32)
GAMMA, BETA = np.linspace(-1, 2, 6).astype(np.float32), np.linspace(3, 1, 6).astype(np.float32)
OUT, MEAN, RSTD = np.empty_like(X), np.empty((2, 3), np.float32), np.empty((2, 3), np.float32)


def forward(**changed: Any) -> FirstCall:
    """The first call of a right GroupNorm, with some arguments changed."""
    words = {"x": X, "gamma": GAMMA, "beta": BETA, "n": 2, "c": 6, "hxw": 5, "group": 3, "eps": 1e-5}
    words |= {"out": OUT, "mean": MEAN, "rstd": RSTD} | changed
    return first_call("GroupNorm", *words.values())


def room(first: FirstCall) -> np.ndarray:
    return np.empty(first.workspace_size, np.uint8)


def test_both_calls_compute_what_the_reference_does() -> None:
    with Stream() as stream:
        OUT.fill(np.nan)
        first = forward()
        assert np.isnan(OUT).all(), "the first call computes nothing"
        assert second_call("GroupNorm", room(first), first.executor, stream) is Code.SUCCESS
        del first
        gc.collect()  # the stream holds on to what the queued work uses
        stream.synchronize()
        want = reference.group_norm(X.astype(float), GAMMA.astype(float), BETA.astype(float), num_groups=3)
        np.testing.assert_allclose(OUT, want.y, rtol=1e-5, atol=1e-5)

        dy, dx, dgamma = RNG.standard_normal(X.shape).astype(np.float32), np.empty_like(X), np.empty_like(GAMMA)
        mask = [True, True, False]
        first = first_call("GroupNormBackward", dy, X, MEAN, RSTD, GAMMA, 2, 6, 5, 3, mask, dx, dgamma, None)
        assert second_call("GroupNormBackward", room(first), first.executor, stream) is Code.SUCCESS
        stream.synchronize()
        right = reference.group_norm_backward(
            dy=dy.astype(float),
            x=X.astype(float),
            gamma=GAMMA.astype(float),
            mean=want.mean,
            rstd=want.rstd,
            num_groups=3,
        )
        np.testing.assert_allclose(dx, right.dx, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(dgamma, right.dgamma, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("changed", "code", "words"),
    [
        ({"x": None}, Code.PARAM_NULLPTR, "self is null"),
        ({"mean": None}, Code.PARAM_NULLPTR, "meanOut is null"),
        ({"group": 4}, Code.PARAM_INVALID, "C is 6, which group = 4 does not divide"),
        ({"out": OUT[:, :5]}, Code.PARAM_INVALID, "out"),
    ],
    ids=["null input", "null output", "group", "shape"],
)
def test_a_refusal_is_a_code_and_a_sentence(changed: dict[str, Any], code: Code, words: str) -> None:
    made = forward(**changed)
    assert (made.code, made.workspace_size, made.executor) == (code, 0, None)
    assert words in made.message


def test_the_workspace_grows_with_what_is_missing() -> None:
    assert forward(gamma=None, beta=None).workspace_size > forward().workspace_size > 0
    turned = np.ascontiguousarray(X.swapaxes(0, 2)).swapaxes(0, 2)
    assert forward(x=turned).workspace_size > forward().workspace_size


def test_what_the_second_call_refuses_leaves_the_plan_and_a_plan_is_used_once() -> None:
    with Stream() as stream:
        first = forward()
        call = ("GroupNorm", room(first), first.executor, stream)
        assert second_call("GroupNorm", room(first)[:8], first.executor, stream) is Code.PARAM_INVALID
        assert second_call("GroupNorm", None, first.executor, stream) is Code.PARAM_NULLPTR
        assert second_call("GroupNorm", room(first), None, stream) is Code.PARAM_NULLPTR
        assert second_call("GroupNormBackward", room(first), first.executor, stream) is Code.PARAM_INVALID
        assert second_call(*call) is Code.SUCCESS
        assert second_call(*call) is Code.PARAM_INVALID


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("GroupNrom", X), "the host API has no operator 'GroupNrom'"),
        (("Gelu", X), "GeluGetWorkspaceSize takes 2 arguments in front of its results, and is given 1"),
        (("Gelu", X, "y"), "'an argument' must be a whole number, not 'y'"),
        (("GroupNormSilu", X, X, X, 2.5, 1e-5, X, X, X), "GroupNormSiluGetWorkspaceSize: argument 4"),
        (("Gelu", X, X.astype(float)), "no number for 'float64'"),
    ],
    ids=["name", "count", "text", "kind", "dtype"],
)
def test_wrong_calls_are_named(call: tuple[Any, ...], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        first_call(*call)
