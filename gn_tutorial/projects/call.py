"""Binds one call of a project's operator: its arrays, its attributes, and the column of the definition that fits them.

``kernel_arguments`` makes the kernel's arguments from such a call: inputs, outputs, workspace and tiling data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.cpp.entries import Param
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import Same, SameList, TensorList, as_dtype, check_array, inout, out, workspace
from gn_tutorial.projects.chips import Soc
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.dtype_columns import Column
from gn_tutorial.projects.host_call import HostRequest, TensorInfo
from gn_tutorial.projects.parameters import OpAttribute, Parameter
from gn_tutorial.projects.tiling_plan import TilingPlan

_ZERO = {"bool": False, "int": 0, "float": 0.0, "string": ""}


@dataclass(frozen=True)
class OpCall:
    """One call of an operator.

    arrays: for each declared input a tuple with its array, or with all arrays of a dynamic input; None if the input is
    left out. attributes: (name, type, value) of each attribute. note: ``Columns.note``, a warning if the definition
    does not name this chip. counts: the number of tensors of each output, 0 for an output that is left out. An output
    in place has as many tensors as its input. Any other dynamic output has as many as the first dynamic input, or one
    if no input is dynamic, unless the caller gives another number (``outputs.chosen_outputs``).
    """

    definition: OpDefinition
    soc: Soc
    arrays: tuple[tuple[np.ndarray, ...] | None, ...]
    attributes: tuple[tuple[str, str, Any], ...]
    column: Column
    note: str
    counts: tuple[int, ...]

    @property
    def output_tensors(self) -> tuple[tuple[int, str], ...]:
        """For each output tensor: its output's index in the definition, and its name (``y``; ``y[0]`` if dynamic)."""
        return tuple(
            (index, name)
            for index, (declared, many) in enumerate(zip(self.definition.outputs, self.counts, strict=True))
            for name in (tensor_names(declared.name, many) if declared.kind == "dynamic" else (declared.name,) * many)
        )

    def request(self, outputs: Sequence[TensorInfo], *, fill: int = 0, tile: bool = True) -> HostRequest:
        """Return the request to the host functions, which infer each output whose shape is None.

        fill: the byte that fills the tiling struct before tiling. tile: False infers shapes only.
        """
        formats = [one.format for one in self.column.inputs]
        inputs = []
        for index, group in enumerate(self.arrays):
            for array in group or ():
                data = array.tobytes() if self.definition.reads_values(index) else None
                inputs.append(TensorInfo(index, array.dtype.name, array.shape, format_number(formats[index]), data))
        return HostRequest(
            op_type=self.definition.type,
            soc=self.soc,
            inputs=inputs,
            outputs=outputs,
            attributes=[(kind, value) for _, kind, value in self.attributes],
            declared_inputs=len(self.definition.inputs),
            declared_outputs=len(self.definition.outputs),
            fill=fill,
            tile=tile,
            room=0,
        )


def bind(
    definition: OpDefinition, soc: Soc, values: Sequence[Any], named: Mapping[str, Any], op_file: str = ""
) -> OpCall:
    """Return a call of the operator: inputs in order (``values``) or by name, attributes by name (``named``).

    Raises ArgumentError for too many inputs, for a name that is unknown or given twice, for a missing input or required
    attribute, and for a dtype, an array or an attribute that does not fit. Raises RegistryError as ``combine`` does.
    """
    names = [one.name for one in definition.inputs] + [one.name for one in definition.attributes]
    if len(values) > len(definition.inputs):
        raise ArgumentError(
            f"{len(values)} inputs for {definition.type}, which takes {len(definition.inputs)}",
            hint=f"inputs: {', '.join(names[: len(definition.inputs)]) or 'none'}; attributes by name",
        )
    given = dict(zip(names, values, strict=False))
    for name, value in named.items():
        if name not in names:
            raise ArgumentError(
                f"{definition.type} has no input or attribute '{name}'", hint=f"it has {', '.join(names)}"
            )
        if name in given:
            raise ArgumentError(f"'{name}' is given twice")
        given[name] = value
    arrays = tuple(_arrays(one, given.get(one.name)) for one in definition.inputs)
    attributes = tuple((one.name, one.type, _attribute(one, given.get(one.name))) for one in definition.attributes)
    columns = definition.columns(soc.config)
    dtypes = {one.name: group[0].dtype.name for one, group in zip(definition.inputs, arrays, strict=True) if group}
    groups = {one.name: group or () for one, group in zip(definition.inputs, arrays, strict=True)}
    many = next((len(groups[one.name]) for one in definition.inputs if one.kind == "dynamic"), 1)
    counts = tuple(
        len(groups[one.name]) if one.name in groups else many if one.kind == "dynamic" else 1
        for one in definition.outputs
    )
    return OpCall(definition, soc, arrays, attributes, columns.column_of(dtypes), columns.note, counts)


def tensor_names(name: str, many: int) -> tuple[str, ...]:
    """Return the names of the tensors of a dynamic input or output."""
    return tuple(f"{name}[{index}]" for index in range(many))


def _arrays(declared: Parameter, value: Any) -> tuple[np.ndarray, ...] | None:
    if value is None:
        if declared.optional:
            return None
        raise ArgumentError(f"the input '{declared.name}' is missing", hint="only OPTIONAL ones may be left out")
    if declared.kind == "dynamic":
        if not isinstance(value, (list, tuple)):
            raise ArgumentError(
                f"'{declared.name}' is a dynamic input: a list of arrays", hint=f"{declared.name}=[x, y]"
            )
        return tuple(check_array(f"{declared.name}[{index}]", one) for index, one in enumerate(value))
    return (check_array(declared.name, value),)


def _attribute(declared: OpAttribute, value: Any) -> Any:
    if value is None:
        if declared.default is not None:
            return declared.default
        if declared.required:
            raise ArgumentError(f"the attribute '{declared.name}' is missing", hint=f"its type is {declared.type}")
        return _ZERO.get(declared.type, ())
    if declared.type.startswith("list"):
        if not isinstance(value, (list, tuple)):
            raise ArgumentError(f"'{declared.name}' is a {declared.type}, not {value!r}", hint=f"{declared.name}=[...]")
        return tuple(value)
    wanted = {
        "bool": (bool,),
        "int": (int, np.integer),
        "float": (float, int, np.floating, np.integer),
        "string": (str,),
    }
    if not isinstance(value, wanted[declared.type]) or (isinstance(value, bool) and declared.type != "bool"):
        raise ArgumentError(f"'{declared.name}' is a {declared.type}, not {value!r}")
    return value


def format_number(label: str) -> int:
    """Return the graph engine's number of a format: 0 for NCHW, 1 for NHWC; every other format gets 2, that of ND."""
    return {"FORMAT_NCHW": 0, "FORMAT_NHWC": 1}.get(label, 2)


def kernel_arguments(
    call: OpCall, plan: TilingPlan, params: Sequence[Param], held: Mapping[str, np.ndarray], source: Path
) -> list[Any]:
    """Return the kernel's arguments in the order of every project's kernel: inputs, outputs, workspace, tiling.

    An output in place is a parameter of its own (x_ref, as in every public kernel of such an operator). It gets the
    memory, or the list, of the input with the same name. An argument that is left out is a null pointer. held: the
    values of outputs before the launch, by name. source: the kernel's file, which the error names. Raises ArgumentError
    if the kernel has another number of parameters.
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
    """Return a mapping: name of a launch's argument -> name of the output that the argument holds.

    A parameter that is a list has one argument for each of its tensors.
    """
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
    """Return the kernel's argument for an input or output: a tensor, or a list if dynamic; None if it is left out."""
    if declared.kind == "dynamic":
        return TensorList(tuple(tensors)) if tensors else None
    return tensors[0] if tensors else None
