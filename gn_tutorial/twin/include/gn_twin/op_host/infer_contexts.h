// The contexts of InferShape and InferDataType.
#pragma once
#include <stddef.h>

#include "gn_twin/op_host/kernel_context.h"

namespace gert {

class InferShapeContext : public KernelContext {
 public:
  using KernelContext::KernelContext;
  const Shape* GetInputShape(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Input(index, loc, "GetInputShape"));
  }
  const Shape* GetOptionalInputShape(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Declared(declared, 0, loc, "GetOptionalInputShape"));
  }
  const Shape* GetRequiredInputShape(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Declared(declared, 0, loc, "GetRequiredInputShape"));
  }
  const Shape* GetDynamicInputShape(size_t declared, size_t which, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Declared(declared, which, loc, "GetDynamicInputShape"));
  }
  Shape* GetOutputShape(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) {
    GntInstance* one = Output(index, loc, "GetOutputShape");
    return one == nullptr ? nullptr : &one->shape.MutableOriginShape();
  }

 private:
  static const Shape* Of(const GntInstance* one) { return one == nullptr ? nullptr : &one->shape.GetOriginShape(); }
};

class InferDataTypeContext : public KernelContext {
 public:
  using KernelContext::KernelContext;
  // The getters return DT_UNDEFINED for an absent input or output.
  ge::DataType GetInputDataType(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Input(index, loc, "GetInputDataType"));
  }
  ge::DataType GetOptionalInputDataType(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Declared(declared, 0, loc, "GetOptionalInputDataType"));
  }
  ge::DataType GetRequiredInputDataType(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Declared(declared, 0, loc, "GetRequiredInputDataType"));
  }
  ge::DataType GetDynamicInputDataType(size_t declared, size_t which, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Declared(declared, which, loc, "GetDynamicInputDataType"));
  }
  ge::DataType GetOutputDataType(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return Of(Output(index, loc, "GetOutputDataType"));
  }
  ge::graphStatus SetOutputDataType(size_t index, ge::DataType type, gn_twin::Loc loc = gn_twin::Loc::here()) {
    GntInstance* one = Output(index, loc, "SetOutputDataType");
    if (one == nullptr) return ge::GRAPH_FAILED;
    one->desc = CompileTimeTensorDesc(type, one->desc.GetOriginFormat());
    return ge::GRAPH_SUCCESS;
  }

 private:
  static ge::DataType Of(const GntInstance* one) { return one == nullptr ? ge::DT_UNDEFINED : one->desc.GetDataType(); }
};

}  // namespace gert
