"""Checks a learner's Python: its text must use no forbidden name, and its functions must return the right values.

The functions run in a separate process. Most exercises are NumPy derivations. An exercise may name further libraries,
and may inspect an attempt with probes (``PythonCase.probe``).
"""

from __future__ import annotations

import ast
import importlib.util
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.compare.comparison import compare
from gn_tutorial.compare.elements import mismatch
from gn_tutorial.compare.patterns import Reader, recognised
from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.course.exercises.attempt_child import FINISHED
from gn_tutorial.course.exercises.attempt_process import JobReport, Runner, by_itself, run_job
from gn_tutorial.course.exercises.verdict import Verdict

ALLOWED_IMPORTS = frozenset("__future__ collections dataclasses functools itertools math numpy operator typing".split())
_HIDDEN_WAYS = frozenset("eval exec compile __import__ globals open getattr vars breakpoint input".split())
_MEMORY_BYTES = 4 << 30
_FILE_BYTES = 64 << 20
_DAMAGED = "the functions' results cannot be read: the attempt changed files of the checker, or functions of NumPy"


@dataclass(frozen=True)
class Chunks:
    """An argument that is passed as an iterator, which yields each of these arrays once."""

    arrays: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class FunctionText:
    """An argument that is a function. text: its definition, which may import NumPy. name: its name in that text."""

    text: str
    name: str


@dataclass(frozen=True)
class PythonCase:
    """One call. arguments: arrays, numbers, Chunks or FunctionText, by name. expected: the returned arrays by name, in
    the order in which the function returns them.

    room: bytes that the call may hold at once besides its arguments; None: no limit. probe: a function of the check,
    called in place of the attempt's. It gets the attempt's names and the arguments, which are numbers and texts. It
    returns a sentence about what is wrong, or a pair of the sentence and the line at fault, or nothing. section: the
    notebook's section that explains this case, if it is not the exercise's section.
    """

    label: str
    function: str
    arguments: Mapping[str, Any]
    expected: Mapping[str, np.ndarray]
    room: int | None = None
    probe: FunctionText | None = None
    section: str = ""


#: Returns a sentence if the arrays that a call returned show a certain mistake, else None.
Symptom = Callable[[PythonCase, Mapping[str, np.ndarray]], str | None]

#: Returns a sentence about an exception, or None. Gets the case, the exception as a text, "ValueError: ...", and the
#: name of the attempt's function that raised it, or an empty name.
Raised = Callable[[PythonCase, str, str], str | None]


@dataclass(frozen=True)
class PythonChecker:
    """Checks Python functions, as KernelChecker checks kernels.

    forbidden: names that an attempt must not use -> what to do instead. shapes: the symptom for arrays of a wrong
    shape. raised: explains an exception of a call. libraries: packages that the attempt may import besides
    ALLOWED_IMPORTS; if one is missing, nothing is checked, and the finding says how to install it. seconds: the time
    limit for all cases of an attempt together. before: called before the attempt runs, for preparations that must not
    count against its seconds. run: starts the attempt's process.
    """

    cases: Callable[[np.random.Generator], Sequence[PythonCase]]
    rtol: float
    atol: float
    forbidden: Mapping[str, str] = field(default_factory=dict)
    symptoms: tuple[Symptom, ...] = ()
    shapes: Symptom | None = None
    raised: Raised | None = None
    seconds: float = 5.0
    libraries: tuple[str, ...] = ()
    before: Callable[[], None] | None = None
    run: Runner = by_itself

    def check(self, path: Path, seed: int) -> Verdict | int:
        """Return the first thing that is wrong, or the number of cases if all is right."""
        if missing := self.missing():
            return Verdict(
                f"this exercise needs {missing}, which is not installed: ./gnt torch installs it", "", path.name
            )
        problem = self._read(path)
        if problem is not None:
            return problem
        if self.before:
            self.before()
        cases = _named(self.cases(np.random.default_rng(seed)))
        # An attempt may have ended the process that it was forked from. The attempt can then still write for a moment.
        with tempfile.TemporaryDirectory(prefix="gnt-attempt-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            report = run_job(self.run, self.seconds, folder, _job(folder, path, cases, self.libraries))
            if report.facts is None:
                return Verdict(_DAMAGED, where=path.name)
            for number, case in enumerate(cases):
                if number >= len(report.facts):
                    return replace(self._unfinished(path, case, report), section=case.section)
                problem = self._judge(path, case, report.facts[number], folder / f"out{number}.npz")
                if problem is not None:
                    return replace(problem, section=case.section)
        return len(cases)

    def missing(self) -> str:
        """Return the first of the libraries that is not installed; empty if all are."""
        return next((name for name in self.libraries if importlib.util.find_spec(name) is None), "")

    def _read(self, path: Path) -> Verdict | None:
        try:
            tree = ast.parse(path.read_bytes())
        except SyntaxError as error:
            return Verdict(f"Python cannot read the file: {error.msg}", where=f"{path.name}:{error.lineno}")
        except ValueError as error:
            return Verdict(f"Python cannot read the file: {error}", where=path.name)
        except (RecursionError, MemoryError):  # for example a sum of 60000 terms
            return Verdict("Python cannot read the file: an expression is too long or nested too deeply", "", path.name)
        for line, name, module in _names(tree):
            where = f"{path.name}:{line}"
            if module and name in FINISHED and name not in self.libraries:
                return Verdict(f"{name} has the finished function; the exercise is to write it with NumPy", where=where)
            if module and name not in ALLOWED_IMPORTS and name not in self.libraries:
                needs = " and ".join(self.libraries) or "NumPy"
                return Verdict(f"the exercise needs {needs} only, and this imports {name}", where=where)
            if name in self.forbidden:
                return Verdict(f"{name} is what this exercise asks you to write; {self.forbidden[name]}", where=where)
            if not module and name in _HIDDEN_WAYS:
                return Verdict(f"{name}(...) is not needed here, and the checker does not follow it", where=where)
        return None

    def _unfinished(self, path: Path, case: PythonCase, report: JobReport) -> Verdict:
        return Verdict(f"{case.function} {report.ended}", case.label, path.name, report.printed)

    def _judge(self, path: Path, case: PythonCase, fact: Mapping[str, Any], outputs: Path) -> Verdict | None:
        name = case.function
        if case.probe:  # a probe calls several functions
            name = _function_at(path, fact.get("line", 0)) or name
        match fact:
            case {"said": said, "line": line}:
                return Verdict(said, case.label, f"{path.name}:{line}" if line else "") if said else None
            case {"missing": _}:
                return Verdict(f"there is no function {name}; keep its name", where=path.name)
            case {"edited": argument}:
                return Verdict(
                    f"{name} changed its argument {argument}; work on a copy: the caller still needs it", case.label
                )
            case {"returned": kind}:
                advice = (
                    "a function that only prints, or has no return, gives None" if kind == "None" else "return arrays"
                )
                return Verdict(f"{name} returned {kind}, not {', '.join(case.expected)}: {advice}", case.label)
            case {"error": "NotImplementedError"}:
                return Verdict(f"{name} is not written yet", where=f"{path.name}:{fact['line']}")
            case {"error": kind}:
                where = f"{path.name}:{fact['line']}" if fact["line"] else path.name
                said = f"{kind}: {fact['text'].rstrip(' .')}"
                known = self.raised(case, said, _function_at(path, fact["line"])) if self.raised else None
                return Verdict(f"{name} raised {said}{f'. {known}' if known else ''}", case.label, where)
            case {"peak": int(peak)} if case.room is not None and peak > case.room:
                return Verdict(
                    f"the call holds {peak:,} bytes at once besides its arguments; a core has no room for that: "
                    "keep a few numbers of each chunk",
                    case.label,
                )
        try:
            with outputs.open("rb") as file, np.load(file, allow_pickle=False) as made:
                arrays = [made[key] for key in made.files]
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error):
            return Verdict(_DAMAGED, case.label, path.name)
        if len(arrays) != len(case.expected):
            values = f"{len(arrays)} value{'s' * (len(arrays) != 1)}"
            return Verdict(f"{name} returned {values}; it returns {', '.join(case.expected)}", case.label)
        return self._compare(case, dict(zip(case.expected, arrays, strict=True)))

    def _compare(self, case: PythonCase, got: Mapping[str, np.ndarray]) -> Verdict | None:
        for name, want in case.expected.items():
            if got[name].shape != want.shape:
                known = self.shapes(case, got) if self.shapes else None
                more = f": {known}" if known else ""
                return Verdict(f"{name} has shape {got[name].shape}; {want.shape} is right{more}", case.label)
        tolerance = Tolerance(self.rtol, self.atol, "the exercise's")
        rows = (compare(name, got[name], want, tolerance) for name, want in case.expected.items())
        wrong = next((row.evidence for row in rows if row.wrong), None)
        if wrong is None:
            return None
        text = next((text for symptom in self.symptoms if (text := symptom(case, got))), None)
        if text or (said := recognised(wrong, Reader.PYTHON_EXERCISE)):
            return Verdict(text or said[0], case.label)
        at, want = wrong.first, wrong.reference.reshape(-1)
        place = wrong.name if want.size == 1 else f"{wrong.name}.ravel()[{at}]"
        largest = float(np.abs(want).max(initial=0)) if want.dtype.kind == "f" else 0.0
        return Verdict(mismatch(place, wrong.output.reshape(-1)[at], want[at], largest), case.label)


def _named(cases: Sequence[PythonCase]) -> Sequence[PythonCase]:
    """Return the cases, with the function's name in front of each label if the cases call several functions."""
    if len({case.function for case in cases}) < 2:
        return cases
    return [replace(case, label=f"{case.function}, {case.label}") for case in cases]


def _function_at(path: Path, line: int) -> str:
    """Return the name of the file's function that has this line; empty if none has."""
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
            return node.name
    return ""


def _names(tree: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """Yield every name that the text uses: its line, the name, and whether it is an imported package."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from ((node.lineno, alias.name.partition(".")[0], True) for alias in node.names)
            case ast.ImportFrom():
                yield node.lineno, (node.module or "").partition(".")[0], True
                yield from ((node.lineno, alias.name, False) for alias in node.names)
            case ast.Attribute():
                yield node.lineno, node.attr, False
            case ast.Name(ctx=ast.Load()):
                yield node.lineno, node.id, False


def _job(folder: Path, path: Path, cases: Sequence[PythonCase], libraries: Sequence[str]) -> dict[str, Any]:
    """Return the job that makes these calls (``job.json``), and write its arrays into the folder."""
    arrays: dict[str, np.ndarray] = {}

    def put(array: np.ndarray) -> str:
        arrays[f"a{len(arrays)}"] = array
        return f"a{len(arrays) - 1}"

    def encode(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return {"array": put(value)}
        if isinstance(value, FunctionText):
            return {"code": value.text, "name": value.name}
        return {"chunks": [put(array) for array in value.arrays]} if isinstance(value, Chunks) else value

    calls = [
        {
            "function": case.function,
            "arguments": {name: encode(value) for name, value in case.arguments.items()},
            "measured": case.room is not None,
        }
        | ({"probe": encode(case.probe)} if case.probe else {})
        for case in cases
    ]
    np.savez(folder / "arrays.npz", **arrays)
    return {
        "source": str(path.resolve()),
        "memory_bytes": _MEMORY_BYTES,
        "file_bytes": _FILE_BYTES,
        "libraries": list(libraries),
        "calls": calls,
    }
