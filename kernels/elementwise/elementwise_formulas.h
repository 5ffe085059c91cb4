// Formulas of one instruction (common_elements.h), of which chains are made (common_chain.h).
#pragma once
#include "../common/common_elements.h"

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
