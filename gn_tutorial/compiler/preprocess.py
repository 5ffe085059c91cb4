"""What a compiler reads of a source: its own text and that of the files beside it, without what ``#if`` leaves out.

Macros are not expanded, so that the words are still those that somebody wrote: the twin defines many of them as
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gn_tutorial.compiler.build_request import TWIN_INCLUDE
from gn_tutorial.compiler.cache import Cache, default_cache
from gn_tutorial.compiler.process import CompileLimits, End, run_compiler
from gn_tutorial.compiler.toolchain import find_compiler, header_flags

_TWIN = '#define GNT_OBSERVED 1\n#include "kernel_operator.h"\n'
_MARKER = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*)"')


def chosen_text(
    source: Path,
    *,
    include_dirs: Sequence[Path] = (),
    defines: Sequence[str] = (),
    limits: CompileLimits | None = None,
    cache: Cache | None = None,
) -> str | None:
    """The lines of ``source``, and of what it includes that is not the twin's or the system's, that are compiled.

    ``#include`` lines are among them. include_dirs, defines: as of ``build_kernel``. None where the compiler cannot
    tell: a header that is missing, or a compiler that cannot leave macros alone. Raises CompilerMissing, CacheError.
    """
    source = source.resolve()
    words = [word for one in (source.parent, *include_dirs) for word in ("-iquote", str(Path(one).resolve()))]
    words += ["-fdirectives-only", "-dI", *(f"-D{define}" for define in defines)]
    text = _preprocessed(f'{_TWIN}#include "{source}"\n', words, source.name, limits, cache)
    roots = {source.parent, *(Path(one).resolve() for one in include_dirs)}
    return None if text is None else "".join(_own_lines(text, lambda path: _below(path, roots)))


def twin_text(*, limits: CompileLimits | None = None, cache: Cache | None = None) -> str:
    """The twin's headers as a kernel's compiler sees them, macros expanded; "" where it cannot say.

    Raises CompilerMissing, CacheError.
    """
    text = _preprocessed(_TWIN, (), "kernel_operator.h", limits, cache)
    return "".join(_own_lines(text or "", lambda path: path.resolve().is_relative_to(TWIN_INCLUDE)))


def _preprocessed(
    shim_text: str, words: Sequence[str], shown: str, limits: CompileLimits | None, cache: Cache | None
) -> str | None:
    """What the preprocessor makes of a text, with its markers; None if it fails."""
    compiler = find_compiler()
    cache = cache or default_cache()
    with cache.scratch() as folder:
        shim, made = folder / "shim.cpp", folder / "made.i"
        shim.write_text(shim_text, encoding="utf-8")
        flags = (*header_flags(compiler, optimise=False), "-E", "-w")
        outcome = run_compiler(
            compiler,
            [str(shim), "-o", str(made), *flags, *words, "-I", str(TWIN_INCLUDE)],
            folder=folder,
            zig_cache=cache.root / "zig",
            limits=limits or CompileLimits(seconds=30.0),
            shown=shown,
        )
        if outcome.end is not End.DONE or not made.is_file():
            return None
        return made.read_text(encoding="utf-8", errors="replace")


def _own_lines(text: str, wanted: Callable[[Path], bool]) -> Iterator[str]:
    """The lines between markers of the files that are wanted."""
    own, known = False, {}
    for line in text.splitlines(keepends=True):
        if marker := _MARKER.match(line):
            name = marker[1]
            if name not in known:
                known[name] = not name.startswith("<") and wanted(Path(name))
            own = known[name]
        elif own:
            yield line


def _below(path: Path, roots: set[Path]) -> bool:
    """Whether a file is the source's or beside it; it may include another of its own folder by ``../``."""
    resolved = path.resolve()
    if resolved.is_relative_to(TWIN_INCLUDE):
        return False
    # ../other_op/x.h is the project's too: what lies below the parent of a folder that is searched.
    return any(resolved.is_relative_to(root.parent) for root in roots)
