"""Runs the launches that a fused operator replaces, its parts, one after the other on the same arrays.

``[[replaces]]`` in a fused operator's ``op.toml`` names the parts. It maps each array of a part to a name: either the
name of an array of the fused operator, or a name by which a later part refers to the array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.registry import find_kernel, load_registry
from gn_tutorial.operators.result import Result
from gn_tutorial.operators.spec import OpSpec


def run_parts(
    op: OpSpec,
    arrays: Mapping[str, np.ndarray],
    attributes: Mapping[str, Any],
    launch: Callable[..., Result] = Kernel.__call__,
) -> tuple[list[Result], dict[str, np.ndarray]]:
    """Run the launches that ``op`` replaces. Returns each launch's result, and the arrays that ``op`` would return.

    arrays, attributes: those of a call of ``op``, by name. A part gets the attributes that it declares. launch: called
    with a Kernel, and with arrays and attributes by name. Raises ArgumentError for an operator that replaces nothing,
    RegistryError for a part that needs an array which neither the call nor an earlier part provides.
    """
    if not op.replaces:
        fused = ", ".join(name for name, one in load_registry().items() if one.replaces)
        raise ArgumentError(f"{op.name} is no fusion: its op.toml has no [[replaces]]", hint=f"one of {fused}")
    known, results = dict(arrays), []
    for part in op.replaces:
        its, spec = find_kernel(part.kernel)
        ours = part.arrays
        inputs = {one.name: known.get(ours.get(one.name, "")) for one in its.inputs}
        for one in its.inputs:
            if inputs[one.name] is None and one.fill is None:
                made = ours.get(one.name, "no array")
                raise RegistryError(
                    f"'{one.name}' of {part.kernel} is '{made}', which is no array of the call and no earlier output",
                    where=str(op.file),
                )
        numbers = {one.name: attributes[one.name] for one in its.attributes if one.name in attributes}
        result = launch(Kernel.registered(its, spec), **inputs, **numbers)
        known |= {ours[name]: array for name, array in result.outputs.items() if name in ours}
        results.append(result)
    return results, {one.name: known[one.name] for one in op.outputs}
