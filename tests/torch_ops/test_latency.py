"""Percentiles of calls: what is counted, in which order, what is refused. No time of this machine decides a test."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from gn_tutorial.errors import ArgumentError, KernelError
from gn_tutorial.host import npu
from gn_tutorial.torch_ops import latency


def test_calls_take_turns_between_two_synchronisations(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    calls = {name: (lambda name=name: order.append(name)) for name in ("ours", "other")}
    clock = iter(range(1000))
    monkeypatch.setattr(latency.time, "perf_counter", lambda: float(next(clock)))
    found, times = latency.measure(calls, lambda: order.append("wait"), rounds=2, warm_up=1)
    assert order == ["ours", "other", *["wait", "ours", "wait", "wait", "other", "wait"] * 2]
    assert times == {"ours": [1e3, 1e3], "other": [1e3, 1e3]}
    assert found["ours"] == latency.Latency(1e3, 1e3, 1e3, 2)


def test_percentiles_are_times_that_were_taken() -> None:
    times = [float(one) for one in (5, 1, 4, 2, 3)]
    assert latency._percentiles(times) == [3, 5, 5]
    assert latency._percentiles([float(one) for one in range(1, 201)]) == [100, 180, 198]
    assert latency._percentiles([7.0]) == [7, 7, 7]
    assert latency.median_ratio({"a": [1, 9, 4], "b": [1, 3, 2]}, "a", "b") == 2


def test_what_cannot_be_measured_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArgumentError, match="rounds is 0"):
        latency.measure({}, lambda: None, rounds=0)
    with pytest.raises(ArgumentError, match="there is no device 'gpu'"):
        latency.place("gpu")
    assert "no measure of an NPU" in latency.place("cpu").label
    monkeypatch.setattr(npu, "why_not", lambda: "torch_npu is not installed")
    with pytest.raises(KernelError, match="no NPU to measure: torch_npu is not installed"):
        latency.place("npu")
