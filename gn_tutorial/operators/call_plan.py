"""Turns a call of a registered operator into the values of one launch.

``plan`` checks the caller's arrays against the operator's ``op.toml``, calls the C++ tiling function, which splits the
work, and gives a value to every kernel parameter. It launches no kernel, so a wrong call is refused before a kernel
runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gn_tutorial.compiler.dtype_macros import graph_number
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import Out, as_dtype, check_array, inout, workspace
from gn_tutorial.operators.result import Result
from gn_tutorial.operators.shapes import Symbols, bind, describe_call, resolve
from gn_tutorial.operators.spec import DATA_DTYPE, Argument, KernelSpec, OpSpec
from gn_tutorial.operators.tiling import Tiling, load_tiling
from gn_tutorial.runtime.launch_types import LaunchResult, Tally
from gn_tutorial.timing.machine import default_cores


@dataclass(frozen=True)
class Plan:
    """The launch of one call. values: by kernel parameter. blocks: how many to launch, 0 if there is no work.

    tiling: the filled tiling struct, None if the operator has none. outputs: names, in the operator's order.
    """

    values: dict[str, Any]
    blocks: int
    tiling: Tiling | None
    outputs: tuple[str, ...]


def plan(
    op: OpSpec, spec: KernelSpec, inputs: Sequence[Any], named: Mapping[str, Any], *, cores: int | None = None
) -> Plan:
    """Check a call and return the plan of its launch.

    ``inputs`` are positional, ``named`` may hold inputs and attributes. ``cores`` is the largest number of blocks to
    use; None stands for the number of cores of the default chip. Raises ArgumentError for an argument that does not
    fit, or if the tiling function refuses the call; and the errors of ``load_tiling`` and of its function.
    """
    arrays, attributes = split_call(op, inputs, named)
    dtype = _data_dtype(op, spec, arrays)
    symbols = bind(op, {name: array.shape for name, array in arrays.items()}, attributes)
    symbols["cores"] = default_cores() if cores is None else int(cores)
    symbols["dtype"] = graph_number(dtype.name)
    own = op.tiling_of(spec)
    tiling = load_tiling(own)(symbols) if own else None
    blocks = int(tiling[op.tiling.blocks]) if op.tiling and tiling else symbols["cores"]
    if not tiling and all(array.size == 0 for array in arrays.values()):
        blocks = 0
    values = {a.name: _value(op, a, arrays, symbols, dtype, tiling) for a in op.arguments}
    return Plan(values, blocks, tiling, tuple(a.name for a in op.outputs))


def retiled(op: OpSpec, plan: Plan, tiling: Tiling) -> Plan:
    """Return the plan with another tiling struct, and with the blocks and workspaces that the struct gives.

    Raises ArgumentError if ``tiling`` is not the operator's struct.
    """
    if not isinstance(tiling, Tiling):
        raise ArgumentError(f"'tiling' is a Tiling, not {tiling!r}", hint="k.tiling(x).with_(field=value)")
    if plan.tiling is None or (tiling.name, tiling.dtype) != (plan.tiling.name, plan.tiling.dtype):
        wanted = f"a {plan.tiling.name}" if plan.tiling else "none: its numbers are passed by value"
        raise ArgumentError(f"'tiling' is a {tiling.name}; {op.name} takes {wanted}")
    values = dict(plan.values)
    for argument in op.arguments:
        if argument.role == "tiling":
            values[argument.name] = tiling
        elif argument.role == "workspace" and isinstance(argument.bytes, str):
            values[argument.name] = workspace(tiling[argument.bytes])
    blocks = int(tiling[op.tiling.blocks]) if op.tiling else plan.blocks
    return replace(plan, values=values, blocks=blocks, tiling=tiling)


def empty_result(kernel: str, plan: Plan, observed: bool) -> Result:
    """Return the result of a call with nothing to compute: empty outputs, without a launch.

    Raises ArgumentError if an output has elements, because no launch would write them.
    """
    outputs = {name: np.empty(plan.values[name].shape, plan.values[name].dtype) for name in plan.outputs}
    for name, array in outputs.items():
        if array.size:
            raise ArgumentError(
                f"there is nothing to compute, but '{name}' has shape {array.shape}",
                hint="only an empty batch (N = 0) gives an empty result; other lengths must be at least 1",
            )
    nothing = Tally(scalar=0, vector=0, mte2=0, mte3=0, bytes_in=0, bytes_out=0, ub_high_water=0)
    launched = LaunchResult(arrays=outputs, tally=nothing, seconds=0.0, printed="", observed=observed)
    return Result(kernel, 0, launched, tiling=plan.tiling)


def finish(op: OpSpec, plan: Plan, result: Result) -> Result:
    """Return the result with only the operator's outputs, thus without workspaces, and with the tiling struct."""
    outputs = {name: result.outputs[name] for name in plan.outputs}
    return replace(result, launched=replace(result.launched, arrays=outputs), tiling=plan.tiling)


def split_call(
    op: OpSpec, inputs: Sequence[Any], named: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return a call's checked arrays and its attributes, by name. Inputs that are None are left out.

    Raises ArgumentError for too many inputs, an argument that is given twice, or an input that ``check_array`` refuses.
    """
    names = [argument.name for argument in op.inputs]
    if len(inputs) > len(names):
        raise ArgumentError(
            f"{len(inputs)} arrays for {len(names)} inputs",
            where=describe_call(op),
            hint="attributes are given by name",
        )
    given = dict(zip(names, inputs, strict=False))
    attributes = {}
    for name, value in named.items():
        if name in given:
            raise ArgumentError(f"argument '{name}' is given twice", where=describe_call(op))
        (given if name in names else attributes)[name] = value
    where = describe_call(op)
    arrays = {}
    for name, value in given.items():
        if value is None:
            continue
        try:
            arrays[name] = check_array(name, value)
        except ArgumentError as error:
            raise ArgumentError(error.what, where=f"argument '{name}' of {where}", hint=error.hint) from None
    return arrays, attributes


def _data_dtype(op: OpSpec, spec: KernelSpec, arrays: Mapping[str, np.ndarray]) -> np.dtype:
    """Return the first data input's dtype; if no data input is given, the kernel's first dtype.

    Raises ArgumentError if the kernel does not have the dtype, or if the dtype of another input is wrong.
    """
    found: tuple[str, np.dtype] | None = None
    for argument in op.inputs:
        if argument.name not in arrays:
            continue
        actual = arrays[argument.name].dtype
        if argument.dtype != DATA_DTYPE:
            if actual != as_dtype(argument.dtype):
                raise ArgumentError(
                    f"'{argument.name}' is {actual}; it must be {argument.dtype}", where=describe_call(op)
                )
        elif found is None:
            found = (argument.name, actual)
            if actual.name not in spec.dtypes:
                hint = f"{argument.name}.astype(np.{spec.dtypes[0]})"
                raise ArgumentError(
                    f"'{argument.name}' is {actual}; {spec.id} has {', '.join(spec.dtypes)}",
                    where=f"argument '{argument.name}' of {describe_call(op)}",
                    hint=hint,
                )
        elif actual != found[1]:
            raise ArgumentError(
                f"'{argument.name}' is {actual}, but '{found[0]}' is {found[1]}",
                where=f"argument '{argument.name}' of {describe_call(op)}",
                hint=f"{argument.name}.astype({found[0]}.dtype)",
            )
    return found[1] if found else as_dtype(spec.dtypes[0])


def _value(
    op: OpSpec,
    argument: Argument,
    arrays: Mapping[str, np.ndarray],
    symbols: Symbols,
    dtype: np.dtype,
    tiling: Tiling | None,
) -> Any:
    model = next(a for a in op.inputs if a.name == argument.like) if argument.like else argument
    own = dtype if model.dtype == DATA_DTYPE else as_dtype(model.dtype)
    match argument.role:
        case "in" if argument.name in arrays:
            return arrays[argument.name]
        case "inout":
            return inout(arrays[argument.name])
        case "in":
            return np.full(resolve(model.shape or (), symbols), argument.fill, own)
        case "out" if op.mask and not symbols[op.mask.symbol] >> op.outputs.index(argument) & 1:
            return Out((0,), own)
        case "out":
            return Out(resolve(model.shape or (), symbols), own)
        case "value":
            return symbols[argument.symbol]
        case "workspace":
            size = argument.bytes
            return workspace(tiling[size] if tiling is not None and isinstance(size, str) else int(size))
    return tiling
