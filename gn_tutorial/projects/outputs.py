"""Determines the outputs of one call, each a tensor or a list: given by the caller, left out, or inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import Out, as_dtype
from gn_tutorial.projects.call import OpCall, format_number
from gn_tutorial.projects.dtype_columns import dtype_name
from gn_tutorial.projects.host_call import TensorInfo
from gn_tutorial.projects.parameters import Parameter


def chosen_outputs(call: OpCall, wanted: Any) -> tuple[OpCall, list[Out | None] | None]:
    """Return the call with the wanted outputs, and a list: for each output tensor an Out, or None if it is inferred.

    wanted: None: infer all outputs; then None is returned instead of the list. A mapping: name -> entry; other outputs
    are inferred. A list or tuple: one entry for each output. Anything else, and the tensors of a single DYNAMIC output:
    the entry of the only output. An entry is ``gnt.out(shape, dtype)`` or an array with the wanted shape and dtype; for
    a DYNAMIC output, a list of these. The entry None leaves out an output that is OPTIONAL or in place of an input that
    the call leaves out. Raises ArgumentError for an unknown name, a wrong number of entries, or an entry that
    does not fit the definition.
    """
    if wanted is None:
        return call, None
    declared = call.definition.outputs
    named = wanted if isinstance(wanted, Mapping) else _in_order(call, wanted)
    for name in named:
        call.definition.output(name)
    counts = list(call.counts)
    given: list[Out | None] = []
    for index, one in enumerate(declared):
        if one.name not in named:
            given += [None] * counts[index]
            continue
        tensors = _tensors(call, one, named[one.name])
        counts[index] = len(tensors)
        given += tensors
    return replace(call, counts=tuple(counts)), given


def inferred_outputs(call: OpCall) -> list[TensorInfo]:
    """Return a TensorInfo without shape for each output tensor, with dtype and format from the call's column."""
    forms = [call.column.outputs[index] for index, _ in call.output_tensors]
    return [
        TensorInfo(index, dtype_name(form.dtype), None, format_number(form.format))
        for (index, _), form in zip(call.output_tensors, forms, strict=True)
    ]


def followed_outputs(call: OpCall) -> list[Out | None] | None:
    """Return the outputs if the definition itself sets all shapes (Follow), else None.

    None too if an output follows an input that the call leaves out. An operator without outputs gives []. InferShape
    takes precedence over Follow: InferShape cannot infer some outputs while others follow (asc-devkit,
    OpParamDef/Follow.md).
    """
    one = call.definition
    if one.outputs and "infer_shape" in one.functions:
        return None
    declared = {param.name: param for param in (*one.inputs, *one.outputs)}
    groups = {param.name: group for param, group in zip(one.inputs, call.arrays, strict=True) if group}
    found: list[Out | None] = []
    before = dict.fromkeys(range(len(one.outputs)), 0)
    for index, _ in call.output_tensors:
        group = groups.get(_end_of_follow(one.outputs[index], declared))
        if not group:
            return None
        like = group[min(before[index], len(group) - 1)]
        before[index] += 1
        found.append(Out(like.shape, as_dtype(dtype_name(call.column.outputs[index].dtype))))
    return found


def _end_of_follow(param: Parameter, declared: Mapping[str, Parameter]) -> str:
    """Return the last name of the chain of parameters whose shape an output follows; "" if it follows no shape."""
    last, seen = param, {param.name}
    while last.follow in declared and last.follow not in seen and last.follow_what in ("all", "shape"):
        last = declared[last.follow]
        seen.add(last.name)
    return "" if last is param else last.name


def _in_order(call: OpCall, wanted: Any) -> dict[str, Any]:
    declared = call.definition.outputs
    listed = list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]
    if len(declared) == 1 and declared[0].kind == "dynamic" and not any(isinstance(one, list) for one in listed):
        listed = [listed]
    if len(listed) != len(declared):
        names = ", ".join(one.name for one in declared) or "none"
        raise ArgumentError(
            f"{len(listed)} outputs for {call.definition.type}, which has {len(declared)}",
            hint=f"in this order: {names}; or by name, and the others are inferred",
        )
    return {one.name: value for one, value in zip(declared, listed, strict=True)}


def _tensors(call: OpCall, one: Parameter, value: Any) -> list[Out | None]:
    """Return the tensors of one output: none if the output is left out, any number if it is dynamic, else one.

    Raises ArgumentError if the output cannot be left out, or if ``value`` is another number of tensors or no tensor.
    """
    if value is None:
        if one.name in call.definition.in_place:
            absent = call.counts[[param.name for param in call.definition.outputs].index(one.name)] == 0
        else:
            absent = one.optional
        if not absent:
            raise ArgumentError(
                f"the output '{one.name}' cannot be left out", hint="only OPTIONAL ones may be, ParamType(OPTIONAL)"
            )
        return []
    listed: Sequence[Any] = value if isinstance(value, (list, tuple)) else [value]
    if one.kind != "dynamic" and len(listed) != 1:
        raise ArgumentError(
            f"{len(listed)} tensors for the output '{one.name}', which is one", hint="only DYNAMIC ones are lists"
        )
    return [tensor if isinstance(tensor, Out) else _like(one, tensor) for tensor in listed]


def _like(one: Parameter, tensor: Any) -> Out:
    if not (hasattr(tensor, "shape") and hasattr(tensor, "dtype")):
        raise ArgumentError(f"the output '{one.name}' is {tensor!r}", hint="gnt.out(shape, dtype), or an array like it")
    return Out(tuple(tensor.shape), as_dtype(tensor.dtype))
