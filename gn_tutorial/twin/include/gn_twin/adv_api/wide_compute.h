// Converts elements to double and back, because high-level functions compute in double and round at the end.
//
// The device composes these functions from basic instructions of half or float. The documentation does not say how
// often it rounds on the way (docs/hardware-choices.md).
#pragma once
#include "gn_twin/basic_api/vector/forms.h"
#include "gn_twin/tensor/scratch.h"

// The scratch tensor as a parameter of an overload. A macro writes each overload with it and without it.
#define GNT_WITH_SCRATCH const gn_twin::Scratch&,

namespace gn_twin {

template <class T>
inline double Wide(T value) {
  return static_cast<double>(static_cast<float>(value));
}
inline double Wide(int32_t value) { return value; }

// Converts a result to an element: rounds it to float, then to T, and applies this launch's options (saturation,
// subnormals).
class Rounder {
 public:
  explicit Rounder(const Core& core)
      : finish_{Saturates(core), core.job->options.denormals != 0}, plain_(!finish_.saturate && !finish_.flush) {}

  template <class T>
  T To(double value) const {
    const T rounded = T(static_cast<float>(value));
    return plain_ ? rounded : finish_(rounded);
  }

 private:
  Finish finish_;
  bool plain_;
};

}  // namespace gn_twin
