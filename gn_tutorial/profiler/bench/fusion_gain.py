"""``gnt.fusion_gain("swiglu", gate, up)``: what a fused launch saves over the launches that it replaces.

All launches run on the twin, so bytes and local memory are counted; the times are modelled, never measured. Each launch
starts with a cold L2 cache, as a launch between others does. With ``warm``, the other extreme, the cache already holds
what fits.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.errors import ArgumentError, shown
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.call_plan import split_call
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.profiler.bench.replaced_launches import run_parts
from gn_tutorial.profiler.profile import Profile, profile_of, run_traced
from gn_tutorial.tables import html_table, text_table
from gn_tutorial.timing.machine import DEFAULT_MACHINE, Machine, load_machine


@dataclass(frozen=True)
class FusionGain:
    """A fused launch beside the launches that it replaces, on the same arrays.

    operator: the fused operator. parts: the profiles of the launches that it replaces. fused: the fused launch's
    profile. errors: of the parts, and of the fused launch. An error is the largest distance from the float64 reference,
    divided by the reference's largest number. It is often larger for the parts, because tensors between launches are
    rounded to their dtype.
    """

    operator: str
    parts: tuple[Profile, ...]
    fused: Profile
    errors: tuple[float, float]

    @property
    def microseconds(self) -> tuple[float, float]:
        """Modelled time of all parts, and of the fused launch."""
        return sum(one.microseconds for one in self.parts), self.fused.microseconds

    @property
    def bytes(self) -> tuple[int, int]:
        """Bytes between global and local memory, of all parts and of the fused launch."""
        return sum(map(moved, self.parts)), moved(self.fused)

    @property
    def ub_bytes(self) -> tuple[int, int]:
        """The most bytes of the Unified Buffer that a core uses at once, in the parts and in the fused launch."""
        return max(one.tally.ub_high_water for one in self.parts), self.fused.tally.ub_high_water

    @property
    def launches(self) -> tuple[int, int]:
        """The number of launches without fusion, and with it (1)."""
        return len(self.parts), 1

    @property
    def speed_up(self) -> float:
        """Modelled time of the parts divided by that of the fused launch; at 1 or below, the fusion does not pay."""
        before, after = self.microseconds
        return before / after

    @property
    def pays(self) -> bool:
        """Whether the fused launch is faster than the parts, by the model."""
        return self.speed_up > 1.0

    @property
    def reason(self) -> str:
        """The reason why the fusion pays or not: the bytes and launches that it saves, and its binding limit."""
        before, after = self.bytes
        fewer = f"{1.0 - after / before:.0%} fewer bytes" if after < before else "no fewer bytes"
        limit = self.fused.binding.name
        words = f"{fewer}, {self.launches[0] - 1} launch{'es' if self.launches[0] > 2 else ''} less; limited by {limit}"
        return words if self.pays else f"{words}: slower by {1.0 / self.speed_up - 1.0:.0%}"

    def rows(self) -> list[tuple[str, ...]]:
        """Return the rows of the table: each part, all parts together, and the fused launch."""
        found = [_row(one) for one in self.parts]
        (us, _), (total, _), (ub, _) = self.microseconds, self.bytes, self.ub_bytes
        found.append((f"{len(self.parts)} launches", f"{us:.2f}", f"{total:,}", f"{ub:,}", "", f"{self.errors[0]:.1e}"))
        found.append((*_row(self.fused)[:-1], f"{self.errors[1]:.1e}"))
        return found

    def __repr__(self) -> str:
        return f"{self._title}\n{text_table(_HEADERS, self.rows(), indent='  ')}\n  {self._verdict}"

    def _repr_html_(self) -> str:
        return html_table(_HEADERS, self.rows(), caption=self._title) + f"<p>{self._verdict}</p>"

    @property
    def _title(self) -> str:
        cache = "warm" if self.fused.timeline.warm else "cold"
        return f"{self.operator}: modelled on {self.fused.machine.name}, {cache} L2 cache"

    @property
    def _verdict(self) -> str:
        word = "The fusion pays" if self.pays else "The fusion does not pay"
        return f"{word}: {self.speed_up:.2f} times as fast; {self.reason}."


_HEADERS = ("launch", "modelled us", "bytes moved", "UB bytes of a core", "binding limit", "error")


def _row(one: Profile) -> tuple[str, ...]:
    us, ub = f"{one.microseconds:.2f}", f"{one.tally.ub_high_water:,}"
    return one.kernel, us, f"{moved(one):,}", ub, one.binding.name, ""


def moved(profile: Profile) -> int:
    """Return the bytes that a launch moves between global and local memory, both ways."""
    return profile.tally.bytes_in + profile.tally.bytes_out


def fusion_gain(
    target: str | Kernel,
    *values: Any,
    machine: str | Path | Machine = DEFAULT_MACHINE,
    warm: bool = False,
    **named: Any,
) -> FusionGain:
    """Run a fused operator and the launches that it replaces on the same arrays, and compare.

    target: a registered operator whose op.toml has [[replaces]], or one of its kernels: ``"swiglu"``. values, named:
    the arguments of a call. machine, warm: as for ``gnt.profile``. Raises ArgumentError for an operator that replaces
    nothing, and the errors of a call.
    """
    if not isinstance(target, (str, Kernel)):
        raise ArgumentError(f"fusion_gain takes the name of an operator, or a kernel, not {shown(target, 60)}")
    op, spec = find_kernel(target) if isinstance(target, str) else (target.op, target.spec)
    if op is None or spec is None:
        raise ArgumentError("a kernel that is not registered replaces nothing", hint='fusion_gain("swiglu", gate, up)')
    chosen = load_machine(machine)
    arrays, attributes = split_call(op, values, named)

    launch = functools.partial(run_traced, blocks=chosen.cores, machine=chosen)
    fused = launch(Kernel.registered(op, spec), **arrays, **attributes)
    results, made = run_parts(op, arrays, attributes, launch)
    expected = random_inputs.expected(op, arrays, attributes)
    return FusionGain(
        operator=op.name,
        parts=tuple(profile_of(one, machine=chosen, warm=warm) for one in results),
        fused=profile_of(fused, machine=chosen, warm=warm),
        errors=(_error(made, expected), _error(fused.outputs, expected)),
    )


def _error(found: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> float:
    """Return the error of the worst output: its largest distance, divided by the reference's largest number."""
    errors = [0.0]
    for name, right in expected.items():
        if right.size:
            distance = np.abs(found[name].astype(np.float64) - right).max()
            errors.append(float(distance / (np.abs(right).max() or 1.0)))
    return max(errors)
