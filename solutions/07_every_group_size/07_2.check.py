"""07.2: many short rows at once. The messages say which step is missing, and which stride, mask or count is wrong."""

from __future__ import annotations

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.course.exercises.launch_facts import vector_instructions
from gn_tutorial.operators.result import Result

_ROWS = 64  # of a tile

_EPS = 1e-5


def _which_numbers(case: KernelCase, result: Result) -> str | None:
    x, y = case.inputs["x"].astype(np.float64), result["y"].astype(np.float64)
    if unwritten(result["y"]).any():
        return "part of y was never written: Compute writes `rows` rows into y, in each tile"
    length = x.shape[1]
    mean, var = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    if _without_eps(x, y, mean, var):
        return (
            "eps was left out: a row with a spread around 0.003 shows it, and a constant row is 0 / 0 then. Add kEps "
            "to the variance, before the root"
        )
    known = [
        (x - mean, "the mean was taken off; y is not yet multiplied by rstd"),
        (x / np.sqrt(var + _EPS), "y still has its mean: subtract it, and take the squares of what is left"),
        ((x - mean) * np.sqrt(var + _EPS), "y was multiplied by the root: rstd is one divided by it"),
        ((x - mean) / (var + _EPS), "the variance has no root yet"),
        ((x - mean) / np.sqrt(var * length + _EPS), "the sum of the squares has to be divided by length_"),
        ((x - x.sum(axis=1, keepdims=True)), "the sum was taken off, and not the mean"),
        (
            (x - mean) / np.sqrt((x**2).mean(axis=1, keepdims=True) + _EPS),
            "the squares are those of x with its mean: first Sub, then Mul of what is left with itself",
        ),
        ((x - mean) / np.sqrt(var * length / max(length - 1, 1) + _EPS), "the variance is divided by length_ - 1"),
        ((x - mean) / np.sqrt(var + _EPS / length), "eps was divided by length_ too: first Muls, and then Adds"),
        (
            (x - mean) / (np.sqrt(var) + _EPS),
            "eps is outside the root: it belongs to the variance, so Adds comes before Sqrt",
        ),
        (
            (x - mean[:1]) / np.sqrt(((x - mean[:1]) ** 2).mean(axis=1, keepdims=True)[:1] + _EPS),
            "every row got the numbers of the first one: the last stride of BinaryRepeatParams goes from row to row",
        ),
    ]
    for values, words in known:
        if not np.allclose(values, case.expected["y"], rtol=1e-3) and np.allclose(y, values, rtol=1e-3, atol=1e-3):
            return words
    return _inexact(case, result) or _swapped(case, result) or _which_strides(case, result)


def _which_strides(case: KernelCase, result: Result) -> str | None:
    x, y = case.inputs["x"].astype(np.float64), result["y"].astype(np.float64)
    rows, length = x.shape
    flat = np.concatenate([x.reshape(-1), np.zeros(64)])
    long = np.array([flat[row * length : row * length + 64].sum() for row in range(rows)])[:, None] / length
    long_rows = (x - long) / np.sqrt(((x - long) ** 2).mean(axis=1, keepdims=True) + _EPS)
    inside = [row for row in range(rows) if row * length + 64 <= x.size]
    if length < 64 and inside and np.allclose(y[inside], long_rows[inside], rtol=1e-3, atol=1e-3):
        return "the sums reach into the next row: the mask of WholeReduceSum is length_, not 64"
    if rows >= 8 and np.abs((y - y.mean(axis=1, keepdims=True))[0] - case.expected["y"][0]).max() < 1e-2:
        return (
            "the first row is right, and others are not: what goes from row to row is length_ / 8 blocks in x and y, "
            "one block in blocks_, and one element in what WholeReduceSum writes"
        )
    return None


def _without_eps(x: np.ndarray, y: np.ndarray, mean: np.ndarray, var: np.ndarray) -> bool:
    """Whether y is right but for a missing eps; False if the spreads are so large that eps makes no difference."""
    spread = np.flatnonzero(var[:, 0] > 0)
    bare, right = ((x - mean)[spread] / np.sqrt(var[spread] + eps) for eps in (0.0, _EPS))
    alike = np.allclose(y[spread], bare, rtol=1e-3, atol=1e-3)
    return alike and not np.allclose(bare, right, rtol=1e-3, atol=1e-3)


def _inexact(case: KernelCase, result: Result) -> str | None:
    """Recognise Rsqrt and Reciprocal, which are right in the first four digits at most."""
    op = next((one.fields["op"] for one in result.diagnostics if one.id == "approximate-result"), "")
    if not op:
        return None
    instead = "Sqrt, and Div with ones_" if op == "Rsqrt" else "Div with ones_"
    return f"{op} is not accurate enough: it may be wrong by more than 1/10,000. Take {instead}"


def _swapped(case: KernelCase, result: Result) -> str | None:
    rows, length = case.inputs["x"].shape
    sums = [event for event in vector_instructions(result) if event.op == "WholeReduceSum"]
    if not any(event.repeats == length and event.lanes == length * min(rows, _ROWS) for event in sums):
        return None
    if length == min(rows, _ROWS):
        return None
    return (
        "mask and repeats of WholeReduceSum have changed places: a repeat is a row, of which length_ lanes take part, "
        "so the mask is length_, and there are `rows` repeats"
    )


def _few_instructions(case: KernelCase, result: Result) -> str | None:
    rows, length = case.inputs["x"].shape
    if result.tally.scalar:
        return (
            f"the numbers are right, but the scalar unit touches {result.tally.scalar} of them: the numbers of all "
            "rows stay side by side in mean_ and rstd_, and Brcb takes them from there"
        )
    tiles = -(-rows // _ROWS)
    recorded = len(result.trace.blocks) if result.trace else 0
    found = len(vector_instructions(result)) - 2 * recorded  # two of Init
    if recorded >= case.blocks and found > 20 * tiles:
        return (
            f"the numbers are right, with {found} vector instructions for {rows} rows of {length} floats: one "
            "instruction takes all rows of a tile, a repeat for each, and a dozen are enough"
        )
    return None


_PAST_A_BUFFER = (
    "an instruction goes past the end of a buffer: blocks_ has one block for each row, so its strides are 0 within a "
    "row and 1 from row to row; a repeat of Brcb takes eight numbers; WholeReduceSum puts a number for each row, 1 "
    "element apart"
)


def _row_cases(rng: np.random.Generator) -> list[KernelCase]:
    # A whole tile of the longest rows; rows of one block; lengths between; counts that are no multiple of eight.
    shapes = [(64, 64, 1), (16, 8, 1), (13, 24, 1), (5, 40, 1), (130, 16, 2)]
    shapes += [(int(rng.integers(70, 300)), 8 * int(rng.integers(2, 8)), int(rng.integers(1, 4))) for _ in range(2)]
    # Last, spreads of the size of sqrt(eps): only these show a wrong eps.
    return [*(_row_case(rng, *shape) for shape in shapes), _near_eps_case(rng)]


def _row_case(rng: np.random.Generator, rows: int, length: int, cores: int) -> KernelCase:
    x = rng.standard_normal((rows, length)) * np.linspace(0.5, 3, rows)[:, None] + np.linspace(2, -4, rows)[:, None]
    return _normalised(x, f"{rows} rows of {length} floats on {cores} core{'s' * (cores > 1)}", cores)


def _near_eps_case(rng: np.random.Generator) -> KernelCase:
    x = 0.003 * rng.standard_normal((9, 32)) * np.linspace(0.5, 2, 9)[:, None] + np.linspace(0.5, -0.5, 9)[:, None]
    x[4] = 0.25
    return _normalised(x, "9 rows of 32 floats, with spreads around 0.003 and one constant row, on 1 core", 1)


def _normalised(x: np.ndarray, label: str, cores: int) -> KernelCase:
    rows, length = x.shape
    x = x.astype(np.float32)
    wide = x.astype(np.float64)
    y = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + _EPS)
    return KernelCase(label, {"x": x}, {"rows": rows, "length": length}, {"y": y.astype(np.float32)}, cores)


CHECK = KernelChecker(
    _row_cases,
    # Float32 sums of at most 64 numbers, and a root.
    rtol=1e-4,
    atol=1e-4,
    symptoms=(_which_numbers,),
    demands=(_inexact, _few_instructions),
    faults={
        "ub-out-of-bounds": _PAST_A_BUFFER,
        "ub-overlap": "an instruction writes over what its next repeats still read: let it write into another buffer",
        "ub-never-written": "an instruction reads what nobody wrote: blocks_ holds a block for each number that Brcb "
        "took, and a tile has `rows` rows of length_ floats",
        "repeat-range": "an instruction has at most 255 repeats; here one for each row is enough",
    },
    auto_sync=True,
    options=TwinOptions(approximate="documented"),
    traced=True,
)
