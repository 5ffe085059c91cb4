"""The options of a launch: choices about the hardware, checks, and limits for a kernel that does not end."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from gn_tutorial.abi import severities, structs
from gn_tutorial.errors import ArgumentError

#: How to optimise a kernel library. True: -O3. "little": -Og, which compiles in a third of the time, for launches of a
#: few milliseconds. "soonest": -O3 if that is in the cache, else -Og. False: -O0 -g, for a debugger. The results of a
#: launch are the same bits in each case. With GNT_OPTIMISE=little in the environment, -Og takes the place of -O3.
Optimise = bool | Literal["little", "soonest"]

_MIB = 1024 * 1024
#: The largest number of threads: ``kMost`` of gn_twin/core/team.h.
_MOST_THREADS = 16


@dataclass(frozen=True, kw_only=True)
class TwinOptions:
    """The options of a launch: choices that public text on the hardware leaves open, and options of the checks.

    docs/hardware-choices.md gives the evidence for the choices, and explains the options (``auto_sync``,
    ``delayed_dma``, ``block_order``). The first value in a field's Literal is its default. Raises ArgumentError for a
    value that a field does not allow.
    """

    # The value of a result that is too large for half (arithmetic in half, or float32 -> half): infinity, as in NumPy,
    # PyTorch and the references, or the largest half.
    half_overflow: Literal["infinity", "saturate"] = "infinity"
    # Results of Add, Sub and Mul on int16 and int32 that are out of range. Other processors wrap around.
    integer_overflow: Literal["wrap", "saturate"] = "wrap"
    # The result of Max and Min if one operand is NaN: NaN, which makes the mistake visible, or the other operand.
    minmax_nan: Literal["nan", "other"] = "nan"
    # Rounding inside a half reduction: to half at each step, or only at the end, from float. Rounding at each step is
    # less exact, and so the harder test.
    half_tree: Literal["half", "float"] = "half"
    # Which lanes a reduction adds first: adjacent ones in pairs, or those of the lower half to those of the upper half.
    reduce_lanes: Literal["adjacent", "halves"] = "adjacent"
    # Whether Axpy rounds only once. If not, it rounds the product and then the sum, which gives the same bits on every
    # machine.
    axpy_fused: bool = False
    # The padding that DataCopyPad without isPad writes to the rest of a 32-byte block: copies of the first element, or
    # poison.
    pad_dummy: Literal["first", "poison"] = "first"
    # DeQue on an empty queue: stop with a diagnostic, or hand out the stale slot as the device does.
    empty_deque: Literal["stop", "stale"] = "stop"
    # NE with a NaN operand: true as in IEEE 754, or false like every other comparison with NaN.
    compare_nan: Literal["ieee", "false"] = "ieee"
    # Compare with a count that is not a whole number of repeats: ignore the elements after the last whole repeat, with
    # a diagnostic, or compare them too, as Ascend310B does. (Its compare instructions have a mask.)
    compare_tail: Literal["dropped", "compared"] = "dropped"
    # Subnormal results: keep them, as NumPy does, so that references agree, or make them 0.
    denormals: Literal["keep", "flush"] = "keep"
    # Sigmoid of half: float inside and one rounding, or a rounding at each step.
    sigmoid_half: Literal["float", "half"] = "float"
    # The number of repeats of Compare and Brcb in counter mode: repeatTime, as in normal mode, or that of the counter.
    counter_compare: Literal["repeats", "counter"] = "repeats"
    # The order of several repeats, or blocks of one repeat, that write the same destination. Kernels that accumulate
    # expect ascending order.
    repeat_order: Literal["ascending", "descending"] = "ascending"
    # The unit of dstRepStride of PairReduceSum with a partial mask: 128 bytes, or the size of one repeat's results.
    pair_unit: Literal["fixed", "packed"] = "fixed"
    # If a queue or AllocEventID finds no free event id: stop with a diagnostic, or go on without a flag.
    event_ids: Literal["stop", "none"] = "stop"
    # Results of Rsqrt and Reciprocal: correctly rounded, or with the error that the documentation warns of.
    approximate: Literal["exact", "documented"] = "exact"
    # Whether the compiler inserts flags, which the race checker and delayed copies then take into account. Kernels that
    # are launched directly are built with "on"; some operator libraries are built with "off". Commands call "off"
    # --waits explicit.
    auto_sync: Literal["on", "off"] = "on"
    # The race checker. "ignore" is for kernels that race on purpose, such as those that only time copies.
    races: Literal["report", "ignore"] = "report"
    # Whether copies between global memory and the Unified Buffer take effect only when the kernel waits for them. A
    # forgotten wait then gives wrong numbers, as on hardware. Only observed libraries have this option.
    delayed_dma: bool = False
    # The order in which blocks start, and continue after a SyncAll. 0: ascending; another number: the seed of a
    # permutation. The device guarantees no order; a result that depends on the order (a float sum by atomic additions)
    # changes there from run to run.
    block_order: int = 0
    # The most threads of a bare launch with at least 4 MiB of arrays; 0: one for each processor that the process may
    # use, up to 16. The results are the same bits as with one thread, unless blocks read or overwrite data of other
    # blocks without waiting. Other launches use one thread.
    threads: int = 0
    # The number of the chip's vector cores, and so of the blocks that run at once; 0: that of the default chip. A
    # further block starts when one has ended, so more blocks that wait for each other never end: they are refused.
    cores: int = 0
    # Names of findings that are warnings, or errors, in this launch. An error makes the launch fail; after a warning,
    # the launch continues, as it would on the device. A finding named in both fields is an error.
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
                listed = " or ".join(repr(choice) for choice in choices)
                raise ArgumentError(f"TwinOptions: {name} cannot be {value!r}", hint=f"{name}={listed}")
        for name in ("warnings", "errors"):
            if (names := getattr(self, name)) != ():
                severities.check_names(name, names)
                object.__setattr__(self, name, tuple(names))
        threads = self.threads
        if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= _MOST_THREADS:
            raise ArgumentError(
                f"TwinOptions: threads cannot be {threads!r}", hint=f"0 for all processors, or 1 to {_MOST_THREADS}"
            )
        cores = self.cores
        if isinstance(cores, bool) or not isinstance(cores, int) or not 0 <= cores < 1 << 32:
            raise ArgumentError(
                f"TwinOptions: cores cannot be {cores!r}", hint="the chip's vector cores, or 0 for the default chip's"
            )
        seed = self.block_order
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 32:
            raise ArgumentError(
                f"TwinOptions: block_order cannot be {seed!r}", hint="0 for ascending, or a seed below 2**32"
            )

    def strict(self) -> TwinOptions:
        """Return these options with the strictest choices, for a kernel that is meant for a device.

        DataCopyPad fills the rest of a 32-byte block with poison, Rsqrt and Reciprocal are approximate, and copies take
        effect only when something waits for them. Forms that CANN 9 refuses but older kernels use are errors
        (``strict`` in diagnostics.toml). ``Kernel.run`` also checks address spaces, if there is clang. A launch with
        these options needs an observed library. ``auto_sync`` stays: right kernels may count on the compiler's waits.
        """
        return replace(self, **_STRICT).with_errors(severities.having("strict"))

    def with_errors(self, names: Iterable[str]) -> TwinOptions:
        """Return these options with ``names`` added to ``errors``."""
        return replace(self, errors=tuple(dict.fromkeys((*self.errors, *names))))

    def to_abi(self) -> structs.GntOptions:
        """Return these options as the struct GntOptions of abi.h, in which 0 is the default of each field."""
        chosen = {name: choices.index(getattr(self, name)) for name, choices in _CHOICES.items()}
        return structs.GntOptions(**chosen, block_order=self.block_order, threads=self.threads, cores=self.cores)

    def severities(self) -> bytes:
        """Return the bytes of ``GntJob::severities``: for each named finding "w" or "e", the name and a newline."""
        warnings = [f"w{name}\n" for name in self.warnings if name not in self.errors]
        return "".join([*warnings, *[f"e{name}\n" for name in self.errors]]).encode()


def _choices() -> dict[str, tuple[Any, ...]]:
    hints = get_type_hints(TwinOptions)
    choosing = (field.name for field in fields(TwinOptions) if hints[field.name] not in (int, tuple[str, ...]))
    return {name: get_args(hints[name]) or (False, True) for name in choosing}


_CHOICES = _choices()
_STRICT: dict[str, Any] = {"pad_dummy": "poison", "approximate": "documented", "delayed_dma": True}

#: The smallest memory limit in bytes. With less memory the C++ runtime itself does not start.
SMALLEST_MEMORY = 32 * _MIB


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of time, memory and printed text for an isolated launch. An in-process launch has no limits.

    Raises ArgumentError for a limit that is not a positive number, for a number of bytes that is no int, or for a
    memory limit below 32 MiB.
    """

    # Wall time in seconds, including the start of the process; time in which it waits for a processor does not count.
    # No kernel of this course needs a minute, and a minute is not too long to wait for the end of an endless loop.
    seconds: float = 60.0
    # Address space that the kernel may add: its code, heap and thread stacks, but not its arguments. 4 GiB is enough
    # for one thread per core on any laptop, and stops a wrong size before the machine swaps.
    memory_bytes: int = 4 * 1024 * _MIB
    # Bytes that a kernel may print. A kernel that prints more does so in a loop, and would make a notebook too large
    # to open.
    printed_bytes: int = _MIB

    def __post_init__(self) -> None:
        numbers = {"seconds": (int, float), "memory_bytes": int, "printed_bytes": int}
        for name, kinds in numbers.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, kinds) or not math.isfinite(value) or value <= 0:
                raise ArgumentError(f"Limits: {name} cannot be {value!r}", hint="a positive number")
        if self.memory_bytes < SMALLEST_MEMORY:
            raise ArgumentError(
                f"Limits: memory_bytes cannot be {self.memory_bytes}",
                hint=f"at least {SMALLEST_MEMORY} (32 MiB): a C++ library with its runtime needs that much",
            )
