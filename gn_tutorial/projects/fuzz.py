"""Draws calls of an operator project, runs each beside a reference, and shrinks failures: ``fuzz(project, reference)``.

Contest judges do not publish their cases, so calls are drawn at random. The draws come in rounds, each with its own
seed, so a run can continue where an earlier run stopped. hypothesis shrinks a new kind of failure in the round that
finds it. Later rounds do not shrink this kind again: they count its failures and keep the smallest call.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis.configuration import set_hypothesis_home_dir

from gn_tutorial.abi.dtypes import DTYPES
from gn_tutorial.errors import ArgumentError, GntError
from gn_tutorial.projects.dtype_columns import dtype_name
from gn_tutorial.projects.fuzz_cases import RELATIONS, Case, CaseSpace, cases, learnt_relations, simpler
from gn_tutorial.projects.fuzz_report import FuzzFailure, FuzzReport, FuzzState
from gn_tutorial.projects.fuzz_values import VALUES
from gn_tutorial.projects.fuzz_verdict import Judge, Outcome
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.references import load_reference, tolerance

#: The default limit for the elements of an input. This many fill several tiles on each core of a chip, and the twin
#: needs only a fraction of a second for them.
MAX_ELEMENTS = 1 << 17


def fuzz(
    project: Project | str | Path,
    reference: str | Callable[..., Any],
    *,
    seconds: float = 60.0,
    seed: int = 0,
    examples: int | None = None,
    failures: int | None = None,
    max_elements: int = MAX_ELEMENTS,
    dtypes: Sequence[str] = (),
    values: Sequence[str] = VALUES,
    relations: Sequence[str] = RELATIONS,
    rtol: float | None = None,
    atol: float | None = None,
    state: FuzzState | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> FuzzReport:
    """Run drawn calls for about ``seconds`` and return the report.

    Shrinking failures may take up to half as long again. The time of compiling kernels does not count. The run
    continues past ``seconds`` until one case is compared or the reference has refused twenty.

    reference: a name as for ``load_reference``, or the function. A case for which it raises is not compared. examples,
    failures: stop after this many. max_elements: the most elements of an input. dtypes: use only columns in which an
    input has one of these; empty: all columns. values: the kinds of numbers (fuzz_values.VALUES). relations: how the
    shapes of further inputs may follow from the first input's (fuzz_cases.RELATIONS); small trial calls find those that
    the reference accepts. state: the state of an earlier run; its seed then replaces ``seed``. This run first tries the
    failures in the state, then continues from the state, and updates it. progress: called with a text for each case.
    Raises ArgumentError for an argument that does not fit or a project that cannot be fuzzed, CompileError for host
    files that do not compile.
    """
    if not isinstance(project, Project):
        project = Project(project)
    function = load_reference(reference) if isinstance(reference, str) else reference
    name = reference if isinstance(reference, str) else getattr(function, "__name__", "the reference")
    _require(seconds > 0, f"seconds cannot be {seconds}", "a positive number")
    _require(max_elements >= 1, f"max_elements cannot be {max_elements}", "at least 1")
    for what, given_names, known in (("kind of values", values, VALUES), ("relation", relations, RELATIONS)):
        for one in given_names:
            _require(one in known, f"there is no {what} '{one}'", f"one of {', '.join(known)}")
    judge = Judge(project, function, tolerance(rtol, atol))
    space, left_out = _space(judge, max_elements, tuple(dtypes), tuple(values), tuple(relations))
    run = FuzzRun(judge, state or FuzzState(seed), seconds, examples, failures, progress)
    mended = run.retry(_sources(project))
    stopped = run.rounds(space)
    run.simplify()
    return FuzzReport(
        project=project.name,
        reference=name,
        seed=run.state.seed,
        examples=run.examples,
        total=run.state.examples,
        shrinking=run.shrinking,
        seconds=run.spent(),
        compile_seconds=judge.compile_seconds,
        stopped=stopped,
        failures=tuple(run.state.failures.values()),
        mended=mended,
        counts=run.counts,
        refusals=run.refusals,
        left_out=left_out,
    )


def _space(
    judge: Judge, max_elements: int, dtypes: tuple[str, ...], values: tuple[str, ...], relations: tuple[str, ...]
) -> tuple[CaseSpace, tuple[str, ...]]:
    """Return the space of cases, and the columns with dtypes that no array can have."""
    definition = judge.project.definition
    columns = definition.columns(judge.project.soc.config).columns
    drawn = {column: tuple(dtype_name(form.dtype) for form in column.inputs) for column in columns}
    runnable = {
        column: dtypes
        for column, dtypes in drawn.items()
        if all(dtype_name(form.dtype) in DTYPES for form in (*column.inputs, *column.outputs))
    }
    _require(bool(runnable), f"no column of {definition.type} has dtypes that arrays can have", "gnt project show")
    known = {dtype for column in runnable.values() for dtype in column}
    for one in dtypes:
        _require(one in known, f"no input of {definition.type} is {one}", f"one of {', '.join(sorted(known))}")
    chosen = (column for column in runnable.values() if not dtypes or not set(dtypes).isdisjoint(column))
    found = tuple(dict.fromkeys(chosen))
    learnt = learnt_relations(definition, found[0], judge.accepted, relations)
    left_out = tuple(str(column) for column in columns if column not in runnable)
    return CaseSpace(definition, found, learnt, max_elements, values), left_out


def _sources(project: Project) -> str:
    layout = project.layout
    digest = hashlib.sha256()
    for path in sorted({*layout.hosts, *layout.kernels, *layout.headers}):
        digest.update(f"{path.name}\0{layout.texts[path]}\0".encode())
    return digest.hexdigest()[:16]


def _require(condition: bool, what: str, hint: str) -> None:
    if not condition:
        raise ArgumentError(what, hint=hint)


_ROUND = 20
#: The most cases for shrinking one failure, the most cases for simplifying it, and the extra time for both, as a
#: fraction of the time limit.
_SHRINK_CASES, _SIMPLER_CASES, _SHRINK_PART = 150, 30, 0.5
#: The run stops after this many rounds without a new case, because the operator then has no others.
_STALE_ROUNDS = 3


class _Failed(Exception):
    """Raised for a failed case, so that hypothesis shrinks it."""


class _Stop(BaseException):
    """Raised when time or examples are used up, or when a case cannot be judged (``FuzzRun._error``).

    hypothesis does not treat a BaseException as a failure.
    """


class FuzzRun:
    """One call of ``fuzz``: its rounds, its counts, its time.

    most: the number of cases after which the run stops. most_failures: the same for kinds of failures. None: no limit.
    """

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
        """Return the seconds since the start, without the time of compiling kernels."""
        return time.monotonic() - self._started - self.judge.compile_seconds

    def retry(self, sources: str) -> tuple[FuzzFailure, ...]:
        """Run the failures of an earlier run again. Return those that no longer fail, and remove them from the state.

        A call that fails in another way now is stored under that way. If ``sources`` differ from the earlier run's, the
        state's count of examples begins at 0.
        """
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
        """Draw cases until the run stops, and return the reason."""
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
            elif stale >= _STALE_ROUNDS and len(self.state.failures) == groups:
                self._stopped = "nothing new"
        return self._stopped

    def simplify(self) -> None:
        """Simplify each failure's smallest call further, because a shrunk draw may still have simpler forms."""
        for group in list(self.state.failures):
            self._target, self._left = group, _SIMPLER_CASES
            with contextlib.suppress(_Stop):
                while self._simplified(group):
                    pass
        if self._error is not None:
            raise self._error

    def _simplified(self, group: str) -> bool:
        """Return whether a simpler call fails in the same way. The first such call becomes the failure's call."""
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
        except GntError as error:  # hypothesis would treat this error as a failure and shrink the case
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
        """Whether the run may stop for time: it has compared a case, or the reference refused a whole round of cases.

        Without this rule, a run of six seconds on a busy machine ended before its first case. The project had no
        kernel, and the run did not notice it.
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
    """Keep hypothesis from writing constants of modules into a folder .hypothesis in the user's current folder."""
    with tempfile.TemporaryDirectory() as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)
