"""The normalisations of the high-level API against float64, their gradients, and Welford's mean and variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_support import BLOCK, TYPES, pattern, run, scalar_bits

FEW = settings(max_examples=examples(25), deadline=None)
LAYER, SEPARATE, DEEP, RMS, NORMALIZE, GRAD, GRAD_BETA, UPDATE, FINALIZE = range(9)
SECOND, GAMMA, BETA = 6144, 12288, 14336  # where they begin, in bytes


@dataclass(frozen=True)
class Case:
    """Rows of ``columns`` elements, of which ``live`` count; numbers without symmetry, different for each seed."""

    name: str
    rows: int
    columns: int
    live: int
    seed: int

    @property
    def dtype(self) -> np.dtype:
        return TYPES[self.name][1]

    def matrix(self, seed: int) -> np.ndarray:
        rng = np.random.default_rng([self.seed, seed])
        return (rng.standard_normal((self.rows, self.columns)) * 2 + rng.uniform(-3, 3)).astype(self.dtype)

    def row(self, seed: int) -> np.ndarray:
        return np.random.default_rng([self.seed, 100 + seed]).uniform(0.5, 2.0, self.columns).astype(self.dtype)

    def launch(self, op: int, src0: np.ndarray, src1: np.ndarray | None = None, **fields: object) -> np.ndarray:
        fields = {"extra": (self.rows, self.columns, self.live, 0), "scalar": scalar_bits(0.01, self.dtype)} | fields
        return run("norm", pattern(np.uint8, 1), src0, src1, op=op, type=TYPES[self.name][0], **fields)

    def check(self, out: np.ndarray, at: int, exact: np.ndarray, dtype: np.dtype | None = None) -> None:
        """The numbers from byte ``at`` on: rounded once from what float64 gives."""
        dtype = self.dtype if dtype is None else dtype
        actual = out[at:].view(dtype)[: exact.size].reshape(exact.shape).astype(np.float64)
        scale = np.abs(exact).max() if exact.size else 0
        np.testing.assert_allclose(actual, exact, rtol=0.51 * np.finfo(dtype).eps, atol=1e-7 * scale)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    name = draw(st.sampled_from(["float", "half"]))
    per_block = BLOCK // TYPES[name][1].itemsize
    columns = per_block * draw(st.integers(1, 6))
    live = draw(st.one_of(st.just(columns), st.integers(max(1, columns - 7), columns)))
    return Case(name, draw(st.integers(1, 14)), columns, live, draw(st.integers(0, 2**20)))


def bytes_at(*parts: tuple[int, np.ndarray]) -> np.ndarray:
    data = pattern(np.uint8, 5)
    for at, values in parts:
        raw = np.ascontiguousarray(values).view(np.uint8).ravel()
        data[at : at + raw.size] = raw
    return data


def moments(x: np.ndarray, live: int) -> tuple[np.ndarray, np.ndarray]:
    return x[:, :live].mean(axis=1, keepdims=True), x[:, :live].var(axis=1, keepdims=True)


def epsilon(case: Case) -> float:
    return float(np.array(0.01, case.dtype))


@FEW
@given(cases(), st.sampled_from(["layer", "separate", "plain", "deep", "rms"]))
def test_rows_are_normalised(case: Case, which: str) -> None:
    x, gx, gamma, beta = case.matrix(1), case.matrix(2), case.row(1), case.row(2)
    src0 = bytes_at((0, x), (SECOND, gx), (GAMMA, gamma), (BETA, beta))
    op = {"layer": LAYER, "separate": SEPARATE, "plain": SEPARATE, "deep": DEEP, "rms": RMS}[which]
    out = case.launch(op, src0, flag=int(which == "plain"))
    x64, gamma64, beta64 = x.astype(np.float64), gamma.astype(np.float64), beta.astype(np.float64)
    if which == "deep":
        x64 = 0.75 * x64 + gx.astype(np.float64)
    mean, variance = moments(x64, case.live)
    if which == "rms":
        square = (x64[:, : case.live] ** 2).mean(axis=1, keepdims=True)
        case.check(out, 0, x64 / np.sqrt(square + epsilon(case)) * gamma64)
        return
    root = 1 / np.sqrt(variance + epsilon(case))
    plain = (x64 - mean) * root
    case.check(out, 0, plain if which == "plain" else plain * gamma64 + beta64)
    statistics = np.dtype(np.float32) if op == SEPARATE else case.dtype
    case.check(out, GAMMA, mean[:, 0], statistics)
    case.check(out, BETA, root[:, 0] if which == "separate" else variance[:, 0], statistics)


@FEW
@given(cases(), st.booleans())
def test_normalize_with_known_mean_and_variance(case: Case, plain: bool) -> None:
    x, gamma, beta = case.matrix(1), case.row(1), case.row(2)
    mean, variance = (one.astype(np.float32) for one in moments(x.astype(np.float64), case.live))
    src0 = bytes_at((0, x), (GAMMA, gamma), (BETA, beta))
    out = case.launch(NORMALIZE, src0, bytes_at((0, mean), (2048, variance)), flag=int(plain))
    root = 1 / np.sqrt(variance.astype(np.float64) + epsilon(case))
    result = (x.astype(np.float64) - mean) * root
    case.check(out, 0, result if plain else result * gamma.astype(np.float64) + beta.astype(np.float64))
    case.check(out, GAMMA, root[:, 0], np.dtype(np.float32))


@FEW
@given(cases())
def test_gradient_with_respect_to_x(case: Case) -> None:
    x, dy, gamma = case.matrix(1), case.matrix(2), case.row(1)
    mean, variance = (one.astype(case.dtype) for one in moments(x.astype(np.float64), case.live))
    out = case.launch(GRAD, bytes_at((0, x), (SECOND, dy), (GAMMA, gamma)), bytes_at((0, mean), (2048, variance)))
    g = dy.astype(np.float64) * gamma.astype(np.float64)
    centred = x.astype(np.float64) - mean.astype(np.float64)
    base = variance.astype(np.float64) + epsilon(case)
    live, length = slice(None, case.live), case.live
    pd_var = (-0.5 * g * centred * base**-1.5)[:, live].sum(axis=1, keepdims=True)
    pd_mean = (-g * base**-0.5)[:, live].sum(axis=1, keepdims=True)
    pd_mean += pd_var / length * (-2.0 * centred)[:, live].sum(axis=1, keepdims=True)
    case.check(out, 0, g * base**-0.5 + pd_var * (2.0 / length) * centred + pd_mean / length)
    case.check(out, SECOND, centred * base**-0.5)


def test_the_gradient_is_the_derivative() -> None:
    """Against differences of LayerNorm itself, which no formula of ours enters."""
    case = Case("float", 1, 8, 8, 3)
    x, dy, gamma = case.matrix(1).astype(np.float64), case.matrix(2).astype(np.float64), case.row(1).astype(np.float64)

    def loss(row: np.ndarray) -> float:
        return float(((row - row.mean()) / np.sqrt(row.var() + epsilon(case)) * gamma * dy[0]).sum())

    slopes = [(loss(x[0] + step) - loss(x[0] - step)) / 2e-6 for step in 1e-6 * np.eye(8)]
    mean, variance = (one.astype(np.float32) for one in moments(x, 8))
    src0 = bytes_at((0, x.astype(np.float32)), (SECOND, dy.astype(np.float32)), (GAMMA, gamma.astype(np.float32)))
    out = case.launch(GRAD, src0, bytes_at((0, mean), (2048, variance)))
    np.testing.assert_allclose(out.view(np.float32)[:8], slopes, rtol=1e-3, atol=1e-4)


@FEW
@given(cases())
def test_gradient_with_respect_to_gamma_and_beta(case: Case) -> None:
    centred, dy = case.matrix(1), case.matrix(2)
    out = case.launch(GRAD_BETA, bytes_at((0, centred), (SECOND, dy)))
    case.check(out, GAMMA, (centred.astype(np.float64) * dy.astype(np.float64)).sum(axis=0))
    case.check(out, BETA, dy.astype(np.float64).sum(axis=0))


@FEW
@given(st.integers(1, 20), st.integers(1, 320), st.booleans(), st.integers(1, 9), st.integers(0, 1000))
def test_welford_update(blocks: int, live: int, in_place: bool, turn: int, seed: int) -> None:
    columns = 16 * blocks
    live = min(live, columns)
    rng = np.random.default_rng(seed)
    mean, square = rng.standard_normal((2, columns)).astype(np.float32)
    x = (rng.standard_normal(columns) * 3).astype(np.float16)
    share = np.float32(1 / turn)
    data = pattern(np.uint8, 2)
    src1 = np.zeros(8192, np.float16)
    src1[:columns] = x
    out = run("norm", data, bytes_at((0, mean), (8192, square)), src1, op=UPDATE, flag=int(in_place),
              extra=(1, columns, live, 0), scalar=scalar_bits(share, np.dtype(np.float32)))  # fmt: skip
    off = x.astype(np.float32) - mean
    new_mean = mean + off * share
    new_square = square + off * (x.astype(np.float32) - new_mean)
    for at, new, old in ((0, new_mean, mean), (8192, new_square, square)):
        actual = out[at:].view(np.float32)[:columns]
        np.testing.assert_array_equal(actual[:live], new[:live])
        rest = old if in_place else data[at:].view(np.float32)[:columns]
        np.testing.assert_array_equal(actual[live:].view(np.uint32), rest[live:].view(np.uint32))


@FEW
@given(st.sampled_from([0, 1, 2]), st.integers(1, 12), st.integers(0, 1000))
def test_welford_finalize_gives_mean_and_variance_of_all_elements(mode: int, blocks: int, seed: int) -> None:
    """The columns' statistics are those of real data, so that the exact answer is the data's own mean and variance."""
    columns, rows = 8 * blocks, 5
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((rows, columns)) * rng.uniform(0.5, 3) + rng.uniform(-4, 4)
    head = int(rng.integers(1, columns + 1)) if mode else columns
    counts = np.full(columns, rows)
    counts[head:] = rows - 1
    kept = [data[:count, column] for column, count in enumerate(counts)]
    mean = np.array([one.mean() for one in kept], np.float32)
    square = np.array([((one - one.mean()) ** 2).sum() for one in kept], np.float32)
    every = np.concatenate(kept)
    case = Case("float", rows, columns, head, 0)
    src1 = np.zeros(4096, np.int32)
    src1[:columns] = counts
    share = scalar_bits(1 / every.size, np.dtype(np.float32))
    mode = 0 if head == columns and mode == 1 else mode
    out = case.launch(FINALIZE, bytes_at((0, mean), (8192, square)), src1, mode=mode, scalar=share)
    np.testing.assert_allclose(out.view(np.float32)[0], every.mean(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(out[8192:].view(np.float32)[0], every.var(), rtol=1e-5)
