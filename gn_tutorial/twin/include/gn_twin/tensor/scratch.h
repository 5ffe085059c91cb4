// The work buffer (sharedTmpBuffer) of a high-level function while the function runs. The function's operands must not
// overlap it.
//
// Source: docs/zh/api, 高阶API, the constraints of 60 pages. The pages of Erf, Log2, Log10, Frac, Power, Broadcast,
// CumSum, LayerNorm and some others do not mention this rule (docs/hardware-choices.md, work buffers).
#pragma once
#include "gn_twin/tensor/tensor.h"

namespace gn_twin {

// Marks a work buffer as in use while this object lives. Functions take this object as a parameter in place of the
// tensor, so that it lives until the call ends. The twin's functions need no buffer; only Operation reads its bounds.
class Scratch {
 public:
  Scratch(const AscendC::LocalTensor<uint8_t>& tensor) { Mark(tensor); }
  template <class T>
  explicit Scratch(const AscendC::LocalTensor<T>& tensor) {
    Mark(tensor);
  }
  ~Scratch() {
    if constexpr (kObserved) ThisCore().scratch = {};
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

 private:
  template <class T>
  void Mark(const AscendC::LocalTensor<T>& tensor) {
    if constexpr (kObserved) ThisCore().scratch = {tensor.Bytes(), tensor.Bytes() + BytesOf<T>(tensor.GetSize())};
  }
};

}  // namespace gn_twin
