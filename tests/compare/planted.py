"""Outputs with planted mistakes beside their references: the table of tests/compare/test_sentences.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.runtime.launch_types import FLOAT_POISON


@dataclass(frozen=True)
class Planted:
    """One launch: its outputs and their references by name, its inputs, and what else is known of it."""

    name: str
    output: Mapping[str, np.ndarray]
    reference: Mapping[str, np.ndarray]
    inputs: Mapping[str, np.ndarray] = field(default_factory=dict)
    blocks: int = 1
    notes: tuple[Diagnostic, ...] = ()
    warned: bool = False
    of_largest: float = 0.0


RANDOM = np.random.default_rng(29)
#: Rows that are no constants, and differ from one another.
ROWS = RANDOM.standard_normal((8, 64)) * 2 + 0.3
FLAT = ROWS.reshape(-1)
LONG = RANDOM.standard_normal((3, 100)) + 0.3
X, Z = RANDOM.standard_normal((2, 8, 64))
SUMS = np.cumsum(ROWS, axis=-1)
WHOLE = RANDOM.integers(3000, 9000, 64).astype(np.float64)


def planted() -> Iterator[Planted]:
    """Every case, each mistake alone and then several at once."""
    for name, output, reference in _alone():
        yield Planted(name, {"y": output}, {"y": reference}, {"x": X, "z": Z}, blocks=4)
    yield from _of_inputs()
    yield from _of_a_launch()
    yield from _mixed()


def _alone() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    f32, f16, i32 = np.float32, np.float16, np.int32
    yield "right", ROWS.astype(f32), ROWS
    yield "one element", _with(ROWS, {3: -9.0}).astype(f32), ROWS
    yield "other shape", ROWS[:4].astype(f32), ROWS
    yield "no elements", np.zeros((0, 4), f32), np.zeros((0, 4))
    yield "a number", np.array(2.5, f32), np.array(1.25)
    yield "a scalar in a row", np.array([2.5], f32), np.array([1.25])
    yield "shifted on", np.concatenate([FLAT[:100], FLAT[103:], FLAT[:3]]).reshape(8, 64).astype(f32), ROWS
    yield "shifted back", np.concatenate([FLAT[:100], FLAT[60:-40]]).reshape(8, 64).astype(f32), ROWS
    pitch = np.concatenate([FLAT, FLAT])
    yield "wrong pitch", np.stack([pitch[row * 60 : row * 60 + 64] for row in range(8)]).astype(f32), ROWS
    blocks = FLAT.reshape(4, -1)
    yield "block swap", blocks[[1, 0, 2, 3]].reshape(8, 64).astype(f32), ROWS
    yield "all blocks first", blocks[[0, 0, 0, 0]].reshape(8, 64).astype(f32), ROWS
    yield "rows swapped", ROWS[[1, 3, 0, 2, 5, 7, 4, 6]].astype(f32), ROWS
    tile = np.arange(512) % 32 < 24
    yield "tiles half done", np.where(tile, FLAT, 77.0).reshape(8, 64).astype(f32), ROWS
    lanes = np.arange(512) % 64 >= 48
    yield "lanes masked", np.where(lanes, FLAT * 3 + 1, FLAT).reshape(8, 64).astype(f32), ROWS
    yield "lanes zero", np.where(lanes, 0, FLAT).reshape(8, 64).astype(f32), ROWS
    yield "lanes nan", np.where(lanes, np.nan, FLAT).reshape(8, 64).astype(f32), ROWS
    half_lanes = np.arange(512) % 128 % 64 < 8
    yield "lanes of half", np.where(half_lanes, FLAT * 5 + 2, FLAT).reshape(8, 64).astype(f16), ROWS
    yield "right beginning", np.where(np.arange(512) < 100, FLAT, FLAT**2 + 5).reshape(8, 64).astype(f32), ROWS
    anew = np.concatenate([np.cumsum(ROWS[:, at : at + 16], axis=-1) for at in range(0, 64, 16)], axis=-1)
    yield "running sum restarts", anew.astype(f32), SUMS
    long = np.cumsum(LONG, axis=-1)
    parts = [np.cumsum(LONG[:, at : at + 25], axis=-1) for at in range(0, 100, 25)]
    yield "running sum restarts in rows of 100", np.concatenate(parts, axis=-1).astype(f32), long
    odd = np.arange(300) % 40
    yield "tiles of 40", np.where(odd < 24, LONG.reshape(-1), 77.0).astype(f32), LONG.reshape(-1)
    later = np.where((odd >= 8) & (odd < 24), LONG.reshape(-1), LONG.reshape(-1) ** 3 + 9)
    yield "tiles of 40, from 8 on", later.astype(f32), LONG.reshape(-1)
    yield "sign", (-ROWS).astype(f32), ROWS
    yield "twice", (2 * ROWS).astype(f32), ROWS
    yield "a third", (ROWS / 3).astype(f32), ROWS
    yield "odd factor", (0.731 * ROWS).astype(f32), ROWS
    yield "one more", (ROWS + 1).astype(f32), ROWS
    yield "odd shift", (ROWS - 0.37).astype(f32), ROWS
    yield "zeros", np.zeros_like(ROWS, f32), ROWS
    yield "zeros from the middle", _with(ROWS, dict.fromkeys(range(200, 512), 0.0)).astype(f32), ROWS
    yield "nan", np.full_like(ROWS, np.nan, f32), ROWS
    yield "one nan", _with(ROWS, {7: np.nan}).astype(f32), ROWS
    yield "infinite", np.where(ROWS > 3, np.inf, ROWS).astype(f32), ROWS
    yield "reference nan", ROWS.astype(f32), np.where(ROWS > 2, np.nan, ROWS)
    yield "reference nan, twice", (2 * ROWS).astype(f32), np.where(ROWS > 2, np.nan, ROWS)
    yield "constant", np.full_like(ROWS, 0.75, f32), ROWS
    yield "few digits", (ROWS * (1 + 0.003 * np.sin(np.arange(64)))).astype(f32), ROWS
    yield "nearly right", (ROWS * (1 + 1e-4 * np.cos(np.arange(64)))).astype(f32), ROWS
    yield "small beside large", _with(ROWS * 1e6, {5: 0.25}).astype(f32), _with(ROWS * 1e6, {5: 0.125})
    yield "row mean", (ROWS + RANDOM.standard_normal((8, 1))).astype(f32), ROWS
    yield "row root", (ROWS * (1.5 + RANDOM.random((8, 1)))).astype(f32), ROWS
    numbers = RANDOM.standard_normal((2, 8, 1))
    yield "row mean and root", (ROWS * (2 + numbers[0]) + numbers[1]).astype(f32), ROWS
    yield "row squares", (ROWS**2 * (1.5 + RANDOM.random((8, 1)))).astype(f32), ROWS
    yield "kept sums", np.cumsum(ROWS, axis=0).astype(f32), ROWS
    yield "kept numbers", np.cumsum(ROWS[:, 0]).astype(f32), ROWS[:, 0]
    by_blocks = ROWS.copy()
    by_blocks[4:] += ROWS[:4]
    yield "kept by block", by_blocks.astype(f32), ROWS
    yield "counts in half", _with(WHOLE, {}).astype(f16).astype(f32), WHOLE
    pairs = np.zeros(64, f32)
    pairs[0::2] = np.sort(FLAT[:32])
    pairs.view(np.int32)[1::2] = np.arange(32)
    yield "value and index", pairs, np.concatenate([np.sort(FLAT[:32]), FLAT[:32]])
    yield "index bits", np.array([0], i32), np.array([37])
    yield "several index bits", np.array([4, 0, 0], i32), np.array([4, 9, 17])
    yield "unsigned shift", np.arange(-40, 0).astype(i32) + (1 << 28), np.arange(-40, 0)
    yield "whole numbers", np.arange(40, dtype=i32), np.arange(40) * 3 + 1
    yield "random", RANDOM.standard_normal((8, 64)).astype(f32), ROWS
    for dtype in (np.float32, np.float16, ml_dtypes.bfloat16):
        yield f"nothing written, {np.dtype(dtype).name}", _poison(np.full(40, True), np.zeros(40), dtype), FLAT[:40]
        holes = np.isin(np.arange(40), [3, 4, 5, 9])
        yield f"holes, {np.dtype(dtype).name}", _poison(holes, FLAT[:40], dtype), FLAT[:40]
    yield "one hole", _poison(np.arange(40) == 39, FLAT[:40], np.float32), FLAT[:40]
    yield "a stretch", _poison(np.arange(40) > 29, FLAT[:40], np.float32), FLAT[:40]
    yield "bytes never written", np.full(24, 0xA5, np.uint8), np.arange(24)


def _of_inputs() -> Iterator[Planted]:
    inputs = {"x": X, "z": Z, "few": X[0]}
    choice = np.where(X > 0, X, Z)
    yield Planted("operand swap", {"y": np.where(X > 0, Z, X)}, {"y": choice}, inputs)
    yield Planted("input as it came", {"y": X}, {"y": np.exp(X)}, inputs)
    unread = (_unread("x", 0, 0), _unread("z", 64, 500), _unread("few", 0, 40), _unread("gone", 0, 0))
    numbers = inputs | {"tiling": np.arange(8)}
    yield Planted("unread", {"y": np.sin(X)}, {"y": np.exp(X)}, numbers, notes=(*unread, _unread("tiling", 0, 0)))
    yield Planted("unread, right", {"y": X}, {"y": X}, inputs, notes=unread)
    yield Planted("unread, zeros", {"y": np.zeros_like(X)}, {"y": np.exp(X)}, inputs, notes=unread)
    both = {"y": np.zeros_like(X), "mean": X[0] + 1}
    yield Planted("unread, two outputs", both, {"y": np.exp(X), "mean": X[0]}, inputs, notes=unread)
    yield Planted("unread, the second", both, {"y": np.zeros_like(X), "mean": X[0]}, inputs, notes=unread)
    yield Planted("unread, other shape", {"y": X[:2], "mean": X[0] + 1}, {"y": X, "mean": X[0]}, inputs, notes=unread)


def _of_a_launch() -> Iterator[Planted]:
    zeros = np.zeros_like(ROWS, np.float32)
    yield Planted("zeros, warned", {"y": zeros}, {"y": ROWS}, blocks=4, warned=True)
    many = FLAT[:480].reshape(6, -1)
    yield Planted("many blocks", {"y": many[[1, 2, 3, 4, 5, 0]].reshape(-1)}, {"y": FLAT[:480]}, blocks=6)
    yield Planted("kept by two blocks", {"y": _kept(ROWS, 2).astype(np.float32)}, {"y": ROWS}, blocks=2)
    sums = {"y": (FLAT + 0.004).astype(np.float32)}
    yield Planted("of the largest, right", sums, {"y": FLAT}, of_largest=1e-2)


def _mixed() -> Iterator[Planted]:
    """Outputs that several patterns fit: the order decides."""
    f32 = np.float32
    same = np.tile(ROWS[:2], (4, 1))
    swapped = same.reshape(4, -1)[[1, 0, 3, 2]].reshape(8, 64)
    yield Planted("equal blocks", {"y": (-swapped).astype(f32)}, {"y": same}, blocks=4)
    blocks = FLAT.reshape(4, -1)[[1, 0, 2, 3]]
    signed = np.where([[1], [1], [1], [-1]], blocks, -blocks).reshape(8, 64)
    yield Planted("block swap and sign", {"y": signed.astype(f32)}, {"y": ROWS}, blocks=4)
    yield Planted("sign of an input", {"y": -X}, {"y": X}, {"x": -X})
    rolled = np.roll(FLAT, 5).reshape(8, 64)
    yield Planted("shifted input", {"y": rolled}, {"y": ROWS}, {"x": rolled})
    yield Planted("one row twice", {"y": np.where(np.arange(8)[:, None] == 3, 2 * ROWS, ROWS)}, {"y": ROWS}, blocks=2)
    anew = np.concatenate([np.cumsum(ROWS[:, at : at + 16], axis=-1) for at in range(0, 64, 16)], axis=-1)
    yield Planted("restarts, one row shifted", {"y": np.where(np.arange(8)[:, None] == 3, SUMS + 5, anew)}, {"y": SUMS})
    three = {"y": ROWS.astype(f32), "mean": ROWS[:, 0] * 2, "rstd": ROWS[:, 1].astype(f32)}
    yield Planted("the second of three", three, {"y": ROWS, "mean": ROWS[:, 0], "rstd": ROWS[:, 2]}, blocks=4)
    holes = _poison(np.arange(64) % 8 == 0, FLAT[:64] * 2, np.float32)
    yield Planted("holes and twice", {"y": holes}, {"y": FLAT[:64]}, blocks=2)
    yield Planted("nan and infinite", {"y": _with(ROWS, {3: np.inf, 9: np.nan}).astype(f32)}, {"y": ROWS})
    yield Planted("constant beside constant", {"y": np.full(64, 2.0)}, {"y": np.full(64, 3.0)}, blocks=4)


def _with(array: np.ndarray, changes: Mapping[int, float]) -> np.ndarray:
    made = array.copy()
    for at, value in changes.items():
        made.reshape(-1)[at] = value
    return made


def _kept(rows: np.ndarray, step: int) -> np.ndarray:
    made = rows.copy()
    for row in range(step, len(rows)):
        made[row] += made[row - step]
    return made


def _poison(holes: np.ndarray, values: np.ndarray, dtype: type) -> np.ndarray:
    made = values.astype(dtype)
    made.view(f"u{made.itemsize}")[holes] = FLOAT_POISON[made.dtype.name]
    return made


def _unread(argument: str, first: int, end: int) -> Diagnostic:
    fields = {"argument": argument, "first": first, "end": end, "of": 512}
    return Diagnostic("gm-input-unread", "note", "", 0, 0, fields)
