"""The times of a paper or of an attempt at a task. The time limit runs on while the program is closed."""

from __future__ import annotations


class Timed:
    """The times of a paper or of an attempt, in seconds since 1970. minutes: the limit; None if there is none.

    seen: the latest time that was read from the computer's clock. It is stored, so that a clock that is set back gives
    no more time.
    """

    minutes: float | None
    started: float
    seen: float
    finished: float | None

    @property
    def deadline(self) -> float | None:
        """The moment when the time is over, in seconds since 1970; None without a limit."""
        return None if self.minutes is None else self.started + self.minutes * 60

    def left(self, now: float) -> float | None:
        """Return the seconds that are left at ``now``, 0 at least; None without a limit."""
        return None if self.deadline is None else max(0.0, self.deadline - max(now, self.seen))

    def spent(self, now: float) -> float:
        """Return the seconds from the start to ``now`` or, for a finished paper or attempt, to ``finished``."""
        end = max(now, self.seen) if self.finished is None else self.finished
        return max(0.0, end - self.started)
