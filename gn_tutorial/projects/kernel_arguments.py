"""The arguments of a project's kernel: inputs, outputs, workspace and tiling data of a call, by its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.cpp.entries import Param
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import Same, SameList, TensorList, as_dtype, inout, out, workspace
from gn_tutorial.projects.call import OpCall
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.parameters import Parameter
from gn_tutorial.projects.tiling_plan import TilingPlan


def kernel_arguments(
    call: OpCall, plan: TilingPlan, params: Sequence[Param], held: Mapping[str, np.ndarray], source: Path
) -> list[Any]:
    """Inputs, outputs, workspace, tiling: the order of every kernel of a project.

    An output in place has a parameter too (x_ref, as every public kernel of such an operator has): the same memory, of
    a list the same list. What is left out is a null pointer. held: what outputs hold before, by name. source: the
    kernel's file, for an error. Raises ArgumentError.
    """
    one, many = call.definition, len(params)
    values: list[Any] = []
    owners: dict[str, Same | SameList | None] = {}
    for index, (declared, group) in enumerate(zip(one.inputs, call.arrays, strict=True)):
        arrays = [inout(array) if declared.name in one.written else array for array in group or ()]
        values.append(_one_or_list(declared, arrays))
        known = group and index < many
        first = (
            SameList(params[index].name) if declared.kind == "dynamic" else group and Same(params[index].name, group[0])
        )
        owners[declared.name] = first if known else None
    for index, declared in enumerate(one.outputs):
        if declared.name in one.in_place:
            values.append(owners[declared.name])
            continue
        of_it = [made for made, (at, _) in zip(plan.outputs, call.output_tensors, strict=True) if at == index]
        made = [inout(held[name]) if name in held else out(shape, as_dtype(dtype)) for name, dtype, shape in of_it]
        values.append(_one_or_list(declared, made))
    if many != len(values) + 2:
        raise ArgumentError(
            f"the kernel has {many} parameters, and the definition makes {len(values) + 2}",
            where=str(source),
            hint="a GM_ADDR for each input and output of the OpDef, in its order, then workspace and tiling",
        )
    return [*values, workspace(plan.workspace), np.frombuffer(plan.data or bytes(8), np.uint8)]


def kernel_outputs(definition: OpDefinition, plan: TilingPlan, params: Sequence[Param]) -> dict[str, str]:
    """Argument of the launch -> output of the call: a parameter of the kernel, a tensor of a list."""
    names = [one.name for one in definition.inputs]
    names += [one.name for one in definition.outputs]
    known = {one for one, _, _ in plan.outputs} | definition.written
    outputs: dict[str, str] = {}
    for param, name in zip(params, names, strict=False):
        lists = [one for one in known if one.startswith(f"{name}[")]
        outputs |= {param.name + one.removeprefix(name): one for one in lists}
        outputs |= {param.name: name} if name in known else {}
    return outputs


def _one_or_list(declared: Parameter, tensors: list[Any]) -> Any:
    """The kernel's argument for one input or output: its tensor, a list of a dynamic one, None if it is left out."""
    if declared.kind == "dynamic":
        return TensorList(tuple(tensors)) if tensors else None
    return tensors[0] if tensors else None
