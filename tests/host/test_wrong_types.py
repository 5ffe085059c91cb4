"""The host API's functions with lists, None and strings: an ArgumentError that names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gn_tutorial import host
from gn_tutorial.errors import ArgumentError

X = np.zeros((2, 4, 8), np.float32)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: host.gelu([1.0]), "'x' is a list, not an array"),
        (lambda: host.gelu(None), "'x' is of type NoneType"),
        (lambda: host.gelu("x"), "'x' is of type str"),
        (lambda: host.gelu(X, out=[1.0]), "'out' is a list"),
        (lambda: host.gelu(X, stream=3), "'stream' must be a Stream, not 3"),
        (lambda: host.gelu_backward(X, None), "'x' is of type NoneType"),
        (lambda: host.linear(X, None), "'weight' is of type NoneType"),
        (lambda: host.linear(X, X[0], (1.0,)), "'bias' is a tuple"),
        (lambda: host.linear_backward(X, X, X[0], output_mask=3), "'output_mask' must be a list of booleans, not 3"),
        (lambda: host.group_norm("x", num_groups=2), "'x' is of type str"),
        (lambda: host.group_norm(X, num_groups="2"), "'num_groups' must be a whole number, not '2'"),
        (lambda: host.group_norm(X, num_groups=None), "'num_groups' must be a whole number, not None"),
        (lambda: host.group_norm(X, num_groups=2, eps="x"), "'eps' must be a number, not 'x'"),
        (lambda: host.group_norm(X, [1.0], num_groups=2), "'gamma' is a list"),
        (lambda: host.group_norm_silu(X, num_groups=10**20), "does not fit in 64 bits"),
        (lambda: host.gelu(X.astype("U3")), "the graph engine's list has no number"),
        (lambda: host.Tensor([1.0]), "'array' is a list"),
    ],
)
def test_a_wrong_argument_is_named(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert said in str(caught.value)
