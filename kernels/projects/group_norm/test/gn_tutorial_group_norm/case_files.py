"""The files of one case: arrays as bytes, case.txt for main.cpp, what is expected. Both scripts share it."""

import sys
from pathlib import Path

import numpy as np

# A dtype -> its number in acl, and how it lies in a file. NumPy has no bfloat16: the upper half of a float32's bits.
TYPES = {
    "float32": (0, np.float32), "float16": (1, np.float16), "bfloat16": (27, np.uint16), "bool": (12, np.bool_),
    "int8": (2, np.int8), "int16": (6, np.int16), "int32": (3, np.int32), "int64": (9, np.int64),
    "uint8": (4, np.uint8), "uint16": (7, np.uint16), "uint32": (8, np.uint32), "uint64": (10, np.uint64),
}  # fmt: skip
HERE = Path(__file__).resolve().parent


def stored(values, dtype):
    """Values as they lie in a file of that dtype, rounded to the nearest, ties to even."""
    if dtype != "bfloat16":
        return np.asarray(values).astype(TYPES[dtype][1])
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def values(data, dtype):
    """What was stored: float64 of a floating-point dtype, otherwise as it is."""
    if dtype == "bfloat16":
        return (data.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return data.astype(np.float64) if dtype.startswith("float") else data


def random_array(rng, dtype, shape):
    """Numbers without symmetry, so that a sign or an axis that was mixed up shows."""
    if dtype == "bool":
        return rng.random(shape) < 0.3
    if "float" in dtype:
        return rng.normal(0.4, 1.3, shape)
    return rng.integers(0, 90, shape)


def write_case(case, inputs, golden):
    """inputs: name -> array. golden(inputs as they are stored, attributes) -> name -> array, or None: not compared."""
    lines, seen = [], {}
    for name, (dtype, shape) in case["inputs"].items():
        data = stored(inputs[name], dtype).reshape(shape)
        data.tofile(HERE / f"{name}.bin")
        seen[name] = values(data, dtype)
        lines.append(_line(name, dtype, shape, data.nbytes))
    expected = golden(seen, case.get("attributes", {}))
    for name, (dtype, shape) in case["outputs"].items():
        (HERE / f"{name}_out.bin").unlink(missing_ok=True)
        lines.append(_line(name, dtype, shape, int(np.prod(shape)) * np.dtype(TYPES[dtype][1]).itemsize))
        if expected.get(name) is not None:
            np.save(HERE / f"{name}_golden.npy", np.asarray(expected[name]).reshape(shape))
        else:
            (HERE / f"{name}_golden.npy").unlink(missing_ok=True)
    for name, value in case.get("attributes", {}).items():
        many = value if isinstance(value, (list, tuple)) else [value]
        lines.append(" ".join(["attr", name, *(str(int(one) if isinstance(one, bool) else one) for one in many)]))
    (HERE / "case.txt").write_text("\n".join([*dict.fromkeys(lines), ""]))


def read_arrays():
    """Name -> (dtype, shape) of case.txt."""
    names = {number: dtype for dtype, (number, _) in TYPES.items()}
    words = [line.split() for line in (HERE / "case.txt").read_text().splitlines()]
    return {one[1]: (names[int(one[2])], tuple(map(int, one[4:]))) for one in words if one[0] == "array"}


def main(cases, make_inputs, golden):
    """gen_data.py [number of the case | --count]."""
    asked = sys.argv[1] if len(sys.argv) > 1 else "0"
    if asked == "--count":
        print(len(cases))
        return
    case = cases[int(asked)]
    write_case(case, make_inputs(case, np.random.default_rng(20 + int(asked))), golden)
    print(f"case {asked}: {case}")


def _line(name, dtype, shape, nbytes):
    return " ".join(map(str, ["array", name, TYPES[dtype][0], nbytes, *shape]))
