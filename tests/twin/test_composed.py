"""High-level functions against NumPy: gates, clamps, remainders, sequences, masks, pads, patterns, quantisation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_support import (
    BF16,
    BUFFER_BYTES,
    TYPES,
    Data,
    assert_same,
    buffer_of,
    data,
    pattern,
    quiet,
    run,
    scalar_bits,
    ulps,
)

FEW = settings(max_examples=examples(25), deadline=None)
(GEGLU, SWIGLU, REGLU, FMOD, CLAMP_MAX, CLAMP_MIN, EXP, CUM_SUM, CHOOSE, REDUCE, XOR, ARANGE, QUANT, PAD, UNPAD,
 DEQUANT, ANTI_QUANT) = range(17)  # fmt: skip
# of the result, of the scale
DEQUANT_TYPES = [
    ("half", "uint64"),
    ("float", "float"),
    ("float", "bfloat16"),
    ("bfloat16", "float"),
    ("bfloat16",) * 2,
]
floats = st.sampled_from(["half", "float"])
seeds = st.integers(0, 2**20)


def launch(op: int, name: str, src0: np.ndarray, src1: np.ndarray | None = None, **fields: object) -> np.ndarray:
    """The destination buffer, as bytes."""
    return run("composed", pattern(np.uint8, 6), src0, src1, op=op, type=TYPES[name][0], **fields)


def numbers(dtype: np.dtype, n: int, seed: int, spread: float = 3.0) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(n) * spread + 0.4).astype(dtype)


def gelu(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-1.5957691216057308 * (x + 0.044715 * x**3)))


GATES = {
    GEGLU: lambda x, gate: x * gelu(gate),
    SWIGLU: lambda x, gate: x * gate / (1 + np.exp(-1.5 * gate)),
    REGLU: lambda x, gate: x * np.maximum(gate, 0),
}


@FEW
@given(st.sampled_from(sorted(GATES)), floats, st.integers(0, 1000), st.booleans(), seeds)
def test_gated_activations(op: int, name: str, count: int, whole: bool, seed: int) -> None:
    dtype = TYPES[name][1]
    n = BUFFER_BYTES // dtype.itemsize
    x, gate = numbers(dtype, n, seed), numbers(dtype, n, seed + 1)
    out = launch(op, name, x, gate, count=count, flag=int(whole)).view(dtype)
    done = n if whole and op != REGLU else count
    exact = GATES[op](x.astype(np.float64), gate.astype(np.float64))[:done]
    full = np.abs(exact) >= np.finfo(dtype).tiny
    assert (ulps(out[:done], exact)[full] <= 0.52).all()
    np.testing.assert_array_equal(out[done:].view(np.uint8), pattern(np.uint8, 6)[done * dtype.itemsize :])


def test_reglu_of_bfloat16() -> None:
    x, gate = numbers(BF16, 8192, 1), numbers(BF16, 8192, 2)
    out = launch(REGLU, "bfloat16", x, gate, count=100).view(BF16)[:100]
    exact = x[:100].astype(np.float64) * np.maximum(gate[:100].astype(np.float64), 0)
    assert_same(out, exact.astype(np.float32).astype(BF16))


@FEW
@given(floats, data(), st.integers(1, 1000))
def test_remainders_are_exact(name: str, source: Data, count: int) -> None:
    dtype = TYPES[name][1]
    x, y = source.array(dtype), Data(source.seed + 1, source.special).array(dtype)
    out = launch(FMOD, name, x, y, count=count).view(dtype)[:count]
    with quiet():
        assert_same(out, np.fmod(x[:count], y[:count]))


@FEW
@given(floats, data(), st.integers(0, 1000), st.booleans(), st.booleans())
def test_clamps(name: str, source: Data, count: int, upper: bool, scratch: bool) -> None:
    dtype = TYPES[name][1]
    x, bound = source.array(dtype), dtype.type(0.75)
    out = launch(CLAMP_MAX if upper else CLAMP_MIN, name, x, count=count, flag=int(scratch),
                 scalar=scalar_bits(bound, dtype)).view(dtype)[:count]  # fmt: skip
    with quiet():
        assert_same(out, np.where(x > bound if upper else x < bound, bound, x)[:count])


@pytest.mark.parametrize("flag", [0, 1])
@pytest.mark.parametrize("name", ["half", "float"])
def test_exponential_by_its_series(name: str, flag: int) -> None:
    dtype = TYPES[name][1]
    x = np.linspace(-9, 9, 1000).astype(dtype)
    out = launch(EXP, name, buffer_of(x), count=1000, flag=flag).view(dtype)[:1000]
    assert (ulps(out, np.exp(x.astype(np.float64))) <= 0.52).all()


@FEW
@given(floats, st.integers(1, 20), st.integers(1, 5), st.booleans(), seeds)
def test_running_sums(name: str, rows: int, blocks: int, columns: bool, seed: int) -> None:
    dtype = TYPES[name][1]
    width = blocks * 32 // dtype.itemsize
    x = numbers(dtype, rows * width, seed).reshape(rows, width)
    out = launch(CUM_SUM, name, buffer_of(x), flag=int(columns), extra=(rows, width, 0, 0))
    exact = np.cumsum(x.astype(np.float64), axis=0 if columns else 1)
    result = out.view(dtype)[: x.size].reshape(x.shape)
    np.testing.assert_array_equal(result, exact.astype(np.float32).astype(dtype))
    if columns:
        np.testing.assert_array_equal(out[8192:].view(dtype)[:width], result[-1])


@FEW
@given(floats, st.integers(1, 12), st.integers(1, 4), st.integers(0, 2), st.sampled_from([0, 1, 2, 3]), seeds)
def test_choosing_by_a_mask(name: str, rows: int, blocks: int, more: int, how: int, seed: int) -> None:
    dtype = TYPES[name][1]
    width = blocks * 64 // dtype.itemsize
    rng = np.random.default_rng(seed)
    x = numbers(dtype, rows * width, seed).reshape(rows, width)
    scalar = dtype.type(0.3)
    if how == 3:  # bits, rows that end in bytes of no meaning
        mask_width = width // 8 + more
        kept = rng.random((rows, width)) < 0.5
        mask = rng.integers(0, 256, (rows, mask_width)).astype(np.uint8)
        mask[:, : width // 8] = np.packbits(kept, axis=1, bitorder="little")
    else:
        mask_width = (width + 31) // 32 * 32 + 32 * more
        mask = rng.integers(0, 2, (rows, mask_width)).astype(np.uint8) * rng.integers(
            1, 256, (rows, mask_width)
        ).astype(np.uint8)
        kept = mask[:, :width] != 0
    out = launch(CHOOSE, name, buffer_of(x), buffer_of(mask), flag=how, extra=(rows, width, mask_width, 0),
                 scalar=scalar_bits(scalar, dtype)).view(dtype)[: x.size].reshape(x.shape)  # fmt: skip
    divided = (x.astype(np.float64) / np.float64(np.float32(scalar))).astype(np.float32).astype(dtype)
    expected = [
        np.where(kept, scalar, x),
        np.where(kept, x, scalar),
        np.where(kept, divided, 0),
        np.where(kept, divided, 0),
    ]
    np.testing.assert_array_equal(out, expected[how].astype(dtype))


@FEW
@given(floats, st.sampled_from([0, 1, 2, 3, 4, 5]), st.integers(1, 20), st.integers(1, 4), st.booleans(), seeds)
def test_reductions_with_a_pattern(name: str, which: int, rows: int, blocks: int, columns: bool, seed: int) -> None:
    name = "float" if which in (2, 3, 4) else name
    dtype = TYPES[name][1]
    width = blocks * 32 // dtype.itemsize
    live = width - 1 if which == 5 else width
    x = numbers(dtype, rows * width, seed, 1.2).reshape(rows, width)
    out = launch(REDUCE, name, buffer_of(x), mode=which, flag=int(columns), extra=(rows, width, live, 0)).view(dtype)
    axis = 0 if columns and which != 5 else 1
    fold = [np.max, np.min, np.sum, np.prod, np.mean, np.mean][which]
    exact = fold(x[:, :live].astype(np.float64), axis=axis)
    np.testing.assert_allclose(out[: exact.size].astype(np.float64), exact, rtol=0.52 * np.finfo(dtype).eps, atol=1e-9)


@FEW
@given(st.sampled_from(["int16", "uint16"]), data(), st.integers(0, 1000), st.booleans())
def test_exclusive_or(name: str, source: Data, count: int, whole: bool) -> None:
    dtype = TYPES[name][1]
    a, b = source.array(dtype), Data(source.seed + 1).array(dtype)
    out = launch(XOR, name, a, b, count=count, flag=int(whole)).view(dtype)
    done = a.size if whole else count
    np.testing.assert_array_equal(out[:done], (a ^ b)[:done])


@FEW
@given(st.sampled_from(["int16", "int32", "half", "float"]), st.integers(1, 3000), st.booleans(), seeds)
def test_sequences(name: str, count: int, old: bool, seed: int) -> None:
    dtype = TYPES[name][1]
    rng = np.random.default_rng(seed)
    first, step = (rng.uniform(-50, 50, 2) * (1 if dtype.kind == "f" else 100)).astype(dtype)
    out = launch(ARANGE, name, pattern(dtype), count=count, flag=int(old), scalar=scalar_bits(first, dtype),
                 low=scalar_bits(step, dtype)).view(dtype)[:count]  # fmt: skip
    if dtype.kind == "i":
        expected = (int(first) + np.arange(count, dtype=np.int64) * int(step)).astype(dtype)  # wraps around
    else:
        with quiet():
            expected = (float(first) + np.arange(count) * float(step)).astype(np.float32).astype(dtype)
    np.testing.assert_array_equal(out, expected)


@FEW
@given(
    st.sampled_from(["int16", "uint16", "half", "int32", "uint32", "float"]),
    st.integers(1, 6),
    st.integers(1, 40),
    seeds,
)
def test_pad_and_unpad(name: str, rows: int, width: int, seed: int) -> None:
    code_dtype = TYPES[name][1]
    per_block = 32 // code_dtype.itemsize
    rows *= per_block  # all elements together fill whole blocks
    if rows * (width + per_block) * code_dtype.itemsize > BUFFER_BYTES:
        rows = per_block
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 100, (rows, width)).astype(code_dtype)
    padded = -(-width // per_block) * per_block
    room = padded - width
    left = int(rng.integers(0, room + 1)) if room else 0
    right = int(rng.integers(0, room - left + 1)) if room else 0
    original = width if room else max(1, width - 3)
    if not room:
        right = min(2, width - original)
    out = launch(PAD, name, buffer_of(x), mode=left, extra=(rows, width, original, right)).view(code_dtype)
    result = out[: rows * padded].reshape(rows, padded)
    fill = np.array(-7).astype(code_dtype)
    np.testing.assert_array_equal(result[:, left : left + original], x[:, :original])
    assert (result[:, :left] == fill).all()
    assert (result[:, left + original : left + original + right] == fill).all()
    if padded > 1:
        take = int(rng.integers(1, min(per_block, padded)))
        wide = rng.integers(0, 100, (rows, padded)).astype(code_dtype)
        back = launch(UNPAD, name, buffer_of(wide), extra=(rows, padded, 0, take)).view(code_dtype)
        kept = wide[:, : padded - take]
        np.testing.assert_array_equal(back[: kept.size].reshape(kept.shape), kept)


@FEW
@given(floats, st.sampled_from([0, 1, 2]), st.integers(1, 4), st.integers(1, 6), seeds)
def test_quantisation_rounds_in_half(name: str, how: int, channels: int, repeats: int, seed: int) -> None:
    dtype = TYPES[name][1]
    scales = 32 * channels
    count = scales * repeats
    x = numbers(dtype, count, seed, 30.0)
    scale, offset = numbers(dtype, scales, seed + 1), numbers(dtype, scales, seed + 2, 10.0)
    src1 = pattern(dtype)
    src1[:scales] = scale
    src1[4096 // dtype.itemsize :][:scales] = offset
    out = launch(QUANT, name, buffer_of(x), src1, count=count, flag=how, extra=(scales, 0, 0, 0)).view(np.int8)[:count]
    factor = np.float16(3.0) if how == 0 else np.tile(scale, repeats).astype(np.float16)
    plus = {0: np.float16(-1.5), 1: np.float16(2.5), 2: np.tile(offset, repeats).astype(np.float16)}[how]
    with quiet():
        exact = np.rint((x.astype(np.float16) * factor + plus).astype(np.float64))
    np.testing.assert_array_equal(out, exact.clip(-128, 127).astype(np.int8))


@FEW
@given(st.sampled_from(DEQUANT_TYPES), st.booleans(), st.integers(1, 8), st.integers(1, 6), seeds)
def test_dequantisation(types: tuple[str, str], single: bool, rows: int, blocks: int, seed: int) -> None:
    name, stat = types
    dtype, columns = TYPES[name][1], 8 * blocks
    rng = np.random.default_rng(seed)
    live = int(rng.integers(1, columns + 1))
    x = rng.integers(-(2**26), 2**26, (rows, columns)).astype(np.int32)
    scale = rng.uniform(-2e-3, 2e-3, columns).astype(np.float32)
    wide = dtype.itemsize
    n_out = -(-columns * wide // 32) * 32 // wide
    if stat == "uint64":
        single, raw = False, scale.view(np.uint32).astype(np.uint64) | np.uint64(7 << 40)
    else:
        raw = scale.astype(TYPES[stat][1])
        scale = raw.astype(np.float32)
    one = scalar_bits(raw[0], raw.dtype) if stat != "uint64" else 0
    if rows == 1 and live % (32 // wide) == 0 and columns % live == 0:
        rows, x = 2, np.concatenate([x, x + 1])  # one row is special: the next test
    scales = np.resize(raw, BUFFER_BYTES // raw.itemsize)
    fields = {"type2": TYPES.get(stat, (0,))[0], "flag": int(single), "extra": (rows, columns, live, 0), "scalar": one}
    out = launch(DEQUANT, name, buffer_of(x), scales, **fields)
    product = x.astype(np.float32)[:, :live] * (scale[0] if single else scale[:live])
    result = out.view(dtype)[: rows * n_out].reshape(rows, n_out)[:, :live]
    with quiet():
        assert_same(np.ascontiguousarray(result), product.astype(dtype))


def test_one_row_is_dequantised_in_pieces() -> None:
    x = np.arange(64, dtype=np.int32)
    scale = np.linspace(0.5, 2, 16).astype(np.float32)
    out = launch(DEQUANT, "float", buffer_of(x), buffer_of(scale), type2=TYPES["float"][0], extra=(1, 64, 16, 0))
    np.testing.assert_array_equal(out.view(np.float32)[:64], x.astype(np.float32) * np.tile(scale, 4))


@FEW
@given(st.sampled_from(["half", "bfloat16"]), st.booleans(), st.sampled_from([0, 1, 2]), st.integers(1, 3), seeds)
def test_anti_quantisation(name: str, transposed: bool, how: int, groups: int, seed: int) -> None:
    dtype = TYPES[name][1]
    k, n = 32 * groups, 16
    rng = np.random.default_rng(seed)
    shape = (n, k) if transposed else (k, n)
    x = rng.integers(-128, 128, shape).astype(np.int8)
    lengths = (n, groups) if transposed else (groups, n)
    offset, scale = (rng.uniform(-9, 9, (2, *lengths))).astype(np.float32).astype(dtype)
    src1 = pattern(dtype)
    src1[: offset.size], src1[2048 : 2048 + scale.size] = offset.ravel(), scale.ravel()
    out = launch(ANTI_QUANT, name, buffer_of(x), src1, count=x.size, mode=int(transposed), flag=how,
                 extra=(k, *lengths, 0)).view(dtype)[: x.size].reshape(shape)  # fmt: skip
    if how == 2:
        plus, factor = np.float32(1.5), np.float32(0.25)
    else:
        axis = 1 if transposed else 0
        plus, factor = (np.repeat(one.astype(np.float32), 32, axis=axis) for one in (offset, scale))
    moved = x.astype(np.float32) + plus
    if name == "half":
        moved = moved.astype(np.float16).astype(np.float32)
    assert_same(out, (moved * factor).astype(dtype))
