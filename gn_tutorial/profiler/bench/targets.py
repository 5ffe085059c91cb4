"""Judges whether a bench meets its targets, and by how much, and finds its worst rows. It runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gn_tutorial.profiler.bench.grid import Target
from gn_tutorial.profiler.bench.run import OK, SKIPPED, UNSUPPORTED, Bench, BenchRow, rows_that_ran

#: The length of the list of the worst rows.
WORST = 10


class TargetVerdict(NamedTuple):
    """The verdict on a target. met: None if no shape was checked. found: in words. missed: the shapes that miss it."""

    name: str
    met: bool | None
    found: str
    missed: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """``met``, ``missed``, or ``not run``."""
        return "not run" if self.met is None else "met" if self.met else "missed"


def judge(bench: Bench, targets: Sequence[Target]) -> list[TargetVerdict]:
    """Return a verdict for each target."""
    checks: dict[str, Callable[[Bench, Target], TargetVerdict]] = {
        "share of bound": _share_of_bound,
        "at most": _at_most,
        "against measured": _against_measured,
        "speed-up": _speed_up,
        "as it was": _as_it_was,
    }
    return [checks[target.check](bench, target) for target in targets]


def judged_rows(bench: Bench, kinds: Sequence[str] = (), kernel: str = "") -> list[BenchRow]:
    """Return one row for each shape: of the named kernel, or of the ladder's last kernel that takes the shape's dtype.

    If no kernel takes a shape's dtype, the shape's row is UNSUPPORTED. kinds: the kinds of shapes; empty: all.
    """
    found: dict[str, BenchRow] = {}
    for row in bench.rows:
        asked = not row.instead_of and (not kinds or row.kind in kinds) and kernel in ("", row.kernel)
        better = row.case not in found or found[row.case].status == UNSUPPORTED or row.status != UNSUPPORTED
        if asked and better:
            found[row.case] = row
    return list(found.values())


def worst(bench: Bench) -> list[BenchRow]:
    """Return the rows of the judged kernels with the largest ratio to their bound, at most WORST of them."""
    ran = list(rows_that_ran(judged_rows(bench)))
    return sorted(ran, key=lambda row: -(row.ratio or 0.0))[:WORST]


def below_bound(bench: Bench) -> list[BenchRow]:
    """Return the rows that are modelled below their bound, which shows a mistake in the bound or in the model.

    A row with a modelled time but no bound is returned too.
    """
    return [row for row in rows_that_ran(bench.rows) if (row.ratio or 0.0) < 1.0]


def _share_of_bound(bench: Bench, target: Target) -> TargetVerdict:
    rows = judged_rows(bench, target.kinds, target.kernel)
    return _each(target, rows, lambda row: 1.0 / (row.ratio or 1.0), lambda row: target.least, higher=True, unit="%")


def _at_most(bench: Bench, target: Target) -> TargetVerdict:
    rows = judged_rows(bench, target.kinds, target.kernel)
    allowed = lambda row: target.factor * (row.bound_us or 0.0) + target.plus_us  # noqa: E731
    return _each(target, rows, lambda row: row.modelled_us or 0.0, allowed, higher=False, unit="us")


def _as_it_was(bench: Bench, target: Target) -> TargetVerdict:
    if bench.machine != target.machine:
        return TargetVerdict(target.name, None, f"the times are those of {target.machine}")
    rows = [row for row in judged_rows(bench, target.kinds, target.kernel) if row.was_us is not None]
    allowed = lambda row: target.factor * (row.was_us or 0.0)  # noqa: E731
    return _each(target, rows, lambda row: row.modelled_us or 0.0, allowed, higher=False, unit="us")


def _each(
    target: Target,
    rows: Sequence[BenchRow],
    value: Callable[[BenchRow], float],
    limit: Callable[[BenchRow], float],
    *,
    higher: bool,
    unit: str,
) -> TargetVerdict:
    """Return the verdict on a target that every shape has to meet. higher: whether a larger value is better."""
    rows = [row for row in rows if row.status != SKIPPED]
    ran = list(rows_that_ran(rows))
    broken = [row for row in rows if row.modelled_us is None]
    if not ran and not broken:
        return TargetVerdict(target.name, None, "no shape of it was run")
    # For each shape, a factor: how far it is from the limit. A factor of 1 or more meets the target.
    room = {row.case: (value(row) / limit(row) if higher else limit(row) / value(row)) for row in ran}
    missed = [row.case for row in ran if room[row.case] < 1.0 or row.status != OK] + [row.case for row in broken]
    words = f"{len(rows) - len(missed)} of {len(rows)}"
    if ran:
        last = min(ran, key=lambda row: room[row.case])
        needs = "at least" if higher else "at most"
        words += (
            f"; farthest: {_show(value(last), unit)} where it is {needs} {_show(limit(last), unit)}, at {last.case}"
        )
    if broken:
        words += f"; without a time: {', '.join(row.case for row in broken)}"
    return TargetVerdict(target.name, not missed, words, tuple(missed))


def _show(value: float, unit: str) -> str:
    return f"{value:.0%}" if unit == "%" else f"{value:.2f} us"


def _against_measured(bench: Bench, target: Target) -> TargetVerdict:
    rows = [row for row in judged_rows(bench, target.kinds, target.kernel) if row.measured_us is not None]
    good, said = [], []
    for row in rows:
        if row.modelled_us is None or row.measured_us is None:
            said.append(f"{row.case} {row.status}")
            continue
        share = row.modelled_us * (target.times if row.modelled_us < target.below_us else 1.0) / row.measured_us
        said.append(f"{row.case} {share:.2f}")
        if share <= target.factor and row.status == OK:
            good.append(row.case)
    if not rows:
        return TargetVerdict(target.name, None, "no shape of it was run")
    missed = tuple(row.case for row in rows if row.case not in good)
    return TargetVerdict(
        target.name, len(good) >= target.of_shapes, f"{len(good)} of {len(rows)}: {'; '.join(said)}", missed
    )


def _speed_up(bench: Bench, target: Target) -> TargetVerdict:
    slow = {
        row.case: row for row in rows_that_ran(bench.of(target.over)) if not target.kinds or row.kind in target.kinds
    }
    asked = (row for row in rows_that_ran(bench.of(target.kernel)) if target.bound in ("", row.bound_kind))
    pairs = [(row, slow[row.case]) for row in asked if row.case in slow]
    if not pairs:
        return TargetVerdict(target.name, None, "no shape was run by both")
    gains = {row.case: (other.modelled_us or 0.0) / (row.modelled_us or 1.0) for row, other in pairs}
    missed = tuple(case for case, gain in gains.items() if gain < target.least)
    least, most = min(gains, key=gains.__getitem__), max(gains, key=gains.__getitem__)
    words = (
        f"{len(gains) - len(missed)} of {len(gains)}; {gains[least]:.1f} x at {least} to {gains[most]:.1f} x at {most}"
    )
    return TargetVerdict(target.name, not missed, words, missed)
