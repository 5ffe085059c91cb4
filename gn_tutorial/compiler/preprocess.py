"""Preprocesses sources: returns the text that a compiler reads, without branches that ``#if`` leaves out.

Macros in a source are not expanded. The twin defines words such as __aicore__ as empty macros, so an expansion would
remove words that the author wrote.
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
    return None if text is None else "".join(_own_lines(text, lambda path: _below(path, roots)))


def twin_text(*, limits: CompileLimits | None = None, cache: Cache | None = None) -> str:
    """Return the text of the twin's headers after preprocessing, with macros expanded; "" if preprocessing fails.

    Raises CompilerMissing, CacheError.
    """
    text = _preprocessed(_TWIN, (), "kernel_operator.h", limits, cache)
    return "".join(_own_lines(text or "", lambda path: path.resolve().is_relative_to(TWIN_INCLUDE)))


def _preprocessed(
    shim_text: str, words: Sequence[str], shown: str, limits: CompileLimits | None, cache: Cache | None
) -> str | None:
    """Return the preprocessor's output for a text, with its line markers; None if it fails."""
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
    """Yield the lines of files for which ``wanted`` is true. The preprocessor's markers name the file of each line."""
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
    """Whether a file is the author's: it lies below the parent of one of ``roots``, and is no header of the twin."""
    resolved = path.resolve()
    if resolved.is_relative_to(TWIN_INCLUDE):
        return False
    # Files below the parent of a search folder count, because ../other_op/x.h belongs to the project too.
    return any(resolved.is_relative_to(root.parent) for root in roots)
