"""The prototypes that CANN's msopgen reads: against the registry, and against what the tool's documentation asks."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.prototype import op_type, prototype, text
from gn_tutorial.operators.registry import load_registry

# Of the documentation of msopgen.
TYPES = {"float", "fp16", "bf16", "int8", "int16", "int32", "uint8", "uint16", "bool"}
ATTRIBUTES = {"int", "bool", "float", "string", "list_int", "list_float", "list_bool", "list_list_int"}
PARAMETERS = {"required", "optional", "dynamic"}


@pytest.mark.parametrize("name", load_registry())
def test_every_operator_has_a_prototype_that_the_tool_can_read(name: str) -> None:
    op, made = load_registry()[name], json.loads(json.dumps(prototype(name)))
    assert made["op"].isidentifier()
    assert made["op"][0].isupper()
    tensors = [*made["input_desc"], *made["output_desc"]]
    assert [one["name"] for one in tensors] == [one.name for one in op.arguments if one.role in ("in", "out")]
    columns = {len(one["type"]) for one in tensors} | {len(one["format"]) for one in tensors}
    assert columns == {max(len(kernel.dtypes) for kernel in op.kernels)}, "types and formats are columns"
    for one in tensors:
        assert set(one["type"]) <= TYPES
        assert set(one["format"]) == {"ND"}
        assert one["param_type"] in PARAMETERS
    for one in made.get("attr", []):
        assert one["type"] in ATTRIBUTES
        assert ("default_value" in one) == (one["param_type"] == "optional")


def test_group_norm_s_prototype() -> None:
    made = prototype("group_norm")
    assert made["op"] == "GnTutorialGroupNorm"
    x, gamma, beta = made["input_desc"]
    assert (x["param_type"], gamma["param_type"], beta["param_type"]) == ("required", "optional", "optional")
    assert x["type"] == ["float", "fp16", "bf16"]
    assert [one["type"] for one in made["output_desc"]] == [x["type"], ["float"] * 3, ["float"] * 3]
    assert made["attr"] == [
        {"name": "num_groups", "param_type": "required", "type": "int"},
        {"name": "eps", "param_type": "optional", "type": "float", "default_value": 1e-5},
    ]
    mask = prototype("group_norm_backward")["attr"][1]
    assert (mask["type"], mask["default_value"]) == ("list_bool", [True] * 3)
    (form,) = prototype("gelu")["attr"]
    assert (form["type"], form["default_value"]) == ("string", "none")


def test_names_differ_and_an_unknown_one_is_refused() -> None:
    types = [op_type(name) for name in load_registry()]
    assert len(set(types)) == len(types)
    with pytest.raises(ArgumentError, match="no operator 'group_nrom'"):
        prototype("group_nrom")


def test_command_prints_a_file_for_the_tool() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "gn_tutorial", "prototype", "group_norm"], capture_output=True, text=True
    )
    assert ran.stdout == text(["group_norm"])
    wrong = subprocess.run([sys.executable, "-m", "gn_tutorial", "prototype", "x"], capture_output=True, text=True)
    assert wrong.returncode == ArgumentError.exit_code
    assert "Traceback" not in wrong.stderr
