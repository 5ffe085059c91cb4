// RowMax: the shape of y is that of x without its last axis.
#include "register/op_impl_registry.h"

namespace ops {
static ge::graphStatus InferShapeRowMax(gert::InferShapeContext* context) {
  const gert::Shape* x = context->GetInputShape(0);
  gert::Shape* y = context->GetOutputShape(0);
  y->SetDimNum(0);
  for (size_t axis = 0; axis + 1 < x->GetDimNum(); ++axis) y->AppendDim(x->GetDim(axis));
  return ge::GRAPH_SUCCESS;
}
static ge::graphStatus InferDataTypeRowMax(gert::InferDataTypeContext* context) {
  return context->SetOutputDataType(0, context->GetInputDataType(0));
}
IMPL_OP_INFERSHAPE(RowMax).InferShape(InferShapeRowMax).InferDataType(InferDataTypeRowMax);
}  // namespace ops
