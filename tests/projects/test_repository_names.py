"""Names that operator repositories count on beside the main classes: what headers bring along, ranges, nodes."""

from __future__ import annotations

from pathlib import Path

from op_host_program import compile_program, run_program

PROGRAM = r"""
#include "exe_graph/runtime/infer_shape_range_context.h"
#include "runtime/infer_shape_context.h"
#include "platform/platform_infos_def.h"
#include "platform/soc_spec.h"
#include "base/alog_pub.h"
#include "base/err_msg.h"
#include "securec.h"
#include "util/const_util.h"
#include "op_host/util/fp16.h"

namespace optiling {
const string kName = "unqualified";  // the header of platform information declares it at file scope
vector<int> kAxes = {1, 2};
static_assert(SUCCESS == ge::GRAPH_SUCCESS && ge::FAILED == ge::GRAPH_FAILED);

ge::graphStatus Widen(gert::InferShapeRangeContext* context) {
  const gert::Range<gert::Shape>* x = context->GetInputShapeRange(0);
  gert::Range<gert::Shape>* y = context->GetOutputShapeRange(0);
  if (x == nullptr || y == nullptr || context->GetInputShapeRange(1) != nullptr) return ge::GRAPH_FAILED;
  *y->GetMin() = {0};
  *y->GetMax() = {x->GetMax()->GetShapeSize()};
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

int main() {
  gert::GntCall call;
  call.type = "NonZero";
  call.declared_inputs = 1;
  const gert::StorageShape shape({3, 4}, {3, 4});
  call.inputs.push_back({0, shape, {}, {}});
  call.outputs.push_back({0, {}, {}, {}});
  if (AlogCheckDebugLevel(OP, DLOG_ERROR) == 1) {
    AlogRecord(OP, DLOG_TYPE_DEBUG, DLOG_ERROR, "[%s:%d] x has %ld axes", "a.cpp", 7, ge::UNKNOWN_DIM_NUM);
    AlogRecord(OP, DLOG_TYPE_DEBUG, DLOG_EVENT, "%s", std::string("begun"));
    REPORT_INNER_ERR_MSG("E1", "%d", 3);
  }
  for (const auto& line : gn_twin::op_host::Logs())
    printf("log %d %s\n", static_cast<int>(line.level), line.text.c_str());
  gert::InferShapeRangeContext context(call);
  const auto status = optiling::Widen(&context);
  printf("range %u %ld\n", status, static_cast<long>(call.outputs[0].shape.GetOriginShape().GetDim(0)));
  const gert::ComputeNodeInfo* node = context.GetComputeNodeInfo();
  printf("node %s %zu %zu %zu %d\n", node->GetNodeType(), node->GetInputsNum(), node->GetOutputsNum(),
         node->GetInputInstanceInfo(0)->GetInstanceNum(), node->GetInputTdInfo(1) == nullptr);
  const int format = ge::FORMAT_NHWC | 5 << 8;
  printf("format %d %d %d\n", ge::GetPrimaryFormat(format) == ge::FORMAT_NHWC, ge::GetSubFormat(format),
         ge::HasSubFormat(ge::FORMAT_NHWC));
  ge::char_t text[8] = "abc";
  printf("text %d", strcat_s(text, sizeof(text), "defg"));
  printf(" %s", text);
  printf(" %d", strcat_s(text, sizeof(text), "h"));
  printf(" '%s'", text);
  printf(" %d", strcpy_s(text, sizeof(text), "12345678"));
  printf(" %d", sprintf_s(text, sizeof(text), "%d", 123456789));
  printf(" %d %s\n", sprintf_s(text, sizeof(text), "%d-%d", 12, 34), text);
  const gert::CompileTimeTensorDesc desc(ge::DT_INT64, ge::FORMAT_ND);
  const int64_t lengths[] = {5, 7, -1};
  const auto* bytes = reinterpret_cast<const uint8_t*>(lengths);
  const gert::StorageShape three({3}, {3});
  call.inputs.push_back({1, three, desc, gert::Tensor(three, desc, {bytes, bytes + sizeof(lengths)}, true)});
  call.inputs.push_back({2, three, desc, gert::Tensor(three, desc, {}, false)});
  call.declared_inputs = 3;
  const gert::InferShapeContext infer(call);
  gert::Shape read;
  int32_t first = 0;
  printf("values %d", Ops::Base::GetConstIntToShape(&infer, 1, read) && Ops::Base::GetConstInt(&infer, 1, first));
  printf(" %zu %ld %d", read.GetDimNum(), static_cast<long>(read.GetDim(1)), first);
  printf(" %d", Ops::Base::GetConstIntToShape(&infer, 2, read) || Ops::Base::GetConstInt(&infer, 9, first));
  printf(" %g\n", static_cast<double>(static_cast<float>(Ops::Base::fp16_t(0.1f))));
  const auto arch = static_cast<unsigned>(NpuArch::DAV_2201);
  std::stringstream list;
  list << static_cast<int>(platform_ascendc::SocVersion::ASCEND910_93 == platform_ascendc::SocVersion::ASCEND910B);
  printf("chips %s %u\n", list.str().c_str(), ge::GRAPH_PARAM_OUT_OF_RANGE);
  printf("names %s %zu %u\n", optiling::kName.c_str(), optiling::kAxes.size(), arch);
}
"""


def test_they_are_there_and_do_what_they_say(tmp_path: Path) -> None:
    assert run_program(compile_program(tmp_path, PROGRAM)) == [
        "log 3 [a.cpp:7] x has -2 axes",
        "log 1 begun",
        "range 0 12",
        "node NonZero 1 1 1 1",
        "format 1 5 0",
        "text 0 abcdefg 34 '' 34 -1 5 12-34",
        "values 1 3 7 5 0 0.0999756",
        "chips 0 50331644",
        "names unqualified 2 2201",
    ]
