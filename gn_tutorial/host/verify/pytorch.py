"""Compares our PyTorch operators on a device with the CPU twin and with float64, for ``gnt npu verify``.

    python -m gn_tutorial.host.verify.pytorch npu

prints a JSON line for each operator and dtype: whether forward and backward pass meet the accuracy standard, how many
elements differ from the twin's, and the times of the forward pass. The last line reports twenty steps of a training.
With the device "cpu" the twin is compared with itself, which tests this file. We did not run it on an NPU.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from gn_tutorial import nn, torch_ops  # noqa: F401 - registers the operators
from gn_tutorial.compare.accuracy import accuracy
from gn_tutorial.errors import GntError
from gn_tutorial.torch_ops import latency, resnet
from gn_tutorial.torch_ops.arguments import DTYPES

_OPS = torch.ops.gn_tutorial
_ROUNDS, _STEPS = 20, 20
_DRIFT = 1e-3  # the largest relative difference of two losses that passes, because two devices round differently


class _Case(NamedTuple):
    """One operator. ours, built_in: our and PyTorch's function of the same tensors. shapes: their shapes, x's first."""

    ours: Callable[..., Tensor]
    built_in: Callable[..., Tensor]
    shapes: tuple[tuple[int, ...], ...]


_CASES = {
    "group_norm": _Case(
        lambda x, w, b: _OPS.group_norm(x, w, b, 4)[0],
        lambda x, w, b: torch.nn.functional.group_norm(x, 4, w, b),
        ((4, 12, 9, 7), (12,), (12,)),
    ),
    "group_norm_silu": _Case(
        lambda x, w, b: _OPS.group_norm_silu(x, w, b, 4)[0],
        lambda x, w, b: torch.nn.functional.silu(torch.nn.functional.group_norm(x, 4, w, b)),
        ((4, 12, 9, 7), (12,), (12,)),
    ),
    "gelu": _Case(
        lambda x: _OPS.gelu(x),
        lambda x: torch.nn.functional.gelu(x),
        ((3, 5, 70),),
    ),
    "gelu, tanh": _Case(
        lambda x: _OPS.gelu(x, "tanh"),
        lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
        ((3, 5, 70),),
    ),
    "linear": _Case(
        lambda x, w, b: _OPS.linear(x, w, b), torch.nn.functional.linear, ((6, 40), (24, 40), (24,))
    ),
    "rms_norm": _Case(
        lambda x, w: _OPS.rms_norm(x, w, w.shape)[0],
        lambda x, w: torch.nn.functional.rms_norm(x, w.shape, w),
        ((6, 5, 70), (70,)),
    ),
}  # fmt: skip


def check(where: latency.MeasuredOn) -> Iterator[dict[str, Any]]:
    """Yield a row for each operator and dtype, and a row for a training. An error becomes a row that did not pass."""
    for name, case in _CASES.items():
        for dtype in DTYPES:
            asked = functools.partial(_compared, case, dtype, where)
            yield _row(f"{name} {dtype}".replace("torch.", ""), asked)
    yield _row("training, 20 steps", lambda: _trained(where))


def _row(name: str, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return {"name": name, **ask()}
    except (GntError, RuntimeError) as error:
        return {"name": name, "passed": False, "error": f"{type(error).__name__}: {error}"}


def _compared(case: _Case, dtype: torch.dtype, where: latency.MeasuredOn) -> dict[str, Any]:
    made = torch.Generator().manual_seed(3)
    data = [(torch.randn(*shape, generator=made) + 0.5).to(dtype) for shape in case.shapes]
    grad = torch.randn(case.ours(*data).shape, generator=made).to(dtype)

    def results(function: Callable[..., Tensor], to: torch.device, kind: torch.dtype) -> list[Tensor]:
        leaves = [one.to(to, kind).requires_grad_() for one in data]
        leaves = [one.detach().requires_grad_() for one in leaves]  # a copy to a device is no leaf
        y = function(*leaves)
        return [y.detach().cpu(), *(one.cpu() for one in torch.autograd.grad(y, leaves, grad.to(to, kind)))]

    there, twin = (results(case.ours, to, dtype) for to in (where.device, torch.device("cpu")))
    golden = results(case.built_in, torch.device("cpu"), torch.float64)
    baseline = results(case.built_in, torch.device("cpu"), dtype)
    names = ["y", *(f"gradient {at}" for at in range(len(data)))]
    outputs = []
    for name, *four in zip(names, there, twin, golden, baseline, strict=True):
        ours, same, right, other = map(_array, four)
        outside = 0 if accuracy(ours, right.astype(np.float64), other).ok else "misses the accuracy standard"
        differ = int((ours != same).sum())
        outputs.append({"name": name, "outside": outside, "elements": ours.size, "not the twin's bits": differ})
    leaves = [one.to(where.device) for one in data]
    found, _ = latency.measure({"ours": lambda: case.ours(*leaves)}, where.synchronise, rounds=_ROUNDS)
    measured = {part: getattr(found["ours"], part) * 1e3 for part in ("p50", "p90", "p99")}
    return {"passed": not any(one["outside"] for one in outputs), "outputs": outputs, "measured_us": measured}


def _array(tensor: Tensor) -> np.ndarray:
    if tensor.dtype != torch.bfloat16:
        return tensor.numpy()
    import ml_dtypes

    return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)


def _trained(where: latency.MeasuredOn) -> dict[str, Any]:
    """Train a small ResNet twice, converted on the device and unchanged on the CPU; return the row."""
    there = resnet.train(nn.convert(resnet.make(0)).to(where.device), _STEPS)
    right = resnet.train(resnet.make(0), _STEPS)
    worst = max(abs(one - two) / abs(two) for one, two in zip(there, right, strict=True))
    return {"passed": worst <= _DRIFT, "largest difference of losses": worst, "last loss": there[-1]}


if __name__ == "__main__":
    for _one in check(latency.place(sys.argv[1] if len(sys.argv) > 1 else "npu")):
        print(json.dumps(_one), flush=True)
