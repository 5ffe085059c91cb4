"""03.2: the mean of a row."""

from __future__ import annotations

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.elements import constant
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.operators.result import Result

_CHUNK = 256  # kChunk of the exercise's kernel


def _mean_cases(rng: np.random.Generator) -> list[KernelCase]:
    # 8 and 13: less than a chunk. 256: one. 300 and 777: chunks and a tail. The offset keeps means away from zero.
    shapes = [(2, 8, 1), (3, 13, 1), (2, 256, 2), (3, 300, 2), (5, 777, 3)]
    shapes += [(int(rng.integers(2, 7)), int(rng.integers(257, 1500)), int(rng.integers(1, 5))) for _ in range(2)]
    return [_mean_case(rng, *shape) for shape in shapes]


def _mean_case(rng: np.random.Generator, rows: int, length: int, cores: int) -> KernelCase:
    x = (rng.standard_normal((rows, length)) + np.linspace(1, 3, length) + np.arange(rows)[:, None]).astype(np.float32)
    label = f"{rows} rows of {length} floats on {cores} core{'s' * (cores > 1)}, chunks of {_CHUNK}"
    mean = x.astype(np.float64).mean(axis=1).astype(np.float32)
    return KernelCase(label, {"x": x}, {"rows": rows, "length": length}, {"mean": mean}, cores)


def _which_sum(case: KernelCase, result: Result) -> str | None:
    x, got = case.inputs["x"].astype(np.float64), result["mean"].astype(np.float64)
    length = x.shape[1]
    tail = length % _CHUNK or _CHUNK
    if not got.any() and length < _CHUNK:
        return f"every mean is 0: nothing is in the sum, not even the tail, which is all that a row of {length} has"
    whole = length - length % _CHUNK
    of_chunks = np.stack([x[:, at : at + _CHUNK].mean(axis=1) for at in range(0, length, _CHUNK)])
    total = got * length
    whole_sum = got.any() and (np.abs(total - np.round(total)) <= 1e-6 * np.abs(total)).all()
    near = (got == np.round(got)).all() and (np.abs(got - case.expected["mean"]) < 1.5).all()
    if whole_sum and (near or not constant(got)):
        return "the sum is a whole number: what stands behind the point is lost, as an int does; let the sum be a float"
    known = [
        (of_chunks.mean(axis=0), "this is the mean of the chunks' means; the last chunk is shorter and weighs less"),
        (x.sum(axis=1), "this is the sum of the row: divide it by the number of elements"),
        (
            x.sum(axis=1) / _CHUNK,
            f"the sum is divided by the chunk ({_CHUNK}), not by the length of the row ({length})",
        ),
        (x[:, -tail:].sum(axis=1) / length, "only the last chunk is in the sum: it starts again at each chunk"),
        (x[:, :_CHUNK].sum(axis=1) / length, "only the first chunk is in the sum"),
        (
            x[:, :whole].sum(axis=1) / length,
            f"the last {tail} elements of each row are not in the sum: the tail is skipped",
        ),
    ]
    for values, words in known:
        if np.allclose(got, values, rtol=1e-4, atol=1e-6):
            return words
    return None


def _in_chunks(case: KernelCase, result: Result) -> str | None:
    if result.tally.bytes_in < case.inputs["x"].nbytes:
        return "the means are right, but the rows do not come through the buffer: Load brings a chunk into it"
    return None


CHECK = KernelChecker(
    _mean_cases,
    # A float32 sum of at most 1500 numbers, one by one: 1500 roundings of 6e-8 in the worst order.
    rtol=1e-4,
    atol=1e-6,
    symptoms=(_which_sum,),
    demands=(_in_chunks,),
    # With the compiler's own waits nothing that S does could come too early, and no missing wait would be seen.
    options=TwinOptions(auto_sync="off"),
    faults={
        "race-read-after-write PIPE_S": "S reads a chunk while MTE2 may still bring it: behind the copy S has to "
        "wait for MTE2, Sync<MTE2_S>. No wait comes from the compiler here",
        "race-write-after-read PIPE_MTE2": "MTE2 brings the next chunk while S may still read the one before, in the "
        "same buffer: in front of the copy MTE2 has to wait for S, Sync<S_MTE2>. No wait comes from the compiler here",
        "race-read-after-write PIPE_MTE3": "MTE3 takes a mean that S may not have written yet: in front of that copy "
        "MTE3 has to wait for S, Sync<S_MTE3>. No wait comes from the compiler here",
        "race-write-after-read PIPE_S": "S writes the next mean over one that MTE3 may not have copied yet: behind "
        "that copy S has to wait for MTE3, Sync<MTE3_S>. No wait comes from the compiler here",
        "gm-out-of-bounds": "the last chunk of a row reads past the end of x",
        "gm-beyond-declared-size": "the last chunk of a row reads past the end of x",
        "ub-out-of-bounds": "a chunk does not fit its buffer",
        "ub-index": "an element outside the chunk is read",
        "ub-never-written": "an element outside the chunk is read",
    },
)
