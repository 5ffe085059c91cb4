"""Graph mode on an NPU (图模式): how torchair turns our operators' nodes into nodes of CANN's graph engine, GE.

``torch.compile`` with torchair's backend gives a graph of PyTorch (FX). For each node in it torchair looks for a
converter, a function that adds a node to GE's graph; without one, compilation ends with an error. The functions here
are those of ``torch.ops.gn_tutorial`` and ``torch.ops.gn_tutorial_cpp``.

A GE node names a type of operator, so an operator package must be installed that has it: ``gnt dev prototype`` prints
what msopgen makes the project from. Nothing here was run on an NPU; tests call the converters with a stand-in of
torchair that knows the prototypes. docs/npu.md says how to see that registration succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gn_tutorial.errors import KernelError
from gn_tutorial.operators.prototype import op_type

NAMESPACES = ("gn_tutorial", "gn_tutorial_cpp")
Converter = Callable[..., Any]


class Registration(NamedTuple):
    """One operator as ``check`` found it. ``node``: the GE type; ``prototype``: whether GE knows that type."""

    op: str
    converter: bool
    node: str
    prototype: str


def register(torchair: Any = None) -> list[str]:
    """Register a converter for GroupNorm, with SiLU, and for its backward pass; returns the operators' names.

    torchair: the module, imported if it is None. A second call replaces what the first registered.
    Raises KernelError where there is no torchair.
    """
    torchair = _torchair() if torchair is None else torchair
    names = []
    for name, make in _CONVERTERS.items():
        for op in _overloads(name):
            torchair.register_fx_node_ge_converter(op)(make(name, torchair))
            names.append(str(op))
    return names


def check(torchair: Any = None) -> list[Registration]:
    """Whether torchair has our converters, and GE the prototypes that they name. Run it after ``register``.

    A prototype is "yes", "no", or the reason why GE cannot be asked (no CANN). Raises KernelError as ``register``.
    """
    torchair = _torchair() if torchair is None else torchair
    return [
        Registration(str(op), hasattr(op, "_ge_converter"), op_type(name), _prototype(torchair, op_type(name)))
        for name in _CONVERTERS
        for op in _overloads(name)
    ]


def _forward(name: str, torchair: Any) -> Converter:
    def convert(
        x: Any, weight: Any, bias: Any, num_groups: int, eps: float = 1e-5, meta_outputs: Any = None
    ) -> Sequence[Any]:
        """y, mean, rstd. An input that is None is left out of the node: the prototype calls it optional."""
        return torchair.ge.custom_op(
            op_type(name),
            inputs={"x": x, "gamma": weight, "beta": bias},
            outputs=["y", "mean", "rstd"],
            attrs={"num_groups": torchair.ge.attr.Int(num_groups), "eps": torchair.ge.attr.Float(eps)},
        )

    return convert


def _backward(name: str, torchair: Any) -> Converter:
    def convert(
        grad_y: Any,
        x: Any,
        mean: Any,
        rstd: Any,
        weight: Any,
        num_groups: int,
        output_mask: Sequence[bool],
        meta_outputs: Any = None,
    ) -> Sequence[Any]:
        """The gradients of x, weight and bias. A GE node has all its outputs: the mask decides what is written."""
        made = torchair.ge.custom_op(
            op_type(name),
            inputs={"dy": grad_y, "x": x, "mean": mean, "rstd": rstd, "gamma": weight},
            outputs=["dx", "dgamma", "dbeta"],
            attrs={
                "num_groups": torchair.ge.attr.Int(num_groups),
                "output_mask": torchair.ge.attr.ListBool(list(output_mask)),
            },
        )
        return [one if wanted else None for one, wanted in zip(made, output_mask, strict=True)]

    return convert


#: Name of an operator -> what makes its converter.
_CONVERTERS: dict[str, Callable[[str, Any], Converter]] = {
    "group_norm": _forward,
    "group_norm_silu": _forward,
    "group_norm_backward": _backward,
}


def _overloads(name: str) -> list[Any]:
    """The operator of that name in each namespace that has been loaded."""
    import torch

    found = (getattr(getattr(torch.ops, namespace), name, None) for namespace in NAMESPACES)
    return [packet.default for packet in found if packet is not None]


def _torchair() -> Any:
    try:
        import torch_npu  # noqa: F401 - brings torchair and puts it among the modules
        import torchair
    except Exception as error:  # whatever a toolkit that is absent or does not fit raises
        raise KernelError(
            f"there is no torchair: {type(error).__name__}: {error}",
            where="torch.compile on an NPU",
            hint="torchair comes with torch_npu and needs CANN; `gnt doctor` says what is missing",
        ) from error
    return torchair


def _prototype(torchair: Any, node: str) -> str:
    # What torchair.ge.custom_op asks before it makes a node; no documented function does.
    try:
        status = torchair.core._torchair.get_registered_ir_def(node)[0]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "yes" if status == "SUCCESS" else "no"
