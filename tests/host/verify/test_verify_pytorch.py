"""The checks of PyTorch's operators in ``gnt npu verify``, run on the CPU: they pass there, and find mistakes."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from gn_tutorial.host.verify import pytorch  # noqa: E402
from gn_tutorial.torch_ops import latency  # noqa: E402


def test_a_case_passes_on_the_cpu_and_a_wrong_one_does_not() -> None:
    where, case = latency.place("cpu"), pytorch._CASES["group_norm"]
    row = pytorch._compared(case, torch.float16, where)
    assert row["passed"] is True
    assert [one["name"] for one in row["outputs"]] == ["y", "gradient 0", "gradient 1", "gradient 2"]
    assert {one["not the twin's bits"] for one in row["outputs"]} == {0}
    assert row["measured_us"].keys() == {"p50", "p90", "p99"}
    wrong = case._replace(ours=lambda x, w, b: case.ours(x, w, b * 1.02))
    found = pytorch._compared(wrong, torch.float32, where)
    assert found["passed"] is False
    assert [bool(one["outside"]) for one in found["outputs"]] == [True, False, False, True]


def test_what_raises_is_a_row() -> None:
    def raises() -> dict:
        raise RuntimeError("no such kernel")

    assert pytorch._row("it", raises) == {"name": "it", "passed": False, "error": "RuntimeError: no such kernel"}
