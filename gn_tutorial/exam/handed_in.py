"""What of a candidate's folder is taken: the sources of op_host and op_kernel; and rules on what they say."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.compiler.sources import source_text
from gn_tutorial.errors import ArgumentError
from gn_tutorial.exam.task import Task

_FOLDERS = ("op_host", "op_kernel")
_SUFFIXES = (".cpp", ".h", ".hpp")
_LARGEST = 1 << 20
GAP = "YOUR TURN"
#: A function's name where it is defined: behind a type, and with the word that every function of a kernel has.
_DEFINED = re.compile(r"__aicore__[\w\s:<>,*&]*?\b(\w+)\s*\(")


@dataclass(frozen=True)
class HandedIn:
    """files: path inside the folder -> text."""

    files: Mapping[str, str]

    def text(self) -> bytes:
        """All of it, to draw from."""
        return "\0".join(f"{name}\0{text}" for name, text in sorted(self.files.items())).encode()

    def gaps(self) -> dict[str, int]:
        """Path -> marks of gaps that are still there."""
        return {name: text.count(GAP) for name, text in self.files.items() if GAP in text}


@dataclass(frozen=True)
class Broken:
    """A rule of the task that an attempt breaks, and where."""

    what: str
    where: str


def handed_in(folder: Path) -> HandedIn:
    """Read the sources. Raises ArgumentError: no folder, no sources, one that cannot be read."""
    if not folder.is_dir():
        raise ArgumentError(
            f"there is no folder {folder}", hint="move it back, or begin anew: gnt exam start TASK --new"
        )
    found = {}
    for top in _FOLDERS:
        for path in sorted((folder / top).rglob("*")):
            if path.suffix not in _SUFFIXES or any(part.startswith(".") for part in path.relative_to(folder).parts):
                continue
            try:
                if not path.is_file() or path.stat().st_size > _LARGEST:
                    raise OSError(0, "it is no regular file, or larger than 1 MiB")
                found[path.relative_to(folder).as_posix()] = source_text(path)
            except OSError as error:
                raise ArgumentError(f"cannot read a source: {error.strerror}", where=str(path)) from error
    if not found:
        raise ArgumentError(f"{folder} has no sources in op_host and op_kernel", hint="gnt exam start TASK --new")
    return HandedIn(found)


def rule_broken(task: Task, attempt: HandedIn) -> Broken | None:
    """A forbidden name in the kernel, or None. Comments may have it, and so may a function of the candidate's own."""
    kernels = {name: _code(text) for name, text in attempt.files.items() if name.startswith("op_kernel/")}
    own = {name for text in kernels.values() for name in _DEFINED.findall(text)}
    for name, text in kernels.items():
        for number, line in enumerate(text.splitlines(), 1):
            if found := _forbidden(task, line, own):
                what = f"{found} is a high-level API, which this task forbids: it scores nothing"
                return Broken(what, f"{name}:{number}")
    return None


def _code(text: str) -> str:
    """Without comments, of which the ends of lines stay."""
    pattern = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
    return pattern.sub(lambda found: "\n" * found[0].count("\n") or " ", text)


def _forbidden(task: Task, line: str, own: Container[str]) -> str:
    for name in task.forbidden:
        before = r"AscendC\s*::\s*" if name in own else r"(?<![\w.>])"
        if re.search(rf"{before}{re.escape(name)}\s*[<(]", line):
            return name
    if found := re.search(r'#\s*include\s*["<]((?:lib|adv_api)/[^">]+)', line):
        return found[1]
    return ""
