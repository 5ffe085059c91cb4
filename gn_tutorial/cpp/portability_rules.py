"""Reads a kernel's source for C++ that CANN does not take, before it is compiled: what is found goes into the library.

The library reports it when one of its entries is launched, as every other finding; so it is read once, is kept with
the library, and a launch may take it for a warning or an error by its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gn_tutorial.errors import ArgumentError

if TYPE_CHECKING:
    from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding


#: What stops a launch; every other finding is a warning.
ERRORS = frozenset(
    f"language-{name}" for name in ("virtual", "heap", "recursion", "std", "typeid", "no-gm", "host-copy")
)
#: What only the code of a core may not have: threads run an entry that is marked ``__global__`` alone.
_OF_CORES = frozenset(("language-math",))
#: Part of the key of each library: raise it when the same source may give other findings.
CHECKS = "19"
#: Put into a source that is not read.
NOTHING_READ = "GNT_SOURCE_FINDINGS_BEGIN\nGNT_SOURCE_FINDINGS_END\n"
_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"')
#: SourceFinding::kMostFields of core/source_findings.h.
_FIELDS = 3
#: The most for one entry: a report has room for little more.
_MOST = 16
_WORDS = ("__aicore__", "__global__", "__gm__", "GM_ADDR")
#: Behind the source: shows which of the words are left, where a source defines them as nothing.
PROBE = "GNT_WORDS_LEFT __aicore__ __gm__ GM_ADDR\n"
#: Macros of the twin's own header that a source may branch on. ASCENDC_CPU_DEBUG is none: code for it is of no device.
_PLAIN_DEFINE = re.compile(r"^#define __?\w+ \d+$", re.MULTILINE)


@dataclass(frozen=True)
class OwnText:
    """The learner's lines of a preprocessed source, and the file and line of each."""

    text: str
    places: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Placed:
    """A finding of one entry, with its file and line."""

    entry: str
    file: str
    line: int
    finding: SourceFinding


def own_text(preprocessed: str, is_own: Callable[[Path], bool]) -> OwnText:
    """The lines of files that ``is_own``, of what ``-E`` printed."""
    lines: list[str] = []
    places: list[tuple[str, int]] = []
    own: dict[str, bool] = {}
    file, number, keep = "", 0, False
    for line in preprocessed.splitlines():
        if found := _MARKER.match(line):
            file, number = found[2].replace('\\"', '"').replace("\\\\", "\\"), int(found[1])
            if file not in own:
                own[file] = not file.startswith("<") and is_own(Path(file))
            keep = own[file]
            continue
        if keep:
            lines.append(line)
            places.append((file, number))
        number += 1
    return OwnText("\n".join(lines), tuple(places))


def words_are_left(preprocessed: str) -> bool:
    """Whether the source leaves CANN's words what they are; without them nothing can be said to lack one."""
    return "\nGNT_WORDS_LEFT __aicore__ __gm__ GM_ADDR" in preprocessed


@dataclass(frozen=True)
class SourceFacts:
    """What device code of a text may not have, for each entry in the order of the source.

    plain_pointers: whether it reads or writes memory through plain pointers (``plain_pointers``). indexed_arrays:
    whether it indexes arrays of its own by more than literals.
    """

    found: tuple[Placed, ...] = ()
    plain_pointers: bool = False
    indexed_arrays: bool = False


def find(own: OwnText) -> tuple[Placed, ...]:
    """Return what device code of the text may not have."""
    return read(own).found


def read(own: OwnText) -> SourceFacts:
    """Return the facts about the text; none if it has no device code."""
    # The import takes 50 ms, and most launches find their library in the cache.
    from gn_tutorial.cpp.device_code import DeviceCode
    from gn_tutorial.cpp.plain_pointers import indexes_arrays, uses_plain_pointers
    from gn_tutorial.cpp.syntax import parse

    if "__global__" not in own.text:
        return SourceFacts()
    try:
        code = DeviceCode(parse(own.text))
        return SourceFacts(tuple(_placed(own, code)), uses_plain_pointers(code), indexes_arrays(code))
    except ArgumentError:
        return SourceFacts()  # it is beyond a bound of ``syntax`` or ``scopes``


def _placed(own: OwnText, code: DeviceCode) -> Iterator[Placed]:
    from gn_tutorial.cpp.rules import RULES

    claims = [one for rule in RULES for one in rule(code) if code.part_of(one.at) in code.may_run]
    claims = sorted((one for one in claims if code.is_live(one.at)), key=lambda one: one.at.start_byte)
    for entry in code.entries if claims else ():
        reached = code.reached_from(entry)
        raw = [one for one in claims if code.part_of(one.at) in reached]
        raw = [one for one in raw if entry not in code.thread_entries or one.id not in _OF_CORES]
        placed = {(one.id, *own.places[one.line - 1]): one for one in reversed(raw) if one.line <= len(own.places)}
        listed = sorted(placed.items(), key=lambda item: (item[0][1] != own.places[0][0], item[0][1:], item[0][0]))
        yield from (Placed(entry, file, line, one) for (_, file, line), one in listed[:_MOST])


def table(found: Sequence[Placed]) -> str:
    """The findings as the table that ``gn_twin/core/source_findings.h`` reads."""
    return "\n".join(["GNT_SOURCE_FINDINGS_BEGIN", *map(_row, found), "GNT_SOURCE_FINDINGS_END", ""])


def _row(one: Placed) -> str:
    fields = [f"{{{_quoted(key)}, {_quoted(value)}}}" for key, value in one.finding.fields.items()]
    padding = ['{"", ""}'] * (_FIELDS - len(fields))
    error = "true" if one.finding.id in ERRORS else "false"
    words = [_quoted(one.entry), _quoted(one.finding.id), error, _quoted(one.file), str(one.line), str(len(fields))]
    return f"{{{', '.join(words)}, {{{', '.join(fields + padding)}}}}},"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\\u", "\\\\u")


def stand_ins(folder: Path, twin: Path, texts: Sequence[str] | None) -> Path:
    """Makes, below ``folder``, a header without declarations for each one of the twin's; returns their include folder.

    So the words of CANN stay as they were written, and reading takes a tenth of the time of the real headers. texts:
    only of headers that one of these names, since making all of them takes as long as reading; None: of all.
    """
    root = folder / "names"
    named = "\n".join(texts) if texts is not None else None
    for name in _header_names(twin):
        if named is not None and name not in _ALWAYS and name.rpartition("/")[2] not in named:
            continue
        made = root / name
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_bytes(b"")
    config = (twin / "gn_twin" / "base" / "config.h").read_text(encoding="utf-8")
    (root / "kernel_operator.h").write_text(
        # Words that stand for themselves: what is #ifndef in a header that hosts read too is defined.
        "\n".join(["#pragma once", *_PLAIN_DEFINE.findall(config), *(f"#define {one} {one}" for one in _WORDS), ""]),
        encoding="utf-8",
    )
    types = "gn_twin/base/data_type_macros.h"
    (root / types).parent.mkdir(parents=True, exist_ok=True)
    (root / types).write_text(f'#include "{twin / types}"\n', encoding="utf-8")
    return root


#: What the build's own text includes.
_ALWAYS = ("gn_twin/core/launch.h", "gn_twin/host/acl_runtime.h")


def _header_names(twin: Path) -> Iterator[str]:
    for path in twin.rglob("*.h"):
        name = path.relative_to(twin).as_posix()
        if not name.startswith("gn_twin/") or name in _ALWAYS:
            yield name
