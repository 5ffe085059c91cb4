"""How many repetitions a test makes: a part of them by default, all with ``./gnt test --all``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

#: Set by conftest.py from --all, before the tests are imported.
ALL = bool(os.environ.get("GNT_TEST_ALL"))


def examples(most: int) -> int:
    """Return how many examples hypothesis tries: ``most`` with --all, else a tenth of them and at least 10."""
    return most if ALL else min(most, max(10, most // 10))


def some(items: Sequence[Item], number: int) -> Sequence[Item]:
    """Return all items with --all, else ``number`` of them, spread evenly, with the first and the last."""
    if ALL or len(items) <= number:
        return items
    return [items[round(i * (len(items) - 1) / (number - 1))] for i in range(number)]
