"""Compiles kernels, host libraries and the launcher, or takes them from the cache.

A kernel's source is compiled unchanged. A generated file, the shim, includes the twin's headers and then the source,
and ends with a table of the source's entries.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gn_tutorial.abi.options import Optimise
from gn_tutorial.compiler.build_request import OBJECT, PROGRAM, TWIN, TWIN_INCLUDE, BuildRequest, precompiled_form
from gn_tutorial.compiler.cache import Cache, default_cache
from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.compiler.dependencies import Dependencies
from gn_tutorial.compiler.dtype_macros import dtype_defines
from gn_tutorial.compiler.precompiled_header import Precompiled
from gn_tutorial.compiler.process import CompileLimits
from gn_tutorial.compiler.shim import MAIN_ENTRY, Shim
from gn_tutorial.compiler.toolchain import (
    Compiler,
    find_compiler,
    header_flags,
    host_flags,
    kernel_flags,
    object_flags,
    program_flags,
)
from gn_tutorial.cpp.entries import Entry, entries_to_compile, macro_lines, require_entries, scan
from gn_tutorial.cpp.included_files import SourceTexts, forwarding_headers, read_sources, search_folder
from gn_tutorial.cpp.launches import is_sample, launches, rewrite, without_launchers
from gn_tutorial.cpp.source_text import short, source_text, with_plain_blanks
from gn_tutorial.errors import RegistryError, located


@dataclass(frozen=True)
class Built:
    """A compiled library (or, for the launcher, a program) in the cache.

    entries: its kernels, and ``main`` if the source defines one; a host library and the launcher have none. cached:
    whether the library was in the cache already. seconds: the duration of the call, including the look-up in the cache.
    made_of: the files from which a kernel's library and its checkers were compiled. None: they are not known, other
    objects were linked in, or this is not a kernel's library.
    """

    library: Path
    entries: tuple[Entry, ...]
    cached: bool
    seconds: float
    compiler: Compiler
    made_of: Dependencies | None = None


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """How a kernel's source is read.

    include_dirs: folders in which quoted includes are searched after the source's own folder, which is the working
    folder for a cell. includes: files that are read before the source, as a project's build reads its tiling header.
    defines: ``NAME`` or ``NAME=VALUE``. dtypes: ``{"x": "float16"}`` defines DTYPE_X, ORIG_DTYPE_X and FORMAT_X as an
    operator package would. template: arguments for the kernel template of the source, ``"float, 16"`` (see
    ``cpp.entries.require_entries``). launchers: whether to keep the source's host functions that launch kernels. A
    project's build leaves them out, because it compiles for the device alone.
    """

    include_dirs: Sequence[Path] = ()
    includes: Sequence[Path] = ()
    defines: Sequence[str] = ()
    dtypes: Mapping[str, str] | None = None
    template: str = ""
    launchers: bool = True

    @property
    def macros(self) -> tuple[str, ...]:
        """The definitions before the source, as ``NAME`` or ``NAME=VALUE``. Raises ArgumentError (dtypes)."""
        return (*self.defines, *dtype_defines(self.dtypes or {}))


AS_IT_IS = SourceOptions()


def build_kernel(
    source: Path | str,
    how: SourceOptions = AS_IT_IS,
    *,
    observed: bool = True,
    optimise: Optimise = True,
    ub_bytes: int | None = None,
    objects: Sequence[Path] = (),
    cache: Cache | None = None,
    limits: CompileLimits | None = None,
) -> Built:
    """Builds a kernel file (a Path) or the source text of a notebook cell (a str), and returns its library.

    observed: whether the library has the twin's checks and counts. optimise: see ``options.Optimise``. ub_bytes: size
    of the Unified Buffer, for a chip that differs from ``gn_twin/base/config.h``. objects: object files of the cache to
    link in: the other parts of a program whose main is in the source. With ``objects``, the main need not launch a
    kernel itself.

    A source that defines ``main`` also has an entry ``main``, unless ``how.launchers`` left functions out.

    Raises RegistryError (the file cannot be read, or its path has a quote, backslash or line end), ArgumentError
    (dtypes, template, more than a megabyte of text), CompileError (no entry, or the compiler's errors at the learner's
    lines), CompilerMissing, CacheError.
    """
    begin = time.perf_counter()
    cache = cache or default_cache()
    ready = prepared(source, how, observed=observed, part=bool(objects), cache=cache)
    compiler = find_compiler()
    sized = (f"-DGNT_UB_BYTES={ub_bytes}",) if ub_bytes else ()
    watchers, of_watchers = build_watchers(cache, compiler, sized) if observed else (None, Dependencies((), ()))
    linked = (*((watchers,) if watchers else ()), *objects)

    def at(level: Optimise) -> BuildRequest:
        flags = (*kernel_flags(compiler, optimise=level, observed=observed), *sized)
        precompiled = _twins_headers(cache, compiler, observed, level, sized)
        return ready.request(
            cache, compiler, flags, limits, objects=linked, precompiled=precompiled, checked=observed, texts=ready.texts
        )

    fast = at(True).look_up() if optimise == "soonest" else None
    library, made_of, cached = (*fast, True) if fast else at("little" if optimise == "soonest" else optimise).make()
    if not ready.shim.entries:
        require_entries(ready.texts[0], short(ready.path), how.template, ready.scanned)
    made_of = made_of.and_of(of_watchers) if made_of and of_watchers and not objects else None
    return Built(library, ready.shim.entries, cached, time.perf_counter() - begin, compiler, made_of)


@dataclass(frozen=True)
class PreparedSource:
    """A kernel's source, ready for a compiler: its shim, the folders of its includes, and its definitions as flags.

    learner: folders of the learner's files; search: those in which includes are looked for. texts: the source and the
    headers beside it; scanned: what entries are looked for in beside the source: the definitions and these headers.
    path: the source as the learner knows it; the shim may include a rewritten copy.
    """

    path: Path
    shim: Shim
    learner: tuple[Path, ...]
    search: tuple[Path, ...]
    defined: tuple[str, ...]
    texts: tuple[str, ...]
    scanned: tuple[str, ...]

    def request(
        self, cache: Cache, compiler: Compiler, flags: Sequence[str], limits: CompileLimits | None, **more: Any
    ) -> BuildRequest:
        """Return the request to compile the source with these flags. more: other fields of BuildRequest."""
        return BuildRequest(
            cache=cache,
            compiler=compiler,
            text=self.shim.text,
            flags=(*flags, *self.defined),
            learner=self.learner,
            search=self.search,
            source=self.path,
            shim_lines=self.shim.lines,
            shown=short(self.path),
            limits=limits or CompileLimits(),
            **more,
        )


def prepared(
    source: Path | str, how: SourceOptions, *, observed: bool, part: bool = False, cache: Cache
) -> PreparedSource:
    """Return the source, ready for a compiler. The arguments and errors are those of ``build_kernel``.

    part: whether the source is a part of a program, whose main need not launch a kernel itself.
    """
    if isinstance(source, Path):
        path, text, near = *_read(source), source.resolve().parent
    else:
        path, text, near = (
            cache.keep_source(f"cell_{checksum(source.encode('utf-8', 'surrogatepass'))[:12]}.cpp", source),
            source,
            Path.cwd(),
        )
    own, included = near, tuple(Path(one).resolve() for one in how.include_dirs)
    compiled, main = path, False
    if (plain := with_plain_blanks(text)) != text:
        text, compiled = plain, _keep_sample(cache, path, plain)
    with located(short(path)):
        if not how.launchers and (device := without_launchers(text)) != text:
            text, compiled = device, _keep_sample(cache, path, device)
        elif is_sample(text, near):
            sample = rewrite(text, path)
            compiled, main = _keep_sample(cache, path, sample.text), sample.has_main
            included = (*included, *sample.folders)
    first = tuple(Path(one).resolve() for one in how.includes)
    folders = tuple(dict.fromkeys((own, *included, *(one.parent for one in first))))
    sources = read_sources(path, text, folders, TWIN_INCLUDE)
    forwarded = forwarding_folders(cache, sources)
    macros = how.macros
    scanned = (macro_lines(macros), *sources.headers) if macros else sources.headers
    entries = _entries(text, path, how.template, main, scanned, part=part)
    return PreparedSource(
        path=path,
        shim=Shim(compiled, observed, entries, bool(how.dtypes) or not sources.names_host_types, first),
        learner=(*folders, *sources.forwarded_folders),
        search=(*folders, *forwarded, TWIN_INCLUDE),
        defined=tuple(f"-D{define}" for define in macros),
        texts=(text, *sources.headers),
        scanned=scanned,
    )


def build_host_library(
    source_text: str,
    *,
    include_dirs: Sequence[Path] = (),
    cache: Cache | None = None,
    limits: CompileLimits | None = None,
) -> Built:
    """Builds plain C++20 text, without the twin, and returns a library that exports all functions of the text.

    Errors in a header of ``include_dirs`` are shown at its own lines. Raises CompileError, CompilerMissing, CacheError.
    """
    begin = time.perf_counter()
    compiler = find_compiler()
    folders = tuple(Path(one).resolve() for one in include_dirs)
    job = BuildRequest(
        cache=cache or default_cache(),
        compiler=compiler,
        text=source_text,
        flags=host_flags(compiler),
        learner=folders,
        search=folders,
        shown="host code",
        limits=limits or CompileLimits(),
    )
    library, cached = job.run()
    return Built(library, (), cached, time.perf_counter() - begin, compiler)


def build_launcher(*, cache: Cache | None = None) -> Built:
    """Builds and returns the native launcher, a program that runs one launch in a separate process.

    Raises CompileError, CompilerMissing, CacheError.
    """
    begin = time.perf_counter()
    compiler = find_compiler()
    main = TWIN / "launcher" / "launcher.cpp"
    job = BuildRequest(
        cache=cache or default_cache(),
        compiler=compiler,
        text=f'#include "{main}"\n',
        flags=program_flags(compiler),
        learner=(),
        search=(TWIN_INCLUDE,),
        source=main,
        suffix=PROGRAM,
        shown="the launcher",
        limits=CompileLimits(),
    )
    program, cached = job.run()
    return Built(program, (), cached, time.perf_counter() - begin, compiler)


def build_watchers(cache: Cache, compiler: Compiler, sized: Sequence[str] = ()) -> tuple[Path, Dependencies | None]:
    """Return the object file with the checkers, tallies and traces of observed libraries, and the files it was made of.

    Instead of the files, return None if one of them was saved during the compilation. The object is compiled once,
    because it is the same for every kernel. sized: the flag for a Unified Buffer of another size, which must be the
    same for kernel and watchers; empty for the usual size.
    """
    main = TWIN / "watchers" / "watchers.cpp"
    job = BuildRequest(
        cache=cache,
        compiler=compiler,
        text=f'#define GNT_OBSERVED 1\n#include "{main}"\n',
        flags=(*object_flags(compiler), *sized),
        learner=(),
        search=(TWIN_INCLUDE,),
        source=main,
        suffix=OBJECT,
        shown="the twin's checkers, this once",
        limits=CompileLimits(),
    )
    return job.make()[:2]


def _twins_headers(
    cache: Cache, compiler: Compiler, observed: bool, optimise: Optimise, sized: Sequence[str]
) -> Precompiled | None:
    """Return the precompiled form of the twin's headers, made without the kernel's own definitions; None without g++.

    If one of these definitions matters to a header, g++ refuses the precompiled form.
    """
    flags = (*header_flags(compiler, optimise=optimise, observed=observed), *sized, f"-DGNT_OBSERVED={int(observed)}")
    return precompiled_form(
        cache, compiler, "kernel_operator.h", flags, "the twin's headers, this once", interface=observed
    )


def forwarding_folders(cache: Cache, sources: SourceTexts) -> tuple[Path, ...]:
    """Return a folder of forwarding headers (``cpp.includes``) for includes that name no file; () if there are none."""
    headers = forwarding_headers(sources.forwards)
    if not headers:
        return ()
    key = checksum("\0".join(f"{name}\0{text}" for name, text in headers.items()).encode("utf-8", "surrogatepass"))
    name = f"include_{key[:16]}"
    for at, text in headers.items():
        cache.keep_source(f"{name}/{at}", text)
    root = cache.root / "sources" / name
    search_folder(root).mkdir(parents=True, exist_ok=True)  # g++ finds d/../x.h only if the folder d exists
    return (search_folder(root),)


def _entries(
    text: str, path: Path, template: str, main: bool, headers: tuple[str, ...], *, part: bool
) -> tuple[Entry, ...]:
    """Return the entries of the source: its kernels, and the entry ``main`` if the argument ``main`` is true.

    All kernels of a sample may be templates, which are no entries. part: whether the source is a part of a program
    whose main calls operators. Such a source may have no kernel at all.
    """
    if not main:
        return entries_to_compile(text, short(path), template, headers)
    found = scan(text, headers)
    none = not found.entries and not template and (part or found.templates or launches(text))
    return (*(() if none else require_entries(text, short(path), template, headers)), Entry(MAIN_ENTRY, (), 1))


def _keep_sample(cache: Cache, path: Path, text: str) -> Path:
    text = f'#include "gn_twin/host/acl_runtime.h"\n#line 1 "{path}"\n{text}'
    return cache.keep_source(f"sample_{checksum(text.encode('utf-8', 'surrogatepass'))[:16]}.cpp", text)


def _read(source: Path) -> tuple[Path, str]:
    """Return the kernel file's absolute path and its text."""
    path = source.expanduser().resolve()
    if any(char in str(path) for char in '"\n\\'):
        raise RegistryError("a quote, backslash or line end in a kernel's path cannot be compiled", where=str(path))
    try:
        return path, source_text(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RegistryError(f"cannot read the kernel: {reason}", where=str(source), hint="check the path") from error
