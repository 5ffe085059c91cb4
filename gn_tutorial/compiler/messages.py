"""Turns a failed compilation into messages at the learner's own lines.

An error inside the twin's headers is shown at the learner's line that led to it; the generated shim is never shown. The
message for a documented Ascend C name that the twin lacks says that the twin lacks it. Mistakes whose cause is certain
get a hint.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from gn_tutorial.compiler.hints import hint_of, shortened, unknown_name
from gn_tutorial.compiler.output import Place, Report, parse
from gn_tutorial.compiler.process import CompileLimits, End
from gn_tutorial.cpp.source_line import LineFacts, first_call, line_facts
from gn_tutorial.cpp.source_text import readable_text, short
from gn_tutorial.errors import CompileError, RegistryError
from gn_tutorial.toml_file import read_toml

# The largest number of errors to show: further ones mostly follow from the first.
SHOWN_ERRORS = 10
_APIS = "`gnt apis` lists what the twin has"


@dataclass(frozen=True)
class CompilerMessage:
    """One error of a compiler, with its place.

    file: absolute; None if the compiler named no place. line, column: from 1, in characters; 0 if not known.
    source_line: the text of that line. hint: what to do; empty if the cause is not certain.
    """

    file: Path | None
    line: int
    column: int
    message: str
    source_line: str
    hint: str = ""

    @property
    def where(self) -> str:
        """Return ``file:line:column`` with a shortened path, without unknown parts; "" without a file."""
        if self.file is None:
            return ""
        return ":".join([short(self.file), *(str(number) for number in (self.line, self.column) if number)])


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The files of one compilation, and which of them are the learner's, to show errors at the learner's lines.

    main: the learner's file (None: generated text). shim: the generated file. shim_lines: maps lines of shim to lines
    of main. learner: folders of the learner. searched: include folders to name when a header is missing. twin: the
    folder of the twin's headers. compiler: the compiler's kind. shown: the name of the source in messages.
    """

    main: Path | None
    shim: Path
    twin: Path
    shim_lines: dict[int, int] = field(default_factory=dict)
    learner: tuple[Path, ...] = ()
    searched: tuple[Path, ...] = ()
    compiler: str = "g++"
    shown: str = "the source"

    def is_learners(self, path: Path) -> bool:
        """Whether a file is the learner's: not the shim, the twin's headers or the system's."""
        if path == self.main:
            return True
        if path == self.shim or path.is_relative_to(self.twin) or "ziglang" in path.parts:
            return False
        for prefix in ("/usr", "/Library", "/Applications", "/nix", sys.prefix, sys.base_prefix):
            system = path.is_relative_to(prefix)
            if system and not any(
                folder.is_relative_to(prefix) and path.is_relative_to(folder) for folder in self.learner
            ):
                return False
        return True


def explain(end: End, text: str, sources: Sources, limits: CompileLimits) -> CompileError:
    """Return the error to raise after a compilation that ended with ``end`` and printed ``text``."""
    endless = "look for a template that instantiates itself without end, or a very large constant table"
    if end is End.TIMEOUT:
        what = f"{sources.shown} did not compile within {limits.seconds:g} s"
        return CompileError(what, where=sources.shown, hint=endless)
    if _out_of_memory(text):
        what = f"{sources.shown} does not compile: the compiler needed more than {limits.memory_bytes / 2**30:g} GiB"
        return CompileError(what, where=sources.shown, hint=endless)
    if end is End.KILLED:
        what = f"{sources.shown} does not compile: the compiler itself crashed"
        return CompileError(what, where=sources.shown, hint=endless, detail=text[-1000:].strip())
    errors = _without_echoes([_message(report, sources) for report in parse(text)], sources)
    if not errors:
        return CompileError(f"{sources.shown} does not compile", where=sources.shown, detail=text[:4000].strip())
    first = errors[0]
    return CompileError(
        f"{sources.shown} does not compile: {first.message}",
        errors=tuple(errors[:SHOWN_ERRORS]),
        where=first.where or sources.shown,
        hint=first.hint,
        detail=_render(errors[:SHOWN_ERRORS]),
    )


@functools.lru_cache(maxsize=4)
def unsupported_names(twin: Path) -> frozenset[str]:
    """Return the documented Ascend C names that the twin rejects. twin: the folder of its headers, below its list."""
    try:
        lacking = read_toml(twin.parent / "apis.toml", "the list of APIs")["unsupported"]
    except (RegistryError, KeyError):  # a page and a copied header have no list
        return frozenset()
    return frozenset(name for names in lacking.values() for name in names)


def _out_of_memory(text: str) -> bool:
    needles = (
        "virtual memory exhausted", "out of memory allocating", "std::bad_alloc", "LLVM ERROR: out of memory",
        "Killed signal terminated program", "Cannot allocate memory", "OutOfMemory",
    )  # fmt: skip
    return any(needle in text for needle in needles)


# --- one error -------------------------------------------------------------------------------------------------------


def _message(report: Report, sources: Sources) -> CompilerMessage:
    place = learners_place(report, sources) if report.place else _first_use(report, sources)
    file = Path(os.path.normpath(place.file)) if place else None
    text = readable_text(file) if file else ""
    line = next(iter(text.splitlines()[place.line - 1 : place.line]), "") if place else ""
    message, hint = _words(report, sources, line, line_facts(text, place.line) if place else LineFacts())
    column = place.column if place else 0
    if sources.compiler != "g++" and column:  # clang counts bytes, not characters
        column = len(line.encode()[: column - 1].decode("utf-8", "ignore")) + 1
    return CompilerMessage(file, place.line if place else 0, column, message, line, hint)


def learners_place(report: Report, sources: Sources) -> Place | None:
    """Return the learner's line that has the error or led to it.

    If there is no such line, return the error's own place, or None if that place is in the shim.
    """
    assert report.place is not None
    for place in (report.place, *report.chain, *report.includes):
        path = Path(place.file)
        if path == sources.shim and place.line in sources.shim_lines and sources.main:
            return Place(str(sources.main), sources.shim_lines[place.line])
        if sources.is_learners(path):
            return place
    return report.place if Path(report.place.file) != sources.shim else None


def _first_use(report: Report, sources: Sources) -> Place | None:
    """Return the place of the first call of a function without a body, because the linker names no line.

    None: there is no such call in the learner's file.
    """
    name = unknown_name(report.message)
    if not name or sources.main is None:
        return None
    found = first_call(readable_text(sources.main), name)
    return Place(str(sources.main), *found) if found else None


def _words(report: Report, sources: Sources, source_line: str, facts: LineFacts) -> tuple[str, str]:
    """Return the message and the hint of one error."""
    text = report.message
    rejected = re.search(r"not on the twin yet: (\w+)", " ".join([text, *report.notes]))
    name = rejected[1] if rejected else unknown_name(text)
    if rejected or name in unsupported_names(sources.twin):
        return f"{name} is a documented Ascend C name that is not on the twin yet", _APIS
    message = shortened(text)
    if report.place and Path(report.place.file) == sources.shim and report.place.line in sources.shim_lines and name:
        return (
            f"the kernel entry {name} is not visible at the end of the file",
            "it may stand inside an #if block that is not compiled",
        )
    if undefined := re.match(r"undefined reference to (.+)", text):
        return f"{shortened(undefined[1])} is declared and used, but has no body", "write its body in this file"
    return message, hint_of(report, sources.searched, source_line, facts) or (_APIS if name else "")


# --- all errors ------------------------------------------------------------------------------------------------------


def _without_echoes(errors: list[CompilerMessage], sources: Sources) -> list[CompilerMessage]:
    """Return one error for each line: several instances of a template, or one wrong argument, repeat an error.

    Errors outside the learner's files follow from those inside, so they are left out if there are errors inside.
    """
    kept: dict[object, CompilerMessage] = {}
    for error in [error for error in errors if error.file and sources.is_learners(error.file)] or errors:
        kept.setdefault((error.file, error.line) if error.file else error.message, error)
    return list(kept.values())


def _render(errors: list[CompilerMessage]) -> str:
    """Return the first error's source line with a mark under its column, and the other errors in one line each."""
    first, *others = errors
    lines = []
    if first.source_line.strip():
        number = f"{first.line:>6} | "
        lines.append(number + first.source_line)
        if 0 < first.column <= len(first.source_line) + 1:
            under = "".join("\t" if char == "\t" else " " for char in first.source_line[: first.column - 1])
            lines.append(" " * (len(number) - 2) + "| " + under + "^")
    lines += [
        f"  then: {error.where}: {error.message}" if error.where else f"  then: {error.message}" for error in others
    ]
    return "\n".join(lines)
