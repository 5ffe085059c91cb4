// Formulas (common_elements.h) of which chains are made (common_chain.h), and which are operators of their own besides.
#pragma once
#include "common_elements.h"

struct Plus {
  static constexpr uint32_t kInputs = 2;
  static constexpr uint32_t kOutputs = 1;
  static constexpr uint32_t kScratch = 0;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats*, int32_t n) {
    AscendC::Add(out[0], in[0], in[1], n);
  }
};

struct Times {
  static constexpr uint32_t kInputs = 2;
  static constexpr uint32_t kOutputs = 1;
  static constexpr uint32_t kScratch = 0;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats*, int32_t n) {
    AscendC::Mul(out[0], in[0], in[1], n);
  }
};

// max(x, 0). What it makes of NaN is not documented.
struct Rectify {
  static constexpr uint32_t kInputs = 1;
  static constexpr uint32_t kOutputs = 1;
  static constexpr uint32_t kScratch = 0;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats*, int32_t n) {
    AscendC::Relu(out[0], in[0], n);
  }
};

// x / (1 + e^-x). Why a division, and what it makes of extreme numbers: kernels/group_norm/group_norm_epilogue.h.
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
