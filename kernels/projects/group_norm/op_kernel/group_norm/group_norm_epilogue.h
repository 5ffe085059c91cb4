// What is done to the results of GroupNorm before they leave, from step 5 on: nothing, or SiLU. A result is still a float then, and
// still in local memory, so that an operator that would follow costs instructions of the vector unit and no way through memory.
//
// An epilogue has Apply(y, scratch, count): y = f(y) for `count` floats. scratch has as many, and is overwritten.
#pragma once
#include "kernel_operator.h"

struct GroupNormIdentity {
  __aicore__ static inline void Apply(const AscendC::LocalTensor<float>&, const AscendC::LocalTensor<float>&,
                                      uint32_t) {}
};

// SiLU(y) = y / (1 + e^-y), which is y * sigmoid(y). Division, because Reciprocal's page says that it misses 1/10000 of a float.
// Where e^-y is infinite, below y = -88.7, the quotient is -0; the true value there is above -3e-37. Before, each of three
// roundings is relative to a number of one sign: nothing cancels. NaN gives NaN, infinity itself, and minus infinity NaN, as
// PyTorch has it. No clamp of y, because the documentation does not say what Maxs makes of NaN.
struct GroupNormSilu {
  __aicore__ static inline void Apply(const AscendC::LocalTensor<float>& y, const AscendC::LocalTensor<float>& scratch,
                                      uint32_t count) {
    const int32_t n = static_cast<int32_t>(count);
    AscendC::Muls(scratch, y, -1.0f, n);
    AscendC::Exp(scratch, scratch, n);
    AscendC::Adds(scratch, scratch, 1.0f, n);
    AscendC::Div(y, y, scratch, n);
  }
};
