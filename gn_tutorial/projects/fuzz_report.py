"""Stores and shows the failures that fuzzing found, and the state from which a later run continues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gn_tutorial.errors import ArgumentError
from gn_tutorial.projects.fuzz_cases import ArrayPlan, Case
from gn_tutorial.projects.fuzz_verdict import KINDS
from gn_tutorial.tables import html_table, text_table

VERSION = 1
HEADERS = ("what failed", "smallest call", "what it said")


@dataclass(frozen=True)
class FuzzFailure:
    """A failure and its smallest call. times: how many calls failed in this way.

    group: the kind, with a detail that separates this failure from others of its kind, such as a finding's id.
    """

    kind: str
    group: str
    what: str
    case: Case
    times: int = 1


@dataclass
class FuzzState:
    """The state in which fuzzing stopped. rounds: how many rounds were drawn with this seed.

    examples: cases with these sources, over all runs. sources: a digest of the project's files at that time. failures:
    group -> failure.
    """

    seed: int = 0
    rounds: int = 0
    examples: int = 0
    sources: str = ""
    failures: dict[str, FuzzFailure] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the state as a JSON document."""
        failures = [
            {"kind": one.kind, "group": one.group, "what": one.what, "times": one.times, "case": case_to_json(one.case)}
            for one in self.failures.values()
        ]
        return {
            "version": VERSION,
            "seed": self.seed,
            "rounds": self.rounds,
            "examples": self.examples,
            "sources": self.sources,
            "failures": failures,
        }

    @staticmethod
    def from_json(document: Any) -> FuzzState:
        """Return the state that ``to_json`` wrote. Raises ArgumentError for another document."""
        try:
            if document["version"] != VERSION:
                raise ValueError(f"version {document['version']}")
            failures = [
                FuzzFailure(one["kind"], one["group"], one["what"], case_of_json(one["case"]), int(one["times"]))
                for one in document["failures"]
            ]
            numbers = [int(document[name]) for name in ("seed", "rounds", "examples")]
            return FuzzState(*numbers, str(document["sources"]), {one.group: one for one in failures})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ArgumentError(
                f"the state of an earlier run cannot be read: {error}", hint="--restart begins anew"
            ) from None


@dataclass(frozen=True, repr=False)
class FuzzReport:
    """The result of one run of ``fuzz``.

    examples: cases of this run, without those for shrinking. total: the same over all runs with the project's present
    files. shrinking: cases for shrinking. stopped: why the run ended: time, examples, failures, nothing new. mended:
    failures of an earlier run whose call no longer fails. counts: class of cases -> value -> (tried, failed). refusals:
    status -> (number, simplest case). left_out: columns with dtypes that no array can have.
    """

    project: str
    reference: str
    seed: int
    examples: int
    total: int
    shrinking: int
    seconds: float
    compile_seconds: float
    stopped: str
    failures: tuple[FuzzFailure, ...]
    mended: tuple[FuzzFailure, ...] = ()
    counts: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    refusals: Mapping[str, tuple[int, Case]] = field(default_factory=dict)
    left_out: Sequence[str] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing failed, and at least one case was compared."""
        return not self.failures and self.compared > 0

    @property
    def compared(self) -> int:
        """The number of this run's cases that the reference accepted."""
        return self.examples - sum(number for number, _ in self.refusals.values())

    def summary(self) -> list[tuple[str, str]]:
        """Return how much was tried, as rows of a table."""
        rows = [
            ("cases", f"{self.examples} ({self.total} with earlier runs), {self.shrinking} more to shrink failures"),
            (
                "time",
                f"{self.seconds:.0f} s, and {self.compile_seconds:.0f} s of compiling; stopped by: {self.stopped}",
            ),
        ]
        for name, values in self.counts.items():
            listed = (
                f"{value} {tried}" + (f" ({failed} failed)" if failed else "")
                for value, (tried, failed) in sorted(values.items())
            )
            rows.append((name, ", ".join(listed)))
        for status, (number, case) in self.refusals.items():
            rows.append((status, f"{number}, such as {case}"))
        rows += [("mended", f"{one.group}: {one.case}") for one in self.mended]
        rows += [("left out", one) for one in self.left_out]
        return rows

    def hint(self) -> str:
        """Return a suggestion for the next run; empty if there is none."""
        shapes = [{one.shapes for one in found.case.inputs if one is not None} for found in self.failures]
        if shapes and all(len(one) > 1 for one in shapes):
            return (
                "All failing calls have inputs of several shapes; if the operator takes equal ones only: --shapes same"
            )
        return ""

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the failures as rows below HEADERS."""
        return [
            (one.group, str(one.case), one.what)
            for one in sorted(self.failures, key=lambda one: (KINDS.index(one.kind), one.group))
        ]

    def verdict(self) -> str:
        """Return the result in one sentence."""
        if self.failures:
            many = len(self.failures)
            return f"{self.project} fails in {many} way{'s' if many > 1 else ''}"
        if not self.examples:
            what = (
                "--examples allows none"
                if self.stopped == "examples"
                else "there are no others than those tried before"
            )
            return f"{self.project}: no new case was tried, because {what}"
        if not self.compared:
            return f"{self.project}: nothing was compared, because {self.reference} refused all {self.examples} cases"
        return f"{self.project} agrees with {self.reference} on {self.compared} case{'s' if self.compared > 1 else ''}"

    def __repr__(self) -> str:
        failures = f"\n{text_table(HEADERS, self.rows(), indent='  ')}" if self.failures else ""
        return f"{self.verdict()}\n{text_table((), self.summary(), indent='  ')}{failures}"

    def _repr_html_(self) -> str:
        failures = html_table(HEADERS, self.rows()) if self.failures else ""
        return html_table((), self.summary(), caption=self.verdict()) + failures


def case_to_json(case: Case) -> dict[str, Any]:
    """Return a case as a JSON document."""
    inputs = [None if one is None else [one.dtype, list(one.shape), one.values, one.more] for one in case.inputs]
    attributes = [list(one) for one in case.attributes]
    return {"inputs": inputs, "attributes": attributes, "seed": case.seed, "left_out": list(case.left_out)}


def case_of_json(document: Any) -> Case:
    """Return the case that ``case_to_json`` wrote."""
    inputs = [None if one is None else _plan_of_json(*one) for one in document["inputs"]]
    attributes = tuple((str(name), _tuples(value)) for name, value in document["attributes"])
    left_out = tuple(map(str, document.get("left_out", ())))
    return Case(tuple(inputs), attributes, int(document["seed"]), left_out)


def _plan_of_json(dtype: Any, shape: Any, values: Any, more: Any = None) -> ArrayPlan:
    rest = None if more is None else tuple(tuple(map(int, one)) for one in more)
    return ArrayPlan(str(dtype), tuple(map(int, shape)), str(values), rest)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value
