"""Builds the host files of an operator project: definitions, inference, tiling, linked with the driver that calls them.

Each file is a translation unit of its own, as in a project's own build: names of its static functions repeat.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from gn_tutorial.compiler.build import Built
from gn_tutorial.compiler.build_request import OBJECT, TWIN_INCLUDE, BuildRequest, precompiled_form
from gn_tutorial.compiler.cache import Cache, default_cache
from gn_tutorial.compiler.precompiled_header import Precompiled
from gn_tutorial.compiler.process import CompileLimits
from gn_tutorial.compiler.toolchain import (
    Compiler,
    find_compiler,
    host_header_flags,
    host_object_flags,
    project_library_flags,
)
from gn_tutorial.cpp.includes import short
from gn_tutorial.errors import CompileError

#: By this definition headers distinguish host code from kernels.
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
    """Build one library of the host files ``sources``, with the entry points of ``gn_twin/op_host/driver.h``.

    include_dirs: searched for quoted includes after a source's own folder. optional: files for other architectures,
    left out if they do not compile. Raises CompileError with the errors at the project's own lines, CompilerMissing,
    CacheError.
    """
    begin = time.perf_counter()
    cache, compiler, limits = cache or default_cache(), find_compiler(), limits or CompileLimits()
    defined = tuple(f"-D{one}" for one in defines)
    objects, fresh = [_driver(cache, compiler, limits)], False
    for source in (Path(one).resolve() for one in (*sources, *optional)):
        folders = tuple(dict.fromkeys((source.parent, *(Path(one).resolve() for one in include_dirs))))
        request = BuildRequest(
            cache=cache,
            compiler=compiler,
            text=f'#include "{_STANDARD}"\n#include "{source}"\n',
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
            made, cached = request.run()
        except CompileError:
            if source not in optional:
                raise
            continue
        objects.append(made)
        fresh |= not cached
    library, cached = BuildRequest(
        cache=cache,
        compiler=compiler,
        text="",
        flags=project_library_flags(compiler),
        learner=(),
        search=(),
        shown="the library of a project's host functions",
        objects=tuple(objects),
        limits=limits,
    ).run()
    return Built(library, (), cached and not fresh, time.perf_counter() - begin, compiler)


def _driver(cache: Cache, compiler: Compiler, limits: CompileLimits) -> Path:
    """Return the object of the entry points. It is the same for all projects and takes as long as a host file."""
    request = BuildRequest(
        cache=cache,
        compiler=compiler,
        text=f'#include "{_STANDARD}"\n#include "{_DRIVER}"\n',
        flags=(*host_object_flags(compiler), HOST),
        learner=(),
        search=(TWIN_INCLUDE,),
        suffix=OBJECT,
        shown="the driver of a project's host functions",
        limits=limits,
        precompiled=_standard_headers(cache, compiler, ()),
    )
    return request.run()[0]


def _standard_headers(cache: Cache, compiler: Compiler, defined: Sequence[str]) -> Precompiled | None:
    """Return the C++ library's headers, precompiled. defined: a project's definitions, on which one may depend."""
    flags = (*host_header_flags(compiler), HOST, *defined)
    return precompiled_form(cache, compiler, _STANDARD, flags, "the C++ library's headers, this once")
