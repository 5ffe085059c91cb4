"""Preprocesses sources: returns the text that a compiler reads, without branches that ``#if`` leaves out.

``chosen_text`` does not expand macros. The twin defines words such as __aicore__ as empty macros, so an expansion would
remove words that the author wrote.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gn_tutorial.compiler.build import forwarding_folders
from gn_tutorial.compiler.build_request import TWIN_INCLUDE
from gn_tutorial.compiler.cache import Cache, default_cache
from gn_tutorial.compiler.dtype_macros import dtype_defines
from gn_tutorial.compiler.messages import Sources
from gn_tutorial.compiler.process import CompileLimits, preprocessed
from gn_tutorial.compiler.shim import Shim
from gn_tutorial.compiler.toolchain import find_compiler, header_flags
from gn_tutorial.cpp.forbidden_calls import KernelText
from gn_tutorial.cpp.included_files import read_sources
from gn_tutorial.cpp.portability_rules import OwnText, own_text
from gn_tutorial.cpp.source_text import short
from gn_tutorial.errors import CompilerMissing, RegistryError

_TWIN = '#define GNT_OBSERVED 1\n#include "kernel_operator.h"\n'


def chosen_text(
    source: Path,
    *,
    include_dirs: Sequence[Path] = (),
    defines: Sequence[str] = (),
    limits: CompileLimits | None = None,
    cache: Cache | None = None,
) -> str | None:
    """Return the lines of ``source`` and its includes that are compiled, without files of the twin and the system.

    The ``#include`` lines are kept. include_dirs, defines: as for ``build_kernel``. Returns None if preprocessing
    fails, for example because a header is missing or the compiler cannot leave macros unexpanded. Raises
    CompilerMissing, CacheError.
    """
    source = source.resolve()
    words = [word for one in (source.parent, *include_dirs) for word in ("-iquote", str(Path(one).resolve()))]
    words += ["-fdirectives-only", "-dI", *(f"-D{define}" for define in defines)]
    text = _preprocessed(f'{_TWIN}#include "{source}"\n', words, source.name, limits, cache)
    roots = {source.parent, *(Path(one).resolve() for one in include_dirs)}
    return None if text is None else own_text(text, lambda path: _below(path, roots)).text


def twin_texts(*, limits: CompileLimits | None = None, cache: Cache | None = None) -> list[str]:
    """Return the texts of the twin's headers after preprocessing, macros expanded; none if preprocessing fails.

    Raises CompilerMissing, CacheError.
    """
    text = _preprocessed(_TWIN, (), "kernel_operator.h", limits, cache)
    own = own_text(text or "", lambda path: path.resolve().is_relative_to(TWIN_INCLUDE))
    lines: dict[str, list[str]] = {}
    for line, (file, _) in zip(own.text.splitlines(), own.places, strict=False):
        lines.setdefault(file, []).append(line)
    return ["\n".join(one) for one in lines.values()]


def kernel_texts(
    kernels: Mapping[str, str],
    *,
    beside: Mapping[str, str] | None = None,
    near: Path | None = None,
    builds: Sequence[Mapping[str, str]] = ({},),
    cache: Cache | None = None,
) -> Iterator[KernelText]:
    """Yield what the compiler reads of a kernel's files (path -> text), once for each source and build.

    Macros are expanded. The twin's real headers come first, so that an ``#if`` on a macro of theirs decides as in a
    build. ``#include`` lines are kept. beside: more files that may be included. near: a folder with still more.
    builds: the dtypes of each build (see ``build_kernel``). Without a compiler, or if preprocessing fails, the text of
    all files as it was written follows.
    """
    sources = [name for name in kernels if name.endswith(".cpp")] or list(kernels)
    failed = False
    try:
        cache = cache or default_cache()
        with cache.scratch() as folder:
            desk = _Desk(folder, {**(beside or {}), **kernels}, near, cache)
            for source, dtypes in itertools.product(sources, builds):
                own = desk.read(source, dtypes)
                if own is None:
                    failed = True
                else:
                    yield KernelText(own)
    except CompilerMissing:
        failed = True
    if failed:
        yield KernelText(_as_written(kernels), in_order=False)


class _Desk:
    """A folder with a kernel's files, in which the preprocessor reads them."""

    def __init__(self, folder: Path, files: Mapping[str, str], near: Path | None, cache: Cache) -> None:
        self.folder, self.cache, self.compiler = folder, cache, find_compiler()
        self.root = (folder / "files").resolve()
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="replace")
        folders = (self.root / name for name in files)
        self.search = list(dict.fromkeys([*(path.parent for path in folders), self.root, *([near] if near else [])]))

    def read(self, source: str, dtypes: Mapping[str, str]) -> OwnText | None:
        """Return the lines of the files that one build reads, with the files' names; None if preprocessing fails."""
        path = self.root / source
        try:
            sources = read_sources(path, path.read_text(encoding="utf-8"), self.search, TWIN_INCLUDE)
        except RegistryError:
            return None
        shim = self.folder / "shim.cpp"
        shim.write_text(Shim(path, True, (), bool(dtypes) or not sources.names_host_types).text, encoding="utf-8")
        defines = [f"-D{one}" for one in dtype_defines(dtypes)]
        folders = (*self.search, *forwarding_folders(self.cache, sources))
        includes = [word for one in folders for word in ("-iquote", str(one))]
        text = preprocessed(
            self.compiler,
            shim,
            [*header_flags(self.compiler, observed=True), "-dI", *defines, *includes, "-I", str(TWIN_INCLUDE)],
            folder=self.folder,
            zig_cache=self.cache.root / "zig",
            limits=CompileLimits(seconds=30.0),
            shown=source,
        )
        if text is None:
            return None
        ours = Sources(main=path, shim=shim, twin=TWIN_INCLUDE, learner=tuple(self.search))
        own = own_text(text, ours.is_learners)
        return OwnText(own.text, tuple((self._named(file), line) for file, line in own.places))

    def _named(self, file: str) -> str:
        path = Path(os.path.normpath(file))
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else short(path)


def _as_written(kernels: Mapping[str, str]) -> OwnText:
    """Return the files' texts in one, with each line that ends in a backslash joined to the next one."""
    lines: list[str] = []
    places: list[tuple[str, int]] = []
    for name, text in kernels.items():
        joined = ""
        for number, line in enumerate((*text.splitlines(), ""), 1):
            if not joined:
                places.append((name, number))
            if line.rstrip().endswith("\\"):
                joined += line.rstrip()[:-1] or " "
            else:
                lines.append(joined + line)
                joined = ""
    return OwnText("\n".join(lines), tuple(places))


def _preprocessed(
    shim_text: str, words: Sequence[str], shown: str, limits: CompileLimits | None, cache: Cache | None
) -> str | None:
    """Return the preprocessor's output for a text, with its line markers; None if it fails."""
    compiler = find_compiler()
    cache = cache or default_cache()
    with cache.scratch() as folder:
        shim = folder / "shim.cpp"
        shim.write_text(shim_text, encoding="utf-8")
        return preprocessed(
            compiler,
            shim,
            [*header_flags(compiler), *words, "-I", str(TWIN_INCLUDE)],
            folder=folder,
            zig_cache=cache.root / "zig",
            limits=limits or CompileLimits(seconds=30.0),
            shown=shown,
        )


def _below(path: Path, roots: set[Path]) -> bool:
    """Whether a file is the author's: it lies below the parent of one of ``roots``, and is no header of the twin."""
    resolved = path.resolve()
    if resolved.is_relative_to(TWIN_INCLUDE):
        return False
    # Files below the parent of a search folder count, because ../other_op/x.h belongs to the project too.
    return any(resolved.is_relative_to(root.parent) for root in roots)
