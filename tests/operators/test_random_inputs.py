"""The seeded input: different everywhere it has to be, equal every time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec import structs

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.registry import load_registry

REGISTRY = load_registry()
GROUP_NORM = REGISTRY["group_norm"]


def test_seed_decides_every_number() -> None:
    first, second, other = (random_inputs.inputs(GROUP_NORM, (2, 4, 5), seed=seed) for seed in (7, 7, 8))
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name])
        assert not np.array_equal(array, other[name])


def test_every_channel_has_its_own_mean_and_spread() -> None:
    x = random_inputs.inputs(GROUP_NORM, (2, 6, 50, 50))["x"]
    means, spreads = x.mean(axis=(0, 2, 3)), x.std(axis=(0, 2, 3))
    assert np.abs(means).max() > 0.5
    for values in (means, spreads):
        assert np.diff(np.sort(values)).min() > 1e-3


@pytest.mark.parametrize(("dtype", "low", "high"), [("int8", -100, 100), ("uint8", 0, 200), ("int32", -100, 100)])
def test_integers_stay_in_their_range(dtype: str, low: int, high: int) -> None:
    values = random_inputs.random_array(np.random.default_rng(0), (4, 500), dtype)
    assert values.dtype == dtype
    assert (values.min(), values.max()) == (low, high)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "bool"])
def test_other_dtypes_have_different_values(dtype: str) -> None:
    values = random_inputs.random_array(np.random.default_rng(0), (100,), dtype)
    assert values.dtype.name == dtype
    assert len(set(values.tolist())) > (1 if dtype == "bool" else 50)


def test_negative_shape_is_refused() -> None:
    with pytest.raises(ArgumentError, match="cannot be negative"):
        random_inputs.inputs(GROUP_NORM, (2, -4))


def test_reference_answers_by_output_name() -> None:
    arrays = random_inputs.inputs(GROUP_NORM, (2, 4, 5))
    answer = random_inputs.expected(GROUP_NORM, arrays, {"num_groups": 2})
    assert {name: array.shape for name, array in answer.items()} == {"y": (2, 4, 5), "mean": (2, 2), "rstd": (2, 2)}
    assert answer["y"].dtype == np.float64


def test_what_a_forward_pass_saved_belongs_to_its_x() -> None:
    op = REGISTRY["group_norm_backward"]
    arrays = random_inputs.inputs(op, (2, 6, 50), dtype="float16", attributes={"num_groups": 3})
    assert list(arrays) == [argument.name for argument in op.inputs]
    grouped = arrays["x"].astype(np.float64).reshape(2, 3, -1)
    np.testing.assert_allclose(arrays["mean"], grouped.mean(2), rtol=1e-6)
    np.testing.assert_allclose(arrays["rstd"], 1 / np.sqrt(grouped.var(2) + 1e-5), rtol=1e-6)
    assert {name: array.dtype.name for name, array in arrays.items() if name != "x"} == {
        "dy": "float16", "mean": "float32", "rstd": "float32", "gamma": "float16"
    }  # fmt: skip
    for wrong in ("no_such", "group_norm_backward"):
        argument = structs.replace(op.inputs[2], saved_by=wrong)
        with pytest.raises(RegistryError, match=f"no '{wrong}' that returns 'mean'"):
            random_inputs.saved(argument, arrays, {"num_groups": 3})


def test_what_a_mask_leaves_out_is_empty() -> None:
    op = REGISTRY["group_norm_backward"]
    arrays = random_inputs.inputs(op, (2, 6, 5), attributes={"num_groups": 3})
    answer = random_inputs.expected(op, arrays, {"num_groups": 3, "output_mask": (False, True, False)})
    assert {name: array.shape for name, array in answer.items()} == {"dx": (0,), "dgamma": (6,), "dbeta": (0,)}


@pytest.mark.parametrize(
    ("change", "message"),
    [({"reference": "no_such"}, "has no 'no_such'"), ({"reference": "copy"}, "'copy' returns 1 arrays")],
)
def test_registry_that_names_a_wrong_reference_is_refused(change: dict[str, Any], message: str) -> None:
    only_x = tuple(a for a in GROUP_NORM.arguments if a.name not in ("gamma", "beta"))
    op = structs.replace(GROUP_NORM, arguments=only_x, **change)
    with pytest.raises(RegistryError, match=message):
        random_inputs.expected(op, random_inputs.inputs(op, (2, 4)), {})
