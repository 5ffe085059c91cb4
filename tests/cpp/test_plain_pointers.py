"""Which kernels access memory through plain pointers, by their text: only these are compiled to report it."""

from __future__ import annotations

import pytest

from gn_tutorial.cpp.portability_rules import OwnText, SourceFacts, read

ENTRY = 'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y, GM_ADDR tiling) {'


def facts(body: str, before: str = "") -> SourceFacts:
    text = f"{before}\n{ENTRY} {body} }}\n"
    return read(OwnText(text, tuple(("k.cpp", line) for line in range(1, text.count("\n") + 2))))


def uses(body: str, before: str = "") -> bool:
    return facts(body, before).plain_pointers


@pytest.mark.parametrize(
    "body",
    [
        "float first = ((__gm__ float*)y)[0];",
        "*reinterpret_cast<__gm__ int32_t*>(y) += 1;",
        "__gm__ float* z = (__gm__ float*)y; z[GetBlockIdx()] = 1.0f;",
        "auto z = reinterpret_cast<__gm__ float*>(y) + 8; *(z + 1) = 1.0f;",
        "x[3] = 1;",
        "__ubuf__ float* p = (__ubuf__ float*)t.GetPhyAddr(); p[0] = 1.0f;",
        "float* p = t.GetPhyAddr(); Sum(p);",
    ],
)
def test_loads_and_stores_through_pointers(body: str) -> None:
    assert uses(body)


@pytest.mark.parametrize(
    "body",
    [
        "GlobalTensor<float> g; g.SetGlobalBuffer((__gm__ float*)x + 64 * GetBlockIdx(), 64); g.SetValue(0, 1.0f);",
        "const __gm__ Tiling* numbers = (const __gm__ Tiling*)tiling; Run(numbers->rows, numbers->columns);",
        "__gm__ float* tables = (__gm__ float*)y; g.SetGlobalBuffer(tables + 8);",
        "LocalTensor<float> x = queue.DeQue<float>(); Adds(x[64], x, 1.0f, 64);",
        "g.SetGlobalBuffer(other.GetPhyAddr(64)); LocalTensor<float>* t = &u; Relu(*t, *t, 8);",
        "uint64_t list[16]; list[0] = (uint64_t)t.GetPhyAddr();",
    ],
)
def test_places_of_tensors_and_fields_of_tiling_structs_are_none(body: str) -> None:
    assert not uses(body)


def test_indices_into_arrays_of_the_kernels_own() -> None:
    indexed = [
        "float s[8]; s[n] = 1.0f;",
        "LocalTensor<float> t[2] = {}; Relu(t[i % 2], x, 8);",
        "S a; a.of[n][1] = 2;",
    ]
    assert all(facts(body, "struct S { int of[4][2]; };").indexed_arrays for body in indexed)
    others = ["float s[8] = {}; s[7] = 1.0f;", "LocalTensor<float> t; Relu(t[n], x, 8);", "float* p; p[n] = 1.0f;"]
    assert not any(facts(body).indexed_arrays for body in others)


def test_a_member_and_a_function_that_no_entry_reaches() -> None:
    one = "class Op {{ public: __aicore__ inline void Run() {{ sums_[0] = 1.0f; }} private: {} sums_; }};"
    assert uses("Op op; op.Run();", one.format("__gm__ float*"))
    assert not uses("Op op; op.Run();", one.format("GlobalTensor<float>"))
    assert not uses("", "void Host(__gm__ float* p) { p[0] = 1.0f; }")
