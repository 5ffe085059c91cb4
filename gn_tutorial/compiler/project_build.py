"""Builds the host files of an operator project (definitions, inference, tiling), linked with a driver that calls them.

Each file is a separate translation unit, as in a project's own build, because names of static functions may repeat.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from gn_tutorial.compiler.build import Built
from gn_tutorial.compiler.build_request import OBJECT, TWIN_INCLUDE, BuildRequest, precompiled_form
from gn_tutorial.compiler.cache import Cache, default_cache
from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.compiler.precompiled_header import KEEP_INLINES, Precompiled, interface_marks
from gn_tutorial.compiler.process import CompileLimits
from gn_tutorial.compiler.toolchain import (
    Compiler,
    find_compiler,
    host_header_flags,
    host_object_flags,
    project_library_flags,
)
from gn_tutorial.cpp.source_text import short
from gn_tutorial.errors import CompileError

#: The flag that defines GNT_OP_HOST. The twin's headers check this macro to tell host code from a kernel.
HOST = "-DGNT_OP_HOST=1"
_DRIVER = "gn_twin/op_host/driver.h"
_STANDARD = "gn_twin/op_host/standard_headers.h"


def build_project_host(
    sources: Sequence[Path],
    *,
    optional: Sequence[Path] = (),
    include_dirs: Sequence[Path] = (),
    defines: Sequence[str] = (),
    cache: Cache | None = None,
    limits: CompileLimits | None = None,
) -> Built:
    """Return one library of the host files ``sources``, with the entry points of ``gn_twin/op_host/driver.h``.

    include_dirs: folders in which quoted includes are searched after a source's own folder. optional: files for other
    architectures, left out if they do not compile. Raises CompileError with the errors at the project's own lines,
    CompilerMissing, CacheError.
    """
    begin = time.perf_counter()
    cache, compiler, limits = cache or default_cache(), find_compiler(), limits or CompileLimits()
    driver, marks = _driver(cache, compiler, limits)
    how = {"cache": cache, "compiler": compiler, "limits": limits}
    files = {Path(one).resolve(): one in optional for one in (*sources, *optional)}
    defined = tuple(f"-D{one}" for one in defines)
    folders = tuple(Path(one).resolve() for one in include_dirs)
    for head in (marks, "") if marks else ("",):
        objects = _objects(files, head, folders, defined, **how)
        try:
            library, cached = BuildRequest(
                **how,
                text="",
                flags=project_library_flags(compiler),
                learner=(),
                search=(),
                shown="the library of a project's host functions",
                objects=(driver, *(made for made, _ in objects)),
            ).run()
            break
        except CompileError:
            # The driver's object may lack a function that the compiler generates for a class, such as a defaulted
            # constructor. So the files are compiled once more, each with its own copies of the inline functions.
            if not head:
                raise
    fresh = not all(was for _, was in objects)
    return Built(library, (), cached and not fresh, time.perf_counter() - begin, compiler)


def _objects(
    files: Mapping[Path, bool],
    head: str,
    include_dirs: Sequence[Path],
    defined: Sequence[str],
    *,
    cache: Cache,
    compiler: Compiler,
    limits: CompileLimits,
) -> list[tuple[Path, bool]]:
    """Compile host files, with the text ``head`` before each; return the objects, and whether each was in the cache.

    files: file -> whether to leave the file out if it does not compile.
    """
    objects = []
    for source, optional in files.items():
        folders = tuple(dict.fromkeys((source.parent, *include_dirs)))
        request = BuildRequest(
            cache=cache,
            compiler=compiler,
            text=f'#include "{_STANDARD}"\n{head}#include "{source}"\n',
            flags=(*host_object_flags(compiler), HOST, *defined),
            learner=folders,
            search=(*folders, TWIN_INCLUDE),
            source=source,
            suffix=OBJECT,
            shown=short(source),
            limits=limits,
            precompiled=_standard_headers(cache, compiler, defined),
        )
        try:
            objects.append(request.run())
        except CompileError:
            if not optional:
                raise
    return objects


def _driver(cache: Cache, compiler: Compiler, limits: CompileLimits) -> tuple[Path, str]:
    """Return the driver's object, which has the entry points, and a line to put before each host file.

    The object is the same for all projects. Compiled by g++, it also has the inline functions of the twin's headers,
    and the line makes the host files use these. Without the line, g++ compiles the functions for every host file, which
    takes two fifths of g++'s time. The line is "" for other compilers, or if a header was saved during the compilation.
    """
    inlines = (KEEP_INLINES,) if compiler.name == "g++" else ()
    request = BuildRequest(
        cache=cache,
        compiler=compiler,
        text=f'#include "{_STANDARD}"\n#include "{_DRIVER}"\n',
        flags=(*host_object_flags(compiler), HOST, *inlines),
        learner=(),
        search=(TWIN_INCLUDE,),
        suffix=OBJECT,
        shown="the driver of a project's host functions",
        limits=limits,
        precompiled=_standard_headers(cache, compiler, ()),
    )
    driver, made_of, _ = request.make()
    if not inlines or made_of is None:
        return driver, ""
    # The marks change line numbers (#line), so they are in a separate file: after an include, g++ continues to count
    # the lines of the including text.
    text = interface_marks(Path(one.path) for one in made_of.files if TWIN_INCLUDE in Path(one.path).parents)
    marks = cache.keep_source(f"interface_{checksum(text.encode())[:16]}.h", text)
    return driver, f'#include "{marks}"\n'


def _standard_headers(cache: Cache, compiler: Compiler, defined: Sequence[str]) -> Precompiled | None:
    """Return the precompiled form of the C++ library's headers; None without g++.

    defined: the project's flags. The form fits only sources that are compiled with them.
    """
    flags = (*host_header_flags(compiler), HOST, *defined)
    return precompiled_form(cache, compiler, _STANDARD, flags, "the C++ library's headers, this once")
