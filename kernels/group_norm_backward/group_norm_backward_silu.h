// The slope of SiLU, for the gradients of GroupNorm with SiLU behind it.
#pragma once
#include "../common/common_formulas.h"

struct GroupNormBackwardSilu {
  static constexpr bool kActivates = true;

  __aicore__ static inline void Apply(const AscendC::LocalTensor<float>& to, const AscendC::LocalTensor<float>& dy,
                                      const AscendC::LocalTensor<float>& u, const AscendC::LocalTensor<float>& near,
                                      const AscendC::LocalTensor<float>& far, uint32_t count) {
    const int32_t n = static_cast<int32_t>(count);
    SiluSlope(u, near, far, n);
    AscendC::Mul(dy, dy, near, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(to, dy, u, n);
  }
};
