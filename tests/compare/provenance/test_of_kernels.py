"""Origins of the outputs of every kernel: each result is what its instruction makes of the values of its sources."""

from __future__ import annotations

import math

import numpy as np
import pytest
from odd_calls import odd_call
from thoroughness import some

from gn_tutorial.compare.provenance.origin import Origin
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.registry import load_registry
from gn_tutorial.operators.spec import KernelSpec, OpSpec

KERNELS = [(op, spec) for op in load_registry().values() for spec in op.kernels]
#: Instructions whose results float32 decides: what they make of their sources.
EXACT = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "Max": max,
    "Min": min,
    "Abs": abs,
    "Sqrt": np.sqrt,
    "Exp": lambda a: np.float32(math.exp(a)),
    "DataCopy": lambda a: a,
    "DataCopyPad": lambda a: a,
    "Brcb": lambda a: a,
    "GetValue": lambda a: a,
}


def check(origin: Origin, inputs: dict[str, np.ndarray]) -> int:
    """Holds each step's result against its sources, and each element of an input against the array; how many steps."""
    checked = 0
    for _, step, source in origin.walk():
        if not all(one.floats for one in step.sources):
            continue  # bits that are copied as whole numbers
        result = np.float32(origin.result(source))
        sources = [one for one in step.sources if one.role != "number"]
        for one in sources:
            if one.argument in inputs and one.many == 1:
                found, there = origin.number(one), inputs[one.argument].reshape(-1)[one.element]
                assert found == np.float64(there), (step, one, found, there)
        if step.op in EXACT and all(one.many == 1 and one.element_bytes == 4 for one in sources) and sources:
            values = [np.float32(origin.number(one)) for one in sources]
            with np.errstate(all="ignore"):
                right = sum(values) if step.atomic else EXACT[step.op](*values)
            assert right == pytest.approx(result, rel=1e-5, abs=1e-30, nan_ok=True), (step, values, result)
            checked += 1
    return checked


@pytest.mark.parametrize(("op", "spec"), some(KERNELS, 10), ids=lambda one: getattr(one, "id", ""))
def test_results_follow_from_their_sources(op: OpSpec, spec: KernelSpec) -> None:
    arrays, attributes = odd_call(op, spec)
    result = Kernel.registered(op, spec)(*arrays.values(), blocks=3, **attributes)
    rng = np.random.default_rng(7)
    checked = 0
    for name, array in result.outputs.items():
        for index in rng.choice(array.size, min(array.size, 3), replace=False):
            checked += check(result.origin(name, int(index)), arrays)
    assert checked >= len(result.outputs) or spec.id == "strided_copy/rows"  # which copies words, not numbers
