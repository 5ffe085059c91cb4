"""Writes the prototype of a registered operator (算子原型), which CANN's tools need before any kernel exists.

``msopgen gen -i <file>`` makes an operator project from a file of prototypes: a folder with the prototype in C++, a
tiling function and a kernel to fill in. A prototype has neither sizes nor a number of axes: the project's code gets
them with each call.
Names and types are those of CANN's public documentation; nothing here was run through msopgen or on an NPU.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from gn_tutorial.abi.dtypes import DTYPES
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.registry import load_registry
from gn_tutorial.operators.spec import DATA_DTYPE, Argument, Attribute, KernelSpec, OpSpec

#: Begins every operator's type, so that the type differs from CANN's own, such as GroupNorm.
PREFIX = "GnTutorial"
_ATTRIBUTES = {"int64": "int", "int32": "int", "float32": "float", "mask": "list_bool", "choice": "string"}


def op_type(name: str) -> str:
    """Return the operator's type in CANN: GnTutorialGroupNorm for group_norm."""
    return PREFIX + "".join(part.capitalize() for part in name.split("_"))


def prototype(name: str) -> dict[str, Any]:
    """Return the prototype of the operator ``name``, with the dtypes of its kernel with the most dtypes.

    An input with a default (``fill``) is optional. Raises ArgumentError for an unknown operator, and for a dtype that
    has no name in a prototype.
    """
    registry = load_registry()
    op = registry.get(name)
    if op is None:
        raise ArgumentError(f"there is no operator {name!r}", where="operator", hint=f"one of: {', '.join(registry)}")
    dtypes = _most(op).dtypes
    found: dict[str, Any] = {
        "op": op_type(op.name),
        "input_desc": [_described(one, dtypes, op.name) for one in op.arguments if one.role == "in"],
        "output_desc": [_described(one, dtypes, op.name) for one in op.arguments if one.role == "out"],
    }
    if op.attributes:
        found["attr"] = [_attribute(one) for one in op.attributes]
    return found


def text(names: Iterable[str]) -> str:
    """Return the text of a file for msopgen: a JSON list with one prototype for each operator."""
    return json.dumps([prototype(name) for name in names], indent=2) + "\n"


def _most(op: OpSpec) -> KernelSpec:
    return max(op.kernels, key=lambda one: (len(one.dtypes), one.step))


def _described(argument: Argument, dtypes: tuple[str, ...], op: str) -> dict[str, Any]:
    """Return the prototype of one input or output.

    CANN combines types by their index: the first types of all inputs and outputs form one combination.
    """
    own = [dtype if argument.dtype == DATA_DTYPE else argument.dtype for dtype in dtypes]
    if unknown := [one for one in own if one not in DTYPES or not DTYPES[one].msopgen]:
        raise ArgumentError(f"argument {argument.name} of {op} is {unknown[0]}, which has no name in a prototype")
    return {
        "name": argument.name,
        "param_type": "required" if argument.fill is None else "optional",
        "format": ["ND"] * len(own),
        "type": [DTYPES[one].msopgen for one in own],
    }


def _attribute(attribute: Attribute) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": attribute.name,
        "param_type": "required" if attribute.default is None else "optional",
        "type": _ATTRIBUTES[attribute.type],
    }
    if attribute.default is not None:
        default = attribute.default
        made["default_value"] = list(default) if isinstance(default, tuple) else default
    return made
