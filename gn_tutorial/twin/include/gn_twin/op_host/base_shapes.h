// Functions of operator repositories (Ops::Base) that write shapes, dtypes and formats as text, handle unknown shapes,
// and infer the shapes of common operators.
//
// Source: the list of operator interfaces (aolapi), op_common, log and infershape; ops-nn for the order of arguments. A
// shape is any class with GetDimNum, GetDim and so on, so that this file does not depend on the contexts.
#pragma once
#include <stdint.h>

#include <string>
#include <type_traits>
#include <vector>

#include "gn_twin/host/graph_types.h"

namespace Ops::Base {

constexpr int64_t kUnknownDim = -1;
constexpr int64_t kUnknownRank = -2;

inline std::string ToString(ge::DataType type) { return gn_twin::NameOf(type); }
inline std::string ToString(ge::Format format) {
  return std::string(gn_twin::NameOf(format)).substr(sizeof("FORMAT_") - 1);
}

template <class T>
std::string VectorToString(const T* values, int64_t count) {
  std::string text = "[";
  for (int64_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + std::to_string(values[i]);
  return text + "]";
}
template <class T>
std::string VectorToString(const std::vector<T>& values) {
  return VectorToString(values.data(), static_cast<int64_t>(values.size()));
}
template <class T>
  requires std::is_arithmetic_v<T>
std::string ToString(const std::vector<T>& values) {
  return VectorToString(values);
}

template <class Shape>
concept HasDims = requires(const Shape& shape) { shape.GetDim(shape.GetDimNum()); };

template <HasDims Shape>
std::string ToString(const Shape& shape) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < shape.GetDimNum(); ++i) dims.push_back(shape.GetDim(i));
  return VectorToString(dims);
}

template <HasDims Shape>
bool IsUnknownRank(const Shape& shape) {
  return shape.GetDimNum() == 1 && shape.GetDim(0) == kUnknownRank;
}
template <HasDims Shape>
bool IsUnknownShape(const Shape& shape) {
  bool unknown = false;
  for (size_t i = 0; i < shape.GetDimNum(); ++i) unknown = unknown || shape.GetDim(i) < 0;
  return unknown;
}
template <HasDims Shape>
ge::graphStatus SetUnknownRank(Shape& shape) {
  shape.SetDimNum(0);
  shape.AppendDim(kUnknownRank);
  return ge::GRAPH_SUCCESS;
}
template <HasDims Shape>
ge::graphStatus SetUnknownShape(int64_t rank, Shape& shape) {
  shape.SetDimNum(0);
  for (int64_t i = 0; i < rank; ++i) shape.AppendDim(kUnknownDim);
  return ge::GRAPH_SUCCESS;
}

// Returns the shape itself, or a shape of one element if it has no dims.
template <HasDims Shape>
Shape EnsureNotScalar(const Shape& shape) {
  if (shape.GetDimNum() != 0) return shape;
  Shape one;
  one.AppendDim(1);
  return one;
}

// Gives the output the shape of the first input.
template <class Context>
ge::graphStatus InferShape4Elewise(Context* context) {
  const auto* in = context->GetInputShape(0);
  auto* out = context->GetOutputShape(0);
  if (in == nullptr || out == nullptr) return ge::GRAPH_FAILED;
  *out = *in;
  return ge::GRAPH_SUCCESS;
}

// Broadcasts two shapes: aligns them to the right and fills up the shorter one with 1. Returns false if two lengths
// differ and neither is 1.
template <HasDims Shape>
bool BroadcastShape(const Shape* first, const Shape* second, Shape* out) {
  const size_t many = first->GetDimNum(), few = second->GetDimNum();
  if (many < few) return BroadcastShape(second, first, out);
  Shape result;
  for (size_t i = 0; i < many; ++i) {
    const int64_t x = first->GetDim(i), y = i + few < many ? 1 : second->GetDim(i + few - many);
    if (x != y && x != 1 && y != 1) return false;
    result.AppendDim(x == 1 ? y : x);
  }
  *out = result;
  return true;
}
template <class Context>
ge::graphStatus InferShape4Broadcast(Context* context, size_t inputs = 2) {
  auto* out = context->GetOutputShape(0);
  if (out == nullptr) return ge::GRAPH_FAILED;
  for (size_t i = 0; i < inputs; ++i) {
    const auto* in = context->GetInputShape(i);
    if (in == nullptr) return ge::GRAPH_FAILED;
    if (i == 0) *out = *in;
    if (i != 0 && !BroadcastShape(out, in, out)) return ge::GRAPH_FAILED;
  }
  return ge::GRAPH_SUCCESS;
}

template <class Axis, HasDims Shape>
ge::graphStatus GntReduceDims(const Shape* in, const Axis* axes, int32_t count, bool keep, Shape* out) {
  const int64_t rank = static_cast<int64_t>(in->GetDimNum());
  std::vector<bool> reduced(rank);
  for (int32_t i = 0; i < count; ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank) return ge::GRAPH_FAILED;
    reduced[axis] = true;
  }
  Shape result;
  for (int64_t i = 0; i < rank; ++i) {
    if (!reduced[i] || keep) result.AppendDim(reduced[i] ? 1 : in->GetDim(i));
  }
  *out = result;
  return ge::GRAPH_SUCCESS;
}
template <class Axis, HasDims Shape>
ge::graphStatus ReduceDimsWithKeepDims(const Shape* in, const Axis* axes, int32_t count, Shape* out) {
  return GntReduceDims(in, axes, count, true, out);
}
template <class Axis, HasDims Shape>
ge::graphStatus ReduceDimsWithoutKeepDims(const Shape* in, const Axis* axes, int32_t count, Shape* out) {
  return GntReduceDims(in, axes, count, false, out);
}

}  // namespace Ops::Base
