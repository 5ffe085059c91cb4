"""The cases of GnTutorialGroupNormBackward's test: shapes, dtypes, attributes, and what the operator shall answer."""

import case_files
import numpy as np

EPS = 1e-5


def case(dtype, shape, groups, gamma=True, mask=(True, True, True)):
    """One call. gamma: given; left out, it is ones. mask: which of dx, dgamma and dbeta are wanted."""
    statistics = ("float32", (shape[0], groups))
    inputs = {"dy": (dtype, shape), "x": (dtype, shape), "mean": statistics, "rstd": statistics}
    if gamma:
        inputs["gamma"] = (dtype, shape[1:2])
    outputs = {"dx": (dtype, shape), "dgamma": (dtype, shape[1:2]), "dbeta": (dtype, shape[1:2])}
    return {"inputs": inputs, "outputs": outputs, "attributes": {"num_groups": groups, "output_mask": list(mask)}}


# Each dtype and each tiling key; lengths that are no multiple of 32 bytes; a gradient that nobody wants.
CASES = [
    case("float32", (2, 8, 16, 16), 4),
    case("float16", (3, 12, 7, 5), 3, gamma=False),
    case("bfloat16", (2, 6, 70, 61), 2, mask=(True, False, True)),
]


def make_inputs(case, rng):
    """Name -> array. mean and rstd are those of x as it is stored: others would be no gradient's."""
    made = {name: case_files.random_array(rng, dtype, shape) for name, (dtype, shape) in case["inputs"].items()}
    dtype, shape = case["inputs"]["x"]
    x = case_files.values(case_files.stored(made["x"], dtype), dtype)
    grouped = x.reshape(shape[0], case["attributes"]["num_groups"], -1)
    return made | {"mean": grouped.mean(axis=2), "rstd": 1 / np.sqrt(grouped.var(axis=2) + EPS)}


def golden(inputs, attributes):
    """Name -> array, of each output that is wanted, in float64. inputs: name -> array, as the operator gets it."""
    dy, x, groups = inputs["dy"], inputs["x"], attributes["num_groups"]
    batch, channels = x.shape[:2]
    of_channels = (1, channels, *[1] * (x.ndim - 2))
    gamma = inputs.get("gamma", np.ones(channels)).reshape(of_channels)
    grouped = x.reshape(batch, groups, -1)
    rstd = inputs["rstd"][..., None]
    normal = (grouped - inputs["mean"][..., None]) * rstd
    passed = (dy * gamma).reshape(grouped.shape)
    dx = rstd * (passed - passed.mean(axis=2, keepdims=True) - normal * (passed * normal).mean(axis=2, keepdims=True))
    others = tuple(axis for axis in range(x.ndim) if axis != 1)
    dgamma, dbeta = (dy * normal.reshape(x.shape)).sum(axis=others), dy.sum(axis=others)
    wanted = dict(zip(("dx", "dgamma", "dbeta"), attributes["output_mask"], strict=True))
    found = {"dx": dx.reshape(x.shape), "dgamma": dgamma, "dbeta": dbeta}
    return {name: found[name] if wanted[name] else None for name in found}


if __name__ == "__main__":
    case_files.main(CASES, make_inputs, golden)
