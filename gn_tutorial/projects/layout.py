"""Finds the files of an operator project and their roles: host files, kernels, headers.

The text of a file decides its role, because folders differ: 8.x and 9.x projects have op_host and op_kernel, operator
repositories have several host files, and samples have everything in one folder.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gn_tutorial.cpp.entries import has_marked
from gn_tutorial.cpp.includes import includes, with_live_lines
from gn_tutorial.cpp.launches import has_main
from gn_tutorial.cpp.literals import has_word, without_comments
from gn_tutorial.cpp.queries import is_host_source, names_matmul, registered_operators
from gn_tutorial.cpp.source_text import source_text
from gn_tutorial.cpp.structs import struct_file
from gn_tutorial.errors import ArgumentError, located
from gn_tutorial.projects.packing import whole

_SOURCES = (".cpp", ".cc", ".cxx")
_HEADERS = (".h", ".hpp")
#: Folders without an operator's own sources: builds, tests, plug-ins of frameworks, aclnn functions written by hand.
_SKIPPED = frozenset(
    """build build_out cmake-build-debug node_modules __pycache__ third_party tests test ut st examples framework
    op_api op_graph docs scripts makeself""".split()
)
#: Names of folders and files for one architecture. Those in _OWN_CHIP are for the twin's own.
_OTHER_CHIPS = re.compile(r"^(arch\d\d|dav_\d+|ascend\d+\w*)$|_(arch35|regbase|apt)\.(cpp|h)$")
_OWN_CHIP = frozenset({"arch22", "dav_2201", "ascend910b"})
_LARGEST = 4 << 20
_MOST_NEIGHBOURS = 100


@dataclass(frozen=True)
class Layout:
    """The files of one project. hosts, kernels: sources. headers: every header.

    named: the folder that the caller gave. root: the folder with the files. It is ``named``, or a folder in the cache
    for a package of the course (``packing``). texts: the text of each source and header, without comments. elsewhere:
    further sources that host files may refer to: host files for other architectures, helpers that register nothing,
    and the source beside an included header outside the project.
    """

    named: Path
    root: Path
    hosts: tuple[Path, ...]
    kernels: tuple[Path, ...]
    headers: tuple[Path, ...]
    texts: dict[Path, str]
    elsewhere: tuple[Path, ...] = ()

    @property
    def include_dirs(self) -> tuple[Path, ...]:
        """The folders that are searched for quoted includes.

        These are the files' own folders, the root, the three folders above the root, and ``common/inc`` in the root and
        in each of the three.
        """
        folders = [path.parent for path in (*self.hosts, *self.kernels, *self.headers)]
        above = [self.root, *_above(self.root)]
        # A repository of operators has a folder common/inc at its top, with headers for all of them.
        shared = [folder / "common" / "inc" for folder in above]
        return tuple(dict.fromkeys((*folders, *above, *(folder for folder in shared if folder.is_dir()))))

    def place(self, path: Path) -> Path:
        """Return the path below ``root`` for a path inside ``named``; any other path unchanged."""
        found = path.expanduser().resolve()
        return self.root / found.relative_to(self.named) if found.is_relative_to(self.named) else path

    def of(self, op_type: str) -> Layout:
        """Return the layout with only the host files of one operator.

        These are all host files of each folder in which at least one host file names the operator's type.
        """
        folders = {path.parent for path in self.hosts if has_word(self.texts[path], op_type)}
        hosts = tuple(path for path in self.hosts if path.parent in folders)
        return replace(self, hosts=hosts)

    def op_types(self) -> tuple[str, ...]:
        """Return the operator types that the host files register, in order."""
        registered = (registered_operators(self.texts[path]) for path in self.hosts)
        return tuple(dict.fromkeys(name for names in registered for name in names))

    def require_operators(self) -> tuple[str, ...]:
        """Return ``op_types``. Raises ArgumentError if the host files register none."""
        types = self.op_types()
        if not types:
            raise ArgumentError(
                f"no host file of {self.named} registers an operator",
                where=str(self.hosts[0]),
                hint="OP_ADD(YourOp); behind class YourOp : public OpDef",
            )
        return types

    def struct_header(self, name: str) -> Path | None:
        """Return the header that defines the tiling struct of that name, by a macro or as a plain struct; or None."""
        return struct_file(name, {path: self.texts[path] for path in self.headers})


def read_layout(root: Path) -> Layout:
    """Return the layout of the files below ``root``.

    Raises ArgumentError if there is no such folder, if no host file is below it, or if a file cannot be read.
    """
    with contextlib.suppress(ValueError):  # a path with a NUL or a lone surrogate cannot be a folder
        root = Path(root).expanduser().resolve()
    if not root.is_dir():
        raise ArgumentError(
            f"there is no folder {root}", hint="the folder that msopgen made, with op_host and op_kernel"
        )
    named, root = root, whole(root)
    texts = {path: _text(path) for path in _files(root)}
    neighbours = _neighbours(root, texts)
    sources = [path for path in texts if path.suffix in _SOURCES]
    own = [path for path in sources if not _other_chip(path)]
    kernels = tuple(path for path in own if has_marked(texts[path]) and not has_main(texts[path], path))
    found = [path for path in sources if path not in kernels and _is_host(path, texts[path])]
    hosts = tuple(path for path in found if not has_main(texts[path], path) and not _other_chip(path))
    helpers = [path for path in own if path not in (*found, *kernels) and path.parent in {one.parent for one in hosts}]
    elsewhere = [path for path in found if _other_chip(path)]
    elsewhere += [path for path in helpers if not has_main(texts[path], path)]
    elsewhere += [path.with_suffix(".cpp") for path in neighbours if path.with_suffix(".cpp").is_file()]
    texts |= neighbours
    if not hosts:
        said = "no file below it registers an operator (OP_ADD) or its tiling (IMPL_OP_OPTILING)"
        raise ArgumentError(
            f"{named} is no operator project: {said}", hint="name the folder above op_host and op_kernel"
        )
    headers = tuple(path for path in texts if path.suffix in _HEADERS)
    return Layout(named, root, hosts, kernels, headers, texts, tuple(elsewhere))


def _is_host(path: Path, text: str) -> bool:
    with located(path):
        return is_host_source(text)


def uses_matrix_cores(layout: Layout) -> Path | None:
    """Return the first file that uses the matrix cores (Matmul), which the twin lacks; None if no file does."""
    return next((path for path in (*layout.kernels, *layout.hosts) if names_matmul(layout.texts[path])), None)


def _neighbours(root: Path, texts: dict[Path, str]) -> dict[Path, str]:
    """Return path -> text of headers outside ``root`` that the files include, directly or through such a header."""
    found: dict[Path, str] = {}
    waiting = list(texts.items())
    while waiting:
        path, text = waiting.pop()
        quoted = [one.name for one in includes(text) if one.quoted]
        for name, above in itertools.product(quoted, (path.parent, *_above(root))):
            header = Path(os.path.normpath(above / name))
            known = header in texts or header in found or header.suffix not in _HEADERS
            if known or len(found) == _MOST_NEIGHBOURS or not _readable(header):
                continue
            found[header] = _text(header)
            waiting.append((header, found[header]))
    return found


def _above(root: Path) -> list[Path]:
    """Return the three folders above ``root``. An include in an operator repository may start at one of them."""
    return list(root.parents)[:3]


def _text(path: Path) -> str:
    """Return the text of a file without comments, and with empty lines for those that ``#if 0`` leaves out.

    Many projects keep the template's struct in these lines.
    """
    return without_comments(with_live_lines(_read(path)))


def _files(root: Path) -> Iterator[Path]:
    """Yield the paths of sources and headers. Raises ArgumentError for a folder or file that cannot be accessed."""
    for folder, names, files in os.walk(root, onerror=_cannot_read):
        # Folders whose names begin with a dot belong to tools. Jupyter's .ipynb_checkpoints has copies of sources.
        names[:] = sorted(name for name in names if name not in _SKIPPED and not name.startswith("."))
        for name in sorted(files):
            path = Path(folder, name)
            if path.suffix in (*_SOURCES, *_HEADERS) and not _too_large(path):
                yield path


def _too_large(path: Path) -> bool:
    """Whether a file is too large to be a source. Such a file is data."""
    try:
        return path.stat().st_size >= _LARGEST
    except OSError as error:
        _cannot_read(error)
        raise


def _readable(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size < _LARGEST
    except OSError:  # in a folder that cannot be entered
        return False


def _other_chip(path: Path) -> bool:
    """Whether the name of the file, or of one of the two folders above it, is that of another architecture."""
    names = (path.name, path.parent.name, path.parent.parent.name)
    return any(_OTHER_CHIPS.search(name) and name not in _OWN_CHIP for name in names)


def _read(path: Path) -> str:
    try:
        return source_text(path)
    except OSError as error:
        _cannot_read(error)
        raise


def _cannot_read(error: OSError) -> None:
    raise ArgumentError(
        f"cannot read a file of the project: {error.strerror}",
        where=str(error.filename),
        hint="sources and headers are regular files that you may read; remove a link that leads nowhere",
    ) from error
