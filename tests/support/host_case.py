"""An operator of the host API for the tests: the type of the entries of ``host_cases``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from host_api_support import Row
from host_fuzz_ops import Op


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A call with arrays, whose results are compared with the reference in float64, in all dtypes and layouts.

    function: of ``gn_tutorial.host``; it takes the inputs, ``stream`` and the options, and ``out`` or ``output_mask``.
    inputs: their shapes. out: the shape of each of the ``outs`` outputs; None if it takes a mask.
    reference: computes the same from float64 inputs and the options. The tolerance is the registered kernel's.
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

    name: of its second call. call: the arguments of a right first call, by their names in C, with a View for a tensor.
    refusals: changes to that call, and the error's text; null results are tested for every operator. null: arguments
    that may be null. gradients: those that ``outputMask`` selects, in its order. fuzz: the model that judges random
    calls. numbers: None if a separate test has them.
    """

    name: str
    call: dict[str, Any]
    refusals: list[Row]
    fuzz: Op
    numbers: Numbers | None
    null: tuple[str, ...] = ()
    gradients: tuple[str, ...] = ()
