"""A project runs on the chip that is named, else on that of its AddConfig; a note says if the chip's rules differ."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from planted_projects import HOST, KERNEL, PROJECTS

import gn_tutorial as gnt
from gn_tutorial.errors import KernelFault

CONFIG = 'AddConfig("ascend910b")'
Copied = Callable[..., Path]
X = np.random.default_rng(8).standard_normal((64, 1001)).astype(np.float32)


@pytest.fixture
def copied(copy_of: Callable[[Path], Path]) -> Copied:
    """A copy of scale_shift with these texts in place of others: file, old, new."""

    def make(*edits: tuple[str, str, str]) -> Path:
        folder = copy_of(PROJECTS / "scale_shift")
        for file, old, new in edits:
            text = (folder / file).read_text()
            assert text.count(old) == 1, old
            (folder / file).write_text(text.replace(old, new))
        return folder

    return make


def also(*values: object) -> ParameterSet:
    """The same with other words, for --all: compiling the host files takes the time."""
    return pytest.param(*values, marks=pytest.mark.thorough)


@pytest.mark.parametrize(
    ("configs", "chip", "blocks", "rules"),
    [
        ('AddConfig("ascend310b")', "Ascend310B4", 1, ["other-chip"]),
        ('AddConfig("ascend310p").AddConfig("ascend910b")', "Ascend910B2", 48, []),
        also('AddConfig("ascend310p").AddConfig("ascend310b")', "Ascend310P3", 8, ["other-chip"]),
        also('AddConfig("ascend910")', "Ascend910A", 32, ["other-chip"]),
        ('AddConfig("kirinx90")', "Ascend910B2", 48, ["chip-not-configured"]),
    ],
)
def test_the_chip_that_the_definition_names(
    copied: Copied, configs: str, chip: str, blocks: int, rules: list[str]
) -> None:
    project = gnt.project(copied((HOST, f"this->AICore().{CONFIG}", f"this->AICore().{configs}")))
    plan = project.tiling(X)
    assert (project.soc.name, plan.soc, plan.blocks) == (chip, chip, blocks)
    assert [note.rule for note in plan.notes] == rules


@pytest.mark.thorough
def test_what_the_platform_answers(copied: Copied) -> None:
    """Of Ascend910B's memories the toolkit keeps 256 bytes; a struct of macros begins with zeros."""
    folder = copied(
        (HOST, "tiling.set_length(length);", "uint64_t l1 = 0; platform.GetCoreMemSize(CoreMemType::L1, l1);"),
        (
            HOST,
            "tiling.set_blockLength(unitsPerBlock * perUnit);",
            "tiling.set_length(l1); tiling.set_blockLength(cores);",
        ),
        (HOST, "tiling.set_tileLength(room < 4096 ? room : 4096);", "tiling.set_tileLength(ubBytes); (void)room;"),
        (HOST, "tiling.set_beta(*context->GetAttrs()->GetAttrPointer<float>(1));", ""),
        (
            HOST,
            "  ScaleShiftTilingData tiling;",
            "  using platform_ascendc::CoreMemType;\n  ScaleShiftTilingData tiling;",
        ),
    )
    cores = {"910B1": 48, "910B2": 48, "910B3": 40, "910B4": 40}
    for chip, many in cores.items():
        plan = gnt.project(folder, soc=chip).tiling(X)
        assert (plan["blockLength"], plan["tileLength"], plan["length"]) == (many, 196352, 524032)
        assert plan["beta"] == 0
        assert [note.rule for note in plan.notes] == ["field-never-set"]


def test_a_chip_that_is_named_goes_before_it(copied: Copied) -> None:
    folder = copied((HOST, CONFIG, 'AddConfig("ascend310b")'))
    plan = gnt.project(folder, soc="910b4").tiling(X)
    assert (plan.soc, plan.blocks) == ("Ascend910B4", 40)
    assert [note.rule for note in plan.notes] == ["chip-not-configured"]


@pytest.mark.thorough
def test_compare_of_any_count_is_right_on_a_310b(copied: Copied) -> None:
    """Its instructions have a mask; those of Ascend910B leave the rest out, which is an error there."""
    compute = "Muls(y, x, static_cast<DTYPE_X>(alpha), now);"
    masked = (
        "LocalTensor<uint8_t> bits = bitQueue.AllocTensor<uint8_t>();"
        " CompareScalar(bits, x, static_cast<DTYPE_X>(0), CMPMODE::GT, now);"
        " Select(y, bits, x, static_cast<DTYPE_X>(-1), SELMODE::VSEL_TENSOR_SCALAR_MODE, now);"
        f" bitQueue.FreeTensor(bits); {compute.replace('x,', 'y,', 1)}"
    )
    edits = (
        (KERNEL, compute, masked),
        (KERNEL, "TPipe pipe;", "TPipe pipe; TQue<QuePosition::VECOUT, 1> bitQueue;"),
        (KERNEL, "pipe.InitBuffer(inQueue,", "pipe.InitBuffer(bitQueue, 1, 8192); pipe.InitBuffer(inQueue,"),
    )
    expected = 2.0 * np.where(X > 0, X, np.float32(-1)).astype(np.float64) + 0.5
    there = gnt.project(copied(*edits, (HOST, CONFIG, 'AddConfig("ascend310b")')))
    np.testing.assert_allclose(there(X).y, expected, atol=1e-6)
    assert "but for Compare of a count" in there.tiling(X).notes[0].what
    with pytest.raises(KernelFault, match="not a whole number of 256-byte repeats"):
        gnt.project(copied(*edits))(X)
