// GELU as it is defined, with the error function, and its derivative, as formulas of common_elements.h.
//
//   y = x * Phi(x),  Phi(x) = (1 + erf(x / sqrt(2))) / 2,  the share of a normal distribution below x
//
// Written like this the formula loses its digits below zero, where erf is close to -1, as the printed tanh form does
// (common_gelu_tanh.h). So everything is made of the tail, the share beyond |x|:
//
//   q = erfc(|x| / sqrt(2)) / 2 = e^(-x^2 / 2) * t P(t),  t = 1 / (1 + kGeluTailScale |x|)
//   y = max(x, 0) - |x| q
//   dy/dx = Phi(x) + x phi(x):  h below zero, 1 - h above,  h = q - |x| phi = e^(-x^2 / 2) * (t P(t) - |x| / sqrt(2 pi))
//
// P is a polynomial with coefficients of our own. Why not AscendC::Erf or Erfc: their pages state no accuracy; on Atlas A2 Erf is a Pade
// approximation (its more accurate algorithm is for Ascend 950), and 1 + erf would cancel whatever its accuracy; and both keep to
// themselves the e^(-x^2 / 2) that the derivative needs a second time. t P(t) costs 15 instructions, each with its documented rounding.
#pragma once
#include "common_elements.h"

// t P(t) = e^(x^2 / 2) * erfc(|x| / sqrt(2)) / 2 for |x| from 0 to 14.4, where q leaves the range of a float. Fitted here: for each scale
// the coefficients of the least largest relative error, by least squares with weights that grow where the error is large (Lawson), then
// the scale for which that is least. The error is 1.1e-7 of q everywhere, the roundings of the coefficients included, and 4e-7 with those of
// the instructions; at x = 0 they give 1/2 exactly. tests/kernels/test_gelu_erf.py measures this.
constexpr float kGeluTailScale = 0.305f;
constexpr uint32_t kGeluTailTerms = 8;
constexpr float kGeluTail[kGeluTailTerms] = {0.12163988f,    0.12246455f,  0.103435583f,  0.1209712f,
                                             -0.0378777012f, 0.185605049f, -0.152920917f, 0.0366824046f};
// From here on q is 0 as a float. A factor |x| that ends here keeps infinity times 0 away from x = infinity.
constexpr float kGeluErfEnd = 16.0f;
constexpr float kGeluDensity = 0.3989422804f;  // 1 / sqrt(2 pi)
// x times this, cut off at 0 and 1, is whether x is positive; for the |x| below 2^-64 between them h is 1/2, and so is 1 - h.
constexpr float kGeluStep = 18446744073709551616.0f;

// e = e^(-x^2 / 2) and p = t P(t), from x and a = |x|; t is scratch. x^2 may be infinite: then e is 0, which is right.
__aicore__ inline void GeluTail(const Floats& e, const Floats& p, const Floats& t, const Floats& a, const Floats& x,
                                int32_t n) {
  AscendC::Mul(e, x, x, n);
  AscendC::Muls(t, a, kGeluTailScale, n);
  AscendC::Duplicate(p, 1.0f, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Muls(e, e, -0.5f, n);
  AscendC::Adds(t, t, 1.0f, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Exp(e, e, n);
  AscendC::Div(t, p, t, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Muls(p, t, kGeluTail[kGeluTailTerms - 1], n);
  AscendC::PipeBarrier<PIPE_V>();
  for (uint32_t i = kGeluTailTerms - 1; i-- > 0;) {
    AscendC::Adds(p, p, kGeluTail[i], n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(p, p, t, n);
    AscendC::PipeBarrier<PIPE_V>();
  }
}

// y = max(x, 0) - |x| q. Where x is large, y is x to the last bit. Infinity gives infinity, -infinity gives NaN, as in PyTorch.
struct GeluErf {
  static constexpr uint32_t kInputs = 1;
  static constexpr uint32_t kOutputs = 1;
  static constexpr uint32_t kScratch = 4;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats* scratch, int32_t n) {
    const Floats& x = in[0];
    const Floats& a = scratch[0];  // |min(x, kGeluErfEnd)|, then max(x, 0)
    const Floats& e = scratch[1];
    const Floats& t = scratch[2];
    const Floats& p = scratch[3];  // t P(t), then |x| q
    AscendC::Mins(a, x, kGeluErfEnd, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Abs(a, a, n);
    AscendC::PipeBarrier<PIPE_V>();
    GeluTail(e, p, t, a, x, n);
    AscendC::Mul(p, p, a, n);  // before e, so that no factor is subnormal before the result is
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(p, p, e, n);
    AscendC::Maxs(a, x, 0.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sub(out[0], a, p, n);
  }
};

// dx = dy * (s + (1 - 2 s) h), with s = 1 above zero and 0 below. h is of the size of what it is the difference of, but around
// x = -0.75, where the derivative is 0; and below zero nothing is added to it, so it keeps its digits down to the smallest floats.
// x = NaN, infinity or -infinity gives NaN, as in PyTorch.
struct GeluErfBackward {
  static constexpr uint32_t kInputs = 2;
  static constexpr uint32_t kOutputs = 1;
  static constexpr uint32_t kScratch = 4;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats* scratch, int32_t n) {
    const Floats& dy = in[0];
    const Floats& x = in[1];
    const Floats& a = scratch[0];  // |x|, then |x| / sqrt(2 pi), then 1 - 2 s
    const Floats& e = scratch[1];
    const Floats& s = scratch[2];  // t, then s
    const Floats& h = scratch[3];  // t P(t), then h, then the derivative
    AscendC::Abs(a, x, n);
    AscendC::PipeBarrier<PIPE_V>();
    GeluTail(e, h, s, a, x, n);
    AscendC::Muls(a, a, kGeluDensity, n);
    AscendC::Muls(s, x, kGeluStep, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sub(h, h, a, n);
    AscendC::Maxs(s, s, 0.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(h, h, e, n);
    AscendC::Mins(s, s, 1.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(a, s, -2.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(a, a, 1.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(h, h, a, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(h, h, s, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(out[0], dy, h, n);
  }
};
