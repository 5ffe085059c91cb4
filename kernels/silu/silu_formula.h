// SiLU as a formula of common_elements.h: y = x / (1 + e^-x).
//
// Why a division, and what it makes of extreme numbers: kernels/group_norm/group_norm_epilogue.h.
#pragma once
#include "../common/common_elements.h"

struct Silu {
  static constexpr uint32_t kInputs = 1;
  static constexpr uint32_t kOutputs = 1;
  static constexpr uint32_t kScratch = 1;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats* scratch, int32_t n) {
    const Floats& e = scratch[0];
    AscendC::Muls(e, in[0], -1.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Exp(e, e, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(e, e, 1.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(out[0], in[0], e, n);
  }
};
