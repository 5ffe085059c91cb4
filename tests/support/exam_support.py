"""What the tests of theory papers share: a clock that is set by hand, and when their papers begin."""

from __future__ import annotations

BEGIN = 1_800_000_000.0


class Clock:
    """Seconds since 1970, as the test sets them."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> float:
        return self.now
