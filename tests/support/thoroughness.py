"""How much a run of the tests repeats: a part of it by default, all of it with ``./gnt test --all``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

#: Set by conftest.py from --all, before the tests are imported.
ALL = bool(os.environ.get("GNT_TEST_ALL"))


def examples(most: int) -> int:
    """How many random examples hypothesis tries: ``most`` with --all, a fifth of them and at least 20 otherwise."""
    return most if ALL else min(most, max(20, most // 5))


def some(items: Sequence[Item], number: int) -> Sequence[Item]:
    """All of them with --all, otherwise ``number`` that are spread evenly, the first and the last among them."""
    if ALL or len(items) <= number:
        return items
    return [items[round(i * (len(items) - 1) / (number - 1))] for i in range(number)]
