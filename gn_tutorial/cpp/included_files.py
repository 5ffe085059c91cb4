"""The files that a source includes by quotes, as text.

A compiler finds ``#include "x.h"`` beside the includer, then in the folders of the build. Two kinds are in neither:

- ``"../other_op/x.h"`` in a repository of operators. Its build copies each ``<group>/<op>/op_kernel`` to ``<op>``, all
  side by side (ops-nn, cmake/gen_ops_info.cmake); in the repository the file is ``<group>/other_op/op_kernel/x.h``.
- CANN's own header of one part of the interface, such as ``"lib/math/kernel_operator_sin_intf.h"`` (8.x) or
  ``"adv_api/math/sin.h"``: the twin has all of them in ``kernel_operator.h``.

``forwarding_headers`` gives, for each such include, a header of one line that includes the file by its path.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.cpp.includes import includes
from gn_tutorial.cpp.source_text import readable_text
from gn_tutorial.errors import RegistryError

_HOST_TYPES = re.compile(
    r"::\s*(?:DT|FORMAT)_|\bge\s*::\s*DataType|\busing\s+namespace\s+ge\b|\b(?:DT|FORMAT)_[A-Z\d_]+\s*=(?!=)"
)
#: Parts of the high-level API that run on vector cores; matrix multiplication and communication are not among them.
_PARTS = "|".join(
    """activation broadcast filter gelu index math normalization pad quantization reduce select sigmoid silu softmax
    sort transpose""".split()
)
_WHOLE = re.compile(
    rf"(?:lib|adv_api)/(?:{_PARTS})/\w+\.h"
    r"|(?:impl/)?(?:basic_api/|interface/)*kernel_(?!(?:operator_)?(?:kfc|mm|cube|fixpipe|conv|gemm))\w+_intf\.h"
    r"|utils/std/\w+\.h"
)
#: How far below its own folder the search for ``"../x/y.h"`` may climb inside the folder of forwarding headers.
_DEPTH = ("a", "b", "c", "d")


@dataclass(frozen=True)
class SourceTexts:
    """files: what was read, the source first, each with its text. forwards: included name -> the file it stands for."""

    files: dict[Path, str]
    forwards: dict[str, str]

    @property
    def headers(self) -> tuple[str, ...]:
        """The texts of all files but the first."""
        return tuple(self.files.values())[1:]

    @property
    def names_host_types(self) -> bool:
        """Whether one of the files is host code that names data types, or an enumeration of its own.

        ``ge::DT_FLOAT16`` is of the first kind. data_utils.h of CANN's samples begins with ``DT_UNDEFINED = -1``.
        """
        return any(_HOST_TYPES.search(text) for text in self.files.values())

    @property
    def forwarded_folders(self) -> tuple[Path, ...]:
        """Folders of the files behind ``forwards``."""
        return tuple(dict.fromkeys(Path(one).parent for one in self.forwards.values() if os.path.isabs(one)))


def read_sources(path: Path, text: str, folders: Sequence[Path], twin: Path) -> SourceTexts:
    """``text``, the source at ``path``, and every file of the user's that it includes by quotes, unless in ``#if 0``.

    folders: searched after the includer's own; the first one is the source's, since the text of a notebook's cell is
    kept elsewhere. twin: the folder of the twin's headers, which are not read. What was found before is looked at, and
    read again where something changed: a launch asks three times. Raises RegistryError, at the include's line, for a
    pipe or the like: the compiler would wait there, or read for ever.
    """
    key = path, text, tuple(folders), twin
    known = _KNOWN.get(key)
    if known is None or not known.still():
        known = _Walk()
        known.go(path, text, folders, twin)
        _KNOWN.pop(key, None)
        if known.lasting:
            while len(_KNOWN) >= _MOST_KNOWN:
                _KNOWN.pop(next(iter(_KNOWN)), None)
            _KNOWN[key] = known
    return SourceTexts(dict(known.files), dict(known.forwards))


class _Walk:
    """One walk through the includes of a source: what it read, and what each place that it looked at was then."""

    def __init__(self) -> None:
        self.files: dict[Path, str] = {}
        self.forwards: dict[str, str] = {}
        self._seen: dict[str, tuple[int, ...] | None] = {}
        self._elsewhere = False  # looked, or would have to look, at places that are not in _seen

    def still(self) -> bool:
        """Whether every place is as it was."""
        return all(_edition(place) == edition for place, edition in self._seen.items())

    @property
    def lasting(self) -> bool:
        """Whether ``still`` will tell of an edit, and it is not just being made: the clock of a file system ticks."""
        written = max((edition[1] for edition in self._seen.values() if edition), default=0)
        return not self._elsewhere and time.time_ns() - written > _TICK

    def go(self, path: Path, text: str, folders: Sequence[Path], twin: Path) -> None:
        """As ``read_sources`` says."""
        self.files[path] = text
        waiting = [(path, folders[0] if folders else path.parent, text)]
        while waiting:
            where, near, content = waiting.pop(0)
            for include in includes(content):
                name = include.name
                if not include.quoted:
                    continue
                found = self._found(name, near, folders)
                if found is None and (other := self._endless(name, near, folders)):
                    raise RegistryError(
                        f'#include "{name}": {other} is no regular file',
                        where=f"{where}:{include.line}",
                        hint="include a file",
                    )
                if found is None and not self._is_file(os.path.join(twin, name)):
                    found, self._elsewhere = _installed(name, where), True
                    if found is not None:
                        self.forwards.setdefault(name, str(found))
                    elif _WHOLE.fullmatch(name):
                        self.forwards.setdefault(name, "kernel_operator.h")
                if found is not None and found not in self.files:
                    self.files[found] = readable_text(found)
                    waiting.append((found, found.parent, self.files[found]))

    def _look(self, place: str) -> tuple[int, ...] | None:
        if place not in self._seen:
            self._seen[place] = _edition(place)
        return self._seen[place]

    def _is_file(self, place: str) -> bool:
        edition = self._look(place)
        return edition is not None and stat.S_ISREG(edition[0])

    def _found(self, name: str, near: Path, folders: Sequence[Path]) -> Path | None:
        for candidate in _candidates(name, near, folders):
            if self._is_file(candidate):
                return Path(candidate)
        return None

    def _endless(self, name: str, near: Path, folders: Sequence[Path]) -> str | None:
        """A pipe, socket or device of that name, where the compiler would look; /dev/null has an end."""
        for candidate in _candidates(name, near, folders):
            edition = self._look(candidate)
            if edition is not None and not stat.S_ISDIR(edition[0]) and candidate != os.devnull:
                return candidate
        return None


#: By what ``read_sources`` was given, the oldest first.
_KNOWN: dict[tuple[Path, str, tuple[Path, ...], Path], _Walk] = {}
_MOST_KNOWN = 64
#: Nanoseconds. Two edits this close may leave the same time; Linux counts in 10 ms at the most.
_TICK = 100_000_000


def _edition(place: str) -> tuple[int, ...] | None:
    """Changes when the file there does; the first number is its mode. None if there is nothing."""
    try:
        found = os.stat(place)
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return None
    return found.st_mode, found.st_mtime_ns, found.st_size, found.st_ino


def _candidates(name: str, near: Path, folders: Sequence[Path]) -> Iterator[str]:
    return (os.path.normpath(os.path.join(folder, name)) for folder in (near, *folders))


def forwarding_headers(forwards: dict[str, str]) -> dict[str, str]:
    """Relative path -> text of the headers that lead each name of ``SourceTexts.forwards`` to its file.

    They are found when the folder ``search_folder`` of the place where they are written is an include folder. A name
    that climbs higher than that is left out.
    """
    made = {}
    for name, target in sorted(forwards.items()):
        at = os.path.normpath(os.path.join(*_DEPTH, name))
        if not at.startswith(".."):
            made[at] = f'#pragma once\n#include "{target}"\n'
    return made


def search_folder(root: Path) -> Path:
    """The include folder of the forwarding headers that were written under ``root``."""
    return root.joinpath(*_DEPTH)


def _installed(name: str, where: Path) -> Path | None:
    """The file that ``name`` means once each operator's op_kernel has become a folder named after the operator."""
    kernel = next((one for one in where.parents if one.name == "op_kernel"), None)
    if kernel is None or not name.startswith("../"):
        return None
    operator = kernel.parent
    place = os.path.normpath(os.path.join(operator.name, os.path.relpath(where.parent, kernel), name))
    other, _, rest = place.partition("/")
    if other in ("..", operator.name) or not rest:
        return None
    for candidate in _operators(operator, other):
        if (candidate / "op_kernel" / rest).is_file():
            return candidate / "op_kernel" / rest
    return None


def _operators(operator: Path, other: str) -> Iterator[Path]:
    """Where the operator ``other`` may be: in the same group, then in the other groups of the repository."""
    group = operator.parent
    yield group / other
    try:
        groups = sorted(one for one in group.parent.iterdir() if one.is_dir() and one != group)
    except OSError:
        return
    yield from (one / other for one in groups)
