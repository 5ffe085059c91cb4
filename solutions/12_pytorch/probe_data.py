"""The two operators that exercises 12.1 and 12.2 register: names, inputs without symmetry, and calls that are noted.

Its text stands before that of the probes, in the attempt's process (registration_cases.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

EPS = 0.01  # large enough to be seen in every result
#: Operator -> its results; the first one has a gradient.
RESULTS = {"rms_norm": ("y", "rstd"), "layer_norm": ("y", "mean", "rstd")}
INPUTS = {"rms_norm": ("x", "weight"), "layer_norm": ("x", "weight", "bias")}

#: A probe's result: a sentence about what is wrong, perhaps with the line at fault; or None.
Said = str | tuple[str, int] | None


class Calls(TorchDispatchMode):
    """Notes the operators that are called, and their arguments: those of one name, or all."""

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.name = name
        self.seen: list[Sequence[Any]] = []
        self.functions: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not self.name or func.name().partition(".")[0] == self.name:
            self.seen.append(args)
            self.functions.append(func)
        return func(*args, **(kwargs or {}))


def numbers(shape: Sequence[int], seed: int) -> Tensor:
    """Return random numbers that the seed determines."""
    return torch.randn(tuple(shape), generator=torch.Generator().manual_seed(seed))


def data(op: str, seed: int, dtype: torch.dtype, turned: bool = False) -> list[Tensor]:
    """Inputs without symmetry; turned: x's memory lies in another order."""
    shape = (3, 4, 6) if op == "rms_norm" else (5, 6)
    x = numbers(shape, seed) * 2 + torch.linspace(-1, 4, 6)
    if turned:
        x = x.transpose(0, -1).contiguous().transpose(0, -1)
    rest = [numbers((6,), seed + 2 + number) + 1.5 for number in range(len(INPUTS[op]) - 1)]
    return [one.to(dtype) for one in (x, *rest)]


def line_of(function: Any) -> int:
    """Return the first line of a function of the attempt; 0 if it is not a function."""
    return getattr(getattr(function, "__code__", None), "co_firstlineno", 0)
