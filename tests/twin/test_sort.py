"""Sorting against NumPy's stable sort: pairs of score and index, merges, the first k of rows; ties, infinities, NaN."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_support import TYPES, assert_same, pattern, run

FEW = settings(max_examples=examples(30), deadline=None)
SORT32, SORT, SORT_GROUPS, MERGE, MERGE_HIGH, EXTRACT, TOP_K, TOP_K_SMALL = range(8)
INDEX = 8192  # bytes: where indices of Extract and TopK go
types = st.sampled_from(["half", "float"])
seeds = st.integers(0, 2**20)


def scores(dtype: np.dtype, n: int, seed: int, *, special: bool = True) -> np.ndarray:
    """Few different values, so that many are equal, with infinities and NaN among them."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-20, 20, n).astype(dtype)
    if special:
        places = rng.random(n) < 0.1
        values[places] = rng.choice(np.array([np.inf, -np.inf, np.nan, 0.0, -0.0], dtype), int(places.sum()))
    return values


def descending(values: np.ndarray) -> np.ndarray:
    """Places in the documented order: NaN first, then from large to small; equal scores keep theirs."""
    keys = np.where(np.isnan(values), -np.inf, -values.astype(np.float64))
    return np.lexsort((keys, ~np.isnan(values)))  # stable


def pairs(values: np.ndarray, index: np.ndarray, fill: np.ndarray | None = None) -> np.ndarray:
    """Bytes of (score, index) structures; the two bytes between a half and its index keep those of ``fill``."""
    raw = np.zeros((values.size, 8), np.uint8) if fill is None else fill[: 8 * values.size].reshape(-1, 8).copy()
    raw[:, : values.itemsize] = np.ascontiguousarray(values).view(np.uint8).reshape(-1, values.itemsize)
    raw[:, 4:] = index.astype(np.uint32).view(np.uint8).reshape(-1, 4)
    return raw.ravel()


def buffer(raw: np.ndarray) -> np.ndarray:
    data = pattern(np.uint8, 9)
    flat = np.ascontiguousarray(raw).view(np.uint8).ravel()
    data[: flat.size] = flat
    return data


@FEW
@given(types, st.integers(0, 16), st.sampled_from([SORT32, SORT, SORT_GROUPS]), seeds)
def test_scores_with_their_indices_in_descending_order(name: str, repeats: int, op: int, seed: int) -> None:
    code, dtype = TYPES[name]
    n = 32 * repeats
    values = scores(dtype, n, seed)
    index = np.random.default_rng(seed).integers(0, 2**32, n, np.uint64).astype(np.uint32)
    before = pattern(np.uint8, 4)
    out = run("sort", before, buffer(values), buffer(index), op=op, type=code, repeat=repeats)
    expected = before.copy()
    group = n if op == SORT else 32
    for begin in range(0, n, group or 1):
        order = begin + descending(values[begin : begin + group])
        expected[8 * begin : 8 * (begin + group)] = pairs(values[order], index[order], before[8 * begin :])
    np.testing.assert_array_equal(out, expected)


@FEW
@given(types, st.sampled_from([3, 7, 15]), st.lists(st.integers(1, 60), min_size=4, max_size=4), st.booleans(),
       st.sampled_from([MERGE, MERGE_HIGH]), seeds)  # fmt: skip
def test_queues_become_one(name: str, valid: int, lengths: list[int], suspend: bool, op: int, seed: int) -> None:
    code, dtype = TYPES[name]
    lengths = [4 * length if name == "half" else length for length in lengths]
    lengths = [min(length, 120) for length in lengths]
    rng = np.random.default_rng(seed)
    queues = []
    for i, length in enumerate(lengths):
        values = scores(dtype, length, seed + i)
        values = values[descending(values)]
        queues.append((values, rng.integers(0, 1000, length)))
    src = np.concatenate([pairs(*queue) for queue in queues])
    before = pattern(np.uint8, 4)
    out = run(
        "sort", before, buffer(src), op=op, type=code, repeat=1, mode=valid, flag=int(suspend), extra=tuple(lengths)
    )
    used = [i for i in range(4) if valid >> i & 1]
    values = np.concatenate([queues[i][0] for i in used])
    index = np.concatenate([queues[i][1] for i in used])
    owner = np.concatenate([np.full(lengths[i], i) for i in used])
    order = descending(values)
    if suspend:  # up to and with the last pair of the queue that is used up first
        ends = [np.flatnonzero(owner[order] == i)[-1] for i in used]
        order = order[: min(ends) + 1]
    expected = before.copy()
    expected[: 8 * order.size] = pairs(values[order], index[order], before)
    taken = [int((owner[order] == i).sum()) for i in range(4)]
    if op == MERGE or suspend:
        np.testing.assert_array_equal(out.view(np.int32)[4088:4092], taken)
    np.testing.assert_array_equal(out[: 8 * values.size], expected[: 8 * values.size])


def test_merges_repeat_over_queues_of_one_length() -> None:
    repeats, length = 3, 8
    values = np.stack([scores(np.dtype(np.float32), length, seed, special=False) for seed in range(4 * repeats)])
    values = -np.sort(-values, axis=1)
    index = np.arange(values.size).reshape(values.shape)
    src = buffer(pairs(values.ravel(), index.ravel()))
    fields = {"op": MERGE, "type": TYPES["float"][0], "repeat": repeats, "mode": 15, "extra": (length,) * 4}
    out = run("sort", pattern(np.uint8, 4), src, **fields)
    for repeat in range(repeats):
        part = values[4 * repeat : 4 * repeat + 4].ravel()
        order = descending(part)
        expected = pairs(part[order], index[4 * repeat : 4 * repeat + 4].ravel()[order])
        np.testing.assert_array_equal(out[repeat * 256 :][:256], expected)


@FEW
@given(types, st.integers(0, 20), seeds)
def test_pairs_are_taken_apart(name: str, repeats: int, seed: int) -> None:
    code, dtype = TYPES[name]
    values = scores(dtype, 32 * repeats, seed)
    index = np.random.default_rng(seed).integers(0, 1000, 32 * repeats)
    out = run("sort", pattern(np.uint8, 4), buffer(pairs(values, index)), op=EXTRACT, type=code, repeat=repeats)
    assert_same(out.view(dtype)[: values.size], values)
    np.testing.assert_array_equal(out[INDEX:].view(np.uint32)[: index.size], index)


@FEW
@given(types, st.integers(1, 6), st.integers(1, 4), st.sampled_from([0, 1, 2, "small"]), st.booleans(), seeds)
def test_the_first_k_of_rows(name: str, rows: int, blocks: int, given_: int | str, largest: bool, seed: int) -> None:
    code, dtype = TYPES[name]
    small = given_ == "small"
    inner = 32 if small else 32 * blocks
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, inner + 1))
    k = int(rng.integers(1, n + 1))
    values = scores(dtype, rows * inner, seed).reshape(rows, inner)
    values[:, n:] = -np.inf if largest else np.inf  # sorts last, behind equal ones
    index = rng.integers(0, 10_000, (rows, inner) if small else inner).astype(np.int32)
    finished = rng.random(rows) < 0.4
    src1 = buffer(index)
    src1[INDEX : INDEX + rows] = finished
    before = pattern(np.uint8, 4)
    out = run("sort", before, buffer(values), src1, op=TOP_K_SMALL if small else TOP_K, type=code, mode=int(largest),
              flag=0 if small else given_, extra=(rows, inner, n, k))  # fmt: skip
    per_block = 32 // dtype.itemsize
    step, index_step = (k, k) if small else (-(-k // per_block) * per_block, -(-k // 8) * 8)
    expected, places = before.view(dtype).copy(), before[INDEX:].view(np.int32).copy()
    for row in range(rows):
        order = descending(values[row] if largest else -values[row])[:k]
        expected[row * step :][:k] = values[row][order]
        ids = np.arange(inner) if given_ == 0 else (index[row] if small else index)
        places[row * index_step :][:k] = n if given_ == 2 and finished[row] else ids[order]
    assert_same(out[:INDEX].view(dtype), expected[: INDEX // dtype.itemsize])
    np.testing.assert_array_equal(out[INDEX:].view(np.int32), places)
