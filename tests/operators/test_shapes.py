"""Binding shapes to symbols, and the sentences of its refusals."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.registry import load_registry
from gn_tutorial.operators.shapes import bind, bind_attributes, describe_call, input_shapes, resolve

REGISTRY = load_registry()
GROUP_NORM, ADD = REGISTRY["group_norm"], REGISTRY["add"]
BACKWARD = REGISTRY["group_norm_backward"]
AXES = st.lists(st.integers(0, 50), max_size=3)


@given(n=st.integers(0, 9), c=st.integers(0, 9), rest=AXES)
def test_rest_binds_all_remaining_axes(n: int, c: int, rest: list[int]) -> None:
    symbols = bind(GROUP_NORM, {"x": (n, c, *rest)}, {"num_groups": 1})
    product = 1
    for length in rest:
        product *= length
    assert (symbols["N"], symbols["C"], symbols["S"], symbols["G"]) == (n, c, product, 1)
    assert resolve(("N", "C", "S..."), symbols) == (n, c, *rest)
    assert resolve(("N", "G"), symbols) == (n, 1)


def test_defaults_are_filled_in() -> None:
    assert bind(GROUP_NORM, {"x": (2, 4)}, {"num_groups": 2})["eps"] == 1e-5


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"x": (5,)}, "'x' has shape (5,); it needs at least 2 axes: (N, C, S...)"),
        ({"x": (2, 8), "gamma": (8, 1)}, "'gamma' has shape (8, 1); it needs 1 axis: (C)"),
        ({"x": (2, 8, 3), "gamma": (6,)}, "'gamma' has shape (6,), but C is 8 because 'x' has shape (2, 8, 3)"),
        ({}, "argument 'x' is missing"),
    ],
)
def test_shape_that_does_not_fit_is_named(shapes: dict[str, tuple[int, ...]], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        bind(GROUP_NORM, shapes, {"num_groups": 2})
    assert caught.value.what == message
    assert "group_norm(x, gamma=None, beta=None, *, num_groups, eps=1e-05)" in caught.value.where


def test_an_attribute_may_fix_a_length() -> None:
    shapes = {"dy": (2, 8, 3), "x": (2, 8, 3), "mean": (2, 4), "rstd": (2, 4)}
    assert bind(BACKWARD, shapes, {"num_groups": 4})["G"] == 4
    with pytest.raises(ArgumentError, match=r"'mean' has shape \(2, 4\), but G is 2 because 'num_groups' is 2"):
        bind(BACKWARD, shapes, {"num_groups": 2})
    assert input_shapes(BACKWARD, (2, 8, 3), {"num_groups": 4})["rstd"] == (2, 4)
    with pytest.raises(ArgumentError, match="argument 'num_groups' is missing"):
        input_shapes(BACKWARD, (2, 8, 3))


@given(st.lists(st.booleans(), min_size=3, max_size=3))
def test_a_mask_is_a_bit_for_each_output(mask: list[bool]) -> None:
    symbols = bind_attributes(BACKWARD, {"num_groups": 1, "output_mask": mask})
    assert symbols["mask"] == mask[0] + 2 * mask[1] + 4 * mask[2]


@pytest.mark.parametrize("mask", [True, (True, True), (1, 1, 1), "yes", None])
def test_what_is_no_mask_is_refused(mask: object) -> None:
    with pytest.raises(ArgumentError, match="3 booleans are needed") as caught:
        bind_attributes(BACKWARD, {"num_groups": 1, "output_mask": mask})
    assert "dx, dgamma, dbeta, in this order" in caught.value.hint


def test_a_choice_is_the_place_of_its_word() -> None:
    gelu = REGISTRY["gelu"]
    assert [bind_attributes(gelu, {"approximate": one})["approximate"] for one in ("none", "tanh")] == [0, 1]
    assert bind_attributes(gelu, {})["approximate"] == 0
    for wrong in ("erf", "", 0, b"tanh", ["none"]):
        with pytest.raises(ArgumentError, match="'approximate' must be 'none' or 'tanh'") as caught:
            bind_attributes(gelu, {"approximate": wrong})
        assert "gelu(x, *, approximate='none')" in caught.value.where


def test_two_arrays_of_one_symbol_must_agree_in_every_axis() -> None:
    with pytest.raises(ArgumentError, match=r"but S\.\.\. is \(2, 6\)"):
        bind(ADD, {"x": (2, 6), "y": (3, 4)}, {})


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "argument 'num_groups' is missing"),
        ({"num_groups": 2.0}, "'num_groups' must be a whole number, not 2.0"),
        ({"num_groups": True}, "'num_groups' must be a whole number, not True"),
        ({"num_groups": 2, "eps": "small"}, "'eps' must be a number, not 'small'"),
        ({"num_groups": 2, "epsilon": 1}, "'group_norm' has no argument 'epsilon'"),
    ],
)
def test_attribute_that_does_not_fit_is_named(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        bind_attributes(GROUP_NORM, attributes)
    assert caught.value.what == message


def test_misspelt_attribute_gets_a_suggestion() -> None:
    with pytest.raises(ArgumentError) as caught:
        bind_attributes(GROUP_NORM, {"num_group": 2})
    assert caught.value.hint == "did you mean 'num_groups'?"


def test_shapes_of_all_inputs_follow_from_the_first() -> None:
    assert input_shapes(GROUP_NORM, (2, 8, 16)) == {"x": (2, 8, 16), "gamma": (8,), "beta": (8,)}
    assert input_shapes(ADD, (3, 4)) == {"x": (3, 4), "y": (3, 4)}
    # Neither the first input nor an attribute fixes the rows of the weight: the example does.
    linear = REGISTRY["linear"]
    assert input_shapes(linear, (3, 4, 9))["weight"] == (linear.example["O"], 9)


def test_call_is_described_from_the_registry() -> None:
    assert describe_call(ADD) == "add(x, y)"
