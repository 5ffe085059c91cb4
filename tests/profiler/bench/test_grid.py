"""The grids: what issue and sources say of group_norm's, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gn_tutorial.errors import RegistryError
from gn_tutorial.operators.registry import kernels_root, load_registry
from gn_tutorial.operators.spec import OpSpec
from gn_tutorial.profiler.bench.grid import load_grid
from gn_tutorial.timing.machine import load_machine

REGISTRY = load_registry()
GRID = load_grid(REGISTRY["group_norm"])


def of(kind: str) -> list:
    return [case for case in GRID.cases if case.kind == kind]


def test_the_public_measurements() -> None:
    assert [(case.shape, case.attributes["num_groups"], case.dtype, case.measured_us) for case in of("production")] == [
        ((8, 32, 64, 64), 8, "float16", 11.02),
        ((4, 64, 128, 128), 16, "float32", 27.30),
        ((16, 257, 32, 31), 1, "float16", 37.38),
        ((3, 64, 64, 64), 8, "bfloat16", 10.44),
        ((5, 48, 33, 65), 6, "bfloat16", 9.68),
        ((2, 60, 5, 7, 480), 4, "float32", 34.42),
    ]
    assert all(case.source for case in of("production"))
    assert all(case.measured_us is None for case in GRID.cases if case.kind != "production")


def test_each_kind_is_what_it_says() -> None:
    def spatial(case: object) -> int:
        return case.elements // case.shape[0] // case.shape[1]

    assert all(case.elements * 4 >= 16_000_000 and spatial(case) * 4 % 512 == 0 for case in of("large aligned"))
    for case in of("uneven"):
        assert spatial(case) * 4 % 32 or case.attributes["num_groups"] == 1
    assert any(case.attributes["num_groups"] == 1 for case in of("uneven"))
    small = [(case.shape[1] // case.attributes["num_groups"], spatial(case)) for case in of("small groups")]
    assert any(channels == 1 for channels, _ in small)
    assert any(size == 1 for _, size in small)
    assert any(case.shape[1] == case.attributes["num_groups"] == 65536 for case in of("small groups"))
    (large,) = of("one large group")
    assert large.elements == large.shape[1] * spatial(large) == 16 * 1024 * 1024


FENCED = [
    "group_norm", "group_norm_silu", "group_norm_nhwc", "group_norm_silu_nhwc", "group_norm_backward",
    "group_norm_backward_nhwc", "group_norm_silu_backward", "add_relu", "swiglu", "swiglu_backward", "linear_gelu",
    "linear_gelu_backward",
]  # fmt: skip


def test_the_targets() -> None:
    numbers = {target.check: target for target in GRID.targets if not target.kernel}
    assert (numbers["at most"].factor, numbers["at most"].plus_us, numbers["at most"].kinds) == (3, 3, ())
    measured = numbers["against measured"]
    assert (measured.factor, measured.times, measured.below_us, measured.of_shapes) == (0.93, 1, 0, 6)
    shares = {target.kinds: target.least for target in GRID.targets if target.check == "share of bound"}
    assert shares == {("large aligned",): 0.73, ("uneven",): 0.52}


@pytest.mark.parametrize("name", FENCED)
def test_a_kernel_that_gets_five_per_cent_slower_misses_a_target(name: str) -> None:
    grid = load_grid(REGISTRY[name])
    (fence,) = (target for target in grid.targets if target.check == "as it was")
    assert 1.0 < fence.factor < 1.05
    assert fence.kinds == ()
    assert fence.machine == load_machine("910B2").name
    assert all(case.was_us for case in grid.cases)


@pytest.mark.parametrize("op", REGISTRY.values(), ids=lambda op: op.name)
def test_every_operator_has_a_grid(op: OpSpec) -> None:
    grid = load_grid(op)
    assert grid.cases
    assert len({case.label(op) for case in grid.cases}) == len(grid.cases)


def test_an_operator_without_a_file_has_its_example() -> None:
    (case,) = load_grid(REGISTRY["copy"]).cases
    assert (case.shape, case.label(REGISTRY["copy"])) == ((4096,), "(4096) float32")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("scalar_elements", "scalar_element", "'scalar_element' is not a key of a default"),
        ("[default]", "[defaults]", "'defaults' is not a key of a bench"),
        ("num_groups = 8 }", "groups = 8 }", "no attribute groups"),
        ("measured_us = 11.02\n", "", "go together"),
        ('check = "at most"', 'check = "most"', r"'check' is 'most'[\s\S]*one of share of bound, at most"),
        ("plus_us = 3\n", "", "plus_us missing"),
        ("plus_us = 3", "plus_us = 3\ntimes = 2", "times missing or out of place"),
        ('kinds = ["uneven"]', 'kinds = ["odd"]', "no shape has the kind 'odd'"),
        ('over = "group_norm/scalar"', 'over = "group_norm/none"', "'group_norm/none' is not registered"),
        ('bound = "two reads"', 'bound = "three reads"', "'bound' is 'three reads'"),
        ("plus_us = 3", 'plus_us = 3\nbound = "two reads"', "bound missing or out of place"),
        ("shape = [8, 32, 64, 64]", "shape = [8, 0, 64, 64]", "'shape' is 0"),
        ("[[tune]]", "[[tune", "cannot read the grid"),
    ],
)
def test_a_mistake_is_named_with_its_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = tmp_path / "group_norm"
    shutil.copytree(kernels_root() / "group_norm", folder)
    path = folder / "bench.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(RegistryError, match=message) as caught:
        load_grid(load_registry(tmp_path)["group_norm"])
    assert caught.value.where.startswith(str(path))
