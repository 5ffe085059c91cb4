"""Operators with dynamic inputs and outputs: lists of tensors, which their kernels read with ListTensorDesc."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.abi.tensor_list import list_words, with_addresses
from gn_tutorial.cli.project_arguments import inputs_of
from gn_tutorial.errors import KernelFault
from gn_tutorial.projects.references import expected

LIST_SCALE = Path(__file__).parents[1] / "programs" / "projects" / "list_scale"


def arrays(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("isolated", [True, False])
def test_each_tensor_of_a_list_is_read_and_written(isolated: bool) -> None:
    x = arrays((3, 5), (8,), (2, 2, 2), (1000,))
    project = gnt.project(LIST_SCALE)
    result = project(x, factor=3.0, isolated=isolated)
    assert list(result.outputs) == ["y[0]", "y[1]", "y[2]", "y[3]"]
    for one, given in zip(result.outputs.values(), x, strict=True):
        np.testing.assert_array_equal(one, given * np.float32(3))
    assert not result.diagnostics
    assert project.tiling(x).blocks == 4


def test_a_tensor_of_a_list_has_its_own_end(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(LIST_SCALE, tmp_path / "copy"))
    kernel = folder / "op_kernel" / "list_scale.cpp"
    text = kernel.read_text(encoding="utf-8")
    kernel.write_text(text.replace("uint32_t length = 1;", "uint32_t length = 8;"), encoding="utf-8")
    with pytest.raises(KernelFault) as caught:
        gnt.project(folder)(arrays((16,), (16,)))
    assert "x[0]" in str(caught.value)


def test_a_reference_is_given_the_list() -> None:
    definition = gnt.project(LIST_SCALE).definition
    given = inputs_of(definition, ["x=float32[3,5]", "x=float32[70]"], seed=1)
    call = gnt.project(LIST_SCALE).call(**given, factor=0.5)
    first, second = expected(lambda x, factor: [one * factor for one in x], call)
    np.testing.assert_array_equal(first, given["x"][0].astype(np.float64) * 0.5)
    assert second.shape == (70,)


def test_the_words_of_a_list() -> None:
    words = list_words([(2, 3), ()], first=4)
    assert words.tolist() == [40, 2, 2, 3, 1 << 32, 4, 5]
    assert with_addresses(words, [0, 0, 0, 0, 4096, 8192]).tolist() == [40, 2, 2, 3, 1 << 32, 4096, 8192]
