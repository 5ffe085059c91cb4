"""Builds a program that calls operators (aclnn): its files, one of them with a ``main``, and the operators' functions.

The result is a library with the entry ``main``, as for a complete sample. The launcher runs this library.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from gn_tutorial.abi.options import Optimise
from gn_tutorial.compiler.build import Built, SourceOptions, build_kernel
from gn_tutorial.compiler.build_request import OBJECT, TWIN_INCLUDE, BuildRequest
from gn_tutorial.compiler.cache import Cache, default_cache
from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.compiler.process import CompileLimits
from gn_tutorial.compiler.toolchain import find_compiler, object_flags
from gn_tutorial.cpp.launches import has_main
from gn_tutorial.cpp.source_text import short, source_text
from gn_tutorial.errors import CompileError, RegistryError

# The file that a program includes as aclnn_<op>.h. Projects whose operators have the same name share the file, so it
# has no declarations. The declarations of each project are read before the program's files.
_STUB = "// What this file declares was read before the program: its text is beside this file.\n"
# The level is low, because a test is compiled after each edit, and then runs once, for milliseconds.
_LEVEL: Optimise = "little"


def build_program(
    sources: Sequence[Path],
    *,
    headers: Mapping[str, str],
    calls: Sequence[str],
    include_dirs: Sequence[Path] = (),
    defines: Sequence[str] = (),
    cache: Cache | None = None,
    limits: CompileLimits | None = None,
) -> Built:
    """Return the library of a program.

    headers: name and text of each ``aclnn_<op>.h``. calls: C++ texts that define the functions of these headers. Raises
    RegistryError if a file cannot be read; CompileError with the errors at the program's own lines, or if the program
    does not have exactly one main; CompilerMissing, CacheError.
    """
    begin = time.perf_counter()
    cache, limits = cache or default_cache(), limits or CompileLimits()
    files = [Path(one).resolve() for one in sources]
    main = _with_main(files)
    declared = _kept(cache, headers)
    folders = tuple(dict.fromkeys((*(Path(one).resolve() for one in include_dirs), *(one.parent for one in declared))))
    how = {"cache": cache, "defines": tuple(defines), "limits": limits, "folders": folders}
    objects = [_object(f'#include "{file}"\n', declared, source=file, **how) for file in files if file != main]
    objects += [_object(text, declared, source=None, **how) for text in calls]
    built = build_kernel(
        main,
        SourceOptions(include_dirs=folders, includes=declared, defines=defines),
        optimise=_LEVEL,
        objects=objects,
        cache=cache,
        limits=limits,
    )
    return Built(built.library, built.entries, built.cached, time.perf_counter() - begin, built.compiler)


def _with_main(files: Sequence[Path]) -> Path:
    found = []
    for file in files:
        try:
            if has_main(source_text(file), file):
                found.append(file)
        except OSError as error:
            raise RegistryError(f"cannot read a file of the program: {error.strerror}", where=str(file)) from error
    if len(found) != 1:
        listed = ", ".join(short(one) for one in (found or files))
        what = f"has {len(found)} functions main" if found else "has no function main"
        raise CompileError(f"the program {what}", where=listed, hint="one of its files defines int main()")
    return found[0]


def _kept(cache: Cache, headers: Mapping[str, str]) -> tuple[Path, ...]:
    kept = []
    for name, text in headers.items():
        cache.keep_source(name, _STUB)
        kept.append(cache.keep_source(f"{checksum(text.encode())[:16]}_{name}", text))
    return tuple(kept)


def _object(
    text: str,
    declared: Sequence[Path],
    *,
    source: Path | None,
    cache: Cache,
    defines: Sequence[str],
    limits: CompileLimits,
    folders: Sequence[Path],
) -> Path:
    """Return the object file of one translation unit. source: the file that ``text`` includes, None for generated text.

    The unit is compiled as observed, like the main file, because both share the twin's classes.
    """
    compiler = find_compiler()
    own = tuple(dict.fromkeys((*((source.parent,) if source else ()), *folders)))
    includes = "".join(f'#include "{one}"\n' for one in declared)
    made, _ = BuildRequest(
        cache=cache,
        compiler=compiler,
        text=f"#define GNT_OBSERVED 1\n{includes}{text}",
        flags=(*object_flags(compiler, optimise=_LEVEL), *(f"-D{one}" for one in defines)),
        learner=own,
        search=(*own, TWIN_INCLUDE),
        source=source,
        suffix=OBJECT,
        shown=short(source) if source else "the operator's aclnn functions",
        limits=limits,
    ).run()
    return made
