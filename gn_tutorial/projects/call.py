"""One call of a project's operator: arrays and attributes in the order of its definition, and the column that fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import check_array
from gn_tutorial.projects.chips import Soc
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.dtype_columns import Column
from gn_tutorial.projects.host_call import HostRequest, TensorInfo
from gn_tutorial.projects.parameters import OpAttribute, Parameter

_ZERO = {"bool": False, "int": 0, "float": 0.0, "string": ""}


@dataclass(frozen=True)
class OpCall:
    """A call. arrays: by declared input, None if left out, several of a dynamic one. note: on the column.

    counts: tensors of each output, 0 of one that is left out. A dynamic output has as many as the first dynamic input,
    if the caller does not say another number (``outputs.chosen_outputs``).
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
        """Index in the definition and name of each output tensor: ``y``, of a dynamic output ``y[0]``, ``y[1]``."""
        return tuple(
            (index, name)
            for index, (declared, many) in enumerate(zip(self.definition.outputs, self.counts, strict=True))
            for name in (tensor_names(declared.name, many) if declared.kind == "dynamic" else (declared.name,) * many)
        )

    def request(self, outputs: Sequence[TensorInfo], *, fill: int = 0, tile: bool = True) -> HostRequest:
        """The request to the host functions. outputs: given, or with a shape of None to be inferred."""
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
    """Values in order or by name to the definition's inputs and attributes.

    Raises ArgumentError: an unknown name, an input that is missing, a dtype or an attribute's type that does not fit.
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
    """Names of the tensors of a dynamic input or output."""
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
    """The graph engine's number of a format; ND for all but the two that are told apart."""
    return {"FORMAT_NCHW": 0, "FORMAT_NHWC": 1}.get(label, 2)
