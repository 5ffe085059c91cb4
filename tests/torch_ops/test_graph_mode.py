"""The converters for torchair, called on real FX graphs; torchair is a stand-in that holds nodes against prototypes.

The real one loads CANN's libraries when it is imported. Where the torch_npu package is installed, the names that the
converters use are looked up in its sources.
"""

from __future__ import annotations

import ast
from importlib import util
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")

from gn_tutorial import torch_ops  # noqa: E402
from gn_tutorial.errors import KernelError  # noqa: E402
from gn_tutorial.operators.prototype import op_type, prototype  # noqa: E402
from gn_tutorial.operators.registry import load_registry  # noqa: E402
from gn_tutorial.torch_ops import graph_mode  # noqa: E402


class Attr(NamedTuple):
    kind: str
    value: Any


class Node(NamedTuple):
    """An output of a GE node."""

    kind: str
    name: str


class StandIn:
    """torchair as far as a converter sees it. A node that does not fit its prototype is refused, as GE does."""

    _KINDS = {"int": "Int", "float": "Float", "list_bool": "ListBool", "string": "Str"}  # noqa: RUF012

    def __init__(self) -> None:
        self.converters: dict[Any, Any] = {}
        self.nodes: list[tuple[str, dict[str, Any], dict[str, Attr]]] = []
        self.known = {op_type(name): prototype(name) for name in load_registry()}
        attr = SimpleNamespace(**{kind: (lambda value, kind=kind: Attr(kind, value)) for kind in self._KINDS.values()})
        self.ge = SimpleNamespace(custom_op=self.custom_op, attr=attr)
        self.core = SimpleNamespace(_torchair=SimpleNamespace(get_registered_ir_def=self.look_up))

    def register_fx_node_ge_converter(self, op: Any) -> Any:
        assert isinstance(op, torch._ops.OpOverload), "torchair takes an overload, not the packet of all of them"

        def keep(converter: Any) -> None:
            self.converters[op] = converter
            op._ge_converter = converter

        return keep

    def look_up(self, kind: str) -> tuple[str, list, list, list]:
        return ("SUCCESS" if kind in self.known else "FAILED", [], [], [])

    def custom_op(self, kind: str, *, inputs: dict, outputs: list, attrs: dict) -> Node | tuple[Node, ...]:
        made = self.known[kind]
        assert list(inputs) == [one["name"] for one in made["input_desc"]]
        for one in made["input_desc"]:
            assert inputs[one["name"]] is not None or one["param_type"] == "optional", one["name"]
        assert outputs == [one["name"] for one in made["output_desc"]]
        types = {one["name"]: self._KINDS[one["type"]] for one in made.get("attr", [])}
        assert {name: one.kind for name, one in attrs.items()} == types
        self.nodes.append((kind, inputs, attrs))
        nodes = tuple(Node(kind, name) for name in outputs)
        return nodes if len(nodes) > 1 else nodes[0]  # as torchair does


@pytest.fixture
def torchair() -> Any:
    made = StandIn()
    yield made
    for op in made.converters:
        del op._ge_converter


def convert(function: Any, torchair: StandIn, *inputs: Any) -> list[Any]:
    """Traces the function, without numbers, and gives each node of ours to its converter, with names for tensors."""
    graph = torch.fx.experimental.proxy_tensor.make_fx(function, tracing_mode="fake")(*inputs)
    results = []
    for node in graph.graph.nodes:
        if node.target in torchair.converters:
            arguments = torch.fx.node.map_arg(list(node.args), lambda one: f"tensor {one.name}")
            results.append(torchair.converters[node.target](*arguments, **node.kwargs))
    return results


def test_every_operator_is_registered_and_check_sees_it(torchair: StandIn) -> None:
    before = graph_mode.check(torchair)
    assert not any(one.converter for one in before)
    names = graph_mode.register(torchair)
    # torchair would make a converter for what is left out: gn_tutorial::gelu has the name of CANN's Gelu.
    assert {f"gn_tutorial.{name}.default" for name in torch_ops.__all__} <= set(names)
    after = graph_mode.check(torchair)
    assert [one.op for one in after] == names
    assert all(one.converter and one.prototype == "yes" for one in after)
    del torchair.known[op_type("group_norm")]
    gone = [one.prototype for one in graph_mode.check(torchair) if one.node == op_type("group_norm")]
    assert set(gone) == {"no"}


def test_nodes_of_a_traced_graph_become_nodes_that_fit_the_prototype(torchair: StandIn) -> None:
    graph_mode.register(torchair)
    x, weight, bias = torch.randn(2, 6, 5), torch.rand(6), torch.rand(6)
    ops = torch.ops.gn_tutorial

    made = convert(lambda *some: ops.group_norm(*some, 3, 0.25), torchair, x, weight, bias)
    assert [[one.name for one in outputs] for outputs in made] == [["y", "mean", "rstd"]]
    _, inputs, attrs = torchair.nodes[-1]
    assert attrs == {"num_groups": Attr("Int", 3), "eps": Attr("Float", 0.25)}
    assert all(str(one).startswith("tensor ") for one in inputs.values())
    assert len(set(inputs.values())) == 3

    convert(lambda x, bias: ops.group_norm(x, None, bias, 2), torchair, x, bias)
    _, inputs, attrs = torchair.nodes[-1]
    assert inputs["gamma"] is None
    assert attrs["eps"] == Attr("Float", 1e-5), "the dispatcher leaves out what equals the default"

    convert(lambda *some: ops.group_norm_silu(*some, 3), torchair, x, weight, bias)
    assert torchair.nodes[-1][0] == "GnTutorialGroupNormSilu"


def test_a_backward_pass_keeps_its_mask_and_its_places(torchair: StandIn) -> None:
    graph_mode.register(torchair)
    x, weight, bias = torch.randn(2, 6, 5), torch.rand(6), torch.rand(6)

    def gradient(x: Any, weight: Any, bias: Any) -> Any:
        leaf = weight.detach().requires_grad_()
        return torch.autograd.grad(torch.ops.gn_tutorial.group_norm(x, leaf, bias, 3)[0].square().sum(), leaf)

    forward, backward = convert(gradient, torchair, x, weight, bias)
    assert backward == [None, Node("GnTutorialGroupNormBackward", "dgamma"), None]
    _, inputs, attrs = torchair.nodes[-1]
    assert attrs["output_mask"] == Attr("ListBool", [False, True, False])
    assert list(inputs) == ["dy", "x", "mean", "rstd", "gamma"]
    assert len(forward) == 3


@pytest.mark.parametrize("keep", [True, False])
def test_what_is_kept_is_a_mask_of_the_node(torchair: StandIn, keep: bool) -> None:
    graph_mode.register(torchair)
    x, weight = torch.randn(4, 6), torch.rand(3, 6)
    made = convert(lambda x, w: torch.ops.gn_tutorial.linear_gelu(x, w, None, "tanh", keep), torchair, x, weight)
    y, kept = (Node("GnTutorialLinearGelu", name) for name in ("y", "preactivation"))
    assert made == [[y, kept if keep else None]]
    assert torchair.nodes[-1][2] == {"approximate": Attr("Str", "tanh"), "output_mask": Attr("ListBool", [True, keep])}


def test_operators_of_one_output_have_nodes_of_ours(torchair: StandIn) -> None:
    graph_mode.register(torchair)
    x, weight, bias = torch.randn(4, 6), torch.rand(3, 6), torch.rand(3)
    ops = torch.ops.gn_tutorial

    assert convert(ops.gelu, torchair, x) == [Node("GnTutorialGelu", "y")]
    assert torchair.nodes[-1][2] == {"approximate": Attr("Str", "none")}
    convert(lambda x: ops.gelu(x, "tanh"), torchair, x)
    assert torchair.nodes[-1][2] == {"approximate": Attr("Str", "tanh")}
    assert convert(ops.linear, torchair, x, weight, bias) == [Node("GnTutorialLinear", "y")]
    convert(ops.linear, torchair, x, weight)
    assert torchair.nodes[-1][1]["bias"] is None

    def gradient(x: Any, weight: Any, bias: Any) -> Any:
        leaves = [one.detach().requires_grad_() for one in (x, bias)]
        return torch.autograd.grad(ops.gelu(ops.linear(leaves[0], weight, leaves[1])).sum(), leaves)

    *_, through_gelu, through_linear = convert(gradient, torchair, x, weight, bias)
    assert through_gelu == Node("GnTutorialGeluBackward", "dx")
    kind = "GnTutorialLinearBackward"
    assert through_linear == [Node(kind, "dx"), None, Node(kind, "dbias")]
    _, inputs, attrs = torchair.nodes[-1]
    assert list(inputs) == ["dy", "x", "weight"]
    assert attrs == {"output_mask": Attr("ListBool", [True, False, True])}


def test_rms_norm_is_a_node_over_the_last_axis(torchair: StandIn) -> None:
    graph_mode.register(torchair)
    x, weight = torch.randn(4, 3, 6), torch.rand(6)
    ops = torch.ops.gn_tutorial

    made = convert(lambda *some: ops.rms_norm(*some, [6], 0.25), torchair, x, weight)
    assert made == [(Node("GnTutorialRmsNorm", "y"), Node("GnTutorialRmsNorm", "rstd"))]
    assert torchair.nodes[-1][2] == {"eps": Attr("Float", 0.25)}
    convert(lambda x: ops.rms_norm(x, None, [6]), torchair, x)
    assert torchair.nodes[-1][1]["gamma"] is None
    assert torchair.nodes[-1][2] == {"eps": Attr("Float", torch.finfo(torch.float32).eps)}

    def gradient(x: Any, weight: Any) -> Any:
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(ops.rms_norm(leaf, weight, [6])[0].square().sum(), leaf)

    *_, backward = convert(gradient, torchair, x, weight)
    assert backward == tuple(Node("GnTutorialRmsNormBackward", name) for name in ("dx", "dgamma"))
    with pytest.raises(KernelError, match=r"normalized_shape \(3, 6\).*the last axis only"):
        convert(lambda x: ops.rms_norm(x, None, [3, 6]), torchair, x)


def test_an_operator_that_does_not_fit_its_prototype_is_refused(torchair: StandIn) -> None:
    with pytest.raises(KernelError, match="GnTutorialGelu has the inputs x and the attributes approximate"):
        graph_mode.converter("gelu", torch.ops.gn_tutorial.linear.default, torchair)
    with pytest.raises(KernelError, match="attributes num_groups, eps"):
        graph_mode.converter("group_norm", torch.ops.gn_tutorial.linear.default, torchair)


def test_no_torchair_is_said() -> None:
    if util.find_spec("torch_npu"):
        pytest.skip("torch_npu is installed")
    with pytest.raises(KernelError, match="there is no torchair"):
        graph_mode.register()


def test_the_names_are_in_the_real_torchair() -> None:
    """Read, not imported: that would load CANN's libraries."""
    found = util.find_spec("torch_npu")
    if found is None:
        pytest.skip("torch_npu is not installed")
    folder = Path(found.origin).parent / "dynamo" / "torchair"

    def defined(path: str) -> set[str]:
        nodes = ast.walk(ast.parse((folder / path).read_text(encoding="utf-8")))
        names = set()
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                names.add(node.name)
            elif isinstance(node, ast.Assign):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        return names

    assert "register_fx_node_ge_converter" in defined("__init__.py")
    assert "custom_op" in defined("ge/ge_custom.py")
    assert {"Int", "Float", "ListBool", "Str"} <= defined("ge/attr.py")
    custom = (folder / "ge" / "ge_custom.py").read_text(encoding="utf-8")
    assert "_torchair.get_registered_ir_def(op_type)" in custom
    assert all(f"    {name}: " in custom for name in ("inputs", "outputs", "attrs"))
    assert "_ge_converter" in (folder / "_ge_concrete_graph" / "fx2ge_converter.py").read_text(encoding="utf-8")
