"""Draw calls of an operator project, run each beside a reference, and shrink what fails: ``fuzz(project, reference)``.

Judges hide their cases. Draws come in rounds of their own seeds, so that a later run goes on where this one stopped; a
round that finds a new kind of failure lets hypothesis shrink it, and later rounds only count it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gn_tutorial.abi.dtypes import DTYPES
from gn_tutorial.errors import ArgumentError
from gn_tutorial.projects.dtype_columns import dtype_name
from gn_tutorial.projects.fuzz_cases import RELATIONS, CaseSpace, learnt_relations
from gn_tutorial.projects.fuzz_report import FuzzReport, FuzzState
from gn_tutorial.projects.fuzz_run import FuzzRun
from gn_tutorial.projects.fuzz_values import VALUES
from gn_tutorial.projects.fuzz_verdict import Judge
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.references import load_reference, tolerance

#: Several tiles on each core of a chip, and a fraction of a second on the twin.
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
    """Run drawn calls for about ``seconds``, kernels' compiling not counted, and half of it more to shrink failures.

    One case is compared, or twenty are refused by the reference, however short the time is.

    reference: as of ``load_reference``, or the function; what it raises for is no case. examples, failures: stop after
    so many. max_elements: of an input. dtypes: only columns in which an input has one of these; without any, all.
    values: which kinds of numbers (fuzz_values.VALUES). relations: how shapes of further inputs may follow from the
    first one's (fuzz_cases.RELATIONS); of these the reference's own are learnt.
    state: of an earlier run, which is gone on with and changed; its failures are tried first. progress: told of each
    case. Raises ArgumentError for what cannot be fuzzed, CompileError for host files that do not compile.
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
    """What is drawn from, and the columns that no array can have."""
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
