"""Compacting, transposing, and the compare and reduction registers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_support import (
    BITS,
    BLOCK,
    BUFFER_BYTES,
    LANES,
    OUTSIDE,
    REPEAT,
    TYPES,
    Call,
    Data,
    assert_same,
    data,
    pattern,
    run,
)

OPS = {name: op for op, name in enumerate(
    ["GatherPattern", "GatherBits", "Tile", "Planes", "To5HD", "To5HDAddresses", "To5HDTensor", "CompareRegister",
     "SelectRegister", "SelectAddress", "SelectScalar", "ReduceRegisters", "Gatherb"]
)}  # fmt: skip
WORDS = ("int16", "uint16", "half", "int32", "uint32", "float")
BLOCKED = ("int8", "uint8", *WORDS)
FEW = settings(max_examples=examples(30), deadline=None)
PATTERN = {1: 0x55, 2: 0xAA, 3: 0x11, 4: 0x22, 5: 0x44, 6: 0x88, 7: 0xFF}
COMPARE = {0: np.less, 1: np.greater, 2: np.equal, 3: np.less_equal, 4: np.greater_equal, 5: np.not_equal}
NCHW2NHWC, NHWC2NCHW, TILE = 11, 12, 10


def bits_of(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.dtype.itemsize}")


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("op", ["GatherPattern", "GatherBits"])
def test_gather_mask(op: str, dtype: str) -> None:
    code, kind = TYPES[dtype]
    per_block, whole = BLOCK // kind.itemsize, REPEAT // kind.itemsize

    @FEW
    @given(inputs=data(), mode=st.integers(1, 7), counter=st.booleans(), count=st.integers(0, 80),
           repeat=st.integers(0, 4), blk=st.integers(0, 3), rep=st.integers(0, 16),
           bits_rep=st.integers(0, 2))  # fmt: skip
    def check(
        inputs: Data, mode: int, counter: bool, count: int, repeat: int, blk: int, rep: int, bits_rep: int
    ) -> None:
        dst, src, bits = pattern(kind, 1), inputs.array(kind), Data(inputs.seed).array(np.uint8)
        actual = run("rearrange", dst, src, bits, op=OPS[op], type=code, mode=mode, flag=counter, count=count,
                     repeat=repeat, src0_blk=blk, src0_rep=rep, extra=[bits_rep, 0, 0, 0])  # fmt: skip
        lanes = np.arange(count if counter else whole)
        kept = []
        for r in range(repeat):
            if op == "GatherPattern":
                chosen = PATTERN[mode] >> (lanes % 8) & 1
            else:
                chosen = bits[r * bits_rep * BLOCK + lanes // 8] >> (lanes % 8).astype(np.uint8) & 1
            at = (r * rep + lanes // per_block * blk) * per_block + lanes % per_block
            kept.append(src[at[chosen == 1]])
        values = np.concatenate([*kept, src[:0]])
        expected = dst.copy()
        tail = expected[-whole:].view(np.int32)
        tail += 1
        expected[: len(values)] = values
        expected.view(np.uint32)[-(-len(values) * kind.itemsize // 4)] = len(values)
        np.testing.assert_array_equal(bits_of(actual), bits_of(expected))

    check()


@pytest.mark.parametrize("dtype", ["int16", "uint16", "half"])
def test_transpose_tile(dtype: str) -> None:
    code, kind = TYPES[dtype]
    src, dst = Data(3).array(kind), pattern(kind, 1)
    expected = dst.copy()
    expected[:256] = src[:256].reshape(16, 16).T.ravel()
    actual = run("rearrange", dst, src, op=OPS["Tile"], type=code)
    np.testing.assert_array_equal(bits_of(actual), bits_of(expected))
    extended = run("rearrange", dst, src, op=OPS["Planes"], type=code, mode=TILE, extra=[0, 0, 16, 16])
    np.testing.assert_array_equal(bits_of(extended), bits_of(expected))


@pytest.mark.parametrize("dtype", BLOCKED)
@pytest.mark.parametrize(
    "shape", [(1, 1, 2, 16), (2, 3, 4, 8), (3, 16, 8, 4), (1, 40, 1, 32), (0, 3, 4, 8), (2, 0, 4, 8)]
)
def test_transpose_planes(shape: tuple[int, ...], dtype: str) -> None:
    code, kind = TYPES[dtype]
    n, c, h, w = shape
    size = n * c * h * w
    src = Data(4).array(kind)
    for mode, source, axes in ((NCHW2NHWC, (n, c, h, w), (0, 2, 3, 1)), (NHWC2NCHW, (n, h, w, c), (0, 3, 1, 2))):
        dst = pattern(kind, 1)
        actual = run("rearrange", dst, src, op=OPS["Planes"], type=code, mode=mode, extra=[n, c, h, w])
        expected = dst.copy()
        expected[:size] = src[:size].reshape(source).transpose(axes).ravel()
        np.testing.assert_array_equal(bits_of(actual), bits_of(expected))


@pytest.mark.parametrize("dtype", BLOCKED)
@pytest.mark.parametrize("op", ["To5HD", "To5HDAddresses", "To5HDTensor"])
def test_trans_data_to_5hd(op: str, dtype: str) -> None:
    code, kind = TYPES[dtype]
    size = kind.itemsize
    columns = 8 if size == 4 else 16

    @FEW
    @given(repeat=st.integers(0, 3), dst_rep=st.integers(0, 20), src_rep=st.integers(0, 20), flag=st.integers(0, 3),
           dst_step=st.integers(1, 4), src_step=st.integers(1, 4))  # fmt: skip
    def check(repeat: int, dst_rep: int, src_rep: int, flag: int, dst_step: int, src_step: int) -> None:
        dst, src = pattern(kind, 1), Data(5).array(kind)
        actual = run("rearrange", dst, src, op=OPS[op], type=code, repeat=repeat, dst_rep=dst_rep, src0_rep=src_rep,
                     flag=flag, extra=[dst_step * BLOCK, src_step * BLOCK, 0, 0])  # fmt: skip
        expected, per_block = dst.copy(), BLOCK // size
        high_to, high_from = (flag & 1) * 16 * (size == 1), (flag >> 1) * 16 * (size == 1)
        for r in range(repeat):
            step = r + (repeat == 1)  # one repeat adds the stride to the start
            blocks = [src[(i * src_step + step * src_rep) * per_block + high_from :][:columns] for i in range(16)]
            flat = np.stack(blocks).T.ravel()
            width = 16 if size == 1 else per_block
            for i in range(16):
                at = (i * dst_step + step * dst_rep) * per_block + high_to
                expected[at : at + width] = flat[i * width : (i + 1) * width]
        np.testing.assert_array_equal(bits_of(actual), bits_of(expected))

    check()


@pytest.mark.parametrize("dtype", ["half", "float"])
def test_compare_into_the_register(dtype: str) -> None:
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize

    @FEW
    @given(inputs=data(), mode=st.integers(0, 5), form=st.sampled_from([LANES, BITS, OUTSIDE]),
           lanes=st.integers(1, 128), low=st.integers(1, 2**64 - 1), high=st.integers(0, 2**64 - 1),
           blk=st.tuples(*[st.integers(0, 4)] * 2))  # fmt: skip
    def check(inputs: Data, mode: int, form: int, lanes: int, low: int, high: int, blk: tuple[int, int]) -> None:
        call = Call(form, low=lanes if form == LANES else low, high=0 if form == LANES else high, blk=(1, *blk))
        dst, a, b = pattern(kind, 1), inputs.array(kind), Data(inputs.seed + 1).array(kind)
        b[::3] = a[::3]
        actual = run("rearrange", dst, a, b, op=OPS["CompareRegister"], type=code, mode=mode, **call.fields())
        (active,) = call.lanes(width)
        at0, at1 = call.indices(width, kind.itemsize, 1)[0], call.indices(width, kind.itemsize, 2)[0]
        bits = np.zeros(128, np.uint8)
        bits[active] = COMPARE[mode](a[at0], b[at1])
        expected = dst.copy()
        expected.view(np.uint8)[:16] = np.packbits(bits, bitorder="little")
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize("dtype", ["half", "float"])
@pytest.mark.parametrize("op", ["SelectRegister", "SelectAddress", "SelectScalar"])
def test_select_without_a_mask_argument(op: str, dtype: str) -> None:
    code, kind = TYPES[dtype]
    width = REPEAT // kind.itemsize

    @FEW
    @given(inputs=data(), low=st.integers(1, 2**64 - 1), high=st.integers(0, 2**64 - 1), repeat=st.integers(1, 4))
    def check(inputs: Data, low: int, high: int, repeat: int) -> None:
        call = Call(OUTSIDE, low=low, high=high, repeat=repeat)
        dst, a, b = pattern(kind, 1), inputs.array(kind), Data(inputs.seed + 1).array(kind)
        bits = np.unpackbits(b.view(np.uint8)[BUFFER_BYTES - 4096 :], bitorder="little")
        actual = run("rearrange", dst, a, b, op=OPS[op], type=code, **call.fields())
        expected = dst.copy()
        for r, lanes in enumerate(call.lanes(width)):
            chosen = bits[lanes + (0 if op == "SelectRegister" else r * width)] == 1
            at = r * width + lanes
            other = b[0] if op == "SelectScalar" else b[at]
            expected[at] = np.where(chosen, a[at], other)
        assert_same(actual, expected)

    check()


@pytest.mark.parametrize("dtype", ["half", "float"])
def test_registers_of_the_last_reduction(dtype: str) -> None:
    code, kind = TYPES[dtype]
    width, repeat = REPEAT // kind.itemsize, 3
    src = Data(6, special=False, scale=2.0).array(kind)
    dst = run("rearrange", pattern(kind), src, op=OPS["ReduceRegisters"], type=code, count=100, repeat=repeat)
    values = src[: repeat * width]
    index = bits_of(dst)
    assert dst[0] == dst[1] == dst[2]
    np.testing.assert_allclose(float(dst[0]), src[:100].astype(np.float64).sum(), rtol=0.02)
    assert (dst[3], index[4]) == (values.max(), values.argmax())
    assert (dst[5], index[6]) == (values.min(), values.argmin())
    assert dst[7] == src[:100].max()


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_gather_blocks(dtype: str) -> None:
    code, kind = TYPES[dtype]

    @FEW
    @given(seed=st.integers(0, 99), repeat=st.integers(0, 4), blk=st.integers(0, 4), rep=st.integers(0, 40))
    def check(seed: int, repeat: int, blk: int, rep: int) -> None:
        dst, src = pattern(kind, 1), Data(seed).array(kind)
        offsets = np.random.default_rng(seed).integers(0, BUFFER_BYTES // BLOCK, BUFFER_BYTES // 4, np.uint32) * BLOCK
        call = {"repeat": repeat, "dst_blk": blk, "dst_rep": rep}
        actual = run("rearrange", dst, src, offsets.astype(np.uint32), op=OPS["Gatherb"], type=code, **call)
        expected = dst.copy().view(np.uint8).reshape(-1, BLOCK)
        blocks = src.view(np.uint8).reshape(-1, BLOCK)
        for i in range(8 * repeat):
            expected[i // 8 * rep + i % 8 * max(blk, 1)] = blocks[offsets[i] // BLOCK]
        np.testing.assert_array_equal(actual.view(np.uint8), expected.ravel())

    check()
