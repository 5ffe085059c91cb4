"""The table of dtypes, beside what NumPy and a C++ compiler say."""

import subprocess
from collections import Counter
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from gn_tutorial.abi.dtypes import ARRAY_DTYPES, DTYPES, NARROW_DTYPES, Dtype
from gn_tutorial.compiler.toolchain import find_compiler

ROOT = Path(__file__).resolve().parents[2]


def numpy_dtype(one: Dtype) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, one.name, one.name))


@pytest.mark.parametrize("one", DTYPES.values(), ids=lambda one: one.name)
def test_a_row_agrees_with_numpy(one: Dtype) -> None:
    assert numpy_dtype(one).itemsize == one.bytes
    assert one.floating == (one.name == "bfloat16" or numpy_dtype(one).kind == "f")


@pytest.mark.parametrize("one", [one for one in DTYPES.values() if one.floating], ids=lambda one: one.name)
def test_poison_is_a_nan_that_can_be_told_from_a_computed_one(one: Dtype) -> None:
    bits = np.array([one.poison], f"u{one.bytes}")
    assert np.isnan(bits.view(numpy_dtype(one)).astype(np.float64)).all()
    assert bits.tolist() != np.array([np.nan], numpy_dtype(one)).view(bits.dtype).tolist()
    assert one.poison & 0xFF in (0xA5, 0xE5)


def test_no_number_label_or_spelling_stands_for_two_dtypes() -> None:
    listed = [DTYPES[name] for name in ARRAY_DTYPES]
    told = [one.number for one in listed] + [one.label for one in listed]
    told += [ctype for one in DTYPES.values() for ctype in one.ctypes]
    assert [name for name, count in Counter(told).items() if count > 1] == []
    assert all(listed_one.label.startswith("DT_") for listed_one in listed)


def test_views_of_the_table() -> None:
    assert NARROW_DTYPES == ("float16", "bfloat16")
    assert "float64" not in ARRAY_DTYPES
    assert set(ARRAY_DTYPES) == set(DTYPES) - {"float64"}


def test_a_compiler_agrees_on_the_sizes(tmp_path: Path) -> None:
    checks = [f'static_assert(sizeof({c}) == {one.bytes}, "{c}");' for one in DTYPES.values() for c in one.ctypes]
    source = tmp_path / "sizes.cpp"
    # The names that only Ascend C has are those of the twin.
    source.write_text('#include "kernel_operator.h"\n' + "\n".join(checks) + "\n")
    include = ROOT / "gn_tutorial" / "twin" / "include"
    subprocess.run(
        [*find_compiler().argv, "-std=c++20", "-fsyntax-only", "-w", "-I", str(include), str(source)], check=True
    )
