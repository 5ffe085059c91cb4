"""What a launch may be told besides its arguments: choices about the hardware, and limits for a wild kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from gn_tutorial.abi import severities, structs
from gn_tutorial.errors import ArgumentError

#: How fast a kernel library is to be, or how soon there: True (-O3), "little" (-Og: for launches of a few milliseconds,
#: there in a third of the time), "soonest" (-O3 if that is in the cache, else -Og), False (-O0 -g: for a debugger). The
#: numbers of a launch are the same bits.
Optimise = bool | Literal["little", "soonest"]

_MIB = 1024 * 1024
#: gn_twin/core/team.h has room for these.
_MOST_THREADS = 16


@dataclass(frozen=True, kw_only=True)
class TwinOptions:
    """Points that public text on the hardware does not decide, and how a launch is watched.

    docs/hardware-choices.md has the evidence of the former and the use of the latter (``auto_sync``, ``delayed_dma``,
    ``block_order``). The first choice of each field is its default. Raises ArgumentError that quotes a value which is
    no choice.
    """

    # float32 -> half and half arithmetic out of range. IEEE is what NumPy and PyTorch do, so references agree.
    half_overflow: Literal["infinity", "saturate"] = "infinity"
    # Add, Sub, Mul on int16 and int32. Wrapping is what every other integer unit does.
    integer_overflow: Literal["wrap", "saturate"] = "wrap"
    # Max and Min with one NaN operand. A NaN that survives is a mistake that is seen.
    minmax_nan: Literal["nan", "other"] = "nan"
    # Rounding inside a half reduction. Rounding at each step is the less exact choice, and so the harder test.
    half_tree: Literal["half", "float"] = "half"
    # Which lanes a reduction adds first.
    reduce_lanes: Literal["adjacent", "halves"] = "adjacent"
    # Whether Axpy rounds once. Separate rounding gives the same bits on every machine.
    axpy_fused: bool = False
    # What DataCopyPad without isPad leaves in the lanes that fill up a 32-byte block: its first element, or poison.
    pad_dummy: Literal["first", "poison"] = "first"
    # DeQue on an empty queue: stop with a diagnostic, or hand out the stale slot as the device does.
    empty_deque: Literal["stop", "stale"] = "stop"
    # NE with a NaN operand: true as in IEEE 754, or false like every other comparison with NaN.
    compare_nan: Literal["ieee", "false"] = "ieee"
    # Compare of a count that is no whole number of repeats: the rest is left out, with a diagnostic, or compared, as on
    # Ascend310B, whose instructions have a mask.
    compare_tail: Literal["dropped", "compared"] = "dropped"
    # Subnormal results. Keeping them is what NumPy does, so references agree.
    denormals: Literal["keep", "flush"] = "keep"
    # Sigmoid of half: float inside and one rounding, or a rounding at each step.
    sigmoid_half: Literal["float", "half"] = "float"
    # Compare and Brcb in counter mode: repeatTime decides as always, or the counter does.
    counter_compare: Literal["repeats", "counter"] = "repeats"
    # Several repeats, or blocks of one repeat, into the same destination. Ascending is how the accumulate idiom reads.
    repeat_order: Literal["ascending", "descending"] = "ascending"
    # PairReduceSum with a partial mask: dstRepStride in units of 128 bytes, or of the results of one repeat.
    pair_unit: Literal["fixed", "packed"] = "fixed"
    # A queue or AllocEventID finds no free event id: stop with a diagnostic, or go on without a flag.
    event_ids: Literal["stop", "none"] = "stop"
    # Rsqrt and Reciprocal: correctly rounded, or with the error that the documentation warns of.
    approximate: Literal["exact", "documented"] = "exact"
    # Whether the race checker counts on the flags that the compiler inserts. "on" is how kernels that are launched
    # directly are built; some operator libraries switch it off.
    auto_sync: Literal["on", "off"] = "on"
    # The race checker. "ignore" is for kernels that are wrong on purpose, such as those that only time copies.
    races: Literal["report", "ignore"] = "report"
    # Copies between global memory and the Unified Buffer take effect only when the kernel waits for them: a forgotten
    # wait gives wrong numbers, as on hardware. Observed libraries only.
    delayed_dma: bool = False
    # The order in which blocks start, and go on after they have met: 0, 1, 2 ..., or the seed of a permutation. On the
    # device nobody chooses it; a result that changes with it (a float sum by atomic additions) changes there each run.
    block_order: int = 0
    # Of a bare launch of 4 MiB of arrays and more: 0 for as many as there are processors. The bits are those of
    # one thread, unless blocks read or overwrite what others write and do not wait for them: a race. Observed launches
    # run on one.
    threads: int = 0
    # Findings by name that are warnings, or errors, in this launch. An error fails it; after a warning it goes on, as
    # the device would. A name in both is an error.
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
                listed = " or ".join(repr(choice) for choice in choices)
                raise ArgumentError(f"TwinOptions: {name} cannot be {value!r}", hint=f"{name}={listed}")
        for name in ("warnings", "errors"):
            severities.check_names(name, getattr(self, name))
            object.__setattr__(self, name, tuple(getattr(self, name)))
        threads = self.threads
        if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= _MOST_THREADS:
            raise ArgumentError(
                f"TwinOptions: threads cannot be {threads!r}", hint=f"0 for all processors, or 1 to {_MOST_THREADS}"
            )
        seed = self.block_order
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 32:
            raise ArgumentError(
                f"TwinOptions: block_order cannot be {seed!r}", hint="0 for ascending, or a seed below 2**32"
            )

    def strict(self) -> TwinOptions:
        """The same with the choices that forgive least, for a kernel that is to leave the twin.

        No waits that the compiler puts in, poison in the lanes that fill up a block, approximate reciprocals, and
        copies that arrive when they are waited for; what CANN 9 refuses and older kernels have (``strict`` in
        diagnostics.toml) is an error. Observed libraries only.
        """
        return replace(self, **_STRICT, errors=tuple(dict.fromkeys((*self.errors, *severities.having("strict")))))

    def to_abi(self) -> structs.GntOptions:
        """The same choices as the struct of abi.h, where 0 is the default of each field."""
        chosen = {name: choices.index(getattr(self, name)) for name, choices in _CHOICES.items()}
        return structs.GntOptions(**chosen, block_order=self.block_order, threads=self.threads)

    def severities(self) -> bytes:
        """``warnings`` and ``errors`` as GntJob has them."""
        return severities.encoded([name for name in self.warnings if name not in self.errors], self.errors)


def _choices() -> dict[str, tuple[Any, ...]]:
    hints = get_type_hints(TwinOptions)
    choosing = (field.name for field in fields(TwinOptions) if hints[field.name] not in (int, tuple[str, ...]))
    return {name: get_args(hints[name]) or (False, True) for name in choosing}


_CHOICES = _choices()
_STRICT: dict[str, Any] = {
    "auto_sync": "off", "pad_dummy": "poison", "approximate": "documented", "delayed_dma": True
}  # fmt: skip

#: Below this the C++ runtime itself does not start.
SMALLEST_MEMORY = 32 * _MIB


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long, how large and how talkative an isolated launch may be. An in-process launch has no limits.

    Raises ArgumentError for a limit that is not a positive number, or a memory limit below 32 MiB.
    """

    # Wall time in seconds, start of the process included; the time that it waits for a processor does not count. A
    # minute is far above any kernel of this course, and short enough for somebody who wrote an endless loop.
    seconds: float = 60.0
    # Address space that the kernel may add: its code, heap and thread stacks, but not its arguments. 4 GiB leaves room
    # for one thread per core on any laptop and stops a mistaken size before the machine swaps.
    memory_bytes: int = 4 * 1024 * _MIB
    # What a kernel may print. More than this is a loop that prints; a notebook that stores it could not be opened.
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
