"""New projects of a prototype: both layouts compile and say what the prototype says; the gaps say what is missing."""

from __future__ import annotations

import dataclasses
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators.prototype import prototype
from gn_tutorial.operators.registry import load_registry
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.host_call import HostError
from gn_tutorial.projects.new_project import LAYOUTS, new_project
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.prototype_file import read_prototypes

TYPES = ["fp16", "float32", "bf16"]
# Every kind of parameter and of attribute; names and numbers that differ, so that none stands for another.
PAIR: dict[str, Any] = {
    "op": "PairTopK",
    "language": "cpp",
    "input_desc": [
        {"name": "x", "param_type": "required", "format": ["ND"], "type": TYPES},
        {"name": "bias", "param_type": "optional", "format": ["ND", "NCHW", "ND"], "type": ["float"] * 3},
    ],
    "output_desc": [
        {"name": "values", "param_type": "required", "format": ["ND"], "type": TYPES},
        {"name": "places", "param_type": "required", "format": ["ND"], "type": ["int32"] * 3},
    ],
    "attr": [
        {"name": "k", "param_type": "required", "type": "int"},
        {"name": "axis", "param_type": "optional", "type": "int", "default_value": -1},
        {"name": "scale", "param_type": "optional", "type": "float", "default_value": "0.125"},
        {"name": "largest", "param_type": "optional", "type": "bool", "default_value": True},
        {"name": "mode", "param_type": "optional", "type": "string", "default_value": 'a "b"'},
        {"name": "keep", "param_type": "optional", "type": "list_bool", "default_value": [True, False]},
        {"name": "weights", "param_type": "optional", "type": "list_float", "default_value": [0.5, 2]},
        {"name": "steps", "param_type": "optional", "type": "list_int", "default_value": [3, -4]},
    ],
}


@pytest.fixture(scope="module", params=LAYOUTS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("new")
    (folder / "pair.json").write_text(json.dumps([PAIR]))
    return request.param, new_project(folder / "pair.json", folder / "PairTopK", layout=request.param)


def same(found: OpDefinition) -> OpDefinition:
    """Return it without the facts that a prototype lacks: place, functions, CANN 8's formats for dynamic shapes."""
    plain = {"unknown_shape_formats": ()}
    inputs, outputs = (tuple(dataclasses.replace(one, **plain) for one in of) for of in (found.inputs, found.outputs))
    chips = tuple(dataclasses.replace(one, settings={}, inputs=inputs, outputs=outputs) for one in found.chips)
    return dataclasses.replace(found, defined_at=(), functions=(), inputs=inputs, outputs=outputs, chips=chips)


def test_a_new_project_says_what_the_prototype_says(made: tuple[str, Path]) -> None:
    found = Project(made[1]).definition
    assert same(found) == read_prototypes(PAIR, "ascend910b")[0]
    assert found.functions == ("tiling", "infer_shape", "infer_data_type")
    assert found.columns("ascend910b").column_of({"x": "bfloat16"}).inputs[1].dtype == "DT_FLOAT"


def test_its_gaps_are_marked_and_fail_by_name(made: tuple[str, Path]) -> None:
    layout, root = made
    marked = {path.name for path in root.rglob("*.*") if path.suffix != ".md" and "YOUR TURN" in path.read_text()}
    assert marked == {"pair_top_k.cpp", "pair_top_k_tiling.h", "gen_data.py"}
    operator = Project(root)
    x = np.ones((3, 5), np.float32)
    plan = operator.tiling(x, k=2)
    assert plan.outputs == (("values", "float32", (3, 5)), ("places", "int32", (3, 5)))
    assert {note.rule for note in plan.notes} == {"block-dim-unset", "workspace-unset"}
    with pytest.raises(HostError, match="never calls SetBlockDim"):
        operator(x, k=2)
    assert operator.kernel(operator.call(x, k=2), plan).build().library.is_file(), f"the kernel of {layout} compiles"


def test_its_test_program_fails_where_nothing_is_expected_yet(made: tuple[str, Path]) -> None:
    layout, root = made
    test = root / ("test" if layout == "9.x" else "AclNNInvocation")
    ran = subprocess.run([sys.executable, "gen_data.py"], cwd=test, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr.strip()) == (1, "YOUR TURN: golden() in gen_data.py says what PairTopK computes")
    text = (test / "main.cpp").read_text()
    assert "aclnnPairTopKGetWorkspaceSize(x.get(), bias.get(), k, axis, scale, largest, modeText.data()" in text
    assert os.stat(test / "run.sh").st_mode & stat.S_IXUSR


def test_the_parts_that_differ_between_layouts(made: tuple[str, Path]) -> None:
    layout, root = made
    files = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    host, kernel = ((root / folder / "pair_top_k.cpp").read_text() for folder in ("op_host", "op_kernel"))
    if layout == "9.x":
        assert {"CMakeLists.txt", "op_host/CMakeLists.txt", "op_kernel/pair_top_k_tiling.h"} <= files
        assert "find_package(ASC REQUIRED)" in (root / "CMakeLists.txt").read_text()
        assert "REGISTER_TILING_DEFAULT(PairTopKTilingData)" in kernel
        assert "UnknownShapeFormat" not in host
    else:
        assert {"CMakePresets.json", "op_host/pair_top_k_tiling.h"} <= files
        presets = json.loads((root / "CMakePresets.json").read_text())["configurePresets"][0]["cacheVariables"]
        assert presets["ASCEND_COMPUTE_UNIT"]["value"] == "ascend910b"
        assert 'pair_top_k_tiling.h"' not in kernel, "the build of 8.x hands the struct to the kernel"
        assert "UnknownShapeFormat" in host
    for script in root.rglob("*.sh"):
        assert subprocess.run(["bash", "-n", script]).returncode == 0, script


def test_every_registered_operator_has_a_project_and_several_share_one(tmp_path: Path) -> None:
    root = new_project([prototype(name) for name in load_registry()], tmp_path / "all", soc="Ascend310B4")
    found = Project(root, op="GnTutorialGroupNormSilu")
    assert set(found.layout.op_types()) == {prototype(name)["op"] for name in load_registry()}
    assert 'AddConfig("ascend310b")' in (root / "op_host" / "gn_tutorial_gelu.cpp").read_text()
    assert (root / "test" / "gn_tutorial_gelu" / "main.cpp").is_file()


def test_parameters_of_other_kinds(tmp_path: Path) -> None:
    """In place and dynamic ones, and an attribute that no aclnn function takes: then there is no test."""
    one = {"format": ["ND"], "type": ["float"]}
    op = {"op": "AddInto", "input_desc": [{"name": "xs", "param_type": "dynamic", **one}, {"name": "acc", **one}]}
    root = new_project(op | {"output_desc": [{"name": "acc", **one}]}, tmp_path / "one")
    text = (root / "test" / "main.cpp").read_text()
    assert "aclnnAddIntoGetWorkspaceSize(xs, acc.get(), &size, &executor)" in text
    assert "acc.Write();" in text
    kernel = (root / "op_kernel" / "add_into.cpp").read_text()
    parameters = "void add_into(GM_ADDR xs, GM_ADDR acc, GM_ADDR acc_ref, GM_ADDR workspace, GM_ADDR tiling)"
    assert parameters in " ".join(kernel.split())
    lists = {"output_desc": [{"name": "y", **one}], "attr": [{"name": "axes", "type": "list_list_int"}]}
    root = new_project({"op": "Grid"} | lists, tmp_path / "two")
    assert not (root / "test").exists()
    assert "no aclnn function takes a list of lists" in (root / "README.md").read_text()


def changed(**changes: Any) -> dict[str, Any]:
    return {**PAIR, **changes}


def parameter(**changes: Any) -> list[dict[str, Any]]:
    return [{"name": "x", "param_type": "required", "format": ["ND"], "type": ["float"]} | changes]


REFUSED = [
    (changed(op="pairTopK"), "begins with a capital"),
    (changed(op="Pair-TopK"), "letters, digits and _"),
    ({key: value for key, value in PAIR.items() if key != "op"}, "'op' is missing"),
    (changed(output_desc=[]), "it has no output"),
    (changed(inputs=[]), "no field 'inputs'"),
    (changed(language="py"), "its language is 'py'"),
    (changed(output_desc=parameter(type=["float63"])), "the type is 'float63'"),
    (changed(output_desc=parameter(type=["double"])), "the type is 'double'"),
    (changed(output_desc=parameter(format=["NDD"])), "the format is 'NDD'"),
    (changed(output_desc=parameter(type=["float", "fp16"], format=["ND", "ND", "ND"])), "2 types and 3 formats"),
    (changed(output_desc=parameter(type=["float"])), "different numbers of types: x 3, bias 3, x 1"),
    (changed(output_desc=parameter(param_type="maybe")), "the param_type is 'maybe'"),
    (changed(output_desc=parameter(name="class") * 1, input_desc=[]), "'class' cannot be a name"),
    (changed(output_desc=parameter(name="tiling"), input_desc=[]), "'tiling' cannot be a name"),
    (changed(input_desc=parameter() * 2), "two parameters are named 'x'"),
    (changed(attr=[{"name": "k", "type": "integer"}]), "the type is 'integer'"),
    (changed(attr=[{"name": "k", "type": "int", "default_value": 1.5}]), "default_value is 1.5"),
    (changed(attr=[{"name": "k", "type": "int", "default_value": True}]), "default_value is True"),
    (changed(attr=[{"name": "k", "type": "list_int", "default_value": 3}]), "a list_int is a list"),
    (changed(attr=[{"name": "k", "type": "int", "param_type": "optional"}]), "has no default_value"),
    ([PAIR, PAIR], "two operators named 'PairTopK'"),
    ([changed(op="MatMul"), changed(op="Mat_Mul")], "two operators with files named"),
    ([], "a prototype is one operator, or a list"),
    ([3], "3 is no operator"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_wrong_prototype_is_refused_and_leaves_nothing(given: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(RegistryError) as caught:
        new_project(given, tmp_path / "made")
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_be_read_and_folders_that_are_there(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text('[\n {"op": "A",\n  "output_desc": [,]}\n]\n')
    with pytest.raises(RegistryError) as caught:
        new_project(wrong, tmp_path / "made")
    assert (caught.value.where, caught.value.hint) == (f"{wrong}:3", '"output_desc": [,]}')
    with pytest.raises(ArgumentError, match="No such file"):
        new_project(tmp_path / "none.json", tmp_path / "made")
    (tmp_path / "there").mkdir()
    with pytest.raises(ArgumentError, match="is there already"):
        new_project(PAIR, tmp_path / "there")
    with pytest.raises(ArgumentError, match=r"no layout '7\.x'"):
        new_project(PAIR, tmp_path / "made", layout="7.x")
    with pytest.raises(ArgumentError, match="no chip '910c9'"):
        new_project(PAIR, tmp_path / "made", soc="910c9")
    assert not (tmp_path / "made").exists()
