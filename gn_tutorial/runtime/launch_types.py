"""What goes into one launch and what comes out of it, the same for both ways of running: arguments, results, poison."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gn_tutorial.abi import structs
from gn_tutorial.abi.structs import Kind, Role
from gn_tutorial.abi.trace import Trace
from gn_tutorial.diagnostics.findings import Findings
from gn_tutorial.errors import ArgumentError

#: What memory holds that nobody wrote: quiet NaNs whose low bits read ...A5, so that a forgotten element shows in every
#: later result and can still be told from a computed NaN. The pattern of bfloat16 is the top half of that of float32.
FLOAT_POISON = {"float16": 0x7EA5, "bfloat16": 0x7FE5, "float32": 0x7FE5_A5A5, "float64": 0x7FFD_A5A5_A5A5_A5A5}
#: Each byte of any other poisoned memory: -1515870811 as int32, 165 as uint8.
POISON_BYTE = 0xA5

#: Roles whose memory the kernel writes, and whose arrays are in the result.
WRITTEN = (Role.OUT, Role.INOUT, Role.WORKSPACE)
#: Roles whose memory holds garbage at the start of a launch, as on the device.
POISONED = (Role.OUT, Role.WORKSPACE)


@dataclass(frozen=True, slots=True)
class LaunchArg:
    """One kernel parameter.

    data: a C-contiguous array, or ``bytes`` (a value, a tiling struct). Of an OUT or WORKSPACE array only shape and
    dtype count. Raises ArgumentError if an array is not C-contiguous or a written argument is not an array.
    """

    name: str
    kind: Kind
    role: Role
    data: np.ndarray | bytes

    def __post_init__(self) -> None:
        if isinstance(self.data, np.ndarray):
            if not self.data.flags.c_contiguous:
                raise ArgumentError(f"'{self.name}' is not C-contiguous", hint=f"np.ascontiguousarray({self.name})")
        elif self.role in WRITTEN:
            raise ArgumentError(f"'{self.name}' is written by the kernel, so it must be an array")

    @property
    def nbytes(self) -> int:
        """Size of the data in bytes."""
        return self.data.nbytes if isinstance(self.data, np.ndarray) else len(self.data)

    @property
    def dtype(self) -> np.dtype:
        """The array's dtype; uint8 for bytes."""
        return self.data.dtype if isinstance(self.data, np.ndarray) else np.dtype(np.uint8)


@dataclass(frozen=True, slots=True)
class Tally:
    """What a launch did, summed over its blocks. All zero for a bare library.

    scalar, vector, mte2, mte3: instructions issued on each pipe. bytes_in, bytes_out: bytes moved from global memory
    into the Unified Buffer and back. ub_high_water: bytes of Unified Buffer in use, of the block that used most.
    """

    scalar: int
    vector: int
    mte2: int
    mte3: int
    bytes_in: int
    bytes_out: int
    ub_high_water: int

    @classmethod
    def from_abi(cls, tally: structs.Tally) -> Tally:
        """Copy the counts out of the struct of abi.h."""
        return cls(*tally.instructions, tally.bytes_in, tally.bytes_out, tally.ub_high_water)


@dataclass(frozen=True)
class Launched:
    """What a launch gave back.

    arrays: OUT, INOUT and WORKSPACE arguments by name. seconds: wall time of all blocks, measured beside the kernel.
    printed: what the kernel wrote to standard output and error; empty in process, where it went straight there.
    observed: the library checks and counts. diagnostics: warnings of a launch that ended well. trace: if it was asked
    for.
    """

    arrays: dict[str, np.ndarray]
    tally: Tally
    seconds: float
    printed: str
    observed: bool
    diagnostics: Findings = field(default_factory=Findings)
    trace: Trace | None = None


def poison(array: np.ndarray) -> None:
    """Fill a C-contiguous array with its dtype's poison: FLOAT_POISON, or POISON_BYTE in each byte."""
    pattern = FLOAT_POISON.get(array.dtype.name)
    flat = array.reshape(-1)
    if pattern is None:
        flat.view(np.uint8).fill(POISON_BYTE)
    else:
        flat.view(f"u{array.dtype.itemsize}").fill(pattern)
