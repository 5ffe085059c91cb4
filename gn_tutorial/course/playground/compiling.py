"""Makes the page's requests to compile a kernel, and reads the compiler's answers. Runs in Pyodide, without NumPy.

The module does in the page what ``compiler/build.py`` does on a machine: it wraps the source in a shim, finds
constructs that device code may not use, and explains the compiler's errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from gn_tutorial.compiler import messages
from gn_tutorial.compiler.process import CompileLimits, End
from gn_tutorial.compiler.shim import Shim
from gn_tutorial.cpp import portability_rules
from gn_tutorial.cpp.entries import Entry, entries_to_compile, macro_lines
from gn_tutorial.cpp.included_files import SourceTexts
from gn_tutorial.cpp.portability_rules import SourceFacts
from gn_tutorial.errors import CompileError

#: The folder, in the compiler's own file system, that contains the twin's headers (include) and the course's kernels.
COURSE = PurePosixPath("/course")
_SHIM, _TWIN = Path(COURSE / "shim.cpp"), Path(COURSE / "include")


@dataclass(frozen=True)
class Compilation:
    """One source to compile, at ``path`` below COURSE. defines: macros, each ``NAME`` or ``NAME=VALUE``.

    headers: the texts of the files that the source includes with quotes; their macros may define kernels.
    """

    path: PurePosixPath
    text: str
    headers: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The kernels of the source; empty if a syntax error hides them. Raises CompileError if there is none."""
        return entries_to_compile(self.text, self.path.name, "", (macro_lines(self.defines), *self.headers))

    def preprocessing(self) -> dict[str, Any]:
        """Return the request to preprocess the source; ``source_findings`` takes the answer to it.

        Raises CompileError if the source has no kernel.
        """
        return self._request(self._shim.text + portability_rules.PROBE)

    def compiling(self) -> dict[str, Any]:
        """Return the request with which src/compiler.mjs compiles. Raises CompileError if the source has no kernel."""
        return self._request(self._shim.text)

    def source_findings(self, preprocessed: str) -> list[dict[str, Any]]:
        """Return the findings on constructs that device code may not use, as plain data for a launch's job.

        preprocessed: the preprocessor's output, "" if it failed. A library of ``compiler/build.py`` has these findings
        compiled in; in the page they are found while the compiler works.
        """
        return as_data(self.facts(preprocessed))

    def facts(self, preprocessed: str) -> SourceFacts:
        """Return the facts about the source that ``source_findings`` returns, and whether it uses plain pointers."""
        if not portability_rules.words_are_left(preprocessed):
            return SourceFacts()
        return portability_rules.read(portability_rules.own_text(preprocessed, self._sources().is_learners))

    def failure(self, text: str) -> CompileError:
        """Return the error of a failed compilation, made from the compiler's output ``text``."""
        return messages.explain(End.REFUSED, text, self._sources(), CompileLimits())

    @cached_property
    def _shim(self) -> Shim:
        read = dict(enumerate((self.text, *self.headers)))
        data_types = not SourceTexts(read, {}).names_host_types  # type: ignore[arg-type]
        return Shim(COURSE / self.path, True, self.entries, data_types)

    def _request(self, shim: str) -> dict[str, Any]:
        own = {str(self.path): self.text}
        return {"shim": shim, "defines": [f"-D{define}" for define in self.defines], "own": own}

    def _sources(self) -> messages.Sources:
        return messages.Sources(
            main=Path(COURSE / self.path),
            shim=_SHIM,
            twin=_TWIN,
            shim_lines=self._shim.lines,
            learner=(Path(COURSE / self.path.parent),),
            searched=(Path(COURSE / self.path.parent),),
            compiler="clang++",
            shown=self.path.name,
        )


def as_data(facts: SourceFacts) -> list[dict[str, Any]]:
    """Return the findings among the facts as plain data for a launch's job."""
    return [
        {
            "entry": one.entry,
            "id": one.finding.id,
            "error": one.finding.id in portability_rules.ERRORS,
            "file": one.file,
            "line": one.line,
            "fields": list(one.finding.fields.items()),
        }
        for one in facts.found
    ]
