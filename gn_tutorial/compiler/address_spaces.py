"""Checks a kernel's memory qualifiers: clang reads it with ``__gm__`` and ``__ubuf__`` as address spaces.

The device's compiler treats global memory, the Unified Buffer and a core's own memory as three address spaces. On a
laptop there is one memory, so both words are empty in the twin, and a build cannot find where a type loses one. clang
finds it if the twin's headers define the words as its own attribute (``GNT_ADDRESS_SPACES``). It only reads the kernel,
which takes 0.5 to 3 s, and no library is made. Only errors that name an address space count, those that ``space_casts``
adds among them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gn_tutorial.compiler.build import AS_IT_IS, SourceOptions, prepared
from gn_tutorial.compiler.build_request import MESSAGES, READ_SHIM, TWIN_INCLUDE
from gn_tutorial.compiler.cache import Cache, default_cache
from gn_tutorial.compiler.messages import Sources, learners_place
from gn_tutorial.compiler.output import Report, parse
from gn_tutorial.compiler.process import CompileLimits
from gn_tutorial.compiler.space_casts import TREE_FLAGS
from gn_tutorial.compiler.toolchain import Compiler, find_clang
from gn_tutorial.cpp.launches import is_sample
from gn_tutorial.cpp.source_text import source_text
from gn_tutorial.errors import CompileError

#: The findings of this check, in the catalogue of diagnostics.
REFERENCE, STRUCT, POINTER = "language-space-reference", "language-space-struct", "language-space-pointer"
IDS = (REFERENCE, STRUCT, POINTER)
# zig's own command line needs -c, else it links. The limit of errors counts those in host code, too.
_FLAGS = ("-std=c++20", "-c", "-fsyntax-only", "-DGNT_ADDRESS_SPACES")
_ALL_ERRORS = "-ferror-limit=200"
_SPACE = re.compile(r"__(gm|ubuf)__|address[ _]space\W{0,3}([12])\b|address space")
# A declaration in a memory. Kernels place arrays in the Unified Buffer so; no pointer or reference loses anything.
_DECLARED = re.compile(r"qualified with an address space")
_OF_A_POINTER = re.compile(r"'[^']*\*[^']*'|pointer to (?:generic )?address space")
_WHOLE_STRUCT = re.compile(r"no matching constructor|no viable (?:overloaded|conversion)")
_WRITTEN = re.compile(r"'this' object is in address space")
_CALLED = re.compile(r"function for call to '(?:\w+::)*(\w+)")
# The finding language-host-copy names these.
_HOST_COPY = re.compile(r"no matching function for call to '(?:\w+::)*mem(?:cpy|move|set|cmp)(?:_s)?'")
_NO_CLANG = "this machine has no clang++, and no ziglang wheel is installed (pip install ziglang)"


@dataclass(frozen=True)
class SpaceFinding:
    """One place where a type loses its memory. id: of the catalogue; fields: the facts of its sentences."""

    id: str
    file: str
    line: int
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SpaceCheck:
    """The outcome of a check.

    compiler: the clang that was asked, "" if there is none. not_done: why there was no check; "" if there was one.
    """

    findings: tuple[SpaceFinding, ...] = ()
    compiler: str = ""
    not_done: str = ""

    def __str__(self) -> str:
        if self.not_done:
            return f"memory qualifiers (__gm__, __ubuf__): not checked, because {self.not_done}"
        return f"memory qualifiers (__gm__, __ubuf__): checked by {self.compiler}"


def check_spaces(
    source: Path | str,
    how: SourceOptions = AS_IT_IS,
    *,
    cache: Cache | None = None,
    limits: CompileLimits | None = None,
) -> SpaceCheck:
    """Return where the source's types lose their memory. The arguments and errors are those of ``build_kernel``.

    The source must be one that ``build_kernel`` compiles. The check is not done if there is no clang, or if clang finds
    other errors in it.
    """
    clang = find_clang()
    if clang is None:
        return SpaceCheck(not_done=_NO_CLANG)
    cache = cache or default_cache()
    ready = prepared(source, how, observed=False, cache=cache)
    request = ready.request(cache, clang, (*_FLAGS, *TREE_FLAGS, _ALL_ERRORS), limits, suffix=MESSAGES)
    try:
        messages, _ = request.run()
    except CompileError as error:  # it took too long, or clang crashed
        return SpaceCheck(compiler=_named(clang), not_done=f"{_named(clang)} did not read it: {error.what}")
    reports = parse(messages.read_text(encoding="utf-8", errors="replace"))
    ours = [report for report in reports if any(map(_SPACE.search, (report.message, *report.notes)))]
    ours = [report for report in ours if not _HOST_COPY.match(report.message)]
    if reports and not ours:
        what = f"{_named(clang)} finds another error in it: {reports[0].message}"
        return SpaceCheck(compiler=_named(clang), not_done=what)
    sources = Sources(main=ready.path, shim=READ_SHIM, twin=TWIN_INCLUDE, learner=ready.learner)
    hosts = _HostLines(ready.path, ready.texts[0])
    kept: dict[tuple[str, int], SpaceFinding] = {}
    for report in ours:
        place = learners_place(report, sources) if report.place else None
        if place is None or _DECLARED.search(report.message) or not sources.is_learners(Path(place.file)):
            continue
        file = os.path.normpath(place.file)
        if not hosts.has(file, place.line):
            kept.setdefault((file, place.line), SpaceFinding(file=file, line=place.line, **_facts(report)))
    return SpaceCheck(tuple(kept.values()), _named(clang))


def _facts(report: Report) -> dict[str, Any]:
    """Return the id of a finding, and the facts of its sentences."""
    said = [one for one in (report.message, *report.notes) if _SPACE.search(one)]
    first = next(found for one in said for found in _SPACE.finditer(one))
    word = "__ubuf__" if "ubuf" in (first[1] or "") or first[2] == "2" else "__gm__"
    memory = {"__gm__": "the global memory", "__ubuf__": "the Unified Buffer"}[word]
    if any(_OF_A_POINTER.search(one) for one in said):
        return {"id": POINTER, "fields": {"memory": memory, "word": word}}
    if _WHOLE_STRUCT.match(report.message):
        done = f"{'written' if any(_WRITTEN.search(one) for one in said) else 'read'} as a whole"
        return {"id": STRUCT, "fields": {"memory": memory, "done": done}}
    called = _CALLED.search(report.message)
    return {"id": REFERENCE, "fields": {"memory": memory, **({"op": called[1]} if called else {})}}


def _named(clang: Compiler) -> str:
    command = Path(clang.argv[0]).name
    version = clang.version.partition(" Target:")[0]
    return version if clang.is_zig or command == "clang++" else f"{version} ({command})"


class _HostLines:
    """The lines of host functions in a file that also launches its kernels: there the two words are empty."""

    def __init__(self, path: Path, text: str) -> None:
        self._sample = is_sample(text, path.parent)
        self._lines: dict[str, set[int]] = {}

    def has(self, file: str, line: int) -> bool:
        """Whether the line belongs to a function without a word that makes it a function of the device."""
        if self._sample and file not in self._lines:
            from gn_tutorial.cpp.device_code import host_lines  # only a sample needs the parser

            self._lines[file] = host_lines(source_text(Path(file)))
        return line in self._lines.get(file, ())
