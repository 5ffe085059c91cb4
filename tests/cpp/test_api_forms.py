"""The forms of an Ascend C call, read from the twin's headers."""

from __future__ import annotations

import functools

import pytest

from gn_tutorial.cli.api_table import TWIN, load_apis
from gn_tutorial.compiler.preprocess import twin_texts
from gn_tutorial.cpp.api_forms import declarations, macro_form

text = functools.cache(twin_texts)
#: Names of apis.toml that are no function: types, macros, operators.
NO_FUNCTION = {
    "LocalTensor::operator[]", "bfloat16_t", "int4b_t", "TQueBind", "LocalMemAllocator", "LocalTensor", "TensorDesc",
    "ListTensorDesc", "ShapeInfo", "SliceInfo", "TQueConfig", "AscendCUtils", "IsSameType", "ASCEND_IS_AIV",
    "ASCEND_IS_AIC",
}  # fmt: skip


def test_count_form_and_mask_form_without_what_only_the_twin_has() -> None:
    tensor = "const LocalTensor<T>&"
    assert declarations(text(), "Max") == [
        f"template <class T, bool isSetMask = true> void Max({tensor} dst, {tensor} src0, {tensor} src1, "
        "const int32_t& count)",
        f"template <class T, bool isSetMask = true> void Max({tensor} dst, {tensor} src0, {tensor} src1, "
        "uint64_t mask (or uint64_t mask[2]), const uint8_t repeatTime, const BinaryRepeatParams& repeatParams)",
    ]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("TPipe::InitBuffer", "template <TPosition pos> bool InitBuffer(TBuf<pos>& buf, uint32_t len)"),
        ("TQue::AllocTensor", "template <class T> LocalTensor<T> AllocTensor()"),
        ("LocalTensor::GetValue", "T GetValue(uint32_t index)"),
        (
            "Sum",
            "template <class T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false> "
            "void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const SumParams& sumParams)",
        ),
        ("SetFlag", "template <HardEvent event> void SetFlag(int32_t eventID)"),
        ("wait_flag", "void wait_flag(pipe_t from, pipe_t to, int32_t id)"),
        (
            "ReduceMax",  # behind a condition in braces
            "template <class T, class pattern, bool isReuseSource = false> void ReduceMax(const LocalTensor<T>& dst, "
            "const LocalTensor<T>& src, const uint32_t srcShape[], bool srcInnerPad)",
        ),
    ],
)
def test_members_templates_and_built_in_names(name: str, form: str) -> None:
    assert form in declarations(text(), name)


def test_every_name_of_the_list_has_a_form_or_is_no_function() -> None:
    folder = TWIN / "include" / "gn_twin"
    headers = [path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.h"))]
    lacking = {
        api.name
        for api in load_apis()
        if api.supported
        and not declarations(text(), api.name)
        and not any(macro_form(one, api.name) for one in headers)
    }
    assert lacking - NO_FUNCTION == set()


def test_what_is_no_declaration_of_the_name_is_left_out() -> None:
    source = """
    namespace AscendC {
    class A { public: void Add(int x); private: int b = Add(3); };
    inline int Other(int a = Add(1), int b = {}) { return Add(a); }
    template <class T> requires requires { T::x; } inline void Add(T x, gn_twin::Loc loc = gn_twin::Loc::here()) {}
    }
    namespace other { void Add(char c); }
    """
    assert declarations([source], "Add") == ["template <class T> void Add(T x)"]
    assert declarations([source], "A::Add") == ["void Add(int x)"]
    assert declarations([], "Add") == []
