"""The functions that the page's script calls, in Pyodide: JSON in, JSON out. No NumPy, and nothing of the network."""

from __future__ import annotations

import json
import linecache
from pathlib import Path, PurePosixPath
from typing import Any

from gn_tutorial.compiler.sources import read_sources
from gn_tutorial.errors import CompileError
from gn_tutorial.playground import outcome
from gn_tutorial.playground.compiling import COURSE, Compilation


class PageSession:
    """One learner's kernel on its way. The files of the course are below COURSE here too."""

    def __init__(self) -> None:
        self._compilation: Compilation | None = None
        self._before: outcome.Modelled | None = None

    def preprocessing(self, path: str, text: str, defines: list[str]) -> str:
        """``{"request": ...}`` for the compiler, or ``{"errors": [...]}`` if the text has no kernel."""
        file = Path(COURSE / path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        linecache.clearcache()
        try:
            headers = read_sources(file, text, (file.parent,), Path(COURSE / "include")).headers
            self._compilation = Compilation(PurePosixPath(path), text, headers, tuple(defines))
            return json.dumps({"request": self._compilation.preprocessing()})
        except CompileError as error:
            return json.dumps({"errors": _errors(error)})

    def compiling(self, preprocessed: str) -> str:
        """The request to compile, after ``preprocessing``."""
        assert self._compilation
        return json.dumps(self._compilation.compiling(preprocessed))

    def failure(self, text: str) -> str:
        """What a compilation that printed ``text`` says, at the learner's lines."""
        assert self._compilation
        return json.dumps(_errors(self._compilation.failure(text)))

    def outcome(self, given: str, arrays: dict[str, Any], slots: Any) -> str:
        """What is shown of a launch. given: the arguments of ``outcome.outcome`` that are no bytes."""
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
        return json.dumps(shown)


def _errors(error: CompileError) -> list[dict[str, Any]]:
    """Each error at its line; one without a line for what is wrong with the whole."""
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
