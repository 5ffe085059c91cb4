"""What a paper and an attempt at a task have in common: a time that goes on while nobody looks."""

from __future__ import annotations


class Timed:
    """Times are seconds since 1970. ``minutes``: the limit, None without one; ``seen``: the latest moment it knows.

    What counts is the clock on the wall, as in an exam; one that is put back gives nothing back.
    """

    minutes: float | None
    started: float
    seen: float
    finished: float | None

    @property
    def deadline(self) -> float | None:
        """When the time is over; None without a limit."""
        return None if self.minutes is None else self.started + self.minutes * 60

    def left(self, now: float) -> float | None:
        """Seconds that are left at ``now``, 0 at least; None without a limit."""
        return None if self.deadline is None else max(0.0, self.deadline - max(now, self.seen))

    def spent(self, now: float) -> float:
        """Seconds from the begin to ``now``, or to the end."""
        end = max(now, self.seen) if self.finished is None else self.finished
        return max(0.0, end - self.started)
