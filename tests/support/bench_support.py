"""Rows of a bench made by hand."""

from __future__ import annotations

from gn_tutorial.profiler.bench.run import Bench, BenchRow


def row(kernel: str, case: str, modelled: float | None = None, bound: float = 10.0, **values: object) -> BenchRow:
    plain = {
        "step": 1,
        "kind": "large",
        "shape": (4, 8),
        "attributes": {},
        "dtype": "float32",
        "status": "ok" if modelled is not None else "not supported",
        "bound_us": bound if modelled is not None else None,
        "bound_kind": "one read",
        "binding": "HBM",
        "binding_us": 5.0,
        "waits": "V waits for MTE2, 50% of the time",
        "blocks": 4,
        "recorded": 4,
    }
    return BenchRow(kernel=kernel, case=case, modelled_us=modelled, **{**plain, **values})


def bench(*rows: BenchRow, machine: str = "machine") -> Bench:
    return Bench("op", machine, rows)
