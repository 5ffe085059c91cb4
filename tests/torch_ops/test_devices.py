"""What a launch asks of an NPU's tensors. torch_npu is a stand-in here: two functions, as documented."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from gn_tutorial.torch_ops.devices import Npu, Twin  # noqa: E402

NZ = 29


def test_a_private_format_is_packed_and_every_other_tensor_is_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    formats: dict[int, int] = {}
    cast: list[tuple[int, int]] = []

    def npu_format_cast(one: torch.Tensor, to: int) -> torch.Tensor:
        cast.append((id(one), to))
        made = one.clone()
        formats[id(made)] = to
        return made

    stand_in = SimpleNamespace(get_npu_format=lambda one: formats[id(one)], npu_format_cast=npu_format_cast)
    monkeypatch.setitem(sys.modules, "torch_npu", stand_in)
    tensors = [torch.full((2, 3), float(number)) for number in range(6)]
    for one, number in zip(tensors, (0, 1, 2, NZ, 30, 3), strict=True):
        formats[id(one)] = number
    given = [*tensors, None]
    made = Npu(0).plain(given)
    assert cast == [(id(tensors[3]), 2), (id(tensors[5]), 2)]
    for number, (one, other) in enumerate(zip(made, given, strict=True)):
        assert (one is other) is (number not in (3, 5))
        assert other is None or torch.equal(one, other)
    assert Twin().plain(given) is given
