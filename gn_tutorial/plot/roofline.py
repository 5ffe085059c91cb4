"""Draws the limits of one launch as bars, and several launches below the roof of the machine."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gn_tutorial.abi.trace import Kind, Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.picture import FAINT, INK, LINES, SMALL, STYLE, WIDTH, Picture, heading
from gn_tutorial.plot.pipes import end_axis
from gn_tutorial.profiler.palette import BOUND, LOOKS, TOTAL
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.timing.machine import Machine

#: A pipe's limit has that pipe's colour; the memory's limits have BOUND.
_OF_PIPE = {"MTE2": Pipe.MTE2, "MTE3": Pipe.MTE3, "vector unit": Pipe.V, "scalar unit": Pipe.S}
#: Bytes that one vector instruction processes in one cycle: one repeat.
_REPEAT_BYTES = 256


def limits(profile: Profile) -> Picture:
    """Draw a bar for the modelled time, and one for each limit of the launch's time that is not 0, in microseconds."""
    rows = [limit for limit in profile.limits if limit.amount]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 1.3 + 0.42 * (len(rows) + 1)), layout="constrained")
        axis = figure.subplots()
        values = [profile.microseconds, *(limit.microseconds for limit in rows)]
        looks = [LOOKS[_OF_PIPE[limit.name]] if limit.name in _OF_PIPE else None for limit in rows]
        colours = [TOTAL, *(look.colour if look else BOUND for look in looks)]
        hatches = ["", *(look.hatch if look else "" for look in looks)]
        names = ["modelled time", *(limit.name for limit in rows)]
        axis.barh(range(len(values)), values, color=colours, hatch=hatches, edgecolor="white", height=0.7)
        for row, value in enumerate(values):
            said = f" {value:.2f} us"
            if row:
                limit = rows[row - 1]
                said += f": {limit.amount:,.0f} {limit.unit}" + (", the binding limit" if row == 1 else "")
            else:
                said += f", {profile.distance:.2f} times the binding limit"
            axis.text(value, row, said, va="center", fontsize=SMALL)
        axis.set_yticks(range(len(values)), names)
        axis.invert_yaxis()
        axis.tick_params(axis="y", length=0)
        axis.set_xlim(0.0, max(values) * 1.6)
        end_axis(axis, max(values))
        axis.set_xlabel("microseconds, modelled; a bound's bar: this work alone, spread evenly over the cores")
        heading(axis, f"{profile.kernel}: what it cannot be faster than", profile.machine.name)
        axis.spines[["top", "right", "left"]].set_visible(False)
    bounds = "; ".join(
        f"{limit.name} {limit.microseconds:.2f} us for {limit.amount:,.0f} {limit.unit}" for limit in rows
    )
    return Picture(
        figure,
        f"Modelled bounds of {profile.kernel} on {profile.machine.name}: {bounds}. The launch takes "
        f"{profile.microseconds:.2f} us, {profile.distance:.2f} times the binding limit, {profile.binding.name}.",
    )


def intensity(profile: Profile) -> float:
    """Return the elements that vector instructions process for each byte moved to or from HBM; infinite without one."""
    traffic = profile.timeline.traffic
    moved = traffic.hbm_read + traffic.hbm_written
    return profile.operations / moved if moved else float("inf")


def vector_peak(machine: Machine, element_bytes: int) -> float:
    """Return the elements per microsecond that all cores process at one full repeat of 256 bytes each cycle."""
    return machine.cores * machine.clock_ghz * 1000.0 * _REPEAT_BYTES / element_bytes


def launch_roofline(*profiles: Profile) -> Picture:
    """Draw elements per second against elements per byte of HBM, both axes logarithmic: one point for each launch.

    The sloped roof is the bandwidth of HBM, the flat roof the speed of the vector units. Raises ArgumentError for a
    launch without vector instructions or HBM traffic, for no launch, for too many to distinguish, and for launches on
    different machines.
    """
    if not 1 <= len(profiles) <= len(LINES):
        raise ArgumentError(f"{len(profiles)} launches; 1 to {len(LINES)} can be told apart")
    if len({profile.machine.name for profile in profiles}) > 1:
        raise ArgumentError(
            "all kernels of a roofline must be on one machine", hint="profile all kernels with the same machine="
        )
    for profile in profiles:
        if not profile.operations or not np.isfinite(intensity(profile)):
            lack = "executes no vector instruction" if not profile.operations else "moves no byte of HBM"
            raise ArgumentError(
                f"{profile.kernel} {lack}: it has no place on a roofline", hint="limits(profile) has its bounds"
            )
    machine = profiles[0].machine
    peak = vector_peak(machine, max(_element_bytes(profile) for profile in profiles))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 5.4), layout="constrained")
        axis = figure.subplots()
        said = _draw_roofline(axis, profiles, machine.hbm_read_gbs, peak / 1000.0)
        # Put the legend outside the axes, so that no marker looks like a launch.
        figure.legend(loc="outside lower left", frameon=False)
        heading(axis, "Roofline, modelled: how near each launch is to what memory and vector units allow")
    return Picture(
        figure,
        f"Modelled roofline of {machine.name}: HBM delivers {machine.hbm_read_gbs:,.0f} GB/s, the vector units process "
        f"{peak / 1e3:,.0f} billion elements/s; {'; '.join(said)}.",
    )


def _element_bytes(profile: Profile) -> int:
    """Return the size in bytes of the widest elements that the launch's vector instructions process; 4 if unknown."""
    events = (event for block in profile.trace.blocks.values() for event in block)
    return max((event.element_bytes for event in events if event.kind is Kind.VECTOR), default=4) or 4


def _draw_roofline(axis: Axes, profiles: tuple[Profile, ...], bandwidth: float, peak: float) -> list[str]:
    """Draw the roof and the points. bandwidth: GB/s, peak: billion elements/s. Returns a text for each launch."""
    ridge = peak / bandwidth
    points = [(intensity(profile), profile.operations / profile.microseconds / 1000.0) for profile in profiles]
    left, right = min(ridge, *(x for x, _ in points)) / 4, max(ridge, *(x for x, _ in points)) * 4
    across = np.array([left, ridge, right])
    (roof,) = axis.plot(across, np.minimum(across * bandwidth, peak), color=INK, linewidth=1.6, zorder=2)
    roof.set_gid("roof")
    axis.text(right, peak * 1.15, f"vector units: {peak:,.0f} billion elements/s", ha="right", fontsize=SMALL)
    slope = (left * ridge) ** 0.5
    axis.text(slope, slope * bandwidth * 1.2, f"HBM: {bandwidth:,.0f} GB/s", ha="right", fontsize=SMALL)
    said = []
    # Later points are smaller, so that points at one place are all visible.
    for profile, (x, y), (colour, marker), size in zip(profiles, points, LINES, (13, 10, 8, 5), strict=False):
        allowed = min(x * bandwidth, peak)
        axis.plot([x, x], [y, allowed], color=colour, linewidth=1.0, linestyle=":", zorder=1)
        # All names are in the legend, because beside close points they would overlap.
        label = (
            f"{profile.kernel}: {profile.microseconds:.2f} us, {allowed / y:.1f} × below the roof; "
            f"its limit: {profile.binding.name}"
        )
        axis.plot([x], [y], color=colour, marker=marker, markersize=size, linestyle="none", label=label, zorder=3)
        said.append(
            f"{profile.kernel} processes {x:.3g} elements per byte and {y:.3g} billion a second, "
            f"{allowed / y:.1f} times below the roof; its binding limit is {profile.binding.name}"
        )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlim(left, right)
    axis.set_ylim(min(y for _, y in points) / 4, peak * 4)
    axis.set_xlabel("elements that vector instructions process for each byte from or to HBM")
    axis.set_ylabel("billion elements per second (modelled)")
    axis.xaxis.set_major_formatter(lambda value, _position: f"{value:g}")
    axis.yaxis.set_major_formatter(lambda value, _position: f"{value:,g}")
    axis.grid(color=FAINT, alpha=0.25, linewidth=0.5)
    axis.spines[["top", "right"]].set_visible(False)
    return said
