"""Measures how long calls take, as percentiles. The calls are warmed up, made in turns, and synchronised.

On an asynchronous device a call returns before its work is done. So the clock starts when the device is idle, and stops
when the device is idle again. On the CPU the twin computes, and its times say nothing about an NPU;
``MeasuredOn.label`` says so in every table.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch

from gn_tutorial.errors import ArgumentError, KernelError

#: The percentiles that a table shows.
PERCENTILES = (50, 90, 99)


class MeasuredOn(NamedTuple):
    """A device to measure on. synchronise: waits until it is idle. label: a text that each table of times must show."""

    device: torch.device
    synchronise: Callable[[], None]
    label: str


class Latency(NamedTuple):
    """Percentiles of the wall-clock times of a call, in milliseconds. rounds: how many calls were timed."""

    p50: float
    p90: float
    p99: float
    rounds: int


def place(name: str) -> MeasuredOn:
    """Return the CPU ("cpu") or an NPU ("npu", "npu:1") as the device to measure on. Makes an NPU torch's current one.

    Raises ArgumentError for another name, KernelError if there is no NPU.
    """
    kind = name.partition(":")[0]
    if kind == "cpu":
        return MeasuredOn(
            torch.device("cpu"), lambda: None, "the CPU twin on this machine's processor: no measure of an NPU"
        )
    if kind != "npu":
        raise ArgumentError(f"there is no device {name!r}", where="--device", hint="cpu, npu, or npu:1 and so on")
    from gn_tutorial.host.npu import why_not

    if reason := why_not():
        raise KernelError(f"there is no NPU to measure: {reason}", hint="--device cpu measures the twin")
    import torch_npu  # noqa: F401 - makes torch.npu

    device = torch.device(name)
    torch.npu.set_device(device)
    title = torch.npu.get_device_name(device)
    return MeasuredOn(device, torch.npu.synchronize, f"{title}, torch {torch.__version__}")


def measure(
    calls: Mapping[str, Callable[[], object]], synchronise: Callable[[], None], *, rounds: int, warm_up: int = 10
) -> tuple[dict[str, Latency], dict[str, list[float]]]:
    """Return the percentiles of each call, and the times of each call in milliseconds, one for each round.

    A round makes each call once. So other work on the machine affects all calls alike, and ratios within a round are
    more reliable than ratios of medians. warm_up: the number of rounds before measuring, because the first call of a
    kernel compiles, plans and allocates. Raises ArgumentError if rounds is below 1 or warm_up is negative.
    """
    if rounds < 1 or warm_up < 0:
        raise ArgumentError(f"rounds is {rounds}, warm_up is {warm_up}", hint="at least one round, no negative number")
    for _ in range(warm_up):
        for call in calls.values():
            call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            synchronise()
            begin = time.perf_counter()
            call()
            synchronise()
            times[name].append((time.perf_counter() - begin) * 1e3)
    return {name: Latency(*_percentiles(some), rounds) for name, some in times.items()}, times


def _percentiles(times: list[float]) -> list[float]:
    """Return the ``PERCENTILES`` of the times. Each is one of the times, never interpolated."""
    ordered = sorted(times)
    return [ordered[max(0, -(-len(ordered) * part // 100) - 1)] for part in PERCENTILES]


def median_ratio(times: Mapping[str, list[float]], name: str, other: str) -> float:
    """Return the median over the rounds of the ratio: time of call ``name`` divided by time of call ``other``."""
    return statistics.median(one / two for one, two in zip(times[name], times[other], strict=True))
