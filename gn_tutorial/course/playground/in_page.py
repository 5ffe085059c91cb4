"""The functions that the page's script calls in Pyodide. They return JSON, and use no NumPy and no network."""

from __future__ import annotations

import json
import linecache
from pathlib import Path, PurePosixPath
from typing import Any

from gn_tutorial.course.playground import outcome
from gn_tutorial.course.playground.compiling import COURSE, Compilation, as_data
from gn_tutorial.course.playground.puzzle import judged, mistake_of
from gn_tutorial.cpp.included_files import read_sources
from gn_tutorial.errors import CompileError


class PageSession:
    """The learner's current kernel, from its text to its outcome. Pyodide, too, has the course's files below COURSE."""

    def __init__(self) -> None:
        self._compilation: Compilation | None = None
        self._before: outcome.Modelled | None = None
        self._plain_pointers = False

    def preparing(self, path: str, text: str, defines: list[str]) -> str:
        """Return the requests to the compiler, ``preprocess`` and ``compile``; or ``errors`` if there is no kernel."""
        file = Path(COURSE / path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        linecache.clearcache()
        try:
            headers = read_sources(file, text, (file.parent,), Path(COURSE / "include")).headers
            self._compilation = Compilation(PurePosixPath(path), text, headers, tuple(defines))
            asked = {"preprocess": self._compilation.preprocessing(), "compile": self._compilation.compiling()}
            return json.dumps(asked)
        except CompileError as error:
            return json.dumps({"errors": _errors(error)})

    def source_findings(self, preprocessed: str) -> str:
        """Return the findings on constructs that device code may not use. Call ``preparing`` first."""
        assert self._compilation
        facts = self._compilation.facts(preprocessed)
        self._plain_pointers = facts.plain_pointers
        return json.dumps(as_data(facts))

    def failure(self, said: str, puzzle: str) -> str:
        """Return the errors of a build, at the learner's lines.

        said: the compiler's output. puzzle: the start's data for ``mistake_of`` as JSON; "null" if it is no puzzle.
        """
        assert self._compilation
        errors = _errors(self._compilation.failure(said))
        if of := json.loads(puzzle):
            mistake = mistake_of(of, self._compilation.text, errors[0]["message"])
            errors[:0] = [{"file": "", "line": 0, "column": 0, "message": mistake, "hint": ""}] if mistake else []
        return json.dumps(errors)

    def outcome(self, given: str, arrays: dict[str, Any], slots: Any) -> str:
        """Return a launch's outcome for display.

        given: JSON with the arguments of ``outcome.outcome`` except those with bytes; ``beside``, whether to draw the
        launch before this one, too; ``puzzle`` and ``text``, the arguments of ``judged``. arrays: the outputs by name,
        and the reference of each under ``expected NAME``. slots: the trace.
        """
        found = json.loads(given)
        expected = {name: {**of, "values": bytes(arrays[f"expected {name}"])} for name, of in found["expected"].items()}
        shown, modelled = outcome.outcome(
            found["job"],
            found["answer"],
            {name: bytes(data) for name, data in arrays.items()},
            bytes(slots),
            expected,
            found["machine"],
            self._before if found["beside"] else None,
        )
        self._before = modelled or self._before
        if self._plain_pointers:
            shown["tally"].append(outcome.UNSEEN)
        if found["puzzle"]:
            shown["puzzle"] = judged(found["puzzle"], found["text"], shown, modelled)
        return json.dumps(shown)


def _errors(error: CompileError) -> list[dict[str, Any]]:
    """Return each error with its line; if the compiler named no line, one error about the whole text."""
    whole = {"file": "", "line": 0, "column": 0, "message": error.what, "hint": error.hint or ""}
    return [
        {
            "file": one.file.name if one.file else "",
            "line": one.line,
            "column": one.column,
            "message": one.message,
            "hint": one.hint,
        }
        for one in error.errors
    ] or [whole]
