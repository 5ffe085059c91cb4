// GELU in its tanh form, and its derivative, as formulas of common_elements.h.
//
//   y = x/2 * (1 + tanh(u)),  u = sqrt(2/pi) * (x + 0.044715 x^3)
//
// Written like this the formula loses its digits below zero: at x = -5 the tanh is -0.9999999, and 1 + tanh keeps one digit of seven.
// With (1 + tanh(u)) / 2 = 1 / (1 + e^-2u) nothing cancels:
//
//   y = x * s,  s = 1 / (1 + e^-v),  v = 2u = x * (A + B x^2),  A = 2 sqrt(2/pi),  B = 0.044715 A
//
// and the derivative, because s' = s (1 - s) v':
//
//   dy/dx = s + x s (1 - s) v',  v' = A + 3 B x^2
#pragma once
#include "common_formulas.h"

constexpr float kGeluA = 1.5957691216057308f;
constexpr float kGeluB = 0.07135481282052085f;
// From |x| = 11 on e^-|v| is 0 as a float, and v' has no effect. A square that stays below this keeps v' far from infinity.
constexpr float kGeluSquare = 1024.0f;

// y = x / (1 + e^-v). Far below zero e^-v is infinite, and the quotient -0: the true value there, from x = -10.1 on, is above -4e-38.
// x^2 may be infinite too: then v is infinite with the sign of x, which is right. -infinity gives NaN, as in PyTorch.
struct GeluTanh {
  static constexpr uint32_t kInputs = 1;
  static constexpr uint32_t kOutputs = 1;
  static constexpr uint32_t kScratch = 1;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats* scratch, int32_t n) {
    const Floats& x = in[0];
    const Floats& e = scratch[0];
    AscendC::Mul(e, x, x, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(e, e, -kGeluB, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(e, e, -kGeluA, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(e, e, x, n);  // -v
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Exp(e, e, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(e, e, 1.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(out[0], x, e, n);
  }
};

// dx = dy * (s + x s (1 - s) v'), from dy and x.
//
// With e, m and q of SigmoidParts
//
//   dy/dx = (m + x e v' / q) / q
//
// x v' grows without bound while s (1 - s) falls to 0, and infinity times 0 is NaN. So e is multiplied to x first: x e stays below 1.
// x^2 is cut off at kGeluSquare, where e is 0 anyway. x = NaN, infinity or -infinity gives NaN, as in PyTorch.
struct GeluTanhBackward {
  static constexpr uint32_t kInputs = 2;
  static constexpr uint32_t kOutputs = 1;
  static constexpr uint32_t kScratch = 4;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats* scratch, int32_t n) {
    const Floats& dy = in[0];
    const Floats& x = in[1];
    const Floats& slope = scratch[0];  // x^2, then v'
    const Floats& m = scratch[1];      // v, then m, then the derivative
    const Floats& e = scratch[2];      // e, then x e v' / q
    const Floats& q = scratch[3];
    AscendC::Mul(slope, x, x, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mins(slope, slope, kGeluSquare, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(m, slope, kGeluB, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(slope, slope, 3.0f * kGeluB, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(m, m, kGeluA, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(slope, slope, kGeluA, n);  // v'
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(m, m, x, n);  // v
    AscendC::PipeBarrier<PIPE_V>();
    SigmoidParts(e, m, q, m, n);
    AscendC::Mul(e, e, x, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(e, e, slope, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(e, e, q, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(m, m, e, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(m, m, q, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(out[0], dy, m, n);
  }
};
