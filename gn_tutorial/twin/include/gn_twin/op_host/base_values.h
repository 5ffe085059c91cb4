// Functions of operator repositories (Ops::Base) that read the values of integer inputs, from any context. Tiling and
// inference get only the values of inputs that have ValueDepend in the definition.
//
// Source: opbase, op_common, util/const_util, names and use. The functions return false for a tensor without values.
// GetConstInt and GetConstIntToShape read integers of 32 and 64 bits, and return false for other types.
#pragma once
#include <stdint.h>

#include "gn_twin/op_host/contexts.h"

namespace Ops::Base {

// Calls visit(values, count) with the tensor's integers in their own type; false for no values or for another type.
template <class Visit>
bool GntVisitIntegers(const gert::Tensor* tensor, Visit visit) {
  if (tensor == nullptr || tensor->GetAddr() == nullptr) return false;
  const int64_t count = tensor->GetShapeSize();
  switch (tensor->GetDataType()) {
    case ge::DT_INT32: return visit(tensor->GetData<int32_t>(), count), true;
    case ge::DT_INT64: return visit(tensor->GetData<int64_t>(), count), true;
    case ge::DT_UINT32: return visit(tensor->GetData<uint32_t>(), count), true;
    case ge::DT_UINT64: return visit(tensor->GetData<uint64_t>(), count), true;
    default: return false;
  }
}

template <class T>
bool GetValueToShape(const gert::Tensor* tensor, gert::Shape& shape) {
  if (tensor == nullptr || tensor->GetAddr() == nullptr) return false;
  const T* const values = tensor->GetData<T>();
  shape.SetDimNum(0);
  for (int64_t i = 0; i < tensor->GetShapeSize(); ++i) shape.AppendDim(static_cast<int64_t>(values[i]));
  return true;
}

// Reads the first value of input `index`. Returns false if there is none.
template <class Context, class T>
bool GetConstInt(const Context* context, int64_t index, T& value) {
  bool found = false;
  const auto take = [&](const auto* values, int64_t count) {
    found = count > 0;
    if (found) value = static_cast<T>(values[0]);
  };
  return GntVisitIntegers(context->GetInputTensor(static_cast<size_t>(index)), take) && found;
}

// Reads all values of the input, as the lengths of a shape.
template <class Context>
bool GetConstIntToShape(const Context* context, int64_t index, gert::Shape& shape) {
  return GntVisitIntegers(context->GetInputTensor(static_cast<size_t>(index)), [&](const auto* values, int64_t count) {
    shape.SetDimNum(0);
    for (int64_t i = 0; i < count; ++i) shape.AppendDim(static_cast<int64_t>(values[i]));
  });
}

}  // namespace Ops::Base
