"""Expressions of a registry file: whole numbers in, whole numbers out, and nothing else of Python."""

from __future__ import annotations

import pytest

from gn_tutorial.errors import ArgumentError
from gn_tutorial.profiler.bench.autotune import evaluate


@pytest.mark.parametrize(
    ("text", "value"),
    [("7", 7), ("a * (b - 1)", 12), ("a // 4 % 2", 1), ("min(a, b, 3)", 3), ("max(a, b)", 6), ("min(a)", 6)],
)
def test_values(text: str, value: int) -> None:
    assert evaluate(text, {"a": 6, "b": 3}) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("c + 1", "there is no name 'c'"),
        ("a // 0", "zero"),
        ("a / b", "not allowed"),
        ("1.5", "not allowed"),
        ("True", "not allowed"),
        ("a ** 9", "not allowed"),
        ("a.real", "not allowed"),
        ("__import__('os')", "not allowed"),
        ("a +", "cannot be computed"),
    ],
)
def test_what_is_refused(text: str, why: str) -> None:
    with pytest.raises(ArgumentError, match=why):
        evaluate(text, {"a": 6, "b": 3})
