"""Graph mode on an NPU (图模式): how torchair turns our operators' nodes into nodes of CANN's graph engine, GE.

``torch.compile`` with torchair's backend makes a PyTorch graph (FX). For each node of the graph torchair looks for a
converter, a function that adds a node to GE's graph. If none is registered, torchair makes one itself. The node's type
is then the operator's name in CamelCase, without the namespace, so ``gn_tutorial::gelu`` would silently become CANN's
own ``Gelu``. So every operator of ``torch.ops.gn_tutorial`` and ``torch.ops.gn_tutorial_cpp`` has a converter here.

All converters use one rule: tensors go to the inputs of the operator's prototype in order, and other arguments to its
attributes of the same name. Exceptions are ``_KEEP`` and ``_AXES`` below. An operator package with these types must be
installed: ``gnt dev prototype`` prints the prototype from which msopgen makes the package's project. Nothing here was
run on an NPU; tests call the converters with a stand-in for torchair that knows the prototypes. docs/npu.md has
torchair's rules, and how to see that registration succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gn_tutorial.errors import KernelError
from gn_tutorial.operators.prototype import op_type, prototype

NAMESPACES = ("gn_tutorial", "gn_tutorial_cpp")
Converter = Callable[..., Any]

#: Type of an attribute in a prototype -> its class in torchair.ge.attr, and the function that converts its value.
_ATTRIBUTES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "int": ("Int", int),
    "float": ("Float", float),
    "list_bool": ("ListBool", list),
    "string": ("Str", str),
}
#: The argument of a backward pass that says which gradients to compute. A node of GE always has all outputs.
_MASK = "output_mask"
#: The argument of linear_gelu that says whether to return its second output. The prototype has a mask of both instead.
_KEEP = "keep"
#: The argument of rms_norm with the lengths of the normalised axes. The prototype lacks it, because a node of GE
#: normalises the last axis, whose length is that of gamma.
_AXES = "normalized_shape"


class Registration(NamedTuple):
    """The state of one operator. op: the overload. converter: whether torchair has our converter. node: the GE type.

    prototype: "yes" or "no", whether GE knows that type; or the reason why GE could not be asked.
    """

    op: str
    converter: bool
    node: str
    prototype: str


def register(torchair: Any = None) -> list[str]:
    """Register a converter for every loaded operator, and return the operators' names.

    torchair: the module torchair, imported if it is None. A second call replaces the converters of the first.
    Raises KernelError if there is no torchair, or if an operator's arguments do not fit its prototype.
    """
    torchair = _torchair() if torchair is None else torchair
    found = _overloads()
    for name, op in found:
        torchair.register_fx_node_ge_converter(op)(converter(name, op, torchair))
    return [str(op) for _, op in found]


def check(torchair: Any = None) -> list[Registration]:
    """Return, for every loaded operator, whether torchair has our converter and GE has the prototype.

    Call this function after ``register``. Raises KernelError if there is no torchair.
    """
    torchair = _torchair() if torchair is None else torchair
    return [
        Registration(str(op), hasattr(op, "_ge_converter"), op_type(name), _prototype(torchair, op_type(name)))
        for name, op in _overloads()
    ]


def converter(name: str, op: Any, torchair: Any) -> Converter:
    """Return the function that torchair calls for a node of ``op``, an overload of the registered operator ``name``.

    Raises KernelError if the arguments in the overload's schema do not fit the operator's prototype.
    """
    made = prototype(name)
    inputs = [one["name"] for one in made["input_desc"]]
    outputs = [one["name"] for one in made["output_desc"]]
    types = {one["name"]: one["type"] for one in made.get("attr", [])}
    arguments = op._schema.arguments
    tensors = [one.name for one in arguments if "Tensor" in str(one.type)]
    others = [one.name for one in arguments if one.name not in tensors]
    if len(tensors) != len(inputs) or set(others) - {_MASK, _KEEP, _AXES} != set(types) - {_MASK}:
        raise KernelError(
            f"{op} takes {', '.join(tensors + others)}; the prototype {made['op']} has the inputs {', '.join(inputs)}"
            f" and the attributes {', '.join(types) or 'none'}",
            where="a converter for torchair",
            hint=f"tensors in the order of kernels/*/{name}.op.toml, numbers by its names",
        )

    def convert(*given: Any, **named: Any) -> Any:
        """Add a node to GE's graph and return its outputs; None for an output that ``_MASK`` or ``_KEEP`` excludes.

        given, named: the operator's arguments. A tensor may be None if its input is optional in the prototype. Raises
        KernelError if ``_AXES`` has more than one length.
        """
        # PyTorch omits arguments that equal the schema's default.
        values = {one.name: one.default_value for one in arguments if one.has_default_value()}
        values.update(zip((one.name for one in arguments), given, strict=False), **named)
        if _KEEP in values:
            values[_MASK] = [True, values[_KEEP]]
        if len(values.get(_AXES, [0])) != 1:
            raise KernelError(
                f"{op} has normalized_shape {tuple(values[_AXES])}; a node of {made['op']} takes the last axis only",
                where="torch.compile on an NPU",
                hint="flatten these axes of x and weight to one in front of it",
            )
        attrs = {}
        for key, kind in types.items():
            attribute, make = _ATTRIBUTES[kind]
            attrs[key] = getattr(torchair.ge.attr, attribute)(make(_number(values[key])))
        node = torchair.ge.custom_op(
            made["op"],
            inputs=dict(zip(inputs, (values[one] for one in tensors), strict=True)),
            outputs=outputs,
            attrs=attrs,
        )
        if _MASK not in values:
            return node
        return [one if wanted else None for one, wanted in zip(node, values[_MASK], strict=True)]

    return convert


def _number(value: Any) -> Any:
    """Return the value of an attribute. None, the default eps of rms_norm, becomes float32's epsilon."""
    import torch

    return torch.finfo(torch.float32).eps if value is None else value


def _overloads() -> Sequence[tuple[str, Any]]:
    """Return (name in the registry, overload) of every loaded operator of both namespaces."""
    import torch

    from gn_tutorial import torch_ops

    found = [
        (name, getattr(getattr(torch.ops, namespace), name, None))
        for namespace in NAMESPACES
        for name in torch_ops.__all__
    ]
    return [(name, packet.default) for name, packet in found if packet is not None]


def _torchair() -> Any:
    try:
        import torch_npu  # noqa: F401 - brings torchair and puts it among the modules
        import torchair
    except Exception as error:  # any error of a missing or unsuitable toolkit
        raise KernelError(
            f"there is no torchair: {type(error).__name__}: {error}",
            where="torch.compile on an NPU",
            hint="torchair comes with torch_npu and needs CANN; `gnt doctor` says what is missing",
        ) from error
    return torchair


def _prototype(torchair: Any, node: str) -> str:
    # torchair.ge.custom_op calls this before it makes a node; no documented function does the same.
    try:
        status = torchair.core._torchair.get_registered_ir_def(node)[0]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "yes" if status == "SUCCESS" else "no"
