"""Compares every element of <name>_out.bin with what gen_data.py expects. Its exit status is 0 if all are right."""

import sys

import numpy as np
from case_files import HERE, TYPES, read_arrays, values

# Relative and absolute. float32: sums in another order. The narrow ones: two units in the last place of the result.
TOLERANCES = {"float32": (1e-4, 1e-4), "float16": (1e-3, 1e-4), "bfloat16": (8e-3, 1e-4)}


def wrong(name, dtype, shape):
    """A sentence for an output that is not as it should be."""
    data = np.fromfile(HERE / f"{name}_out.bin", TYPES[dtype][1])
    expected = np.load(HERE / f"{name}_golden.npy")
    if data.size != expected.size:
        return f"{name} has {data.size} elements, not {expected.size}"
    found = values(data.reshape(shape), dtype)
    rtol, atol = TOLERANCES.get(dtype, (0, 0))
    same = np.isclose(found, expected, rtol, atol, equal_nan=True) if "float" in dtype else found == expected
    if same.all():
        return ""
    first = tuple(int(axis) for axis in np.argwhere(~same)[0])
    return f"{name}{list(first)} is {found[first]}, not {expected[first]}; {(~same).sum()} of {same.size} differ"


if __name__ == "__main__":
    outputs = {n: one for n, one in read_arrays().items() if (HERE / f"{n}_golden.npy").exists()}
    found = [text for name, (dtype, shape) in outputs.items() if (text := wrong(name, dtype, shape))]
    print("\n".join(found) if found else f"test pass: {', '.join(outputs)}")
    sys.exit(1 if found else 0)
