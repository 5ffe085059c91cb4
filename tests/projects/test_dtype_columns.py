"""Which dtypes and formats an operator supports on a chip, and which column a call has."""

from __future__ import annotations

import pytest
from op_host_support import SOURCES, described

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.dtype_columns import Column, Columns, Form, dtype_label, dtype_name
from gn_tutorial.projects.parameters import Chip, Parameter

FLOATS = ("DT_FLOAT16", "DT_FLOAT")


def columns(*inputs: Parameter, outputs: tuple[Parameter, ...] = ()) -> Columns:
    return OpDefinition("Op", defined_at=("op.cpp:9",), inputs=inputs, outputs=outputs).columns("ascend910b")


def forms(column: Column) -> list[tuple[str, str]]:
    return [(form.dtype, form.format) for form in (*column.inputs, *column.outputs)]


def test_lists_go_together_by_index() -> None:
    y = Parameter("y", dtypes=("DT_INT8", "DT_BOOL"), formats=("FORMAT_NCHW", "FORMAT_ND"))
    found = columns(Parameter("x", dtypes=FLOATS), outputs=(y,)).columns
    assert [forms(one) for one in found] == [
        [("DT_FLOAT16", "FORMAT_ND"), ("DT_INT8", "FORMAT_NCHW")],
        [("DT_FLOAT", "FORMAT_ND"), ("DT_BOOL", "FORMAT_ND")],
    ]
    assert [one.index for one in found] == [0, 1]


def test_other_lists_are_combined_with_everything() -> None:
    x = Parameter("x", dtypes=FLOATS)
    n = Parameter("n", every_dtype=("DT_INT32", "DT_INT64"), every_format=("FORMAT_ND", "FORMAT_NC"))
    found = {tuple(forms(one)) for one in columns(x, n).columns}
    assert found == {
        ((float_, "FORMAT_ND"), (int_, layout))
        for float_ in FLOATS
        for int_ in ("DT_INT32", "DT_INT64")
        for layout in ("FORMAT_ND", "FORMAT_NC")
    }


def test_following_takes_another_input_s_type_or_format() -> None:
    x = Parameter("x", dtypes=FLOATS, formats=("FORMAT_ND", "FORMAT_NCHW"))
    w = Parameter("w", follow="x")
    both = Parameter("y", follow="w")
    dtype = Parameter("z", follow="x", follow_what="dtype", every_format=("FORMAT_NC",))
    shape = Parameter("s", follow="x", follow_what="shape", dtypes=("DT_INT8", "DT_INT8"))
    found = columns(x, w, outputs=(both, dtype, shape)).columns
    assert forms(found[1]) == [
        ("DT_FLOAT", "FORMAT_NCHW"),
        ("DT_FLOAT", "FORMAT_NCHW"),
        ("DT_FLOAT", "FORMAT_NCHW"),
        ("DT_FLOAT", "FORMAT_NC"),
        ("DT_INT8", "FORMAT_ND"),
    ]
    every = columns(Parameter("x", every_dtype=FLOATS), outputs=(Parameter("y", follow="x"),)).columns
    assert [forms(one) for one in every] == [[(dtype, "FORMAT_ND")] * 2 for dtype in FLOATS]


def test_a_converted_scalar_has_the_type_that_the_kernel_gets() -> None:
    x = Parameter("x", dtypes=FLOATS)
    a = Parameter("a", dtypes=("DT_FLOAT", "DT_FLOAT"), scalar=True, to_dtype="DT_INT64")
    b = Parameter("b", dtypes=("DT_FLOAT", "DT_FLOAT"), scalar=True, to_input="x")
    c = Parameter("c", scalar_list=True, to_input="a")
    dtypes = [[form.dtype for form in one.inputs] for one in columns(x, a, b, c).columns]
    assert dtypes == [[dtype, "DT_INT64", dtype, "DT_INT64"] for dtype in FLOATS]


@pytest.mark.parametrize("follow", ["y", "x", "nothing"])
def test_following_what_is_no_other_input_is_refused(follow: str) -> None:
    with pytest.raises(RegistryError, match=f"'x' follows '{follow}'"):
        columns(Parameter("x", follow=follow), outputs=(Parameter("y", dtypes=FLOATS),))


def test_a_circle_of_inputs_is_refused() -> None:
    with pytest.raises(RegistryError, match="'b' follows 'a'"):
        columns(Parameter("a", follow="b"), Parameter("b", follow="a"))


def test_an_output_in_place_follows_the_input_of_its_own_name() -> None:
    found = columns(Parameter("x", dtypes=FLOATS), outputs=(Parameter("x", follow="x"),)).columns
    assert found[1].outputs == (Form("x", "DT_FLOAT", "FORMAT_ND"),)


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(RegistryError, match="differ in length") as caught:
        columns(Parameter("x", dtypes=FLOATS, formats=("FORMAT_ND",)))
    assert "op.cpp:9: DataType of 'x': 2, Format of 'x': 1" in str(caught.value)


def test_a_parameter_without_a_type_is_refused() -> None:
    with pytest.raises(RegistryError, match="'x' has no type"):
        columns(Parameter("x"))


def test_the_entry_of_a_chip_is_found_whatever_its_case() -> None:
    mix = described(*SOURCES)["NLLMix2d"]
    found = mix.columns("Ascend910B")
    assert (found.entry, found.note, len(found.columns)) == ("ascend910b", "", 6)


def test_a_chip_without_an_entry_gets_the_first_one_and_is_told() -> None:
    chips = tuple(
        Chip(name, {}, (Parameter("x", dtypes=(dtype,)),), ()) for name, dtype in (("a", "DT_INT8"), ("b", "DT_BOOL"))
    )
    found = OpDefinition("Op", chips=chips).columns("ascend910b")
    assert (found.entry, forms(found.columns[0])) == ("a", [("DT_INT8", "FORMAT_ND")])
    assert "no AddConfig for ascend910b, only for a, b" in found.note
    assert 'AddConfig("ascend910b");' in found.note
    assert "names no chip" in columns(Parameter("x", dtypes=FLOATS)).note


def test_the_column_of_a_call() -> None:
    x, y = Parameter("x", dtypes=(*FLOATS, "DT_FLOAT")), Parameter("y", dtypes=("DT_INT8", "DT_INT8", "DT_BOOL"))
    found = columns(x, outputs=(y,))
    assert found.column_of({"x": "float16"}).index == 0
    assert found.column_of({"x": "DT_FLOAT", "y": "bool"}).index == 2
    assert found.column_of({}).index == 0
    assert found.column_of({"x": "float32"}).dtypes() == {"y": "DT_INT8", "x": "DT_FLOAT"}


def test_plain_layouts_go_before_others() -> None:
    x = Parameter("x", dtypes=("DT_FLOAT", "DT_FLOAT"), formats=("FORMAT_NCHW", "FORMAT_ND"))
    assert columns(x).column_of({"x": "float32"}).index == 1
    assert columns(x).column_of({"x": "float32"}, {"x": "FORMAT_NCHW"}).index == 0


def test_in_place_both_the_input_and_the_output_have_to_fit() -> None:
    found = columns(Parameter("x", dtypes=FLOATS), outputs=(Parameter("x", dtypes=("DT_FLOAT", "DT_FLOAT")),))
    assert found.column_of({"x": "float32"}).index == 1
    with pytest.raises(ArgumentError, match="does not support x float16"):
        found.column_of({"x": "float16"})


def test_a_call_that_no_column_fits_is_refused_with_what_there_is() -> None:
    found = columns(Parameter("x", dtypes=FLOATS), outputs=(Parameter("y", dtypes=FLOATS),))
    with pytest.raises(ArgumentError, match="Op does not support x int8 on ascend910b") as caught:
        found.column_of({"x": "int8"})
    assert "x float16 -> y float16; x float32 -> y float32" in str(caught.value)
    with pytest.raises(ArgumentError, match="no parameter 'z'"):
        found.column_of({"z": "int8"})
    with pytest.raises(ArgumentError, match="no type for 'float64'"):
        found.column_of({"x": "float64"})


def test_names_of_types() -> None:
    assert [dtype_name(label) for label in ("DT_BF16", "DT_FLOAT", "DT_COMPLEX64")] == [
        "bfloat16",
        "float32",
        "DT_COMPLEX64",
    ]
    assert [dtype_label(name) for name in ("bfloat16", "bool", "DT_HIFLOAT8")] == ["DT_BF16", "DT_BOOL", "DT_HIFLOAT8"]
