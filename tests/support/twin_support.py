"""Shared by the twin's tests: launches of test kernels in ``programs/families``, a call's lanes, special values.

A test kernel copies three whole buffers into the Unified Buffer, runs the operation its ``ASK`` record names, and
copies the destination buffer back: a test compares the whole buffer, so that it also sees what the operation must leave
alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import ml_dtypes
import numpy as np
from hypothesis import strategies as st
from thoroughness import ALL

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import Built, build_kernel
from gn_tutorial.errors import GntError
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest, LaunchResult

FAMILIES = Path(__file__).parents[1] / "programs" / "families"
BUFFER_BYTES = 16 * 1024
BLOCK = 32
REPEAT = 256

BF16 = np.dtype(ml_dtypes.bfloat16)
TYPES = {
    name: (code, np.dtype(dtype))
    for code, (name, dtype) in enumerate(
        [
            ("int16", np.int16),
            ("half", np.float16),
            ("int32", np.int32),
            ("float", np.float32),
            ("uint16", np.uint16),
            ("uint32", np.uint32),
            ("bfloat16", BF16),
            ("int8", np.int8),
            ("uint8", np.uint8),
            ("int64", np.int64),
        ]
    )
}
COUNT, LANES, BITS, COUNTER, OUTSIDE = range(5)
FORMS = (COUNT, LANES, BITS, COUNTER, OUTSIDE)

# Mirrors struct Ask of families/bench.h.
ASK = np.dtype(
    [(name, np.int64) for name in ("op", "type", "type2", "form", "count")]
    + [("low", np.uint64), ("high", np.uint64), ("repeat", np.int64)]
    + [(name, np.int64) for name in ("dst_blk", "src0_blk", "src1_blk", "dst_rep", "src0_rep", "src1_rep")]
    + [("scalar", np.uint64), ("mode", np.int64), ("flag", np.int64), ("extra", np.int64, 4)]
)


@functools.cache
def _family(name: str, observed: bool) -> Built | GntError:
    try:
        # -O3 takes four times as long as -Og, minutes more over all families, and -O0 still less. With --all the
        # families are what a user's launches run; compiler/test_same_bits.py compares the levels.
        level = ("little" if observed else True) if ALL else False
        return build_kernel(FAMILIES / f"{name}.cpp", observed=observed, optimise=level)
    except GntError as error:
        return error  # kept, because hypothesis would compile the broken kernel again for each smaller example


def family(name: str, *, observed: bool = True) -> Built:
    """Return the compiled test kernel ``families/<name>.cpp``."""
    built = _family(name, observed)
    if isinstance(built, GntError):
        raise built
    return built


@dataclass(frozen=True)
class Call:
    """One call of an operation: its form, its mask and its strides (in blocks of 32 bytes, start to start)."""

    form: int = COUNT
    count: int = 0
    low: int = 0
    high: int = 0
    repeat: int = 1
    blk: tuple[int, int, int] = (1, 1, 1)  # dst, src0, src1
    rep: tuple[int, int, int] = (8, 8, 8)

    def lanes(self, width: int) -> list[np.ndarray]:
        """Return the active lanes of each repeat; ``width`` is the number of lanes of a whole repeat."""
        if self.form in (COUNT, COUNTER):
            whole, tail = divmod(self.count, width)
            return [np.arange(width)] * whole + ([np.arange(tail)] if tail else [])
        if self.form == LANES:
            active = np.arange(min(self.low, width))
        else:
            bits = self.low | (self.high << 64)
            active = np.array([lane for lane in range(width) if bits >> lane & 1], dtype=np.int64)
        return [active] * self.repeat

    def indices(self, width: int, itemsize: int, operand: int) -> list[np.ndarray]:
        """Return the element numbers of the active lanes, repeat by repeat, in operand 0 (dst), 1 or 2."""
        if self.form == COUNT:
            return [lanes + r * width for r, lanes in enumerate(self.lanes(width))]
        per_block = BLOCK // itemsize
        return [
            (r * self.rep[operand] + lanes // per_block * self.blk[operand]) * per_block + lanes % per_block
            for r, lanes in enumerate(self.lanes(width))
        ]

    def fields(self) -> dict[str, int]:
        """Return the part of an ``ASK`` record that describes this call."""
        strides = dict(zip(("dst_blk", "src0_blk", "src1_blk"), self.blk, strict=True))
        strides |= dict(zip(("dst_rep", "src0_rep", "src1_rep"), self.rep, strict=True))
        return {
            "form": self.form,
            "count": self.count,
            "low": self.low,
            "high": self.high,
            "repeat": self.repeat,
        } | strides


def calls(width: int, *, forms: tuple[int, ...] = FORMS, limit: int | None = None) -> st.SearchStrategy[Call]:
    """Draw calls that stay inside a buffer of 16 KiB for operands of at most 4 bytes; ``limit``: of the count form."""
    mask = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**64 - 1, 0x5555555555555555, 2**63]))
    blk = st.tuples(st.integers(1, 4), st.integers(0, 4), st.integers(0, 4))
    rep = st.tuples(st.integers(8, 40), st.integers(0, 40), st.integers(0, 40))

    def one(form: int) -> st.SearchStrategy[Call]:
        if form == COUNT:
            top = limit or 16 * width
            return st.builds(Call, form=st.just(COUNT), count=st.one_of(st.integers(0, top), st.just(top)))
        if form == COUNTER:
            return st.builds(
                Call, form=st.just(form), count=st.integers(0, 8 * width), repeat=st.integers(1, 3), blk=blk, rep=rep
            )
        low = st.one_of(st.integers(0, width + 8), st.just(width)) if form == LANES else mask
        high = st.just(0) if form == LANES else mask
        some = st.builds(Call, form=st.just(form), low=low, high=high, repeat=st.integers(0, 8), blk=blk, rep=rep)
        if form != LANES:
            return some
        whole = st.builds(Call, form=st.just(form), low=st.just(width), high=high, repeat=st.integers(1, 8), rep=rep)
        return st.one_of(some, whole)

    return st.sampled_from(forms).flatmap(one)


def ask(**fields: object) -> np.ndarray:
    """Return an ``ASK`` record; fields that are not named are zero."""
    record = np.zeros(1, ASK)
    for name, value in fields.items():
        record[name] = value
    return record


def scalar_bits(value: object, dtype: np.dtype) -> int:
    """Return the bits of one value as ``Ask.scalar`` carries them."""
    return int.from_bytes(np.array(value).astype(dtype).tobytes(), "little")


def run(
    kernel: str,
    dst: np.ndarray,
    src0: np.ndarray | None = None,
    src1: np.ndarray | None = None,
    *,
    options: TwinOptions | None = None,
    observed: bool = True,
    **fields: object,
) -> np.ndarray:
    """Return the destination buffer after one operation, as ``dst``'s dtype. Arrays hold 16 KiB each."""
    nothing = np.zeros(BUFFER_BYTES, np.uint8)
    result = launch_family(
        kernel,
        dst,
        nothing if src0 is None else src0,
        nothing if src1 is None else src1,
        ask(**fields),
        options=options,
        observed=observed,
    )
    return result.arrays["dst"].view(dst.dtype)


def launch_family(
    kernel: str, *arrays: np.ndarray, options: TwinOptions | None = None, observed: bool = True, blocks: int = 1
) -> LaunchResult:
    """Runs a test kernel in this process: arguments dst (in and out), then inputs, the record last."""
    args = [LaunchArg("dst", ArgKind.TENSOR, Role.INOUT, bytes_of(arrays[0]))]
    args += [LaunchArg(f"in{i}", ArgKind.TENSOR, Role.IN, bytes_of(array)) for i, array in enumerate(arrays[1:])]
    built = family(kernel, observed=observed)
    return launch(
        built.library,
        LaunchRequest(
            entry=built.entries[0].name, args=args, blocks=blocks, options=options or TwinOptions(), isolated=False
        ),
    )


def bytes_of(array: np.ndarray) -> np.ndarray:
    """Return the bytes of an array, as a copy."""
    return np.frombuffer(array.tobytes(), np.uint8).copy()


def buffer_of(values: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return a 16 KiB buffer that starts with ``values``; the rest is a known pattern without NaN."""
    whole = pattern(values.dtype, seed)
    flat = values.ravel()
    whole[: flat.size] = flat
    return whole


def pattern(dtype: np.dtype, seed: int = 0) -> np.ndarray:
    """Return a 16 KiB buffer of finite, distinct-looking values: an operation must keep those it does not write."""
    dtype = np.dtype(dtype)
    n = BUFFER_BYTES // dtype.itemsize
    numbers = (np.arange(n) * 37 + 11 * seed + 5) % 101 - 50
    if dtype.kind == "u":
        numbers = numbers + 50
    return numbers.astype(dtype)


def specials(dtype: np.dtype) -> np.ndarray:
    """Return values where arithmetic fails first: zeros of both signs, infinities, NaN, subnormals, extremes, ties."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = [0, 1, 2, 3, 7, 100, info.max, info.max - 1, info.max // 2, info.min, info.min + 1, info.min // 2]
        return np.array(values + ([-1, -2, -3, -7] if dtype.kind == "i" else []), dtype)
    info = ml_dtypes.finfo(dtype)
    tiny, small = float(info.tiny), float(info.smallest_subnormal)
    values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        3.0,
        -0.75,
        np.pi,
        1e-3,
        -1e3,
        tiny,
        -tiny,
        small,
        -small,
        3 * small,
    ]
    values += [float(info.max), -float(info.max), float(info.eps), 1 + float(info.eps), np.inf, -np.inf, np.nan]
    return np.array(values, np.float64).astype(dtype)


@dataclass(frozen=True)
class Data:
    """Test data: ordinary values of mixed size and sign with special ones strewn in, different for each seed."""

    seed: int
    special: bool = True
    scale: float = field(default=8.0)

    def array(self, dtype: np.dtype, n: int | None = None) -> np.ndarray:
        """Return ``n`` values, or as many as fill a buffer."""
        dtype = np.dtype(dtype)
        n = BUFFER_BYTES // dtype.itemsize if n is None else n
        rng = np.random.default_rng([self.seed, dtype.num])
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            values = (
                rng.integers(-300 if dtype.kind == "i" else 0, 301, n, np.int64).clip(info.min, info.max).astype(dtype)
            )
        else:
            values = (rng.standard_normal(n) * self.scale ** rng.uniform(-2, 2, n)).astype(np.float32).astype(dtype)
        if self.special:
            places = rng.random(n) < 0.25
            values[places] = rng.choice(specials(dtype), int(places.sum()))
        return values


def data() -> st.SearchStrategy[Data]:
    """Draw seeds of test data, half of them with special values."""
    return st.builds(Data, seed=st.integers(0, 2**32 - 1), special=st.booleans())


Operation = Callable[..., np.ndarray]


def fold(call: Call, operation: Operation, dst: np.ndarray, *sources: np.ndarray, width: int) -> np.ndarray:
    """Return ``dst`` after the call: repeat by repeat, all lanes of one at once; other elements keep their values."""
    result = dst.copy()
    places = call.indices(width, dst.dtype.itemsize, 0)
    reads = [call.indices(width, source.dtype.itemsize, i + 1) for i, source in enumerate(sources)]
    for r, at in enumerate(places):
        result[at] = operation(*(source[index[r]] for source, index in zip(sources, reads, strict=True)))
    return result


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Assert equal bits; a NaN may have any bits."""
    if actual.dtype.kind in "iu":
        np.testing.assert_array_equal(actual, expected)
        return
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(actual), nan)
    unsigned = np.dtype(f"u{actual.dtype.itemsize}")
    wrong = np.flatnonzero((actual.view(unsigned) != expected.view(unsigned)) & ~nan)
    assert wrong.size == 0, (
        f"{wrong.size} differ, first at {wrong[0]}: {actual[wrong[0]]!r}, expected {expected[wrong[0]]!r}"
    )


def ulps(actual: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Return the error in units in the last place of ``actual``'s dtype, where ``exact`` (float64) fits that dtype."""
    info = ml_dtypes.finfo(actual.dtype)
    rounded = np.abs(exact)
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.where(rounded > 0, rounded, 1.0)))
        step = np.exp2(np.maximum(exponent, np.log2(float(info.tiny)))) * float(info.eps)
        return np.abs(actual.astype(np.float64) - exact) / step


def quiet() -> np.errstate:
    """Return a context in which NumPy does not warn about NaN, infinity and overflow, which tests make on purpose."""
    return np.errstate(all="ignore")


def chunks(values: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Yield ``values`` in pieces of ``size``."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
