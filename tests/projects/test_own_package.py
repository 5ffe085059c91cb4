"""The course's operator package, copied away alone: definitions, tiling, numbers against float64, its own test."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import make_projects
import ml_dtypes
import numpy as np
import pytest

from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.prototype import prototype
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.host_call import HostError
from gn_tutorial.projects.new_project import new_project
from gn_tutorial.projects.own_package import OPERATORS, package_root
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.prototype_file import read_prototypes
from gn_tutorial.reference.group_norm import group_norm
from gn_tutorial.reference.group_norm_backward import group_norm_backward

FORWARD, BACKWARD = (prototype(name)["op"] for name in OPERATORS)
# As op.toml has it: half a unit in the last place of the result, besides what float32 is allowed.
RTOL = {"float32": 1e-5, "float16": 4.99e-4, "bfloat16": 3.92e-3}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Alone: nothing of the course is beside it."""
    return Path(shutil.copytree(package_root(), tmp_path_factory.mktemp("alone") / "package"))


def dtype_of(name: str) -> Any:
    return ml_dtypes.bfloat16 if name == "bfloat16" else name


def bare(found: OpDefinition) -> OpDefinition:
    """What a prototype says of it; that views are made contiguous before a kernel sees them is more."""
    inputs = tuple(dataclasses.replace(one, auto_contiguous=False) for one in found.inputs)
    assert all(one.auto_contiguous for one in found.inputs)
    chips = tuple(dataclasses.replace(one, settings={}, inputs=inputs, outputs=found.outputs) for one in found.chips)
    return dataclasses.replace(found, defined_at=(), functions=(), inputs=inputs, chips=chips)


def test_the_package_is_what_the_generator_makes(tmp_path: Path) -> None:
    assert make_projects.differences(make_projects.make(tmp_path), package_root()) == [], "./gnt lint projects --fix"


def test_a_difference_is_seen(tmp_path: Path) -> None:
    made = make_projects.make(tmp_path)
    (made / "op_kernel" / "common" / "common_sync.h").write_text("// older\n")
    (made / "op_host" / "more.h").touch()
    (made / "build.sh").unlink()
    found = make_projects.differences(made, package_root())
    assert found == ["build.sh", "op_host/more.h", "op_kernel/common/common_sync.h"]


@pytest.mark.parametrize("name", OPERATORS)
def test_definitions_are_those_of_the_prototypes(name: str, package: Path) -> None:
    found = Project(package, op=prototype(name)["op"]).definition
    assert bare(found) == read_prototypes(prototype(name), "ascend910b")[0]
    assert found.functions == ("tiling", "infer_shape", "infer_data_type")


# Tails, one sample and several, each tiling key, more groups than cores; gamma and beta may be absent, each.
FORWARD_CALLS = [
    ((3, 12, 7, 5), 3, True, True, 100),
    ((2, 6, 70, 61), 2, False, True, 200),
    ((2, 600), 600, True, False, 300),
]


@pytest.mark.parametrize(
    "dtype",
    ["float16", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("float32", "bfloat16"))],
)
def test_forward(dtype: str, package: Path) -> None:
    operator, rng = Project(package, op=FORWARD), np.random.default_rng(11)
    for shape, groups, with_gamma, with_beta, key in FORWARD_CALLS:
        x = rng.normal(0.7, 1.3, shape).astype(dtype_of(dtype))
        gamma = rng.normal(1.1, 0.4, shape[1]).astype(dtype_of(dtype)) if with_gamma else None
        beta = rng.normal(0.3, 0.4, shape[1]).astype(dtype_of(dtype)) if with_beta else None
        assert operator.tiling(x, gamma, beta, num_groups=groups, eps=1e-3).key == key
        result = operator(x, gamma, beta, num_groups=groups, eps=1e-3)
        assert list(result.diagnostics) == []
        expected = group_norm(x, gamma, beta, num_groups=groups, eps=1e-3)
        for name, wanted in zip(("y", "mean", "rstd"), expected, strict=True):
            kind = dtype if name == "y" else "float32"
            found = result.outputs[name]
            assert found.dtype.name == kind
            np.testing.assert_allclose(found.astype(np.float64), wanted, RTOL[kind], 1e-5, err_msg=f"{name} of {shape}")


BACKWARD_CALLS = [
    ((3, 12, 7, 5), 3, True, (True, True, True), 100),
    ((2, 6, 70, 61), 2, False, (True, False, True), 200),
]


@pytest.mark.parametrize(
    "dtype",
    ["bfloat16", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("float32", "float16"))],
)
def test_backward(dtype: str, package: Path) -> None:
    operator, rng = Project(package, op=BACKWARD), np.random.default_rng(12)
    for shape, groups, with_gamma, mask, key in BACKWARD_CALLS:
        x, dy = (rng.normal(centre, 1.3, shape).astype(dtype_of(dtype)) for centre in (0.7, -0.2))
        gamma = rng.normal(1.1, 0.4, shape[1]).astype(dtype_of(dtype)) if with_gamma else None
        _, mean, rstd = (np.asarray(one, np.float32) for one in group_norm(x, num_groups=groups))
        assert operator.tiling(dy, x, mean, rstd, gamma, num_groups=groups, output_mask=mask).key == key
        result = operator(dy, x, mean, rstd, gamma, num_groups=groups, output_mask=mask)
        # What nobody wants nobody writes: that is all that the twin remarks.
        unwanted = {name for name, wanted in zip(("dx", "dgamma", "dbeta"), mask, strict=True) if not wanted}
        assert {(one.id, one.fields["argument"]) for one in result.diagnostics} == {
            ("gm-not-written", name) for name in unwanted
        }
        expected = group_norm_backward(dy, x, mean, rstd, gamma, num_groups=groups)
        for name, wanted in zip(("dx", "dgamma", "dbeta"), expected, strict=True):
            if name not in unwanted:
                # Sums of terms of both signs: what is left is as exact as the largest of them.
                atol = 1e-5 + 2e-6 * float(np.abs(dy.astype(np.float64)).sum())
                found = result.outputs[name].astype(np.float64)
                np.testing.assert_allclose(found, wanted, RTOL[dtype], atol if name != "dx" else 1e-5, err_msg=name)


def test_an_empty_batch_and_wrong_calls(package: Path) -> None:
    forward, backward = Project(package, op=FORWARD), Project(package, op=BACKWARD)
    half = np.float16
    nothing = forward(np.zeros((0, 6, 4), half), num_groups=2)
    assert [nothing.outputs[name].shape for name in ("y", "mean", "rstd")] == [(0, 6, 4), (0, 2), (0, 2)]
    x = np.ones((2, 6, 5), half)
    with pytest.raises(HostError) as caught:
        forward(x, num_groups=4)
    assert "divisible by num_groups" in str(caught.value)
    with pytest.raises(HostError) as caught:
        forward(x, np.ones(5, half), num_groups=2)
    assert "one axis, of C elements" in str(caught.value)
    with pytest.raises(HostError, match="InferShape of GnTutorialGroupNorm"):
        forward(np.ones(6, half), num_groups=2)
    with pytest.raises(HostError) as caught:
        backward(x, x, np.ones((2, 3), np.float32), np.ones((2, 2), np.float32), num_groups=2)
    assert "mean and rstd need the shape" in str(caught.value)


@pytest.mark.parametrize(("op", "number"), [(FORWARD, 1), (BACKWARD, 2)])
def test_its_own_test_s_cases(op: str, number: int, package: Path) -> None:
    """What main.cpp does with the files, done here: the operator passes, and one wrong element does not."""
    operator = Project(package, op=op)
    folder = package / "test" / operator.definition.snake_name

    def ran(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            [sys.executable, script, *arguments], cwd=folder, capture_output=True, text=True, env=environment
        )

    assert int(ran("gen_data.py", "--count").stdout) > number
    assert ran("gen_data.py", str(number)).returncode == 0
    arrays, attributes = {}, {}
    dtypes = {"0": "float32", "1": "float16", "27": "bfloat16"}
    for line in (folder / "case.txt").read_text().splitlines():
        kind, name, *rest = line.split()
        if kind == "array":
            arrays[name] = (dtype_of(dtypes[rest[0]]), tuple(map(int, rest[2:])))
        else:
            attributes[name] = [bool(int(one)) for one in rest] if name == "output_mask" else float(rest[0])
    attributes["num_groups"] = int(attributes["num_groups"])
    inputs = {
        one.name: np.fromfile(folder / f"{one.name}.bin", arrays[one.name][0]).reshape(arrays[one.name][1])
        for one in operator.definition.inputs
        if one.name in arrays
    }
    for name, array in operator(**inputs, **attributes).outputs.items():
        array.tofile(folder / f"{name}_out.bin")
    assert ran("verify_result.py").stdout.startswith("test pass: ")
    wrong = operator.definition.outputs[0].name
    found = np.fromfile(folder / f"{wrong}_out.bin", np.uint16)
    found[7] ^= 0x0100
    found.tofile(folder / f"{wrong}_out.bin")
    failed = ran("verify_result.py")
    assert failed.returncode == 1
    assert f"{wrong}[0, 0, " in failed.stdout


@pytest.mark.thorough
def test_the_layout_of_8_x_tiles_as_that_of_9_x(package: Path, tmp_path: Path) -> None:
    """Its macro struct has the fields of the plain one, in order: the same bytes under the same names."""
    root = new_project([prototype(name) for name in OPERATORS], tmp_path / "eight", layout="8.x", filled=True)
    assert not list((root / "op_kernel").glob("*/")), "its build copies no folders of op_kernel"
    x = np.ones((2, 6, 70, 61), np.float16)
    old, new = (Project(folder, op=FORWARD).tiling(x, num_groups=2) for folder in (root, package))
    assert (old.struct_name, new.struct_name) == (f"{FORWARD}TilingData", "GroupNormTilingData")
    assert old.fields == new.fields
    assert (old.data, old.key, old.blocks, old.workspace) == (new.data, new.key, new.blocks, new.workspace)
    assert old.notes == new.notes == ()


@pytest.mark.thorough
def test_the_kernels_of_8_x_give_the_same_bits(package: Path, tmp_path: Path) -> None:
    root = new_project([prototype(name) for name in OPERATORS], tmp_path / "eight", layout="8.x", filled=True)
    x = np.random.default_rng(13).normal(0.7, 1.3, (3, 12, 7, 5)).astype(np.float16)
    old, new = (Project(folder, op=FORWARD)(x, num_groups=3) for folder in (root, package))
    _, mean, rstd = old.outputs.values()
    call = {"mean": mean, "rstd": rstd, "num_groups": 3}
    old_back, new_back = (Project(folder, op=BACKWARD)(x[::-1].copy(), x, **call) for folder in (root, package))
    for one, other in ((old, new), (old_back, new_back)):
        assert list(one.diagnostics) == []
        assert {name: array.tobytes() for name, array in one.outputs.items()} == {
            name: array.tobytes() for name, array in other.outputs.items()
        }


def test_other_operators_are_not_filled_in(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="GnTutorialGelu cannot be filled in"):
        new_project(prototype("gelu"), tmp_path / "made", filled=True)
    other = prototype("group_norm")
    other["attr"] = other["attr"][:1]
    with pytest.raises(ArgumentError, match="GnTutorialGroupNorm cannot be filled in"):
        new_project(other, tmp_path / "made", filled=True)
    assert list(tmp_path.iterdir()) == []
