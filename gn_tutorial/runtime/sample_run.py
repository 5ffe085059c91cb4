"""Runs a whole sample: a file with kernels and a ``main``, which calls ``kernel<<<blocks, nullptr, stream>>>(...)``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.abi.options import Limits, Optimise, TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import AS_IT_IS, Built, SourceOptions, build_kernel
from gn_tutorial.compiler.process import CompileLimits
from gn_tutorial.compiler.shim import MAIN_ENTRY
from gn_tutorial.cpp.launches import has_main
from gn_tutorial.cpp.source_text import source_text
from gn_tutorial.errors import RegistryError
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest, LaunchResult


@dataclass(frozen=True)
class SampleRun:
    """The result of a sample. launched: its output, and the counts of all its launches together. built: its library."""

    launched: LaunchResult
    built: Built


def is_whole(path: Path) -> bool:
    """Whether the file has a ``main`` and so runs by itself.

    Raises RegistryError if it cannot be read; ArgumentError for more than a megabyte of text.
    """
    try:
        return has_main(source_text(path), path)
    except OSError as error:
        raise RegistryError(f"cannot read the sample: {error.strerror}", where=str(path)) from error


def run_sample(
    path: Path,
    words: Sequence[str] = (),
    how: SourceOptions = AS_IT_IS,
    *,
    folder: Path | None = None,
    start: Path | None = None,
    observed: bool = True,
    optimise: Optimise = True,
    options: TwinOptions | None = None,
    limits: Limits | None = None,
    compile_limits: CompileLimits | None = None,
) -> SampleRun:
    """Build the sample and run its ``main`` with ``words`` as its command line, in a process of its own.

    folder: the folder where it runs and may write files; None: it may not write files. start: the working folder at its
    start, inside ``folder``; None: ``folder`` itself. optimise: see ``options.Optimise``. The memory limit covers the
    sample's own allocations too.

    Raises CompileError; KernelFault for an error that the twin finds in a kernel or in a host call, for a ``main`` that
    does not return 0, and for an exception that leaves ``main``; and the other errors of ``launch``.
    """
    built = build_kernel(path, how, observed=observed, optimise=optimise, limits=compile_limits)
    args = [
        LaunchArg(f"argv{index}", ArgKind.VALUE, Role.IN, word.encode())
        for index, word in enumerate([path.name, *words])
    ]
    request = LaunchRequest(
        entry=MAIN_ENTRY,
        args=args,
        options=options or TwinOptions(),
        limits=limits or Limits(),
        folder=folder,
        start=start,
    )
    return SampleRun(launch(built.library, request), built)
