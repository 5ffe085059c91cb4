"""What a tiling function is given: room for its struct, values of inputs, a chip's local memory."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.errors import KernelFault
from gn_tutorial.projects.host_call import HostError

PROJECTS = Path(__file__).resolve().parents[1] / "programs" / "projects"
HOST, STRUCT = Path("op_host", "scale_shift.cpp"), Path("op_host", "scale_shift_tiling.h")


def edited(project: Path, *edits: tuple[Path, str, str]) -> Path:
    """The project, with one text in place of another in each of the files."""
    for file, old, new in edits:
        text = (project / file).read_text()
        assert text.count(old) == 1, old
        (project / file).write_text(text.replace(old, new))
    return project


@pytest.fixture
def scale(copy_of: Callable[[Path], Path]) -> Path:
    return copy_of(PROJECTS / "scale_shift")


def data(length: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(length).astype(np.float32) + 0.7


def test_a_registered_struct_has_room_however_large_it_is(scale: Path) -> None:
    """The usual 2048 bytes are no limit: a build writes the size of the struct into the kernel's description."""
    given = "uint32_t starts[700] = {5, 6}; tiling.set_starts(starts);"
    many = "TILING_DATA_FIELD_DEF(float, beta);\nTILING_DATA_FIELD_DEF_ARR(uint32_t, 700, starts);"
    folder = edited(
        scale,
        (STRUCT, "TILING_DATA_FIELD_DEF(float, beta);", many),
        (HOST, "  tiling.set_length(length);", f"  {given}\n  tiling.set_length(length);"),
    )
    x = data(77)
    project = gnt.project(folder)
    plan = project.tiling(x)
    assert len(plan.data) == 5 * 4 + 700 * 4 + 4  # the whole is rounded to 8 bytes
    assert plan["starts"][:3] == [5, 6, 0]
    np.testing.assert_allclose(project(x).y, 2.0 * x.astype(np.float64) + 0.5, atol=1e-6)


def test_a_struct_of_the_kernel_alone_has_room_too(tmp_path: Path) -> None:
    """CANN 9.x: a plain struct, which GetTilingData hands out."""
    folder = Path(shutil.copytree(PROJECTS / "row_bias", tmp_path / "row_bias"))
    header = next(folder.glob("op_kernel/*tiling*.h"))
    text = header.read_text()
    end = text.index("};", text.index("struct "))
    header.write_text(f"{text[:end]}  uint32_t spare[1000];\n{text[end:]}")
    x, bias = np.random.default_rng(1).standard_normal((5, 33)).astype(np.float32), data(33)
    project = gnt.project(folder)
    assert len(project.tiling(x, bias).data) > 4000
    np.testing.assert_allclose(project(x, bias).y, x.astype(np.float64) + bias, atol=1e-6)


def test_data_beyond_the_struct_is_still_an_error(scale: Path) -> None:
    folder = edited(scale, (HOST, "SetDataSize(tiling.GetDataSize())", "SetDataSize(4000)"))
    with pytest.raises(HostError, match=r"SetDataSize\(4000\) is beyond the 2048 bytes"):
        gnt.project(folder)(data(77))


def test_values_that_tiling_does_not_have_are_named(scale: Path) -> None:
    """GetData() of an input without ValueDepend is null: said with its line, not as a shape that is missing."""
    read = "const float* values = context->GetInputTensor(0)->GetData<float>();"
    folder = edited(
        scale,
        (HOST, "tiling.set_length(length);", f"{read}\n  tiling.set_length(length + (values[0] > 9000));"),
    )
    lines = (folder / HOST).read_text().splitlines()
    line = {word: next(n for n, one in enumerate(lines, 1) if word in one) for word in ("GetData<float>", "values[0]")}
    with pytest.raises(HostError, match="null pointer") as caught:
        gnt.project(folder).tiling(data(77))
    assert caught.value.where == f"{folder / HOST}:{line['values[0]']}"
    assert f"GetData() in line {line['GetData<float>']} returned null" in caught.value.hint
    assert "ValueDepend(REQUIRED)" in caught.value.hint


def test_values_that_tiling_has_are_read(scale: Path) -> None:
    read = "const float* values = context->GetInputTensor(0)->GetData<float>();"
    beta = "tiling.set_beta(*context->GetAttrs()->GetAttrPointer<float>(1));"
    name = 'this->Input("x")'
    folder = edited(
        scale,
        (HOST, beta, f"{read}\n  tiling.set_beta(values[1]);"),
        (HOST, name, f"{name}.ValueDepend(REQUIRED)"),
    )
    x = data(77)
    assert gnt.project(folder).tiling(x)["beta"] == x[1]


@pytest.mark.thorough
def test_the_kernel_has_the_local_memory_of_the_chip(scale: Path) -> None:
    """Ascend310B4 has 256 KiB: a tiling that divides them up must run there, and not with the 192 KiB of Ascend910B."""
    folder = edited(scale, (HOST, "room < 4096 ? room : 4096", "15 * 1024"))  # four buffers of 60 KiB
    x = data(40_000)
    there = gnt.project(folder, soc="310b4")(x)
    np.testing.assert_allclose(there.y, 2.0 * x.astype(np.float64) + 0.5, atol=1e-6)
    with pytest.raises(KernelFault, match="of the 196608 bytes of the Unified Buffer are left"):
        gnt.project(folder)(x)
