"""Rewrites equivalent calls in one form: ``relu(x)``, ``x.relu()``, ``nn.ReLU()(x)`` and ``aten.relu`` become one call.

The patterns use only the canonical functions defined here, so a graph is first rewritten to call these. The graph still
computes the same, because each canonical function calls PyTorch's own. A module with hooks stays a module. An in-place
call becomes a call that returns new memory if nothing else reads its argument and the argument shares no memory. If
that is not certain, the call stays, and for a function or method ``canonicalise`` returns the reason.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule, Node
from torch.nn import functional


def add(x: Tensor, y: Tensor) -> Tensor:
    """Return x + y."""
    return x + y


def multiply(x: Tensor, y: Tensor) -> Tensor:
    """Return x * y."""
    return x * y


def relu(x: Tensor) -> Tensor:
    """Return max(x, 0)."""
    return torch.relu(x)


def silu(x: Tensor) -> Tensor:
    """Return x * sigmoid(x)."""
    return functional.silu(x)


def gelu(x: Tensor, approximate: str) -> Tensor:
    """Return GELU of x in the form ``approximate``."""
    return functional.gelu(x, approximate=approximate)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return ``x @ weight.T``, plus the bias unless it is None."""
    return functional.linear(x, weight, bias)


def group_norm(x: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
    """Return GroupNorm of x."""
    return functional.group_norm(x, num_groups, weight, bias, eps)


def rms_norm(x: Tensor, shape: list[int], weight: Tensor | None, eps: float | None) -> Tensor:
    """Return RMSNorm of x over the last axes, whose lengths are ``shape``."""
    return functional.rms_norm(x, shape, weight, eps)


#: The name of the Python module that defines our ``torch.nn`` modules. It is not imported here, because it imports this
#: package.
OURS = "gn_tutorial.nn"
#: The canonical functions. A graph calls them with all arguments by position.
CANONICAL = (add, multiply, relu, silu, gelu, linear, group_norm, rms_norm)
_ATEN = torch.ops.aten
#: Target of a call in a graph -> the canonical function, the names of its arguments, and the defaults of optional ones.
_FUNCTIONS: dict[Any, tuple[Callable[..., Tensor], tuple[str, ...], dict[str, Any]]] = {}
_IN_PLACE: dict[Any, Any] = {}


def _spelt(function: Callable[..., Tensor], names: str, *targets: Any, **defaults: Any) -> None:
    for target in targets:
        _FUNCTIONS[target] = function, tuple(names.split()), defaults


_spelt(add, "input other", operator.add, torch.add, "add", _ATEN.add.Tensor)
_spelt(multiply, "input other", operator.mul, torch.mul, torch.multiply, "mul", "multiply", _ATEN.mul.Tensor)
_spelt(relu, "input", torch.relu, functional.relu, "relu", _ATEN.relu.default)
_spelt(silu, "input", functional.silu, torch._C._nn.silu, _ATEN.silu.default)
_spelt(gelu, "input approximate", functional.gelu, _ATEN.gelu.default, approximate="none")
_spelt(linear, "input weight bias", functional.linear, _ATEN.linear.default, bias=None)
_spelt(
    group_norm, "input num_groups weight bias eps", functional.group_norm, _ATEN.group_norm.default,
    weight=None, bias=None, eps=1e-5,
)  # fmt: skip
_spelt(
    rms_norm, "input normalized_shape weight eps", functional.rms_norm, torch.rms_norm, _ATEN.rms_norm.default,
    weight=None, eps=None,
)  # fmt: skip
#: An in-place function or method -> the one that returns new memory.
_IN_PLACE |= {
    operator.iadd: operator.add,
    operator.imul: operator.mul,
    "add_": "add",
    "mul_": "mul",
    "relu_": "relu",
    torch.relu_: torch.relu,
    functional.relu_: torch.relu,
    _ATEN.add_.Tensor: _ATEN.add.Tensor,
    _ATEN.mul_.Tensor: _ATEN.mul.Tensor,
    _ATEN.relu_.default: _ATEN.relu.default,
    _ATEN.silu_.default: _ATEN.silu.default,
}
#: Keyword arguments that do not change the result if they have this value. A call with another value is not rewritten,
#: except a call with inplace=True that may as well return new memory.
_IGNORED = {"inplace": False, "alpha": 1, "cudnn_enabled": True}
#: Modules that always return new memory. Identity and Dropout are not among them: they may return their argument.
_FRESH_MODULES = (
    torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d, torch.nn.ConvTranspose2d, torch.nn.Linear, torch.nn.GroupNorm,
    torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d, torch.nn.LayerNorm, torch.nn.RMSNorm,
)  # fmt: skip
_FRESH_FUNCTIONS = {
    torch.conv1d, torch.conv2d, torch.conv3d, functional.batch_norm, torch.matmul, operator.matmul,
    _ATEN.conv2d.default, _ATEN.batch_norm.default, _ATEN.matmul.default,
    *CANONICAL,
}  # fmt: skip


def canonicalise(graph: GraphModule) -> list[tuple[Node, str]]:
    """Rewrite the calls of a graph in canonical form, in place. Return calls that stay, each with the reason.

    These are in-place calls of functions and methods, and calls that lack an argument.
    """
    stays = []
    for node in list(graph.graph.nodes):
        if node.op == "call_module":
            _module(graph, node)
        elif node.op in ("call_function", "call_method"):
            why = _call(graph, node)
            if why:
                stays.append((node, why))
    _parameters_first(graph)
    graph.graph.lint()
    return stays


def mutates(node: Node) -> bool:
    """Whether a call writes into existing memory, judged by its schema, or else by its name and arguments."""
    if node.op == "call_method":
        return str(node.target).endswith("_") and not str(node.target).endswith("__")
    if node.op != "call_function":
        return False
    schema = getattr(node.target, "_schema", None)
    if schema is not None:
        return schema.is_mutable
    name = getattr(node.target, "__name__", "")
    named = (name.endswith("_") and not name.endswith("__")) or name in ("setitem", "iadd", "imul", "isub", "itruediv")
    return named or bool(node.kwargs.get("inplace")) or node.kwargs.get("out") is not None


def _call(graph: GraphModule, node: Node) -> str:
    """Rewrite one call of a function or method, if it has a canonical form. Return "", or a reason to report it."""
    target, kwargs = node.target, dict(node.kwargs)
    in_place = target in _IN_PLACE or kwargs.get("inplace") is True
    target = _IN_PLACE.get(target, target)
    if target not in _FUNCTIONS:
        return ""
    function, names, defaults = _FUNCTIONS[target]
    kwargs.pop("inplace", None)
    extra = {name: kwargs.pop(name) for name in list(kwargs) if name in _IGNORED}
    values = dict(zip(names, node.args, strict=False)) | kwargs
    if "self" in values:
        values["input"] = values.pop("self")
    spare = node.args[len(names) :]
    if any(_IGNORED[name] != value for name, value in extra.items()) or set(values) - set(names):
        return ""
    if function is relu and spare == (True,):
        in_place, spare = True, ()  # functional.relu(x, True)
    if any(value not in (True, 1, False) for value in spare) or (spare and function not in (relu, silu, group_norm)):
        return ""
    if missing := [name for name in names if name not in values and name not in defaults]:
        return f"argument {missing[0]} is missing"
    if in_place and (why := _not_alone(graph, values["input"], node)):
        return why
    _respell(node, function, tuple(values.get(name, defaults.get(name)) for name in names))
    return ""


def _not_alone(graph: GraphModule, argument: Any, node: Node) -> str:
    """Return why in-place call ``node`` may differ from one that returns new memory; "" if it does not.

    argument: the value that the call writes into.
    """
    if not isinstance(argument, Node):
        return ""
    if argument.op == "placeholder":
        return f"it writes into {argument.name}, an argument of the model"
    if argument.op == "get_attr":
        return f"it writes into {argument.target}, a buffer or parameter"
    if others := [user for user in argument.users if user is not node]:
        return f"it writes into {argument.name}, which {others[0].name} uses too"
    if argument.op == "call_module":
        fresh = type(graph.get_submodule(str(argument.target))) in _FRESH_MODULES
    else:
        fresh = argument.op == "call_function" and argument.target in _FRESH_FUNCTIONS
    return "" if fresh else f"it writes into {argument.name}, which may share memory with something else"


def _module(graph: GraphModule, node: Node) -> None:
    """Rewrite one call of a module that has a canonical function and no hooks, PyTorch's or ours of the same name."""
    path, (x, *others) = str(node.target), node.args
    module = graph.get_submodule(path)
    if others or node.kwargs or _has_hooks(module):
        return

    def parameter(name: str) -> Node | None:
        if getattr(module, name) is None:
            return None
        with graph.graph.inserting_before(node):
            return graph.graph.get_attr(f"{path}.{name}")

    kind = type(module)
    if kind.__module__ == OURS:  # our modules compute the same as PyTorch's modules of the same names
        kind = getattr(torch.nn, kind.__name__, kind)
    match kind:
        case torch.nn.ReLU | torch.nn.SiLU:
            if not module.inplace or not _not_alone(graph, x, node):
                _respell(node, relu if kind is torch.nn.ReLU else silu, (x,))
        case torch.nn.GELU:
            _respell(node, gelu, (x, module.approximate))
        case torch.nn.Linear:
            _respell(node, linear, (x, parameter("weight"), parameter("bias")))
        case torch.nn.GroupNorm:
            _respell(node, group_norm, (x, module.num_groups, parameter("weight"), parameter("bias"), module.eps))
        case torch.nn.RMSNorm:
            _respell(node, rms_norm, (x, list(module.normalized_shape), parameter("weight"), module.eps))


def _has_hooks(module: torch.nn.Module) -> bool:
    return bool(module._forward_hooks or module._forward_pre_hooks or module._backward_hooks)


def _respell(node: Node, function: Callable[..., Tensor], arguments: tuple[Any, ...]) -> None:
    node.op, node.target, node.args, node.kwargs = "call_function", function, arguments, {}


def _parameters_first(graph: GraphModule) -> None:
    """Move parameters and buffers to the front of the graph, so that a fused call need only follow its other inputs."""
    nodes = list(graph.graph.nodes)
    first = next(node for node in nodes if node.op != "placeholder")
    for node in nodes:
        if node.op == "get_attr" and node is not first:
            first.prepend(node)
