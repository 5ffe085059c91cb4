"""The aclnn functions of an operator: each rule of their names, order and types, on definitions of ours."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from op_host_support import SOURCES, described

from gn_tutorial.compiler.toolchain import find_compiler
from gn_tutorial.errors import RegistryError
from gn_tutorial.projects.aclnn import AclnnArgument, AclnnFunction, camel_name, functions, headers
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.parameters import OpAttribute, Parameter

FLOAT = ("DT_FLOAT",)
X = Parameter("x", dtypes=FLOAT)
Y = Parameter("y", dtypes=FLOAT)


def first_call(op: OpDefinition, version: int = 0, tensors: bool = False) -> AclnnFunction:
    found = [one for one in functions(op) if one.first and (one.version, one.tensors) == (version, tensors)]
    assert len(found) == 1
    return found[0]


def texts(
    *inputs: Parameter, attributes: tuple[OpAttribute, ...] = (), outputs: tuple[Parameter, ...] = ()
) -> list[str]:
    """The arguments of the first call, without the two that every first call ends with."""
    call = first_call(OpDefinition("Op", inputs=inputs, attributes=attributes, outputs=outputs))
    assert [str(one) for one in call.arguments[-2:]] == ["uint64_t *workspaceSize", "aclOpExecutor **executor"]
    return [str(one) for one in call.arguments[:-2]]


def test_two_calls_in_one_header() -> None:
    first, second = functions(OpDefinition("GroupNormV2", inputs=(X,), outputs=(Y,)))
    assert str(first) == (
        "aclnnStatus aclnnGroupNormV2GetWorkspaceSize(const aclTensor *x, const aclTensor *out, "
        "uint64_t *workspaceSize, aclOpExecutor **executor)"
    )
    assert str(second) == (
        "aclnnStatus aclnnGroupNormV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, "
        "aclrtStream stream)"
    )
    assert first.header == second.header == "aclnn_group_norm_v2.h"
    assert (first.first, second.first) == (True, False)


def test_inputs_then_attributes_then_outputs() -> None:
    attribute = OpAttribute("num_groups", "int")
    assert texts(X, Parameter("z", dtypes=FLOAT), attributes=(attribute,), outputs=(Y,)) == [
        "const aclTensor *x",
        "const aclTensor *z",
        "int64_t numGroups",
        "const aclTensor *out",
    ]


def test_optional_and_dynamic_parameters() -> None:
    assert texts(
        Parameter("gamma_in", "optional"), Parameter("parts", "dynamic"), outputs=(Parameter("y", "dynamic"),)
    ) == ["const aclTensor *gammaInOptional", "const aclTensorList *parts", "const aclTensorList *out"]


def test_several_outputs_are_named_and_one_is_out() -> None:
    mean = Parameter("mean_value", "optional", dtypes=FLOAT)
    assert texts(outputs=(Y, mean)) == ["const aclTensor *yOut", "const aclTensor *meanValueOutOptional"]
    assert texts(outputs=(mean,)) == ["const aclTensor *outOptional"]


def test_an_input_that_is_an_output_is_written_in_place() -> None:
    parts = Parameter("parts", "dynamic", dtypes=FLOAT)
    found = texts(X, parts, outputs=(X, Y, parts))
    assert found == ["aclTensor *xRef", "aclTensorList *partsRef", "const aclTensor *yOut"]
    call = first_call(OpDefinition("Op", inputs=(X, parts), outputs=(X, Y, parts)))
    assert [one.in_place for one in call.of_role("input")] == [True, True]
    assert [(one.parameter, one.index) for one in call.of_role("output")] == [("y", 1)]


def test_an_optional_input_in_place_stays_const() -> None:
    state = Parameter("state", "optional", dtypes=FLOAT)
    assert texts(state, outputs=(state,)) == ["const aclTensor *stateRefOptional"]


@pytest.mark.parametrize(
    ("kind", "required", "optional"),
    [
        ("bool", "bool a", "bool a"),
        ("float", "double a", "double a"),
        ("int", "int64_t a", "int64_t a"),
        ("string", "char *a", "char *aOptional"),
        ("list_bool", "const aclBoolArray *a", "const aclBoolArray *aOptional"),
        ("list_float", "const aclFloatArray *a", "const aclFloatArray *aOptional"),
        ("list_int", "const aclIntArray *a", "const aclIntArray *aOptional"),
    ],
)
def test_attributes(kind: str, required: str, optional: str) -> None:
    for needed, text in ((True, required), (False, optional)):
        assert texts(X, attributes=(OpAttribute("a", kind, required=needed),))[1:] == [text]


def test_scalars() -> None:
    assert texts(Parameter("a", scalar=True), Parameter("b", "optional", scalar_list=True)) == [
        "const aclScalar *a",
        "const aclScalarList *bOptional",
    ]


@pytest.mark.parametrize(
    ("types", "array"),
    [(FLOAT, "aclFloatArray"), (("DT_BOOL",), "aclBoolArray"), (("DT_INT32", "DT_INT64"), "aclIntArray")],
)
def test_values_that_tiling_reads_come_as_an_array_or_as_a_tensor(types: tuple[str, ...], array: str) -> None:
    op = OpDefinition("Op", inputs=(X, Parameter("n", "optional", dtypes=types, value_depend="required")), outputs=(Y,))
    assert [one.name for one in functions(op)] == [
        "aclnnOpGetWorkspaceSize",
        "aclnnOpTensorGetWorkspaceSize",
        "aclnnOp",
    ]
    assert str(first_call(op).arguments[1]) == f"const {array} *nOptional"
    assert str(first_call(op, tensors=True).arguments[1]) == "const aclTensor *nOptional"
    assert first_call(op).arguments[:1] == first_call(op, tensors=True).arguments[:1]


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (Parameter("n", dtypes=("DT_INT32",), value_depend="optional"), "no column of DT_INT64"),
        (Parameter("n", dtypes=("DT_FLOAT", "DT_INT64"), value_depend="optional"), "DT_FLOAT, DT_INT64"),
        (Parameter("n", dtypes=("DT_FLOAT16",), value_depend="optional"), "DT_FLOAT16"),
        (Parameter("n", dtypes=FLOAT, value_depend="optional", scalar=True), "ValueDepend and Scalar"),
    ],
)
def test_values_of_other_types_are_refused(one: Parameter, why: str) -> None:
    with pytest.raises(RegistryError, match=f"Op can have no aclnn function: input 'n' has .*{why}"):
        functions(OpDefinition("Op", defined_at=("op.cpp:3",), inputs=(one,)))


def test_an_attribute_that_no_function_takes_is_refused() -> None:
    for kind in ("list_list_int", ""):
        with pytest.raises(RegistryError, match="attribute 'a' is "):
            functions(OpDefinition("Op", attributes=(OpAttribute("a", kind),)))


def test_a_shape_known_after_the_kernel_takes_const_from_every_tensor() -> None:
    nonzero = described(*SOURCES)["Nonzero"]
    assert [str(one) for one in first_call(nonzero).arguments[:-2]] == [
        "aclTensor *x",
        "aclTensor *indicesOut",
        "const aclTensorList *countsOut",
    ]


def test_every_version_has_functions_and_a_header() -> None:
    into = described(*SOURCES)["AddInto"]
    names = {version: [one.name for one in functions(into) if one.version == version] for version in range(3)}
    assert names == {
        version: [f"aclnnAddInto{v}GetWorkspaceSize", f"aclnnAddInto{v}TensorGetWorkspaceSize", f"aclnnAddInto{v}"]
        for version, v in enumerate(("", "V1", "V2"))
    }
    assert set(headers(into)) == {"aclnn_add_into.h", "aclnn_add_into_v1.h", "aclnn_add_into_v2.h"}
    without, with_input, with_both = (first_call(into, version).arguments for version in range(3))
    assert [one for one in with_input if one not in without] == [
        AclnnArgument("otherOptional", "const aclTensor *", "input", "other", 1, optional=True)
    ]
    assert [one for one in with_both if one not in with_input] == [
        AclnnArgument("scale", "double", "attribute", "scale", 0)
    ]


def test_an_argument_knows_its_place_in_the_definition() -> None:
    mix = described(*SOURCES)["NLLMix2d"]
    call = first_call(mix)
    places = {
        role: [(one.parameter, one.index) for one in call.of_role(role)] for role in ("input", "attribute", "output")
    }
    assert places["input"] == [("x_in", 0), ("weight", 1), ("Parts", 2)]
    assert places["attribute"][0] == ("num_groups", 0)
    assert places["output"] == [("y", 0), ("Mask", 1)]
    assert [one.role for one in call.arguments[-2:]] == ["workspace_size", "executor"]


def test_names_are_in_camel_case() -> None:
    for name, expected in (("num_groups", "numGroups"), ("X", "x"), ("dynamicSelf", "dynamicSelf"), ("a_b_2", "aB2")):
        assert camel_name(name) == expected


def test_headers_are_c_and_c_plus_plus(tmp_path: Path) -> None:
    """Every header is included twice, by a C++ program and by one in C; a call of each function type-checks."""
    (tmp_path / "aclnn").mkdir()
    opaque = "Tensor TensorList Scalar ScalarList IntArray FloatArray BoolArray OpExecutor".split()
    types = "".join(f"typedef struct acl{name} acl{name};\n" for name in opaque)
    standard = "#pragma once\n#include <stdbool.h>\n#include <stdint.h>\n"
    meta = f"{standard}{types}typedef int aclnnStatus;\ntypedef void *aclrtStream;\n"
    (tmp_path / "aclnn" / "acl_meta.h").write_text(meta)
    included, calls = [], []
    for op in described(*SOURCES).values():
        for name, text in headers(op).items():
            (tmp_path / name).write_text(text)
            included += [f'#include "{name}"'] * 2
        for one in functions(op):
            calls.append(f"{one.name}({', '.join('0' for _ in one.arguments)});")
    text = "\n".join([*included, "void all(void) {", *calls, "}", ""])
    for name, language in (("c++", "c++"), ("c", "c")):
        source = tmp_path / f"calls.{name}"
        source.write_text(text)
        command = [*find_compiler().argv, "-x", language, "-fsyntax-only", "-Wall", "-Werror", f"-I{tmp_path}", source]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
