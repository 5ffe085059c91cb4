"""Parses the twin's report into findings, renders them as sentences, and makes exceptions of them.

The twin writes an id, a place and named facts, one JSON object a line. The sentences are in diagnostics.toml under the
same id (``catalogue``): ``what`` went wrong, ``why`` it is wrong on the device, and how to ``fix`` it. ``rendering``
makes text and HTML of them.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from gn_tutorial.cpp.source_line import buffer_names
from gn_tutorial.cpp.source_text import readable_text
from gn_tutorial.diagnostics import extents, rendering
from gn_tutorial.diagnostics.catalogue import Cause, ShownWith, causes, entries, label_of, words
from gn_tutorial.diagnostics.deciding import deciding, fixed_at, operator_line
from gn_tutorial.diagnostics.excerpt import Excerpt, excerpt, joined
from gn_tutorial.diagnostics.rendering import FindingView, Line, TextSpan
from gn_tutorial.errors import KernelFault, LaunchRefused
from gn_tutorial.translation.texts import translated

_WORDS = re.compile(r"\b[A-Z][\w:]*")
_PRINTED_LINES = 10
#: The severity of a note: a line of the report that is not a finding.
_NOTE = "note"
#: How many findings of one launch are shown; the others are counted.
SHOWN = 5


@dataclass(frozen=True)
class Diagnostic:
    """One finding. ``file`` and ``line`` are in the learner's source; ``fields`` are the facts for its sentences.

    The fields ``<name>_file`` and ``<name>_line`` together are another place, such as where the buffer was made, or the
    other access.
    """

    id: str
    severity: str
    file: str
    line: int
    block: int
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def what(self) -> str:
        """What went wrong, in one sentence; others name the cause and the numbers of the calls, if the twin knows them.

        For an id that is not in the catalogue, the id's words and the facts.
        """
        what, cause = self._sentence("what") or self._spelt_out(), self._cause()
        return _joined(what, *([self._filled(cause.what)] if cause else []), *extents.sentences(self.fields))

    @property
    def why(self) -> str:
        """Why the device does not allow it; empty if the catalogue does not say."""
        return self._sentence("why")

    @property
    def fix(self) -> str:
        """What to do next; empty if the catalogue does not say."""
        cause = self._cause()
        fix = self._filled(cause.fix) if cause else self._sentence("fix")
        return _joined(fix, *(translated(one) for one in extents.fixes(self.fields)))

    @property
    def column(self) -> int:
        """The column of the operation's name in its line, from 1; 0 if the line cannot be read or does not name it."""
        return self._excerpt().column

    @property
    def where(self) -> str:
        """The place, ``kernel.cpp:12:3, block 0``, without an unknown column or file."""
        return self._where(self.column)

    def _where(self, column: int) -> str:
        if not self.file:
            return f"block {self.block}"
        return f"{self.file}:{self.line}{f':{column}' if column else ''}, block {self.block}"

    @property
    def link(self) -> str:
        """The path of this id's page, from the top of the repository; empty for an id that is not in the catalogue."""
        return entries()[self.id].link if self.id in entries() else ""

    @property
    def buffer(self) -> str:
        """The name of the buffer or kernel argument that the finding is about; empty if it is about none."""
        facts = self._facts()
        return str(facts.get("buffer_name") or facts.get("argument") or "")

    @property
    def places(self) -> dict[str, tuple[str, int]]:
        """The other places by name: ``{"buffer": ("kernel.cpp", 8)}``."""
        names = [key.removesuffix("_file") for key in self.fields if key.endswith("_file")]
        found = {name: (str(self.fields[f"{name}_file"]), self.fields.get(f"{name}_line", 0)) for name in names}
        return {name: place for name, place in found.items() if place[0] and place[1]}

    def excerpts(self) -> tuple[Excerpt, ...]:
        """Return the finding's own line, the lines that the catalogue adds, and its other places; each line once."""
        return self.view().excerpts

    def view(self) -> FindingView:
        """Return the finding for display: its sentences, its places and their lines of source."""
        what, why, fix, link = self.what, self.why, self.fix, self.link
        others = [self._other(name) for name in self.places]
        excerpts = joined([self._excerpt(), *self._beside(f"{what} {fix}"), *others])
        where, folder = self._where(excerpts[0].column), self.file.removesuffix(Path(self.file).name)
        more = f"gnt explain {self.id}" if link else ""
        return FindingView(self.id, self.severity, what, where, folder, why, fix, more, link, excerpts)

    def source(self) -> str:
        """Return the source line with the operation marked, then each other place; empty if no file can be read."""
        return rendering.plain(rendering.source_lines(self.excerpts()))

    def render(self) -> str:
        """Return the whole finding as text: what, where, the source, why, fix."""
        return rendering.plain(rendering.lines_of(self.view()))

    def _repr_html_(self) -> str:
        return rendering.html_of(self.view())

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data, for JSON. docs/architecture.md has the keys."""
        others = [
            {"name": name, "file": file, "line": line, "column": self._other(name).column}
            for name, (file, line) in self.places.items()
        ]
        return {
            "id": self.id,
            "severity": self.severity,
            "what": self.what,
            "why": self.why,
            "fix": self.fix,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "block": self.block,
            "buffer": self.buffer,
            "places": others,
            "link": self.link,
            "fields": dict(self.fields),
        }

    def _excerpt(self) -> Excerpt:
        # If the twin sends no "op", mark the first name of the sentence "what" that the line calls.
        op, *words = self._operations()
        return excerpt(self.file, self.line, op, calls=words, primary=True)

    def _operations(self) -> list[str]:
        """Return the operation's name, empty if the twin sends none, and the names in the sentence "what"."""
        words = _WORDS.findall(entries()[self.id].what) if self.id in entries() else []
        return [str(self.fields.get("op", "")), *words]

    def _beside(self, said: str) -> list[Excerpt]:
        """Return the line that the fix changes, and the lines that decide the finding. said: text of what and fix."""
        shown = self._shown_with()
        what = next((one.fix_at for one in shown if one.fix_at), "")
        fixed = fixed_at(what, self.file, self.buffer, self.fields)
        file, other = self.places.get("other", ("", 0))
        by = next((one for one in shown if one.decided_by), ShownWith())
        led = deciding(
            by.decided_by,
            self.file,
            self.line,
            said,
            calls=self._operations(),
            other=other if file == self.file else 0,
            other_call=str(self.fields.get("other_op", "")),
            most=by.deciding_lines,
        )
        return [
            excerpt(self.file, one.line, one.marked, label=one.label, start=one.start)
            for one in (*([fixed] if fixed else []), *led)
        ]

    def _other(self, name: str) -> Excerpt:
        file, line = self.places[name]
        op = str(self.fields.get(f"{name}_op", "InitBuffer"))
        template = translated(label_of(name, *self._shown_with()) or name.replace("_", " "))
        label = template.format_map(_Facts(self._quoted()))
        return excerpt(file, line, op, label=label, nth=self._nth(name))

    def _shown_with(self) -> list[ShownWith]:
        """Return the cause, which takes precedence, and the entry: both say how the finding is shown."""
        return [one for one in (self._cause(), entries().get(self.id)) if one]

    def _nth(self, name: str) -> int:
        # Which call of its line it is, from 0, if the twin sends how often the line was called before; else 0.
        return int(self.fields.get(f"{name}_nth", 0))

    def _sentence(self, part: str) -> str:
        return self._filled(getattr(entries().get(self.id), part, ""))

    def _cause(self) -> Cause | None:
        return causes().get(str(self.fields.get("cause", "")))

    def _filled(self, english: str) -> str:
        template = translated(english)
        try:
            return template.format_map(_Facts(self._facts()))
        except (ValueError, AttributeError, IndexError, TypeError):
            return template  # a fact whose type the sentence does not expect must not hide the finding

    def _facts(self) -> dict[str, Any]:
        names = {f"{name}_name": _buffer_name(*place, self._nth(name)) for name, place in self.places.items()}
        own = {"id": self.id, "file": self.file, "line": self.line, "block": self.block}
        return own | {key: name for key, name in names.items() if name} | self._quoted()

    def _quoted(self) -> dict[str, Any]:
        # Translate the facts that are English words of the catalogue, but not the learner's names.
        known = words()
        return {key: translated(value) if value in known.get(key, ()) else value for key, value in self.fields.items()}

    def _spelt_out(self) -> str:
        facts = ", ".join(f"{key} {value}" for key, value in self.fields.items())
        words = self.id.replace("-", " ")
        return f"{words} ({facts})" if facts else words


def _joined(*sentences: str) -> str:
    both = translated("{what} {cause}")  # some languages have no space between sentences
    return functools.reduce(lambda what, cause: both.format(what=what, cause=cause), sentences)


class _Facts(dict):
    """The facts of a sentence. A missing ``<place>_name`` reads "the <place>"; any other missing fact reads "?"."""

    def __missing__(self, key: str) -> str:
        if not key.endswith("_name"):
            return "?"
        return translated("the {what}").format(what=key.removesuffix("_name"))


class Findings(tuple[Diagnostic, ...]):
    """The findings of one launch, in the order in which the twin reported them."""

    __slots__ = ()

    @property
    def ordered(self) -> list[Diagnostic]:
        """The findings, errors first, because a warning may follow from an error."""
        return sorted(self, key=lambda one: one.severity != "error")

    def lines(self, limit: int = SHOWN, *, named: bool = True) -> list[Line]:
        """Return the findings as lines, with why and fix once for each id, and the number of those past ``limit``.

        named: False leaves out the severity of the first finding.
        """
        return _lines(self.views(limit), self.rest(limit), named=named)

    def render(self, limit: int = SHOWN) -> str:
        """Return ``lines`` as one text."""
        return rendering.plain(self.lines(limit))

    def to_list(self) -> list[dict[str, Any]]:
        """Return all findings as plain data."""
        return [one.to_dict() for one in self]

    def __repr__(self) -> str:
        return self.render() or translated("no findings")

    def _repr_html_(self) -> str:
        rest = self.rest(SHOWN)
        parts = [rendering.html_of(view, reasons=news) for view, news in self.views(SHOWN)]
        return (
            "".join([*parts, *([f"<div>{escape(rest)}</div>"] if rest else [])])
            or f"<div>{translated('no findings')}</div>"
        )

    def views(self, limit: int) -> list[tuple[FindingView, bool]]:
        """Return the first ``limit`` findings for display, each with whether it is the first with its id."""
        shown = self.ordered[:limit]
        ids = [one.id for one in shown]
        return [(one.view(), ids.index(one.id) == number) for number, one in enumerate(shown)]

    def rest(self, limit: int) -> str:
        """Return the number of findings past ``limit``, in words; empty if there are none."""
        rest = self.ordered[limit:]
        kinds = ", ".join(f"{count} {name}" for name, count in Counter(one.id for one in rest).items())
        return translated("... and {count} more: {kinds}").format(count=len(rest), kinds=kinds) if rest else ""


def parse_report(report: bytes) -> Findings:
    """Return the findings of a report: JSON lines up to the first NUL byte. Malformed lines are skipped."""
    return parse_with_notes(report)[0]


def parse_with_notes(report: bytes) -> tuple[Findings, tuple[Diagnostic, ...]]:
    """Return the findings of a report, and its notes: facts that the report of a failed comparison may name."""
    text = report.split(b"\0", 1)[0].decode("utf-8", "replace")
    read = [found for line in text.splitlines() if (found := _parse_line(line)) is not None]
    return Findings(one for one in read if one.severity != _NOTE), tuple(one for one in read if one.severity == _NOTE)


def kernel_fault(diagnostics: Sequence[Diagnostic], printed: str = "") -> KernelFault:
    """Return the exception for a launch that failed, with its findings as text, errors first, and as data.

    It is a LaunchRefused if the first finding is about the numbers of the launch (``of_launch`` in the catalogue).
    """
    findings = Findings(diagnostics)
    if not findings:
        what = translated("the twin stopped the launch without saying why")
        return KernelFault(what, printed=printed, detail=printed_tail(printed))
    views = findings.views(SHOWN)
    first = views[0][0]
    text = rendering.plain(_lines(views, findings.rest(SHOWN), named=False))
    known = entries().get(first.id)
    kind = LaunchRefused if known is not None and known.of_launch else KernelFault
    return kind(
        first.what,
        diagnostics=findings,
        printed=printed,
        where=first.where,
        hint=first.fix,
        detail=rendering.plain(rendering.source_lines(first.excerpts)),
        text="\n".join(part for part in (text, printed_tail(printed)) if part),
    )


def _lines(views: Sequence[tuple[FindingView, bool]], rest: str, *, named: bool) -> list[Line]:
    lines: list[Line] = []
    for number, (view, news) in enumerate(views):
        lines += [(TextSpan(""),)] if number else []
        lines += rendering.lines_of(view, named=named or number > 0, reasons=news)
    return [*lines, (TextSpan(""),), (TextSpan(rest, "label"),)] if rest else lines


def printed_tail(printed: str) -> str:
    """Return the last lines that a kernel printed, for the detail of an error; empty if it printed nothing."""
    lines = printed.splitlines()
    if not lines:
        return ""
    kept = lines[-_PRINTED_LINES:]
    of_all = translated("printed (last {shown} of {count} lines):").format(shown=len(kept), count=len(lines))
    title = translated("printed:") if len(kept) == len(lines) else of_all
    return "\n".join([title, *(f"  {line}" for line in kept)])


def _parse_line(line: str) -> Diagnostic | None:
    try:
        data = json.loads(line)
        file, place, fields = str(data["file"]), int(data["line"]), dict(data["fields"])
        op = str(fields.get("op", ""))
        return Diagnostic(
            id=str(data["id"]),
            severity=str(data["severity"]),
            file=file,
            line=operator_line(file, place, op) if op.startswith("operator") and op != "operator()" else place,
            block=int(data["block"]),
            fields=fields,
        )
    except (ValueError, KeyError, TypeError):
        return None


def _buffer_name(file: str, line: int, nth: int) -> str:
    # A line in a loop runs repeatedly, so ``nth`` begins again at the line's first call after the last one.
    found = buffer_names(readable_text(Path(file)), line)
    return found[nth % len(found)] if found else ""
