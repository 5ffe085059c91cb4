"""The cases of GnTutorialGroupNorm's test: shapes, dtypes, attributes, and what the operator shall answer."""

import case_files
import numpy as np


def case(dtype, shape, groups, eps=1e-5, affine=True):
    """One call. affine: with gamma and beta; left out, they are ones and zeros."""
    inputs = {"x": (dtype, shape)}
    if affine:
        inputs |= {"gamma": (dtype, shape[1:2]), "beta": (dtype, shape[1:2])}
    statistics = ("float32", (shape[0], groups))
    outputs = {"y": (dtype, shape), "mean": statistics, "rstd": statistics}
    return {"inputs": inputs, "outputs": outputs, "attributes": {"num_groups": groups, "eps": eps}}


# Each dtype and each tiling key; lengths that are no multiple of 32 bytes; groups of one element: no variance.
CASES = [
    case("float32", (2, 8, 16, 16), 4),
    case("float16", (3, 12, 7, 5), 3),
    case("bfloat16", (2, 6, 70, 61), 2, affine=False),
    case("float32", (2, 600), 600, eps=1e-3),
]


def make_inputs(case, rng):
    """Name -> array."""
    return {name: case_files.random_array(rng, dtype, shape) for name, (dtype, shape) in case["inputs"].items()}


def golden(inputs, attributes):
    """Name -> array, of each output, in float64. inputs: name -> array, as the operator gets it."""
    x, groups = inputs["x"], attributes["num_groups"]
    grouped = x.reshape(x.shape[0], groups, -1)
    mean = grouped.mean(axis=2)
    rstd = 1 / np.sqrt(grouped.var(axis=2) + attributes["eps"])
    y = ((grouped - mean[..., None]) * rstd[..., None]).reshape(x.shape)
    channels = (1, -1, *[1] * (x.ndim - 2))
    if "gamma" in inputs:
        y = y * inputs["gamma"].reshape(channels) + inputs["beta"].reshape(channels)
    return {"y": y, "mean": mean, "rstd": rstd}


if __name__ == "__main__":
    case_files.main(CASES, make_inputs, golden)
