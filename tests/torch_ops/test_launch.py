"""Plans are kept for calls that agree in all that a plan depends on, and no longer than there is room."""

from __future__ import annotations

import threading
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from gn_tutorial import torch_ops  # noqa: E402, F401 - registers the operators
from gn_tutorial.host import c_library  # noqa: E402
from gn_tutorial.torch_ops import launch as launch_module  # noqa: E402

OPS = torch.ops.gn_tutorial


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operators that were planned for, one after the other, from an empty store on."""
    names: list[str] = []
    plan = c_library.repeatable

    def seen(loaded: Any, name: str, *rest: Any) -> Any:
        names.append(name)
        return plan(loaded, name, *rest)

    monkeypatch.setattr(c_library, "repeatable", seen)
    monkeypatch.setattr(launch_module, "_PLANS", {})
    return names


def right(x: Any, groups: int, eps: float = 1e-5) -> None:
    y = OPS.group_norm(x, None, None, groups, eps)[0]
    expected = torch.nn.functional.group_norm(x.double(), groups, eps=eps)
    torch.testing.assert_close(y.double(), expected, rtol=1e-2, atol=1e-2)


def test_a_plan_serves_calls_that_agree_and_no_others(made: list[str]) -> None:
    x = torch.randn(2, 6, 5, 3, generator=torch.Generator().manual_seed(1)) + 1
    for _ in range(3):
        right(x + torch.rand(()), 3)
    assert made == ["GroupNorm"]
    for number, call in enumerate([
        lambda: right(x, 2),
        lambda: right(x, 3, 0.5),
        lambda: right(x.half(), 3),
        lambda: right(x[:1], 3),
        lambda: right(x.transpose(2, 3), 3),
        lambda: OPS.group_norm(x, torch.ones(6), None, 3),
        lambda: OPS.group_norm(x, None, torch.ones(6), 3),
        lambda: OPS.gelu(x),
    ]):  # fmt: skip
        for _ in range(2):
            call()
        assert len(made) == number + 2
    y, mean, rstd = OPS.group_norm(x, None, None, 3)
    for mask in ([True, False, False], [False, False, True]):
        for _ in range(2):
            grads = OPS.group_norm_backward(y, x, mean, rstd, None, 3, mask)
            assert [one is not None for one in grads] == mask
    assert made[-2:] == ["GroupNormBackward"] * 2


def test_sizes_that_change_from_call_to_call_do_not_fill_memory(
    made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_module, "_MOST", 3)
    for length in [*range(1, 9), 1]:
        right(torch.randn(1, 4, length + 4), 2)
        assert len(launch_module._PLANS) <= 3
    assert len(made) == 9


def test_threads_that_share_plans_do_not_meet(made: list[str]) -> None:
    failed: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for more in range(30):
                right(torch.randn(2, 6, 7, generator=torch.Generator().manual_seed(100 * seed + more)), 3)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failed
    assert 1 <= len(made) <= 3  # two may make it at once
