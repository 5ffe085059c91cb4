// The gradient of GELU for n elements of float, half or bfloat16: dx = dy * (Phi(x) + x phi(x)), or dy * (s + x s (1 - s) v').
//
// x is the input of the forward pass: nothing else is saved, because what the gradient needs of it costs a few instructions and a saved
// tensor a way through memory. Why no intermediate result overflows: common_gelu_erf.h, common_gelu_tanh.h.
// The timeline should show V as the busiest pipe by far: 19 instructions a tile in the tanh form, 34 in the other.
#include "../common/common_gelu_erf.h"
#include "../common/common_gelu_tanh.h"

// dtype: that of dy, x and dx, as CANN numbers it (ge::DataType). approximate: as in gelu.cpp.
extern "C" __global__ __aicore__ void gelu_backward_kernel(GM_ADDR dy, GM_ADDR x, GM_ADDR dx, uint32_t n,
                                                           uint32_t dtype, uint32_t approximate) {
  GM_ADDR in[2] = {dy, x};
  GM_ADDR out[1] = {dx};
  if (approximate == 0) {
    RunMapOf<GeluErfBackward>(dtype, in, out, n);
  } else {
    RunMapOf<GeluTanhBackward>(dtype, in, out, n);
  }
}
