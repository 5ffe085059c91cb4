"""The page of one Ascend C name for ``gnt apis NAME``: the forms that the twin declares, and the cost of a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gn_tutorial.cli.api_table import TWIN, Api
from gn_tutorial.errors import CompilerMissing
from gn_tutorial.timing.machine import Machine

_REPEAT_BYTES = 256
#: The number of elements for which a cost is computed as an example. There are enough for the slope to matter, and they
#: take at most 4 KiB of the Unified Buffer.
_ELEMENTS = 1024
#: Name of an API that is not a vector instruction -> the machine's constants that the model charges for a call.
_CONSTANTS = {
    "DataCopy": ("mte2_bytes_per_cycle", "mte3_bytes_per_cycle", "dma_issue", "l2_read_latency", "l2_write_latency"),
    "TQue::AllocTensor": ("queue_operation",),
    "LocalTensor::GetValue": ("scalar_access",),
    "SetFlag": ("flag",),
    "SyncAll": ("meet",),
    "PipeBarrier": ("flag", "vector_barrier"),
}
_SAME = {
    "DataCopyPad": "DataCopy",
    "TQue::EnQue": "TQue::AllocTensor",
    "TQue::DeQue": "TQue::AllocTensor",
    "TQue::FreeTensor": "TQue::AllocTensor",
    "LocalTensor::SetValue": "LocalTensor::GetValue",
    "WaitFlag": "SetFlag",
    "set_flag": "SetFlag",
    "wait_flag": "SetFlag",
    "pipe_barrier": "PipeBarrier",
}
#: The documentation's folders for names that compute on the vector unit: instructions, and the high-level API.
_VECTOR_PAGES = ("矢量计算", "高阶API")


@dataclass(frozen=True)
class ApiPage:
    """The page of one API. forms: its declarations; empty without a compiler to read the headers, or if none is found.

    cost: rows of (name, text), empty if the model charges nothing for a call. note: says that the compiler is missing;
    else empty.
    """

    api: Api
    forms: tuple[str, ...]
    cost: tuple[tuple[str, str], ...]
    note: str = ""


def find_page(apis: Sequence[Api], name: str) -> Api | None:
    """Return the supported API of this name. Return None if there is none, or more than one.

    If no API has the name as it is written, upper and lower case are taken as the same. If still none has it, the name
    of a member finds it: ``EnQue`` finds ``TQue::EnQue``.
    """
    low, supported = name.lower(), [one for one in apis if one.supported]
    found = (
        [one for one in supported if one.name == name]
        or [one for one in supported if one.name.lower() == low]
        or [one for one in supported if one.name.lower().endswith(f"::{low}")]
    )
    return found[0] if len(found) == 1 else None


def page_of(api: Api, machine: Machine) -> ApiPage:
    """Return the page of one name. Without a compiler it has no forms, and its note says so."""
    from gn_tutorial.compiler.preprocess import twin_texts
    from gn_tutorial.cpp.api_forms import declarations, macro_form

    try:
        texts, note = twin_texts(), ""
    except CompilerMissing as error:
        texts, note = [], f"no forms: {error.what}"
    forms = declarations(texts, api.name)
    if texts and not forms:
        headers = sorted((TWIN / "include" / "gn_twin").rglob("*.h"))
        macros = (macro_form(path.read_text(encoding="utf-8"), api.name) for path in headers)
        forms = [one for one in macros if one][:1]
    return ApiPage(api, tuple(forms), tuple(cost_rows(api, machine)), note)


def cost_rows(api: Api, machine: Machine) -> list[tuple[str, str]]:
    """Return rows (name, text): the model's cost of a call, and the source of the numbers; no rows without a cost."""
    names = _CONSTANTS.get(_SAME.get(api.name, api.name))
    if names is not None:
        known = [(name, machine.constants[name]) for name in names]
        return [(name, f"{one.value:g} {one.unit} ({one.confidence}: {one.source})") for name, one in known]
    cost, other = machine.instruction(api.name), machine.instructions["other"]
    if cost is other and not any(part in api.doc for part in _VECTOR_PAGES):
        return []
    rows = [("modelled cost", _formula(cost.startup + machine.vector_fixed, cost.slope, cost.slope_16))]
    rows += [
        (f"{_ELEMENTS} elements of {size} bytes", _example(machine, cost.startup, slope, size))
        for size, slope in ((4, cost.slope), (2, cost.slope_16))
    ]
    source = f"{cost.source} ({cost.confidence})"
    return [*rows, ("source", source if cost is not other else f"nobody measured it: {source}")]


def _formula(fixed: float, slope: float, slope_16: float) -> str:
    narrow = "" if slope == slope_16 else f"; of two bytes {fixed:g} + {slope_16:g} R"
    return f"{fixed:g} + {slope:g} R cycles for R repeats of {_REPEAT_BYTES} bytes{narrow}"


def _example(machine: Machine, startup: float, slope: float, size: int) -> str:
    repeats = _ELEMENTS * size // _REPEAT_BYTES
    cycles = startup + machine.vector_fixed + slope * repeats
    return f"{repeats} repeats, {cycles:g} cycles, {machine.microseconds(cycles):.3f} us on {machine.name}"
