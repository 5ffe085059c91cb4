"""The reader of an operator repository's unit tests of tiling: shapes, attributes, chip, and what is expected."""

from __future__ import annotations

from pathlib import Path

from unit_test_cases import read_cases

TEXT = r"""
TEST_F(RowsTiling, one)
{
    gert::StorageShape x_shape = {{24, 1, 25}, {24, 1, 25}};
    gert::StorageShape y_shape = {{24}, {24}};
    float eps = 1e-3;
    string info = R"({"hardware_info": {"UB_SIZE": 196608, "CORE_NUM": 40}})";
    std::string op_type("Rows");
    auto holder = gert::TilingContextFaker()
                      .IrInstanceNum({2, 0})
                      .InputShapes({&x_shape, &x_shape})
                      .OutputShapes({&y_shape})
                      .NodeInputTd(0, ge::DT_FLOAT16, ge::FORMAT_ND, ge::FORMAT_ND)
                      .NodeInputTd(1, ge::DT_BF16, ge::FORMAT_ND, ge::FORMAT_ND)
                      .NodeOutputTd(0, ge::DT_FLOAT, ge::FORMAT_ND, ge::FORMAT_ND)
                      .NodeAttrs({{"eps", Ops::NN::AnyValue::CreateFrom<float>(eps)},
                                  {"name", Ops::NN::AnyValue::CreateFrom<std::string>("a")}})
                      .Build();
    EXPECT_EQ(tiling_func(tiling_context), ge::GRAPH_SUCCESS);
    // ASSERT_EQ(tiling_key, 7);
    ASSERT_EQ(tiling_key, 8);
    EXPECT_EQ(to_string<int32_t>(data->GetData(), data->GetDataSize()), "1 -2 "
              "3 ");
}
TEST_F(RowsTiling, another_chip)
"""


def test_a_case_is_read(tmp_path: Path) -> None:
    path = tmp_path / "test_rows_tiling.cpp"
    other = TEXT.partition("{\n")[2].rpartition("TEST_F")[0].replace("info", "Ascend950")
    named = other.replace("Ascend950", "info").replace("{{24}, {24}}", "{{N}, {N}}")
    path.write_text(f"{TEXT}{{\n{other}TEST_F(RowsTiling, named)\n{{\n{named}", encoding="utf-8")
    (case,) = read_cases(path)
    assert (case.name, case.op, case.cores, case.ub_bytes) == ("one", "Rows", 40, 196608)
    assert [(one.declared, one.dtype, one.shape) for one in case.inputs] == [
        (0, "float16", (24, 1, 25)),
        (0, "bfloat16", (24, 1, 25)),
    ]
    assert [(one.dtype, one.shape) for one in case.outputs] == [("float32", (24,))]
    assert case.attributes == (("float", 0.001), ("string", "a"))
    assert (case.succeeds, case.key, case.blocks, case.data) == (True, 8, None, (1, -2, 3))
