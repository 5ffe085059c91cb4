"""Requests for a kernel to the page's compiler, and the compiler's answers. It runs in Pyodide, without NumPy.

It does what ``compiler/build.py`` does on a machine: it puts a shim around the source, finds what device code may not
have, and explains the compiler's errors.
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
from gn_tutorial.cpp.entries import Entry, require_entries
from gn_tutorial.cpp.includes import SourceTexts
from gn_tutorial.cpp.rules.device_functions import ERRORS
from gn_tutorial.errors import CompileError

#: The folder of the compiler's own file system that has the twin's headers (include) and the course's kernels.
COURSE = PurePosixPath("/course")
_SHIM, _TWIN = Path(COURSE / "shim.cpp"), Path(COURSE / "include")


@dataclass(frozen=True)
class Compilation:
    """One source, at ``path`` below COURSE. headers: the texts of its quoted includes, read for their macros.

    defines: ``NAME`` or ``NAME=VALUE``.
    """

    path: PurePosixPath
    text: str
    headers: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The kernels of the source. Raises CompileError if there is none."""
        return require_entries(self.text, self.path.name, "", self.headers)

    def preprocessing(self) -> dict[str, Any]:
        """Return the request to preprocess, for ``source_findings``. Raises CompileError if there is no kernel."""
        return self._request(self._shim.text + portability_rules.PROBE)

    def compiling(self) -> dict[str, Any]:
        """Return the request to src/compiler.mjs to compile. Raises CompileError if there is no kernel."""
        return self._request(self._shim.text)

    def source_findings(self, preprocessed: str) -> list[dict[str, Any]]:
        """Return findings on what device code may not have, for a launch's job.

        preprocessed: the text after the preprocessor; "" if that failed. A library of ``compiler/build.py`` has the
        findings compiled in. Here the text is searched while the compiler works.
        """
        if not portability_rules.words_are_left(preprocessed):
            return []
        found = portability_rules.find(portability_rules.own_text(preprocessed, self._sources().is_learners))
        return [
            {
                "entry": one.entry,
                "id": one.finding.id,
                "error": one.finding.id in ERRORS,
                "file": one.file,
                "line": one.line,
                "fields": list(one.finding.fields.items()),
            }
            for one in found
        ]

    def failure(self, text: str) -> CompileError:
        """Return the error of a compilation that printed ``text``."""
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
