"""What the tests of the host API must know of an operator: the type of ``host_cases``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from host_api_support import Row
from host_fuzz_ops import Op


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A call with arrays whose results are compared, in all dtypes and layouts, with the reference in float64.

    function: of ``gn_tutorial.host``; it takes the inputs, ``stream`` and the options, and ``out`` or ``output_mask``.
    inputs: their shapes. out: the shape of what it writes there, ``outs`` arrays of it; None where it takes a mask.
    reference: the same from float64 inputs, with the options. The tolerance is that of the registered kernel.
    """

    function: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: tuple[tuple[int, ...], ...]
    out: tuple[int, ...] | None = None
    outs: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class HostCase:
    """One operator of the host API.

    name: of its second call. call: the arguments of a first call that is right, by their names in C, with a View for a
    tensor. refusals: what is changed in it, and what is said then; null results are tested for every operator. null:
    arguments that may be null. gradients: those that ``outputMask`` decides, in its order. fuzz: the model that judges
    random calls. numbers: None where a test of its own has them.
    """

    name: str
    call: dict[str, Any]
    refusals: list[Row]
    fuzz: Op
    numbers: Numbers | None
    null: tuple[str, ...] = ()
    gradients: tuple[str, ...] = ()
