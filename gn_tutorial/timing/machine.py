"""The machines of the timing model: each constant with its unit, its source and its confidence.

``machines/*.toml`` has the values, one file for each chip; the file's name is the argument of ``load_machine``. A file
with ``family = true`` is no machine: it has the values that several chips share. To change the model, edit a file or
use ``machine.with_(...)``; nothing has to be built.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from gn_tutorial.errors import ArgumentError, RegistryError, shown
from gn_tutorial.tables import html_table, text_table
from gn_tutorial.toml_file import PACKAGE, read_toml

FOLDER = PACKAGE / "machines"
#: The default chip. It was chosen because there are published times of vector kernels on it.
DEFAULT_MACHINE = "910B2"
_LARGEST = 1 << 63
_CONFIDENCE = ("high", "medium", "low")


@dataclass(frozen=True, slots=True)
class Constant:
    """One constant: its value, its unit in words, its source, and its confidence: high, medium or low."""

    value: float
    unit: str
    source: str
    confidence: str


@dataclass(frozen=True, slots=True)
class Instruction:
    """The cost of a vector instruction: ``startup + vector_fixed + slope * repeats * K`` cycles, at least 1.

    K: the slowdown by bank conflicts, 1 without them. slope_16: the slope for elements of two bytes. apis: the names of
    the APIs that have this cost.
    """

    name: str
    startup: float
    slope: float
    slope_16: float
    source: str
    confidence: str
    apis: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ErrorBand:
    """The model's error on published launches: modelled minus measured, in per cent of the measured time.

    low, high: the range of these errors for launches shorter than ``below_us``.
    """

    below_us: float
    low: float
    high: float
    source: str


@dataclass(frozen=True)
class Machine:
    """The constants of one chip for the timing model. ``constants`` has the unit and the source of each field.

    Times are in cycles of ``clock_ghz``, and sizes in bytes, unless the field's name has another unit.
    """

    name: str
    cores: int
    clock_ghz: float
    l2_bytes: int
    ub_bytes: int
    vector_fixed: float
    vector_latency: int
    vector_barrier: float
    mte2_bytes_per_cycle: float
    mte3_bytes_per_cycle: float
    dma_issue: float
    partial_row: float
    l2_read_latency: float
    l2_write_latency: float
    hbm_latency: float
    hbm_read_gbs: float
    hbm_write_gbs: float
    l2_read_gbs: float
    same_address: float
    scalar_access: float
    scalar_line_bytes: int
    queue_operation: float
    issue: float
    flag: float
    round_trip: float
    meet: float
    launch_us: float
    core_start_us: float
    instructions: Mapping[str, Instruction]
    error_bands: tuple[ErrorBand, ...]
    constants: Mapping[str, Constant]

    @functools.cached_property
    def _by_api(self) -> dict[str, Instruction]:
        return {api: one for one in self.instructions.values() for api in one.apis}

    def instruction(self, api: str) -> Instruction:
        """Return the cost of an API; the cost called ``other`` if the machine's file has none for it."""
        return self._by_api.get(api, self.instructions["other"])

    def launch(self, cores: int) -> float:
        """Return the microseconds that launch, start and completion of a kernel on ``cores`` cores take."""
        return self.launch_us + self.core_start_us * cores

    def microseconds(self, cycles: float) -> float:
        """Return cycles of this machine's clock as microseconds."""
        return cycles / (self.clock_ghz * 1000.0)

    def error_band(self, microseconds: float) -> ErrorBand:
        """Return the error band of a modelled time of this many microseconds."""
        return next(band for band in self.error_bands if microseconds < band.below_us)

    def with_(self, **values: float) -> Machine:
        """Return a copy of the machine with other constants, as in ``machine.with_(hbm_read_gbs=1800)``.

        The source of a changed constant is "given by the caller", its confidence "low". Raises ArgumentError for an
        unknown constant, or a value that is not a number above 0 and below 2**63.
        """
        unknown = [name for name in values if name not in self.constants]
        if unknown:
            known = ", ".join(self.constants)
            raise ArgumentError(f"'{unknown[0]}' is no constant of a machine", hint=f"constants: {known}")
        for name, value in values.items():
            if not _is_number(value) or not value > 0:
                raise ArgumentError(f"{name} cannot be {shown(value)}", hint=f"a number of {self.constants[name].unit}")
        given = {
            name: Constant(value, self.constants[name].unit, "given by the caller", "low")
            for name, value in values.items()
        }
        return replace(self, **values, constants={**self.constants, **given})

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return name, value, unit, confidence and source of every constant, as text."""
        return [(name, f"{one.value:g}", one.unit, one.confidence, one.source) for name, one in self.constants.items()]

    def __repr__(self) -> str:
        return f"{self.name}\n{text_table(_HEADERS, self.rows(), indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table(_HEADERS, self.rows(), caption=self.name)


_HEADERS = ("constant", "value", "unit", "confidence", "source")
#: The key that marks the file of a family: other files extend it, and it is no machine itself.
_FAMILY = "family"
_OTHER_FIELDS = ("name", "instructions", "error_bands", "constants")


def machines() -> tuple[str, ...]:
    """Return the names that ``load_machine`` knows: the files in ``machines`` that describe a chip, not a family."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml") if not read_toml(path, "the machine").get(_FAMILY)))


def load_machine(name: str | Path | Machine = DEFAULT_MACHINE) -> Machine:
    """Return the machine of that name, or of your own TOML file; return a Machine unchanged.

    Raises ArgumentError, which lists the names, for an unknown name and for another type; RegistryError for a file that
    cannot be read or has a mistake.
    """
    if isinstance(name, Machine):
        return name
    if not isinstance(name, (str, Path)):
        raise ArgumentError(
            f"a machine must be a name or a path, not {shown(name)}", hint=f"one of {', '.join(machines())}"
        )
    own = isinstance(name, Path) or name.endswith(".toml")
    path = Path(name) if own else FOLDER / f"{name}.toml"
    try:
        data = _read(path) if own or path.is_file() else {_FAMILY: True}
        if own or not data.get(_FAMILY):
            return _machine(data)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RegistryError(f"the file of the machine has a mistake: {error}", where=str(path)) from error
    raise ArgumentError(f"there is no machine '{name}'", hint=f"one of {', '.join(machines())}, or a .toml file")


@functools.cache
def default_machine() -> Machine:
    """Return the Machine of DEFAULT_MACHINE, whose file is read only once."""
    return load_machine()


def default_cores() -> int:
    """Return the number of vector cores of DEFAULT_MACHINE, the default number of blocks of a launch."""
    return int(default_machine().cores)


def _read(path: Path) -> dict[str, Any]:
    data = read_toml(path, "the machine")
    base = data.pop("extends", None)
    if base is None:
        return data
    beside = path.parent / f"{base}.toml"
    below = _read(beside if beside.is_file() else FOLDER / f"{base}.toml")
    below.pop(_FAMILY, None)
    tables = {key: {**below.get(key, {}), **data.get(key, {})} for key in ("constants", "instructions")}
    return {**below, **data, **tables}


def _is_number(value: object) -> bool:
    """Whether the value is a number below ``_LARGEST``. An integer of TOML (``0xfff...``) may not fit a float."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _LARGEST


def _machine(data: Mapping[str, Any]) -> Machine:
    constants = {name: Constant(**table) for name, table in data["constants"].items()}
    instructions = {
        name: Instruction(name=name, **{"slope_16": table["slope"], **table, "apis": tuple(table["apis"])})
        for name, table in data["instructions"].items()
    }
    for name, one in {**constants, **instructions}.items():
        for field in fields(one):
            if field.type == "float" and not _is_number(getattr(one, field.name)):
                raise ValueError(f"{name}: {field.name} cannot be {shown(getattr(one, field.name), 40)}")
        if one.confidence not in _CONFIDENCE:
            raise ValueError(f"confidence '{one.confidence}'")
    wanted = [field.name for field in fields(Machine) if field.name not in _OTHER_FIELDS]
    if wrong := set(wanted) ^ set(constants):
        raise ValueError(f"constants {', '.join(sorted(wrong))}")
    return Machine(
        name=data["name"],
        **{name: constants[name].value for name in wanted},
        instructions=instructions,
        error_bands=tuple(ErrorBand(**table) for table in data["error_bands"]),
        constants=constants,
    )
