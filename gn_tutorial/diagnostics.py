"""Diagnostics as data: read what the twin reported, put it into words, and raise it.

The twin writes an id, a place and named facts (one JSON object a line); the sentences are in diagnostics.toml under the
same id: ``what`` went wrong, ``why`` that is wrong on the device, how to ``fix`` it.
"""

from __future__ import annotations

import functools
import json
import linecache
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gn_tutorial.errors import KernelFault

_CATALOGUE = Path(__file__).with_name("diagnostics.toml")
_INIT_BUFFER = re.compile(r"\bInitBuffer\s*\(\s*([^,()]+?)\s*,")
_PRINTED_LINES = 10


@dataclass(frozen=True)
class Diagnostic:
    """One finding. ``file`` and ``line`` are in the learner's source; its sentences are made of ``fields``.

    A pair of fields ``<name>_file`` and ``<name>_line`` is another place: where the buffer was made, the other access.
    """

    id: str
    severity: str
    file: str
    line: int
    block: int
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def what(self) -> str:
        """What went wrong, one sentence. An id that the catalogue lacks is spelt out with its facts."""
        return self._sentence("what") or self._spelt_out()

    @property
    def why(self) -> str:
        """Why the device does not allow it; empty if the catalogue does not say."""
        return self._sentence("why")

    @property
    def fix(self) -> str:
        """What to do next; empty if the catalogue does not say."""
        return self._sentence("fix")

    @property
    def where(self) -> str:
        """``kernel.cpp:12, block 0``; only the block if no line is known."""
        place = f"{self.file}:{self.line}" if self.file else ""
        return f"{place}, block {self.block}" if place else f"block {self.block}"

    @property
    def places(self) -> dict[str, tuple[str, int]]:
        """The other places by name: ``{"buffer": ("kernel.cpp", 8)}``."""
        names = [key.removesuffix("_file") for key in self.fields if key.endswith("_file")]
        found = {name: (str(self.fields[f"{name}_file"]), self.fields.get(f"{name}_line", 0)) for name in names}
        return {name: place for name, place in found.items() if place[0] and place[1]}

    def source(self) -> str:
        """The source line with a mark under the operation, then each other place; empty if no file can be read."""
        parts = [_marked(self.file, self.line, str(self.fields.get("op", "")))]
        for name, (file, line) in self.places.items():
            marked = _marked(file, line, str(self.fields.get(f"{name}_op", "InitBuffer")))
            title = f"  {name.replace('_', ' ')}: {file}:{line}"
            parts.append(f"{title}\n{marked}" if marked else title)
        return "\n".join(part for part in parts if part)

    def render(self) -> str:
        """All of it as text: what, where, the source, why, fix."""
        head = f"{self.severity}: {self.what}\n  where: {self.where}"
        tail = [f"  {label}: {text}" for label, text in (("why", self.why), ("fix", self.fix)) if text]
        return "\n".join(part for part in (head, self.source(), *tail) if part)

    def _sentence(self, part: str) -> str:
        template = _catalogue().get(self.id, {}).get(part, "")
        try:
            return template.format_map(_Facts(self._facts()))
        except (ValueError, AttributeError, IndexError, TypeError):
            return template  # a fact of another type than the sentence expects must not hide the finding

    def _facts(self) -> dict[str, Any]:
        names = {f"{name}_name": _buffer_name(*place) for name, place in self.places.items()}
        own = {"id": self.id, "file": self.file, "line": self.line, "block": self.block}
        return own | {key: name for key, name in names.items() if name} | dict(self.fields)

    def _spelt_out(self) -> str:
        facts = ", ".join(f"{key} {value}" for key, value in self.fields.items())
        words = self.id.replace("-", " ")
        return f"{words} ({facts})" if facts else words


class _Facts(dict):
    """A fact that the twin did not give: sentences stay readable without it."""

    def __missing__(self, key: str) -> str:
        return f"the {key.removesuffix('_name')}" if key.endswith("_name") else "?"


def parse_report(report: bytes) -> tuple[Diagnostic, ...]:
    """Read a report: JSON lines up to the first NUL. A line that was cut off, or is no diagnostic, is left out."""
    text = report.split(b"\0", 1)[0].decode("utf-8", "replace")
    return tuple(found for line in text.splitlines() if (found := _parse_line(line)) is not None)


def kernel_fault(diagnostics: Sequence[Diagnostic], printed: str = "") -> KernelFault:
    """The exception for a launch that the twin stopped: the first error in words, all ``diagnostics`` attached."""
    errors = [one for one in diagnostics if one.severity == "error"] or list(diagnostics)
    if not errors:
        what = "the twin stopped the launch without saying why"
        return KernelFault(what, printed=printed, detail=printed_tail(printed))
    first = errors[0]
    why = f"  why:   {first.why}" if first.why else ""
    parts = (first.source(), why, *(one.render() for one in errors[1:]), printed_tail(printed))
    return KernelFault(
        first.what,
        diagnostics=tuple(diagnostics),
        printed=printed,
        where=first.where,
        hint=first.fix,
        detail="\n".join(part for part in parts if part),
    )


def printed_tail(printed: str) -> str:
    """The last lines that a kernel printed, as the detail of an error; empty if it printed nothing."""
    lines = printed.splitlines()
    if not lines:
        return ""
    kept = lines[-_PRINTED_LINES:]
    title = "printed:" if len(kept) == len(lines) else f"printed (last {len(kept)} of {len(lines)} lines):"
    return "\n".join([title, *(f"  {line}" for line in kept)])


def _parse_line(line: str) -> Diagnostic | None:
    try:
        data = json.loads(line)
        return Diagnostic(
            id=str(data["id"]),
            severity=str(data["severity"]),
            file=str(data["file"]),
            line=int(data["line"]),
            block=int(data["block"]),
            fields=dict(data["fields"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


@functools.cache
def _catalogue() -> dict[str, dict[str, str]]:
    try:
        return tomllib.loads(_CATALOGUE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def _source_line(file: str, line: int) -> str:
    if not file or line < 1:
        return ""
    linecache.checkcache(file)  # a learner edits the file between two launches
    return linecache.getline(file, line).rstrip().expandtabs(4)


def _marked(file: str, line: int, word: str) -> str:
    text = _source_line(file, line)
    if not text.strip():
        return ""
    found = re.search(rf"\b{re.escape(word)}\b", text) if word else None
    start = found.start() if found else len(text) - len(text.lstrip())
    length = len(word) if found else 1
    number = f"{line:>6}"
    return f"{number} | {text}\n{' ' * len(number)} | {' ' * start}{'^' * length}"


def _buffer_name(file: str, line: int) -> str:
    found = _INIT_BUFFER.search(_source_line(file, line))
    return found[1] if found else ""
