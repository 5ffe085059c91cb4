// The context of shape range inference in graphs with unknown shapes: gert::InferShapeRangeContext, gert::Range.
//
// Source: the graph engine's documentation of these classes.
#pragma once
#include <deque>

#include "gn_twin/op_host/contexts.h"

namespace gert {

// Pointers to the smallest and the largest possible value of a shape or tensor that is unknown before a launch.
template <class T>
class Range {
 public:
  Range() = default;
  Range(T* least, T* most) : least_(least), most_(most) {}
  explicit Range(T* both) : Range(both, both) {}
  const T* GetMin() const { return least_; }
  const T* GetMax() const { return most_; }
  T* GetMin() { return least_; }
  T* GetMax() { return most_; }
  void SetMin(T* least) { least_ = least; }
  void SetMax(T* most) { most_ = most; }
  bool operator==(const Range& other) const { return *least_ == *other.least_ && *most_ == *other.most_; }

 private:
  T *least_ = nullptr, *most_ = nullptr;
};
using TensorRange = Range<Tensor>;

// Only graphs have unknown shapes. The twin knows every input's shape, so the smallest equals the largest.
class InferShapeRangeContext : public KernelContext {
 public:
  using KernelContext::KernelContext;
  const Range<Shape>* GetInputShapeRange(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) {
    return Known(Input(index, loc, "GetInputShapeRange"));
  }
  const Range<Shape>* GetRequiredInputShapeRange(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) {
    return Known(Declared(declared, 0, loc, "GetRequiredInputShapeRange"));
  }
  const Range<Shape>* GetOptionalInputShapeRange(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) {
    return Known(Declared(declared, 0, loc, "GetOptionalInputShapeRange"));
  }
  const Range<Shape>* GetDynamicInputShapeRange(size_t declared, size_t which,
                                                gn_twin::Loc loc = gn_twin::Loc::here()) {
    return Known(Declared(declared, which, loc, "GetDynamicInputShapeRange"));
  }
  const TensorRange* GetInputTensorRange(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) {
    return KnownTensor(Input(index, loc, "GetInputTensorRange"));
  }
  const TensorRange* GetRequiredInputTensorRange(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) {
    return KnownTensor(Declared(declared, 0, loc, "GetRequiredInputTensorRange"));
  }
  const TensorRange* GetOptionalInputTensorRange(size_t declared, gn_twin::Loc loc = gn_twin::Loc::here()) {
    return KnownTensor(Declared(declared, 0, loc, "GetOptionalInputTensorRange"));
  }
  const TensorRange* GetDynamicInputTensorRange(size_t declared, size_t which,
                                                gn_twin::Loc loc = gn_twin::Loc::here()) {
    return KnownTensor(Declared(declared, which, loc, "GetDynamicInputTensorRange"));
  }
  Range<Shape>* GetOutputShapeRange(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) {
    GntInstance* const one = Output(index, loc, "GetOutputShapeRange");
    if (one == nullptr) return nullptr;
    // The output's own shape serves as the largest one, because the largest shape decides how much memory the output
    // gets.
    least_.emplace_back();
    shapes_.emplace_back(&least_.back(), &one->shape.MutableOriginShape());
    return &shapes_.back();
  }

 private:
  const Range<Shape>* Known(GntInstance* one) {
    return one == nullptr ? nullptr : &shapes_.emplace_back(&one->shape.MutableOriginShape());
  }
  const TensorRange* KnownTensor(GntInstance* one) {
    return one == nullptr ? nullptr : &tensors_.emplace_back(&one->tensor);
  }

  std::deque<Shape> least_;
  std::deque<Range<Shape>> shapes_;
  std::deque<TensorRange> tensors_;
};

}  // namespace gert
