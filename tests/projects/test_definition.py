"""Definitions of operators: what a class derived from OpDef says reaches Python, and each registered function does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from op_host_support import SOURCES, answers, compiled, described

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.projects.definition import OpDefinition, read_definitions, snake_name


def op(name: str) -> OpDefinition:
    return described(*SOURCES)[name]


def test_every_operator_of_every_file_is_registered() -> None:
    assert set(described(*SOURCES)) == {"NLLMix2d", "AddInto", "Nonzero", "Split", "Sunk"}
    assert [place.rpartition("/")[2] for place in op("NLLMix2d").defined_at] == ["parameters.cpp:66"]


def test_parameters_are_as_declared() -> None:
    x, weight, parts = op("NLLMix2d").inputs
    assert (x.name, x.kind, x.optional) == ("x_in", "required", False)
    assert x.dtypes == ("DT_FLOAT16", "DT_FLOAT", "DT_BF16")
    assert x.formats == x.unknown_shape_formats == ("FORMAT_ND", "FORMAT_ND", "FORMAT_NCHW")
    assert (x.auto_contiguous, x.ignore_contiguous) == (True, False)
    assert x.comment == 'a "quoted" line\nand another'
    assert (weight.kind, weight.optional, weight.follow, weight.follow_what) == ("optional", True, "x_in", "all")
    assert weight.ignore_contiguous
    assert (parts.kind, parts.every_dtype, parts.every_format) == ("dynamic", ("DT_INT32", "DT_INT64"), ("FORMAT_ND",))
    y, mask = op("NLLMix2d").outputs
    assert (y.follow, y.follow_what, y.zeroed, y.initial) == ("weight", "dtype", True, ())
    assert mask.query_dtypes == ("DT_UINT8",) * 3
    assert mask.initial == (("int16", 1), ("float32", 3.25), ("uint64", 7))


def test_values_that_tiling_reads_and_scalars() -> None:
    into = op("AddInto")
    alpha, betas, shape, gains = (into.input(name) for name in ("alpha", "betas", "shape", "gains"))
    assert (alpha.scalar, alpha.to_dtype, betas.scalar_list, betas.to_input) == (True, "DT_FLOAT16", True, "var")
    assert (shape.value_depend, shape.depend_scope) == ("optional", "all")
    assert (gains.value_depend, gains.depend_scope) == ("required", "tiling")
    assert into.in_place == {"var", "list"}
    assert op("Nonzero").output("indices").shape_depends_on_compute


def test_attributes_have_their_types_and_defaults() -> None:
    found = {one.name: (one.type, one.required, one.default) for one in op("NLLMix2d").attributes}
    assert found == {
        "num_groups": ("int", True, None),
        "eps": ("float", False, 1e-5),
        "flag": ("bool", False, True),
        "mode": ("string", False, "su\\m"),
        "axes": ("list_int", False, (-1, 2**53 + 1)),
        "scales": ("list_float", False, (0.1, 2.0)),
        "picks": ("list_bool", True, (True, False)),
    }
    assert op("NLLMix2d").attributes[3].comment == "how"
    assert op("AddInto").attributes[0].version == 2


def test_a_chip_overrides_what_it_names_and_keeps_the_rest() -> None:
    mix = op("NLLMix2d")
    plain, changed = mix.chips
    assert (plain.name, plain.inputs, plain.outputs) == ("ascend910b", mix.inputs, mix.outputs)
    assert plain.settings == {
        "dynamicCompileStatic.flag": "true",
        "dynamicFormat.flag": "true",
        "dynamicRankSupport.flag": "true",
        "dynamicShapeSupport.flag": "true",
        "needCheckSupport.flag": "false",
        "precision_reduce.flag": "true",
    }
    assert changed.settings == {
        "dynamicShapeSupport.flag": "true",
        "needCheckSupport.flag": "false",
        "opFile.value": "mix",
    }
    assert [one.name for one in changed.inputs] == ["x_in", "weight", "Parts", "extra"]
    assert (changed.inputs[0].dtypes, changed.inputs[0].auto_contiguous) == (("DT_FLOAT",), True)
    assert (changed.outputs[1].kind, mix.outputs[1].kind) == ("required", "optional")


def test_a_chip_may_be_registered_from_another_file() -> None:
    chips = {one.name: one for one in op("Split").chips}
    assert set(chips) == {"ascend910b", "ascend310p"}
    assert chips["ascend310p"].inputs[0].dtypes == ("DT_FLOAT16",)
    assert chips["ascend910b"].inputs[0].dtypes == ("DT_FLOAT",), "AddConfig goes before REGISTER_OP_AICORE_CONFIG"


def test_the_rest_of_a_definition() -> None:
    mix, nonzero = op("NLLMix2d"), op("Nonzero")
    assert (mix.launches_empty, mix.fallback, mix.strict_format) == (True, True, True)
    assert mix.comments == (("brief", "Mixes."), ("category", "mix"))
    assert (mix.compile_info_bytes, mix.max_tiling_bytes) == (16, 2048)
    assert mix.functions == ("tiling", "infer_shape", "infer_shape_range", "infer_data_type")
    assert mix.graph_functions == ("check_support", "param_generalize")
    assert nonzero.groups == ("first", "second", "third")
    assert nonzero.ai_cpu == {"engine": "DNN_VM_AICPU", "flag_async": "false", "opInfo.userDefined": "True"}
    assert nonzero.host_cpu == {"kernel_so": "lib.so", "user_defined": "true"}
    assert (nonzero.launches_empty, nonzero.fallback, nonzero.strict_format, nonzero.chips) == (False, False, False, ())


def test_functions_registered_apart_from_definitions() -> None:
    split, sunk = op("Split"), op("Sunk")
    assert split.functions == ("tiling", "tiling_parse", "infer_shape", "infer_data_type")
    assert split.graph_functions == ("gen_simplified_key", "op_execute")
    assert (split.data_dependencies, split.tiling_data_dependencies) == ((0, 2), (1,))
    assert split.outputs_depending_on_compute == (0,)
    assert split.private_attributes == {"plain": None, "depth": 3, "mode": "fast"}
    assert (split.compile_info_bytes, split.max_tiling_bytes) == (32, 4096)
    assert (sunk.defined_at, sunk.inputs, sunk.functions) == ((), (), ("tiling",))


@pytest.mark.parametrize("standard", ["c++17", pytest.param("c++20", marks=pytest.mark.thorough)])
def test_files_have_functions_of_the_same_name(standard: str) -> None:
    """A static TilingFunc is its own file's; IMPL_OP goes before a definition, and the host's before the device's."""
    assert answers(*SOURCES, standard=standard) == [
        "AddInto tiling 21 infer_shape -1 infer_data_type -1 parse -1",
        "NLLMix2d tiling 11 infer_shape 12 infer_data_type 13 parse -1 info 40",
        "Nonzero tiling -1 infer_shape -1 infer_data_type -1 parse -1",
        "Split tiling 21 infer_shape 22 infer_data_type 23 parse 24 info 48",
        "Sunk tiling 25 infer_shape -1 infer_data_type -1 parse -1",
    ]


def test_an_operator_that_two_files_define_is_refused(tmp_path: Path) -> None:
    text = """#include "register/op_def_registry.h"
namespace ops {
class Twice : public OpDef {
 public:
  explicit Twice(const char* name) : OpDef(name) { Input("x").DataType({ge::DT_FLOAT}); }
};
OP_ADD(Twice);
}
"""
    for name in ("twice.cpp", "twice_old.cpp"):
        (tmp_path / name).write_text(text)
    with pytest.raises(RegistryError, match="Twice is defined 2 times") as caught:
        described(tmp_path / "twice.cpp", tmp_path / "twice_old.cpp")
    assert "twice.cpp:7," in caught.value.where
    assert caught.value.where.endswith("twice_old.cpp:7")


def test_what_the_device_s_compiler_refuses_is_refused_here(tmp_path: Path) -> None:
    """AddConfig takes a reference to a configuration, not a temporary; a dtype is no format."""
    source = tmp_path / "wrong.cpp"
    for wrong in ('AICore().AddConfig("ascend910b", OpAICoreConfig())', 'Input("x").DataType({ge::FORMAT_ND})'):
        source.write_text(
            '#include "register/op_def_registry.h"\nnamespace ops { struct Wrong : OpDef {\n'
            f"explicit Wrong(const char* name) : OpDef(name) {{ {wrong}; }} }};\nOP_ADD(Wrong);\n}}\n"
        )
        done = compiled("-fsyntax-only", source)
        assert done.returncode != 0, wrong
        assert "wrong.cpp:3" in done.stderr, wrong


def test_a_name_that_the_definition_lacks_is_refused() -> None:
    with pytest.raises(ArgumentError, match="NLLMix2d has no input 'y'"):
        op("NLLMix2d").input("y")
    with pytest.raises(ArgumentError, match="its outputs: y, Mask"):
        op("NLLMix2d").output("x_in")


@pytest.mark.parametrize(
    "names",
    "NLLLoss nll_loss, ReplicationPad2d replication_pad2d, MatMul mat_mul, AddTik2 add_tik2, MC2Test mc2_test, X x, "
    "BNLL bnll, AddN add_n, GeluV2D gelu_v2_d, Add_Custom add_custom, SocVersionTest1 soc_version_test1".split(", "),
)
def test_files_are_named_in_snake_case(names: str) -> None:
    op_type, expected = names.split()
    assert snake_name(op_type) == expected


def test_numbers_that_json_has_no_word_for() -> None:
    attribute = {"name": "a", "type": "list_float", "default": [float("inf"), float("-inf")]}
    document = json.dumps({"operators": [{"type": "A", "attributes": [attribute]}]})
    assert read_definitions(document)["A"].attributes[0].default == (float("inf"), float("-inf"))
