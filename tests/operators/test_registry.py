"""The registry: what is read from op.toml, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from gn_tutorial import reference, toml_file
from gn_tutorial.cpp.entries import find_entries
from gn_tutorial.errors import RegistryError
from gn_tutorial.operators.registry import all_kernels, find_kernel, kernels_root, load_registry
from gn_tutorial.operators.spec import KernelSpec, OpSpec

REGISTRY = load_registry()
KERNELS = [pytest.param(op, rung, id=rung.id) for op, rung in all_kernels(REGISTRY)]

GOOD = """
name = "scale"
title = "Scale"
summary = "y = factor * x"
order = 1
reference = "copy"
direction = "forward"
[attributes]
factor = { symbol = "f", type = "float32", default = 2.0 }
[[arguments]]
name = "x"
role = "in"
shape = ["N", "S..."]
[[arguments]]
name = "y"
role = "out"
like = "x"
[[arguments]]
name = "n"
role = "value"
symbol = "S"
[[kernels]]
id = "plain"
title = "plain"
file = "scale.cpp"
entry = "scale"
step = 1
dtypes = ["float32"]
tolerance = { rtol = 1e-6, atol = 0, reason = "one rounding" }
[example]
shape = [4, 8]
"""


def read(folder: Path, text: str) -> OpSpec:
    (folder / "scale").mkdir(parents=True, exist_ok=True)
    (folder / "scale" / "op.toml").write_text(text)
    return load_registry(folder)["scale"]


GROUP_NORM = [
    f"group_norm/{step}"
    for step in ("scalar", "tiled", "double_buffered", "vectorised", "resident", "small", "split", "any")
]
BACKWARD = [f"group_norm_backward/{step}" for step in ("scalar", "vectorised", "two_stages", "atomic", "any")]


OTHERS = ["group_norm_silu/fused", "group_norm_nhwc/rows", "group_norm_silu_nhwc/rows"]
BACKWARD_LAST = ["group_norm_backward_nhwc/rows", "group_norm_silu_backward/fused"]
#: The operators besides GroupNorm, fusions and what they replace; each with one kernel.
CASES = {
    "gelu": "gelu/queue",
    "gelu_backward": "gelu_backward/queue",
    "linear": "linear/lanes",
    "linear_backward": "linear_backward/rows",
    "rms_norm": "rms_norm/row",
    "rms_norm_backward": "rms_norm_backward/chunks",
    "silu_backward": "silu_backward/map",
    "elementwise_add": "elementwise_add/map",
    "elementwise_mul": "elementwise_mul/map",
    "elementwise_relu": "elementwise_relu/map",
    "add_relu": "add_relu/chain",
    "add_relu_backward": "add_relu_backward/map",
    "swiglu": "swiglu/chain",
    "swiglu_backward": "swiglu_backward/map",
    "add_rms_norm": "add_rms_norm/row",
    "add_rms_norm_backward": "add_rms_norm_backward/chunks",
    "linear_gelu": "linear_gelu/epilogue",
    "linear_gelu_backward": "linear_gelu_backward/slope",
}


def test_registry_holds_the_course_in_order() -> None:
    operators = (
        "copy add silu group_norm group_norm_silu group_norm_nhwc group_norm_silu_nhwc group_norm_backward"
        " group_norm_backward_nhwc group_norm_silu_backward strided_copy widen narrow"
    )
    assert list(REGISTRY) == [*operators.split(), *CASES]
    warm_up = ["copy/queue", "add/queue", "silu/queue"]
    helpers = ["strided_copy/rows", "widen/queue", "narrow/half", "narrow/bfloat16"]
    ids = [*warm_up, *GROUP_NORM, *OTHERS, *BACKWARD, *BACKWARD_LAST, *helpers, *CASES.values()]
    assert [rung.id for _, rung in all_kernels(REGISTRY)] == ids


@pytest.mark.parametrize(("op", "rung"), KERNELS)
def test_registered_kernel_exists_and_has_the_registered_parameters(op: OpSpec, rung: KernelSpec) -> None:
    entries = {entry.name: entry for entry in find_entries(rung.file.read_text(encoding="utf-8"))}
    assert [param.name for param in entries[rung.entry].params] == [argument.name for argument in op.arguments]


@pytest.mark.parametrize(("op", "rung"), KERNELS)
def test_registered_kernel_has_a_reference_a_reason_and_a_tiling_header(op: OpSpec, rung: KernelSpec) -> None:
    assert callable(getattr(reference, op.reference))
    assert len(rung.tolerance.reason.split()) > 3
    assert op.tiling is None or op.tiling.header.is_file()


def test_every_kernel_source_is_registered() -> None:
    registered = {rung.file for _, rung in all_kernels(REGISTRY)}
    folders = {op.folder for op in REGISTRY.values()}
    sources = {path for folder in folders for path in folder.glob("*.cpp")}
    assert sources == registered


def test_packaged_kernels_win_over_a_folder_beside_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # site-packages/kernels may belong to another distribution.
    monkeypatch.setattr(toml_file, "PACKAGE", tmp_path / "gn_tutorial")
    with pytest.raises(RegistryError, match="folder kernels is missing"):
        kernels_root()
    read(tmp_path / "kernels", GOOD)
    assert kernels_root() == tmp_path / "kernels"
    read(tmp_path / "gn_tutorial" / "_kernels", GOOD)
    assert kernels_root() == tmp_path / "gn_tutorial" / "_kernels"


def test_op_is_read_whole(tmp_path: Path) -> None:
    op = read(tmp_path, GOOD)
    assert [a.name for a in op.inputs] == ["x"]
    assert [a.name for a in op.outputs] == ["y"]
    assert op.arguments[0].shape == ("N", "S...")
    assert op.attributes[0].default == 2.0
    assert op.kernels[0].file == tmp_path / "scale" / "scale.cpp"
    assert op.kernels[0].tolerance.rtol == 1e-6
    assert op.kernels[0].tolerance.of("float16") is op.kernels[0].tolerance


def second(folder: Path, text: str) -> OpSpec:
    """An operator of the name ``root`` beside the one of ``GOOD``."""
    read(folder, GOOD)
    (folder / "scale" / "root.op.toml").write_text(text)
    return load_registry(folder)["root"]


def test_a_folder_may_hold_a_second_operator_that_extends_the_first(tmp_path: Path) -> None:
    own = GOOD[GOOD.index("[[kernels]]") : GOOD.index("[example]")].replace("scale.cpp", "root.cpp")
    op = second(tmp_path, f'name = "root"\nextends = "op.toml"\norder = 2\nreference = "add"\n{own}')
    first = load_registry(tmp_path)["scale"]
    assert (op.arguments, op.attributes, op.example) == (first.arguments, first.attributes, first.example)
    assert (op.order, op.reference, op.kernels[0].id) == (2, "add", "root/plain")
    assert op.kernels[0].file == tmp_path / "scale" / "root.cpp"
    assert (op.folder, op.file.name) == (first.folder, "root.op.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "rot"\nextends = "op.toml"', "the file is 'root'"),
        ('name = "root"\nextends = "other.toml"', "'extends' is 'other.toml'"),
        ('name = "root"', "'title' is missing"),
    ],
)
def test_a_mistake_of_a_second_operator_is_named_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RegistryError) as caught:
        second(tmp_path, text)
    assert message in caught.value.what
    assert "root.op.toml" in caught.value.where


def test_a_narrow_dtype_may_have_a_tolerance_of_its_own(tmp_path: Path) -> None:
    own = 'reason = "one rounding", float16 = { rtol = 5e-4, atol = 0, reason = "of a half" }'
    tolerance = read(tmp_path, GOOD.replace('reason = "one rounding"', own)).kernels[0].tolerance
    assert tolerance.of("float16").rtol == 5e-4
    assert tolerance.of("float32").rtol == tolerance.of("bfloat16").rtol == 1e-6
    with pytest.raises(RegistryError, match="'reason' is missing"):
        read(tmp_path, GOOD.replace('reason = "one rounding"', own.replace(', reason = "of a half"', "")))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('role = "out"', 'role = "output"', "'role' is 'output'"),
        ('role = "out"', 'rol = "out"', "'rol' is not a key of an argument"),
        ('role = "out"', "", "'role' is missing"),
        ("step = 1", "step = 1\nstpe = 2", "'stpe' is not a key"),
        ("order = 1", 'order = 1\nfile = "scale.cpp"', "'file' is not a key"),
        ("default = 2.0", 'default = 2.0, choices = ["a"]', "only a choice has 'choices'"),
        ("default = 2.0", "default = true", "'default' has a value of the wrong type"),
        ('like = "x"', 'like = "x"\nshape = [4]', "'shape' has a value of the wrong type"),
        ("step = 1", 'step = "1"', "'step' has a value of the wrong type"),
        ('symbol = "S"', 'symbol = "K"', "the symbol 'K', which no input and no attribute binds"),
        ('like = "x"', 'like = "z"', "output 'y' needs a shape"),
        ('name = "scale"', 'name = "scales"', "the folder is 'scale'"),
        ('shape = ["N", "S..."]', "", "input 'x' has no shape"),
        ('shape = ["N", "S..."]', 'shape = ["N...", "S..."]', "two symbols of 'x' stand for all other axes"),
        ('name = "y"', 'name = "x"', "argument 'x' is registered twice"),
        ('role = "value"', 'role = "tiling"', "go together"),
        ('role = "value"', 'role = "workspace"\nbytes = "scratch"', "names a tiling field"),
        ("step = 1", 'step = 1\ntiling_arguments = ["dtype"]', "no tiling function of its own"),
        ("step = 1", 'step = 1\ntiling = "Make"\ntiling_arguments = ["K"]', "scale/plain uses the symbol 'K'"),
        ('direction = "forward"', "direction = forward", "cannot read the registry file"),
    ],
)
def test_mistake_in_op_toml_is_named_with_its_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(RegistryError) as caught:
        read(tmp_path, GOOD.replace(old, new, 1))
    assert message in caught.value.what
    assert "op.toml" in caught.value.where


FACTOR = 'factor = { symbol = "f", type = "float32", default = 2.0 }'
MASK = FACTOR + '\nwanted = { symbol = "m", type = "mask", default = %s }'


def test_a_choice_has_words_and_a_default_among_them(tmp_path: Path) -> None:
    form = FACTOR + '\nform = { symbol = "w", type = "choice", %s }'
    op = read(tmp_path, GOOD.replace(FACTOR, form % 'choices = ["none", "tanh"], default = "tanh"'))
    assert (op.attributes[1].choices, op.attributes[1].default) == (("none", "tanh"), "tanh")
    for wrong, message in (
        ('choices = ["none"], default = "tanh"', "the default of 'form' is none of its choices"),
        ('default = "tanh"', "'choices' is missing"),
        ('choices = ["none"], default = 1', "'default' has a value of the wrong type"),
    ):
        with pytest.raises(RegistryError) as caught:
            read(tmp_path, GOOD.replace(FACTOR, form % wrong))
        assert message in caught.value.what


def test_a_mask_has_a_boolean_for_each_output(tmp_path: Path) -> None:
    op = read(tmp_path, GOOD.replace(FACTOR, MASK % "[true]"))
    assert op.mask is not None
    assert (op.mask.name, op.mask.default) == ("wanted", (True,))
    for wrong in ("[true, true]", "[]", "[1]"):
        with pytest.raises(RegistryError, match="'wanted' needs a default of one boolean for each output"):
            read(tmp_path, GOOD.replace(FACTOR, MASK % wrong))
    with pytest.raises(RegistryError, match="'default' has a value of the wrong type"):
        read(tmp_path, GOOD.replace(FACTOR, MASK % "1"))


def test_misspelt_key_gets_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(RegistryError) as caught:
        read(tmp_path, GOOD.replace("step = 1", "step = 1\nentrry = 'scale'"))
    assert caught.value.hint == "did you mean 'entry'?"


def test_kernel_is_found_by_id_and_by_operator() -> None:
    assert find_kernel("group_norm/scalar")[1].entry == "group_norm_scalar"
    assert find_kernel("copy")[1].id == "copy/queue"


def test_operator_with_several_kernels_lists_them(tmp_path: Path) -> None:
    start = GOOD.index("[[kernels]]")
    second = GOOD[start : GOOD.index("[example]")].replace('"plain"', '"fast"', 1).replace("step = 1", "step = 2")
    read(tmp_path, GOOD.replace("[example]", second + "[example]"))
    with pytest.raises(RegistryError) as caught:
        find_kernel("scale", load_registry(tmp_path))
    assert "scale/plain, scale/fast" in caught.value.hint


@pytest.mark.parametrize("name", ["group_nrom/scalar", "scalar", "group_norm/scaler"])
def test_unknown_name_suggests_the_closest(name: str) -> None:
    with pytest.raises(RegistryError) as caught:
        find_kernel(name)
    assert "did you mean group_norm/scalar" in caught.value.hint


def test_name_like_no_other_lists_all() -> None:
    with pytest.raises(RegistryError) as caught:
        find_kernel("zzzz")
    assert "copy/queue, add/queue, silu/queue, group_norm/scalar" in caught.value.hint
