"""What a text includes, and the files that it includes by quotes, as text.

A directive is a line, whatever stands around it, so a pattern on lines reads it exactly, also where ``#if`` cuts a
construct in two, in text beyond the bound of ``syntax``, and in the playground's page before it has the parser.

A compiler finds ``#include "x.h"`` beside the includer, then in the folders of the build. Two kinds are in neither:

- ``"../other_op/x.h"`` in a repository of operators. Its build copies each ``<group>/<op>/op_kernel`` to ``<op>``, all
  side by side (ops-nn, cmake/gen_ops_info.cmake); in the repository the file is ``<group>/other_op/op_kernel/x.h``.
- CANN's own header of one part of the interface, such as ``"lib/math/kernel_operator_sin_intf.h"`` (8.x) or
  ``"adv_api/math/sin.h"``: the twin has all of them in ``kernel_operator.h``.

``forwarding_headers`` gives, for each such include, a header of one line that includes the file by its path.
"""

from __future__ import annotations

import codecs
import errno
import functools
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.cpp.literals import COMMENT_OR_LITERAL, without_comments
from gn_tutorial.errors import RegistryError

_DIRECTIVE = re.compile(r"^[^\S\n]*#[^\S\n]*(?P<word>include|if\w*|el\w*|endif)\b(?P<rest>[^\n]*)", re.MULTILINE)
_INCLUDED = re.compile(r'\s*(?:"([^"]+)"|<([^>]+)>)')
#: Without these, what looks like a directive is one.
_HIDES = re.compile(r"""/\*|R"|\\[^\S\n]*\n""")
#: Conditions that are known without any macro.
_KNOWN_CONDITIONS = {"0": False, "false": False, "1": True, "true": True}
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
_LARGEST = 16 << 20


@dataclass(frozen=True)
class Include:
    """An ``#include``. quoted: whether its name is in quotes. start, end: the offsets of its line in the text."""

    name: str
    quoted: bool
    line: int
    start: int
    end: int


def includes(text: str) -> tuple[Include, ...]:
    """Return what a text includes, in order, without comments and lines that ``#if 0`` leaves out. Never raises."""
    return _directives(text)[0] if "include" in text else ()


def with_includes(text: str, put: Callable[[Include], str | None]) -> str:
    """Return the text with what ``put`` returns in the place of an include's line; None leaves the line."""
    parts, at = [], 0
    for one in includes(text):
        if (line := put(one)) is not None:
            parts += [text[at : one.start], line]
            at = one.end
    return "".join([*parts, text[at:]])


def with_live_lines(text: str) -> str:
    """Return the text with blanks for the lines that ``#if 0`` leaves out; each offset stays true."""
    parts, at = [], 0
    for start, end in _directives(text)[1] if "#" in text else ():
        parts += [text[at:start], _blanks(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


@functools.lru_cache(maxsize=64)
def _directives(text: str) -> tuple[tuple[Include, ...], tuple[tuple[int, int], ...]]:
    """Return the includes of a text, and the offsets of lines that ``#if 0`` leaves out."""
    found, dead = [], []
    branches: list[tuple[bool, bool]] = []  # of each open #if: whether this branch is left out, whether one was taken
    since = line = at = 0  # since: where the lines that are left out begin, 0 outside of them
    for directive in _DIRECTIVE.finditer(_bare(text)):
        word, rest = directive["word"], without_comments(directive["rest"]).strip()
        if word == "include":
            if not since and (name := _INCLUDED.match(rest)):
                line, at = line + text.count("\n", at, directive.start()), directive.start()
                found.append(Include(name[1] or name[2], bool(name[1]), line + 1, at, directive.end()))
            continue
        taken = branches.pop()[1] if branches and not word.startswith("if") else False
        holds = _KNOWN_CONDITIONS.get(rest.strip("() \t")) if word in ("if", "elif") else None
        if word != "endif":
            branches.append((taken or holds is False, taken or holds is True))
        if since and not any(left for left, _ in branches):
            dead.append((since, directive.start()))
            since = 0
        elif not since and any(left for left, _ in branches):
            since = directive.end()
    return tuple(found), (*dead, *([(since, len(text))] if since else []))


def _bare(text: str) -> str:
    """Return the text up to the last directive, with blanks for comments, raw strings and joints of lines.

    Each offset stays true. To split all of a text takes longer than to parse it.
    """
    text = text[: max((one.end() for one in _DIRECTIVE.finditer(text)), default=0)]
    if not _HIDES.search(text):
        return text

    def hidden(found: re.Match[str]) -> str:
        return _blanks(found[0]) if found["comment"] or found["fence"] is not None else found[0]

    bare = COMMENT_OR_LITERAL.sub(hidden, text)
    return re.sub(r"\\[^\S\n]*\n", lambda found: " " * len(found[0]), bare)


def _blanks(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


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


def source_text(path: Path) -> str:
    """The text of a source file, without a byte-order mark.

    Raises OSError for text in UTF-16, and unless it is a regular file of at most 16 MiB: one that a source includes
    may be /dev/zero, which has no end, or a pipe, at which a reader waits for ever.
    """
    # O_NONBLOCK: to open a pipe that nobody writes to would wait; looked at when open, so that it is the file read.
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(opened, "rb") as file:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        if found.st_size > _LARGEST:
            raise OSError(errno.EFBIG, f"it has more than {_LARGEST >> 20} MiB", str(path))
        text = file.read(_LARGEST)
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise OSError(errno.EILSEQ, "it is in UTF-16, which no compiler takes: save it in UTF-8", str(path))
    return text.decode("utf-8-sig", "replace")


def readable_text(path: Path) -> str:
    """``source_text``, or nothing where that cannot be read: for files that are looked at, not asked for."""
    try:
        return source_text(path)
    except OSError:
        return ""


#: White space of Unicode. clang, and so the device's compiler, takes each for a blank (UnicodeWhitespaceChars in
#: clang/lib/Lex/UnicodeCharSets.h); g++ refuses it as part of a name. Text that is copied from a web page has some.
_BLANKS = "\u0085\u00a0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_BLANK_OR_QUOTED = re.compile(rf'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|[{_BLANKS}]', re.DOTALL)


def with_plain_blanks(text: str) -> str:
    """The text with a blank for each Unicode white space outside literals and comments: columns stay."""
    return _BLANK_OR_QUOTED.sub(lambda found: " " if len(found[0]) == 1 else found[0], text)


def short(path: Path) -> str:
    """A path for people: from the working folder or the home folder if it is inside; a cell's file by its name."""
    if path.parent.name == "sources" and path.name.startswith("cell_"):
        return path.name
    for base, mark in ((Path.cwd(), ""), (Path.home(), "~" + os.sep)):
        if path.is_relative_to(base) and base != Path(base.anchor):
            return mark + str(path.relative_to(base))
    return str(path)
