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

// What a sigmoid and its slope are made of, s = 1 / (1 + e^-v): e = e^-|v|, m = e^min(v, 0), q = 1 + e. Then
//
//   s = m / q,  s (1 - s) = e / q^2
//
// and no exponential is above 1: e^-v may be infinite, and infinity divided by itself is NaN. m may be v.
__aicore__ inline void SigmoidParts(const Floats& e, const Floats& m, const Floats& q, const Floats& v, int32_t n) {
  AscendC::Abs(e, v, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Mins(m, v, 0.0f, n);
  AscendC::Muls(e, e, -1.0f, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Exp(m, m, n);
  AscendC::Exp(e, e, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Adds(q, e, 1.0f, n);
  AscendC::PipeBarrier<PIPE_V>();
}

// The two factors of silu'(v) = s (1 + v (1 - s)): v = 1 + v (1 - s), f = s, by way of q = 1 + e^v with 1 - s = 1 / q and s = e^v / q. Where
// e^v is infinite, v / q is 0; the other quotient would be NaN, so its numbers are bounded by 2^60, where it is 1 already. Of NaN,
// v becomes NaN whatever Mins makes of it. This reads fewer tensors than SigmoidParts' way, which gives the sigmoid's own slope too.
// v and f are each read together with q: there is no conflict of banks if q lies 256 bytes behind where they begin.
__aicore__ inline void SiluSlope(const Floats& v, const Floats& f, const Floats& q, int32_t n) {
  constexpr float kLarge = 1.152921504606847e18f;  // 2^60
  AscendC::Exp(f, v, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Adds(q, f, 1.0f, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Div(v, v, q, n);
  AscendC::Mins(f, f, kLarge, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Mins(q, q, kLarge, n);
  AscendC::Adds(v, v, 1.0f, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Div(f, f, q, n);
  AscendC::PipeBarrier<PIPE_V>();
}

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

// dy silu'(x), the gradient of x from that of SiLU's result. out may be dy.
struct SiluBackward {
  static constexpr uint32_t kInputs = 2;
  static constexpr uint32_t kOutputs = 1;
  static constexpr uint32_t kScratch = 3;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats* scratch, int32_t n) {
    const Floats &v = scratch[0], &f = scratch[2];
    AscendC::Adds(v, in[1], 0.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    SiluSlope(v, f, scratch[1], n);
    AscendC::Mul(out[0], in[0], f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(out[0], out[0], v, n);
  }
};
