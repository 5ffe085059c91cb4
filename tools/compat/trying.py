"""Tells which kernels under a folder run on the twin, and why the others do not: ``python -m tools.compat``.

A case is one source file that holds kernels, its own or in a header it includes. Each is compiled; a whole sample (with
``main``) is run, a kernel beside its host files gets their tiling, and one whose parameters are plain arrays gets
invented numbers. Nothing of the folder runs outside the launcher of ``isolated`` and its limits; the folder itself is
only read.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gn_tutorial.abi.options import Limits
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import Built, SourceOptions, build_kernel
from gn_tutorial.compiler.build_request import TWIN_INCLUDE
from gn_tutorial.compiler.preprocess import chosen_text
from gn_tutorial.compiler.process import CompileLimits
from gn_tutorial.cpp.entries import Entry, scan
from gn_tutorial.cpp.included_files import SourceTexts, read_sources
from gn_tutorial.cpp.launches import has_main
from gn_tutorial.cpp.source_text import readable_text
from gn_tutorial.errors import ArgumentError, CompileError, GntError, KernelError, KernelFault
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest
from gn_tutorial.runtime.sample_run import run_sample
from tools.compat.defines import guess, guess_template
from tools.compat.project_case import project_of, try_project
from tools.compat.reasons import (
    OTHER,
    Reason,
    of_compile_error,
    of_invented_launch,
    of_run_error,
    other_machine,
)

SUFFIXES = (".cpp", ".cc", ".cxx", ".asc", ".cce")
#: Folders that hold no sources of their own.
_SKIPPED = {"build", "build_out", "node_modules", "__pycache__", "third_party"}
#: Files of a sample are copied for its run up to this size in all, so that it finds its input.
_COPIED_BYTES = 64 << 20
#: Bytes of each array of a kernel that is launched without knowing its shapes: more than tutorials move.
_ARRAY_BYTES = 4 << 20
_BLOCKS = 8

COMPILED, RAN, FAILED, EXCLUDED = "compiled", "ran", "failed", "excluded"


@dataclass(frozen=True)
class CompatCase:
    """One source file, its text, and the names of its kernels."""

    path: Path
    text: str
    kernels: tuple[str, ...]


@dataclass(frozen=True)
class CompatRow:
    """The result of one case.

    status: excluded (made for another machine), failed (does not compile), compiled (but was not run, or its run
    failed), ran. reasons: why it went no further, in order. seconds: compilation and run together.
    """

    path: Path
    kernels: tuple[str, ...]
    status: str
    reasons: tuple[Reason, ...] = ()
    seconds: float = 0.0
    whole: bool = False


@dataclass(frozen=True)
class CompatOptions:
    """Options: seconds for each compilation and each run, folders to search for headers, macros to define."""

    seconds: float = 30.0
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    run: bool = True


def find_cases(root: Path) -> list[CompatCase]:
    """Every source file under ``root`` with a kernel in it or in a file that it includes from beside itself.

    Raises ArgumentError if there is no such folder.
    """
    if not root.is_dir():
        raise ArgumentError(f"there is no folder {root}")
    found = []
    for path in sorted(_files(root)):
        text = readable_text(path)
        kernels = tuple(dict.fromkeys(_kernels(text, path)))
        if kernels:
            found.append(CompatCase(path, text, kernels))
    return found


def try_case(case: CompatCase, options: CompatOptions | None = None) -> CompatRow:
    """Compile one case and run it if that is possible. Never raises for what the case does."""
    options = options or CompatOptions()
    begin = time.perf_counter()

    def row(status: str, *reasons: Reason) -> CompatRow:
        return CompatRow(case.path, case.kernels, status, reasons, time.perf_counter() - begin, has_main(case.text))

    if why := _elsewhere(case, options):
        return row(EXCLUDED, why)
    project = None if has_main(case.text) else project_of(case.path, case.kernels)
    done = try_project(project, options.seconds, run=options.run) if project is not None else None
    if done is not None:
        return row(done[0], *done[1])
    try:
        built = _build(case, options)
    except CompileError as error:
        reasons = of_compile_error(error)
        elsewhere = [one for one in reasons if one.kind == OTHER]
        return row(EXCLUDED, elsewhere[0]) if elsewhere else row(FAILED, *reasons)
    except GntError as error:
        return row(FAILED, Reason("language", error.what, error.where))
    if not options.run:
        return row(COMPILED)
    try:
        why = _run(case, built, options)
    except KernelError as error:
        return row(COMPILED, of_run_error(error))
    except GntError as error:
        return row(COMPILED, Reason("arguments", error.what, error.where))
    return row(RAN) if why is None else row(COMPILED, why)


def ranked(rows: Sequence[CompatRow]) -> list[tuple[str, str, int]]:
    """Reasons of the rows by frequency: kind, name, number of cases. Only the first reason of a case counts."""
    counts = Counter((row.reasons[0].kind, row.reasons[0].name) for row in rows if row.reasons)
    return [(kind, name, count) for (kind, name), count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))]


def missing_apis(rows: Sequence[CompatRow]) -> list[tuple[str, int]]:
    """Names that cases miss, with the number of cases; a case that misses several counts for each."""
    names = Counter(
        name
        for row in rows
        for name in {one.name for one in row.reasons if one.kind in ("missing API", "missing name")}
    )
    return sorted(names.items(), key=lambda one: (-one[1], one[0]))


# --- finding ---------------------------------------------------------------------------------------------------------


def _files(root: Path) -> Iterator[Path]:
    for path in root.rglob("*"):
        inside = path.relative_to(root).parts[:-1]
        # Folders whose names begin with a dot belong to tools, such as Jupyter's copies (.ipynb_checkpoints).
        left_out = any(name in _SKIPPED or name.startswith(".") for name in inside)
        if path.suffix in SUFFIXES and path.is_file() and not left_out:
            yield path


def _sources(text: str, path: Path) -> SourceTexts:
    return read_sources(path, text, (path.parent,), TWIN_INCLUDE)


def _kernels(text: str, path: Path) -> Iterator[str]:
    texts = tuple(_sources(text, path).files.values())
    for at, one in enumerate(texts):
        found = scan(one, (*texts[:at], *texts[at + 1 :]))
        yield from (entry.name for entry in found.entries)
        yield from (f"{kind.name}<{', '.join(kind.heads)}>" for kind in found.templates)


def _with_includes(text: str, path: Path) -> str:
    return "".join(_sources(text, path).files.values())


def _elsewhere(case: CompatCase, options: CompatOptions) -> Reason | None:
    """Return why the case is not for the vector cores, from the text that is left after ``#if``; None if it may be.

    The compiler runs only if the whole text, before ``#if``, has such a reason.
    """
    written = _with_includes(case.text, case.path)
    why = other_machine(case.path, written)
    if why is None:
        return None
    limits = CompileLimits(seconds=max(options.seconds, 1.0))
    chosen = chosen_text(case.path, include_dirs=options.include_dirs, defines=_defines(case, options), limits=limits)
    return why if chosen is None else other_machine(case.path, chosen)


# --- trying ----------------------------------------------------------------------------------------------------------


def _build(case: CompatCase, options: CompatOptions) -> Built:
    return build_kernel(
        case.path,
        SourceOptions(
            include_dirs=options.include_dirs,
            defines=_defines(case, options),
            template="" if has_main(case.text) else guess_template(case.text),
        ),
        optimise="little",
        limits=CompileLimits(seconds=max(options.seconds, 1.0)),
    )


def _defines(case: CompatCase, options: CompatOptions) -> tuple[str, ...]:
    given = {define.partition("=")[0] for define in options.defines}
    guessed = guess(case.path, _with_includes(case.text, case.path))
    return (*options.defines, *(define for define in guessed if define.partition("=")[0] not in given))


def _run(case: CompatCase, built: Built, options: CompatOptions) -> Reason | None:
    limits = Limits(seconds=options.seconds)
    if has_main(case.text):
        with tempfile.TemporaryDirectory(prefix="gnt-compat-") as name:
            folder = Path(name)
            _copy_files(case.path.parent, folder)
            run_sample(
                case.path,
                folder=folder,
                how=SourceOptions(include_dirs=options.include_dirs, defines=_defines(case, options)),
                optimise="little",
                limits=limits,
                compile_limits=CompileLimits(seconds=max(options.seconds, 1.0)),
            )
        return None
    for entry in built.entries:
        if why := _cannot_invent(entry):
            return why
        args = [
            LaunchArg(param.name, ArgKind.TENSOR, Role.INOUT, _invented(index))
            for index, param in enumerate(entry.params)
        ]
        try:
            launch(built.library, LaunchRequest(entry=entry.name, args=args, blocks=_BLOCKS, limits=limits))
        except KernelFault as fault:
            return of_invented_launch(fault)
    return None


def _cannot_invent(entry: Entry) -> Reason | None:
    """Return why arguments cannot be invented: a number or a tiling struct decides how far the kernel goes."""
    for param in entry.params:
        if param.kind is ArgKind.VALUE:
            return Reason("arguments", f"a value of type {param.ctype}", entry.name)
        if "tiling" in param.name.lower():
            return Reason("arguments", "tiling data", entry.name)
    return None


def _invented(index: int) -> np.ndarray:
    """Return bytes that are finite small numbers in every type of a kernel."""
    return np.random.default_rng(index).integers(0, 60, _ARRAY_BYTES, dtype=np.uint8)


def _copy_files(source: Path, target: Path) -> None:
    """Copy a sample's folder, so that its relative paths work; nothing if the folder is large."""
    total = 0
    for path in source.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        total += path.stat().st_size
        if total > _COPIED_BYTES:
            return
    shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True)
    for name in ("input", "output"):  # samples write there and do not make the folder
        (target / name).mkdir(exist_ok=True)


def try_all(
    cases: Sequence[CompatCase], options: CompatOptions, seen: Callable[[int, CompatCase], None]
) -> list[CompatRow]:
    """Try every case in order, and call ``seen`` before each. An interrupt ends it: fewer rows than cases."""
    rows: list[CompatRow] = []
    try:
        for index, case in enumerate(cases):
            seen(index, case)
            rows.append(try_case(case, options))
    except KeyboardInterrupt:
        pass
    return rows
