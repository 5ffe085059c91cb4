"""The SoftMax family against float64: shapes with and without padding, both orders, pieces carried on, gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_support import BLOCK, BUFFER_BYTES, TYPES, pattern, run, scalar_bits, ulps

FEW = settings(max_examples=examples(25), deadline=None)
SOFTMAX, SIMPLE, FLASH, FLASH_V2, GRAD, FRONT, PLAIN, LOG, NARROW, ADJUST, V3 = range(11)
PARTS = 8192  # where the results of rows begin


@dataclass(frozen=True)
class Case:
    """A matrix, as the family's kernels take it: ``data`` is the buffer, ``x`` its rows as float64, all columns."""

    name: str
    stat: str
    rows: int
    columns: int
    live: int
    nz: bool
    seed: int

    @property
    def dtype(self) -> np.dtype:
        return TYPES[self.name][1]

    @property
    def wide(self) -> np.dtype:
        return TYPES[self.stat][1]

    def order(self) -> np.ndarray:
        """Element number of row and column."""
        row, column = np.indices((self.rows, self.columns))
        return (column // 16 * self.rows + row) * 16 + column % 16 if self.nz else row * self.columns + column

    def matrix(self, seed: int) -> np.ndarray:
        rng = np.random.default_rng([self.seed, seed])
        return (rng.standard_normal((self.rows, self.columns)) * 3 + rng.uniform(-20, 20)).astype(self.dtype)

    def buffer(self, matrix: np.ndarray, *statistics: np.ndarray) -> np.ndarray:
        """A 16 KiB buffer of bytes: the matrix, and numbers of rows spread over their 32-byte blocks."""
        whole = pattern(self.dtype, self.seed % 7)
        whole[: matrix.size][self.order().ravel()] = matrix.ravel()
        data = whole.view(np.uint8)
        for part, one in enumerate(statistics):
            blocks = np.repeat(one.astype(self.wide), BLOCK // self.wide.itemsize).view(np.uint8)
            data[PARTS + 1024 * part :][: blocks.size] = blocks
        return data

    def fields(self, op: int, flag: int = 0) -> dict[str, object]:
        extra = (self.rows, self.columns, self.live, 0)
        types = {"type": TYPES[self.name][0], "type2": TYPES[self.stat][0]}
        return {"op": op, "flag": flag, "mode": int(self.nz), "extra": extra} | types

    def result(self, out: np.ndarray) -> np.ndarray:
        return out.view(self.dtype)[self.order()]

    def per_row(self, out: np.ndarray, part: int, dtype: np.dtype | None = None) -> np.ndarray:
        """The number of each row; all elements of its block must be equal."""
        dtype = self.wide if dtype is None else dtype
        per_block = BLOCK // dtype.itemsize
        blocks = out[PARTS + 1024 * part :].view(dtype)[: self.rows * per_block].reshape(self.rows, per_block)
        assert (blocks == blocks[:, :1]).all()
        return blocks[:, 0]


@st.composite
def cases(draw: st.DrawFn, *, orders: bool = True) -> Case:
    name, stat = draw(st.sampled_from([("float", "float"), ("half", "half"), ("half", "float")]))
    nz = draw(st.booleans()) if orders else False
    step = 16 if nz else BLOCK // TYPES[name][1].itemsize
    columns = draw(st.integers(1, 6)) * step
    live = draw(st.one_of(st.just(columns), st.integers(1, columns)))
    return Case(name, stat, draw(st.integers(1, 12)), columns, live, nz, draw(st.integers(0, 2**20)))


def close(actual: np.ndarray, exact: np.ndarray, limit: float = 0.52) -> None:
    """Rounded once: within half a unit in the last place, where the type has its full precision."""
    info = np.finfo(actual.dtype)
    exact = np.asarray(exact)
    big = np.abs(exact) > float(info.max)  # padded columns of half, behind those that count
    full = (np.abs(exact) >= float(info.tiny)) & ~big
    assert (ulps(actual, exact)[full] <= limit).all()
    np.testing.assert_allclose(actual[~full & ~big].astype(np.float64), exact[~full & ~big], atol=float(info.tiny))
    assert (np.abs(actual[big].astype(np.float64)) >= float(info.max)).all()


def powers(case: Case, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """e^(x - max) of all columns, its sum and the maximum over those that count."""
    top = x[:, : case.live].max(axis=1, keepdims=True)
    e = np.exp(x - top)
    return e, e[:, : case.live].sum(axis=1, keepdims=True), top


def launch(case: Case, op: int, flag: int, src: np.ndarray, src1: np.ndarray | None = None) -> np.ndarray:
    dst = pattern(np.uint8, 3)
    return run("softmax", dst, src, src1, **case.fields(op, flag))


@FEW
@given(cases(), st.sampled_from([0, 1, 2]))
def test_softmax(case: Case, flag: int) -> None:
    if flag == 1:  # the shape comes from the tiling, which knows no padding
        case = Case(case.name, case.stat, case.rows, case.columns, case.columns, case.nz, case.seed)
    x = case.matrix(1)
    out = launch(case, SOFTMAX, flag, case.buffer(x))
    e, total, top = powers(case, x.astype(np.float64))
    with np.errstate(over="ignore"):
        close(case.result(out), e / total)
    close(case.per_row(out, 0), total[:, 0])
    close(case.per_row(out, 1), top[:, 0])
    used = np.zeros(BUFFER_BYTES, bool)
    used[: x.nbytes] = True
    for part in range(2):
        used[PARTS + 1024 * part :][: case.rows * BLOCK] = True
    np.testing.assert_array_equal(out[~used], pattern(np.uint8, 3)[~used])


@FEW
@given(cases())
def test_softmax_with_given_sum_and_maximum(case: Case) -> None:
    x = case.matrix(1)
    _, total, top = powers(case, x.astype(np.float64))
    total, top = total.astype(case.wide), top.astype(case.wide)
    out = launch(case, SIMPLE, 0, case.buffer(x, total[:, 0], top[:, 0]))
    close(case.result(out), np.exp(x.astype(np.float64) - top) / total.astype(np.float64))


@FEW
@given(cases(orders=False))
def test_softmax_without_sum_and_maximum_and_its_logarithm(case: Case) -> None:
    case = Case(case.name, case.name, case.rows, case.columns, case.live, False, case.seed)
    x = case.matrix(1)
    e, total, _ = powers(case, x.astype(np.float64))
    close(case.result(launch(case, PLAIN, 0, case.buffer(x))), e / total)
    out = launch(case, LOG, 0, case.buffer(x))
    close(case.result(out), np.log10(e / total), 0.53)
    close(case.per_row(out, 0), total[:, 0])


@FEW
@given(cases(orders=False), st.booleans(), st.booleans())
def test_flash(case: Case, update: bool, divide: bool) -> None:
    x, old = case.matrix(1), case.matrix(2)
    _, old_sum, old_max = powers(case, old.astype(np.float64))
    old_sum, old_max = old_sum.astype(case.wide), old_max.astype(case.wide)
    out = launch(case, FLASH if divide else FLASH_V2, int(update), case.buffer(x, old_sum[:, 0], old_max[:, 0]))
    exact = x.astype(np.float64)
    _, total, top = powers(case, exact)
    factor = np.ones_like(top)
    if update:
        top = np.maximum(top, old_max)
        carried = np.exp(old_max - top) * old_sum
        total = np.exp(exact - top)[:, : case.live].sum(axis=1, keepdims=True) + carried
        factor = carried / total if divide else np.exp(old_max - top)
        close(case.per_row(out, 2, case.dtype), factor[:, 0])
    close(case.result(out), np.exp(exact - top) / (total if divide else 1.0))
    close(case.per_row(out, 0), total[:, 0])
    close(case.per_row(out, 1), top[:, 0])


def test_flash_in_pieces_is_softmax_of_the_whole() -> None:
    case = Case("float", "float", 5, 24, 24, False, 4)
    pieces = [case.matrix(seed) for seed in (1, 2, 3)]
    out = launch(case, FLASH_V2, 0, case.buffer(pieces[0]))
    for piece in pieces[1:]:
        out = launch(case, FLASH_V2, 1, case.buffer(piece, case.per_row(out, 0), case.per_row(out, 1)))
    whole = np.concatenate(pieces, axis=1).astype(np.float64)
    top = whole.max(axis=1)
    np.testing.assert_array_equal(case.per_row(out, 1), top.astype(np.float32))
    np.testing.assert_allclose(case.per_row(out, 0), np.exp(whole - top[:, None]).sum(axis=1), rtol=1e-6)


def test_flash_with_the_maximum_of_the_piece_has_one_element_a_row() -> None:
    case = Case("float", "float", 11, 16, 13, False, 9)
    x, old_sum, old_max = case.matrix(1), np.linspace(1, 3, 11), np.linspace(-30, 30, 11)
    data = case.buffer(x)
    for part, one in enumerate((old_sum, old_max)):
        data[PARTS + 1024 * part :][:44] = one.astype(np.float32).view(np.uint8)
    out = launch(case, NARROW, 0, data)
    here = x[:, :13].max(axis=1).astype(np.float64)
    old_max = old_max.astype(np.float32)
    top = np.maximum(here, old_max)
    numbers = [out[PARTS + 1024 * part :].view(np.float32)[:11] for part in range(4)]
    exact = x.astype(np.float64)
    total = np.exp(exact - top[:, None])[:, :13].sum(axis=1) + np.exp(old_max - top) * old_sum.astype(np.float32)
    for actual, wanted in zip(numbers, (total, top, np.exp(old_max - top), here), strict=True):
        close(actual, wanted)


@FEW
@given(cases(), st.booleans(), st.booleans())
def test_gradient(case: Case, front: bool, alone: bool) -> None:
    y, grad = case.matrix(1), case.matrix(2)
    out = launch(case, FRONT if alone else GRAD, int(front), case.buffer(y), case.buffer(grad))
    y64, grad64 = y.astype(np.float64), grad.astype(np.float64)
    total = (y64 * grad64)[:, : case.live].sum(axis=1, keepdims=True)
    if front or alone:
        per_block = BLOCK // case.dtype.itemsize
        blocks = out.view(case.dtype)[: case.rows * per_block].reshape(case.rows, per_block)
        close(blocks, np.repeat(total, per_block, axis=1), 0.6)
    else:
        exact = (grad64 - total) * y64
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(
                case.result(out), exact.astype(case.dtype), rtol=2e-3 if case.name == "half" else 1e-6, atol=1e-3
            )


@pytest.mark.parametrize("found", [True, False])
def test_rows_of_one_maximum_are_replaced(found: bool) -> None:
    case = Case("float", "float", 6, 8, 8, False, 2)
    top = np.array([1, 2, -7, 2, 5, 2 if found else 9], np.float32)
    dst = case.buffer(case.matrix(3))
    wanted = scalar_bits(np.float32(2 if found else 3), np.dtype(np.float32))
    out = run("softmax", dst, case.buffer(case.matrix(1), top, top), **case.fields(ADJUST), scalar=wanted)
    expected = case.matrix(3)
    expected[top == (2 if found else 3)] = -3
    np.testing.assert_array_equal(case.result(out), expected)
    assert out[PARTS:].view(np.float32)[0] == found


@FEW
@given(st.sampled_from([512, 576, 768]), st.booleans(), st.integers(0, 1000))
def test_flash_v3(columns: int, update: bool, seed: int) -> None:
    rows, alpha, loops = 8, 0.9375, 3
    rng = np.random.default_rng(seed)
    x = rng.uniform(-0.3, 0.3, (rows, columns)).astype(np.float16)
    old = rng.uniform(0.1, 2.0, (3, rows)).astype(np.float32)  # mean, sum, max
    src1 = pattern(np.float32, 1)
    for part, one in enumerate(old):
        src1[2048 + 256 * part :][: 8 * rows] = np.repeat(one, 8)
    src0 = np.zeros(BUFFER_BYTES // 2, np.float16)
    src0[: x.size] = x.ravel()
    out = run("softmax", pattern(np.uint8, 1), src0, src1, op=V3, flag=int(update), count=loops,
              extra=(rows, columns, 0, 0), scalar=scalar_bits(alpha, np.dtype(np.float32)))  # fmt: skip
    x64 = x.astype(np.float64)
    scale = alpha / (1 - alpha)
    strip = x64[:, :512].reshape(rows, 64, 8).sum(axis=2) + x64[:, 512:].reshape(rows, -1, 64).sum(axis=1)
    parts = strip.reshape(rows, 8, 8).sum(axis=2) / (columns // 8)
    here = parts.mean(axis=1, keepdims=True)
    shifted = x64 - np.repeat(here - parts, columns // 8, axis=1) * scale
    mean = (here + old[0][:, None].astype(np.float64) * (loops - 1)) / loops if update else here
    shift, old_shift = (here - mean) * scale, (old[0][:, None] - mean) * scale
    top = shift + shifted.max(axis=1, keepdims=True)
    carried = np.zeros_like(top)
    if update:
        top = np.maximum(top, old_shift + old[2][:, None])
        carried = np.exp(old[2][:, None] - top + old_shift) * old[1][:, None]
    e = np.exp(shifted - (top - shift))
    np.testing.assert_allclose(
        out.view(np.float16)[: x.size].reshape(x.shape), e.astype(np.float16), rtol=1e-3, atol=1e-7
    )
    results = out.view(np.float32)[3072:]
    for part, exact in enumerate((mean, e.sum(axis=1, keepdims=True) + carried, top)):
        np.testing.assert_allclose(results[256 * part :][: 8 * rows], np.repeat(exact[:, 0], 8), rtol=1e-6, atol=1e-7)
