"""The rounds of one run of fuzz: draw, judge, shrink what fails, go on where an earlier run stopped."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis.configuration import set_hypothesis_home_dir

from gn_tutorial.errors import GntError
from gn_tutorial.projects.fuzz_cases import Case, CaseSpace, cases, simpler
from gn_tutorial.projects.fuzz_report import FuzzFailure, FuzzState
from gn_tutorial.projects.fuzz_verdict import Judge, Outcome

_ROUND = 20
#: Cases that shrinking one failure may run, and the part of the time that all of it may have on top.
_SHRINK_CASES, _SIMPLER_CASES, _SHRINK_PART = 150, 30, 0.5
#: Rounds without a case that was not tried before: the operator has no others.
_STALE_ROUNDS = 3


class _Failed(Exception):
    """What hypothesis shrinks."""


class _Stop(BaseException):
    """Out of time or examples. No Exception, because hypothesis would take that for a failure."""


class FuzzRun:
    """The rounds of one call of fuzz. most, most_failures: stop after so many cases, kinds of failures."""

    def __init__(
        self,
        judge: Judge,
        state: FuzzState,
        seconds: float,
        most: int | None,
        most_failures: int | None,
        progress: Callable[[str], None],
    ) -> None:
        self.judge, self.state, self.seconds, self.progress = judge, state, seconds, progress
        self.most, self.most_failures = most, most_failures
        self.examples = self.shrinking = 0
        self.counts: dict[str, dict[str, tuple[int, int]]] = {}
        self.refusals: dict[str, tuple[int, Case]] = {}
        self._started = time.monotonic()
        self._known: dict[Case, Outcome] = {}
        self._target = ""
        self._left = 0
        self._stopped = ""
        self._error: GntError | None = None

    def spent(self) -> float:
        """Seconds, without those of compiling kernels."""
        return time.monotonic() - self._started - self.judge.compile_seconds

    def retry(self, sources: str) -> tuple[FuzzFailure, ...]:
        """Run the failures of an earlier run again; those that are right now are forgotten, and returned."""
        mended = []
        for group, one in list(self.state.failures.items()):
            self.progress(f"again: {one.case}")
            outcome = self._known[one.case] = self.judge(one.case)
            if outcome.group != group:
                del self.state.failures[group]
                mended += [] if outcome.failed else [one]
            if outcome.failed:
                self._note(outcome, one.case)
        if self.state.sources != sources:
            self.state.sources, self.state.examples = sources, 0
        return tuple(mended)

    def rounds(self, space: CaseSpace) -> str:
        """Draw until something ends it; the reason."""
        with _no_folder_of_hypothesis():
            return self._rounds(space)

    def _rounds(self, space: CaseSpace) -> str:
        stale = 0
        while not self._stopped:
            before, groups = self.examples, len(self.state.failures)
            self._round(space)
            stale = stale + 1 if self.examples == before else 0
            if self.most_failures is not None and len(self.state.failures) >= self.most_failures:
                self._stopped = "failures"
            elif stale == _STALE_ROUNDS and len(self.state.failures) == groups:
                self._stopped = "nothing new"
        return self._stopped

    def simplify(self) -> None:
        """Take from each smallest call what hypothesis left, because it shrinks draws and not calls."""
        for group in list(self.state.failures):
            self._target, self._left = group, _SIMPLER_CASES
            with contextlib.suppress(_Stop):
                while self._simplified(group):
                    pass
        if self._error is not None:
            raise self._error

    def _simplified(self, group: str) -> bool:
        """Whether a simpler call fails in the same way, which is then the one that is kept."""
        now = self.state.failures[group].case
        for case in simpler(now):
            if case.weight() >= now.weight():
                continue
            if case not in self._known:
                self._require_time()
                self._known[case] = self._judged(case)
            if self._known[case].group == group:
                self._note(self._known[case], case)
                return True
        return False

    def _round(self, space: CaseSpace) -> None:
        self._target, self._left = "", _SHRINK_CASES
        number = int.from_bytes(hashlib.sha256(f"{self.state.seed} {self.state.rounds}".encode()).digest()[:8], "big")

        @seeded(number)
        @settings(
            max_examples=_ROUND,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @given(cases(space))
        def examine(case: Case) -> None:
            self._examine(case)

        with contextlib.suppress(_Failed, _Stop):
            examine()
        if self._error is not None:
            raise self._error
        if not self._stopped:
            self.state.rounds += 1

    def _examine(self, case: Case) -> None:
        outcome = self._known.get(case)
        if outcome is None:
            self._require_time()
            self.progress(f"{self.examples} cases, {len(self.state.failures)} failures: {case}")
            outcome = self._known[case] = self._judged(case)
            if not self._target:
                self._count(case, outcome)
        if not outcome.failed:
            return
        new = outcome.group not in self.state.failures
        self._note(outcome, case)
        if (new and not self._target) or outcome.group == self._target:
            self._target = outcome.group
            raise _Failed

    def _judged(self, case: Case) -> Outcome:
        try:
            return self.judge(case)
        except GntError as error:  # hypothesis would shrink it
            self._error = error
            raise _Stop from None

    def _require_time(self) -> None:
        if self._target:
            self._left -= 1
            self.shrinking += 1
            if self._left < 0 or self.spent() > self.seconds * (1 + _SHRINK_PART):
                raise _Stop
            return
        if self.spent() > self.seconds and self._begun():
            self._stopped = "time"
        elif self.most is not None and self.examples >= self.most:
            self._stopped = "examples"
        if self._stopped:
            raise _Stop

    def _begun(self) -> bool:
        """Whether the time may end it: a case was compared, or the reference refused a whole round of them.

        On a busy machine six seconds were over before the first case, and a project without a kernel was not refused.
        """
        return self.examples > sum(number for number, _ in self.refusals.values()) or self.examples >= _ROUND

    def _count(self, case: Case, outcome: Outcome) -> None:
        self.examples += 1
        self.state.examples += 1
        if outcome.status.startswith("refused"):
            number, first = self.refusals.get(outcome.status, (0, case))
            self.refusals[outcome.status] = (number + 1, min(first, case, key=Case.weight))
            return
        for name, value in case.classes().items():
            tried, failed = self.counts.setdefault(name, {}).get(value, (0, 0))
            self.counts[name][value] = (tried + 1, failed + outcome.failed)

    def _note(self, outcome: Outcome, case: Case) -> None:
        found = FuzzFailure(outcome.kind, outcome.group, outcome.what, case)
        old = self.state.failures.get(outcome.group)
        if old is not None:
            found = replace(min(old, found, key=lambda one: one.case.weight()), times=old.times + 1)
        self.state.failures[outcome.group] = found


@contextlib.contextmanager
def _no_folder_of_hypothesis() -> Iterator[None]:
    """Hypothesis notes constants of modules that it meets, in a folder .hypothesis where the user happens to be."""
    with tempfile.TemporaryDirectory() as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)
