"""The course's operator package, packed and copied away: definitions, tiling, numbers against float64, its own test."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gn_tutorial.compiler.build_request import TWIN_INCLUDE
from gn_tutorial.compiler.toolchain import find_compiler
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators.prototype import prototype
from gn_tutorial.operators.registry import kernels_root
from gn_tutorial.projects.definition import OpDefinition, snake_name
from gn_tutorial.projects.host_call import HostError
from gn_tutorial.projects.layout import read_layout
from gn_tutorial.projects.new_project import new_project
from gn_tutorial.projects.own_package import MARK, course_packages
from gn_tutorial.projects.packing import pack, packed_files, whole
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.prototype_file import read_prototypes
from gn_tutorial.projects.test_runner.find_tests import choose_test
from gn_tutorial.reference.group_norm import group_norm
from gn_tutorial.reference.group_norm_backward import group_norm_backward

(GROUP_NORM,) = course_packages()
OPERATORS = GROUP_NORM.operators
FORWARD, BACKWARD = (prototype(name)["op"] for name in OPERATORS)
# As in op.toml: half a unit in the last place of the result, besides the tolerance of float32.
RTOL = {"float32": 1e-5, "float16": 4.99e-4, "bfloat16": 3.92e-3}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Alone: nothing of the course is beside it."""
    return pack("group_norm", tmp_path_factory.mktemp("alone") / "package")


def dtype_of(name: str) -> Any:
    return ml_dtypes.bfloat16 if name == "bfloat16" else name


def bare(found: OpDefinition) -> OpDefinition:
    """Return the part of a definition that a prototype has; AutoContiguous is not in it."""
    inputs = tuple(dataclasses.replace(one, auto_contiguous=False) for one in found.inputs)
    assert all(one.auto_contiguous for one in found.inputs)
    chips = tuple(dataclasses.replace(one, settings={}, inputs=inputs, outputs=found.outputs) for one in found.chips)
    return dataclasses.replace(found, defined_at=(), functions=(), inputs=inputs, chips=chips)


def test_a_package_has_only_what_is_written_by_hand() -> None:
    """Everything else is made: a copy of a header that lay here would be edited one day, and not its source."""
    made = packed_files(GROUP_NORM)
    kept = {path.relative_to(GROUP_NORM.root).as_posix() for path in GROUP_NORM.root.rglob("*") if path.is_file()}
    kept = {name for name in kept if "__pycache__" not in name} - {MARK}
    names = [prototype(name)["op"] for name in OPERATORS]
    snakes = [snake_name(name) for name in names]
    by_hand = {f"{folder}/{snake}.cpp" for folder in ("op_host", "op_kernel") for snake in snakes}
    assert kept == by_hand | {"op_kernel/gn_tutorial_constant.h"} | {f"test/{snake}/gen_data.py" for snake in snakes}
    for name in kept:
        assert made[name] == (GROUP_NORM.root / name).read_text(), name
    for name in made.keys() - kept:
        header = kernels_root() / name.removeprefix("op_kernel/")
        assert not name.endswith(".h") or made[name] == header.read_text(), name


def test_a_packed_folder_reads_no_file_of_the_course(package: Path) -> None:
    """What a compiler reads for its sources: the folder, the twin in place of CANN, the compiler's own headers."""
    layout = read_layout(package)
    folders = [word for one in (*layout.include_dirs, TWIN_INCLUDE) for word in ("-I", str(one))]
    words = [*find_compiler().argv, "-x", "c++", "-std=c++20", "-M", *folders]
    for source in (*layout.hosts, *layout.kernels):
        host = ["-DGNT_OP_HOST"] if source in layout.hosts else []
        listed = subprocess.run([*words, *host, str(source)], capture_output=True, text=True, check=True).stdout
        read = [Path(word).resolve() for word in listed.replace("\\\n", " ").split()[1:]]
        assert layout.root.joinpath("op_kernel/common/common_dtype.h") in read or source in layout.hosts
        assert [one for one in read if one.is_relative_to(kernels_root())] == []


def test_a_package_is_run_from_its_own_folder(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `gnt project show kernels/projects/group_norm` does, in a clone and in an installed package (read-only)."""
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path / "cache"))
    layout = read_layout(GROUP_NORM.root)
    assert (layout.named, layout.root) == (GROUP_NORM.root, whole(GROUP_NORM.root))
    assert layout.root.is_relative_to(tmp_path / "cache")
    assert Project(GROUP_NORM.root, op=FORWARD).rows != []
    packed = read_layout(package)
    assert packed.named == packed.root == package, "a project that is whole stays where it is"
    for one in ("hosts", "kernels", "headers"):
        found, wanted = ([path.relative_to(this.root) for path in getattr(this, one)] for this in (layout, packed))
        assert found == wanted
    # A test is named by its folder beside the package's own files.
    test = choose_test(layout.root, [snake_name(FORWARD)], layout.place(GROUP_NORM.root / "test" / snake_name(FORWARD)))
    assert test.folder == layout.root / "test" / snake_name(FORWARD)
    # A file of the cache that somebody changed is written again.
    header = layout.root / "op_kernel" / "common" / "common_sync.h"
    header.write_text("// older\n")
    assert read_layout(GROUP_NORM.root).root == layout.root
    assert header.read_text() == (kernels_root() / "common" / "common_sync.h").read_text()


def test_an_edited_kernel_makes_another_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In another clone its own kernels are taken, whatever course is installed."""
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("common", "group_norm", "group_norm_backward"):
        shutil.copytree(kernels_root() / name, tmp_path / "kernels" / name)
    own = shutil.copytree(GROUP_NORM.root, tmp_path / "kernels" / "projects" / "group_norm")
    before = whole(Path(own))
    assert before == whole(GROUP_NORM.root)
    (tmp_path / "kernels" / "common" / "common_sync.h").write_text("// newer\n")
    after = whole(Path(own))
    assert after != before
    assert (after / "op_kernel" / "common" / "common_sync.h").read_text() == "// newer\n"
    # Copied away without its kernels, it is made of those of this course.
    alone = shutil.copytree(GROUP_NORM.root, tmp_path / "group_norm")
    assert whole(Path(alone)) == before


def test_what_is_no_package_is_not_packed(package: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for wrong in ("gelu", str(package)):
        with pytest.raises(ArgumentError, match="no package") as caught:
            pack(wrong, out)
        assert caught.value.hint.startswith("one of group_norm, or its folder")
    with pytest.raises(ArgumentError, match="there already"):
        pack("group_norm", tmp_path)
    with pytest.raises(ArgumentError, match=r"no layout '7\.x'"):
        pack("group_norm", out, layout="7.x")
    own = shutil.copytree(GROUP_NORM.root, tmp_path / "mine")
    for text, words in (("operators = []", "names no operators"), ("operators = [", "cannot read a package")):
        (Path(own) / MARK).write_text(text)
        with pytest.raises(RegistryError, match=words):
            whole(Path(own))
    assert not out.exists()


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
        # The twin's only remark is that unwanted outputs were not written.
        unwanted = {name for name, wanted in zip(("dx", "dgamma", "dbeta"), mask, strict=True) if not wanted}
        assert {(one.id, one.fields["argument"]) for one in result.diagnostics} == {
            ("gm-not-written", name) for name in unwanted
        }
        expected = group_norm_backward(dy, x, mean, rstd, gamma, num_groups=groups)
        for name, wanted in zip(("dx", "dgamma", "dbeta"), expected, strict=True):
            if name not in unwanted:
                # The terms of a sum have both signs, so its error depends on the largest of them.
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
    """The steps of main.cpp, done here: the operator passes, and a result with one wrong element does not."""
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
    root = pack(GROUP_NORM.root, tmp_path / "eight", layout="8.x")
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
