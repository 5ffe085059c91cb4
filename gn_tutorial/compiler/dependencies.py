"""The files that a compiled library depends on. A look-up compares them, and need not compile if none has changed.

The compiler lists every file it read (-MD). The list is stored with a content hash for each file. A look-up hashes the
same files again and finds the library by the result. It skips a file whose size, times and inode are unchanged, if the
file was at rest when it was hashed: not saved within the last two seconds. Without this rule, a file that is saved
twice within one tick of the file system's clock would count as unchanged.
"""

from __future__ import annotations

import functools
import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.toml_file import REST_NANOSECONDS


@dataclass(frozen=True)
class Dependency:
    """One file, its content hash, and its looks (size, times, inode) when it was hashed.

    rested: whether the file was at rest then, so that equal looks mean equal contents.
    """

    path: str
    content: str
    looks: tuple[int, int, int, int]  # size, modification time, change time (ns), inode
    rested: bool


@dataclass(frozen=True)
class Dependencies:
    """The files of one compilation, and paths that must stay absent, because a header there would be found first."""

    files: tuple[Dependency, ...]
    absent: tuple[str, ...]

    def result_key(self, request_key: str) -> str:
        """Return the cache key of the library that the request yields when it is compiled with these files."""
        lines = [request_key, *(f"{file.content} {file.path}" for file in self.files)]
        return checksum("\n".join(lines).encode("utf-8", "surrogateescape"))

    def now(self) -> Dependencies | None:
        """Return these dependencies with the files as they are now.

        None: a file cannot be read, or a path of ``absent`` exists.
        """
        if any(os.path.lexists(path) for path in self.absent):
            return None
        try:
            return Dependencies(tuple(_again(file) for file in self.files), self.absent)
        except OSError:
            return None

    def unchanged(self) -> bool:
        """Whether every file has the contents that it had when it was hashed, and no path of ``absent`` exists."""
        now = self.now()
        return now is not None and [one.content for one in now.files] == [one.content for one in self.files]

    def and_of(self, other: Dependencies) -> Dependencies:
        """Return the union of both: their files and their absent paths, each once."""
        files = {one.path: one for one in (*self.files, *other.files)}
        return Dependencies(tuple(files.values()), tuple(dict.fromkeys((*self.absent, *other.absent))))

    def to_bytes(self) -> bytes:
        """Return the bytes for the cache; ``from_bytes`` reads them back."""
        files = [(file.path, file.content, *file.looks, int(file.rested)) for file in self.files]
        return json.dumps({"files": files, "absent": self.absent}).encode("ascii")

    @staticmethod
    @functools.lru_cache(maxsize=32)  # parsing a list of two hundred files takes a fifth of a look-up
    def from_bytes(data: bytes) -> Dependencies | None:
        """Return the dependencies from the bytes of ``to_bytes``; None for bytes of another format, or damaged ones."""
        try:
            read = json.loads(data)
            files = tuple(
                Dependency(path, content, (size, mtime, ctime, inode), bool(rested))
                for path, content, size, mtime, ctime, inode, rested in read["files"]
            )
            return Dependencies(files, tuple(read["absent"]))
        except (ValueError, KeyError, TypeError):
            return None


def collect(paths: Iterable[str], search: Sequence[Path], since: int) -> Dependencies | None:
    """Returns the files that a compilation read, with their hashes, and the paths that must stay absent.

    ``search``: the include folders in order. ``since``: the start of the compilation, in nanoseconds since the epoch.
    Returns None if a file changed after ``since``, because the compiler may have read the earlier text. Raises OSError
    if a file cannot be read.
    """
    files = []
    for path in paths:
        file = hash_file(path)
        if max(file.looks[1], file.looks[2]) >= since:
            return None
        files.append(file)
    return Dependencies(tuple(files), tuple(must_stay_absent([file.path for file in files], search)))


def hash_file(path: str) -> Dependency:
    """Return the file's Dependency as it is now. Raises OSError if the file cannot be read."""
    now = time.time_ns()
    looks = _looks(path)
    with open(path, "rb") as file:
        content = checksum(file.read())
    return Dependency(path, content, looks, now - max(looks[1], looks[2]) > REST_NANOSECONDS)


def parse_depfile(text: str) -> list[str]:
    """Return the paths after the colon of the Makefile rule that -MD writes, each path once.

    In the rule, ``\\ `` stands for a space, ``\\#`` for a hash sign and ``$$`` for a dollar.
    """
    _, _, names = text.replace("\\\r\n", " ").replace("\\\n", " ").partition(": ")
    found, name, at = [], "", 0
    while at < len(names):
        pair = names[at : at + 2]
        if pair in ("\\ ", "\\#", "$$"):
            name, at = name + pair[1], at + 2
        elif names[at].isspace():
            found.append(name)
            name, at = "", at + 1
        else:
            name, at = name + names[at], at + 1
    found.append(name)
    return list(dict.fromkeys(one for one in found if one))


def must_stay_absent(paths: Sequence[str], search: Sequence[Path]) -> list[str]:
    """Return the paths in ``search`` at which a new header would be found before one of ``paths``.

    search: the include folders in order.
    """
    roots = [str(folder) + os.sep for folder in search]
    absent = []
    for path in paths:
        for index, root in enumerate(roots):
            if path.startswith(root):
                earlier = (before + path[len(root) :] for before in roots[:index])
                absent += [candidate for candidate in earlier if candidate not in paths]
                break
    return absent


def _again(file: Dependency) -> Dependency:
    if file.rested and _looks(file.path) == file.looks:
        return file
    return hash_file(file.path)


def _looks(path: str) -> tuple[int, int, int, int]:
    stat = os.stat(path)
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino
