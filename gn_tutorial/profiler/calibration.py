"""Compares the timing model with published measurements.

``machines/measurements.csv`` has the figures with their sources. The kernels of ``kernels/calibration`` do the same
work as the measured kernels; the twin runs them and the model times them.
"""

from __future__ import annotations

import csv
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.trace import Pipe, Tracing
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import kernels_root
from gn_tutorial.operators.result import Result
from gn_tutorial.profiler.profile import Profile, profile_of
from gn_tutorial.timing.machine import FOLDER, Machine, load_machine

HEADERS = ("case", "what", "metric", "measured", "modelled", "error", "is", "target", "verdict")
SERIES = ("bank", "add", "copy", "instructions")
#: Number of repeats at which instructions are compared: 16 KiB, a usual tile.
_REPEATS = 64
#: Launches to which constants were fitted (machines/a2.toml says which). The other launches are predictions.
_USED = ("bank/1", "bank/5", "add/0", "add/1", "add/4", "add/5", "copy/1", "copy/3", "copy/6", "copy/7", "copy/8")
_ROWS, _COLUMNS = 8192, 8192
_TILE = 32768  # bytes between the tiles of the published Add kernels
_APART = 32512  # bytes between tiles that have no bank conflicts


class Measurement(NamedTuple):
    """One published figure. value: in us; for instructions a formula of the repeats R in cycles, ``5.93+2.066R``."""

    case: str
    chip: str
    what: str
    metric: str
    value: str
    unit: str
    note: str
    source: str


class CalibrationRow(NamedTuple):
    """One figure of the table. target: the largest error allowed, in per cent; None if there is none.

    used: whether a constant of the model was fitted to the figure, so that agreement with it proves little.
    """

    case: str
    what: str
    metric: str
    measured: float
    modelled: float
    unit: str
    target: float | None
    used: bool
    note: str

    @property
    def error(self) -> float:
        """Modelled minus measured time, in per cent of the measured time."""
        return (self.modelled / self.measured - 1.0) * 100.0

    @property
    def verdict(self) -> str:
        """The word "ok" or "missed"; empty without a target."""
        return "" if self.target is None else "ok" if abs(self.error) <= self.target else "missed"

    def facts(self) -> dict[str, Any]:
        """Return the row for JSON."""
        return {**self._asdict(), "error": self.error, "verdict": self.verdict}

    def cells(self) -> tuple[str, ...]:
        """Return the row under HEADERS, as text."""
        return (
            self.case,
            f"{self.what} ({self.note})" if self.note else self.what,
            self.metric,
            f"{self.measured:,.2f} {self.unit}",
            f"{self.modelled:,.2f}",
            f"{self.error:+.1f} %",
            "fitted" if self.used else "predicted",
            "" if self.target is None else f"within {self.target:g} %",
            self.verdict,
        )


@dataclass(frozen=True)
class CalibrationCase:
    """One published case: how to run our kernel for it, and the targets of its metrics.

    machine: the measured chip. scale: 1/``scale`` of the rows are run, and the time without the launch overhead is
    multiplied by ``scale``. It is above 1 only on one core, where each tile costs the same. targets: metric -> the
    largest error in per cent.
    """

    name: str
    machine: str
    run: Callable[[], Result]
    targets: Mapping[str, float]
    scale: int = 1
    note: str = ""

    @property
    def used(self) -> bool:
        """Whether a constant of the machine was fitted to this case."""
        return self.name in _USED


@functools.cache
def measurements() -> tuple[Measurement, ...]:
    """Return every published figure of the package."""
    with (FOLDER / "measurements.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return tuple(Measurement(*(row[name] for name in Measurement._fields)) for row in rows)


def rows_of(what: str, machine: Machine | None = None) -> Iterator[CalibrationRow]:
    """Yield the rows of a series ("add") or of one of its cases ("add/3"), each as soon as its case has run.

    machine: a chip to model instead of the measured one. Raises ArgumentError for an unknown series or case.
    """
    series, _, number = what.partition("/")
    if series not in SERIES or (series == "instructions" and number):
        raise ArgumentError(f"there is no series '{what}'", hint=f"one of {', '.join(SERIES)}, or a case such as add/3")
    if series == "instructions":
        yield from _instruction_rows(machine)
        return
    makers = {"bank": _bank_cases, "add": _add_cases, "copy": _copy_cases}
    cases = [case for case in makers[series]() if case.name == what or not number]
    if not cases:
        known = ", ".join(case.name for case in makers[series]())
        raise ArgumentError(f"there is no case '{what}'", hint=f"one of {known}")
    for case in cases:
        found = profile_of(case.run(), machine=machine or load_machine(case.machine))
        modelled = _modelled(found, case.scale)
        for one in measurements():
            if one.case == case.name and one.metric in modelled:
                target = case.targets.get(one.metric)
                note = "; ".join(filter(None, (case.note, one.note)))
                us = modelled[one.metric]
                yield CalibrationRow(
                    one.case, one.what, one.metric, float(one.value), us, one.unit, target, case.used, note
                )


def _modelled(found: Profile, scale: int) -> dict[str, float]:
    """Return the modelled values, by name, in us: those of a profiler's columns, and the time of the launch's Adds."""
    timeline, machine = found.timeline, found.machine
    weights = found.trace.weights()

    def average(cycles: Mapping[int, float]) -> float:
        total = 0.0
        for block, weight in weights.items():
            total += cycles[block] * weight
        return machine.microseconds(total / found.blocks) * scale

    busy = {pipe: average({block: one[pipe] for block, one in timeline.busy.items()}) for pipe in (Pipe.S, Pipe.V)}
    adds = [span for span in timeline.of(min(weights), Pipe.V) if span.op == "Add"]
    return {
        "Task Duration": timeline.launch_us + machine.microseconds(timeline.cycles) * scale,
        "aiv_time": machine.microseconds(timeline.cycles) * scale,
        "aiv_vec_time": busy[Pipe.V],
        "aiv_scalar_time": busy[Pipe.S],
        "aiv_mte2_time": average({block: _in_flight(found, block, Pipe.MTE2) for block in weights}),
        "aiv_mte3_time": average({block: _in_flight(found, block, Pipe.MTE3) for block in weights}),
        "1000 Adds": machine.microseconds(adds[-1].end - adds[0].start) if adds else 0.0,
    }


def _in_flight(found: Profile, block: int, pipe: Pipe) -> float:
    """Return the cycles in which at least one transfer of the pipe is in flight. A profiler calls this time busy."""
    total = until = 0.0
    for span in found.timeline.of(block, pipe):
        total += max(span.done - max(span.start, until), 0.0)
        until = max(until, span.done)
    return total


@functools.cache
def _kernel(name: str) -> Any:
    return kernel(kernels_root() / "calibration" / f"{name}.cpp")


def _bank_cases() -> Iterator[CalibrationCase]:
    # Addresses of src0, src1 and dst; block and repeat stride of src0.
    scenarios = (
        (0, 0x10100, 0x20000, 1, 8),
        (0, 0x4000, 0x10000, 1, 8),
        (0, 0x10000, 0x14100, 1, 8),
        (0, 0x10100, 0x4000, 1, 8),
        (0, 0x10100, 0x4020, 1, 8),
        (0, 0x10100, 0x10100, 1, 8),
        (0, 0x10100, 0x10100, 0, 1),
        (0, 0x10100, 0x10100, 0, 8),
    )
    for number, values in enumerate(scenarios, 1):
        run = functools.partial(_run, "bank_conflicts", out((4096,), np.float32), *values)
        # The chip ran at 1.80 GHz: a repeat of scenario 2 takes one cycle more, and 0.5553 ns more were measured.
        yield CalibrationCase(f"bank/{number}", "910B2", run, {"1000 Adds": 2.0})


def _add_cases() -> Iterator[CalibrationCase]:
    packed = [0, _TILE, 2 * _TILE, 3 * _TILE, 4 * _TILE, 5 * _TILE]
    # z0 and x1 start 512 bytes after the end of the tile before them, the other tiles without a gap. So a repeat of x
    # and the same repeat of y share no bank group.
    apart = [0, _APART, 2 * _APART + 512, 3 * _APART + 1024, 4 * _APART + 1024, 5 * _APART + 1024]
    steps = (
        ("0", 1, 4096, 0, 0, packed, 16),
        ("1", 1, 4096, 1, 0, packed, 8),
        ("2", 48, 4096, 1, 0, packed, 1),
        ("3", 48, 16384, 1, 0, packed, 1),
        ("4", 48, 16384, 2, 0, packed, 1),
        ("5", 48, 16384, 2, 1, packed, 1),
        ("6", 48, 16256, 2, 1, apart, 1),
    )
    for name, blocks, tile, buffers, bypass, (_, y0, z0, x1, y1, z1), scale in steps:
        values = (tile, buffers, bypass, y0, z0, x1, y1, z1)
        run = functools.partial(_run_add, _ROWS // scale, *values, blocks=blocks)
        targets = {"Task Duration": 15.0, "aiv_vec_time": 5.0} if name != "0" else {"Task Duration": 15.0}
        note = f"1/{scale} of the rows run, then multiplied" if scale > 1 else ""
        yield CalibrationCase(f"add/{name}", "910B1", run, targets, scale, note)


def _copy_cases() -> Iterator[CalibrationCase]:
    # Rows and columns of the matrix; rows and columns of a tile; slices, passes, order, whether to bypass the L2 cache.
    scenarios = (
        (12288, 12288, 1, 64, 1, 1, 0, 0),
        (12288, 12288, 64, 64, 1, 1, 0, 0),
        (12288, 12288, 64, 1024, 1, 1, 0, 0),
        (12288, 12287, 64, 1024, 1, 1, 0, 0),
        (12288, 12288, 64, 1024, 1, 4, 0, 0),
        (12288, 12288, 64, 1024, 4, 4, 0, 0),
        (6144, 512, 128, 64, 1, 1, 1, 1),
        (6144, 512, 128, 64, 1, 1, 2, 1),
    )
    for number, values in enumerate(scenarios, 1):
        run = functools.partial(_run_copy, *values)
        targets = {"Task Duration": 15.0} if number in (1, 2, 3, 4, 6) else {}
        yield CalibrationCase(f"copy/{number}", "910B2", run, targets)


def _run_add(rows: int, *values: int, blocks: int) -> Result:
    x, y = np.zeros((2, rows * _COLUMNS), np.float16)
    return _run("add_story", x, y, out(x.shape, x.dtype), rows, *values, blocks=blocks)


def _run_copy(rows: int, columns: int, *values: int) -> Result:
    return _run("copy_sweep", np.zeros(rows * columns, np.float16), rows, columns, *values, blocks=48)


def _run(name: str, *values: Any, blocks: int = 1) -> Result:
    # Two recorded blocks are enough, because all do the same. The launch runs in this process, so that large arrays are
    # not copied. The sweep's copies overwrite a tile that nothing reads: a race, but the published kernels have it too.
    options = TwinOptions(races="ignore")
    return _kernel(name).run(*values, blocks=blocks, tracing=Tracing(blocks=2), isolated=False, options=options)


#: The API of each instruction of the published sweeps. ``_ARITHMETIC`` has the APIs whose two sources lay in one bank
#: group.
_APIS = {
    "vadd": "Add", "vsub": "Sub", "vmul": "Mul", "vdiv": "Div", "vmax": "Max", "vmax/vmin": "Max", "vadds": "Adds",
    "vmuls": "Muls", "vmaxs": "Maxs", "vmaxs/vmins": "Maxs", "vabs/vrelu": "Abs", "vrelu": "Relu",
    "vlrelu": "LeakyRelu", "vexp": "Exp", "vln": "Ln", "vsqrt": "Sqrt", "vrsqrt": "Rsqrt", "vand(int16)": "And",
    "vor(int16)": "Or", "vconv f32->f16": "Cast", "vcadd": "WholeReduceSum", "vcgadd": "BlockReduceSum",
    "vcgmax/vcgmin": "BlockReduceMax", "vcmax/vcmin": "WholeReduceMax", "vector_dup": "Duplicate", "vbrcb": "Brcb",
    "vaxpy": "Axpy", "vcopy": "Copy", "vgather contiguous": "Gather", "vreducev2": "GatherMask", "vsel": "Select",
    "vnchwconv b16/b32": "TransDataTo5HD", "vcmp_ge": "Compare", "vmla": "MulAddDst", "vmadd": "FusedMulAdd",
}  # fmt: skip
_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Max", "And", "Or")


def _instruction_rows(machine: Machine | None) -> Iterator[CalibrationRow]:
    chip = machine or load_machine("910B1")
    for one in measurements():
        series, _, name = one.case.partition("/")
        if series not in ("native", "isolated") or name not in _APIS:
            continue
        cost = chip.instruction(_APIS[name])
        conflict = 2.0 if _APIS[name] in _ARITHMETIC else 1.0
        modelled = cost.startup + cost.slope * _REPEATS * conflict
        if series == "isolated":
            modelled += chip.vector_fixed + chip.vector_barrier
        metric = f"cycles of {_REPEATS} repeats"
        yield CalibrationRow(one.case, one.what, metric, _cycles(one.value), modelled, "cycles", None, True, one.note)


def _cycles(fit: str) -> float:
    """Return the value of ``5.93+2.066R`` or ``2.11*R+24`` for R = _REPEATS repeats."""
    terms: Sequence[str] = re.findall(r"[+-]?[\d.]+(?:\*?R)?", fit)
    total = 0.0
    for term in terms:
        number = float(term.replace("*", "").replace("R", ""))
        total += number * _REPEATS if "R" in term else number
    return total
