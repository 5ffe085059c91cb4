"""The marks of an attempt at a task: points by part, and a reason for each lost point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gn_tutorial.course.exam.task import PARTS, SPEED, Task


@dataclass(frozen=True)
class Loss:
    """Points that were lost for one reason. points: by part. read: where the reason is explained.

    cases: how many hidden calls lost points for it, 0 if none was judged. case: the first of these calls.
    """

    what: str
    points: Mapping[str, float]
    where: str = ""
    case: str = ""
    cases: int = 0
    read: str = ""

    @property
    def total(self) -> float:
        """The points lost for this reason, over all parts."""
        return sum(self.points.values())

    def lines(self) -> list[str]:
        """Return the lines on this loss in a report."""
        parts = ", ".join(f"{part} -{_number(lost)}" for part, lost in self.points.items())
        found = [f"-{_number(self.total)}  {self.what}"]
        found += [f"      where: {self.where}"] if self.where else []
        found += [f"      case:  {self.case}" + (f" (and {self.cases - 1} more)" if self.cases > 1 else "")] * bool(
            self.case
        )
        return [*found, f"      part:  {parts}", f"      read:  {self.read}"]


@dataclass(frozen=True)
class Marks:
    """The judge's verdict. of: the full points by part. cases: how many hidden calls there were.

    share: the share of the bound that the timed call reached; None if no call was timed. spaces: whether the kernel's
    address spaces were checked, which needs clang, in words; "" if no kernel was built.
    """

    task: str
    of: Mapping[str, int]
    losses: tuple[Loss, ...]
    cases: int
    share: float | None = None
    spaces: str = ""

    @property
    def earned(self) -> dict[str, float]:
        """The earned points by part."""
        lost = {part: sum(loss.points.get(part, 0.0) for loss in self.losses) for part in PARTS}
        return {part: round(max(0.0, self.of[part] - lost[part]), 1) for part in PARTS}

    @property
    def points(self) -> float:
        """The earned points, of 100."""
        return round(sum(self.earned.values()), 1)

    @property
    def accepted(self) -> bool:
        """Whether the attempt is accepted: it lost no points, or only points for speed."""
        return all(set(loss.points) <= {SPEED} for loss in self.losses)

    def record(self) -> dict[str, Any]:
        """Return the verdict as plain data, for the file of attempts."""
        return {
            "points": self.points,
            "accepted": self.accepted,
            "cases": self.cases,
            "share": self.share,
            "spaces": self.spaces,
            "parts": {part: [self.earned[part], self.of[part]] for part in PARTS},
            "losses": [
                {
                    "what": one.what, "points": dict(one.points), "where": one.where, "case": one.case,
                    "cases": one.cases, "read": one.read,
                }
                for one in self.losses
            ],
        }  # fmt: skip


@dataclass
class Ledger:
    """Collects the losses of hidden calls. A call has an equal share of each part's points and loses it only once."""

    task: Task
    cases: int
    _lost: dict[tuple[str, int], str] = field(default_factory=dict)
    _reasons: dict[str, tuple[str, str, str, str]] = field(default_factory=dict)

    def lose(
        self, group: str, parts: tuple[str, ...], number: int, what: str, *, where: str = "", case: str, read: str
    ) -> None:
        """Take the share of call ``number`` from these parts. A group's losses form one row, with the first reason."""
        for part in parts:
            if (part, number) not in self._lost:
                self._reasons.setdefault(group, (what, where, case, read))
                self._lost[part, number] = group

    def losses(self) -> list[Loss]:
        """Return the rows in the order of PARTS, causes before effects; within a part the costliest first."""
        found = []
        for group, (what, where, case, read) in self._reasons.items():
            mine = [key for key, one in self._lost.items() if one == group]
            parts = [part for part in PARTS if any(key[0] == part for key in mine)]
            points = {part: self.task.points[part] * sum(key[0] == part for key in mine) / self.cases for part in parts}
            found.append(Loss(what, points, where, case, len({key[1] for key in mine}), read))
        return sorted(found, key=lambda one: (PARTS.index(next(iter(one.points))), -one.total))


def all_lost(task: Task, what: str, where: str = "", read: str = "") -> Marks:
    """Return marks with all points lost, for an attempt that cannot be judged."""
    loss = Loss(what, dict(task.points), where, read=read or "docs/exam.md, section 'Points'")
    return Marks(task.name, task.points, (loss,), 0)


def _number(points: float) -> str:
    return f"{points:.1f}".removesuffix(".0")
