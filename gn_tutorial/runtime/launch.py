"""Launch one kernel of a built library, isolated from the caller or inside its process."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.abi.trace import Tracing
from gn_tutorial.compiler.build import build_launcher
from gn_tutorial.errors import ArgumentError
from gn_tutorial.runtime import in_process, isolated
from gn_tutorial.runtime.launch_types import FLOAT_POISON, POISON_BYTE, LaunchArg, Launched, Tally

__all__ = [
    "FLOAT_POISON",
    "POISON_BYTE",
    "LaunchArg",
    "Launched",
    "Limits",
    "Tally",
    "Tracing",
    "TwinOptions",
    "check_blocks",
    "launch",
]

_MOST_BLOCKS = 65535


def launch(
    library: Path,
    entry: str,
    args: Sequence[LaunchArg],
    *,
    blocks: int,
    tiling_key: int = 0,
    options: TwinOptions | None = None,
    limits: Limits | None = None,
    isolated: bool = True,
    folder: Path | None = None,
    tracing: Tracing | None = None,
) -> Launched:
    """Run kernel ``entry`` of ``library`` on ``blocks`` cores and return what it wrote.

    args: one for each kernel parameter, in their order. OUT and WORKSPACE arrays give shape and dtype; the kernel finds
    poison there (FLOAT_POISON, POISON_BYTE). tiling_key: what TILING_KEY_IS compares with.

    isolated=True (default): in a process of its own, within ``limits``; the caller's arrays stay as they are. False: in
    this process, for trusted kernels; no limits, INOUT arrays are written in place, printed text is not collected. Many
    runs of the same launch: ``gn_tutorial.runtime.in_process.Prepared``.

    folder: the isolated process runs there and may write files there, and nowhere else; None: it may write none.

    tracing: record what the blocks do; the library must be an observed one, since a bare one tells nobody anything.

    Raises KernelFault for a mistake that the twin found, KernelCrash, KernelTimeout, KernelMemoryLimit and
    KernelOutputLimit for a kernel that did not return, ArgumentError for arguments that do not fit the kernel, and
    KernelError for a library that cannot be loaded.
    """
    check_blocks(blocks)
    if not isolated:
        return in_process.Prepared(
            library, entry, args, blocks=blocks, tiling_key=tiling_key, options=options, tracing=tracing
        )()
    return _isolated(
        library,
        entry,
        args,
        blocks=blocks,
        tiling_key=tiling_key,
        options=options or TwinOptions(),
        limits=limits or Limits(),
        folder=folder,
        tracing=tracing,
    )


def check_blocks(blocks: Any) -> None:
    """Raise ArgumentError unless ``blocks`` is a number of blocks that can be launched."""
    if isinstance(blocks, bool) or not isinstance(blocks, (int, np.integer)) or not 1 <= blocks <= _MOST_BLOCKS:
        raise ArgumentError(f"'blocks' must be a whole number from 1 to {_MOST_BLOCKS}, not {blocks!r}")


def _isolated(*args: object, **named: object) -> Launched:
    try:
        return isolated.run(_launcher(), *args, **named)
    except FileNotFoundError:
        # The cache was cleared since the launcher was built.
        _launcher.cache_clear()
        return isolated.run(_launcher(), *args, **named)


@functools.cache
def _launcher() -> Path:
    return build_launcher().library
