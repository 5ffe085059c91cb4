"""The request and the result of a launch, and the poison of unwritten memory, for isolated and in-process launches."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi import structs
from gn_tutorial.abi.dtypes import DTYPES
from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.abi.trace import Trace, Tracing
from gn_tutorial.diagnostics.findings import Diagnostic, Findings
from gn_tutorial.errors import ArgumentError, shown

#: Name of a floating-point dtype -> the bits of an element that was never written.
FLOAT_POISON = {one.name: one.poison for one in DTYPES.values() if one.poison is not None}
#: The value of a byte that was never written in an array of another dtype: -1515870811 as int32, 165 as uint8.
POISON_BYTE = 0xA5

#: Roles whose memory the kernel writes, and whose arrays are in the result.
WRITTEN = (Role.OUT, Role.INOUT, Role.WORKSPACE)
#: Roles whose memory holds garbage at the start of a launch, as on the device.
POISONED = (Role.OUT, Role.WORKSPACE)

_MOST_BLOCKS = 65535
_BYTES = np.dtype(np.uint8)


@dataclass(frozen=True, slots=True)
class LaunchArg:
    """One kernel parameter.

    data: a C-contiguous array, or ``bytes`` (a value, a tiling struct). Of an OUT or WORKSPACE array only shape and
    dtype are used. absent: the kernel gets a null pointer, and data is empty. same_as: the name of an earlier argument
    whose memory this one uses; then the role is IN, and data has the size of that argument's data.

    nbytes, dtype: those of data; the dtype of ``bytes`` is uint8.

    Raises ArgumentError if an array is not C-contiguous or a written argument is not an array.
    """

    name: str
    kind: ArgKind
    role: Role
    data: np.ndarray | bytes
    absent: bool = False
    same_as: str = ""
    # Stored, because each launch reads them some ten times.
    nbytes: int = field(init=False, repr=False, compare=False)
    dtype: np.dtype = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        array = isinstance(self.data, np.ndarray)
        object.__setattr__(self, "nbytes", self.data.nbytes if array else len(self.data))
        object.__setattr__(self, "dtype", self.data.dtype if array else _BYTES)
        if array:
            if not self.data.flags.c_contiguous:
                raise ArgumentError(f"'{self.name}' is not C-contiguous", hint=f"np.ascontiguousarray({self.name})")
        elif self.role in WRITTEN:
            raise ArgumentError(f"'{self.name}' is written by the kernel, so it must be an array")


@dataclass(frozen=True, kw_only=True, eq=False)
class LaunchRequest:
    """The request for one launch of a kernel, without the library.

    Raises ArgumentError for a wrong value, so that a wrong request is refused before anything is compiled.
    """

    # The kernel's name in the library.
    entry: str
    # One for each kernel parameter, in order. OUT and WORKSPACE arrays give only shape and dtype; the kernel finds
    # poison in their memory (FLOAT_POISON, POISON_BYTE).
    args: Sequence[LaunchArg]
    # The number of blocks, 1 to 65535.
    blocks: int = 1
    # The 64-bit number that TILING_KEY_IS compares with.
    tiling_key: int = 0
    options: TwinOptions = field(default_factory=TwinOptions)
    # True: run in a process of its own, within ``limits``; the caller's arrays do not change. False: run in this
    # process, for trusted kernels: no limits, INOUT arrays are written in place, and printed text is not collected.
    isolated: bool = True
    limits: Limits = field(default_factory=Limits)
    # The folder where the isolated process runs and may write files; None: it may not write files.
    folder: Path | None = None
    # The working folder at its start, inside ``folder``; None: ``folder`` itself.
    start: Path | None = None
    # Record the blocks' events; this needs an observed library, because a bare one emits none.
    tracing: Tracing | None = None

    @property
    def nbytes(self) -> int:
        """The sum of the bytes of all arguments."""
        return sum(arg.nbytes for arg in self.args)

    def __post_init__(self) -> None:
        check_blocks(self.blocks)
        for name, kind in (("options", TwinOptions), ("limits", Limits), ("tracing", Tracing)):
            value = getattr(self, name)
            if not isinstance(value, kind) and not (name == "tracing" and value is None):
                raise ArgumentError(f"'{name}' must be {kind.__name__}(...), not {shown(value, 60)}")
        key = self.tiling_key
        if isinstance(key, bool) or not isinstance(key, (int, np.integer)) or not 0 <= key < 1 << 64:
            raise ArgumentError(f"'tiling_key' must be a whole number of 64 bits, not {shown(self.tiling_key)}")


def check_blocks(blocks: Any) -> None:
    """Raise ArgumentError unless ``blocks`` is a number of blocks that can be launched."""
    if isinstance(blocks, bool) or not isinstance(blocks, (int, np.integer)) or not 1 <= blocks <= _MOST_BLOCKS:
        raise ArgumentError(f"'blocks' must be a whole number from 1 to {_MOST_BLOCKS}, not {shown(blocks)}")


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a launch. All zero for a bare library.

    scalar, vector, mte2, mte3: instructions of all blocks on each pipe. bytes_in, bytes_out: bytes that all blocks
    moved from global memory into the Unified Buffer, and back. ub_high_water: the most bytes of the Unified Buffer that
    one block used.
    """

    scalar: int
    vector: int
    mte2: int
    mte3: int
    bytes_in: int
    bytes_out: int
    ub_high_water: int

    @classmethod
    def from_abi(cls, tally: structs.GntTally) -> Tally:
        """Copy the counts out of the struct of abi.h."""
        return cls(*tally.instructions, tally.bytes_in, tally.bytes_out, tally.ub_high_water)


@dataclass(frozen=True)
class LaunchResult:
    """The result of a launch.

    arrays: OUT, INOUT and WORKSPACE arguments by name. seconds: wall time of all blocks, measured in their process.
    printed: the kernel's standard output and error; empty for an in-process launch, where they go to the terminal.
    observed: whether the library checks and counts. diagnostics: warnings of a launch that succeeded. trace: None
    unless requested. notes: facts that are not mistakes but may explain a wrong output, such as inputs that were not
    read.
    """

    arrays: dict[str, np.ndarray]
    tally: Tally
    seconds: float
    printed: str
    observed: bool
    diagnostics: Findings = field(default_factory=Findings)
    trace: Trace | None = None
    notes: tuple[Diagnostic, ...] = ()


@functools.cache
def poison_word(dtype: np.dtype) -> int:
    """Return eight bytes of poison as a number. They fill the memory of an array of this dtype until it is written."""
    element = FLOAT_POISON.get(dtype.name)
    data = bytes([POISON_BYTE]) if element is None else element.to_bytes(dtype.itemsize, "little")
    return int.from_bytes(data * (8 // len(data)), "little")
