"""Compares the timing model with published launches of production operators, which run as operator projects.

``published_launches.csv`` has the measured times, and the modelled ones when the constants were last settled. With the
operators' sources (a checkout of ops-nn) they run with their own tilings; without them the stored figures are shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.profiler.calibration import CalibrationRow
from gn_tutorial.profiler.profile import profile_of, run_traced
from gn_tutorial.projects.project import Project
from gn_tutorial.timing.machine import Machine, load_machine
from tools.published_launches.error_band import Launch, inside, published_launches

#: The chip of the published launches.
_CHIP = "910B2"
#: Operator -> its place in ops-nn, and its name there. GroupNorm runs as GroupNormSilu without its activation.
_PLACES = {
    "group_norm": ("norm/group_norm_silu", "GroupNormSilu"),
    "rms_norm": ("norm/rms_norm", "RmsNorm"),
    "dynamic_quant": ("quant/dynamic_quant", "DynamicQuant"),
    "swi_glu": ("activation/swi_glu", "SwiGlu"),
}
#: RmsNorm broadcasts short rows from a buffer that it has freed: a true finding, which must not stop a measurement.
_OPTIONS = TwinOptions(warnings=("ub-use-after-free",), races="ignore")


def rows_of(what: str = "", machine: Machine | None = None, sources: Path | None = None) -> Iterator[CalibrationRow]:
    """Yield the rows of all launches, of an operator's ("rms_norm") or of one ("rms_norm/4"), each when it is known.

    machine: instead of the chip that was measured; needs sources. sources: a folder with ``norm``, ``quant`` and
    ``activation`` of ops-nn; None: the stored figures. Raises ArgumentError, which lists the operators or names
    what the folder lacks, and the errors of a project's call.
    """
    chosen = [one for one in published_launches() if what in ("", one.op, f"{one.op}/{one.case}")]
    if not chosen:
        known = ", ".join(sorted({one.op for one in published_launches()}))
        raise ArgumentError(f"there is no published launch '{what}'", hint=f"{known}, or one such as rms_norm/4")
    if sources is None and machine is not None:
        raise ArgumentError("stored figures are of the 910B2", hint="--sources FOLDER of ops-nn runs the operators")
    chip = machine or load_machine(_CHIP)
    for one in chosen:
        if sources is None:
            yield _row(one, one.modelled_us, chip, "stored, not run")
        else:
            yield _row(one, modelled_us(one, chip, sources), chip, "")


def modelled_us(launch: Launch, machine: Machine, sources: Path) -> float:
    """Run a launch with the operator's own tiling, and model its time in us. Raises the errors of ``rows_of``."""
    place, name = _PLACES[launch.op]
    if not (sources / place).is_dir():
        raise ArgumentError(f"{sources} has no {place}", hint="the folder of a checkout of ops-nn")
    values, named = _arguments(launch)
    project = Project(sources / place, name).on(machine.name)
    result = run_traced(project, *values, **named, isolated=False, options=_OPTIONS)
    return profile_of(result, machine=machine).microseconds


def _arguments(launch: Launch) -> tuple[tuple[Any, ...], dict[str, Any]]:
    shape, dtype, rng = tuple(json.loads(launch.shape)), as_dtype(launch.dtype), np.random.default_rng(17)

    def some(*lengths: int) -> np.ndarray:
        return rng.standard_normal(lengths, dtype=np.float32).astype(dtype)

    x = some(*shape)
    if launch.op == "group_norm":
        return (x, some(shape[1]), some(shape[1])), {"num_groups": int(launch.attr), "activate_silu": False}
    if launch.op == "rms_norm":
        return (x, some(shape[-1])), {}
    return (x,), {"dim": int(launch.attr)} if launch.op == "swi_glu" else {}


def _row(launch: Launch, modelled: float, machine: Machine, note: str) -> CalibrationRow:
    held = inside(launch._replace(modelled_us=modelled), machine.error_bands)
    where = "inside the error band" if held else "outside the error band"
    return CalibrationRow(
        case=f"{launch.op}/{launch.case}",
        what=f"{launch.dtype} {launch.shape}" + (f", {launch.attr}" if launch.attr else ""),
        metric="device time",
        measured=launch.measured_us,
        modelled=modelled,
        unit="us",
        target=None,  # The error band is what these are held to.
        used=bool(launch.fitted),
        note="; ".join(filter(None, (note, where))),
    )
